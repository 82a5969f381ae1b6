// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Texts of two directions` {
  private let font: InterFont

  init() throws { font = try InterFont() }

  private func lines(_ view: ViewArchive, _ width: Double = 300, isRightToLeft: Bool = false) -> [PlacedText.Line] {
    let canvas = LayoutCanvas(size: Size(width: width, height: 100), isRightToLeft: isRightToLeft)
    var lines: [PlacedText.Line] = []
    for view in view.laidOut(in: canvas, measuring: font).views {
      view.walk { lines += $0.text?.lines ?? [] }
    }
    return lines
  }

  /// The fragments from left to right.
  private func visible(_ text: String, _ width: Double = 300, isRightToLeft: Bool = false) -> [[String]] {
    lines(.text(text), width, isRightToLeft: isRightToLeft).map { line in
      line.fragments.sorted { $0.x < $1.x }.map(\.text)
    }
  }

  @Test(.rule("LAYOUT-45")) func `the directions of characters are those of Unicode`() throws {
    let rules = try UnicodeRules()
    #expect(rules.directions(of: "abc — 日本 👍🏽 1", isRightToLeft: false) == nil)
    let mixed = try #require(rules.directions(of: "abc אבג 123", isRightToLeft: false))
    #expect(mixed.parts == [.init(start: 0, level: 0), .init(start: 4, level: 1), .init(start: 11, level: 2)])
    #expect(mixed.paragraphs == [.init(start: 0, level: 0)])
    let two = try #require(rules.directions(of: "a\nב\n1", isRightToLeft: false))
    #expect(two.paragraphs.map(\.start) == [0, 2, 5] && two.paragraphs.map(\.level) == [0, 1, 0])
    #expect(rules.directions(of: "123", isRightToLeft: true)?.parts.map(\.level) == [2])
    #expect(rules.directions(of: "abc", isRightToLeft: true) == nil)
    #expect(rules.directions(of: "", isRightToLeft: true) == nil)
  }

  @Test(.rule("LAYOUT-45")) func `the parts of a line are in the order of Unicode`() {
    #expect(visible("abc אבג 123") == [["abc ", "123", "אבג "]])
    #expect(visible("אבג abc 12") == [["abc 12", "אבג "]])
    #expect(visible("אבג (abc)!") == [[")!", "abc", "אבג ("]])
    #expect(visible("מחיר: 12.50 ₪") == [[" ₪", "12.50", "מחיר: "]])
  }

  @Test(.rule("LAYOUT-45")) func `a paragraph without letters has the direction of the layout`() {
    #expect(visible("3 / 5") == [["3 / 5"]])
    #expect(visible("3 / 5", isRightToLeft: true) == [["5", " / ", "3"]])
  }

  @Test(.rule("LAYOUT-45")) func `the order is that of each line`() {
    let lines = visible("אבג דהו זחט", 75)
    #expect(lines.count > 1 && lines.joined().joined().filter { $0 != " " } == "אבגדהוזחט")
  }

  @Test(.rule("LAYOUT-45")) func `an ellipsis has the direction of its paragraph`() {
    let line = ViewArchive.text("אבג דהו זחט").layoutLine(60, font)
    #expect(line?.map(\.isRightToLeft) == [true] && line?.first?.text.hasSuffix("…") == true)
    let mixed = ViewArchive.text("אב abcdefghij").layoutLine(110, font)
    #expect(mixed?.min { $0.x < $1.x }?.text == "…")
  }

  @Test(.rule("LAYOUT-45")) func `the parts of a line fill its width`() {
    let texts = ["abc אבג 123 def", "אבג (abc) דהו", "1 אב 2 ab 3", "אבג abc, def דהו 12%"]
    for text in texts {
      for width in [30.0, 60, 120, 400] {
        for line in lines(.text(text), width) {
          var x = 0.0
          for fragment in line.fragments.sorted(by: { $0.x < $1.x }) {
            #expect(abs(fragment.x - x) < 0.01)
            x += fragment.width
          }
          #expect(abs(x - line.width) < 2, "\(text)")
        }
      }
    }
  }

  @Test(.rule("LAYOUT-45")) func `styles and images keep their places in a text of two directions`() {
    let bold = ViewArchive(
      .leaf(.text), [.text: "דהו"], modifiers: [.init(.style(.bold))])
    let image = ViewArchive(.leaf(.image), [.systemName: "star"])
    let view = ViewArchive(.leaf(.text), children: [.text("אבג "), bold, image, .text(" x")])
    let fragments = lines(view).first?.fragments ?? []
    #expect(fragments.filter { $0.image != nil }.count == 1)
    let order = fragments.sorted { $0.x < $1.x }.map { $0.image == nil ? $0.text : "*" }
    #expect(order.joined().filter { $0 != " " } == "x*דהואבג")
  }

  @Test(.rule("PICTURE-52")) func `brackets are mirrored in a text from right to left`() {
    let plain = FontDescription(size: 17)
    func glyph(_ text: String, isRightToLeft: Bool) -> UInt32? {
      font.glyphs(of: text, in: plain, at: Point(x: 0, y: 0), isRightToLeft: isRightToLeft).glyphs.first?.key.glyph
    }
    #expect(glyph("(", isRightToLeft: true) == glyph(")", isRightToLeft: false))
    #expect(glyph("(", isRightToLeft: false) != glyph(")", isRightToLeft: false))
  }

  @Test(.rule("PICTURE-52")) func `digits in a text from right to left are written from left to right`() {
    let fragments = lines(.text("אב 123")).first?.fragments ?? []
    let digits = fragments.first { $0.text == "123" }
    #expect(digits?.isRightToLeft == false && digits?.x == 0)
    #expect(fragments.first?.isRightToLeft == true)
  }
}

extension ViewArchive {
  /// The parts of the text on one line that is too short for it.
  fileprivate func layoutLine(_ width: Double, _ font: InterFont) -> [PlacedText.Fragment]? {
    laidOut(in: LayoutCanvas(size: Size(width: width, height: 21)), measuring: font).views.first?.text?.lines.first?
      .fragments
  }
}
