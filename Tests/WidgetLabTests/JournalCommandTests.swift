// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BusTesting
import Foundation
import Journal
import JournalAnalysis
import Messages
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `The journal verify command` {
  private func verify(_ folder: String, _ arguments: String...) throws -> JournalVerifyCommand.Outcome {
    try JournalVerifyCommand.parse(arguments + ["--journal", folder]).outcome()
  }

  private func segment(_ folder: String) throws -> URL {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".journal") }
    return URL(fileURLWithPath: folder).appending(path: try #require(names.min()))
  }

  @Test func `an intact journal is reported as sound`() async throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    try await WrittenJournal.with(envelopes) { folder in
      let outcome = try verify(folder)
      #expect(outcome.findings == [])
      #expect(outcome.envelopes == envelopes.count)
      #expect(outcome.last == UInt64(envelopes.count))
      #expect(JournalVerifyCommand.lines(outcome).last?.hasSuffix("#1 to #\(envelopes.count): sound") == true)
    }
  }

  @Test func `a torn end is reported, and a repair removes it`() async throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    try await WrittenJournal.with(envelopes) { folder in
      let file = try segment(folder)
      var bytes = try Data(contentsOf: file)
      bytes.removeLast(3)
      try bytes.write(to: file)
      let torn = try verify(folder)
      #expect(torn.findings.map(\.kind) == [.tornEnd])
      #expect(JournalVerifyCommand.lines(torn).last?.contains("--repair") == true)
      let mended = try verify(folder, "--repair")
      #expect(mended.mended.map(\.kind) == [.tornEnd])
      #expect(mended.findings == [])
      #expect(mended.envelopes == envelopes.count - 1)
      #expect(try verify(folder).findings == [])
    }
  }

  @Test func `damage in the middle is reported and not repaired`() async throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    try await WrittenJournal.with(envelopes) { folder in
      let file = try segment(folder)
      var bytes = try Data(contentsOf: file)
      bytes[bytes.count / 2] ^= 0xff
      try bytes.write(to: file)
      let outcome = try verify(folder, "--repair")
      #expect(outcome.findings.map(\.kind) == [.damaged])
      #expect(outcome.mended == [])
      #expect(try Data(contentsOf: file) == bytes)
    }
  }

  @Test func `a missing journal folder is an error`() {
    #expect(throws: CommandError.self) { try verify("/nonexistent/journal") }
  }
}
