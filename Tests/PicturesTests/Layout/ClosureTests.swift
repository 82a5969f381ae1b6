// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout

/// The sizes of closures, and the guides that closures calculate.
@Suite(.timeLimit(.minutes(1))) struct `Closures that need a size` {
  private func reader(
    _ closure: String, width: ArchivedValue, height: ArchivedValue, children: [ViewArchive] = []
  ) -> ViewArchive {
    ViewArchive(
      .container(.geometryReader), [.closure: .string(closure), .size: .record([.width: width, .height: height])],
      children: children)
  }

  @Test(.rule("LAYOUT-13")) func `a closure that was called with another size is found with the size of the layout`() {
    let row = ViewArchive.stack(
      .hStack, spacing: 0,
      [reader("1", width: 100, height: 50), reader("2", width: 40.4, height: 50.5), ViewArchive.color().framed(20, 50)])
    #expect(row.layout(100, 50).closures == ["1": Size(width: 40, height: 50)])
  }

  @Test(.rule("LAYOUT-13")) func `a custom shape is found with its size, also as the shape of a clip`() {
    func shape(_ closure: String) -> ViewArchive {
      ViewArchive(
        .shape(.path),
        [
          .closure: .string(closure), .type: "Wave", .path: .list([]),
          .in: .record([.width: 100, .height: 100]),
        ])
    }
    let clipped = ViewArchive.color().framed(30, 20).modified(.layer(.clipShape), [:], views: [shape("2")])
    let view = ViewArchive.stack(.vStack, spacing: 0, [shape("1"), clipped])
    #expect(view.layout(100, 60).closures == ["1": Size(width: 100, height: 40), "2": Size(width: 30, height: 20)])
  }

  @Test(.rule("LAYOUT-13")) func `a view that is not shown asks for no size`() {
    let view = ViewArchive(
      .container(.viewThatFits),
      children: [reader("1", width: 1, height: 1).framed(20, 20), reader("2", width: 1, height: 1).framed(10, 10)])
    #expect(view.layout(30, 30).closures == ["1": Size(width: 20, height: 20)])
  }

  private func canvas(_ items: [ViewArchive]) -> ViewArchive {
    ViewArchive(.container(.canvas), [.closure: "1", .size: .record([.width: 60, .height: 40])], children: items)
  }

  @Test(.rule("LAYOUT-46", "LAYOUT-13")) func `a canvas takes the proposal, and places texts by a point of them`() {
    let item = ViewArchive(
      .container(.canvasItem), [.x: 30, .y: 10, .anchorX: 1, .anchorY: 0.5],
      children: [ViewArchive.color().framed(20, 10)])
    let wide = ViewArchive(
      .container(.canvasItem), [.x: 5, .y: 6, .anchorX: 0, .anchorY: 0, .width: 8, .height: 9],
      children: [.color()])
    let result = canvas([ViewArchive(.shape(.path), [.path: .list([])]), item, wide]).framed(60, 40).layout(100, 40)
    #expect(result.all("Canvas").map(\.frame.numbers) == [[20, 0, 60, 40]])
    #expect(result.all("Shape").map(\.frame.numbers) == [[20, 0, 60, 40]])
    #expect(result.all("Color").map(\.frame.numbers) == [[30, 5, 20, 10], [25, 6, 8, 9]])
    #expect(result.closures.isEmpty)
    #expect(canvas([]).layout(100, 40).closures == ["1": Size(width: 100, height: 40)])
  }

  @Test(.rule("LAYOUT-46", "LAYOUT-20")) func `what a canvas draws is not mirrored`() {
    let item = ViewArchive(
      .container(.canvasItem), [.x: 0, .y: 0, .anchorX: 0, .anchorY: 0],
      children: [ViewArchive.color().framed(20, 10)])
    let row = ViewArchive.stack(.hStack, spacing: 0, [canvas([item]).framed(60, 40), ViewArchive(.leaf(.spacer))])
    let result = row.layout(100, 40, isRightToLeft: true)
    #expect(result.all("Canvas").map(\.frame.numbers) == [[40, 0, 60, 40]])
    #expect(result.all("Color").map(\.frame.numbers) == [[40, 0, 20, 10]])
  }

  private func guided(
    _ view: ViewArchive, guide: ArchivedValue, value: Double?, axis: ArchivedValue = "horizontal"
  ) -> ViewArchive {
    var arguments: ArchivedArguments = [.guide: guide, .axis: axis, .closure: "1"]
    if let value {
      arguments[.value] = .number(value)
      arguments[.in] = .record([.width: 20, .height: 10])
    }
    return view.modified(.layout(.alignmentGuide), arguments)
  }

  private let bar = ViewArchive.color("b").framed(60, 10)
  private let box = ViewArchive.color("a").framed(20, 10)

  @Test(.rule("LAYOUT-19")) func `a stack aligns a view by the guide that its closure calculated`() {
    func places(_ view: ViewArchive) -> [Double] {
      ViewArchive.stack(.vStack, alignment: "leading", [view, bar]).frames(of: "Color", in: 100, 100).map(\.minX)
    }
    #expect(places(box) == [20, 20])
    #expect(places(guided(box, guide: "leading", value: -30)) == [50, 20])
    // The guide of another axis with the same name, and another guide.
    #expect(places(guided(box, guide: "center", value: -30, axis: "vertical")) == [20, 20])
    // A frame around moves the guide with its content, and an offset does not.
    #expect(places(guided(box, guide: "leading", value: 5).framed(40, 10)) == [22.5, 27.5])
    #expect(places(guided(box, guide: "leading", value: 5).modified(.layout(.offset), [.x: 3])) == [20.5, 22.5])
  }

  @Test(.rule("LAYOUT-19")) func `a guide that is not calculated yet has no effect, asks for the size and is named`() {
    let stack = ViewArchive.stack(.vStack, alignment: "leading", [guided(box, guide: "leading", value: nil), bar])
    let result = stack.layout(100, 100)
    #expect(result.closures == ["1": Size(width: 20, height: 10)])
    #expect(result.notices.map(\.description) == [".alignmentGuide has no effect"])
    #expect(result.all("Color").map(\.frame.minX) == [20, 20])
  }

  @Test(.rule("LAYOUT-19")) func `a stack has the average of the guides that its views set`() {
    let inner = ViewArchive.stack(
      .vStack, alignment: "trailing",
      [guided(box, guide: "leading", value: 10), guided(box, guide: "leading", value: 4), box])
    let outer = ViewArchive.stack(.zStack, alignment: "leading", [inner, bar])
    // The bar begins at the guide of the inner stack: 7 points from its edge.
    #expect(outer.frames(of: "Color", in: 100, 100).map(\.minX) == [20, 20, 20, 27])
  }

  @Test(.rule("LAYOUT-19", "LAYOUT-23")) func `a guide within fifty frames is found with few measurements`() {
    var view = guided(box, guide: "leading", value: -30)
    for _ in 0..<50 {
      view = ViewArchive.stack(.zStack, alignment: "leading", [view]).modified(.layout(.padding), [.length: 0])
    }
    let stack = ViewArchive.stack(.vStack, alignment: "leading", [view.framed(20, 10), bar])
    #expect(stack.layout(100, 100).notices.isEmpty)
  }

  /// A view with the default place of a guide of the author.
  private func usual(_ view: ViewArchive, _ value: Double?, axis: ArchivedValue = "horizontal") -> ViewArchive {
    var arguments: ArchivedArguments = [
      .guide: "Middle", .axis: axis, .isDefault: true, .closure: .string(axis.string ?? ""),
    ]
    if let value {
      arguments[.value] = .number(value)
      arguments[.in] = .record([.width: 20, .height: 10])
    }
    return view.modified(.layout(.alignmentGuide), arguments)
  }

  @Test(.rule("LAYOUT-25")) func `a stack aligns views by a guide of the author, or else by its default place`() {
    func places(_ views: [ViewArchive]) -> [Double] {
      ViewArchive.stack(.vStack, alignment: "Middle", views).frames(of: "Color", in: 100, 100).map(\.minX)
    }
    // The guide of the first view is at its 15th point, and that of the second one at its fifth.
    #expect(places([usual(guided(box, guide: "Middle", value: 15), 2), usual(box, 5)]) == [35, 45])
    #expect(places([usual(box, 2), usual(box, 5)]) == [41.5, 38.5])
    // A guide within a stack is that of the stack.
    let inner = ViewArchive.stack(.hStack, [guided(box, guide: "Middle", value: 15), box])
    #expect(places([usual(inner, 2), usual(box, 5)]).map { $0.rounded() } == [26, 54, 36])
    // Another guide, and the same name on the other axis.
    #expect(places([usual(guided(box, guide: "Other", value: 15), 2), usual(box, 2, axis: "vertical")]) == [44, 36])
  }

  @Test(.rule("LAYOUT-25")) func `layers are aligned by guides of the author on both axes`() {
    let first = usual(usual(box, 0), 10, axis: "vertical")
    let second = usual(usual(guided(box, guide: "Middle", value: 20), 0), 0, axis: "vertical")
    let stack = ViewArchive.stack(.zStack, alignment: "(Middle, Middle)", [first, second])
    let frames = stack.frames(of: "Color", in: 100, 100)
    // The stack is as large as its largest child, whatever the guides are (LAYOUT-11).
    #expect(frames.map(\.minX) == [60, 40] && frames.map(\.minY) == [45, 55], "\(frames)")
    let top = ViewArchive.stack(.zStack, alignment: "(Middle, top)", [first, second.framed(20, 30)])
    #expect(top.frames(of: "Color", in: 100, 100).map(\.minY).first == 35)
  }

  @Test(.rule("LAYOUT-25"))
  func `a default place that is not calculated yet is the centre, asks for the size and is named`() {
    let stack = ViewArchive.stack(.vStack, alignment: "Middle", [usual(box, nil), bar])
    let result = stack.layout(100, 100)
    #expect(result.closures == ["horizontal": Size(width: 20, height: 10)])
    #expect(result.notices.map(\.description) == [".alignmentGuide has no effect"])
    #expect(result.all("Color").map(\.frame.minX) == [40, 20])
  }

  @Test(.rule("LAYOUT-25", "LAYOUT-22")) func `a guide of the author in a frame is named`() {
    let frame = box.modified(.layout(.frame), [.width: 50, .alignment: "Middle"])
    #expect(frame.layout(100, 100).notices.map(\.description) == ["the alignment Middle has no effect"])
  }
}
