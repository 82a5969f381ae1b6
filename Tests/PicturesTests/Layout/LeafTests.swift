// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Single views` {
  @Test(.rule("LAYOUT-12")) func `the first view that fits is shown`() {
    let view = ViewArchive(.container(.viewThatFits), children: [.text("a long text"), .text("short"), .text("s")])
    #expect(view.layout(200, 50).lines == ["a long text"])
    #expect(view.layout(60, 50).lines == ["short"])
    #expect(view.layout(5, 50).lines == ["s"])
    var column = view
    column.arguments = [.axes: "vertical"]
    #expect(column.layout(60, 45).lines.joined() == "a long text")
    #expect(column.layout(60, 25).lines == ["short"])
  }

  @Test(.rule("LAYOUT-48")) func `accessoryInline shows the first image and the first text in one line`() {
    func layout(_ view: ViewArchive) -> LayoutResult {
      view.laidOut(
        in: LayoutCanvas(size: Size(width: 200, height: 20), family: .accessoryInline), measuring: HalfWidthFont())
    }
    let image = ViewArchive(.leaf(.image), [.systemName: "star"])
    let label = ViewArchive(.control(.label), children: [.text("Hello"), image])
    let plain = layout(ViewArchive.stack(.vStack, [label]).modified(.layout(.padding), [.length: 90]))
    #expect(plain.lines == ["Hello"] && plain.notices.isEmpty)
    #expect(plain.all("Image").count == 1 && plain.all("Image")[0].frame.maxX < plain.all("Text")[0].frame.minX)
    let more = layout(ViewArchive.stack(.vStack, [.text("Hello"), .text("Go"), .color()]))
    #expect(more.lines == ["Hello"])
    #expect(
      more.notices.map(\.description) == ["accessoryInline: what is besides its first image and text is not drawn"])
  }

  @Test(.rule("LAYOUT-13")) func `a geometry reader takes the proposal, and its content does not change that`() {
    let content = ViewArchive.color().framed(200, 10)
    func reader(_ width: Double) -> ViewArchive {
      ViewArchive(
        .container(.geometryReader), [.size: .record([.width: .number(width), .height: 50])], children: [content])
    }
    let result = ViewArchive.stack(.hStack, spacing: 0, [reader(80), .color("b").framed(20, 50)]).layout(100, 50)
    #expect(result.all("GeometryReader").map(\.frame.numbers) == [[0, 0, 80, 50]])
    #expect(result.all("Color").first?.frame.numbers == [0, 0, 200, 10])
    #expect(result.notices.isEmpty)
    let other = ViewArchive.stack(.hStack, spacing: 0, [reader(100), .color("b").framed(20, 50)]).layout(100, 50)
    #expect(
      other.notices.map(\.description) == ["GeometryReader was made for 100 × 50 points, and has 80 × 50"])
  }

  @Test(.rule("LAYOUT-13")) func `a custom shape for another size is noted`() {
    let shape = ViewArchive(
      .shape(.path), [.type: "Wave", .path: .list([]), .in: .record([.width: 100, .height: 100])])
    #expect(shape.layout(100, 100).notices.isEmpty)
    #expect(
      shape.layout(100, 40).notices.map(\.description) == ["Wave was made for 100 × 100 points, and has 100 × 40"])
  }

  @Test(.rule("LAYOUT-14"), arguments: ["Color", "Rectangle", "Capsule", "LinearGradient"])
  func `a shape takes the proposal, or 10 points`(name: String) {
    let view = ViewArchive(ViewName(rawValue: name))
    #expect(view.frames(of: name, in: 70, 30).map(\.numbers) == [[0, 0, 70, 30]])
    #expect(view.modified(.layout(.fixedSize)).frames(of: name, in: 70, 30).map(\.numbers) == [[30, 10, 10, 10]])
  }

  @Test(.rule("LAYOUT-14")) func `a circle takes a square`() {
    #expect(ViewArchive(.shape(.circle)).frames(of: "Circle", in: 70, 30).map(\.numbers) == [[20, 0, 30, 30]])
    let trimmed = ViewArchive(.shape(.circle)).modified(.shape(.trim), [.from: 0, .to: 0.5]).modified(
      .shape(.stroke), [.lineWidth: 4])
    #expect(trimmed.layout(30, 30).all("Circle").first?.operations.map(\.name) == [.shape(.trim), .shape(.stroke)])
  }

  @Test(.rule("LAYOUT-15"), arguments: [1.0, 2, 3])
  func `a divider is one pixel across its stack`(scale: Double) {
    let column = ViewArchive.stack(.vStack, [ViewArchive(.leaf(.divider))]).frames(
      of: "Divider", in: 60, 60, scale: scale)
    #expect(column.map(\.size) == [Size(width: 60, height: 1 / scale)])
    let row = ViewArchive.stack(.hStack, [ViewArchive(.leaf(.divider))]).frames(of: "Divider", in: 60, 60, scale: scale)
    #expect(row.map(\.size) == [Size(width: 1 / scale, height: 60)])
  }

  @Test(.rule("LAYOUT-21")) func `the container background has the whole widget`() {
    let view = ViewArchive.color("content")
      .modified(.layout(.containerBackground), [.placement: "widget", .style: "blue"])
    let canvas = LayoutCanvas(size: Size(width: 158, height: 158), margins: Insets(16))
    let result = view.laidOut(in: canvas, measuring: HalfWidthFont())
    #expect(result.background.map(\.frame.numbers) == [[0, 0, 158, 158]])
    #expect(result.all("Color").map(\.frame.numbers) == [[16, 16, 126, 126]])
    let small = ViewArchive.color().framed(20, 20).laidOut(in: canvas, measuring: HalfWidthFont())
    #expect(small.all("Color").map(\.frame.numbers) == [[69, 69, 20, 20]])
  }

  @Test(.rule("LAYOUT-24")) func `a symbol is a square of 1,4 capital heights, centred on the capitals`() throws {
    let symbol = ViewArchive(.leaf(.image), [.systemName: "star"])
    let side = 0.704590 * 17 * 1.4
    #expect(symbol.frames(of: "Image", in: 100, 100).map(\.size) == [Size(width: side, height: side)])
    let large = symbol.modified(.style(.imageScale), [.scale: "large"]).frames(of: "Image", in: 100, 100)
    #expect(large.map(\.size.width) == [side * 1.3])
    let small = symbol.modified(.style(.imageScale), [.scale: "small"]).frames(of: "Image", in: 100, 100)
    #expect(small.map(\.size.width) == [side * 0.8])
    let row = ViewArchive.stack(.hStack, alignment: "firstTextBaseline", [symbol, .text("A")]).layout(100, 100)
    let (image, text) = (try #require(row.all("Image").first).frame, try #require(row.all("Text").first).frame)
    let capitals = text.minY + (0.952148 - 0.704590 / 2) * 17
    #expect(abs(image.midY - capitals) < 0.01)
    let pixels = ViewArchive(.leaf(.image), [.pixelWidth: 30, .pixelHeight: 20])
    #expect(pixels.frames(of: "Image", in: 10, 10).map(\.size) == [Size(width: 30, height: 20)])
  }

  @Test func `labels, links and buttons have their parts`() {
    let label = ViewArchive(
      .control(.label), children: [ViewArchive(.leaf(.image), [.systemName: "star"]), .text("Star")])
    #expect(label.frames(of: "Text", in: 100, 50).map(\.size.width) == [34])
    #expect(label.modified(.style(.labelStyle), [.style: "iconOnly"]).layout(100, 50).all("Text").isEmpty)
    #expect(label.modified(.style(.labelStyle), [.style: "titleOnly"]).layout(100, 50).all("Image").isEmpty)
    let link = ViewArchive(.control(.link), [.destination: "https://example.com"], children: [.text("More")])
    #expect(link.layout(100, 50).lines == ["More"])
    let content = ViewArchive(.control(.labeledContent), children: [.text("a"), .text("b")])
    #expect(content.frames(of: "Text", in: 100, 50).map(\.minX) == [0, 91.0 + 1.0 / 3])
  }
}
