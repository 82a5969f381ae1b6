// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a chart shows, by the rules of its scales and stacks, without a size.
package struct ChartModel: Hashable, Sendable {
  /// One of the axes of a chart.
  package enum Dimension: String, Hashable, Sendable, CaseIterable {
    case x, y

    /// The label of the scale in the arguments of a chart.
    package var scaleLabel: ArgumentLabel { self == .x ? .xScale : .yScale }
    /// The label of the axis in the arguments of a chart.
    package var axisLabel: ArgumentLabel { self == .x ? .xAxis : .yAxis }
  }

  package private(set) var marks: [ChartMark]
  /// The start and the end of the stacked marks by their index in `marks`. For sectors they are parts of the whole.
  package private(set) var extents: [Int: ClosedExtent] = [:]
  package private(set) var scales: [Dimension: ChartScale] = [:]
  /// The least distance between two bars of an axis without bands, as a part of its length; `nil` for fewer than two.
  package private(set) var barSteps: [Dimension: Double] = [:]
  /// The categories that have their own styles, in the order of the legend.
  package private(set) var categories: [String]
  /// The categories that are beside each other at the same place.
  package private(set) var positions: [String]

  /// - Parameters:
  ///   - categories: those to which the author gives styles.
  ///   - ticks: the values of the axes.
  package init(
    marks: [ChartMark], domains: [Dimension: ChartDomain] = [:], categories: [String] = [],
    ticks: [Dimension: [ChartValue]] = [:]
  ) {
    self.marks = marks.filter(\.isDrawable)
    self.categories = (categories + self.marks.compactMap(\.styleCategory)).unique
    positions = self.marks.compactMap(\.positionCategory).unique
    stack()
    addSectors()
    for dimension in Dimension.allCases {
      let domain = domains[dimension] ?? ChartDomain()
      scales[dimension] = domain.scale(of: data(dimension), ticks: ticks[dimension] ?? [])
      barSteps[dimension] = leastDistance(dimension)
    }
  }

  /// Whether the chart has marks with a place on the axes.
  package var hasAxes: Bool { marks.contains { $0.kind != .sector } }

  /// Whether a mark has a value on an axis.
  package func hasValues(_ dimension: Dimension) -> Bool { !data(dimension).isEmpty }

  /// Whether an axis has dates.
  package func hasDates(_ dimension: Dimension) -> Bool {
    data(dimension).contains { if case .date = $0 { true } else { false } }
  }

  /// The place of a value on an axis, from 0 to 1.
  package func place(_ value: ChartValue, _ dimension: Dimension) -> Double? { scales[dimension]?.place(value) }

  private func leastDistance(_ dimension: Dimension) -> Double? {
    let places = marks.filter { $0.kind == .bar && $0.placeChannel.rawValue == dimension.rawValue }
      .compactMap { $0.values[$0.placeChannel].flatMap { place($0.place, dimension) } }.sorted()
    return zip(places, places.dropFirst()).map { $1 - $0 }.filter { $0 > 1e-6 }.min()
  }

  private mutating func stack() {
    var pieces: [(index: Int, piece: ChartStacking.Piece)] = []
    for (index, mark) in marks.enumerated() where mark.kind == .bar || mark.kind == .area {
      guard let length = mark.values[mark.extentChannel]?.value, case .number(let number) = length else { continue }
      let stack = ChartStacking.Stack(
        kind: mark.kind, place: mark.values[mark.placeChannel].map { $0.bin.map { .date($0.lowerBound) } ?? $0.value },
        category: mark.positionCategory)
      pieces.append((index, ChartStacking.Piece(stack: stack, length: number, method: mark.stacking)))
    }
    let found = ChartStacking.extents(of: pieces.map(\.piece))
    for (piece, extent) in zip(pieces, found) { extents[piece.index] = extent }
  }

  private mutating func addSectors() {
    let sectors = marks.indices.filter { marks[$0].kind == .sector }
    let lengths = sectors.map { max(0, marks[$0].values[.angle]?.value.quantity ?? 0) }
    let total = lengths.reduce(0, +)
    guard total > 0, total.isFinite else { return }
    var start = 0.0
    for (index, length) in zip(sectors, lengths) {
      extents[index] = ClosedExtent(start: start / total, end: (start + length) / total)
      start += length
    }
  }

  /// The values that an axis shows, in the order of the marks.
  private func data(_ dimension: Dimension) -> [ChartValue] {
    let channels: [ChartMark.Channel] = dimension == .x ? [.x, .xStart, .xEnd] : [.y, .yStart, .yEnd]
    var data: [ChartValue] = []
    for (index, mark) in marks.enumerated() where mark.kind != .sector {
      if mark.extentChannel == channels[0], let extent = extents[index] {
        data += [.number(extent.start), .number(extent.end)]
        continue
      }
      for value in channels.compactMap({ mark.values[$0] }) {
        if let bin = value.bin {
          data += [.date(bin.lowerBound), .date(bin.upperBound)]
        } else {
          data.append(value.value)
        }
      }
    }
    return data
  }
}

extension ChartMark {
  /// Whether all numbers of the mark are finite.
  fileprivate var isDrawable: Bool { values.values.allSatisfy { $0.value.category != nil || $0.value.quantity != nil } }
}

