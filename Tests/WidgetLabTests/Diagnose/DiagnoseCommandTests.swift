// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BusTesting
import FidelityRules
import Foundation
import JournalAnalysis
import Messages
import Testing

@testable import WidgetLab

/// `diagnose` over journals on disk.
@Suite(.timeLimit(.minutes(1))) struct `The diagnose command` {
  private func journal() throws -> [Envelope] {
    var journal = RecordedMistakes()
    try journal.launch()
    try journal.open("news")
    try journal.handler("news")
    try journal.expire("news")
    try journal.stored(.after(journal.now.addingTimeInterval(300)))
    return journal.envelopes
  }

  private func diagnosed(_ arguments: [String]) async throws -> Diagnostician {
    try await WrittenJournal.with(try journal()) { folder in
      let command = try DiagnoseCommand.parse(arguments + ["--journal", folder])
      return try await command.diagnose()
    }
  }

  @Test func `diagnose reads a journal to its end, for all codes or only the requested ones`() async throws {
    let all = try await diagnosed([])
    #expect(all.diagnoses.map(\.description.code) == ["completion-never-called", "interval-that-no-budget-pays"])
    #expect(all.envelopes == 6)
    let one = try await diagnosed(["interval-that-no-budget-pays"])
    #expect(one.diagnoses.map(\.description.code) == ["interval-that-no-budget-pays"])
    #expect(try await diagnosed(["--reloads-per-day", "300"]).diagnoses.count == 1)
  }

  @Test
  func `diagnose with --since uses the earlier envelopes, but reports only what becomes true later`() async throws {
    let late = try await diagnosed(["--since", "seq:5"])
    #expect(late.diagnoses.map(\.description.code) == ["completion-never-called", "interval-that-no-budget-pays"])
    #expect(late.diagnoses.first?.sighting.evidence.map(\.sequence) == [4, 5])
    let last = try await diagnosed(["--since", "seq:6"])
    #expect(last.diagnoses.map(\.description.code) == ["interval-that-no-budget-pays"])
  }

  @Test func `diagnose prints the problem, its place, its evidence and the advice`() async throws {
    let lines = DiagnosisText.lines(of: try await diagnosed([]), isColored: false)
    #expect(lines.first == "error completion-never-called: the events' completion handler is never called")
    #expect(lines[1] == "  where    extension/com.example.Lab.Widget, session news")
    #expect(lines[3] == "  #4       extension/…Widget handler.called news in pid 1, 1 matching")
    for word in ["rule", "source", "do"] { #expect(lines.contains { $0.hasPrefix("  \(word.padded(8)) ") }) }
    #expect(lines.last?.hasPrefix("1 error, 1 warning in 6 envelopes") == true)
    let none = DiagnosisText.lines(of: Diagnostician(), isColored: false)
    #expect(none == ["no mistakes found in 0 envelopes"])
  }

  @Test func `diagnose prints a JSON object with a stable shape`() async throws {
    let diagnosis = try #require(try await diagnosed([]).diagnoses.first)
    let object = try JSONSerialization.jsonObject(with: Output.jsonData(DiagnosisReport(diagnosis))) as? [String: Any]
    #expect(
      object?.keys.sorted() == [
        "advice", "bundle", "code", "device", "evidence", "process", "rule", "severity", "source", "subject", "times",
        "title", "what",
      ])
    let evidence = (object?["evidence"] as? [[String: Any]])?.first
    #expect(evidence?.keys.sorted() == ["sequence", "text"])
    #expect(object?["severity"] as? String == "error")
  }

  @Test(.rule("DIAGNOSIS-02")) func `diagnose fails from the requested severity on`() {
    let severities = DiagnosisDescription.Severity.allCases
    func counted(_ threshold: DiagnoseCommand.Threshold) -> [DiagnosisDescription.Severity] {
      severities.filter(threshold.counts)
    }
    #expect(counted(.note) == severities)
    #expect(counted(.warning) == [.warning, .error])
    #expect(counted(.error) == [.error])
    #expect(counted(.never).isEmpty)
  }

  @Test(arguments: [["no-such-code"], ["--since", "x"], ["--loop", "1"], ["--fail-on", "x"], ["--markdown"]])
  func `diagnose rejects invalid arguments`(arguments: [String]) {
    #expect(throws: (any Error).self) { try DiagnoseCommand.parse(arguments) }
  }

  @Test func `the diagnoses page in Documentation matches the diagnostic table`() throws {
    let page = try String(contentsOf: Repository.root.appending(path: "Documentation/diagnoses.md"), encoding: .utf8)
    let advice: Comment = "generate it again: widgetlab diagnose --list --markdown > Documentation/diagnoses.md"
    #expect(page == DiagnosesPage.text, advice)
  }
}

/// Diagnoses in the output of `tail`.
@Suite(.timeLimit(.minutes(1))) struct `Diagnoses in the tail` {
  private func printed(_ arguments: [String]) async throws -> [String] {
    var journal = RecordedMistakes()
    try journal.launch()
    try journal.open("news")
    try journal.handler("news")
    try journal.expire("news")
    return try await WrittenJournal.with(journal.envelopes) { folder in
      let command = try TailCommand.parse(arguments + ["--journal", folder, "--color", "never"])
      let output = Said()
      let filter = try command.filter(now: .now)
      _ = try await command.printer(filter, now: .now, emit: output.send).run(
        try command.place.reader(command.options), from: command.start(filter), follows: false, limit: nil)
      return output.lines
    }
  }

  @Test func `tail prints a diagnosis on its own line below the envelope that completes it`() async throws {
    let lines = try await printed([])
    #expect(lines.count == 7)
    #expect(lines[5].contains("session.expire"))
    #expect(lines[6].contains("? error completion-never-called: extension/com.example.Lab.Widget, session news: "))
    #expect(lines[6].contains("(#4 #5; see `widgetlab diagnose`)"))
  }

  @Test(arguments: [
    ["--no-diagnoses"], ["--kind", "process.*"], ["--output", "json"], ["--around", "5"], ["--until", "seq:4"],
    ["--exit-when", "kind == session.expire"],
  ])
  func `tail omits diagnoses when they would disturb the output`(arguments: [String]) async throws {
    #expect(try await printed(arguments).allSatisfy { !$0.contains("completion-never-called") })
  }

  @Test func `tail prints a diagnosis as JSON on request`() async throws {
    let line = try #require(try await printed(["--output", "json", "--diagnoses"]).last)
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: [String: Any]]
    #expect(object?["diagnosis"]?["code"] as? String == "completion-never-called")
  }
}
