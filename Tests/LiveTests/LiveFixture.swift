// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The cluster of the live tests: the fixture's extension, which reports each point of its run and can be held there,
/// and the sample's app, which has its own download.
struct LiveFixture: Sendable {
  static let device = "iphone"
  static let widgetExtension = Address.widgetExtension(device, "com.example.Trial.Widget")
  static let app = Address.app(device, "com.example.Trial")
  static let host = Address.host(device)
  static let session = "com.example.Trial.session"
  static let appSession = "com.example.CaffeineTracker.app.figures"
  static let group = "group.com.example.Trial"
  static let kind = "Trial"
  /// The deadline of a completion in seconds: more than a process needs on a busy machine. Tests of the deadline
  /// advance the clock.
  static let completionDeadline = 300
  /// The size in bytes of the extension's file, which takes two seconds to load.
  static let size = 786_432
  private static let bytesPerSecond = 393_216

  /// The correlation id of every envelope of the extension's session.
  static let correlation = MessageContext.correlation(ofSession: session, of: widgetExtension)
  static let appCorrelation = MessageContext.correlation(ofSession: appSession, of: app)

  let cluster: LabCluster
  let journal: LabJournal
  /// The path and query of the extension's download.
  let path: String

  /// Whether the processes are built with a sanitizer.
  static let isSanitized = ProcessInfo.processInfo.environment["WIDGETLAB_SANITIZER"] != nil

  init(_ cluster: LabCluster, path: String = Self.path) {
    self.cluster = cluster
    self.path = path
    self.journal = cluster.journal
  }

  static let path = "/figures?size=\(size)&bytesPerSecond=\(bytesPerSecond)&seed=trial"
  private static let appPath = "/figures?size=\(size / 2)&bytesPerSecond=\(bytesPerSecond / 2)&seed=app"

  static let configuration = configuration(path: path, appPath: appPath, suspendAfter: 0.5)

  /// The configuration with the given downloads, and with lines of `name: value` in the extension's environment.
  static func configuration(
    path: String, appPath: String, suspendAfter: Double, adding environment: [String] = []
  ) -> String {
    """
    device:
      name: \(device)
    appGroups:
      - \(group)
    apps:
      - bundle: com.example.Trial
        executable: containing-app
        environment:
          CAFFEINE_FIGURES_URL: ${provider.url}\(appPath)
    extensions:
      - bundle: com.example.Trial.Widget
        executable: FixtureExtension
        environment:
          TRIAL_URL: ${provider.url}\(path)
          TRIAL_GROUP: \(group)\(environment.map { "\n      \($0)" }.joined())
    provider:
      executable: provider-server
    settings:
      developerMode: true
      suspendAfter: \(suspendAfter)
      completionDeadline: \(completionDeadline)
      callDeadline: 60
      advancePatience: 1
    """
  }

  /// Runs the test `WIDGETLAB_REPEAT` times, each time in a new cluster.
  ///
  /// - Parameters:
  ///   - environment: lines of `name: value` that are added to the extension's environment.
  ///   - suspendAfter: seconds after which an idle extension is suspended.
  ///   - settings: lines that are added to the configuration's settings.
  ///   - share: the share of the extension's file after which the provider waits for `whileHeld`.
  ///   - more: lines at the end of the configuration.
  static func run(
    _ name: String, environment: [String] = [], suspendAfter: Double = 0.5, settings: [String] = [],
    heldAt share: Double? = nil, with more: String = "", _ body: @Sendable (LiveFixture) async throws -> Void
  ) async throws {
    let path = path + (share.map { "&holdAt=\(Int(Double(size) * $0))" } ?? "")
    let usual = configuration(path: path, appPath: appPath, suspendAfter: suspendAfter, adding: environment)
    let configuration = usual + settings.map { "\n  \($0)" }.joined()
    let rounds = LiveTrait.rounds
    for round in 1...rounds {
      do {
        try await LabCluster.with(name, configuration: configuration + "\n" + more) {
          try await body(LiveFixture($0, path: path))
        }
      } catch {
        throw LabError("\(name), round \(round) of \(rounds): \(error)")
      }
    }
  }

  /// The folder that extension and test share.
  var groupFolder: String { cluster.instance.device(Self.device).group(Self.group) }

  // MARK: Actions

  /// Opens the app and reloads the widget; returns when both downloads have begun.
  func begin() async throws {
    try await ask()
    try await begun()
  }

  /// Opens the app and reloads the widget.
  func ask() async throws {
    try await cluster.run("app", "open")
    try await cluster.run("reload", Self.kind)
  }

  /// Returns when both downloads have begun.
  func begun() async throws {
    try await progress(of: Self.widgetExtension, .started)
    try await progress(of: Self.app, .started)
  }

  /// The part of `widgetlab ps --json` with the sessions.
  private struct SessionList: Decodable { let sessions: [SessionStatus] }

