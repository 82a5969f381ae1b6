// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BusTesting
import Foundation
import Journal
import JournalAnalysis
import Messages
import Synchronization
import Testing

@testable import WidgetLab

/// `tail` over journals on disk.
@Suite(.timeLimit(.minutes(1))) struct `The tail command` {
  private let cast = RecordedScenario.cast

  private func printed(
    _ arguments: [String], _ envelopes: [Envelope], limit: Duration? = nil, file: StaticString = #filePath
  ) async throws -> (verdict: TailPrinter.Verdict, lines: [String]) {
    try await WrittenJournal.with(envelopes) { folder in
      let command = try TailCommand.parse(arguments + ["--journal", folder])
      let output = Said()
      let now = Timestamp(microseconds: 100_000_000)
      let verdict = try await command.printer(try command.filter(now: now), now: now, emit: output.send).run(
        try command.place.reader(command.options), from: command.start(try command.filter(now: now)),
        follows: command.follows, limit: limit)
      return (verdict, output.lines)
    }
  }

  private func sequences(_ lines: [String]) -> [Int] {
    lines.dropFirst().compactMap { line in line.split(separator: " ").first.flatMap { Int($0) } }
  }

  @Test func `tail around a sequence number prints the requested number of lines before and after it`() async throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    let columns = ["--columns", "sequence,kind"]
    let around = try await printed(["--around", "8", "--context", "2"] + columns, envelopes)
    #expect(around.verdict == .ended)
    #expect(sequences(around.lines) == [6, 7, 8, 9, 10])
    let first = try await printed(["--around", "1", "--context", "1"] + columns, envelopes)
    #expect(sequences(first.lines) == [1, 2])
    let bare = try await printed(["--around", "3", "--context", "0"] + columns, envelopes)
    #expect(sequences(bare.lines) == [3])
    let last = try await printed(["--around", "\(envelopes.count)", "--context", "1"] + columns, envelopes)
    #expect(sequences(last.lines) == [envelopes.count - 1, envelopes.count])
    #expect(last.verdict == .ended)
  }

  @Test func `tail around a sequence number counts only lines that pass the filter, and always prints the middle one`()
    async throws
  {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    let launches = envelopes.filter { $0.header.kind == ProcessReady.kind }.map { Int($0.header.sequence) }
    let found = try await printed(
      ["--around", "8", "--context", "2", "--where", "kind == process.ready", "--columns", "sequence"], envelopes)
    #expect(sequences(found.lines) == launches.filter { $0 < 8 }.suffix(2) + [8])
  }

  @Test func `tail around an unknown sequence number reports that it is missing`() async throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    #expect(try await printed(["--around", "4711"], envelopes).verdict == .missing)
  }

  @Test func `tail ends at the first match and prints it last, even if the filter excludes it`() async throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    let death = try #require(envelopes.first { $0.header.kind == ProcessExited.kind }).header.sequence
    let found = try await printed(
      ["--exit-when", "mark == exit", "--where", "kind == process.ready", "--output", "json"], envelopes)
    #expect(found.verdict == .matched)
    #expect(found.lines.count == 3)
    #expect(found.lines.last?.contains("\"sequence\":\(death),") == true)
    #expect(try await printed(["--exit-when", "kind == nothing"], envelopes).verdict == .ended)
  }

  @Test func `a following tail ends at its timeout`() async throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    let foundOutput = try await printed(
      ["--follow", "--exit-when", "kind == nothing", "--timeout", "1", "--output", "json"], envelopes,
      limit: .milliseconds(60))
    #expect(foundOutput.verdict == .goOn)
    let all = try await printed(["--output", "json"], envelopes).lines
    #expect(all.count == envelopes.count)
    #expect(all.starts(with: foundOutput.lines), "the lines before the timeout")
  }

  @Test func `tail prints columns in the requested order`() async throws {
    let envelopes = try RecordedScenario.extensionKilled().envelopes
    let found = try await printed(["--columns", "kind,to,from,pid,session", "--color", "never"], envelopes)
    #expect(found.lines.first?.split(separator: " ") == ["KIND", "TO", "FROM", "PID", "SESSION"])
    #expect(found.lines[1].split(separator: " ") == ["process.started", "journal", "agent/1", "100", "-"])
    let coloured = try await printed(["--color", "always"], envelopes)
    #expect(coloured.lines.joined().contains("\u{1b}[32m"))
  }

  @Test func `tail follows unless it has an end`() throws {
    let follows = { (arguments: [String]) in try TailCommand.parse(arguments).follows }
    #expect(try follows([]))
    #expect(try !follows(["--no-follow"]))
    #expect(try !follows(["--until", "seq:5"]))
    #expect(try !follows(["--around", "5"]))
    #expect(try !follows(["--journal", "/tmp"]))
    #expect(try follows(["--journal", "/tmp", "--follow"]))
    #expect(try follows(["--until", "seq:5", "-f"]))
  }

  @Test(arguments: [
    ["--where", "kin == x"], ["--exit-when", "kind"], ["--columns", "time,colour"], ["--timeout", "3"],
    ["--around", "5", "--since", "5m"], ["--since", "soon"], ["--context", "-1"], ["--color", "sometimes"],
    ["--timeout", "-1", "--exit-when", "pid == 1"],
  ])
  func `tail rejects invalid arguments before it reads anything`(arguments: [String]) {
    #expect(throws: (any Error).self) { try TailCommand.parse(arguments) }
  }

  @Test func `an argument error shows the place in the expression`() {
    let error = #expect(throws: (any Error).self) { try TailCommand.parse(["--where", "kind = x"]) }
    let text = error.map { TailCommand.message(for: $0) } ?? ""
    #expect(text.contains("kind = x\n"))
    #expect(text.contains("     ^\n"))
    #expect(text.contains("use =="))
  }
}

/// The printed lines.
final class Said: Sendable {
  private let all = Mutex<[String]>([])
  var lines: [String] { all.withLock(\.self) }
  func send(_ line: String) { all.withLock { $0.append(line) } }
}

/// A journal on disk with hand-written envelopes.
enum WrittenJournal {
  /// Writes the journal, and removes it after the body.
  static func with<T>(_ envelopes: [Envelope], _ body: (String) async throws -> T) async throws -> T {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-journal-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try write(envelopes, in: folder)
    return try await body(folder.path)
  }
  /// The writer is released on return, and with it its lock.
  private static func write(_ envelopes: [Envelope], in folder: URL) throws {
    let writer = try JournalWriter(folder: folder)
    let frames = try envelopes.map { try $0.encoded() }
    if let first = frames.first { try writer.startSegment(with: first) }
    try writer.append(Array(frames.dropFirst()))
  }
}
