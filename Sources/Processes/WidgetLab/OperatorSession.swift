import Cluster
import Conversations
import Foundation
import Glibc
import MessageBus

/// One run of this tool on the bus, as `operator/<pid>`; a health check is a `watcher/<pid>`.
struct OperatorSession: Sendable {
  let connection: Connection
  let cluster: ClusterFacts
  var folder: String { cluster.folder }

  /// Connects, does the work, and says goodbye.
  static func with<T>(
    _ options: InstanceOptions, as name: StandingKey.Name = .operator, within limit: Duration = .seconds(5),
    _ work: (OperatorSession) async throws -> T
  ) async throws -> T {
    try await with(try options.cluster(), as: name, within: limit, work)
  }

  /// The same for an instance that is known.
  static func with<T>(
    _ cluster: ClusterFacts, as name: StandingKey.Name = .operator, within limit: Duration = .seconds(5),
    _ work: (OperatorSession) async throws -> T
  ) async throws -> T {
    let session = try await open(cluster, as: name, within: limit)
    do {
      let result = try await work(session)
      await session.connection.leave()
      return result
    } catch {
      await session.connection.leave()
      if let error = error as? BusError {
        if BusError.Code.launchFailures.contains(error.code) {
          throw Complaint(notLaunched: [error], in: cluster.folder)
        }
        throw Complaint(Exit.no, "\(error)", at: cluster.folder, advice: error.code.advice)
      }
      throw error
    }
  }

  /// Connects. Whoever calls it leaves.
  ///
  /// - Throws: `unavailable` when there is no instance, or its bus does not answer in time.
  static func open(
    _ cluster: ClusterFacts, as name: StandingKey.Name = .operator, within limit: Duration
  ) async throws -> OperatorSession {
    guard FileManager.default.fileExists(atPath: cluster.instance.busAnnouncement) else {
      throw Complaint(
        Exit.unavailable, "this instance is not running: its bus has not announced itself", at: cluster.folder,
        advice: "start it with `widgetlab up`, or name another with --instance")
    }
    do {
      // Processes in several containers may have one pid.
      let number = "\(getpid())-\(UInt16.random(in: .min ... .max))"
      let connection = try await connect(
        as: name, address: name == .watcher ? .watcher(number) : .operator(number), instance: cluster.instance,
        within: limit)
      return OperatorSession(connection: connection, cluster: cluster)
    } catch {
      throw Complaint(
        Exit.unavailable, "the bus does not answer: \(error)", at: cluster.folder,
        advice: "is `widgetlab up` running? \(cluster.folder)/logs/message-bus.log says what the bus said last")
    }
  }

  /// Asks the host for new timelines; returns when it has written that down.
  func reload(_ kind: String?, within limit: Duration) async throws {
    let connection = connection
    let host = cluster.host
    try await Deadline.within(limit, "the host did not acknowledge the reload", at: folder) {
      try await connection.deliver(ReloadTimelines(widgetKind: kind), to: host)
    }
  }

  /// Opens the app as a person would.
  ///
  /// - Throws: a complaint when it cannot be started.
  func openApp(_ bundle: String) async throws {
    _ = try await ask(OpenApp(bundle: bundle), within: .seconds(15))
    try await awaitLaunch { AwaitLaunch(bundle: bundle, limit: $0) }
  }

  /// Returns when the launches in question are over, or take longer than the limit.
  ///
  /// - Parameter question: made with a number of seconds.
  /// - Throws: a complaint that names what cannot be started, and the cause.
  func awaitLaunch(within limit: Double = 10, _ question: (Double) -> AwaitLaunch) async throws {
    do {
      let reply = try await ask(question(limit), within: .seconds(limit + 5))
      guard reply.failures.isEmpty else { throw Complaint(notLaunched: reply.failures.map(\.error), in: folder) }
    } catch let error as BusError where !error.isDefinite {
      // The host ended in between. The earlier request is still valid.
    }
  }

  /// Asks the host, also one that was just killed and is being started again.
  ///
  /// - Throws: `BusError`; one that did not come back within the limit has not answered.
  func ask<Question: Request>(
    _ question: Question, within limit: Duration = .seconds(10)
  ) async throws -> Question.Reply {
    try await connection.request(question, to: cluster.host, within: limit, whenUnreachable: .wait)
  }
}

extension Complaint {
  /// The error of a command that needs a process which cannot be started.
  ///
  /// - Parameter folder: the instance's.
  init(notLaunched errors: [BusError], in folder: String) {
    self.init(
      Exit.configuration, errors.map { "\($0)" }.joined(separator: "\n  "), at: folder,
      advice: """
        correct it, build again, and run `widgetlab reload --all` or `widgetlab app open`; `widgetlab tail --kind process.output` shows what the process \
        said, `widgetlab ps` how its last life ended
        """)
  }
}

/// Work with an end.
enum Deadline {
  /// Cancels the work when the time is over, and complains.
  static func within<T: Sendable>(
    _ limit: Duration, _ what: String, at place: String, _ work: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    try await withThrowingTaskGroup(of: T?.self) { group in
      group.addTask { try await work() }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      guard let first = try await group.next(), let value = first else {
        throw Complaint(Exit.no, "\(what) within \(limit)", at: place, advice: "see `widgetlab ps`")
      }
      return value
    }
  }
}

extension BusError.Code {
  /// What a person does next who was refused for it.
  fileprivate var advice: String {
    switch self {
    case .noSuchPlacement: "`widgetlab ps` and `widgetlab screen` show what is placed, by its number"
    case .notPlaceable: "`widgetlab gallery` shows what may be placed where, and what may not and why"
    case .noSuchToken:
      "`widgetlab token list` shows the device tokens: a device asks for one when a widget with pushHandler(_:) is placed, "
        + "or the app registers"
    // Said by the device alone, of what a person does.
    case BusError.Code("not-now"):
      "`widgetlab screen` says what the device is doing; its model and version stand below `device` of widgetlab.yaml"
    case .badConfiguration: "`widgetlab add KIND` prints what can be chosen of a widget"
    default: "see `widgetlab ps`"
    }
  }
}
