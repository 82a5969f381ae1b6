// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Where the values of one axis are, as parts of the plot's length.
package enum ChartScale: Hashable, Sendable {
  /// Numbers, or dates in seconds.
  case linear(from: Double, to: Double)
  /// One band of equal length for each category, in order.
  case bands([String])

  /// The place of a value: 0 at the start of the axis, 1 at its end, and less or more outside of the domain. The place of
  /// a category is the middle of its band. `nil`: the axis does not have the value.
  package func place(_ value: ChartValue) -> Double? {
    switch self {
    case .linear(let from, let to):
      guard let quantity = value.quantity else { return nil }
      if from == to { return 0.5 }
      // Bounded, so that a picture has no lines of astronomic length.
      return min(max((quantity - from) / (to - from), -10), 11)
    case .bands(let names):
      guard let name = value.category, let index = names.firstIndex(of: name) else { return nil }
      return (Double(index) + 0.5) / Double(names.count)
    }
  }

  /// The start and the end of the space of a value: its band, or the calendar unit of a date. `nil` for a value that is a
  /// point on the axis.
  package func band(_ value: PlottedValue) -> (start: Double, end: Double)? {
    switch self {
    case .linear:
      guard let bin = value.bin, let start = place(.date(bin.lowerBound)), let end = place(.date(bin.upperBound)) else {
        return nil
      }
      return (min(start, end), max(start, end))
    case .bands(let names):
      guard let centre = place(value.value) else { return nil }
      return (centre - 0.5 / Double(names.count), centre + 0.5 / Double(names.count))
    }
  }
}

/// What the author sets about the values of one axis.
package struct ChartDomain: Hashable, Sendable {
  /// The categories, or the ends of the range; empty: from the data.
  package var values: [ChartValue] = []
  /// Whether numbers from the data are extended to zero.
  package var includesZero = true
  /// Whether the axis ends where it usually starts.
  package var isReversed = false

  package init() {}

  /// The scale for the values of the marks.
  ///
  /// - Parameters:
  ///   - data: in the order of the marks.
  ///   - ticks: the values of the axis, which extend a domain that comes from the data.
  package func scale(of data: [ChartValue], ticks: [ChartValue] = []) -> ChartScale {
    let scale = values.isEmpty ? inferred(data, ticks) : givenScale
    guard isReversed else { return scale }
    switch scale {
    case .linear(let from, let to): return .linear(from: to, to: from)
    case .bands(let names): return .bands(names.reversed())
    }
  }

  private var givenScale: ChartScale {
    let names = values.compactMap(\.category)
    if !names.isEmpty { return .bands(names.unique) }
    let range = values.compactMap(\.quantity).range ?? 0...1
    return .linear(from: range.lowerBound, to: range.upperBound)
  }

  private func inferred(_ data: [ChartValue], _ ticks: [ChartValue]) -> ChartScale {
    let names = (data + ticks).compactMap(\.category)
    if !names.isEmpty { return .bands(names.unique) }
    let isDate = data.contains { if case .date = $0 { true } else { false } }
    var quantities = data.filter { if case .date = $0 { isDate } else { !isDate } }.compactMap(\.quantity)
    if !isDate, includesZero { quantities.append(0) }
    guard var range = quantities.range else { return .linear(from: 0, to: 1) }
    if !isDate {
      if range.lowerBound == range.upperBound { range = range.lowerBound...(range.lowerBound + 1) }
      range = NiceNumbers.extended(range, count: Self.parts)
    }
    let all = [range.lowerBound, range.upperBound] + ticks.compactMap(\.quantity)
    range = all.range ?? range
    return .linear(from: range.lowerBound, to: range.upperBound)
  }

  /// Into how many parts round numbers divide a domain, at least about. Ours: Apple publishes no number.
  static let parts = 5
}

extension [Double] {
  /// The least and the greatest number; `nil` without numbers.
  package var range: ClosedRange<Double>? {
    guard var (lower, upper) = first.map({ ($0, $0) }) else { return nil }
    for number in self { (lower, upper) = (Swift.min(lower, number), Swift.max(upper, number)) }
    return lower...upper
  }
}

extension [String] {
  /// Each text once, in the order of their first appearance.
  package var unique: [String] {
    var known: Set<String> = []
    return filter { known.insert($0).inserted }
  }
}

/// Round numbers for an axis: multiples of 1, 2 or 5 times a power of ten.
package enum NiceNumbers {
  /// The round step that divides a span into about `count` parts. Infinite for a span that is not positive.
  package static func step(over span: Double, count: Int) -> Double {
    guard span > 0, span.isFinite else { return .infinity }
    let raw = span / Double(max(count, 1))
    let power = pow(10, log10(raw).rounded(.down))
    // The limits between the steps are the geometric means of their neighbours.
    let error = raw / power
    return power
      * (error >= 50.0.squareRoot() ? 10 : error >= 10.0.squareRoot() ? 5 : error >= 2.0.squareRoot() ? 2 : 1)
  }

  /// The multiples of a step within a range, in ascending order; at most 1,000.
  package static func multiples(of step: Double, in range: ClosedRange<Double>) -> [Double] {
    guard step > 0, step.isFinite else { return [] }
    // A number that is a multiple apart from the error of a calculation counts as one.
    let error = 1e-9 * min(1, (range.upperBound - range.lowerBound) / step)
    let first = (range.lowerBound / step - error).rounded(.up)
    let last = (range.upperBound / step + error).rounded(.down)
    guard first <= last, last - first < 1000, abs(first) < 1e15, abs(last) < 1e15 else { return [] }
    // Division by a power of ten gives the number that a person writes; a product may differ in the last digit.
    let inverse = (1 / step).rounded()
    return (0...Int(saturating: last - first)).map { index in
      let multiple = first + Double(index)
      return step < 1 && abs(inverse * step - 1) < 1e-9 ? multiple / inverse : multiple * step
    }
  }

  /// About `count` round numbers within a range.
  package static func ticks(in range: ClosedRange<Double>, count: Int) -> [Double] {
    multiples(of: step(over: range.upperBound - range.lowerBound, count: count), in: range)
  }

  /// The range with its ends moved to round numbers.
  package static func extended(_ range: ClosedRange<Double>, count: Int) -> ClosedRange<Double> {
    let step = step(over: range.upperBound - range.lowerBound, count: count)
    guard step.isFinite else { return range }
    let lower = (range.lowerBound / step + 1e-9).rounded(.down) * step
    let upper = (range.upperBound / step - 1e-9).rounded(.up) * step
    return min(lower, range.lowerBound)...max(upper, range.upperBound)
  }
}

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
