package import Conversations
import Glibc
package import Logging
package import MessageBus
import UnixSignals

/// The connection of one address to the bus of an instance, with the address's standing key; not started yet, so that
/// handlers can be set. Waits for the broker's announcement. In full `Cluster.connection(as:address:instance:)`.
///
/// - Parameters:
///   - name: whose key.
///   - heartbeats: `false` for a process that somebody may stop.
///   - limit: how long the broker's announcement is waited for; `nil` waits for ever.
/// - Throws: `ClusterError`: `not-there`, `key`, `instance-folder`; `CancellationError`.
package func connection(
  as name: StandingKey.Name, address: Address, instance: InstanceFolder, heartbeats: Bool = true,
  within limit: Duration? = nil
) async throws -> Connection {
  let announcement = try await BusAnnouncement.wait(in: instance, within: limit ?? .seconds(1_000_000_000))
  let key = try StandingKey.load(name, in: instance)
  guard key.pattern.matches(address) else {
    throw ClusterError(.key, "the key \(name) speaks as \(key.pattern), not as \(address)")
  }
  return Connection.zeroMQ(
    address: address, endpoint: announcement.endpoint, serverKey: announcement.publicKey,
    heartbeats: heartbeats
  ) { try StandingKey.load(name, in: instance).pair }
}

/// The same, started. In full `Cluster.connect(as:address:instance:)`.
///
/// - Parameters:
///   - limit: how long the broker is waited for, to announce itself and then to answer; `nil` waits for ever.
///   - prepare: sets the handlers, before the first envelope can come.
/// - Throws: what `connection` throws, and `BusError` `refused` when the broker turns the key away for good.
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
    throw ClusterError(
      .notThere,
      "the bus of \(instance.path) did not answer within \(limit): is `widgetlab up` running with this instance folder?"
    )
  }
  return connection
}

/// What every standing process does: answers pings, obeys a signal that it is asked to raise, ends when it is asked to.
package enum StandingProcess {
  /// Answers `peer.ping` and obeys `peer.raise-signal`. Before the connection is started.
  ///
  /// - Parameter waitingFor: what the process lacks to do its work now; empty when it is ready.
  package static func answerPeers(
    on connection: any BusConnection, waitingFor: @escaping @Sendable () async -> [String] = { [] }
  ) {
    connection.onRequest(Ping.self) { _, _ in
      let missing = await waitingFor()
      return Ping.Reply(pid: getpid(), isReady: missing.isEmpty, waitingFor: missing)
    }
    connection.onNotice(RaiseSignal.self) { notice, _ in
      // To the whole process, and not to the thread that happens to run this.
      kill(getpid(), notice.signal)
    }
  }

  /// Lets this process have as many descriptors as it may: each peer needs one, and so does each knock.
  package static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Returns when SIGTERM or SIGINT came.
  ///
  /// - Returns: the signal's name, for the log.
  package static func untilAskedToEnd() async -> String {
    for await signal in await UnixSignalsSequence(trapping: .sigterm, .sigint) { return "\(signal)" }
    return "cancellation"
  }

  /// The life of a standing process after it is connected: waits for SIGTERM or SIGINT, does what is left, says
  /// goodbye. The caller then returns from `main`, with exit code 0.
  ///
  /// - Parameter last: done before the goodbye.
  package static func run(
    _ connection: any BusConnection, logger: Logger, last: () async -> Void = {}
  ) async {
    let signal = await untilAskedToEnd()
    logger.info("asked to end", metadata: ["signal": "\(signal)"])
    await last()
    await connection.leave()
  }
}
