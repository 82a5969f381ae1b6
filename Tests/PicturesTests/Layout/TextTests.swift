// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout

/// In the font of these tests a character of body is 8.5 points wide, and a line 20.287 points high.
@Suite(.timeLimit(.minutes(1))) struct `Texts` {
  private func lines(_ text: String, width: Double, height: Double = 200, modifiers: [ViewArchive.Modifier] = [])
    -> [String]
  {
    ViewArchive(.leaf(.text), [.text: .string(text)], modifiers: modifiers).layout(width, height).lines
  }

  @Test(.rule("LAYOUT-16")) func `a text is as wide as its widest line`() throws {
    let view = try #require(ViewArchive.text("abc").layout(100, 100).all("Text").first)
    #expect(view.frame.size == Size(width: 77.0 / 3, height: 61.0 / 3))
    #expect(view.text?.lines.map(\.baseline) == [0.952148 * 17])
    let two = try #require(ViewArchive.text("abc\nde").layout(100, 100).all("Text").first)
    #expect(two.frame.size == Size(width: 77.0 / 3, height: 122.0 / 3))
    #expect(ViewArchive.text("").layout(100, 100).all("Text").map(\.frame.size) == [.zero])
  }

  @Test(.rule("LAYOUT-47")) func `a text that counts seconds takes the proposed width, and is aligned in it`() throws {
    let timer = ViewArchive(.leaf(.text), [.text: "1:00", .isTimer: true])
    let leading = try #require(timer.layout(100, 100).all("Text").first)
    #expect(leading.frame.size.width == 100 && leading.text?.lines.first?.x == 0)
    let trailing = timer.modified(.style(.multilineTextAlignment), [.alignment: "trailing"]).layout(100, 100).all(
      "Text"
    )
    .first
    #expect(trailing?.text?.lines.first?.x == 100 - 4 * 8.5)
    #expect(timer.modified(.layout(.fixedSize)).frames(of: "Text", in: 100, 100).map(\.size.width) == [34])
  }

  @Test(.rule("LAYOUT-16")) func `lines are broken after spaces and hyphens`() {
    #expect(lines("one two three", width: 70) == ["one two ", "three"])
    #expect(lines("well-known fact", width: 50) == ["well-", "known ", "fact"])
    #expect(lines("one two", width: 25.5) == ["one ", "two"])
  }

  @Test(.rule("LAYOUT-16")) func `a long word is broken within, and ideographs anywhere`() {
    #expect(lines("abcdefghij", width: 35) == ["abcd", "efgh", "ij"])
    #expect(lines("今日は良い天気。", width: 35) == ["今日は良", "い天気。"])
    #expect(lines("abc", width: 0) == ["a", "b", "c"])
  }

  @Test(.rule("LAYOUT-16")) func `a text that does not fit ends with an ellipsis`() {
    let one = ViewArchive.Modifier(.style(.lineLimit), [.lines: 1])
    #expect(lines("one two three", width: 70, height: 200, modifiers: [one]) == ["one two…"])
    #expect(lines("one two three", width: 70, height: 30) == ["one two…"])
    #expect(lines("one two three four", width: 70, height: 45) == ["one two ", "three f…"])
    #expect(lines("one\ntwo", width: 70, height: 30) == ["one…"])
    #expect(
      lines("abcdefghij", width: 51, height: 30, modifiers: [one, .init(.style(.truncationMode), [.mode: "head"])])
        == ["…fghij"])
    #expect(
      lines("abcdefghij", width: 51, height: 30, modifiers: [one, .init(.style(.truncationMode), [.mode: "middle"])])
        == ["ab…hij"])
    #expect(ViewArchive.text("one two three").layout(70, 30).all("Text").first?.text?.isTruncated == true)
  }

  @Test(.rule("LAYOUT-16")) func `lines are aligned, spaced and reserved`() throws {
    var view = ViewArchive.text("one two").modified(.style(.multilineTextAlignment), [.alignment: "trailing"])
      .modified(.style(.lineSpacing), [.points: 5])
    var text = try #require(view.layout(30, 100).all("Text").first?.text)
    #expect(text.lines.filter { $0.x >= 1 }.isEmpty)
    #expect(abs(text.lines[1].baseline - text.lines[0].baseline - 17 * 1.193359 - 5) < 0.01)
    view = ViewArchive.text("a\nabc").modified(.style(.multilineTextAlignment), [.alignment: "center"])
    text = try #require(view.layout(100, 100).all("Text").first?.text)
    #expect(text.lines.map { ($0.x * 100).rounded() / 100 } == [8.58, 0.08])
    let reserved = ViewArchive.text("a").modified(.style(.lineLimit), [.lines: 3, .reservesSpace: true])
    #expect(reserved.frames(of: "Text", in: 100, 100).map(\.size.height) == [61])
  }

  @Test(.rule("LAYOUT-17")) func `a text becomes smaller before it is truncated`() throws {
    let text = ViewArchive.text("1234567890").modified(.style(.lineLimit), [.lines: 1])  // 85 points
    func found(_ factor: Double) throws -> PlacedText {
      try #require(
        text.modified(.style(.minimumScaleFactor), [.factor: .number(factor)]).layout(60, 30).all("Text").first?.text)
    }
    let small = try found(0.5)
    #expect(!small.isTruncated && small.scale <= 60 / 85 && small.scale > 60 / 85 - 0.5 / 64)
    let still = try found(0.8)
    #expect(still.isTruncated && still.scale == 0.8)
    #expect(try #require(ViewArchive.text("ab").layout(60, 30).all("Text").first?.text).scale == 1)
  }

  @Test(
    .rule("LAYOUT-18"),
    arguments: [
      ("body", TextSizeName.large, 17), ("largeTitle", .large, 34), ("caption2", .xSmall, 11),
      ("title", .accessibility5, 58), ("footnote", .accessibility1, 23), ("subheadline", .medium, 14),
    ] as [(String, TextSizeName, Double)])
  func `text styles have the sizes of Dynamic Type`(style: String, size: TextSizeName, points: Double) {
    var inherited = ViewStyle(textSize: size)
    inherited.apply(.font, [.font: .string(style)])
    #expect(inherited.resolvedFont.size == points)
  }

  /// The figures of openuikit's `font_metrics_ios.json` are those of 8 points.
  @Test(.rule("LAYOUT-18"), arguments: [8.0, 17, 34]) func `a line has the metrics of Apple's font`(size: Double) throws
  {
    #expect(LineMetrics.system(size: 8).rounded == [7.6172, 1.9297, 0, 5.6367])
    let metrics = LineMetrics.system(size: size)
    #expect(metrics.ascent == 0.952148 * size && metrics.descent == 0.241211 * size)
    #expect(metrics.capHeight == 0.704590 * size && metrics.leading == 0)
    let system: ArchivedValue = .record([.size: .number(size)])
    let view = ViewArchive.text("a\nb").modified(.style(.font), [.font: system])
    let lines = try #require(view.layout(200, 200).all("Text").first?.text?.lines)
    #expect(lines.first?.baseline == metrics.ascent)
    #expect(abs(lines[1].baseline - lines[0].baseline - metrics.height) < 0.01, "not the leading of the guidelines")
  }

  @Test(.rule("LAYOUT-18")) func `a font has the properties that its modifiers give it`() {
    func font(_ modifiers: (StyleModifier, ArchivedArguments)...) -> FontDescription {
      var style = ViewStyle()
      for (name, arguments) in modifiers.reversed() { style.apply(name, arguments) }
      return style.resolvedFont
    }
    #expect(font((.font, [.font: "headline"])).weight == .semibold)
    #expect(font((.bold, [:])).weight == .semibold)
    #expect(font((.bold, [:]), (.font, [.font: "title"])).weight == .bold)
    let system: ArchivedValue = .record([.size: 40, .weight: "light", .design: "rounded"])
    let large = font((.font, [.font: system]))
    #expect(large.size == 40 && large.weight == .light && large.design == "rounded")
    #expect(font((.fontWeight, [.weight: "heavy"]), (.font, [.font: system])).weight == .heavy)
    // The inner modifier wins.
    #expect(font((.font, [.font: "caption"]), (.font, [.font: "title"])).size == 12)
    #expect(font((.font, [.font: "body"]), (.dynamicTypeSize, [.range: "xSmall...medium"])).size == 16)
  }

  @Test func `a sum of texts has a style for each part`() throws {
    let view = ViewArchive(
      .leaf(.text),
      children: [
        .text("12").modified(.style(.font), [.font: "largeTitle"]),
        .text(" mg").modified(.style(.foregroundColor), [.color: "red"]),
      ])
    let placed = try #require(view.layout(200, 100).all("Text").first)
    let line = try #require(placed.text?.lines.first)
    #expect(line.fragments.map(\.font.size) == [34, 17])
    #expect(line.fragments.map(\.x) == [0, 34])
    #expect(line.fragments[1].style.foreground == ["red"])
    #expect(placed.frame.size.height == (34 * 1.193359 * 3).rounded(.up) / 3)
  }

  @Test func `a level of the hierarchy is that of the style around`() {
    let view = ViewArchive.stack(.vStack, [.text("a").modified(.style(.foregroundStyle), [.style: "secondary"])])
    let plain = view.layout(100, 100).all("Text").map(\.style.foreground)
    #expect(plain == [["secondary"]])
    let red = view.modified(.style(.foregroundStyle), [.style: "red"]).layout(100, 100).all("Text").map(
      \.style.foreground)
    #expect(red == [[.record([.style: "red", .rank: "secondary"])]])
  }
}

extension LineMetrics {
  /// Ascent, descent, leading and capital height, in ten thousandths of a point.
  fileprivate var rounded: [Double] {
    [ascent, descent, leading, capHeight].map { ($0 * 10_000).rounded() / 10_000 }
  }
}
