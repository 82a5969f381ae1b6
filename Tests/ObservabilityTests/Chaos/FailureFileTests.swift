// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Testing

@Suite struct `Failure files` {
  @Test func `an archive is read as it was written`() throws {
    let archive = TarArchive([
      TarArchive.Member(name: "empty", data: Data()), TarArchive.Member(name: "a/b", data: Data("content".utf8)),
      TarArchive.Member(name: "block", data: Data(repeating: 7, count: 512)),
    ])
    #expect(archive.bytes.count % 512 == 0)
    #expect(TarArchive.isArchive(archive.bytes))
    #expect(try TarArchive(reading: archive.bytes) == archive)
  }

  @Test func `tar lists and extracts an archive`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let content = Data((0..<1300).map { UInt8($0 % 251) })
    try TarArchive([TarArchive.Member(name: "journal/1", data: content)]).bytes.write(
      to: folder.appendingPathComponent("a.tar"))
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/bin/tar")
    tar.arguments = ["xf", "a.tar"]
    tar.currentDirectoryURL = folder
    try tar.run()
    tar.waitUntilExit()
    #expect(tar.terminationStatus == 0)
    #expect(try Data(contentsOf: folder.appendingPathComponent("journal/1")) == content)
  }

  @Test func `damaged archives and other files are refused`() {
    let bytes = TarArchive([TarArchive.Member(name: "a", data: Data(count: 2000))]).bytes
    #expect(throws: TarArchive.Problem.self) { try TarArchive(reading: bytes.prefix(1024)) }
    var changed = bytes
    changed[0] ^= 1
    #expect(throws: TarArchive.Problem.self) { try TarArchive(reading: changed) }
    #expect(throws: TarArchive.Problem.self) { try TarArchive(reading: Data("text".utf8) + Data(count: 600)) }
    #expect(throws: TarArchive.Problem.self) { try FailureFile(reading: bytes) }
  }

  @Test func `a failure file contains the campaign and the journal`() throws {
    let steps = [
      CampaignStep(
        number: 1, actions: [.reload, .drink], delay: 12, fault: .kill(victims: [.host, .app]), waits: true),
      CampaignStep(
        number: 2, actions: [], delay: 0,
        fault: .disk(victim: .host, point: "host.before-tasks-saved", error: .full, skipping: 2), waits: false),
    ]
    let campaign = FailureFile.Campaign(
      version: "1", seed: 7, steps: steps, faultsBefore: 90, broken: ["no-loss", "journal intact"])
    let segment = TarArchive.Member(name: "journal/00000000000000000001.journal", data: Data("WLJ1".utf8))
    let written = try FailureFile(campaign, report: RecordedCampaign.report(), files: [segment])
    let read = try FailureFile(reading: written.archive.bytes)
    #expect(read.campaign.steps == steps)
    #expect(read.campaign.broken == ["no-loss", "journal intact"])
    #expect(read.segments == [TarArchive.Member(name: "00000000000000000001.journal", data: segment.data)])
    #expect(
      read.campaign.lines == [
        "step 1, after 12 ms: kill host + app",
        "step 2, after 0 ms: disk full of host at host.before-tasks-saved, the 3. time",
      ])
  }
}