extension ChartModel {
  /// Reads a chart from its archive.
  package init(_ chart: ViewArchive) {
    var domains: [Dimension: ChartDomain] = [:]
    var ticks: [Dimension: [ChartValue]] = [:]
    for dimension in Dimension.allCases {
      domains[dimension] = ChartDomain(chart.arguments[dimension.scaleLabel])
      ticks[dimension] = chart.children.filter { $0.isAxis(dimension) }.flatMap(\.children)
        .compactMap { ChartValue($0.arguments[.value]) }
    }
    self.init(
      marks: chart.children.compactMap(ChartMark.init), domains: domains,
      categories: chart.chartStyles.map(\.category), ticks: ticks)
  }
}

extension ChartDomain {
  /// The domain as the archive has it; `nil` if the author sets nothing.
  package var archived: ArchivedValue? {
    var parts: ArchivedArguments = [:]
    if !values.isEmpty { parts[.domain] = .list(values.map(\.archived)) }
    if !includesZero { parts[.includesZero] = false }
    if isReversed { parts[.reversed] = true }
    return parts.isEmpty ? nil : .record(parts)
  }

  /// Reads an archived domain.
  package init(_ archived: ArchivedValue?) {
    guard case .record(let parts) = archived else { return }
    if case .list(let list) = parts[.domain] { values = list.compactMap(ChartValue.init) }
    includesZero = parts[.includesZero] != false
    isReversed = parts[.reversed] == true
  }
}

extension ViewArchive {
  /// Whether the view has the marks of this axis.
  package func isAxis(_ dimension: ChartModel.Dimension) -> Bool {
    name == .chart(.axisMarks) && arguments[.axis]?.string == dimension.rawValue
  }

  /// The styles that the author gives to categories, in order; a category without a style has one of the system's.
  package var chartStyles: [(category: String, style: ArchivedValue?)] {
    guard case .list(let list) = arguments[.styles] else { return [] }
    return list.compactMap { entry in
      guard case .record(let parts) = entry, let category = parts[.category]?.string else { return nil }
      return (category, parts[.style])
    }
  }
}

/// A mark of a chart, as the extension archived it.
package struct ChartMark: Hashable, Sendable {
  /// What a value of a mark determines, by the label of the initializer.
  package enum Channel: String, Hashable, Sendable, CaseIterable {
    case x, xStart, xEnd, y, yStart, yEnd, angle, series

    fileprivate var label: ArgumentLabel {
      switch self {
      case .x: .x
      case .xStart: .xStart
      case .xEnd: .xEnd
      case .y: .y
      case .yStart: .yStart
      case .yEnd: .yEnd
      case .angle: .angle
      case .series: .series
      }
    }
  }

  package var kind: MarkView
  package var values: [Channel: PlottedValue]
  /// The other arguments, such as `width`.
  package var arguments: ArchivedArguments
  /// In order of application.
  package var modifiers: [ViewArchive.Modifier]

  /// Reads a mark; `nil` for another view.
  package init?(_ view: ViewArchive) {
    guard case .mark(let kind) = view.name else { return nil }
    self.kind = kind
    arguments = view.arguments
    modifiers = view.modifiers
    values = [:]
    for channel in Channel.allCases { values[channel] = PlottedValue(view.arguments[channel.label]) }
  }

  /// An argument of the first modifier with a name, which is the one next to the mark.
  package func modifier(_ name: ModifierName, _ label: ArgumentLabel) -> ArchivedValue? {
    modifiers.first { $0.name == name && $0.arguments[label] != nil }?.arguments[label]
  }

  /// The category by which the mark has its colour.
  package var styleCategory: String? { PlottedValue(modifier(.style(.foregroundStyle), .by))?.value.category }
  /// The category by which the mark is beside others at the same place.
  package var positionCategory: String? { PlottedValue(modifier(.layout(.position), .by))?.value.category }
  /// The group of marks that one line or area connects.
  package var series: ChartValue? { values[.series]?.value ?? styleCategory.map { .category($0) } }
  /// How the mark is stacked, by the name of Apple's method.
  package var stacking: String { arguments[.stacking]?.string ?? "standard" }

  /// Whether the mark extends along y, so that x is its place.
  package var isVertical: Bool {
    if values[.yStart] != nil || values[.yEnd] != nil { return true }
    if values[.xStart] != nil || values[.xEnd] != nil { return false }
    guard let x = values[.x] else { return true }
    guard let y = values[.y] else { return false }
    if kind == .line || kind == .point { return true }
    if case .number = x.value, x.bin == nil {
      if case .number = y.value { return true }
      return false
    }
    if case .category = y.value, case .date = x.value { return false }
    return true
  }

  /// The channel that gives the place of the mark, across its extent.
  package var placeChannel: Channel { isVertical ? .x : .y }
  /// The channel that gives the extent of the mark.
  package var extentChannel: Channel { isVertical ? .y : .x }
}

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
    case .bool, .list, .record, .none: return nil
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
    var parts: ArchivedArguments = [.label: .string(label), .value: value.archived]
    if let bin {
      parts[.from] = ChartValue.date(bin.lowerBound).archived
      parts[.until] = ChartValue.date(bin.upperBound).archived
    }
    return .record(parts)
  }

  /// Reads an archived value; `nil` for anything else.
  package init?(_ archived: ArchivedValue?) {
    guard case .record(let parts) = archived, let value = ChartValue(parts[.value]) else { return nil }
    self.init(parts[.label]?.string ?? "", value)
    if let from = ChartValue(parts[.from])?.quantity, let until = ChartValue(parts[.until])?.quantity, from < until {
      bin = from...until
    }
  }
}
