import Cluster
import Conversations
import Foundation
import WidgetLabTesting

/// A cluster whose extension makes many downloads in one session.
struct BulkTrial: Sendable {
  static let isLong = ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1"

  let cluster: LabCluster
  let journal: LabJournal
  let count: Int
  let path: String

  /// - Parameters:
  ///   - path: of the provider; each download has a seed of its own besides.
  ///   - settings: lines that are added to the configuration's.
  static func run(
    _ name: String, count: Int, path: String, suspendAfter: Double = 0.3, settings: [String] = [],
    _ body: @Sendable (BulkTrial) async throws -> Void
  ) async throws {
    let memory = Trial.isSanitized ? ["extensionMemoryLimit: 0"] : []
    let configuration = """
      device:
        name: \(Trial.device)
      appGroups:
        - \(Trial.group)
      extensions:
        - bundle: com.example.Trial.Widget
          executable: TrialHandlers
          environment:
            TRIAL_FORM: bulk
            TRIAL_GROUP: \(Trial.group)
            TRIAL_URLS: ${provider.url}\(path)
            TRIAL_COUNT: \(count)
      provider:
        executable: provider-server
      settings:
        developerMode: true
        suspendAfter: \(suspendAfter)
        callDeadline: 60
        limiterFirst: 0
      """
    let text = configuration + (memory + settings).map { "\n  \($0)" }.joined()
    let rounds = LiveTrait.rounds
    for _ in 1...(isLong ? 1 : rounds) {
      try await LabCluster.with(name, configuration: text) { cluster in
        try await body(BulkTrial(cluster: cluster, journal: cluster.journal, count: count, path: path))
      }
    }
  }

  /// The path of one download.
  func path(_ seed: Int) -> String { "\(path)&seed=\(seed)" }

  /// Where the extension puts a download's file.
  func result(_ seed: Int) -> String { "\(groupFolder)/results/\(seed)" }

  private var groupFolder: String { cluster.instance.device(Trial.device).group(Trial.group) }

  /// The next timeline makes the downloads.
  func letGo() throws {
    guard FileManager.default.createFile(atPath: groupFolder + "/go", contents: nil) else {
      throw LabError("\(groupFolder)/go cannot be made")
    }
  }

  /// What an extension says on its standard output.
  @discardableResult
  func says(_ beginning: String, after: UInt64 = 0, within limit: Duration = LabTimeout.usual) async throws -> String {
    let entry = try await journal.waitFor("the extension says: \(beginning)", after: after, within: limit) {
      $0.reading(ProcessOutput.self)?.line.hasPrefix(beginning) ?? false
    }
    return entry.reading(ProcessOutput.self)?.line ?? ""
  }

  /// The process of a life of the extension.
  func process(_ generation: UInt32 = 1) async throws -> LabProcess {
    let birth = try await journal.waitFor("generation \(generation) of the extension was born") {
      let started = $0.reading(ProcessStarted.self)
      return started?.address == Trial.widgetExtension && started?.generation == generation
    }
    return LabProcess(pid: birth.reading(ProcessStarted.self)?.pid ?? 0)
  }

  /// Kills the host; returns when the next one is there.
  func killHost() async throws {
    let last = try await journal.all().last?.sequence ?? 0
    try await cluster.run("kill", "host")
    try await journal.waitFor("a new host is there", after: last) {
      let changed = $0.reading(RegistrationChanged.self)
      return changed?.change == .connected && changed?.registration.address == Trial.host
    }
  }

  /// Files of downloads in the device's folders, but for those that the extension has put away itself.
  func leftFiles() -> [String] {
    let device = cluster.instance.device(Trial.device)
    let folders = [device.transfers, device.containers(of: "com.example.Trial.Widget")]
    return folders.flatMap { folder -> [String] in
      let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
      return names.map { "\(folder)/\($0)" }.filter { path in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
      }
    }
  }
}

/// Looks again and again at the memory of processes.
actor MemoryWatch {
  private var most: [String: Int] = [:]
  private var looking: Task<Void, Never>?

  /// - Parameter processes: by name, as they are at each look.
  func begin(_ processes: @escaping @Sendable () -> [String: LabProcess]) {
    looking = Task {
      while !Task.isCancelled {
        for (name, process) in processes() { most[name] = max(most[name] ?? 0, process.memory ?? 0) }
        // How exactly a peak is known.
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// The most that each has had, MiB.
  func end() -> [String: Double] {
    looking?.cancel()
    return most.mapValues { Double($0) / 1_048_576 }
  }
}
