// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Limits and notices` {
  @Test(
    .rule("LAYOUT-22"),
    arguments: [
      (ViewArchive(.unknown("MyLayout"), children: [.text("a")]), "MyLayout is not drawn"),
      (ViewArchive(.leaf(.unsupportedView), [.view: "ScrollView"]), "ScrollView is not drawn"),
      (ViewArchive.text("a").modified(.undrawn(.safeAreaInset)), ".safeAreaInset has no effect"),
      (ViewArchive(.leaf(.image), [.name: "photo"]), "Image \"photo\": the size of the image is not known"),
      (
        ViewArchive.text("a").modified(.style(.font), [.font: .record([.custom: "Futura", .size: 12])]),
        "the font Futura is not available"
      ),
    ])
  func `what is not laid out is named`(view: ViewArchive, notice: String) {
    #expect(ViewArchive.stack(.vStack, [view, view]).layout(100, 100).notices.map(\.description) == [notice])
  }

  @Test(
    .rule("LAYOUT-23"),
    arguments: ["VStack", "HStack", "ZStack", "GeometryReader", "Grid", "GridRow", "LazyVGrid", "Button", "Text"])
  func `a tree nested 1,000 deep has a notice`(name: String) {
    var view = ViewArchive.text("a")
    for _ in 0..<1000 { view = ViewArchive(ViewName(rawValue: name), children: [view]) }
    let result = view.layout(100, 100)
    #expect(result.notices.contains { $0.reason == .tooDeep })
    #expect(result.lines.joined().isEmpty)
  }

  @Test(.rule("LAYOUT-23")) func `a chain of 1,000 modifiers has a notice`() {
    var view = ViewArchive.text("a")
    for _ in 0..<1000 { view = view.modified(.layout(.padding), [.length: 1]) }
    #expect(view.layout(100, 100).notices.map(\.reason) == [.tooDeep])
    var fine = ViewArchive.text("a")
    for _ in 0..<290 { fine = fine.modified(.layout(.padding), [.length: 0.1]) }
    #expect(fine.layout(100, 100).lines == ["a"])
  }

  @Test(.rule("LAYOUT-23")) func `a very long text is cut`() {
    let view = ViewArchive.text(String(repeating: "word ", count: 200_000))
    let result = view.layout(100, 100)
    #expect(result.notices.map(\.reason) == [.textTooLong])
    #expect(result.lines.count == 4)
    let letters = ViewArchive.text(String(repeating: "x", count: 1_000_000)).layout(0, 1_000_000)
    #expect(letters.lines.count == 10_000)
  }

  @Test(.rule("LAYOUT-23")) func `the number of measurements is limited`() {
    let view = ViewArchive.stack(.vStack, (0..<100).map { .text("\($0)") })
    let result = view.laidOut(
      in: LayoutCanvas(size: Size(width: 100, height: 100)), measuring: HalfWidthFont(),
      limits: LayoutLimits(measurements: 50))
    #expect(result.notices.map(\.reason).contains(.tooManyMeasurements))
  }

  @Test(.rule("LAYOUT-23"), arguments: [Double.nan, .infinity, -.infinity, 1e300])
  func `numbers that are no lengths do not reach a frame`(number: Double) {
    let value = ArchivedValue.number(number)
    let view = ViewArchive.stack(
      .hStack, spacing: number,
      [
        .color().modified(.layout(.padding), [.length: value]),
        .color().modified(.layout(.frame), [.minWidth: value, .maxHeight: value]),
        .color().modified(.layout(.frame), [.idealWidth: value, .maxWidth: .number(.infinity)]).modified(
          .layout(.fixedSize)),
        .color().modified(.layout(.offset), [.x: value]).modified(.layout(.position), [.x: value, .y: value]),
        .color().modified(.layout(.aspectRatio), [.ratio: value, .contentMode: "fit"]),
        .text("a b c").modified(.style(.font), [.font: .record([.size: value])]).modified(
          .style(.lineSpacing), [.points: value]),
        .text("a b c").modified(.style(.minimumScaleFactor), [.factor: value]).modified(
          .style(.tracking), [.points: value]),
        ViewArchive(.leaf(.spacer), [.minLength: value]),
        ViewArchive(.leaf(.image), [.pixelWidth: value, .pixelHeight: 1]),
      ]
    ).modified(.layout(.layoutPriority), [.value: value])
    for view in view.layout(100, 100).views {
      view.walk { view in #expect(view.frame.isFinite, "\(view.name) \(view.frame)") }
    }
  }
}
