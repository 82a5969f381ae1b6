// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BusTesting
import FidelityRules
import Foundation
import Journal
import JournalAnalysis
import Messages
import Synchronization
import Testing

@testable import WidgetLab

/// `check` over journals on disk.
@Suite(.timeLimit(.minutes(1))) struct `The check command` {
  private func checked(_ envelopes: [Envelope], _ arguments: [String] = []) async throws -> LawChecker {
    try await WrittenJournal.with(envelopes) { folder in
      let command = try CheckCommand.parse([folder] + arguments)
      return try command.check()
    }
  }

  private func exit(_ answer: LawVerdict.Answer) -> Int32 {
    do {
      try CheckCommand.exit(with: answer)
      return 0
    } catch {
      return (error as? ExitCode)?.rawValue ?? -1
    }
  }

  @Test func `check reads a journal to its end, for all laws or only the requested ones`() async throws {
    let envelopes = try RecordedWork.download().envelopes
    let checker = try await checked(envelopes)
    #expect(checker.envelopes == envelopes.count)
    #expect(checker.verdicts().map(\.law.code) == LawTable.descriptions.map(\.code))
    #expect(LawVerdict.answer(checker.verdicts()) == .holds)
    let some = try await checked(envelopes, ["--law", "liveness", "--law", "no-loss"])
    #expect(some.verdicts().map(\.law.code) == ["no-loss", "liveness"])
  }

  @Test func `the exit code is 0 when all laws hold, 1 when one is broken, and 2 when one is unknown`() {
    #expect(LawVerdict.Answer.allCases.map(exit) == [0, 1, 2])
  }

  @Test func `check reads one segment file, and an instance folder`() async throws {
    let envelopes = try RecordedWork.download().envelopes
    try await WrittenJournal.with(envelopes) { folder in
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      let segment = try #require(names.first)
      #expect(try CheckCommand.parse(["\(folder)/\(segment)"]).check().envelopes == envelopes.count)
      let instance = folder + "-instance"
      defer { try? FileManager.default.removeItem(atPath: instance) }
      try FileManager.default.createDirectory(atPath: instance, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: folder, toPath: instance + "/journal")
      #expect(try CheckCommand.parse([instance]).check().envelopes == envelopes.count)
    }
  }

  @Test func `check rejects a file that is no segment, and a place that does not exist`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "widgetlab-\(UUID().uuidString).txt")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    for place in [file.path, file.path + "-missing"] {
      #expect(throws: CommandError.self) { try CheckCommand.parse([place]).check() }
    }
  }

  @Test func `the laws of a damaged journal are unknown from the damage on`() async throws {
    let envelopes = try RecordedWork.download().envelopes
    try await WrittenJournal.with(envelopes) { folder in
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      let segment = "\(folder)/\(try #require(names.first))"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
      bytes[bytes.count / 2] ^= 0xff
      try bytes.write(to: URL(fileURLWithPath: segment))
      let checker = try CheckCommand.parse([folder]).check()
      #expect(checker.envelopes < envelopes.count)
      #expect(checker.verdicts().allSatisfy { $0.answer == .unknown })
    }
  }

  @Test func `check prints a JSON object with a stable shape`() async throws {
    var work = try RecordedWork.download()
    try work.deliver(generation: 2)
    let checker = try await checked(work.envelopes)
    let data = try Output.jsonData(LawReport(checker.verdicts(), of: checker))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(object.keys.sorted() == ["answer", "envelopes", "first", "last", "laws"])
    #expect(object["answer"] as? String == "broken")
    let laws = try #require(object["laws"] as? [[String: Any]])
    let broken = try #require(laws.first { $0["answer"] as? String == "broken" })
    #expect(broken.keys.sorted() == ["answer", "breaches", "broken", "checks", "code", "doubts", "unknown"])
    let breach = (broken["breaches"] as? [[String: Any]])?.first
    #expect(breach?.keys.sorted() == ["evidence", "what"])
    #expect((breach?["evidence"] as? [[String: Any]])?.first?.keys.sorted() == ["sequence", "text"])
  }

  @Test(arguments: [["--law", "x"], ["--within", "0"], ["--transfers-within", "-1"], ["--markdown"]])
  func `check rejects invalid arguments`(arguments: [String]) {
    #expect(throws: (any Error).self) { try CheckCommand.parse(arguments) }
  }

  @Test func `the limits of the command are those of the laws`() throws {
    let command = try CheckCommand.parse(["--within", "5", "--transfers-within", "9"])
    #expect(command.limits.limits == LawLimits(settle: 5, transfer: 9))
    #expect(try CheckCommand.parse([]).limits.limits == LawLimits())
  }

  @Test func `the laws page in Documentation matches the table of laws`() throws {
    let page = try String(contentsOf: Repository.root.appending(path: "Documentation/laws.md"), encoding: .utf8)
    let advice: Comment = "generate it again: widgetlab check --list --markdown > Documentation/laws.md"
    #expect(page == LawsPage.text, advice)
  }

  @Test func `a journal is checked while it is written`() async throws {
    var work = try RecordedWork.download()
    try work.deliver(generation: 2)
    let envelopes = work.envelopes
    let findings = Found()
    try await WrittenJournal.with(envelopes) { folder in
      let following = LawFollowing(journal: folder) { findings.add($0.law.code) }
      await following.begin()
      let checker = await following.end()
      #expect(checker.envelopes == envelopes.count)
      #expect(findings.codes == ["nothing-after-acknowledgement"])
    }
  }
}

/// The laws that were reported broken.
private final class Found: Sendable {
  private let state = Mutex<[String]>([])
  var codes: [String] { state.withLock { $0 } }
  func add(_ code: String) { state.withLock { $0.append(code) } }
}
