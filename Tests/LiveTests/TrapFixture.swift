// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import WidgetLabTesting

/// A cluster with two authors of background sessions: one makes a mistake, the other does not. Each has an extension
/// and, on request, a containing app.
struct TrapFixture: Sendable {
  static let size = 20_000
  /// A time after which the deadline of a completion has passed; tests advance the clock by it and do not wait.
  static let overTheDeadline = "\(LiveFixture.completionDeadline + 6)s"

  let cluster: LabCluster
  let journal: LabJournal
  let server: LocalServer
  let wrong: TrapAuthor
  let right: TrapAuthor

  /// The server's default response: 20,000 bytes; for `/held` only when the test releases it.
  static let usual: @Sendable (LocalServer.Request) -> LocalServer.Reply = { request in
    LocalServer.Reply(body: Data(count: size), holdsAfter: request.path.hasPrefix("/held") ? 1000 : nil)
  }

  /// Runs a test `WIDGETLAB_REPEAT` times.
  ///
  /// - Parameters:
  ///   - trap: the number of the pitfall.
  ///   - path: the path of the download; `/held` for a file that the test releases.
  ///   - inline: the path of the requests that the processes perform themselves.
  ///   - suspendAfter: in seconds; by default no process is suspended during the test.
  ///   - callDeadline: seconds that a call of an author's thread waits for the host.
  ///   - apps: forms of the pitfall by the bundle identifiers of apps.
  static func run(
    _ trap: Int, path: String = "/held", inline: String = "/", suspendAfter: Double = 60, callDeadline: Int = 60,
    settings: [String] = [],
    environment: [String] = [], apps: [String: String] = [:],
    answer: @escaping @Sendable (LocalServer.Request) -> LocalServer.Reply = usual,
    _ body: @Sendable (TrapFixture) async throws -> Void
  ) async throws {
    let rounds = LiveTrait.rounds
    for round in 1...rounds {
      let rules = [
        "suspendAfter: \(suspendAfter)", "callDeadline: \(callDeadline)",
        "completionDeadline: \(LiveFixture.completionDeadline)",
      ]
      let server = try LocalServer(answer)
      defer { server.stop() }
      let environment =
        environment + ["TRIAL_URL: \(server.url(path))", "TRIAL_INLINE_URL: \(server.url(inline))"]
      let products =
        apps.sorted { $0.key < $1.key }.map {
          product($0.key, form: "\(trap) \($0.value)", isApp: true, environment: environment)
        }
      let extensions = ["Wrong", "Right"].map {
        product("com.example.\($0).Widget", form: "\(trap) \($0.lowercased())", isApp: false, environment: environment)
      }
      let groups = Set(["com.example.Wrong", "com.example.Right"] + apps.keys).map(group(of:)).sorted()
      let configuration = """
        device:
          name: \(LiveFixture.device)
        appGroups:
        \(groups.map { "  - \($0)" }.joined(separator: "\n"))
        \(products.isEmpty ? "" : "apps:\n" + products.joined(separator: "\n"))
        extensions:
        \(extensions.joined(separator: "\n"))
        settings:
          developerMode: true
        \((rules + settings).map { "  \($0)" }.joined(separator: "\n"))
        """
      do {
        try await LabCluster.with("trap \(trap)", configuration: configuration) { cluster in
          try await body(TrapFixture(cluster, server))
        }
      } catch {
        throw LabError("trap \(trap), round \(round) of \(rounds): \(error)")
      }
    }
  }

  private static func product(_ bundle: String, form: String, isApp: Bool, environment: [String]) -> String {
    let ownSource =
      ["TRIAL_FIXTURE: traps", "TRIAL_TRAP: \(form)", "TRIAL_GROUP: \(group(of: bundle))"]
      + (isApp ? ["TRIAL_APP: yes"] : [])
    return """
        - bundle: \(bundle)
          executable: FixtureHandlers
          environment:
      \((ownSource + environment).map { "      \($0)" }.joined(separator: "\n"))
      """
  }

  /// The group of an app and its extension.
  static func group(of bundle: String) -> String {
    "group.\(bundle.split(separator: ".").prefix(3).joined(separator: "."))"
  }

  private init(_ cluster: LabCluster, _ server: LocalServer) {
    self.cluster = cluster
    self.server = server
    journal = cluster.journal
    wrong = TrapAuthor(.widgetExtension(LiveFixture.device, "com.example.Wrong.Widget"), cluster)
    right = TrapAuthor(.widgetExtension(LiveFixture.device, "com.example.Right.Widget"), cluster)
  }

  /// One of the authors' apps.
  func app(_ bundle: String) -> TrapAuthor { TrapAuthor(.app(LiveFixture.device, bundle), cluster) }

  // MARK: Actions

  /// Requests a timeline from both.
  func reload() async throws { try await cluster.run("reload", "Trap") }

  /// Requests a timeline from both; returns when the downloads of both have begun.
  func begin() async throws {
    try await reload()
    for author in [wrong, right] {
      try await author.progress(.started)
      // A provider that is killed before it completes is asked once more.
      try await author.shows("nothing yet")
    }
  }

