// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages

/// One run of this tool on the bus, as `operator/<pid>`; a health check uses `watcher/<pid>`.
struct OperatorSession: Sendable {
  let connection: Connection
  let cluster: ClusterFacts
  var folder: String { cluster.folder }

  /// Connects, runs the work, and closes the connection.
  static func with<T>(
    _ options: InstanceOptions, reading: Bool = false, as name: StandingKey.Name = .operator,
    within limit: Duration = .seconds(5), _ work: (OperatorSession) async throws -> T
  ) async throws -> T {
    try await with(try options.cluster(reading: reading), as: name, within: limit, work)
  }

  /// Same, for a known instance.
  static func with<T>(
    _ cluster: ClusterFacts, as name: StandingKey.Name = .operator, within limit: Duration = .seconds(5),
    _ work: (OperatorSession) async throws -> T
  ) async throws -> T {
    // A command that the console runs uses the console's connection.
    let current = SharedOperatorSession.current.flatMap { $0.folder == cluster.folder && name == .operator ? $0 : nil }
    let shared = try await current?.session(within: limit)
    let session: OperatorSession
    if let shared { session = shared } else { session = try await open(cluster, as: name, within: limit) }
    do {
      let result = try await work(session)
      if shared == nil { await session.connection.leave() }
      return result
    } catch {
      if shared == nil { await session.connection.leave() }
      if let error = error as? BusError {
        if BusError.Code.launchFailures.contains(error.code) {
          throw CommandError(notLaunched: [error], in: cluster.folder)
        }
        throw CommandError(Exit.no, "\(error)", at: cluster.folder, advice: error.code.advice)
      }
      throw error
    }
  }

  /// Connects. The caller must call `leave()`.
  ///
  /// - Throws: `unavailable` when there is no instance, or its bus does not reply in time.
  static func open(
    _ cluster: ClusterFacts, as name: StandingKey.Name = .operator, within limit: Duration
  ) async throws -> OperatorSession {
    guard FileManager.default.fileExists(atPath: cluster.instance.busAnnouncement) else {
      throw CommandError(
        Exit.unavailable, "this instance is not running: its bus has not announced itself", at: cluster.folder,
        advice: "start it with `widgetlab up`\(InstanceOptions.adviceToName)")
    }
    do {
      // Processes in several containers may have the same pid.
      let number = "\(getpid())-\(UInt16.random(in: .min ... .max))"
      let connection = try await connect(
        as: name, address: name == .watcher ? .watcher(number) : .operator(number), instance: cluster.instance,
        within: limit)
      return OperatorSession(connection: connection, cluster: cluster)
    } catch {
      if let error = CommandError.noSpace(in: cluster.folder, Exit.unavailable) { throw error }
      throw CommandError(
        Exit.unavailable, "the bus does not reply: \(error)", at: cluster.folder,
        advice: "is `widgetlab up` running? See the bus's log \(cluster.folder)/logs/message-bus.log")
    }
  }

  /// Asks the host for new timelines. Returns when the host has persisted the request.
  func reload(_ kind: String?, within limit: Duration) async throws {
    let connection = connection
    let host = cluster.host
    try await Deadline.within(limit, what: "the host did not acknowledge the reload", at: folder) {
      try await connection.deliver(ReloadTimelines(widgetKind: kind), to: host)
    }
  }

  /// Opens the app, as a user would.
  ///
  /// - Throws: a command error when it cannot be started.
  func openApp(_ bundle: String) async throws {
    _ = try await ask(OpenApp(bundle: bundle), within: .seconds(15))
    try await awaitLaunch { AwaitLaunch(bundle: bundle, limit: $0) }
  }

  /// Returns when the launches in request have ended, or at the limit.
  ///
  /// - Parameter request: creates the request for a number of seconds.
  /// - Throws: a command error with what cannot be started, and the cause.
  func awaitLaunch(within limit: Double = 10, _ request: (Double) -> AwaitLaunch) async throws {
    do {
      let reply = try await ask(request(limit), within: .seconds(limit + 5))
      guard reply.failures.isEmpty else { throw CommandError(notLaunched: reply.failures.map(\.error), in: folder) }
    } catch let error as BusError where !error.isDefinite {
      // The host exited in between. The earlier request is still valid.
    }
  }

