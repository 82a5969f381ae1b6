// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A file far larger than the memory of any process; 2 GiB with `scripts/test --long`.
@Suite(.live, .timeLimit(.live)) struct `Download of a large file` {
  private static let size = BulkFixture.isLong ? 2 << 30 : 96 << 20
  /// Bounds of `RssAnon` in MiB for any file size: of the host, and of the extension, which is evicted at 30 MiB.
  private static let bounds = ["host": 16.0, "extension": 8.0]

  @Test func `a large file downloads whole in constant memory and reports its progress`() async throws {
    try await BulkFixture.run(
      "large file", count: 1, path: "/figures?size=\(Self.size)&holdAt=\(Self.size / 2)", suspendAfter: 120
    ) {
      try await play($0)
    }
  }

  @inline(never)
  private func play(_ fixture: BulkFixture) async throws {
    try fixture.letGo()
    let began = ContinuousClock.now
    try await fixture.cluster.run("reload", LiveFixture.kind)
    let widget = try await fixture.process()
    let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
    let memory = MemoryWatch()
    await memory.begin { ["host": host, "extension": widget] }
    try await fixture.cluster.eventually("a part of the file is shown") {
      try await fixture.cluster.run("sessions").contains("[#")
    }
    try await fixture.cluster.post("/figures/release", json: "{}")
    let finished = try await fixture.journal.waitFor("the file is loaded", within: .seconds(300)) {
      $0.reading(TransferProgress.self)?.step == .finished
    }
    let loaded = ContinuousClock.now
    try await fixture.journal.waitFor("the file is delivered", within: .seconds(300)) {
      $0.kind == SessionAcknowledged.kind.name
    }
    let most = await memory.end()
    let handedOver = ContinuousClock.now
    for (name, bound) in Self.bounds where !LiveFixture.isSanitized { #expect(most[name] ?? 0 < bound, "\(name)") }
    try await expectCounts(fixture)
    #expect(finished.reading(TransferProgress.self)?.bytes == Int64(Self.size))
    let served = try await digest("curl -sf '\(fixture.cluster.ready.provider ?? "")\(fixture.path(1))'", fixture)
    #expect(try await digest("cat '\(fixture.result(1))'", fixture) == served)
    #expect(finished.reading(TransferProgress.self)?.sha256 == served)
    #expect(fixture.leftFiles() == [])
    print(
      "\(Self.size >> 20) MiB: loaded in \(loaded - began), handed over in \(handedOver - loaded); most memory, MiB: "
        + "\(most)")
  }

  @Test(.rule("TRANSFER-62"))
  func `a download that would take the reserve of the disk is retried, and the device goes on`() async throws {
    // The reserve is larger than any disk.
    try await BulkFixture.run(
      "reserve of the disk", count: 1, path: "/figures?size=100000", settings: ["diskReserve: 1073741824"]
    ) { fixture in
      try fixture.letGo()
      let host = fixture.cluster.pid(of: "host")
      try await fixture.cluster.run("reload", LiveFixture.kind)
      let retry = try await fixture.journal.waitFor("the download is retried") {
        $0.reading(TransferProgress.self)?.step == .retrying
      }
      let notice = try #require(retry.reading(TransferProgress.self))
      #expect(notice.bytes == 0)
      #expect(notice.detail?.hasPrefix("no space left on the disk: ") == true, "\(notice)")
      #expect(notice.detail?.contains("are needed (-3003); again in ") == true, "\(notice)")
      try await fixture.cluster.run("ping", "host")
      #expect(fixture.cluster.pid(of: "host") == host)
    }
  }

  /// Checks that `didWriteData` reports the whole file, in several calls with growing counts.
  private func expectCounts(_ fixture: BulkFixture) async throws {
    try await fixture.prints("written \(Self.size) of \(Self.size)")
    let written = try await fixture.journal.all().compactMap { $0.reading(ProcessOutput.self)?.line }
      .filter { $0.hasPrefix("written ") }.compactMap { Int($0.split(separator: " ")[1]) }
    #expect(written.count > 1)
    #expect(written == written.sorted())
  }

  /// The SHA-256 of a command's output.
  private func digest(_ command: String, _ fixture: BulkFixture) async throws -> String {
    let output = fixture.cluster.folder + "/digest-\(UUID().uuidString)"
    let child = try await LabChild.start(
      "/bin/sh", ["-c", "\(command) | sha256sum"], output: output, errors: output + ".err")
    #expect(await child.ending() == 0)
    return String(try String(contentsOfFile: output, encoding: .utf8).prefix(64))
  }
}
