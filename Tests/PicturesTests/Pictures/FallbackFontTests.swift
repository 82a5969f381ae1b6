// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import Layout
@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Fonts of a folder` {
  private let plain = FontDescription(size: 10)
  private let origin = Point(x: 0, y: 0)

  private func font(_ files: [String: MadeFont]) throws -> (font: InterFont, folder: FontFolder) {
    let folder = try FontFolder(files)
    return (try InterFont(fallback: folder.url), folder)
  }

  private func faces(_ text: String, in font: InterFont, _ weight: FontDescription.Weight = .regular) -> [String] {
    font.glyphs(of: text, in: FontDescription(size: 10, weight: weight), at: origin).glyphs.map(\.key.face)
  }

  @Test(.rule("PICTURE-03", "PICTURE-50")) func `characters that Inter does not have are drawn in another font`() throws
  {
    let made = MadeFont(characters: ["日": 1000, "本": 800])
    let (font, folder) = try font(["a.ttf": made])
    let foundGlyphs = font.glyphs(of: "日本", in: plain, at: origin)
    #expect(foundGlyphs.missing.isEmpty && folder.url.path.count > 0)
    #expect(foundGlyphs.glyphs.map(\.key.glyph) == [made.glyph(of: "日"), made.glyph(of: "本")])
    #expect(foundGlyphs.glyphs.map(\.origin.x) == [0, 10])
    #expect(font.width(of: "日本", in: plain) == 18)
    #expect(!font.outline(of: try #require(foundGlyphs.glyphs.first).key).elements.isEmpty)
    #expect(font.outline(of: GlyphKey(face: "/none", weight: 400, glyph: 1)).elements.isEmpty)
    #expect(try InterFont().glyphs(of: "日本", in: plain, at: origin).missing == "日本")
  }

  @Test(.rule("PICTURE-50")) func `the characters that Inter has are drawn in Inter`() throws {
    let (font, folder) = try font(["a.ttf": MadeFont(characters: ["日": 1000, "A": 1000, "1": 1000])])
    let inter = try InterFont()
    #expect(font.width(of: "A1", in: plain) == inter.width(of: "A1", in: plain))
    #expect(faces("A日1", in: font) == ["Inter-roman.var.ttf", "/a.ttf", "Inter-roman.var.ttf"])
    let parts = ["A", "日", "1"].reduce(0) { $0 + font.width(of: $1[...], in: plain) }
    #expect(abs(font.width(of: "A日1", in: plain) - parts) < 0.001)
    let canvas = LayoutCanvas(size: Size(width: 158, height: 158))
    let view = ViewArchive.text("Hamburgefonstiv 123 “quoted”")
    let (own, usual) = (view.picture(in: canvas, with: font), view.picture(in: canvas, with: inter))
    #expect(own.svg(outlines: font) == usual.svg(outlines: inter))
    withExtendedLifetime(folder) {}
  }

  @Test(.rule("PICTURE-51")) func `of several fonts the nearest weight is first, then the first file name`() throws {
    let characters: [Unicode.Scalar: UInt16] = ["日": 1000]
    let (font, folder) = try font([
      "a.ttf": MadeFont(weight: 700, characters: characters), "b.ttf": MadeFont(characters: characters),
      "c.ttf": MadeFont(characters: ["日": 900, "本": 900, "\u{302A}": 0]),
    ])
    #expect(faces("日", in: font) == ["/b.ttf"])
    #expect(faces("日", in: font, .bold) == ["/a.ttf"])
    #expect(faces("日", in: font, .black) == ["/a.ttf"])
    // A word keeps its font, and a character with its marks has one font.
    #expect(faces("本日", in: font) == ["/c.ttf", "/c.ttf"])
    #expect(Set(faces("日\u{302A}", in: font)) == ["/c.ttf"])
    withExtendedLifetime(folder) {}
  }

  @Test(.rule("PICTURE-52")) func `letters of Arabic are joined, and written from right to left`() throws {
    // The last four are the isolated, final, initial and medial forms of the first.
    let forms: [Unicode.Scalar] = ["\u{628}", "\u{FE8F}", "\u{FE90}", "\u{FE91}", "\u{FE92}"]
    let widths: [UInt16] = [900, 800, 700, 600, 500]
    let made = MadeFont(characters: Dictionary(uniqueKeysWithValues: zip(forms, widths)))
    let (font, folder) = try font(["a.ttf": made])
    func glyphs(_ text: String) -> [UInt32] {
      font.glyphs(of: text, in: plain, at: origin, isRightToLeft: true).glyphs.map(\.key.glyph)
    }
    let expected = [forms[2], forms[4], forms[3]].map(made.glyph)
    #expect(glyphs("\u{628}\u{628}\u{628}") == expected)
    #expect(abs(font.width(of: "\u{628}\u{628}\u{628}", in: plain) - 18) < 0.001)
    #expect(glyphs("\u{628}") == [made.glyph(of: forms[1])])
    withExtendedLifetime(folder) {}
  }

  @Test(.rule("PICTURE-53")) func `a glyph that is only a picture in colour is a box with a notice`() throws {
    let (font, folder) = try font(["emoji.ttf": MadeFont(hasColors: true, characters: ["😀": 1000])])
    #expect(font.glyphs(of: "😀", in: plain, at: origin).missing == "😀")
    let view = ViewArchive.text("😀 日")
    let picture = view.picture(in: LayoutCanvas(size: Size(width: 158, height: 158)), with: font)
    #expect(
      picture.notices == [
        "\"😀\" is only a picture in colour in emoji.ttf, and is drawn as a box", "no font has a glyph for \"日\"",
      ])
    withExtendedLifetime(folder) {}
  }

  @Test(.rule("PICTURE-53")) func `a file that is no font is named, and a missing folder is refused`() throws {
    let made = MadeFont(characters: ["日": 1000])
    let folder = try FontFolder([
      "a.txt": Data("no font".utf8), "b.ttf": made.data, "c.ttf": made.data.prefix(300), "d.ttf": Data(),
      ".hidden": Data("x".utf8),
    ])
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "more"), withIntermediateDirectories: true)
    let font = try InterFont(fallback: folder.url)
    #expect(font.notices.contains("the file a.txt is no font") && font.notices.contains("the file d.ttf is no font"))
    #expect(!font.notices.contains { $0.contains("more") || $0.contains("hidden") || $0.contains("b.ttf") })
    #expect(faces("日", in: font) == ["/b.ttf"])
    let empty = try FontFolder([:] as [String: Data])
    #expect(try InterFont(fallback: empty.url).notices == ["the folder has no fonts: \(empty.url.path)"])
    do throws(FontFailure) {
      _ = try InterFont(fallback: folder.url.appending(path: "none"))
      Issue.record("a folder that does not exist is accepted")
    } catch {
      #expect(error.code == .folder)
    }
  }

  @Test(arguments: 1...50) func `a damaged font file does not end the process`(seed: Int) throws {
    var (state, data) = (UInt64(seed), MadeFont(characters: ["日": 1000, "本": 500]).data)
    for _ in 0..<20 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      data[Int(state >> 33) % data.count] = UInt8(truncatingIfNeeded: state >> 24)
    }
    let folder = try FontFolder(["a.ttf": data])
    let font = try InterFont(fallback: folder.url)
    for glyph in font.glyphs(of: "日本", in: plain, at: origin).glyphs { _ = font.outline(of: glyph.key) }
    withExtendedLifetime(folder) {}
  }
}
