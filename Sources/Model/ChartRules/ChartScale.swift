// SPDX-License-Identifier: Apache-2.0

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
    let scale = values.isEmpty ? inferred(data, ticks) : given
    guard isReversed else { return scale }
    switch scale {
    case .linear(let from, let to): return .linear(from: to, to: from)
    case .bands(let names): return .bands(names.reversed())
    }
  }

  private var given: ChartScale {
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
