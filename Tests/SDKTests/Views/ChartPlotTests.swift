// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import Charts
@testable import SwiftUI

@Suite @MainActor struct `Plots of charts` {
  private struct Framed: View {
    @Environment(\.colorScheme) private var scheme
    let plot: ChartPlotContent
    var body: some View { plot.border(scheme == .dark ? Color.white : Color.black) }
  }

  private func lines(_ view: some View, _ environment: EnvironmentValues = EnvironmentValues()) throws -> [String] {
    try printed(view.chartXAxis(.hidden).chartYAxis(.hidden), environment)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private let chart = Chart { BarMark(x: .value("Tea", "Green"), y: .value("Cups", 3)) }

  @Test func `modifiers around the plot are archived within the chart, and those around the chart are not`() throws {
    let view = HStack {
      chart
      Text(verbatim: "a")
    }
    .chartPlotStyle { plot in plot.background(.blue.opacity(0.1)).frame(height: 60).cornerRadius(4) }
    .padding(2)
    #expect(
      try lines(view) == [
        "HStack .padding(2)",
        "Chart(xAxis: hidden, yAxis: hidden) "
          + ".chartPlotStyle(ChartPlotContent .background(blue 10 %) .frame(height: 60) .cornerRadius(4))",
        "BarMark(x: Tea = Green, y: Cups = 3)",
        "Text \"a\"",
      ])
    #expect(try lines(chart)[0] == "Chart(xAxis: hidden, yAxis: hidden)")
  }

  @Test func `the plot has the environment of the chart, and the innermost style applies`() throws {
    var environment = EnvironmentValues()
    environment.colorScheme = .dark
    let view = VStack { chart.chartPlotStyle { Framed(plot: $0) } }.chartPlotStyle { $0.clipped() }
    #expect(try lines(view, environment)[1].hasSuffix(" .chartPlotStyle(ChartPlotContent .border(white, width: 1))"))
  }

  @Test func `views of the plot are stored and read as those of other modifiers`() throws {
    let view = chart.chartPlotStyle { plot in
      plot.overlay(alignment: .top) { Text(verbatim: "secret") }.clipShape(RoundedRectangle(cornerRadius: 8))
    }
    let archive = try view.chartXAxis(.hidden).chartYAxis(.hidden).archived(in: EnvironmentValues())
    let plot = try #require(archive.modifiers.first { $0.name == .shape(.chartPlotStyle) }?.views.first)
    #expect(plot.name == .chart(.chartPlotContent) && plot.modifiers.map(\.name.rawValue) == ["overlay", "clipShape"])
    #expect(archive.lines.contains("secret"))
    let hidden = archive.hiding(ScreenAppearance(now: .now, isPlaceholder: true))
    #expect(!hidden.lines.contains("secret"))
  }
}
