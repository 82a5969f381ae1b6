// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import Timekeeping

/// The web server of the console.
package struct ConsoleServer: Sendable {
  /// How the server is reached.
  package struct Settings: Sendable {
    /// The address to listen on.
    package var address = "127.0.0.1"
    /// 0 for a free one.
    package var port = 0
    /// Further names that `Host` may have.
    package var allowedHosts: [String] = []
    /// The right to use the console.
    package var token: ConsoleToken
    /// The time for the head of a request, for its body, and for a client to take what was sent.
    package var headLimit = Duration.seconds(15)
    package var bodyLimit = Duration.seconds(10)
    package var writeLimit = Duration.seconds(30)
    /// The time between two signs of life on a stream of events.
    package var heartbeat = Duration.seconds(15)
    /// The most streams of events.
    package var streamLimit = 64

    /// Creates settings.
    package init(token: ConsoleToken) { self.token = token }
  }

  let settings: Settings
  let facts: ConsoleFacts
  let journal: ConsoleJournal
  /// nil for a copied journal.
  let cluster: (any ConsoleOperator)?

  /// Creates a server that does not listen yet.
  package init(
    _ settings: Settings, facts: ConsoleFacts, journal: ConsoleJournal, cluster: (any ConsoleOperator)?
  ) {
    self.settings = settings
    self.facts = facts
    self.journal = journal
    self.cluster = cluster
  }

  /// Serves until the task is cancelled.
  ///
  /// - Parameter listening: called with the port.
  /// - Throws: when the address cannot be used.
  package func run(listening: @escaping @Sendable (_ port: Int) async -> Void) async throws {
    var logger = Logger(label: "console")
    logger.logLevel = .critical
    let streams = StreamRegister(limit: settings.streamLimit)
    let hosts = SharedHosts()
    let responder = ConsoleResponder(server: self, streams: streams, hosts: hosts)
    let application = Application(
      responder: responder,
      server: .http1(
        configuration: .init(
          idleTimeout: TimeAmount(settings.headLimit),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 64))),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.address, port: settings.port),
        availableConnectionsDelegate: ConnectionRoom(logger: logger)),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? settings.port
        hosts.set(HostRule(port: port, allowed: settings.allowedHosts))
        await listening(port)
      },
      logger: logger)
    let background = TaskOwner()
    start(background, streams)
    do {
      try await serve(application, streams: streams, logger: logger)
    } catch {
      await end(background)
      throw error
    }
    await end(background)
  }

  /// How long the connections have to end when the server does.
  private static let patience = Duration.seconds(1)

  /// Serves until the task is cancelled. Then the server stops listening before its task is cancelled: Hummingbird would
  /// drop a connection that was accepted just before, and NIO ends the process for a connection that is dropped unused.
  private func serve(_ application: some Service, streams: StreamRegister, logger: Logger) async throws {
    let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
    let serving = Task { try await group.run() }
    let stopping = TaskOwner()
    let result = await withTaskCancellationHandler {
      await serving.result
    } onCancel: {
      stopping.start {
        await group.triggerGracefulShutdown()
        streams.closeAll()
        try? await Task.sleep(for: Self.patience)
        serving.cancel()
      }
    }
    await stopping.end()
    try result.get()
  }

  private func start(_ background: TaskOwner, _ streams: StreamRegister) {
    let (journal, cluster, settings) = (journal, cluster, settings)
    background.start { await journal.follow() }
    background.start { await journal.analyse() }
    background.start {
      while (try? await Task.sleep(for: settings.heartbeat)) != nil { journal.feed.heartbeat() }
    }
    background.start {
      while (try? await Task.sleep(for: settings.writeLimit / 4)) != nil {
        streams.closeStuck(after: settings.writeLimit)
      }
    }
    if let cluster {
      background.start {
        for await topics in cluster.changes { journal.feed.publish(topics) }
      }
    }
  }

  private func end(_ background: TaskOwner) async {
    background.cancel()
    await journal.end()
    await background.end()
  }
}

