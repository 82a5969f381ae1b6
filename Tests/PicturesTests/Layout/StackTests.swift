// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Stacks` {
  private func widths(_ children: [ViewArchive], in width: Double, spacing: Double? = 0) -> [Double] {
    ViewArchive.stack(.hStack, spacing: spacing, children).frames(of: "Color", in: width, 50).map(\.size.width)
  }

  @Test(.rule("LAYOUT-01")) func `flexible children share what is left`() {
    #expect(widths([.color(), .color()], in: 100) == [50, 50])
    #expect(widths([.color(), .color().framed(30, 10)], in: 100) == [70, 30])
    #expect(widths([.color(), .color(), .color().framed(30, 10)], in: 100, spacing: 5) == [30, 30, 30])
  }

  @Test(.rule("LAYOUT-01")) func `of two children that take any length the larger minimum is first`() {
    let wide = ViewArchive.color().modified(.layout(.frame), [.minWidth: 60])
    #expect(widths([.color(), wide], in: 100) == [40, 60])
  }

  @Test(.rule("LAYOUT-01")) func `a child that takes less leaves the rest to the others`() {
    let narrow = ViewArchive.color().modified(.layout(.frame), [.maxWidth: 20])
    #expect(widths([.color(), narrow, .color()], in: 100) == [40, 20, 40])
  }

  @Test(.rule("LAYOUT-01")) func `without a proposal each child has its ideal length`() {
    let stack = ViewArchive.stack(.hStack, [.color(), .color().framed(30, 20)]).modified(.layout(.fixedSize))
    #expect(stack.frames(of: "HStack", in: 300, 300).map(\.size) == [Size(width: 48, height: 20)])
  }

  @Test(.rule("LAYOUT-01")) func `children that do not fit make the stack larger`() {
    let stack = ViewArchive.stack(.hStack, spacing: 0, [.color().framed(80, 10), .color().framed(80, 10)])
    #expect(stack.frames(of: "Color", in: 100, 50).map(\.minX) == [-30, 50])
  }

  @Test(.rule("LAYOUT-02")) func `a higher priority is offered all but the minima of the others`() {
    let text = ViewArchive.text("12345678901234567890")  // 170 points
    let important = ViewArchive.text("important").modified(.layout(.layoutPriority), [.value: 1])  // 76.5 points
    let frames = ViewArchive.stack(.hStack, spacing: 0, [text.modified(.style(.lineLimit), [.lines: 1]), important])
      .frames(of: "Text", in: 100, 50)
    #expect(frames[1].size.width.rounded() == 77)
    let low = ViewArchive.color().modified(.layout(.frame), [.minWidth: 30]).modified(
      .layout(.layoutPriority), [.value: -1])
    #expect(widths([.color(), low], in: 100) == [70, 30])
  }

  @Test(.rule("LAYOUT-03")) func `a spacer takes the rest and has no gap`() {
    let stack = ViewArchive.stack(
      .hStack, [.color().framed(20, 10), ViewArchive(.leaf(.spacer)), .color().framed(20, 10)])
    #expect(stack.frames(of: "Color", in: 100, 50).map(\.minX) == [0, 80])
    #expect(stack.modified(.layout(.fixedSize)).frames(of: "HStack", in: 100, 50).map(\.size.width) == [20 + 8 + 20])
    let wide = ViewArchive.stack(.hStack, [.color().framed(20, 10), ViewArchive(.leaf(.spacer), [.minLength: 30])])
    #expect(wide.modified(.layout(.fixedSize)).frames(of: "HStack", in: 100, 50).map(\.size.width) == [50])
  }

  @Test(.rule("LAYOUT-04")) func `the default gap is 8 points in both directions`() {
    for name in [ContainerView.hStack, .vStack] {
      let stack = ViewArchive.stack(name, [.color().framed(10, 10), .color().framed(10, 10)])
      let size = stack.frames(of: name.rawValue, in: 100, 100).map(\.size)
      #expect(size == [name == .hStack ? Size(width: 28, height: 10) : Size(width: 10, height: 28)])
    }
    let texts = ViewArchive.stack(.hStack, [.text("ab"), .text("ab")])
    #expect(texts.frames(of: "HStack", in: 100, 100).map(\.size.width) == [42])
  }

  /// The gap between the first two views of a column, in hundredths of a point.
  private func gap(_ upper: ViewArchive, _ lower: ViewArchive) -> Double? {
    let frames = ViewArchive.stack(.vStack, [upper, lower]).layout(200, 200).views.first?.children.map(\.frame)
    guard let frames, frames.count == 2 else { return nil }
    return ((frames[1].minY - frames[0].maxY) * 100).rounded() / 100
  }

  @Test(.rule("LAYOUT-05")) func `in a column a text keeps its own distances`() {
    let (text, view) = (ViewArchive.text("ab"), ViewArchive.color().framed(20, 20))
    #expect(gap(text, text) == 0)
    #expect(gap(view, text) == 6.43)
    #expect(gap(text, view) == 10.64)
    #expect(gap(view, view) == 8)
    // A stack passes on what its outer children prefer.
    #expect(gap(.stack(.vStack, [text]), .stack(.hStack, [text, view])) == 10.64)
  }

  @Test(.rule("LAYOUT-05")) func `a padding and a frame with a length end the preference`() {
    let (text, view) = (ViewArchive.text("ab"), ViewArchive.color().framed(20, 20))
    let padded = text.modified(.layout(.padding), [.edges: "top", .length: 2])
    #expect(gap(view, padded) == 10)
    #expect(gap(padded, view) == 10.64)
    let framed = ViewArchive.stack(.vStack, [view, text.modified(.layout(.frame), [.height: 40])]).layout(200, 200)
    let top = framed.all("Text").first?.frame.minY ?? 0
    let bottom = framed.all("Color").first?.frame.maxY ?? 0
    #expect(abs(top - bottom - 8 - (40 - line) / 2) < 0.01)
    #expect(gap(view, text.modified(.layout(.frame), [.width: 40])) == 6.43)
  }

  @Test(.rule("LAYOUT-19")) func `children are aligned by their guides`() {
    func tops(_ alignment: String) -> [Double] {
      ViewArchive.stack(.hStack, alignment: alignment, [.color().framed(10, 10), .color().framed(10, 30)])
        .frames(of: "Color", in: 100, 30).map(\.minY)
    }
    #expect(tops("top") == [0, 0])
    #expect(tops("center") == [10, 0])
    #expect(tops("bottom") == [20, 0])
    #expect(tops("firstTextBaseline") == [20, 0])
    let column = ViewArchive.stack(.vStack, alignment: "trailing", [.color().framed(10, 10), .color().framed(30, 10)])
    #expect(column.frames(of: "Color", in: 30, 100).map(\.minX) == [20, 0])
  }

  @Test(.rule("LAYOUT-19")) func `texts are aligned by their baselines`() {
    let large = ViewArchive.text("a").modified(.style(.font), [.font: "largeTitle"])
    let frames = ViewArchive.stack(.hStack, alignment: "firstTextBaseline", [.text("a"), large])
      .frames(of: "Text", in: 200, 100)
    let difference = frames[0].minY - frames[1].minY
    #expect(abs(difference - 0.952148 * (34 - 17)) < 0.01)
    let column = ViewArchive.stack(.vStack, [.text("a"), .text("b")])
    let last = ViewArchive.stack(.hStack, alignment: "lastTextBaseline", [column, .text("c")])
      .frames(of: "Text", in: 200, 100)
    #expect(abs(last[1].minY - last[2].minY) < 0.01)
  }

  @Test(.rule("LAYOUT-19")) func `a guide of the author is noted`() {
    let guided = ViewArchive.color().modified(.layout(.alignmentGuide), [.guide: "leading"])
    let result = ViewArchive.stack(.vStack, alignment: "MyGuide", [guided]).layout(100, 100)
    #expect(
      result.notices.map(\.description) == [".alignmentGuide has no effect"])
  }

  @Test(.rule("LAYOUT-20")) func `a layout from right to left is the mirror image`() throws {
    let view = ViewArchive.stack(
      .hStack, [.text("ab").modified(.layout(.frame), [.width: 50, .alignment: "leading"]), .color()])
    let canvas = LayoutCanvas(size: Size(width: 100, height: 50), isRightToLeft: true)
    let result = view.laidOut(in: canvas, measuring: HalfWidthFont())
    #expect(try #require(result.all("Text").first).frame.maxX == 100)
    #expect(result.all("Color").map(\.frame.numbers) == [[0, 0, 42, 50]])
  }
}
