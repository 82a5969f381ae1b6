// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import Charts
@testable import SwiftUI

private enum Tea: String, Plottable, CaseIterable {
  case green = "Green"
  case black = "Black"
}

private struct Sale: Identifiable {
  let id: Int
  var tea: Tea { id.isMultiple(of: 2) ? .green : .black }
}

@Suite @MainActor struct `Archives of charts` {
  /// A content of the author.
  private struct Limit: ChartContent {
    let value: Double
    var body: some ChartContent {
      RuleMark(y: .value("Limit", value)).foregroundStyle(.red)
    }
  }

  /// The lines without the axes.
  private func marks(_ view: some View) throws -> [String] {
    try printed(view).filter { !$0.contains("Axis") }.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test(.rule("CHART-01")) func `a chart is archived as its marks with their values and modifiers`() throws {
    let isShown = true
    let chart = Chart {
      BarMark(x: .value("Tea", Tea.green), y: .value("Cups", 3), width: .ratio(0.5))
        .cornerRadius(4).foregroundStyle(.green)
      ForEach([1, 2], id: \.self) { LineMark(x: .value("Tea", "Green"), y: .value("Cups", $0)) }
        .interpolationMethod(.monotone)
      if isShown { Limit(value: 2.5) } else { Limit(value: 0) }
      if !isShown { PointMark(x: .value("Tea", "none"), y: .value("Cups", 1)) }
      Plot { SectorMark(angle: .value("Part", Decimal(2)), innerRadius: 5, angularInset: 1) }.opacity(0.5)
      AreaMark(x: .value("Tea", "Black"), yStart: .value("from", Float(1)), yEnd: .value("to", Float(2)))
        .annotation(position: .top, spacing: 2) { Text("a").bold() }
    }
    let lines = try marks(chart)
    #expect(
      lines == [
        "Chart",
        "BarMark(width: 0.5, x: Tea = Green, y: Cups = 3) .cornerRadius(4) .foregroundStyle(green)",
        "LineMark(x: Tea = Green, y: Cups = 1) .interpolationMethod(method: monotone)",
        "LineMark(x: Tea = Green, y: Cups = 2) .interpolationMethod(method: monotone)",
        "RuleMark(y: Limit = 2.5) .foregroundStyle(red)",
        "SectorMark(angle: Part = 2, angularInset: 1, innerRadius: fixed: 5) .opacity(0.5)",
        "AreaMark(x: Tea = Black, yEnd: to = 2, yStart: from = 1) "
          + ".annotation(spacing: 2, position: top, Text \"a\" .bold)",
      ], "\(lines)")
  }

