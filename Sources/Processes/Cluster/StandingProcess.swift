// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Glibc
package import Logging
package import MessageBus
package import Messages
import UnixSignals

/// Returns a connection to the bus of an instance for one address, with its standing key. The connection is not
/// started, so that handlers can be set. Waits for the broker's announcement. Module-qualified:
/// `Cluster.connection(as:address:instance:)`.
///
/// - Parameters:
///   - name: the holder of the key.
///   - heartbeats: `false` for a process that may be stopped by a signal.
///   - limit: how long to wait for the broker's announcement; `nil` for no limit.
/// - Throws: `ClusterError`: `not-there`, `key`, `instance-folder`; `CancellationError`.
package func connection(
  as name: StandingKey.Name, address: Address, instance: InstanceFolder, heartbeats: Bool = true,
  within limit: Duration? = nil, store: StoreOpening? = nil
) async throws -> Connection {
  let announcement = try await BusAnnouncement.wait(in: instance, within: limit ?? .seconds(1_000_000_000))
  let key = try StandingKey.load(name, in: instance)
  guard key.pattern.matches(address) else {
    throw ClusterError(.key, "the key \(name) is valid for \(key.pattern), not for \(address)")
  }
  return Connection.zeroMQ(
    address: address, endpoint: announcement.endpoint, serverKey: announcement.publicKey,
    heartbeats: heartbeats, store: store.map { ($0.store, $0.opening) }
  ) { try StandingKey.load(name, in: instance).pair }
}

/// Same as `connection`, but started. Module-qualified: `Cluster.connect(as:address:instance:)`.
///
/// - Parameters:
///   - limit: how long to wait for the broker's announcement and then for its reply; `nil` for no limit.
///   - prepare: sets the handlers, before the first envelope can arrive.
/// - Throws: what `connection` throws, and `BusError` `refused` when the broker permanently rejects the key.
package func connect(
  as name: StandingKey.Name, address: Address, instance: InstanceFolder, heartbeats: Bool = true,
  within limit: Duration? = nil, prepare: (Connection) -> Void = { _ in }
) async throws -> Connection {
  let connection = try await connection(
    as: name, address: address, instance: instance, heartbeats: heartbeats, within: limit)
  prepare(connection)
  guard let limit else {
    _ = try await connection.start()
    return connection
  }
  let isThere = try await withThrowingTaskGroup(of: Bool.self) { group in
    group.addTask {
      _ = try await connection.start()
      return true
    }
    group.addTask {
      try await Task.sleep(for: limit)
      return false
    }
    defer { group.cancelAll() }
    return try await group.next() ?? false
  }
  guard isThere else {
    await connection.leave()
    if let shortage = DiskSpace(at: instance.path)?.shortage { throw ClusterError(.notThere, shortage) }
    throw ClusterError(
      .notThere,
      "the bus of \(instance.path) did not reply within \(limit): is `widgetlab up` running with this instance folder?"
    )
  }
  return connection
}

/// Common behaviour of all standing processes: reply to pings, raise a signal on request, exit on request.
package enum StandingProcess {
  /// Handles `peer.ping` and `peer.raise-signal`. Call it before the connection is started.
  ///
  /// - Parameter waitingFor: what the process still needs before it is ready; empty when it is ready.
  package static func answerPeers(
    on connection: any BusConnection, waitingFor: @escaping @Sendable () async -> [String] = { [] }
  ) {
    connection.onRequest(Ping.self) { _, _ in
      let missing = await waitingFor()
      return Ping.Reply(pid: getpid(), isReady: missing.isEmpty, waitingFor: missing)
    }
    connection.onNotice(RaiseSignal.self) { notice, _ in
      // To the whole process, not to the thread that runs this.
      kill(getpid(), notice.signal)
    }
  }

  /// Raises the soft limit of descriptors to the hard limit: each peer and each connection attempt needs one.
  package static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Runs a connected standing process: waits for SIGTERM or SIGINT, calls `last`, and closes the connection. The
  /// caller then returns from `main`, with exit code 0.
  ///
  /// - Parameters:
  ///   - announce: writes the announcement of the process. Called when a signal already ends it in order.
  ///   - last: called before the connection is closed.
  package static func run(
    _ connection: any BusConnection, logger: Logger, announce: () throws -> Void, last: () async -> Void
  ) async rethrows {
    let signals = await EndSignals()
    try announce()
    let signal = await signals.first()
    logger.info("terminating", metadata: ["signal": "\(signal)"])
    await last()
    await connection.leave()
  }

  /// The same, for a process without an announcement.
  package static func run(_ connection: any BusConnection, logger: Logger, last: () async -> Void) async {
    await run(connection, logger: logger, announce: {}, last: last)
  }
}

/// SIGTERM and SIGINT. While this exists, neither ends the process at once.
package struct EndSignals: Sendable {
  private let signals: UnixSignalsSequence

  /// Traps the signals. A process announces itself afterwards, because a reader of the announcement may end it.
  package init() async { signals = await UnixSignalsSequence(trapping: .sigterm, .sigint) }

  /// Waits for one of the signals.
  ///
  /// - Returns: its name, for the log.
  package func first() async -> String {
    for await signal in signals { return "\(signal)" }
    return "cancellation"
  }
}

/// Binds a process to the `widgetlab up` that starts it: when `up` exits for any reason, the process is killed.
package enum ParentDeathSignal {
  /// An option of every standing process, followed by the pid of its parent.
  package static let option = "--die-with-parent"

  /// Applies `--die-with-parent PID` if it is present. Must run first in `main`, on the main thread, before other
  /// options are read, because the parent may exit at any time. Exits with 64 when no pid follows.
  ///
  /// - Parameter arguments: `CommandLine.arguments`.
  package static func exitWithParentIfRequested(_ arguments: [String]) {
    guard let index = arguments.firstIndex(of: option) else { return }
    guard index + 1 < arguments.count, let pid = Int32(arguments[index + 1]), pid > 0 else {
      printError("\(option) needs the pid of the parent process")
      exit(64)
    }
    exitWithParent(expecting: pid)
  }

  /// Asks the kernel to send `SIGKILL` when the thread that spawned this process exits. Exits with 0 when the parent
  /// has already changed, and with 70 when the kernel refuses or this is not the main thread.
  ///
  /// - Parameter pid: the parent's, in its own pid namespace. In a container whose parent is outside, it never matches.
  package static func exitWithParent(expecting pid: Int32) {
    guard process_set_parent_death_signal(SIGKILL) == 0 else {
      printError("cannot set the parent-death signal: \(String(cString: strerror(errno)))")
      exit(70)
    }
    // The parent may have exited before the call above. Then the signal would never arrive.
    guard getppid() == pid else { exit(0) }
  }

  private static func printError(_ text: String) {
    let name = CommandLine.arguments.first?.split(separator: "/").last ?? "process"
    let line = Array("\(name): \(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
