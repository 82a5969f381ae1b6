// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Layout
@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `The font` {
  private let font: InterFont

  init() throws { font = try InterFont() }

  @Test(.rule("PICTURE-02")) func `a line has the metrics of Apple's font`() {
    let metrics = font.metrics(of: FontDescription(size: 17))
    #expect(abs(metrics.height - 20.287) < 0.001)
    #expect(metrics.leading == 0)
  }

  @Test(
    .rule("PICTURE-02"), arguments: [(8, 26), (12, 0), (17, -26), (16.5, -23), (28, 14), (29, 14), (100, 0), (4, 26)])
  func `the tracking is that of the size`(size: Double, thousandths: Double) {
    #expect(abs(InterFont.tracking(size) * 1000 - thousandths) < 0.001)
  }

  @Test(.rule("PICTURE-02")) func `texts are shaped with kerning, weights and digits of one width`() {
    let plain = FontDescription(size: 17)
    let kerned = font.width(of: "AV", in: plain)
    #expect(kerned < font.width(of: "A", in: plain) + font.width(of: "V", in: plain))
    #expect(
      font.width(of: "widget", in: FontDescription(size: 17, weight: .bold)) > font.width(of: "widget", in: plain))
    var digits = plain
    #expect(font.width(of: "1111", in: digits) < font.width(of: "0000", in: digits))
    digits.hasMonospacedDigits = true
    #expect(abs(font.width(of: "1111", in: digits) - font.width(of: "0000", in: digits)) < 0.01)
    var tracked = plain
    tracked.tracking = 2
    #expect(abs(font.width(of: "abcd", in: tracked) - font.width(of: "abcd", in: plain) - 8) < 0.01)
  }

  @Test func `the glyphs of a text fill the width that was measured`() throws {
    for size in [11.0, 17, 20, 25, 34] {
      let description = FontDescription(size: size)
      let text = "Hamburgefonstiv 123"
      let (glyphs, missing) = font.glyphs(of: text, in: description, at: Point(x: 10, y: 50))
      #expect(missing.isEmpty && glyphs.count == text.count)
      #expect(glyphs.first?.origin == Point(x: 10, y: 50))
      let last = try #require(glyphs.last)
      #expect(last.origin.x < 10 + font.width(of: text[...], in: description))
      #expect(glyphs.map(\.origin.x) == glyphs.map(\.origin.x).sorted())
    }
  }

  @Test func `a glyph has an outline above its baseline`() throws {
    let glyph = try #require(
      font.glyphs(of: "H", in: FontDescription(size: 17), at: Point(x: 0, y: 0)).glyphs.first)
    var (top, bottom) = (0.0, 0.0)
    let outline = font.outline(of: glyph.key)
    _ = outline.mapped { point in
      (top, bottom) = (min(top, point.y), max(bottom, point.y))
      return point
    }
    #expect(!outline.elements.isEmpty && bottom == 0)
    // The capital height of Inter is 0.727 of the size.
    #expect(abs(-top * glyph.scale - 0.727 * 17) < 0.1)
    #expect(font.outline(of: GlyphKey(face: "none", weight: 400, glyph: 1)).elements.isEmpty)
  }

  @Test(.rule("PICTURE-03")) func `a character without a glyph is reported`() {
    let found = font.glyphs(of: "a日", in: FontDescription(size: 17), at: Point(x: 0, y: 0))
    #expect(found.missing == "日" && found.glyphs.count == 2)
  }

  @Test func `a missing font file and a file that is no font are refused`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "font-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func refusal() -> FontFailure? {
      do {
        _ = try InterFont(folder: folder)
        return nil
      } catch { return error }
    }
    #expect(refusal()?.code == .file)
    try Data("no font".utf8).write(to: folder.appending(path: "Inter-roman.var.ttf"))
    #expect(refusal()?.description.hasPrefix("the file is no font") == true)
  }
}
