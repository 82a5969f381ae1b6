import ArgumentParser
import Conversations
import Foundation
import Journal
import Synchronization
import Testing

@testable import WidgetLab

/// `tail` over journals that are really on disk.
@Suite(.timeLimit(.minutes(1))) struct `the tail of a journal` {
  private let cast = RecordedStory.cast

  private func printed(
    _ arguments: [String], _ envelopes: [Envelope], limit: Duration? = nil, file: StaticString = #filePath
  ) async throws -> (verdict: TailPrinter.Verdict, lines: [String]) {
    try await WrittenJournal.with(envelopes) { folder in
      let command = try TailCommand.parse(arguments + ["--journal", folder])
      let said = Said()
      let now = Timestamp(microseconds: 100_000_000)
      let verdict = try await command.printer(try command.filter(now: now), now: now, emit: said.say).run(
        try command.place.reader(command.options), from: command.start(try command.filter(now: now)),
        follows: command.follows, limit: limit)
      return (verdict, said.lines)
    }
  }

  private func sequences(_ lines: [String]) -> [Int] {
    lines.dropFirst().compactMap { line in line.split(separator: " ").first.flatMap { Int($0) } }
  }

  @Test func `around a number stand so many lines before and after it`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    let columns = ["--columns", "sequence,kind"]
    let around = try await printed(["--around", "8", "--context", "2"] + columns, story)
    #expect(around.verdict == .ended)
    #expect(sequences(around.lines) == [6, 7, 8, 9, 10])
    let first = try await printed(["--around", "1", "--context", "1"] + columns, story)
    #expect(sequences(first.lines) == [1, 2])
    let bare = try await printed(["--around", "3", "--context", "0"] + columns, story)
    #expect(sequences(bare.lines) == [3])
    let last = try await printed(["--around", "\(story.count)", "--context", "1"] + columns, story)
    #expect(sequences(last.lines) == [story.count - 1, story.count])
    #expect(last.verdict == .ended)
  }

  @Test func `around a number a filter counts only what it lets through, and the middle`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    let births = story.filter { $0.header.kind == ProcessReady.kind }.map { Int($0.header.sequence) }
    let found = try await printed(
      ["--around", "8", "--context", "2", "--where", "kind == process.ready", "--columns", "sequence"], story)
    #expect(sequences(found.lines) == births.filter { $0 < 8 }.suffix(2) + [8])
  }

  @Test func `a number that is not there is missed`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    #expect(try await printed(["--around", "4711"], story).verdict == .missing)
  }

  @Test func `the first match ends the tail and is its last line, filtered or not`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    let death = try #require(story.first { $0.header.kind == ProcessExited.kind }).header.sequence
    let found = try await printed(
      ["--exit-when", "mark == death", "--where", "kind == process.ready", "--output", "json"], story)
    #expect(found.verdict == .matched)
    #expect(found.lines.count == 3)
    #expect(found.lines.last?.contains("\"sequence\":\(death),") == true)
    #expect(try await printed(["--exit-when", "kind == nothing"], story).verdict == .ended)
  }

  @Test func `a tail that follows ends at its time-out`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    let found = try await printed(
      ["--follow", "--exit-when", "kind == nothing", "--timeout", "1", "--output", "json"], story,
      limit: .milliseconds(60))
    #expect(found.verdict == .goOn)
    let all = try await printed(["--output", "json"], story).lines
    #expect(all.count == story.count)
    #expect(all.starts(with: found.lines), "as far as it came in its time")
  }

  @Test func `columns come in the order that is asked for`() async throws {
    let story = try RecordedStory.extensionKilled().envelopes
    let found = try await printed(["--columns", "kind,to,from,pid,session", "--color", "never"], story)
    #expect(found.lines.first?.split(separator: " ") == ["KIND", "TO", "FROM", "PID", "SESSION"])
    #expect(found.lines[1].split(separator: " ") == ["process.started", "journal", "agent/1", "100", "-"])
    let coloured = try await printed(["--color", "always"], story)
    #expect(coloured.lines.joined().contains("\u{1b}[32m"))
  }

  @Test func `a tail follows unless it has an end`() throws {
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
  func `what cannot be meant is refused before anything is read`(arguments: [String]) {
    #expect(throws: (any Error).self) { try TailCommand.parse(arguments) }
  }

  @Test func `a refusal shows the place in the expression`() {
    let error = #expect(throws: (any Error).self) { try TailCommand.parse(["--where", "kind = x"]) }
    let text = error.map { TailCommand.message(for: $0) } ?? ""
    #expect(text.contains("kind = x\n"))
    #expect(text.contains("     ^\n"))
    #expect(text.contains("say =="))
  }
}

/// What was printed.
final class Said: Sendable {
  private let all = Mutex<[String]>([])
  var lines: [String] { all.withLock(\.self) }
  func say(_ line: String) { all.withLock { $0.append(line) } }
}

/// A journal on disk, made of envelopes that were written by hand.
enum WrittenJournal {
  /// Makes it, and removes it after the body.
  static func with<T>(_ envelopes: [Envelope], _ body: (String) async throws -> T) async throws -> T {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-journal-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try write(envelopes, in: folder)
    return try await body(folder.path)
  }
  /// The writer is gone afterwards, and with it its lock.
  private static func write(_ envelopes: [Envelope], in folder: URL) throws {
    let writer = try JournalWriter(folder: folder)
    let frames = try envelopes.map { try $0.encoded() }
    if let first = frames.first { try writer.startSegment(with: first) }
    try writer.append(Array(frames.dropFirst()))
  }
}