  /// Begins, and returns when both are suspended.
  func beginAndSleep() async throws {
    try await begin()
    for author in [wrong, right] { try await author.state("suspended") }
  }

  /// Begins, and kills both before any event arrives.
  func beginAndDie() async throws {
    try await begin()
    for author in [wrong, right] { try await author.kill() }
  }

  /// Releases this number of held responses.
  func release(_ count: Int = 2) { for _ in 0..<count { server.release() } }

  /// Advances the device's clock.
  func advance(_ time: String) async throws { try await cluster.run("clock", "advance", time) }

  /// Advances the clock past the deadline of a completion, and checks that the process is evicted.
  func expectEviction(of author: TrapAuthor) async throws {
    try await advance(Self.overTheDeadline)
    let end = try await author.ended(1)
    let absent = try await author.state("absent", after: end.sequence)
    let why = absent.reading(ProcessState.self)?.why ?? ""
    guard why.hasPrefix("evicted: did not call the completion for") else {
      throw LabError("\(author.owner.short) is absent: \(why)")
    }
  }
}

/// The process of one author, as the journal shows it.
struct TrapAuthor: Sendable {
  let owner: Address
  private let cluster: LabCluster
  var journal: LabJournal { cluster.journal }

  init(_ owner: Address, _ cluster: LabCluster) {
    self.owner = owner
    self.cluster = cluster
  }

  // MARK: Waiting

  /// Waits for a printed line that contains a text; on standard error a prefix may precede it.
  @discardableResult
  func prints(_ line: String, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("\(owner.short) prints: \(line)", after: after) {
      $0.line(printedBy: owner)?.contains(line) == true
    }
  }

  /// Waits for a timeline that shows a text.
  @discardableResult
  func shows(_ text: String, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("\(owner.short) shows: \(text)", after: after) {
      let stored = $0.reading(TimelineStored.self)
      return stored?.bundle == owner.bundleIdentifier && stored?.text == [text]
    }
  }

  @discardableResult
  func progress(_ step: TransferProgress.Step, task: Int = 1) async throws -> LabEnvelope {
    try await journal.waitFor("\(step.rawValue): task \(task) of \(owner.short)") {
      let progress = $0.reading(TransferProgress.self)
      return progress?.owner == owner && progress?.step == step && progress?.taskIdentifier == task
    }
  }

  @discardableResult
  func state(_ state: String, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("\(owner.short) is \(state)", after: after) {
      let change = $0.reading(ProcessState.self)
      return change?.address == owner && change?.state == state
    }
  }

  @discardableResult
  func ended(_ generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("the exit of generation \(generation) of \(owner.short)") {
      let exited = $0.reading(ProcessExited.self)
      return exited?.address == owner && exited?.generation == generation
    }
  }

  func acknowledged() async throws {
    try await journal.waitFor("\(owner.short) has acknowledged") {
      $0.reading(SessionAcknowledged.self)?.owner == owner
    }
  }

  @discardableResult
  func handlerCalled() async throws -> LabEnvelope {
    try await journal.waitFor("the handler of \(owner.short) is called") {
      $0.envelope.header.source == owner && $0.kind == HandlerCalled.kind.name
    }
  }

  @discardableResult
  func received(_ method: String) async throws -> LabEnvelope {
    try await journal.waitFor("the delegate of \(owner.short) gets: \(method)") {
      $0.envelope.header.source == owner && $0.reading(DelegateCalled.self)?.method == method
    }
  }

  func kill() async throws {
    let launch = try await journal.waitFor("\(owner.short) is launched") {
      $0.reading(ProcessStarted.self)?.address == owner
    }
    try LabProcess(pid: launch.reading(ProcessStarted.self)?.pid ?? 0).signal(SIGKILL)
    try await ended(1)
  }

  // MARK: Recorded events

  /// The calls into the author's code that its runtime recorded, in order.
  func calls() async throws -> [String] {
    try await journal.all().filter { $0.envelope.header.source == owner }.compactMap { entry in
      if entry.kind == HandlerCalled.kind.name { return "handler" }
      if let called = entry.reading(DelegateCalled.self) { return called.method }
      return entry.reading(CompletionCalled.self).map { "completion \($0.outstanding)" }
    }
  }

  /// The endings of its process instances.
  func endings() async throws -> [Ending] {
    try await journal.all().compactMap { $0.reading(ProcessExited.self) }.filter { $0.address == owner }.map(\.ending)
  }

  /// The texts of its timelines.
  func texts() async throws -> [String] {
    try await journal.all().compactMap { $0.reading(TimelineStored.self) }
      .filter { $0.bundle == owner.bundleIdentifier }.flatMap(\.text)
  }

  func output() async throws -> [String] { try await journal.all().compactMap { $0.line(printedBy: owner) } }

  /// How many tasks it has created.
  func tasks() async throws -> Int {
    try await journal.all().count { $0.envelope.header.source == owner && $0.kind == CreateTransfer.kind.name }
  }
}

extension LabEnvelope {
  /// The line that the process printed, or `nil` for another envelope.
  func line(printedBy owner: Address) -> String? {
    let output = reading(ProcessOutput.self)
    return output?.address == owner ? output?.line : nil
  }
}
