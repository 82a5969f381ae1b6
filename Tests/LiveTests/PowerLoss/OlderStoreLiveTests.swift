// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// One store of a cluster is older than the others, such as after a power failure or from a backup.
@Suite(.live, .timeLimit(.live)) struct `Stores of different age` {
  private static let session = "com.example.CaffeineTracker.Widget.figures"
  private static let configuration = SampleFixture.configuration(
    app: "", widget: "${provider.url}/figures?size=65536&holdAt=30000&seed=held", settings: ["suspendAfter: 0.5"])

  /// The folders that are older, and whether they are missing instead.
  private struct Case: CustomStringConvertible {
    let folders: [String]
    var areMissing = false
    var description: String { folders.joined(separator: " and ") + (areMissing ? " missing" : " older") }
    var losesHost: Bool { folders.contains("host") }
  }

  private static let cases = [
    Case(folders: ["journal"]), Case(folders: ["journal"], areMissing: true), Case(folders: ["journal", "bus"]),
    Case(folders: ["journal", "bus"], areMissing: true), Case(folders: ["bus"]), Case(folders: ["host"]),
    Case(folders: ["push-server"]), Case(folders: ["device"]),
  ]

  @Test func `a cluster works when any of its stores is older than the others`() async throws {
    try await LabCluster.with("older store", configuration: Self.configuration) { cluster in
      let folder = cluster.folder
      defer {
        for copy in [".first", ".second"] { try? FileManager.default.removeItem(atPath: folder + copy) }
      }
      try await download(cluster)
      // An older journal without the acknowledgement of a task that the host does not have is a loss to the law.
      try await cluster.journal.waitFor("the events of the upload of the token are acknowledged") {
        $0.reading(SessionAcknowledged.self)?.session == "com.example.CaffeineTracker.Widget.subscription"
      }
      await cluster.stop()
      try copy(folder, to: folder + ".first")
      try await LabCluster.with("later", in: folder) { later in
        try await work(later)
        await later.stop()
        try copy(folder, to: folder + ".second")
      }
      for older in Self.cases {
        try copy(folder + ".second", to: folder)
        for store in older.folders {
          try FileManager.default.removeItem(atPath: "\(folder)/\(store)")
          if !older.areMissing { try copy("\(folder).first/\(store)", to: "\(folder)/\(store)") }
        }
        try await LabCluster.with("\(older)", in: folder) { try await judge($0, older) }
      }
      try copy(folder + ".first", to: folder)
    }
  }

  private func copy(_ folder: String, to target: String) throws {
    if FileManager.default.fileExists(atPath: target) { try FileManager.default.removeItem(atPath: target) }
    try FileManager.default.copyItem(atPath: folder, toPath: target)
    // Otherwise the ready line of the former start would be read.
    for path in [folder, target] { unlink(path + "/up.out") }
  }

  /// Reloads the widget without a stored file, so that its code asks for a download.
  private func reload(_ cluster: LabCluster) async throws {
    let group = cluster.instance.device(LiveFixture.device).group("group.com.example.CaffeineTracker")
    unlink(group + "/figures.json")
    try await cluster.run("reload", "--all")
  }

  /// The number of the first envelope of this run.
  private func start(_ cluster: LabCluster) async throws -> UInt64 {
    try await cluster.journal.all().last { $0.reading(BusStarted.self) != nil }?.sequence ?? 0
  }

  /// Downloads the file, and waits until the widget has it.
  private func download(_ cluster: LabCluster) async throws {
    let start = try await start(cluster)
    try await reload(cluster)
    try await delivered(cluster, after: start)
  }

  private func delivered(_ cluster: LabCluster, after start: UInt64) async throws {
    try await cluster.eventually("a download is delivered and acknowledged") {
      try await cluster.post("/figures/release", json: "{}")
      return try await cluster.journal.all().contains {
        $0.sequence > start && $0.reading(SessionAcknowledged.self)?.session == Self.session
      }
    }
  }

  /// Kills the extension three times, sends a push, and leaves a download in progress.
  private func work(_ cluster: LabCluster) async throws {
    for _ in 1...3 {
      let before = try await cluster.journal.all().last?.sequence ?? 0
      try await cluster.run("reload", "--all", "--timeout", "60")
      try await cluster.run("kill", "extension")
      try await cluster.journal.waitFor("the extension has exited", after: before) {
        $0.reading(ProcessExited.self)?.address == SampleFixture.widgetExtension
      }
    }
    try await push(cluster)
    let start = try await start(cluster)
    try await reload(cluster)
    try await cluster.journal.waitFor("the download has started", after: start) {
      $0.reading(TransferProgress.self).map { $0.session == Self.session && $0.step == .started } ?? false
    }
  }

  /// Sends a push, and waits for the timeline that it reloads.
  private func push(_ cluster: LabCluster) async throws {
    struct Answer: Decodable { let uniqueID: UUID }
    let output = try await cluster.run("push", "com.example.CaffeineTracker", "--json")
    let id = try JSONDecoder().decode(Answer.self, from: Data(output.utf8)).uniqueID
    try await cluster.journal.waitFor("push \(id) has reloaded the widget") {
      let (push, step) = $0.pushStep ?? (nil, nil)
      return push == id && step?.name == .reloaded
    }
  }

  private func judge(_ cluster: LabCluster, _ older: Case) async throws {
    let start = try await start(cluster)
    // The older host does not know the download. Otherwise the sample starts no other one.
    if older.losesHost { try await reload(cluster) }
    try await delivered(cluster, after: start)
    try await push(cluster)
    try await download(cluster)
    struct List: Decodable {
      struct Process: Decodable { let state: String }
      let processes: [Process]
    }
    try await cluster.eventually("no process is being launched") {
      let list = try JSONDecoder().decode(List.self, from: Data(try await cluster.run("ps", "--json").utf8))
      return !list.processes.contains { $0.state == "launching" }
    }
    // A host that is older has lost tasks that it had accepted, and the law reports them.
    guard !older.losesHost else { return }
    let check = try await cluster.attempt(["check"])
    #expect(check.status != 1, "\(older): \(check.output)")
    guard older.folders == ["journal"] else { return }
    let generations = try await cluster.journal.all().compactMap { entry -> UInt32? in
      guard entry.sequence > start, let launch = entry.reading(ProcessStarted.self),
        launch.address == SampleFixture.widgetExtension
      else { return nil }
      return launch.generation
    }
    #expect(!generations.isEmpty && generations.allSatisfy { $0 > 4 }, "\(older): generations \(generations)")
    if !older.areMissing { #expect(check.status == 2 && check.output.contains("are missing"), "\(check.output)") }
  }
}