  @Test(.rule("CHART-01")) func `a chart of data has a mark for each element`() throws {
    let expected = ["Chart", "PointMark(x: id = 1, y: Tea = Black)", "PointMark(x: id = 2, y: Tea = Green)"]
    let sales = [Sale(id: 1), Sale(id: 2)]
    #expect(try marks(Chart(sales) { PointMark(x: .value("id", $0.id), y: .value("Tea", $0.tea)) }) == expected)
    #expect(
      try marks(Chart(sales, id: \.id) { PointMark(x: .value("id", $0.id), y: .value("Tea", $0.tea)) }) == expected)
    #expect(try marks(Chart([Sale]()) { PointMark(x: .value("id", $0.id)) }) == ["Chart"])
  }

  private func environment(_ width: Double = 200, _ height: Double = 200) -> EnvironmentValues {
    var environment = EnvironmentValues()
    environment.proposedSize = CGSize(width: width, height: height)
    environment.locale = Locale(identifier: "de_DE")
    environment.timeZone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    return environment
  }

  /// The lines of the values of the axes.
  private func axes(_ view: some View, _ environment: EnvironmentValues) throws -> [String] {
    try printed(view, environment).filter { $0.contains("AxisMark") }.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test(.rule("CHART-03", "CHART-06"))
  func `a unit is that of the calendar of the device, and the labels have its language`() throws {
    let date = Date(timeIntervalSince1970: 23 * 3600)
    struct OneDay: View {
      let date: Date
      var body: some View { Chart { BarMark(x: .value("Day", date, unit: .day), y: .value("Cups", 1.5)) } }
    }
    let lines = try printed(OneDay(date: date), environment())
    #expect(lines[1] == "  BarMark(x: Day = 1970-01-01T23:00:00Z to 1970-01-02T23:00:00Z, y: Cups = 1.5)")
    #expect(lines.contains("    AxisMark(value: 0.2) .gridLine .valueLabel(Text \"0,2\")"), "\(lines)")
    #expect(
      lines.contains("    AxisMark(value: 1970-01-01T23:00:00Z) .gridLine .tick .valueLabel(Text \"00 Uhr\")"),
      "\(lines)")
  }

  @Test(
    .rule("CHART-05"),
    arguments: [(0, 2), (36 * 2, 2), (36 * 2.4, 2), (36 * 3, 3), (36 * 6, 6), (1e9, 6), (.infinity, 6)]
      as [(Double, Int)])
  func `an axis has a value for each 36 points, from two to six`(length: Double, count: Int) {
    #expect(AxisMarkValues.usualCount(length) == count)
  }

  @Test(.rule("CHART-05", "CHART-10"))
  func `an axis without content has round values, as many as the widget has space for`() throws {
    let view = Chart { BarMark(x: .value("Tea", "Green"), y: .value("Cups", 87)) }
    let small = try axes(view, environment(100, 100))
    #expect(
      small == [
        "AxisMarks(axis: x)", "AxisMark(value: Green) .valueLabel(Text \"Green\")",
        "AxisMarks(axis: y, values: automatic)", "AxisMark(value: 0) .gridLine .valueLabel(Text \"0\")",
        "AxisMark(value: 50) .gridLine .valueLabel(Text \"50\")",
        "AxisMark(value: 100) .gridLine .valueLabel(Text \"100\")",
      ])
    #expect(try axes(view, environment(300, 300)).count == 9)
    #expect(try axes(view.chartYAxis(.hidden), environment()).count == 2)
    let pie = Chart { SectorMark(angle: .value("Part", 1)) }
    #expect(try axes(pie, environment()).isEmpty)
  }

  @Test(.rule("CHART-10")) func `an axis has the values for the size of the layout, once the host has found it`() throws
  {
    let view = Chart { BarMark(x: .value("Tea", "Green"), y: .value("Cups", 87)) }
    var environment = environment(300, 300)
    environment.closures = ArchivedClosures(sizes: ["1": CGSize(width: 300, height: 80)])
    let lines = try printed(view, environment)
    #expect(lines[0] == "Chart(closure: 1, width: 300 height: 80)" || lines[0].contains("height: 80"), "\(lines)")
    #expect(lines.filter { $0.contains("gridLine") }.count == 3)
    environment.closures = ArchivedClosures()
    _ = try printed(view.chartYAxis { AxisMarks(values: [0, 100]) }, environment)
    #expect(environment.closures?.isEmpty == true)
  }

  @Test(.rule("CHART-10")) func `the content of an axis is called for each value`() throws {
    let view = Chart { BarMark(x: .value("Tea", "Green"), y: .value("Cups", 4)) }
      .chartXAxis {
        AxisMarks { value in AxisValueLabel(value.as(String.self) ?? "?", centered: true) }
      }
      .chartYAxis {
        AxisMarks(position: .leading, values: [0, 2, 6]) { value in
          if value.index == 1 { AxisGridLine(stroke: StrokeStyle(lineWidth: 2)).foregroundStyle(.red) }
          if let cups = value.as(Int.self) {
            AxisValueLabel { Text("\(cups) of \(value.count)") }.font(.caption)
          } else {
            AxisTick(length: 3)
          }
        }
        AxisMarks(values: .stride(by: 3)) { AxisTick() }
      }
    #expect(
      try axes(view, environment()) == [
        "AxisMarks(axis: x)", "AxisMark(value: Green) .valueLabel(centered: true, Text \"Green\")",
        "AxisMarks(axis: y, position: leading)", "AxisMark(value: 0) .valueLabel(Text \"0 of 3\" .font(caption))",
        "AxisMark(value: 2) .gridLine(red, stroke: lineWidth: 2) .valueLabel(Text \"2 of 3\" .font(caption))",
        "AxisMark(value: 6) .valueLabel(Text \"6 of 3\" .font(caption))",
        "AxisMarks(axis: y)", "AxisMark(value: 0) .tick", "AxisMark(value: 3) .tick", "AxisMark(value: 6) .tick",
      ])
  }

  @Test(.rule("CHART-06")) func `an axis of dates has the dates and the format of the author`() throws {
    let days = [0.0, 3].map { Date(timeIntervalSince1970: 1_772_323_200 + $0 * 86_400) }
    let view = Chart(days, id: \.self) { LineMark(x: .value("Day", $0), y: .value("Cups", 1)) }.chartYAxis(.hidden)
    let strided = view.chartXAxis { AxisMarks(format: .dateTime.weekday(), values: .stride(by: .day, count: 2)) }
    var environment = environment()
    environment.timeZone = .gmt
    let labels = try axes(strided, environment).map { String($0.split(separator: "\"").dropFirst().first ?? "") }
    #expect(labels == ["", "So", "Di"])
    let given = view.chartXAxis { AxisMarks(values: [days[0]]) { AxisValueLabel(format: .dateTime.day()) } }
    #expect(try axes(given, environment).count == 2)
    #expect(try axes(view.chartXAxis { AxisMarks(values: .automatic(desiredCount: 3)) }, environment).count == 5)
  }

  @Test(.rule("CHART-04", "CHART-11")) func `modifiers around a chart are in its arguments`() throws {
    let chart = Chart { BarMark(x: .value("Tea", Tea.green), y: .value("Cups", 3)) }
    let view = VStack {
      chart.chartYScale(domain: 0...10).chartXScale(domain: Tea.allCases)
      chart.chartYScale(domain: .automatic(includesZero: false, reversed: true)).chartLegend(.visible)
      chart.chartForegroundStyleScale(["Green": Color.green, "Black": .black])
      chart.chartForegroundStyleScale(domain: [Tea.black], range: [Color.red])
    }
    .chartXAxis(.hidden).chartYAxis(.hidden).chartLegend(.hidden)
    #expect(
      try printed(view).filter { $0.contains("Chart(") }.map { $0.trimmingCharacters(in: .whitespaces) } == [
        "Chart(legend: hidden, xAxis: hidden, xScale: domain: [Green, Black], yAxis: hidden, yScale: domain: [0, 10])",
        "Chart(xAxis: hidden, yAxis: hidden, yScale: includesZero: false reversed: true)",
        "Chart(legend: hidden, styles: [green category: Green, black category: Black], xAxis: hidden, yAxis: hidden)",
        "Chart(legend: hidden, styles: [red category: Black], xAxis: hidden, yAxis: hidden)",
      ])
  }

  @Test(.rule("CHART-14")) func `a hidden chart keeps none of its values`() throws {
    let secret = Chart { BarMark(x: .value("Tea", "Green"), y: .value("Cups", 4711)) }.privacySensitive()
    let archive = try secret.archived(in: EnvironmentValues())
    let shown = archive.hiding(ScreenAppearance(now: .now, hidesPrivate: true))
    #expect(shown.children.isEmpty && shown.lines == ["▒▒"])
    #expect(archive.hiding(ScreenAppearance(now: .now)) == archive)
  }

  @Test(.rule("CHART-01")) func `a value of an axis is read as the types that have it`() {
    #expect(Int(ChartValue.number(2)) == 2 && Int(ChartValue.number(2.5)) == nil)
    #expect(Double(ChartValue.number(2.5)) == 2.5 && Decimal(ChartValue.number(0.5)) == Decimal(0.5))
    #expect(Tea(ChartValue.category("Black")) == .black && Tea(ChartValue.category("White")) == nil)
    #expect(Date(ChartValue.date(5)) == Date(timeIntervalSince1970: 5) && String(ChartValue.number(1)) == nil)
    #expect(
      Tea.green.chartValue == .category("Green") && CGFloat(2).chartValue == .number(2)
        && UInt8(3).chartValue == .number(3))
  }

  @Test(.rule("VIEW-02")) func `contents that contain each other are refused at the limit`() {
    struct Endless: ChartContent {
      var body: some ChartContent { AnyChartContent(Endless()) }
    }
    #expect(throws: ArchiveRefusal.self) { try Chart { Endless() }.archived(in: EnvironmentValues()) }
  }
}
