// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation

/// The dates of an axis: the starts of calendar units, or of groups of them.
package struct DateTicks: Hashable, Sendable {
  package var unit: Calendar.Component
  /// How many units are from one date to the next.
  package var count: Int

  package init(unit: Calendar.Component, count: Int = 1) {
    self.unit = unit
    self.count = max(count, 1)
  }

  /// The groups among which an axis chooses, with their approximate lengths in seconds, in ascending order.
  private static let choices: [(ticks: DateTicks, length: Double)] = {
    let units: [(Calendar.Component, Double, [Int])] = [
      (.second, 1, [1, 5, 15, 30]), (.minute, 60, [1, 5, 15, 30]), (.hour, 3600, [1, 3, 6, 12]),
      (.day, 86_400, [1, 2]), (.weekOfYear, 604_800, [1, 2]), (.month, 2_629_746, [1, 3, 6]),
      (.year, 31_556_952, [1, 2, 5, 10, 20, 50, 100]),
    ]
    return units.flatMap { unit, length, counts in
      counts.map { (DateTicks(unit: unit, count: $0), length * Double($0)) }
    }
  }()

  /// The smallest groups of which a range has at most `desired`.
  ///
  /// - Parameter range: in seconds since 1970.
  package init(in range: ClosedRange<Double>, desired: Int) {
    let span = range.upperBound - range.lowerBound
    self =
      Self.choices.first { span / $0.length <= Double(max(desired, 1)) }?.ticks
      ?? DateTicks(
        unit: .year, count: Int(saturating: min((span / 31_556_952 / Double(max(desired, 1))).rounded(.up), 1_000_000)))
  }

  /// The unit within which groups are counted, such as the day for hours.
  private var around: Calendar.Component? {
    guard count > 1 else { return nil }
    switch unit {
    case .second: return .minute
    case .minute: return .hour
    case .hour: return .day
    case .month: return .year
    default: return nil
    }
  }

  /// The dates within a range, in seconds since 1970; at most 1,000.
  package func dates(in range: ClosedRange<Double>, _ calendar: Calendar) -> [Double] {
    let first = Date(timeIntervalSince1970: range.lowerBound)
    guard let start = calendar.dateInterval(of: around ?? unit, for: first)?.start else { return [] }
    var dates: [Double] = []
    var index = 0
    if unit == .year, count > 1 {
      let year = calendar.component(.year, from: start)
      index = -(year % count)
    }
    while dates.count < 1000, index < 100_000 {
      let step = unit == .year && count > 1 ? index : index * count
      guard let date = calendar.date(byAdding: unit, value: step, to: start) else { break }
      let seconds = date.timeIntervalSince1970
      if seconds > range.upperBound + 1e-6 { break }
      if seconds >= range.lowerBound - 1e-6 { dates.append(seconds) }
      index += unit == .year && count > 1 ? count : 1
    }
    return dates
  }
}