  /// Sends a request to the host. Waits while the host is being restarted.
  ///
  /// - Throws: `BusError`; a host that is not back within the limit counts as not replying.
  func ask<R: Request>(
    _ request: R, within limit: Duration = .seconds(10)
  ) async throws -> R.Reply {
    try await connection.request(request, to: cluster.host, within: limit, whenUnreachable: .wait)
  }
}

extension CommandError {
  /// The error of a command whose process cannot be started.
  ///
  /// - Parameter folder: the instance's.
  init(notLaunched errors: [BusError], in folder: String) {
    self.init(
      Exit.configuration, errors.map { "\($0)" }.joined(separator: "\n  "), at: folder,
      advice: """
        correct it, build again, and run `widgetlab reload --all` or `widgetlab app open`; \
        `widgetlab tail --kind process.output` shows the process's output, `widgetlab ps` its last exit
        """)
  }
}

/// Work with a deadline.
enum Deadline {
  /// Cancels the work at the deadline and throws a command error.
  static func within<T: Sendable>(
    _ limit: Duration, what: String, at place: String, work: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    try await withThrowingTaskGroup(of: T?.self) { group in
      group.addTask { try await work() }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      guard let first = try await group.next(), let value = first else {
        throw CommandError(Exit.no, "\(what) within \(limit)", at: place, advice: "see `widgetlab ps`")
      }
      return value
    }
  }
}

extension BusError.Code {
  /// What the user can do after this error.
  fileprivate var advice: String {
    switch self {
    case .noSuchDomain, .noSuchKey:
      "`widgetlab defaults` lists the domains that have a value, `widgetlab defaults read DOMAIN` the keys of one"
    case .tooLarge:
      "ask for a part: one key (`widgetlab defaults read DOMAIN KEY`) or one entry (`widgetlab snapshot --entries first`); "
        + "views and images of a placed widget may be longer (`widgetlab screen --picture`)"
    case .noSuchPlacement: "`widgetlab ps` and `widgetlab screen` show what is placed, by its number"
    case .notPlaceable: "`widgetlab gallery` shows what may be placed where, and what may not and why"
    case .noSuchToken:
      "`widgetlab token list` shows the device tokens: a device asks for one when a widget or control with "
        + "pushHandler(_:) is placed, or when the app registers"
    // Sent only by the device, about user actions.
    case BusError.Code("not-now"):
      "`widgetlab screen` shows what the device is doing; `device` in widgetlab.yaml sets its model and version"
    case .badConfiguration: "`widgetlab add KIND` prints the choices of a widget"
    default: "see `widgetlab ps`"
    }
  }
}

/// One connection for all questions and commands of a console. It is opened when it is needed first. It survives the
/// end of the broker, and is opened again when it has ended or when the instance was made again, with other keys.
actor SharedOperatorSession {
  /// The connection that commands of the current task use; nil when each opens one.
  @TaskLocal static var current: SharedOperatorSession?

  private let cluster: ClusterFacts
  nonisolated let folder: String
  private var opened: OperatorSession?
  /// The key of the bus to which the connection was opened.
  private var publicKey: String?
  private var opening: Task<OperatorSession, any Error>?

  init(_ cluster: ClusterFacts) {
    self.cluster = cluster
    folder = cluster.folder
  }

  /// The connected session.
  ///
  /// - Throws: a command error when the bus does not reply in time.
  func session(within limit: Duration) async throws -> OperatorSession {
    let announced = try? BusAnnouncement.read(in: cluster.instance)?.publicKey
    let formerSession = opened
    if let formerSession, announced == nil || announced == publicKey, await formerSession.connection.end == nil {
      return formerSession
    }
    if let opening { return try await opening.value }
    // Another caller has opened one in the meantime.
    if let opened, opened.connection !== formerSession?.connection { return opened }
    let cluster = cluster
    let task = Task {
      await formerSession?.connection.leave()
      return try await OperatorSession.open(cluster, within: limit)
    }
    (opening, opened, publicKey) = (task, nil, announced)
    defer { opening = nil }
    let session = try await task.value
    opened = session
    return session
  }

  /// Whether a connection is open and has reached the bus; nil when none is open.
  var isConnected: Bool? {
    get async {
      guard let opened else { return nil }
      return await opened.connection.isConnected
    }
  }

  /// Leaves the bus.
  func leave() async {
    await opened?.connection.leave()
    opened = nil
  }
}
