// SPDX-License-Identifier: Apache-2.0

package import Archive
import ChartRules
import Foundation
public import SwiftUI

/// Source: `Charts.Chart`. The marks are archived as data, and the host draws them in the size that it finds.
nonisolated public struct Chart<Content: ChartContent>: View, ArchivedView {
  public typealias Body = Never
  private let content: Content

  public init(@ChartContentBuilder content: () -> Content) { self.content = content() }

  public init<Data: RandomAccessCollection, C: ChartContent>(
    _ data: Data, @ChartContentBuilder content: @escaping (Data.Element) -> C
  ) where Content == ForEach<Data, Data.Element.ID, C>, Data.Element: Identifiable {
    self.content = ForEach(data, content: content)
  }

  public init<Data: RandomAccessCollection, ID: Hashable, C: ChartContent>(
    _ data: Data, id: KeyPath<Data.Element, ID>, @ChartContentBuilder content: @escaping (Data.Element) -> C
  ) where Content == ForEach<Data, ID, C> {
    self.content = ForEach(data, id: id, content: content)
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let settings = context.environment.chart
    let marks = try context.marks(of: content)
    let model = ChartModel(
      marks: marks.compactMap(ChartMark.init), domains: settings.domains, categories: settings.categories,
      ticks: settings.axes.mapValues(\.givenValues))
    var arguments: [String: ArchivedValue?] = ["styles": settings.archivedStyles(of: model)]
    if settings.isLegendHidden { arguments["legend"] = "hidden" }
    // The system's values of an axis depend on the size, as the content of `GeometryReader`.
    var size = context.environment.proposedSize
    if ChartModel.Dimension.allCases.contains(where: { settings.choosesValues($0, of: model) }) {
      let (identifier, found, _) = context.enterClosure()
      size = found
      (arguments["size"], arguments["closure"]) = (identifier.map { _ in found.archived }, identifier?.archived)
    }
    var axes: [ViewArchive] = []
    for dimension in ChartModel.Dimension.allCases {
      arguments[dimension.rawValue + "Scale"] = settings.domains[dimension]?.archived
      guard model.hasAxes, model.hasValues(dimension) else { continue }
      let axis = settings.axes[dimension] ?? ChartSettings.Axis()
      if axis.isHidden {
        arguments[dimension.rawValue + "Axis"] = "hidden"
        continue
      }
      let usual = AxisMarks().groups
      for group in axis.groups ?? usual { axes.append(try self.axis(dimension, group, model, size, context)) }
    }
    return ViewArchive(
      .chart(.chart), given: arguments, children: marks + axes, modifiers: try settings.archivedPlotStyle(in: context))
  }

  /// Archives one group of marks of an axis: a view for each value, with its lines and its label as modifiers.
  @MainActor private func axis(
    _ dimension: ChartModel.Dimension, _ group: AxisGroup, _ model: ChartModel, _ size: CGSize,
    _ context: ArchivingContext
  ) throws(ArchiveRefusal) -> ViewArchive {
    let environment = context.environment
    let length = dimension == .x ? size.width : size.height
    let ticks = group.values.ticks(
      on: model.scales[dimension] ?? .bands([]), areDates: model.hasDates(dimension),
      desired: AxisMarkValues.usualCount(length), environment.chartCalendar)
    var children: [ViewArchive] = []
    for (index, value) in ticks.values.enumerated() {
      let value = AxisValue(
        index: index, count: ticks.values.count, value: value, unit: ticks.unit, isHorizontal: dimension == .x)
      let mark = environment.during { group.marks(value) }
      children.append(
        ViewArchive(.chart(.axisMark), ["value": value.value.archived], modifiers: try context.parts(of: mark, value)))
    }
    let position = group.position.name
    return ViewArchive(
      .chart(.axisMarks),
      given: [
        "axis": .string(dimension.rawValue), "position": position == "automatic" ? nil : .string(position),
        "values": group.values.isAutomatic && !ticks.values.contains { $0.category != nil } ? "automatic" : nil,
      ],
      children: children)
  }
}

extension ChartSettings.Axis {
  /// The values that the author lists.
  fileprivate var givenValues: [ChartValue] {
    (groups ?? []).flatMap { group -> [ChartValue] in
      if case .given(let values) = group.values.choice { values } else { [] }
    }
  }
}

extension ChartSettings {
  /// Whether the system chooses the numbers or dates of an axis.
  fileprivate func choosesValues(_ dimension: ChartModel.Dimension, of model: ChartModel) -> Bool {
    guard model.hasAxes, model.hasValues(dimension), case .linear = model.scales[dimension] else { return false }
    let axis = axes[dimension] ?? Axis()
    return !axis.isHidden && axis.groups?.contains { $0.values.isAutomatic } != false
  }

  /// The author's style of each category, in order; categories without a style follow.
  fileprivate func archivedStyles(of model: ChartModel) -> ArchivedValue? {
    guard !categories.isEmpty || !styles.isEmpty else { return nil }
    let names = categories.isEmpty ? model.categories : categories
    return .list(
      names.enumerated().map { index, name in
        var parts: [String: ArchivedValue] = ["category": .string(name)]
        if !styles.isEmpty { parts["style"] = styles[index % styles.count] }
        return .record(parts)
      })
  }
}

extension AxisMarkValues {
  /// About how many values an axis has in a length in points. Ours: Apple publishes no number.
  static func usualCount(_ length: CGFloat) -> Int {
    length.isFinite ? Int(saturating: min(max((Double(length) / 36).rounded(), 2), 6)) : 6
  }

  /// Whether the system chooses the values.
  var isAutomatic: Bool { if case .automatic = choice { true } else { false } }

  /// The values of an axis, and the calendar unit between dates.
  func ticks(
    on scale: ChartScale, areDates: Bool, desired: Int, _ calendar: Calendar
  ) -> (values: [ChartValue], unit: Calendar.Component?) {
    if case .given(let values) = choice { return (values, areDates ? .day : nil) }
    switch scale {
    case .bands(let names): return (names.map { .category($0) }, nil)
    case .linear(let from, let to):
      let range = min(from, to)...max(from, to)
      switch choice {
      case .step(let step) where !areDates: return (NiceNumbers.multiples(of: step, in: range).map { .number($0) }, nil)
      case .dates(let dates, let own) where areDates:
        return (dates.dates(in: range, own ?? calendar).map { .date($0) }, dates.unit)
      case .automatic(let given) where !areDates:
        return (NiceNumbers.ticks(in: range, count: given ?? desired).map { .number($0) }, nil)
      case .automatic(let given):
        let dates = DateTicks(in: range, desired: given ?? desired)
        return (dates.dates(in: range, calendar).map { .date($0) }, dates.unit)
      default: return ([], nil)
      }
    }
  }
}
