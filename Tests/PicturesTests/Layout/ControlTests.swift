// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Controls of the system` {
  private func styled(_ view: ViewArchive, modifier: StyleModifier, style: String) -> ViewArchive {
    view.modified(.style(modifier), [.style: .string(style)])
  }

  private func gauge(_ style: String, value: Double = 0.25, _ children: [ViewArchive] = []) -> ViewArchive {
    styled(
      ViewArchive(.control(.gauge), [.value: .number(value)], children: children), modifier: .gaugeStyle, style: style)
  }

  private func layout(
    _ view: ViewArchive, width: Double, height: Double, family: WidgetFamilyName? = nil, isRightToLeft: Bool = false
  ) -> LayoutResult {
    let canvas = LayoutCanvas(
      size: Size(width: width, height: height), isRightToLeft: isRightToLeft, family: family)
    return view.laidOut(in: canvas, measuring: HalfWidthFont())
  }

  /// The rounded rectangles of the bar, as start and length.
  private func bars(_ result: LayoutResult) -> [[Double]] {
    result.all("Shape").flatMap { view -> [[Double]] in
      guard case .list(let parts) = view.arguments[.path] else { return [] }
      return parts.map { part in
        guard case .list(let numbers) = part else { return [] }
        return [1, 3].map { ((numbers[$0].number ?? -1) * 100).rounded() / 100 }
      }
    }
  }

  /// The trims of the arcs of a ring.
  private func arcs(_ result: LayoutResult) -> [[Double]] {
    result.all("Circle").map { view in
      [ArgumentLabel.from, .to].map { label in
        ((view.operations.first { $0.name == .shape(.trim) }?.arguments[label]?.number ?? -1) * 1000).rounded() / 1000
      }
    }
  }

  // MARK: Gauges

  @Test(.rule("LAYOUT-30")) func `a capacity gauge has its label above, its ends beside and its value below the bar`() {
    let labels = ["label", "now", "0", "9"].map { ViewArchive.text($0) }
    let result = layout(gauge("linearCapacity", labels), width: 100, height: 100)
    #expect(result.notices.isEmpty)
    let texts = result.all("Text").map(\.frame)
    let bar = result.all("Capsule").map(\.frame.numbers)
    let end = 26.0 / 3
    #expect(bar == [[12.67, 47, 74.67, 6]])
    #expect(texts.map(\.minX).map { ($0 * 100).rounded() / 100 } == [28.67, 0, 91.33, 37.17])
    #expect(texts[1].size.width == end && texts.map(\.midY).map { $0.rounded() } == [28, 50, 50, 72])
    #expect(bars(result) == [[0, 18.67]])
    #expect(
      layout(ViewArchive(.control(.gauge), [.value: 0.25], children: labels), width: 100, height: 100).all("Capsule")
        .count == 1)
  }

  @Test(.rule("LAYOUT-30"), arguments: [("accessoryLinear", 15.67), ("accessoryLinearCapacity", 23.67)])
  func `an accessory bar has small labels`(style: String, height: Double) {
    let result = layout(gauge(style, [.text("a")]), width: 100, height: 100)
    #expect(result.all("Text").first?.text?.lines.first?.fragments.first?.font.size == 13)
    #expect(abs((result.all("Gauge").first?.frame.size.height ?? 0) - height) < 0.01)
  }

  @Test(.rule("LAYOUT-30")) func `a bar with a marker has a gap around it`() {
    #expect(
      bars(layout(gauge("accessoryLinear", value: 0.5), width: 106, height: 50)) == [[0, 47], [50, 6], [59, 47]])
    #expect(bars(layout(gauge("accessoryLinear", value: 0), width: 106, height: 50)) == [[0, 6], [9, 97]])
    #expect(bars(layout(gauge("accessoryLinear", value: 1), width: 106, height: 50)) == [[0, 97], [100, 6]])
    #expect(bars(layout(gauge("accessoryLinear", value: 0.5), width: 4, height: 50)).allSatisfy { $0[1] > 0 })
  }

  @Test(.rule("LAYOUT-30")) func `a ring is 58 points wide, and fills an accessory widget`() throws {
    for style in ["accessoryCircular", "accessoryCircularCapacity"] {
      let view = gauge(style, [.text("label"), .text("5")])
      #expect(layout(view, width: 200, height: 100).all("Gauge").map(\.frame.numbers) == [[71, 21, 58, 58]])
      #expect(layout(view, width: 30, height: 100).all("Gauge").map(\.frame.size.width) == [30])
      let round = layout(view, width: 76, height: 72, family: .accessoryCircular)
      #expect(round.all("Gauge").map(\.frame.numbers) == [[2, 0, 72, 72]])
      let value = try #require(round.all("Text").first { $0.text?.lines.first?.text == "5" })
      #expect(abs(value.frame.midX - 38) < 0.01 && abs(value.frame.midY - 36) < 0.01)
    }
  }

  @Test(.rule("LAYOUT-30")) func `an open ring has a marker, a closed one is filled`() {
    // Three quarters of a turn are open; the marker has a gap on both sides.
    let open = arcs(layout(gauge("accessoryCircular", value: 0.5), width: 100, height: 100))
    #expect(open.count == 3 && open[0][0] == 0 && open[1][1] == 0.75 && abs(open[2][0] - 0.375) < 0.001)
    #expect(open[0][1] < 0.375 && open[1][0] > 0.375)
    #expect(arcs(layout(gauge("accessoryCircular", value: 0), width: 100, height: 100)).count == 2)
    #expect(arcs(layout(gauge("accessoryCircularCapacity"), width: 100, height: 100)) == [[0, 1], [0, 0.25]])
    #expect(arcs(layout(gauge("accessoryCircularCapacity", value: 0), width: 100, height: 100)) == [[0, 1]])
  }

  @Test(.rule("LAYOUT-30")) func `the ends of an open ring replace its label, and a long label becomes smaller`() {
    let ends = ["label", "now", "0", "9"].map { ViewArchive.text($0) }
    #expect(layout(gauge("accessoryCircular", ends), width: 100, height: 100).lines == ["now", "0", "9"])
    #expect(
      layout(gauge("accessoryCircular", Array(ends.prefix(2))), width: 100, height: 100).lines == ["now", "label"])
    #expect(layout(gauge("accessoryCircularCapacity", Array(ends.prefix(2))), width: 100, height: 100).lines == ["now"])
    #expect(
      layout(gauge("accessoryCircularCapacity", Array(ends.prefix(1))), width: 100, height: 100).lines == ["label"])
    let long = layout(gauge("accessoryCircularCapacity", [.text("longer")]), width: 100, height: 100)
    #expect((long.all("Text").first?.text?.scale ?? 1) < 1)
    let endless = layout(
      gauge("accessoryCircularCapacity", [.text(String(repeating: "longer", count: 20))]), width: 100, height: 100)
    #expect(endless.all("Text").first?.text?.scale == 0.3)
  }

  @Test(
    .rule("LAYOUT-30"),
    arguments: [
      (nil, "Capsule"), (.systemSmall, "Capsule"), (.accessoryCircular, "Circle"), (.accessoryRectangular, "Shape"),
    ] as [(WidgetFamilyName?, String)])
  func `the automatic gauge depends on the family`(family: WidgetFamilyName?, part: String) {
    let result = layout(ViewArchive(.control(.gauge), [.value: 0.5]), width: 100, height: 100, family: family)
    #expect(!result.all(part).isEmpty)
    #expect(result.all("Capsule").isEmpty == (part != "Capsule"))
  }

  @Test(.rule("LAYOUT-30"), arguments: [Double.nan, .infinity, -.infinity, 1e300, -5])
  func `a value that is no number of the range is the nearest end`(value: Double) {
    for style in ["linearCapacity", "accessoryCircular", "accessoryLinear", "accessoryCircularCapacity"] {
      var view = gauge(style, value: value)
      for bounds in [[0, 1], [value, 1], [0, value], [1, 0]] {
        view.arguments[.in] = .list(bounds.map { .number($0) })
        let result = layout(view, width: 100, height: 100)
        for view in result.views { view.walk { #expect($0.frame.isFinite) } }
        #expect(bars(result).joined().allSatisfy { (0...100).contains($0) })
      }
    }
    let progress = ViewArchive(.control(.progressView), [.value: .number(value), .total: .number(value)])
    for view in layout(progress, width: 100, height: 100).views { view.walk { #expect($0.frame.isFinite) } }
  }

  @Test(.rule("LAYOUT-23", "LAYOUT-30"), arguments: [ControlView.gauge, .progressView, .toggle, .label])
  func `controls nested 1,000 deep have a notice`(control: ControlView) {
    var view = ViewArchive.text("a")
    for _ in 0..<1000 { view = ViewArchive(.control(control), [.value: 0.5, .isOn: true], children: [view]) }
    #expect(layout(view, width: 100, height: 100).notices.contains { $0.reason == .tooDeep })
  }

  // MARK: Progress

  @Test(.rule("LAYOUT-31")) func `progress with a value is a bar with its label above, and a smaller value below`() {
    let view = ViewArchive(
      .control(.progressView), [.value: 3, .total: 4], children: [.text("label"), .text("75 %")])
    let result = layout(view, width: 100, height: 100)
    #expect(result.lines == ["label", "75 %"] && bars(result) == [[0, 75]])
    #expect(result.all("Text").compactMap { $0.text?.lines.first?.fragments.first?.font.size } == [17, 12])
    #expect(result.all("Capsule").map(\.frame.size) == [Size(width: 100, height: 4)])
    #expect(result.notices.isEmpty)
    let ring = styled(view, modifier: .progressViewStyle, style: "circular")
    #expect(layout(ring, width: 60, height: 40).all("ProgressView").map(\.frame.size.width) == [40])
    #expect(arcs(layout(ring, width: 60, height: 40)) == [[0, 1], [0, 0.75]])
    #expect(layout(ring, width: 60, height: 40).lines == ["75 %"])
    #expect(
      layout(ring.modified(.layout(.fixedSize)), width: 60, height: 40).all("ProgressView").map(\.frame.size.width) == [
        20
      ])
  }

  @Test(.rule("LAYOUT-31")) func `progress without a value is a still sign`() {
    let view = ViewArchive(.control(.progressView), children: [.text("label")])
    let result = layout(view, width: 100, height: 100)
    #expect(result.all("rotationEffect").count == 8 && result.lines == ["label"] && result.notices.isEmpty)
    #expect(result.all("rotationEffect").allSatisfy { $0.frame.size == Size(width: 20, height: 20) })
    let large = layout(view.modified(.style(.controlSize), [.size: "large"]), width: 100, height: 100)
    #expect(large.all("rotationEffect").first?.frame.size.width == 37)
    #expect(
      bars(layout(styled(view, modifier: .progressViewStyle, style: "linear"), width: 90, height: 100)) == [[30, 30]])
  }

  @Test(
    .rule("LAYOUT-31"),
    arguments: [(true, 0.0, 1.0), (true, 25, 0.75), (true, 200, 0), (false, 25, 0.25), (false, -5, 0)])
  func `the progress of an interval is that of the device's time`(countsDown: Bool, now: Double, value: Double) {
    let start = Date(timeIntervalSince1970: 1000)
    let view = ViewArchive(
      .control(.progressView),
      [.timerInterval: .list([.date(start), .date(start + 100)]), .countsDown: .bool(countsDown)])
    let shown = view.shown(ScreenAppearance(now: start + now))
    let filled = bars(layout(shown, width: 100, height: 20))
    #expect(filled == (value > 0 ? [[0, value * 100]] : []))
  }

  // MARK: Buttons

  @Test(.rule("LAYOUT-32"), arguments: ["automatic", "bordered", "borderedProminent"])
  func `a bordered button has margins and a shape around its label`(style: String) {
    let result = layout(
      styled(ViewArchive(.control(.button), children: [.text("Go")]), modifier: .buttonStyle, style: style), width: 200,
      height: 100)
    #expect(result.all("RoundedRectangle").map(\.frame.numbers) == [[79.5, 32.83, 41, 34.33]])
    #expect(result.all("Text").map(\.frame.minX) == [91.5])
    #expect(result.notices.isEmpty)
  }

  @Test(.rule("LAYOUT-32"), arguments: ["plain", "borderless", "MyStyle"])
  func `a button without a border is its label`(style: String) {
    let result = layout(
      styled(ViewArchive(.control(.button), children: [.text("Go")]), modifier: .buttonStyle, style: style), width: 200,
      height: 100)
    #expect(result.all("Button").map(\.frame.size.width) == [17] && result.all("RoundedRectangle").isEmpty)
  }

  @Test(
    .rule("LAYOUT-32"),
    arguments: [
      ("mini", 13, 4, 8, 6), ("small", 15, 5, 10, 7), ("regular", 17, 7, 12, 8), ("large", 17, 15, 20, 12),
    ] as [(String, Double, Double, Double, Double)])
  func `the size of a control has its text style, margins and radius`(
    size: String, points: Double, vertical: Double, horizontal: Double, radius: Double
  ) throws {
    let view = ViewArchive(.control(.button), children: [.text("Go")]).modified(
      .style(.controlSize), [.size: .string(size)])
    let result = layout(view, width: 200, height: 100)
    let text = try #require(result.all("Text").first)
    #expect(text.text?.lines.first?.fragments.first?.font.size == points)
    let shape = try #require(result.all("RoundedRectangle").first)
    #expect(abs(shape.frame.size.height - text.frame.size.height - 2 * vertical) < 0.01)
    #expect(abs(shape.frame.size.width - text.frame.size.width - 2 * horizontal) < 0.01)
    #expect(shape.arguments[.cornerRadius] == .number(radius))
  }

  @Test(.rule("LAYOUT-32")) func `a button has the shape of its border`() throws {
    let view = ViewArchive(.control(.button), children: [.text("Go")])
    func shape(_ name: String, _ part: String) throws -> PlacedView {
      let result = layout(view.modified(.style(.buttonBorderShape), [.shape: .string(name)]), width: 200, height: 100)
      #expect(result.notices.isEmpty)
      return try #require(result.all(part).first)
    }
    #expect(try shape("capsule", "Capsule").frame.size.width == 41)
    let circle = try shape("circle", "Circle").frame.size
    #expect(circle.width == circle.height && abs(circle.width - 34.33) < 0.01)
    #expect(try shape("roundedRectangle 3.0", "RoundedRectangle").arguments[.cornerRadius] == 3)
  }

  @Test(.rule("LAYOUT-32")) func `a role and a tint colour a button`() throws {
    func colors(_ view: ViewArchive, _ style: String) throws -> [ArchivedValue?] {
      let result = layout(styled(view, modifier: .buttonStyle, style: style), width: 200, height: 100)
      let label = try #require(result.all("Text").first?.text?.lines.first?.fragments.first?.style.foreground.first)
      return [result.all("RoundedRectangle").first?.operations.first?.arguments[.style], label]
    }
    let view = ViewArchive(.control(.button), children: [.text("Go")])
    #expect(try colors(view, "borderedProminent") == ["tint", "white"])
    #expect(try colors(view, "bordered") == [.record([.color: "fill", .opacity: 0.6]), "tint"])
    let tinted = view.modified(.style(.tint), [.style: "green"])
    #expect(try colors(tinted, "bordered") == [.record([.color: "green", .opacity: 0.15]), "tint"])
    var destructive = view
    destructive.arguments[.role] = "destructive"
    #expect(try colors(destructive, "borderedProminent") == ["red", "white"])
    #expect(try colors(destructive, "bordered") == [.record([.color: "red", .opacity: 0.15]), "red"])
    let own = view.modified(.style(.foregroundStyle), [.style: "orange"])
    #expect(try colors(own, "bordered").last == "orange")
  }

  // MARK: Toggles

  @Test(.rule("LAYOUT-33"), arguments: [(true, 171.0), (false, 151)])
  func `a toggle has a switch at its trailing edge`(isOn: Bool, knob: Double) {
    let states = [true, false].map {
      ViewArchive(.control(.toggleState), [.isOn: .bool($0)], children: [.text($0 ? "on" : "off")])
    }
    let view = ViewArchive(.control(.toggle), [.isOn: .bool(isOn)], children: states)
    let result = layout(view, width: 200, height: 100)
    #expect(result.lines == [isOn ? "on" : "off"] && result.all("Text").first?.frame.minX == 0)
    #expect(result.all("Capsule").map(\.frame.numbers) == [[149, 34.5, 51, 31]])
    #expect(result.all("Circle").map(\.frame.minX) == [knob])
    let hidden = layout(view.modified(.style(.labelsHidden)), width: 200, height: 100)
    #expect(hidden.all("Toggle").map(\.frame.size.width) == [51] && hidden.notices.isEmpty)
    let button = layout(styled(view, modifier: .toggleStyle, style: "button"), width: 200, height: 100)
    #expect(button.all("Capsule").isEmpty && button.all("RoundedRectangle").count == 1)
    let fill = button.all("RoundedRectangle").first?.operations.first?.arguments[.style]
    #expect(fill == (isOn ? "tint" : "clear"))
  }

  // MARK: Labels

  @Test(.rule("LAYOUT-34")) func `the archive names the label of each view`() {
    func shown(_ view: ViewArchive, _ labels: [ArchivedValue]) -> [String] {
      var view = view
      view.arguments[.labels] = .list(labels)
      return layout(view, width: 100, height: 100).lines
    }
    let ring = gauge("accessoryCircularCapacity", [.text("a"), .text("b")])
    #expect(shown(ring, ["label", "label"]) == ["a", "b"])
    #expect(shown(ring, ["currentValueLabel", "minimumValueLabel"]) == ["a"])
    #expect(shown(ring, ["label"]) == ["b"], "a list of another length is ignored")
    let label = ViewArchive(.control(.label), children: [.text("i"), .text("j"), .text("t")])
    let names: [ArchivedValue] = ["icon", "icon", "title"]
    #expect(shown(styled(label, modifier: .labelStyle, style: "titleOnly"), names) == ["t"])
    #expect(shown(styled(label, modifier: .labelStyle, style: "iconOnly"), names) == ["i", "j"])
    #expect(shown(styled(label, modifier: .labelStyle, style: "titleAndIcon"), names) == ["i", "j", "t"])
    let bar = ViewArchive(.control(.progressView), [.value: 0.5], children: [.text("a")])
    #expect(layout(bar.modified(.style(.labelsHidden)), width: 100, height: 100).lines.isEmpty)
  }

  @Test(.rule("LAYOUT-35")) func `from right to left a bar begins at its right, and a ring stays as it is`() {
    #expect(bars(layout(gauge("linearCapacity"), width: 100, height: 50, isRightToLeft: true)) == [[75, 25]])
    let toggle = layout(ViewArchive(.control(.toggle), [.isOn: true]), width: 51, height: 50, isRightToLeft: true)
    #expect(toggle.all("Circle").map(\.frame.minX) == [2])
    let ends = ["", "now", "0", "9"].map { ViewArchive.text($0) }
    let view = gauge("accessoryCircular", ends)
    let (left, right) = (
      layout(view, width: 100, height: 100), layout(view, width: 100, height: 100, isRightToLeft: true)
    )
    func place(_ text: String, _ result: LayoutResult) -> Double? {
      result.all("Text").first { $0.text?.lines.first?.text == text }?.frame.midX
    }
    #expect((place("0", left) ?? 100) < (place("9", left) ?? 0))
    #expect((place("0", right) ?? 100) < (place("9", right) ?? 0))
    #expect(arcs(left) == arcs(right))
  }
}
