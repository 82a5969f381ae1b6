// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Plots of charts in a layout` {
  private typealias Modifier = ViewArchive.Modifier

  /// One bar, with an axis of 0, 5 and 10 at the trailing edge: 15 points wide, and 6.67 above and below the plot.
  private func chart(_ plot: [Modifier], name: ViewName = .chart(.chartPlotContent), legend: Bool = false)
    -> ViewArchive
  {
    var bar = ViewArchive(
      .mark(.bar), [.x: PlottedValue("x", .category("a")).archived, .y: PlottedValue("y", .number(10)).archived])
    if legend { bar = bar.modified(.style(.foregroundStyle), [.by: PlottedValue("by", .category("Tea")).archived]) }
    let marks = [0.0, 5, 10].map { value in
      ViewArchive(.chart(.axisMark), [.value: .number(value)]).modified(.chart(.gridLine)).modified(.chart(.tick))
        .modified(.chart(.valueLabel), [:], views: [.text("\(Int(value))")])
    }
    var chart = ViewArchive(
      .chart(.chart), children: [bar, ViewArchive(.chart(.axisMarks), [.axis: "y"], children: marks)])
    if !plot.isEmpty {
      chart = chart.modified(.shape(.chartPlotStyle), [:], views: [ViewArchive(name, modifiers: plot)])
    }
    return chart
  }

  private let height = Modifier(.layout(.frame), [.height: 40])

  @Test(.rule("CHART-16")) func `the modifiers of a plot are around its marks and grid lines, and not around the axes`()
    throws
  {
    let result = chart([Modifier(.layer(.background), [.style: "blue"]), Modifier(.effect(.clipped))]).layout(100, 100)
    #expect(result.notices.isEmpty)
    #expect(result.all("background").map(\.frame.numbers) == [[0, 6.67, 85, 86.67]])
    #expect(result.all("Rectangle").map(\.frame.numbers) == [[0, 6.67, 85, 86.67], [12.75, 6.67, 59.5, 86.67]])
    var clipped: [String] = []
    try #require(result.all("clipped").first).walk { clipped.append($0.name) }
    #expect(
      clipped == ["clipped", "background", "Rectangle", "ChartPlotContent", "Shape", "Shape", "Shape", "Rectangle"])
    // The ticks are outside of what is clipped.
    #expect(result.lines == ["0", "5", "10"] && result.all("Shape").count == 6)
  }

  @Test(.rule("CHART-16")) func `a chart is as high as the frame of its plot with the axes and the legend`() {
    let result = chart([height]).layout(100, 100)
    #expect(result.all("Chart").map(\.frame.numbers) == [[0, 23.33, 100, 53.33]])
    #expect(result.all("ChartPlotContent").map(\.frame.numbers) == [[0, 30, 85, 40]])
    #expect(result.all("Rectangle").map(\.frame.numbers) == [[12.75, 30, 59.5, 40]])
    let named = chart([height], legend: true).layout(100, 100)
    let plot = named.all("ChartPlotContent").map(\.frame).first
    #expect(plot?.size.height.rounded() == 40 && named.lines == ["Tea", "0", "5", "10"])
    #expect(named.all("Circle").allSatisfy { $0.frame.minY > (plot?.maxY ?? 0) + 6 })
    let ratio = chart([Modifier(.layout(.aspectRatio), [.ratio: 1, .contentMode: "fit"])]).layout(100, 200)
    #expect(ratio.all("ChartPlotContent").map(\.frame.size) == [Size(width: 85, height: 85)])
  }

  @Test(.rule("CHART-16")) func `the axes are beside the plot within its padding, also from right to left`() {
    let padded = chart([Modifier(.layout(.padding), [.edges: "horizontal", .length: 10])])
    let plot = padded.layout(100, 100).all("ChartPlotContent").map(\.frame)
    #expect(plot.map(\.numbers) == [[10, 6.67, 65, 86.67]])
    #expect(padded.layout(100, 100).all("Text").allSatisfy { $0.frame.minX >= 79 })
    let mirrored = padded.layout(100, 100, isRightToLeft: true)
    #expect(mirrored.all("ChartPlotContent").map(\.frame.numbers) == [[25, 6.67, 65, 86.67]])
  }

  @Test(.rule("CHART-16")) func `a modifier that is not laid out and a plot without a chart are named`() {
    let unknown = chart([Modifier(.unknown("magic"))]).layout(100, 100)
    #expect(unknown.notices.map(\.description) == [".magic has no effect"])
    #expect(unknown.all("Rectangle").map(\.frame.numbers) == [[12.75, 6.67, 59.5, 86.67]])
    let alone = ViewArchive(.chart(.chartPlotContent)).layout(100, 100)
    #expect(alone.notices.map(\.description) == ["ChartPlotContent is not drawn"])
    // What the author returns without the plot is in its place.
    let replaced = chart([], name: .fill(.color)).modified(.shape(.chartPlotStyle), [:], views: [.color()]).layout(
      100, 100)
    #expect(replaced.all("Rectangle").isEmpty && replaced.all("Color").count == 1)
  }

  @Test(.rule("CHART-16"), arguments: [0.0, 20, 1e12])
  func `a plot in a chart without space or in a very wide one has finite frames`(length: Double) {
    let views = [
      height, Modifier(.layout(.frame), [.maxWidth: .number(.infinity), .minHeight: 30]),
      Modifier(.layout(.fixedSize)),
    ]
    for modifier in views {
      for view in chart([modifier], legend: true).layout(length, 100).views {
        view.walk { #expect($0.frame.isFinite) }
      }
    }
  }
}
