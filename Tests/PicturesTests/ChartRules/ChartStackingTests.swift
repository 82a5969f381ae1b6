// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import Archive

@Suite struct `Stacks of a chart` {
  private func extents(_ lengths: [Double], _ method: String = "standard") -> [[Double]] {
    let stack = ChartStacking.Stack(kind: .bar, place: .category("a"))
    return ChartStacking.extents(of: lengths.map { ChartStacking.Piece(stack: stack, length: $0, method: method) })
      .map { [$0.start, $0.end] }
  }

  @Test(.rule("CHART-07")) func `lengths at one place begin where others end, and negative ones below zero`() {
    #expect(extents([3, 4]) == [[0, 3], [3, 7]])
    #expect(extents([3, -2, 4, -1]) == [[0, 3], [0, -2], [3, 7], [-2, -3]])
  }

  @Test(.rule("CHART-07")) func `the other methods of stacking`() {
    #expect(extents([3, 4], "unstacked") == [[0, 3], [0, 4]])
    #expect(extents([1, 3], "normalized") == [[0, 0.25], [0.25, 1]])
    #expect(extents([1, 3], "center") == [[-2, -1], [-1, 2]])
    #expect(extents([0, 0], "normalized") == [[0, 0], [0, 0]])
  }

  @Test(.rule("CHART-07")) func `only marks of one type at one place are stacked`() {
    let pieces = [("a", MarkView.bar), ("b", .bar), ("a", .area), ("a", .bar)].map { place, kind in
      ChartStacking.Piece(stack: ChartStacking.Stack(kind: kind, place: .category(place)), length: 2)
    }
    #expect(ChartStacking.extents(of: pieces).map(\.start) == [0, 0, 0, 2])
  }

  private func mark(_ name: String, _ values: [ArgumentLabel: ChartValue]) -> ViewArchive {
    var arguments = ArchivedArguments()
    for (label, value) in values { arguments[label] = PlottedValue("", value).archived }
    return ViewArchive(ViewName(rawValue: name), arguments)
  }

  @Test(.rule("CHART-07")) func `the domain of a stacked chart contains the stacks`() {
    let chart = ViewArchive(
      .chart(.chart),
      children: [
        mark("BarMark", [.x: .category("a"), .y: .number(30)]),
        mark("BarMark", [.x: .category("a"), .y: .number(50)]), mark("Text", [:]),
      ])
    let model = ChartModel(chart)
    #expect(model.scales == [.x: .bands(["a"]), .y: .linear(from: 0, to: 80)])
    #expect(model.extents == [0: ClosedExtent(start: 0, end: 30), 1: ClosedExtent(start: 30, end: 80)])
    #expect(model.marks.count == 2 && model.hasAxes)
  }

  @Test(.rule("CHART-08")) func `sectors divide a turn by their values, and a negative one has no part`() {
    let values = [5.0, -3, 15].map { mark("SectorMark", [.angle: .number($0)]) }
    let model = ChartModel(ViewArchive(.chart(.chart), children: values))
    #expect(
      model.extents.sorted { $0.key < $1.key }.map { [$0.value.start, $0.value.end] } == [
        [0, 0.25], [0.25, 0.25], [0.25, 1],
      ])
    #expect(!model.hasAxes)
  }

  @Test(.rule("CHART-02"), arguments: [Double.nan, .infinity, -.infinity])
  func `a mark without a finite number is left out`(number: Double) {
    let marks = [number, 1].map { mark("PointMark", [.x: .number($0), .y: .number(1)]) }
    #expect(ChartModel(ViewArchive(.chart(.chart), children: marks)).marks.count == 1)
  }

  @Test(
    .rule("CHART-03"),
    arguments: [
      (ChartValue.category("a"), ChartValue.number(1), true), (.number(1), .category("a"), false),
      (.number(1), .number(1), true), (.date(1), .number(1), true), (.number(1), .date(1), false),
      (.date(1), .category("a"), false),
    ])
  func `a bar extends along the axis of its number`(x: ChartValue, y: ChartValue, isVertical: Bool) throws {
    #expect(try #require(ChartMark(mark("BarMark", [.x: x, .y: y]))).isVertical == isVertical)
  }

  @Test(.rule("CHART-03")) func `a line goes from left to right, and an interval gives the axis`() throws {
    func isVertical(_ name: String, _ channels: [ArgumentLabel]) throws -> Bool {
      let values = Dictionary(uniqueKeysWithValues: channels.map { ($0, ChartValue.number(1)) })
      return try #require(ChartMark(mark(name, values))).isVertical
    }
    #expect(try isVertical("LineMark", [.x, .y]) && isVertical("BarMark", [.x, .yStart, .yEnd]))
    #expect(try !isVertical("BarMark", [.xStart, .xEnd, .y]) && !isVertical("BarMark", [.x]))
  }
}
