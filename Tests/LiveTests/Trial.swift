import Cluster
import Conversations
import Foundation
import WidgetLabTesting

/// The cluster of the live tests: the trial extension, which says and can be held at each point of its way, and the
/// sample's app, which downloads something of its own.
struct Trial: Sendable {
  static let device = "iphone"
  static let widgetExtension = Address.widgetExtension(device, "com.example.Trial.Widget")
  static let app = Address.app(device, "com.example.Trial")
  static let host = Address.host(device)
  static let session = "com.example.Trial.session"
  static let appSession = "com.example.CaffeineTracker.app.figures"
  static let group = "group.com.example.Trial"
  static let kind = "Trial"
  /// Bytes of the extension's file, which takes two seconds.
  static let size = 786_432
  private static let bytesPerSecond = 393_216

  /// The id that every envelope of the extension's session carries.
  static let story = Story.session(widgetExtension, session)
  static let appStory = Story.session(app, appSession)

  let cluster: LabCluster
  let journal: LabJournal

  init(_ cluster: LabCluster) {
    self.cluster = cluster
    self.journal = cluster.journal
  }

  static let path = "/figures?size=\(size)&bytesPerSecond=\(bytesPerSecond)&seed=trial"
  private static let appPath = "/figures?size=\(size / 2)&bytesPerSecond=\(bytesPerSecond / 2)&seed=app"

  static let configuration = """
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
        executable: trial-extension
        environment:
          TRIAL_URL: ${provider.url}\(path)
          TRIAL_GROUP: \(group)
    provider:
      executable: provider-server
    settings:
      suspendAfter: 0.5
      completionDeadline: 30
    """

  /// The configuration with more in the extension's environment: lines of `name: value`.
  private static func configuration(adding environment: [String]) -> String {
    let place = "      TRIAL_GROUP: \(group)\n"
    return configuration.replacingOccurrences(
      of: place, with: place + environment.map { "      \($0)\n" }.joined())
  }

  /// Runs the test as often as `WIDGETLAB_REPEAT` says, each time in a new cluster, and a few tests at a time.
  static func run(
    _ name: String, environment: [String] = [], _ body: @Sendable (Trial) async throws -> Void
  ) async throws {
    let configuration = configuration(adding: environment)
    let rounds = ProcessInfo.processInfo.environment["WIDGETLAB_REPEAT"].flatMap { Int($0) } ?? 1
    for round in 1...max(1, rounds) {
      try await Berths.shared.occupy {
        do {
          try await LabCluster.with(name, configuration: configuration) { try await body(Trial($0)) }
        } catch {
          throw LabError("\(name), round \(round) of \(rounds): \(error)")
        }
      }
    }
  }

  /// The folder that extension and test share.
  var groupFolder: String { cluster.instance.device(Self.device).group(Self.group) }

  // MARK: Acts

  /// Opens the app and reloads the widget; returns when both downloads have begun.
  func begin() async throws {
    try await cluster.run("app", "open")
    try await cluster.run("reload", Self.kind)
    try await progress(of: Self.widgetExtension, .started)
    try await progress(of: Self.app, .started)
  }

  /// Returns when the provider has sent a share of the extension's file.
  func downloaded(_ share: Double) async throws {
    try await cluster.eventually("the provider has sent \(share) of the file") {
      let counters = try await cluster.providerCounters()
      return Double(counters.byPath[Self.path]?.bytes ?? 0) >= Double(Self.size) * share
    }
  }

  /// Kills with the operator's tool.
  func kill(_ process: String) async throws { try await cluster.run("kill", process) }

  /// Makes the extension stop at a point of its way.
  func hold(_ point: String) throws {
    try FileManager.default.createDirectory(atPath: groupFolder, withIntermediateDirectories: true)
    guard FileManager.default.createFile(atPath: holdFile(point), contents: Data()) else {
      throw LabError("\(holdFile(point)) cannot be made")
    }
  }

  /// Lets later lives pass the point; the one that stands there goes on standing.
  func release(_ point: String) throws { try FileManager.default.removeItem(atPath: holdFile(point)) }

  private func holdFile(_ point: String) -> String { "\(groupFolder)/hold-\(point)" }

  // MARK: Waiting for the journal

  @discardableResult
  func progress(of owner: Address, _ step: TransferProgress.Step, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("\(step.rawValue): the download of \(owner.short)", after: after) {
      let progress = $0.reading(TransferProgress.self)
      return progress?.owner == owner && progress?.step == step
    }
  }

  /// A line of the trial extension: `reached <point> …`.
  @discardableResult
  func reached(_ point: String, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("the extension says: reached \(point)", after: after) {
      let words = $0.reading(ProcessOutput.self)?.line.split(separator: " ") ?? []
      return words.prefix(2) == ["reached", Substring(point)]
    }
  }

  func acknowledged(by owner: Address, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("the host forgot the acknowledged events of \(owner.short)", after: after) {
      $0.reading(SessionAcknowledged.self)?.owner == owner
    }
  }

  func state(_ state: String, of address: Address, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("\(address.short) is \(state)", after: after) {
      let change = $0.reading(ProcessState.self)
      return change?.address == address && change?.state == state
    }
  }
}

/// How many clusters live side by side: each is seven processes.
actor Berths {
  static let shared = Berths(free: 5)
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(free: Int) { self.free = free }

  nonisolated func occupy<T>(_ work: () async throws -> T) async throws -> T {
    await take()
    do {
      let result = try await work()
      await leave()
      return result
    } catch {
      await leave()
      throw error
    }
  }

  private func take() async {
    guard free == 0 else {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