/// The names of this console, known once it listens.
final class SharedHosts: Sendable {
  private let hosts = Mutex<HostRule?>(nil)

  func set(_ rule: HostRule) { hosts.withLock { $0 = rule } }

  func allows(_ host: String) -> Bool { hosts.withLock { $0?.allows(host) ?? false } }
}

/// The open streams of events. Any thread.
final class StreamRegister: Sendable {
  private struct Stream {
    let channel: any Channel
    /// Since when the client has not taken what was sent; nil while nothing waits.
    var writingSince: ContinuousClock.Instant?
  }

  private struct State {
    var streams: [UInt64: Stream] = [:]
    var next: UInt64 = 0
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  var count: Int { state.withLock { $0.streams.count } }

  /// Takes a place; nil when all are taken.
  func enter(_ channel: any Channel) -> UInt64? {
    state.withLock { state in
      guard state.streams.count < limit else { return nil }
      state.next += 1
      state.streams[state.next] = Stream(channel: channel)
      return state.next
    }
  }

  func leave(_ id: UInt64) { state.withLock { _ = $0.streams.removeValue(forKey: id) } }

  func writing(_ id: UInt64, isWriting: Bool) {
    state.withLock { $0.streams[id]?.writingSince = isWriting ? .now : nil }
  }

  /// Closes the connections of all streams.
  func closeAll() {
    for channel in state.withLock({ $0.streams.values.map(\.channel) }) { channel.close(promise: nil) }
  }

  /// Closes the connections of clients that do not read.
  func closeStuck(after limit: Duration) {
    let now = ContinuousClock.now
    let stuck = state.withLock { state in
      state.streams.values.filter { $0.writingSince.map { now - $0 > limit } ?? false }.map(\.channel)
    }
    for channel in stuck { channel.close(promise: nil) }
  }
}

/// Accepts as many connections as this process has descriptors for. Beyond that the listener pauses: otherwise it would
/// try again and again, and use all its time. Confined to the event loop of the listener.
struct ConnectionRoom: AvailableConnectionsDelegate {
  /// Descriptors for the journal and the bus.
  private static let reserve = 16
  /// The time between two lines of the log.
  private static let quiet = Duration.seconds(10)

  private let limit: Int
  private let logger: Logger
  private var connections = 0
  private var logged: ContinuousClock.Instant?

  init(logger: Logger) {
    var files = rlimit()
    let most = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 ? Int(clamping: files.rlim_cur) : 256
    let inUse = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 64
    limit = max(1, most - inUse - Self.reserve)
    self.logger = logger
  }

  func isAcceptingNewConnections() -> Bool { connections < limit }

  mutating func connectionClosed() { connections -= 1 }

  mutating func connectionOpened() {
    connections += 1
    guard connections >= limit, logged.map({ .now - $0 > Self.quiet }) ?? true else { return }
    logged = .now
    logger.critical("no more connections are accepted: \(limit) are open; raise the limit of descriptors (`ulimit -n`)")
  }
}

/// Why a request of the page is not answered: an HTTP status, and the message for the user.
package struct ConsoleError: Error, Encodable, Equatable {
  /// A range of characters of a filter expression.
  package struct Place: Encodable, Equatable, Sendable {
    /// The first character.
    package let from: Int
    /// The character after the last one.
    package let to: Int
  }

  /// The HTTP status.
  package let status: Int
  /// What happened.
  package let what: String
  /// Where.
  package let `where`: String?
  /// What to do.
  package let advice: String?
  /// The characters at fault in a filter expression.
  package var place: Place?

  /// Creates an error.
  package init(_ status: Int, _ what: String, at place: String? = nil, advice: String? = nil) {
    self.status = status
    self.what = what
    self.where = place
    self.advice = advice
  }

  private enum CodingKeys: String, CodingKey { case what, `where`, advice, place }
}
