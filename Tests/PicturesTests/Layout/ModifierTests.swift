// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Modifiers of the layout` {
  private func frame(_ view: ViewArchive, in width: Double = 100, _ height: Double = 100) -> [Double]? {
    view.frames(of: "Color", in: width, height).first?.numbers
  }

  @Test(.rule("LAYOUT-06")) func `a padding has 16 points, or its own`() {
    #expect(frame(.color().modified(.layout(.padding))) == [16, 16, 68, 68])
    #expect(frame(.color().modified(.layout(.padding), [.edges: "horizontal", .length: 10])) == [10, 0, 80, 100])
    #expect(frame(.color().modified(.layout(.padding), [.edges: "top leading"])) == [16, 16, 84, 84])
    let insets: ArchivedValue = .record([.top: 1, .leading: 2, .bottom: 3, .trailing: 4])
    #expect(frame(.color().modified(.layout(.padding), [.insets: insets])) == [2, 1, 94, 96])
    #expect(frame(.color().modified(.layout(.padding), [.length: -10])) == [-10, -10, 120, 120])
    #expect(frame(.color().modified(.layout(.padding), [.length: 80])) == [50, 50, 0, 0])
    // The margins that the system adds, and those of the author for a view that scrolls.
    let margins: ArchivedArguments = [.top: 16, .leading: 16, .bottom: 16, .trailing: 16]
    #expect(frame(.color().modified(.layout(.contentMargins), margins)) == [16, 16, 68, 68])
    #expect(frame(.color().modified(.layout(.contentMargins), [.length: 16])) == [0, 0, 100, 100])
  }

  @Test(
    .rule("LAYOUT-07"),
    arguments: [
      ("topLeading", [0, 0]), ("top", [15, 0]), ("trailing", [30, 10]), ("bottomTrailing", [30, 20]),
      ("center", [15, 10]),
    ])
  func `a frame aligns its content`(alignment: String, place: [Double]) {
    let inner = ViewArchive.color().framed(20, 20)
    let outer = inner.modified(.layout(.frame), [.width: 50, .height: 40, .alignment: .string(alignment)])
    #expect(frame(outer, in: 50, 40) == place + [20, 20])
  }

  @Test(.rule("LAYOUT-07")) func `a frame may have one length, and content that is larger`() {
    #expect(frame(.color().modified(.layout(.frame), [.width: 30])) == [35, 0, 30, 100])
    #expect(frame(.color().framed(40, 40).framed(20, 20)) == [30, 30, 40, 40])
  }

  @Test(.rule("LAYOUT-07"), arguments: [-1, Double.infinity, .nan])
  func `an invalid length is noted and ignored`(length: Double) {
    let result = ViewArchive.color().modified(.layout(.frame), [.width: .number(length), .height: 20]).layout(
      100, 100)
    #expect(result.all("Color").map(\.frame.numbers) == [[0, 40, 100, 20]])
    #expect(result.notices.map(\.reason) == [.invalidNumber])
  }

  /// The width of a flexible frame around a view with a width of 30, for a proposal.
  @Test(
    .rule("LAYOUT-08"),
    arguments: [
      ("both limits: the proposal", [.minWidth: 20, .maxWidth: 80], 50, 50),
      ("both limits: at least the minimum", [.minWidth: 60, .maxWidth: 80], 50, 60),
      ("both limits: at most the maximum", [.minWidth: 20, .maxWidth: 40], 50, 40),
      ("infinity: the proposal", [.maxWidth: .infinity], 50, 50),
      ("a minimum: the content", [.minWidth: 20], 50, 30),
      ("a minimum: the proposal", [.minWidth: 20], 25, 25),
      ("a minimum: at least that", [.minWidth: 40], 25, 40),
      ("a maximum: the larger of proposal and content", [.maxWidth: 80], 50, 50),
      ("a maximum: the content", [.maxWidth: 80], 10, 30),
      ("a maximum: at most that", [.maxWidth: 20], 50, 20),
      ("no proposal: the ideal", [.idealWidth: 44], nil, 44),
      ("no proposal: the content within the limits", [.minWidth: 40], nil, 40),
      ("no proposal: the content below infinity", [.maxWidth: .infinity], nil, 30),
    ] as [(String, [ArgumentLabel: Double], Double?, Double)])
  func `a flexible frame`(what: String, limits: [ArgumentLabel: Double], proposal: Double?, width: Double) throws {
    var arguments = ArchivedArguments()
    for (label, limit) in limits { arguments[label] = .number(limit) }
    var view = ViewArchive.color().framed(30, 10).modified(.layout(.frame), arguments)
      .modified(.layer(.background), [:], views: [ViewArchive(.shape(.rectangle))])
    if proposal == nil { view = view.modified(.layout(.fixedSize)) }
    let found = try #require(view.frames(of: "Rectangle", in: proposal ?? 100, 50).first)
    #expect(found.size.width == width, "\(what)")
  }

  @Test(.rule("LAYOUT-09")) func `a fixed size is the ideal size`() {
    let text = ViewArchive.text("1234567890 1234567890")
    #expect(text.frames(of: "Text", in: 100, 200).map(\.size.height) == [122.0 / 3])
    let fixed = text.modified(.layout(.fixedSize), [.horizontal: true, .vertical: false])
    #expect(fixed.frames(of: "Text", in: 100, 200).map(\.size.width) == [536.0 / 3])
    #expect(frame(.color().modified(.layout(.fixedSize))) == [45, 45, 10, 10])
  }

  @Test(.rule("LAYOUT-10")) func `an aspect ratio fits or fills the proposal`() {
    func ratio(_ mode: String, _ ratio: Double? = 2) -> ViewArchive {
      var arguments: ArchivedArguments = [.contentMode: .string(mode)]
      if let ratio { arguments[.ratio] = .number(ratio) }
      return ViewArchive.color().modified(.layout(.aspectRatio), arguments)
    }
    #expect(frame(ratio("fit")) == [0, 25, 100, 50])
    #expect(frame(ratio("fill")) == [-50, 0, 200, 100])
    let image = ViewArchive(.leaf(.image), [.pixelWidth: 40, .pixelHeight: 20]).modified(.shape(.resizable)).modified(
      .layout(.scaledToFit))
    #expect(image.frames(of: "Image", in: 100, 100).map(\.numbers) == [[0, 25, 100, 50]])
    #expect(frame(ratio("fit").modified(.layout(.fixedSize))) == [45, 45, 10, 10])
    #expect(ratio("fit", .nan).layout(100, 100).notices.map(\.reason) == [.invalidNumber])
  }

  @Test(.rule("LAYOUT-11")) func `a ZStack is as large as its largest child`() {
    let stack = ViewArchive.stack(
      .zStack, alignment: "bottomTrailing", [.color("a").framed(40, 10), .color().framed(20, 30)])
    let result = stack.layout(40, 30)
    #expect(result.all("ZStack").map(\.frame.numbers) == [[0, 0, 40, 30]])
    #expect(result.all("Color").map(\.frame.numbers) == [[0, 20, 40, 10], [20, 0, 20, 30]])
    let important = ViewArchive.color().framed(20, 20).modified(.layout(.layoutPriority), [.value: 1])
    let small = ViewArchive.stack(.zStack, [.color(), important]).layout(100, 100)
    #expect(small.all("ZStack").map(\.frame.size) == [Size(width: 20, height: 20)])
  }

  @Test(.rule("LAYOUT-11")) func `overlays and backgrounds get the size of the view and change none`() {
    let badge = ViewArchive(.shape(.circle)).framed(10, 10)
    let view = ViewArchive.color().framed(40, 20)
      .modified(.layer(.overlay), [.alignment: "topTrailing"], views: [badge])
      .modified(.layer(.background), [.style: "blue"])
      .modified(.layer(.background), [.style: "green"], views: [ViewArchive(.shape(.capsule))])
    let result = view.layout(100, 100)
    #expect(result.all("Circle").map(\.frame.numbers) == [[60, 40, 10, 10]])
    #expect(result.all("Rectangle").map(\.frame.numbers) == [[30, 40, 40, 20]])
    #expect(result.all("Capsule").first?.operations.map(\.name) == [.shape(.fill)])
    var order: [String] = []
    for view in result.views { view.walk { if case .view = $0.kind { order.append($0.name) } } }
    #expect(order == ["Capsule", "Rectangle", "Color", "Circle"])
  }

  @Test(.rule("LAYOUT-11")) func `a large overlay is aligned and does not move the view`() {
    let view = ViewArchive.color().framed(20, 20).modified(
      .layer(.overlay), [:], views: [ViewArchive(.shape(.capsule)).framed(60, 10)])
    let result = view.layout(100, 100)
    #expect(result.all("Capsule").map(\.frame.numbers) == [[20, 45, 60, 10]])
    #expect(result.all("Color").map(\.frame.numbers) == [[40, 40, 20, 20]])
  }

  @Test func `an offset moves only the view, and a position takes the proposal`() {
    let moved = ViewArchive.stack(
      .hStack, spacing: 0,
      [.color().framed(20, 20).modified(.layout(.offset), [.x: 5, .y: -5]), .color("b").framed(20, 20)])
    #expect(moved.frames(of: "Color", in: 40, 20).map(\.numbers) == [[5, -5, 20, 20], [20, 0, 20, 20]])
    #expect(frame(.color().framed(20, 20).modified(.layout(.position), [.x: 30, .y: 40])) == [20, 30, 20, 20])
  }

  @Test func `the modifiers of a group apply to each of its views, and an empty view has none`() {
    let group = ViewArchive.group([.color(), .empty, .color("b")]).modified(.layout(.padding), [.length: 5])
    let frames = ViewArchive.stack(.hStack, spacing: 0, [group]).frames(of: "Color", in: 100, 20)
    #expect(frames.map(\.numbers) == [[5, 5, 40, 10], [55, 5, 40, 10]])
  }

  @Test func `a z index changes the drawing order and nothing else`() {
    let stack = ViewArchive.stack(
      .hStack, spacing: 0, [.color("a").modified(.layout(.zIndex), [.value: 1]), .color("b")])
    let colors = stack.layout(100, 20).all("Color")
    #expect(colors.map { $0.arguments[.color]?.string } == ["b", "a"])
    #expect(colors.map(\.frame.minX) == [50, 0])
  }
}
