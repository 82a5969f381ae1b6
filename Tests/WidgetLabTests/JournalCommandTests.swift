import ArgumentParser
import Conversations
import Foundation
import Journal
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `journal verify` {
  private func verify(_ folder: String, _ arguments: String...) throws -> JournalVerifyCommand.Outcome {
    try JournalVerifyCommand.parse(arguments + ["--journal", folder]).outcome()
  }

  private func segment(_ folder: String) throws -> URL {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".journal") }
    return URL(fileURLWithPath: folder).appending(path: try #require(names.min()))
  }

  @Test func `a whole journal is sound`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    try await WrittenJournal.with(story) { folder in
      let outcome = try verify(folder)
      #expect(outcome.findings == [])
      #expect(outcome.envelopes == story.count)
      #expect(outcome.last == UInt64(story.count))
      #expect(JournalVerifyCommand.lines(outcome).last?.hasSuffix("#1 to #\(story.count): sound") == true)
    }
  }

  @Test func `a torn end is found, mended, and gone`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    try await WrittenJournal.with(story) { folder in
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
      #expect(mended.envelopes == story.count - 1)
      #expect(try verify(folder).findings == [])
    }
  }

  @Test func `damage is told and left alone`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    try await WrittenJournal.with(story) { folder in
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

  @Test func `a folder that is not there is no sound journal`() {
    #expect(throws: Complaint.self) { try verify("/nonexistent/journal") }
  }
}
