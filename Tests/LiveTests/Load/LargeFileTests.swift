import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// A file that is far larger than the memory that anybody may have; 2 GiB with `scripts/test --long`.
@Suite(.live, .timeLimit(.live)) struct `A large file` {
  private static let size = BulkTrial.isLong ? 2 << 30 : 96 << 20
  /// MiB of `RssAnon`, whatever the size: of the host, and of the extension, which is evicted at 30.
  private static let bounds = ["host": 16.0, "extension": 8.0]

  @Test func `comes whole in constant memory, and shows how far it is`() async throws {
    try await BulkTrial.run("large file", count: 1, path: "/figures?size=\(Self.size)", suspendAfter: 120) {
      try await play($0)
    }
  }

  @inline(never)
  private func play(_ trial: BulkTrial) async throws {
    try trial.letGo()
    let began = ContinuousClock.now
    try await trial.cluster.run("reload", Trial.kind)
    let widget = try await trial.process()
    let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
    let memory = MemoryWatch()
    await memory.begin { ["host": host, "extension": widget] }
    try await trial.cluster.eventually("a part of the file is shown") {
      try await trial.cluster.run("sessions").contains("[#")
    }
    let finished = try await trial.journal.waitFor("the file is there", within: .seconds(300)) {
      $0.reading(TransferProgress.self)?.step == .finished
    }
    let loaded = ContinuousClock.now
    try await trial.journal.waitFor("the file was handed over", within: .seconds(300)) {
      $0.kind == SessionAcknowledged.kind.name
    }
    let most = await memory.end()
    let handedOver = ContinuousClock.now
    for (name, bound) in Self.bounds where !Trial.isSanitized { #expect(most[name] ?? 0 < bound, "\(name)") }
    try await expectCounts(trial)
    #expect(finished.reading(TransferProgress.self)?.bytes == Int64(Self.size))
    let served = try await digest("curl -sf '\(trial.cluster.ready.provider ?? "")\(trial.path(1))'", trial)
    #expect(try await digest("cat '\(trial.result(1))'", trial) == served)
    #expect(finished.reading(TransferProgress.self)?.sha256 == served)
    #expect(trial.leftFiles() == [])
    print(
      "\(Self.size >> 20) MiB: loaded in \(loaded - began), handed over in \(handedOver - loaded); most memory, MiB: "
        + "\(most)")
  }

  /// `didWriteData` told the extension, more than once and never less than before.
  private func expectCounts(_ trial: BulkTrial) async throws {
    try await trial.says("written \(Self.size) of \(Self.size)")
    let written = try await trial.journal.all().compactMap { $0.reading(ProcessOutput.self)?.line }
      .filter { $0.hasPrefix("written ") }.compactMap { Int($0.split(separator: " ")[1]) }
    #expect(written.count > 1)
    #expect(written == written.sorted())
  }

  /// The SHA-256 of what a command writes.
  private func digest(_ command: String, _ trial: BulkTrial) async throws -> String {
    let output = trial.cluster.folder + "/digest-\(UUID().uuidString)"
    let child = try await LabChild.start(
      "/bin/sh", ["-c", "\(command) | sha256sum"], output: output, errors: output + ".err")
    #expect(await child.ending() == 0)
    return String(try String(contentsOfFile: output, encoding: .utf8).prefix(64))
  }
}