  /// Performs work when the host has received the share of the extension's file that `run` was given. The provider
  /// sends the rest afterwards, however long the work takes.
  func whileHeld<T>(_ work: () async throws -> T) async throws -> T {
    let held = try #require(path.split(separator: "holdAt=").last.flatMap { Int64($0) }, "the download is not held")
    try await cluster.eventually("the host has received \(held) bytes") {
      let device = try JSONDecoder().decode(SessionList.self, from: Data(try await cluster.run("ps", "--json").utf8))
      return device.sessions.contains { $0.session == Self.session && $0.bytesReceived >= held }
    }
    let result = try await work()
    try await cluster.post("/figures/release", json: "{}")
    return result
  }

  /// Returns when the extension has returned its timeline. If it is killed earlier, it is relaunched for the timeline, and
  /// then not for its events.
  func answered() async throws {
    try await journal.waitFor("the timeline is stored") { $0.kind == TimelineStored.kind.name }
  }

  /// Lets the held download end when the extension is suspended. Events of one that ended earlier would call no handler.
  func endWhileSuspended() async throws {
    try await whileHeld { _ = try await state("suspended", of: Self.widgetExtension) }
  }

  /// Performs work while the provider is stopped: no byte arrives and no download ends, however long the work takes.
  func whileStalled<T>(_ work: () async throws -> T) async throws -> T {
    guard let pid = cluster.pid(of: "provider") else { throw LabError("the provider does not run") }
    let provider = LabProcess(pid: pid)
    try provider.signal(SIGSTOP)
    do {
      let result = try await work()
      try provider.signal(SIGCONT)
      return result
    } catch {
      try provider.signal(SIGCONT)
      throw error
    }
  }

  /// Kills a process with the operator's command.
  func kill(_ process: String) async throws { try await cluster.run("kill", process) }

  /// What the extension does at a point of its run.
  enum Act: String { case crash, grow, hold }

  /// Makes the extension do something at a point, in each process instance until `clear`.
  func set(_ act: Act, at point: String, _ value: String = "") throws {
    try FileManager.default.createDirectory(atPath: groupFolder, withIntermediateDirectories: true)
    guard FileManager.default.createFile(atPath: file(act, point), contents: Data(value.utf8)) else {
      throw LabError("\(file(act, point)) cannot be created")
    }
  }

  /// Lets later process instances pass the point; the effect on a running one remains.
  func clear(_ act: Act, at point: String) throws { try FileManager.default.removeItem(atPath: file(act, point)) }

  /// Makes the extension stop at a point of its run.
  func hold(_ point: String) throws { try set(.hold, at: point) }

  /// Lets later process instances pass the point; one that is held there stays held.
  func release(_ point: String) throws { try clear(.hold, at: point) }

  private func file(_ act: Act, _ point: String) -> String { "\(groupFolder)/\(act.rawValue)-\(point)" }

  /// Makes the extension wait at a point, until the gate is opened.
  func closeGate(at point: String) throws {
    try FileManager.default.createDirectory(atPath: groupFolder, withIntermediateDirectories: true)
    guard mkfifo(gate(point), 0o600) == 0 else { throw LabError("\(gate(point)) cannot be created") }
  }

  /// Lets the process at the gate continue and later ones pass.
  func openGate(at point: String) async throws {
    try await cluster.eventually("the extension waits at the gate \(point)") {
      let writer = open(gate(point), O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      return writer >= 0 && close(writer) == 0
    }
    unlink(gate(point))
  }

  private func gate(_ point: String) -> String { "\(groupFolder)/gate-\(point)" }

  // MARK: Waiting for the journal

  @discardableResult
  func progress(of owner: Address, _ step: TransferProgress.Step, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("\(step.rawValue): the download of \(owner.short)", after: after) {
      let progress = $0.reading(TransferProgress.self)
      return progress?.owner == owner && progress?.step == step
    }
  }

  /// Waits for a line of the fixture's extension: `reached <point> …`.
  @discardableResult
  func reached(_ point: String, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("the extension prints: reached \(point)", after: after) {
      let words = $0.reading(ProcessOutput.self)?.line.split(separator: " ") ?? []
      return words.prefix(2) == ["reached", Substring(point)]
    }
  }

  func acknowledged(by owner: Address, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("the host removed the acknowledged events of \(owner.short)", after: after) {
      $0.reading(SessionAcknowledged.self)?.owner == owner
    }
  }

  /// Waits for the exit of a generation of the extension.
  func ended(_ generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("the exit of generation \(generation) of the extension") {
      let exited = $0.reading(ProcessExited.self)
      return exited?.address == Self.widgetExtension && exited?.generation == generation
    }
  }

  /// Waits for the launch of a generation of the extension; returns its process.
  func extensionProcess(_ generation: UInt32 = 1) async throws -> LabProcess {
    let launch = try await journal.waitFor("generation \(generation) of the extension is launched") {
      let started = $0.reading(ProcessStarted.self)
      return started?.address == Self.widgetExtension && started?.generation == generation
    }
    return LabProcess(pid: launch.reading(ProcessStarted.self)?.pid ?? 0)
  }

  @discardableResult
  func state(_ state: String, of address: Address, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("\(address.short) is \(state)", after: after) {
      let change = $0.reading(ProcessState.self)
      return change?.address == address && change?.state == state
    }
  }
}
