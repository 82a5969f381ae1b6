// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalAnalysis
import Messages
import Testing

@testable import WidgetLab

/// What commands print of a text from outside.
@Suite(.timeLimit(.minutes(1))) struct OutputTests {
  /// Title, clipboard, clear screen, C1, a reading direction, and a forged line.
  private static let attack = "\u{1b}]0;T\u{7}\u{1b}]52;c;eA==\u{7}\u{1b}[2J\u{9b}2J\u{202e}\rx\nready: forged"
  private static let shown =
    #"\u{1b}]0;T\u{7}\u{1b}]52;c;eA==\u{7}\u{1b}[2J\u{9b}2J\u{202e}\rx\nready: forged"#

  private func printed(_ body: () throws -> Void) rethrows -> (output: [String], errors: [String]) {
    let sink = CollectedOutput(limit: 100)
    try Output.$sink.withValue(sink) { try body() }
    return sink.lines
  }

  @Test func `a line has its control characters escaped, on both outputs`() {
    let lines = printed {
      Output.print("path '\(Self.attack)'")
      Output.printError("path '\(Self.attack)'")
    }
    #expect(lines.output == ["path '\(Self.shown)'"] && lines.errors == ["path '\(Self.shown)'"])
  }

  @Test func `a text keeps its lines and nothing else`() {
    let lines = printed { Output.printText("widgetlab: a\n  where: \u{1b}[2J\u{9b}2J") }
    #expect(lines.output == ["widgetlab: a", #"  where: \u{1b}[2J\u{9b}2J"#])
  }

  @Test func `an error of a command has its control characters escaped`() async {
    let sink = CollectedOutput(limit: 100)
    await #expect(throws: (any Error).self) {
      try await Output.$sink.withValue(sink) {
        try await reporting { throw CommandError(Exit.no, "no \u{1b}[2J", at: "\u{9b}2J") }
      }
    }
    #expect(sink.lines.errors == [#"widgetlab: no \u{1b}[2J"#, #"  where: \u{9b}2J"#])
  }

  @Test func `JSON has the value itself, with JSON escapes`() throws {
    let lines = try printed {
      try Output.json(["key": Self.attack])
      Output.json(data: try BodyCoding.data(["key": Self.attack]))
    }
    for line in lines.output {
      #expect(!line.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) || $0 == "\u{202e}" })
      #expect(try JSONDecoder().decode([String: String].self, from: Data(line.utf8)) == ["key": Self.attack])
    }
    #expect(lines.output.count == 2)
  }

  @Test func `colours of the tool remain, and all else of a terminal is escaped`() {
    let line = TerminalColor.red("broken \(Self.attack)", if: true) + " \(Self.attack)"
    let expected = "\u{1b}[31mbroken \(Self.shown)\u{1b}[0m \(Self.shown)"
    #expect(TerminalColor.shown(line, if: true) == expected)
    // An author's colours: those of the tool, and no other attribute.
    #expect(
      TerminalColor.shown("\u{1b}[32mgreen\u{1b}[0m \u{1b}[8m", if: true) == "\u{1b}[32mgreen\u{1b}[0m \\u{1b}[8m")
    #expect(TerminalColor.shown("\u{1b}[32mgreen", if: false) == "\\u{1b}[32mgreen")
  }

  @Test(arguments: [true, false])
  func `a line of tail with an author's output has its control characters escaped`(isColored: Bool) throws {
    let output = ProcessOutput(
      address: .widgetExtension("iphone", "com.example.W"), generation: 1, pid: 7, stream: "stdout", line: Self.attack)
    let header = EnvelopeHeader(kind: ProcessOutput.kind, source: .host("iphone"), destination: .journal)
    let envelope = Envelope(header: header, body: try BodyCoding.encode(output))
    var lines = TailLines(isColored: isColored)
    let line = TerminalColor.shown(lines.line(envelope), if: isColored)
    #expect(line.contains(Self.shown))
    #expect(!line.contains("\u{1b}]") && !line.contains("\u{9b}") && !line.contains("\n"))
    let json = EnvelopeJSON.line(envelope)
    #expect(!json.unicodeScalars.contains { (0x7f..<0xa0).contains($0.value) || $0.value < 0x20 || $0 == "\u{202e}" })
    #expect(json.contains(#"\u001b]52"#) && json.contains(#"\u009b2J"#))
  }
}
