// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Pictures
import Testing

@testable import Layout

/// In the font of these tests a character of body is 8.5 points wide.
@Suite(.timeLimit(.minutes(1))) struct `Line breaks` {
  private func parts(_ text: String) throws -> [String] {
    var (parts, start) = ([String](), text.startIndex)
    for end in try UnicodeRules().lineEnds(of: text) {
      let index = text.utf8.index(text.startIndex, offsetBy: end)
      parts.append(String(text[start..<index]))
      start = index
    }
    return parts
  }

  @Test(
    .rule("LAYOUT-16", "LAYOUT-44"),
    arguments: [
      ["one ", "two"], ["well-", "known"], ["I’m ", "(not) ", "here."], ["$12.50 ", "now"], ["3.14 ", "× ", "10"],
      ["10 ", "%"], ["a\u{A0}b"], ["a\u{2060}b"], ["one", "\u{2014}", "two"], ["and/", "or"], ["“quoted” ", "text"],
      ["東", "京", "は", "「大", "阪」", "と、", "違", "う。"], ["キャッ", "チ"], ["한", "국", "어 ", "말"],
      ["👨‍👩‍👧", "👍🏽", "🇩🇪", "🇫🇷"], ["e\u{301}te\u{301} ", "a"], ["one\n", "two"], ["one\r\n", "two"],
      ["one\u{2028}", "two"], ["a   ", "b"],
    ] as [[String]])
  func `a line ends where Unicode permits it`(expected: [String]) throws {
    #expect(try parts(expected.joined()) == expected)
  }

  @Test(.rule("LAYOUT-44")) func `words of Thai are found without spaces`() throws {
    let text = "ภาษาไทยเป็นภาษาที่สวยงาม"
    let found = try parts(text)
    #expect(found.count > 3 && found.joined() == text)
  }

  @Test(.rule("LAYOUT-44")) func `an empty text has no place for a break`() throws {
    #expect(try UnicodeRules().lineEnds(of: "") == [0])
  }

  @Test(.rule("LAYOUT-16", "LAYOUT-44")) func `a word of several styles is not broken between them`() {
    func lines(_ texts: [ViewArchive], _ width: Double) -> [String] {
      ViewArchive(.leaf(.text), children: texts).layout(width, 200).lines
    }
    let bold = ViewArchive.text("believable").modified(.style(.bold))
    #expect(lines([.text("so un"), bold], 102) == ["so ", "unbelievable"])
    #expect(lines([.text("so un"), bold], 60) == ["so ", "unbelie", "vable"])
    #expect(lines([.text("12"), .text(" mg")], 40) == ["12 ", "mg"])
    #expect(lines([.text("12"), .text(" "), .text("mg")], 40) == ["12 ", "mg"])
    #expect(lines([.text("ab"), .text("cd"), .text("ef")], 20) == ["ab", "cd", "ef"])
    let image = ViewArchive(.leaf(.image), [.systemName: "star"])
    #expect(lines([.text("ab"), image, .text("cd")], 20) == ["ab", "", "cd"])
  }

  @Test(.rule("LAYOUT-16")) func `spaces at the end of a line have no width`() throws {
    let view = ViewArchive(.leaf(.text), children: [.text("ab "), .text("  "), .text("cd")])
    let text = try #require(view.layout(30, 100).all("Text").first?.text)
    #expect(text.lines.map(\.text) == ["ab   ", "cd"])
    #expect(text.lines.map(\.width) == [17, 17])
  }

  @Test(arguments: 1...60) func `no character of a text is lost between lines`(seed: Int) throws {
    var state = UInt64(seed)
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    let letters = [
      "a", "B", "1", " ", " ", "-", "(", ")", ".", "“", "日", "「", "ア", "ก", "่", "👍🏽", "é", "\u{301}", "\u{200D}", "/",
    ]
    let texts = (0...random(3)).map { _ in (0...random(30)).map { _ in letters[random(letters.count)] }.joined() }
    let view = ViewArchive(.leaf(.text), children: texts.map { .text($0) })
    for width in [0.0, 9, 40, 100, 1000] {
      #expect(view.layout(width, 100_000).lines.joined() == texts.joined(), "\(texts)")
    }
  }
}
