// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation

/// A value on an axis, in a legend or in a series of a chart.
package enum ChartValue: Hashable, Sendable {
  case number(Double)
  /// In seconds since 1970.
  case date(Double)
  case category(String)

  /// The number or the seconds of a date; `nil` for a category, and for a number or date that no chart can show.
  package var quantity: Double? {
    switch self {
    case .number(let value): value.isFinite && abs(value) <= 1e300 ? value : nil
    // 30,000 years, which every calendar has.
    case .date(let value): value.isFinite && abs(value) <= 1e12 ? value : nil
    case .category: nil
    }
  }

  /// The category, if the value is one.
  package var category: String? { if case .category(let name) = self { name } else { nil } }

  /// The value as the archive has it.
  package var archived: ArchivedValue {
    switch self {
    case .number(let value): .number(value)
    case .date(let seconds): .date(Date(timeIntervalSince1970: seconds))
    case .category(let name): .string(name)
    }
  }

  /// Reads an archived value; `nil` for one that is not plotted.
  package init?(_ value: ArchivedValue?) {
    switch value {
    case .number(let number): self = .number(number)
    case .date(let date): self = .date(date.timeIntervalSince1970)
    case .string(let name): self = .category(name)
    default: return nil
    }
  }
}

/// A value with the label that the author gave it.
package struct PlottedValue: Hashable, Sendable {
  package var label: String
  package var value: ChartValue
  /// The start and the end of the calendar unit of a date, in seconds since 1970; `nil` without a unit.
  package var bin: ClosedRange<Double>?

  /// - Parameter bin: of a date with a calendar unit.
  package init(_ label: String, _ value: ChartValue, bin: ClosedRange<Double>? = nil) {
    self.label = label
    self.value = value
    self.bin = bin
  }

  /// Where a mark with this value is: a date with a unit is in the middle of the unit.
  package var place: ChartValue { bin.map { .date($0.lowerBound + ($0.upperBound - $0.lowerBound) / 2) } ?? value }

  /// The value as the archive has it.
  package var archived: ArchivedValue {
    var parts: [String: ArchivedValue] = ["label": .string(label), "value": value.archived]
    if let bin {
      parts["from"] = ChartValue.date(bin.lowerBound).archived
      parts["until"] = ChartValue.date(bin.upperBound).archived
    }
    return .record(parts)
  }

  /// Reads an archived value; `nil` for anything else.
  package init?(_ archived: ArchivedValue?) {
    guard case .record(let parts) = archived, let value = ChartValue(parts["value"]) else { return nil }
    self.init(parts["label"]?.string ?? "", value)
    if let from = ChartValue(parts["from"])?.quantity, let until = ChartValue(parts["until"])?.quantity, from < until {
      bin = from...until
    }
  }
}
