// SPDX-License-Identifier: Apache-2.0

package import Archive
import FidelityRules
import Foundation
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Charts in a layout` {
  private func plotted(_ value: ChartValue) -> ArchivedValue { PlottedValue("label", value).archived }

  private func mark(
    _ name: MarkView, values: [ArgumentLabel: ChartValue], arguments: ArchivedArguments = [:]
  ) -> ViewArchive {
    var arguments = arguments
    for (label, value) in values { arguments[label] = plotted(value) }
    return ViewArchive(.mark(name), arguments)
  }

  private func bar(_ x: String, _ y: Double) -> ViewArchive {
    mark(.bar, values: [.x: .category(x), .y: .number(y)])
  }

  private func axis(_ name: String, _ values: [Double], position: String? = nil, automatic: Bool = false) -> ViewArchive
  {
    var arguments: ArchivedArguments = [.axis: .string(name)]
    if let position { arguments[.position] = .string(position) }
    if automatic { arguments[.values] = "automatic" }
    let marks = values.map { value in
      ViewArchive(.chart(.axisMark), [.value: .number(value)]).modified(.chart(.gridLine))
        .modified(.chart(.valueLabel), [:], views: [.text(abs(value) < 1e6 ? "\(Int(value))" : "\(value)")])
    }
    return ViewArchive(.chart(.axisMarks), arguments, children: marks)
  }

  private func chart(_ children: [ViewArchive], _ arguments: ArchivedArguments = [:]) -> ViewArchive {
    ViewArchive(.chart(.chart), arguments, children: children)
  }

  /// The paints of the marks, in drawing order.
  private func paints(_ result: LayoutResult) -> [ArchivedValue] {
    (result.all("Rectangle") + result.all("RoundedRectangle") + result.all("Shape"))
      .compactMap { $0.operations.first?.arguments[.style] }
  }

  @Test(.rule("CHART-03", "CHART-04")) func `bars have the height of their values and seven tenths of their bands`() {
    let result = chart([bar("a", 50), bar("b", 100)]).layout(200, 100)
    #expect(result.notices.isEmpty && result.all("Chart").map(\.frame.numbers) == [[0, 0, 200, 100]])
    #expect(result.all("Rectangle").map(\.frame.numbers) == [[15, 50, 70, 50], [115, 0, 70, 100]])
  }

  @Test(.rule("CHART-07")) func `bars at one place are stacked, and those of position are side by side`() {
    let stacked = chart([bar("a", 30), bar("a", 50)]).layout(100, 80)
    #expect(stacked.all("Rectangle").map(\.frame.numbers) == [[15, 50, 70, 30], [15, 0, 70, 50]])
    let groups = ["x", "y"].map { bar("a", 50).modified(.layout(.position), [.by: plotted(.category($0))]) }
    #expect(
      chart(groups).layout(100, 50).all("Rectangle").map(\.frame.numbers) == [[15, 0, 35, 50], [50, 0, 35, 50]])
  }

  @Test(.rule("CHART-03")) func `bars at numbers have a part of the least distance between two`() {
    let bars = [2.0, 4, 10].map { mark(.bar, values: [.x: .number($0), .y: .number(1)]) }
    #expect(
      chart(bars).layout(100, 50).all("Rectangle").map(\.frame.numbers) == [
        [13, 0, 14, 50], [33, 0, 14, 50], [93, 0, 14, 50],
      ])
    #expect(chart([bars[2]]).layout(100, 50).all("Rectangle").map(\.frame.numbers) == [[96.5, 0, 7, 50]])
  }

  @Test(.rule("CHART-03")) func `horizontal bars have their first category at the top`() {
    let rows = ["a", "b"].map { mark(.bar, values: [.x: .number($0 == "a" ? 10 : 5), .y: .category($0)]) }
    let frames = chart(rows).layout(100, 80).all("Rectangle").map(\.frame.numbers)
    #expect(frames == [[0, 6, 100, 28], [0, 46, 50, 28]])
  }

  @Test(
    .rule("CHART-03"),
    arguments: [
      (ArgumentLabel.fixed, 10.0, [45.0, 10]), (.inset, 20, [20, 60]), (.ratio, 0.5, [25, 50]), (.fixed, -5, [50, 0]),
    ])
  func `the width of a bar is a length, a part of its band, or leaves a margin`(
    kind: ArgumentLabel, value: Double, place: [Double]
  ) {
    let bar = mark(
      .bar, values: [.x: .category("a"), .y: .number(1)], arguments: [.width: .record([kind: .number(value)])])
    let frame = chart([bar]).layout(100, 80).all("Rectangle").map(\.frame.numbers)
    #expect(frame == [[place[0], 0, place[1], 80]])
  }

  @Test(.rule("CHART-10")) func `the labels of an axis take space beside the plot, with the lines at their values`() {
    let view = chart([bar("a", 10), axis("y", [0, 5, 10])])
    let result = view.layout(100, 100)
    // Two digits of 11 points, and a distance of 4 points; half a line of 13.33 points above and below.
    let bars = result.all("Rectangle").map(\.frame.numbers)
    #expect(bars == [[12.75, 6.67, 59.5, 86.67]])
    #expect(result.lines == ["0", "5", "10"])
    #expect(result.all("Text").map { $0.frame.midY.rounded() } == [93, 50, 7])
    #expect(result.all("Text").allSatisfy { $0.frame.minX > 85 })
    #expect(result.all("Shape").map { $0.frame.minY.rounded() } == [93, 50, 7])
    let leading = chart([bar("a", 10), axis("y", [0, 5, 10], position: "leading")]).layout(100, 100)
    #expect(
      leading.all("Text").allSatisfy { $0.frame.maxX < 12 } && leading.all("Rectangle").first?.frame.maxX == 87.25)
  }

  @Test(.rule("CHART-10")) func `values that the system chose are thinned out to round ones where labels overlap`() {
    let values = [0.0, 20, 40, 60, 80, 100]
    func labels(_ height: Double, automatic: Bool) -> [String] {
      chart([bar("a", 100), axis("y", values, automatic: automatic)]).layout(100, height).lines
    }
    #expect(labels(200, automatic: true).count == 6 && labels(80, automatic: true) == ["0", "40", "80"])
    #expect(labels(50, automatic: true) == ["0", "100"])
    let given = chart([bar("a", 100), axis("y", values)]).layout(100, 80)
    #expect(given.lines == ["0", "40", "80"] && given.all("Shape").count == 6)
  }

  @Test(.rule("CHART-10")) func `the extension receives the size of a chart whose values it chose for another one`() {
    func result(_ width: Double) -> LayoutResult {
      chart([bar("a", 1)], [.closure: "2", .size: [.width: .number(width), .height: 80]]).layout(100, 80)
    }
    #expect(result(100).closures.isEmpty && result(100).notices.isEmpty)
    #expect(result(90).closures == ["2": Size(width: 100, height: 80)])
    #expect(chart([bar("a", 1)]).layout(100, 80).closures.isEmpty)
  }

  @Test(.rule("CHART-09")) func `a line goes through its points, and lines of two series are two shapes`() {
    let points = [("a", 0.0, 0.0), ("a", 10, 10), ("b", 0, 5), ("b", 10, 5)].map { series, x, y in
      mark(.line, values: [.x: .number(x), .y: .number(y), .series: .category(series)])
    }
    let shapes = chart(points).layout(100, 50).all("Shape")
    #expect(shapes.map(\.frame.numbers) == [[0, 0, 100, 50], [0, 25, 100, 0]])
    let path: ArchivedValue = [["move", 0, 50], ["line", 100, 0]]
    #expect(shapes.first?.arguments[.path] == path && shapes.first?.operations.map(\.name) == [.shape(.stroke)])
    #expect(shapes.allSatisfy { $0.operations.first?.arguments[.lineWidth] == 2 })
    let byCategory = [("a", 0.0, 0.0), ("a", 10, 10), ("b", 0, 5), ("b", 10, 5)].map { category, x, y in
      mark(.line, values: [.x: .number(x), .y: .number(y)])
        .modified(.style(.foregroundStyle), [.by: plotted(.category(category))])
    }
    // A legend takes a part of the height.
    let widths = chart(byCategory).layout(100, 50).all("Shape").map(\.frame.size.width)
    #expect(widths.count { $0 == 100 } == 2, "without a series, a category is one line")
  }

  @Test(.rule("CHART-07", "CHART-09")) func `an area is between its values and those that it is stacked on`() {
    let points = [("a", 0.0, 10.0), ("a", 10, 10), ("b", 0, 10), ("b", 10, 10)].map { series, x, y in
      mark(.area, values: [.x: .number(x), .y: .number(y), .series: .category(series)])
    }
    let shapes = chart(points).layout(100, 40).all("Shape")
    #expect(shapes.map(\.frame.numbers) == [[0, 20, 100, 20], [0, 0, 100, 20]])
    #expect(shapes.allSatisfy { $0.operations.map(\.name) == [.shape(.fill)] })
  }

  @Test(.rule("CHART-09")) func `a rule is as long as the plot or from its start to its end`() {
    let marks = [
      mark(.rule, values: [.y: .number(5)]),
      mark(.rule, values: [.x: .number(5), .yStart: .number(0), .yEnd: .number(10)]),
      mark(.rule, values: [.xStart: .number(0), .xEnd: .number(5), .y: .number(10)]),
      mark(.point, values: [.x: .number(10), .y: .number(0)]),
    ]
    let frames = chart(marks).layout(100, 50).all("Shape").map(\.frame.numbers)
    #expect(frames == [[0, 25, 100, 0], [50, 0, 0, 50], [0, 0, 50, 0], [97, 47, 6, 6]])
    let widths = chart(marks).layout(100, 50).all("Shape").map { $0.operations.first?.arguments[.lineWidth] }
    #expect(widths.prefix(3) == [1, 1, 1])
  }

  @Test(.rule("CHART-08")) func `sectors begin at the top and go clockwise`() {
    let sectors = [1.0, 1].map {
      mark(.sector, values: [.angle: .number($0)], arguments: [.innerRadius: .record([.ratio: 0.5])])
    }
    #expect(
      chart(sectors).layout(120, 100).all("Shape").map(\.frame.numbers) == [[60, 0, 50, 100], [10, 0, 50, 100]])
    let inset = sectors.map { sector in
      var sector = sector
      sector.arguments[.angularInset] = 2
      return sector.modified(.effect(.cornerRadius), [.radius: 4])
    }
    let frames = chart(inset).layout(120, 100).all("Shape").map(\.frame)
    #expect(frames.count == 2 && frames[0].minX >= 61.9 && frames[1].maxX <= 58.1)
    #expect(chart([sectors[0]]).layout(120, 100).all("Shape").map(\.frame.numbers) == [[10, 0, 100, 100]])
  }

  @Test(.rule("CHART-11")) func `categories have the colors of the palette or of the author, and a legend`() {
    func view(_ arguments: ArchivedArguments = [:]) -> ViewArchive {
      let bars = ["Tea", "Mate"].map { bar("a", 1).modified(.style(.foregroundStyle), [.by: plotted(.category($0))]) }
      return chart(bars, arguments)
    }
    let usual = view().layout(200, 100)
    #expect(usual.lines == ["Tea", "Mate"] && paints(usual) == ["blue", "green"])
    #expect(usual.all("Circle").map { $0.operations.first?.arguments[.style] } == ["blue", "green"])
    #expect(
      usual.all("Rectangle").allSatisfy { $0.frame.maxY < 85 } && usual.all("Circle").allSatisfy { $0.frame.minY > 85 })
    let hidden = view([.legend: "hidden"]).layout(200, 100)
    #expect(hidden.lines.isEmpty && hidden.all("Rectangle").map(\.frame.maxY).max() == 100)
    let styles: ArchivedValue = [[.category: "Mate", .style: "red"], [.category: "Tea"]]
    let own = view([.styles: styles]).layout(200, 100)
    #expect(paints(own) == ["green", "red"] && own.lines == ["Mate", "Tea"])
    #expect(view().layout(50, 100).all("Circle").map(\.frame.minX) == [0, 0])
  }

  @Test(.rule("CHART-12")) func `an annotation is beside its mark, and marks have their order`() {
    func annotated(_ position: String) -> [Double] {
      let bar = bar("a", 10).modified(
        .chart(.annotation), [.position: .string(position)], views: [ViewArchive.color().framed(10, 6)])
      let scale: ArchivedValue = [.domain: [0, 20]]
      return chart([bar], [.yScale: scale]).layout(100, 40).all("Color").first?.frame.numbers ?? []
    }
    // The mark is 20 points high, and the annotation 6.
    let gap = 4.0
    #expect(annotated("automatic") == [45, 20 - gap - 6, 10, 6])
    #expect(annotated("top") == annotated("automatic"))
    #expect(annotated("bottom") == [45, 44, 10, 6] && annotated("overlay") == [45, 27, 10, 6])
    #expect(annotated("topLeading") == [1, 10, 10, 6] && annotated("trailing") == [89, 27, 10, 6])
    let first = bar("a", 1).modified(.layout(.zIndex), [.value: 1]).modified(.effect(.opacity), [.opacity: 0.5])
    let order = paints(
      chart([first, bar("b", 1).modified(.style(.foregroundStyle), [.style: "red"])]).layout(100, 100))
    #expect(order == ["red", [.color: "blue", .opacity: 0.5]])
  }

  @Test(.rule("CHART-13")) func `a chart is mirrored where texts are written from right to left`() {
    let points = [(0.0, 0.0), (10, 10)].map { mark(.line, values: [.x: .number($0.0), .y: .number($0.1)]) }
    let shape = chart(points).layout(100, 50, isRightToLeft: true).all("Shape").first
    let path: ArchivedValue = [["move", 100, 50], ["line", 0, 0]]
    #expect(shape?.arguments[.path] == path)
    let bars = chart([bar("a", 1), bar("b", 1)]).layout(100, 50, isRightToLeft: true).all("Rectangle")
    #expect(bars.map(\.frame.minX) == [57.5, 7.5])
  }

  @Test(.rule("CHART-02"))
  func `a place outside of the domain is drawn, up to ten times the length of the axis beyond its ends`() {
    let points = [20.0, 1e9, -1e9].map { mark(.point, values: [.x: .number($0), .y: .number(5)]) }
    let scale: ArchivedValue = [.domain: [0, 10]]
    let frames = chart(points, [.xScale: scale, .yScale: scale]).layout(100, 50).all("Shape").map(\.frame)
    #expect(frames.map(\.midX) == [200, 1100, -1000])
  }

  @Test(.rule("CHART-02"), arguments: [0.0, .infinity, 1e12])
  func `numbers without an end and marks without values give finite frames`(length: Double) {
    let numbers = [Double.nan, .infinity, -1e300, 1e300, 0, 1]
    var marks = MarkView.allCases.map { ViewArchive(.mark($0)) }
    for name in MarkView.allCases {
      for number in numbers {
        let values: [ArgumentLabel: ChartValue] = [.x: .number(number), .y: .number(-number), .angle: .number(number)]
        var mark = mark(
          name, values: values,
          arguments: [.width: .record([.fixed: .number(number)]), .innerRadius: .record([.inset: .number(number)])])
        for modifier in [
          ModifierName.chart(.symbolSize), .effect(.cornerRadius), .effect(.opacity), .layout(.zIndex),
        ] {
          mark = mark.modified(
            modifier,
            [.area: .number(number), .radius: .number(number), .opacity: .number(number), .value: .number(number)])
        }
        marks.append(mark.modified(.chart(.symbol), [.symbol: "asterisk"]))
      }
    }
    for views in [marks, [], [axis("x", numbers), axis("y", numbers)]] {
      let result = chart(views).layout(length, 100)
      for view in result.views { view.walk { #expect($0.frame.size.width == length || $0.frame.isFinite) } }
    }
  }

  @Test(.rule("CHART-14")) func `a hidden chart is a rectangle without marks`() {
    let result = chart([], [.text: "▒▒"]).layout(100, 50)
    #expect(result.all("RoundedRectangle").map(\.frame.numbers) == [[0, 0, 100, 50]] && result.notices.isEmpty)
  }
}

extension ArchivedValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  package init(arrayLiteral elements: ArchivedValue...) { self = .list(elements) }
  package init(dictionaryLiteral elements: (ArgumentLabel, ArchivedValue)...) {
    self = .record(ArchivedArguments(values: Dictionary(uniqueKeysWithValues: elements.map { ($0.rawValue, $1) })))
  }
}
