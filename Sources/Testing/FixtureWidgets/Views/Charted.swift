// SPDX-License-Identifier: Apache-2.0

import Charts
import SwiftUI
import WidgetKit

// A widget with charts of each kind.

struct Cups: Identifiable {
  enum Drink: String, Plottable {
    case coffee = "Coffee"
    case tea = "Tea"
    case mate = "Mate"
  }

  let day: Date
  let drink: Drink
  let count: Int

  var id: String { "\(day.timeIntervalSince1970) \(drink.rawValue)" }

  /// Three drinks on each of seven days, from Sunday, the 1st of March 2026 on.
  static let week: [Cups] = (0..<7).flatMap { index in
    let day = Date(timeIntervalSince1970: 1_772_323_200 + 43_200 + Double(index) * 86_400)
    return [Drink.coffee, .tea, .mate].enumerated().map { place, drink in
      Cups(day: day, drink: drink, count: 1 + (index * (place + 2) + place) % 4)
    }
  }

  static let coffee = week.filter { $0.drink == .coffee }
}

struct BarsChart: View {
  var body: some View {
    Chart(Cups.week) { cups in
      BarMark(x: .value("Day", cups.day, unit: .day), y: .value("Cups", cups.count))
        .foregroundStyle(by: .value("Drink", cups.drink))
    }
    .chartForegroundStyleScale(["Coffee": Color.brown, "Tea": .green, "Mate": .yellow])
    .chartXAxis {
      AxisMarks(values: .stride(by: .day, count: 2)) { value in
        AxisGridLine(stroke: StrokeStyle(lineWidth: 0.5, dash: [2]))
        if value.index > 0 { AxisTick() }
        AxisValueLabel(format: .dateTime.weekday(.abbreviated))
      }
    }
  }
}

struct LinesChart: View {
  var body: some View {
    Chart {
      ForEach(Cups.coffee) { cups in
        AreaMark(x: .value("Day", cups.day), y: .value("Cups", cups.count))
          .interpolationMethod(.monotone)
          .foregroundStyle(.linearGradient(colors: [.blue.opacity(0.5), .clear], startPoint: .top, endPoint: .bottom))
        LineMark(x: .value("Day", cups.day), y: .value("Cups", cups.count))
          .interpolationMethod(.monotone)
          .lineStyle(StrokeStyle(lineWidth: 2, lineCap: .round))
          .symbol(.circle)
      }
      RuleMark(y: .value("Limit", 3.5))
        .foregroundStyle(.red)
        .lineStyle(StrokeStyle(lineWidth: 1, dash: [4, 2]))
        .annotation(position: .top, alignment: .leading) { Text("limit").font(.caption2).foregroundStyle(.red) }
    }
    .chartYScale(domain: 0...5)
    .chartYAxis { AxisMarks(position: .leading, values: [0, 5]) }
  }
}

struct RowsChart: View {
  var body: some View {
    Chart(["Mon", "Tue", "Wed"], id: \.self) { day in
      BarMark(x: .value("Cups", Double(day.utf8.reduce(0) { $0 + Int($1) } % 7) / 2), y: .value("Day", day))
        .cornerRadius(3)
        .annotation(position: .trailing) { Text("x").font(.caption2) }
    }
    .chartXAxis(.hidden)
  }
}

struct PieChart: View {
  var body: some View {
    Chart {
      SectorMark(angle: .value("Cups", 5), innerRadius: .ratio(0.6), angularInset: 1.5)
        .cornerRadius(3)
        .foregroundStyle(by: .value("Drink", "Coffee"))
      SectorMark(angle: .value("Cups", 3), innerRadius: .ratio(0.6), angularInset: 1.5)
        .cornerRadius(3)
        .foregroundStyle(by: .value("Drink", "Tea"))
      SectorMark(angle: .value("Cups", 2), innerRadius: .ratio(0.6), angularInset: 1.5)
        .cornerRadius(3)
        .foregroundStyle(by: .value("Drink", "Mate"))
    }
  }
}

struct PointsChart: View {
  var body: some View {
    Chart {
      ForEach(0..<6) { index in
        PointMark(x: .value("Hour", index * 20), y: .value("Degrees", index * index * 37))
          .symbol(index.isMultiple(of: 2) ? .diamond : .plus)
      }
    }
  }
}

struct GroupsChart: View {
  var body: some View {
    Chart(Cups.week.prefix(9)) { cups in
      BarMark(x: .value("Drink", cups.drink), y: .value("Cups", cups.count), width: .ratio(0.9))
        .position(by: .value("Day", "\(Int(cups.day.timeIntervalSince1970))"))
        .foregroundStyle(Color.purple.gradient)
    }
    .chartLegend(.hidden)
  }
}

struct ChartedView: View {
  @Environment(\.widgetFamily) private var family

  var body: some View {
    Group {
      if family == .systemLarge {
        VStack(spacing: 12) {
          HStack(spacing: 12) {
            BarsChart()
            LinesChart()
          }
          HStack(spacing: 12) {
            RowsChart()
            PieChart()
          }
          HStack(spacing: 12) {
            PointsChart()
            GroupsChart()
          }
        }
      } else {
        Chart(Cups.coffee) { BarMark(x: .value("Day", $0.day, unit: .day), y: .value("Cups", $0.count)) }
      }
    }
    .containerBackground(.background, for: .widget)
  }
}

struct Charted: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Charted", provider: Moments()) { _ in ChartedView() }
      .supportedFamilies([.systemSmall, .systemLarge])
  }
}
