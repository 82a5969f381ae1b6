// SPDX-License-Identifier: Apache-2.0

package import Archive
@_exported public import Foundation
public import SwiftUI
// The modules that `import Charts` makes visible to an author's file.
@_exported public import URLSessionAPI

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
    var arguments: ArchivedArguments = [.styles: settings.archivedStyles(of: model)]
    if settings.isLegendHidden { arguments[.legend] = "hidden" }
    // The system's values of an axis depend on the size, as the content of `GeometryReader`.
    var size = context.environment.proposedSize
    if ChartModel.Dimension.allCases.contains(where: { settings.choosesValues($0, of: model) }) {
      let (identifier, found, _) = context.enterClosure()
      size = found
      (arguments[.size], arguments[.closure]) = (identifier.map { _ in found.archived }, identifier?.archived)
    }
    var axes: [ViewArchive] = []
    for dimension in ChartModel.Dimension.allCases {
      arguments[dimension.scaleLabel] = settings.domains[dimension]?.archived
      guard model.hasAxes, model.hasValues(dimension) else { continue }
      let axis = settings.axes[dimension] ?? ChartSettings.Axis()
      if axis.isHidden {
        arguments[dimension.axisLabel] = "hidden"
        continue
      }
      let usual = AxisMarks().groups
      for group in axis.groups ?? usual {
        axes.append(try self.axis(dimension, group: group, model: model, size: size, context: context))
      }
    }
    return ViewArchive(
      .chart(.chart), arguments, children: marks + axes, modifiers: try settings.archivedPlotStyle(in: context))
  }

  /// Archives one group of marks of an axis: a view for each value, with its lines and its label as modifiers.
  @MainActor private func axis(
    _ dimension: ChartModel.Dimension, group: AxisGroup, model: ChartModel, size: CGSize,
    context: ArchivingContext
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
        ViewArchive(.chart(.axisMark), [.value: value.value.archived], modifiers: try context.parts(of: mark, value)))
    }
    let position = group.position.name
    return ViewArchive(
      .chart(.axisMarks),
      [
        .axis: .string(dimension.rawValue), .position: position == "automatic" ? nil : .string(position),
        .values: group.values.isAutomatic && !ticks.values.contains { $0.category != nil } ? "automatic" : nil,
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
        var parts: ArchivedArguments = [.category: .string(name)]
        if !styles.isEmpty { parts[.style] = styles[index % styles.count] }
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
      case .dates(let dates, let ownCalendar) where areDates:
        return (dates.dates(in: range, ownCalendar ?? calendar).map { .date($0) }, dates.unit)
      case .automatic(let given) where !areDates:
        return (NiceNumbers.ticks(in: range, count: given ?? desired).map { .number($0) }, nil)
      case .automatic(let given):
        let dates = DateTicks(in: range, desired: given ?? desired)
        return (dates.dates(in: range, calendar).map { .date($0) }, dates.unit)
      case .step, .dates, .given: return ([], nil)
      }
    }
  }
}

/// What the modifiers around a chart set.
struct ChartSettings {
  /// An axis: hidden, or with contents of the author; `nil` without either.
  struct Axis {
    var isHidden = false
    var groups: [AxisGroup]?
  }

  var axes: [ChartModel.Dimension: Axis] = [:]
  var domains: [ChartModel.Dimension: ChartDomain] = [:]
  var isLegendHidden = false
  /// Returns the plot with the modifiers of the author around it.
  var plotStyle: ((ChartPlotContent) -> any View)?
  /// The categories of the styles in order.
  var categories: [String] = []
  /// The styles of the categories in order; without categories, in the order of their appearance.
  var styles: [ArchivedValue] = []
}

private struct ChartSettingsKey: EnvironmentKey {
  static var defaultValue: ChartSettings { ChartSettings() }
}

extension EnvironmentValues {
  /// What the modifiers around a chart set.
  var chart: ChartSettings {
    get { self[ChartSettingsKey.self] }
    set { self[ChartSettingsKey.self] = newValue }
  }
}

// Source of all: `SwiftUI.View` in Charts of the iOS 18 SDK.
extension View {
  nonisolated public func chartXAxis(_ visibility: Visibility) -> some View { axis(.x, visibility) }
  nonisolated public func chartYAxis(_ visibility: Visibility) -> some View { axis(.y, visibility) }
  nonisolated public func chartXAxis<Content: AxisContent>(
    @AxisContentBuilder content: () -> Content
  ) -> some View {
    axis(.x, content())
  }
  nonisolated public func chartYAxis<Content: AxisContent>(
    @AxisContentBuilder content: () -> Content
  ) -> some View {
    axis(.y, content())
  }

  nonisolated private func axis(_ dimension: ChartModel.Dimension, _ visibility: Visibility) -> some View {
    transformEnvironment(\.chart) { $0.axes[dimension, default: .init()].isHidden = visibility == .hidden }
  }
  nonisolated private func axis(_ dimension: ChartModel.Dimension, _ content: some AxisContent) -> some View {
    let groups = TupleAxisContent([content]).groups
    return transformEnvironment(\.chart) { $0.axes[dimension, default: .init()].groups = groups }
  }

  nonisolated public func chartXScale<Domain: ScaleDomain>(domain: Domain) -> some View { scale(.x, domain) }
  nonisolated public func chartYScale<Domain: ScaleDomain>(domain: Domain) -> some View { scale(.y, domain) }

  nonisolated private func scale(_ dimension: ChartModel.Dimension, _ domain: some ScaleDomain) -> some View {
    let domain = (domain as? any ChartScaleDomain)?.chartDomain
    return transformEnvironment(\.chart) { $0.domains[dimension] = domain }
  }

  nonisolated public func chartLegend(_ visibility: Visibility) -> some View {
    transformEnvironment(\.chart) { $0.isLegendHidden = visibility == .hidden }
  }

  nonisolated public func chartForegroundStyleScale<DataValue: Plottable, S: ShapeStyle>(
    _ mapping: KeyValuePairs<DataValue, S>
  ) -> some View where DataValue.PrimitivePlottable == String {
    styles(mapping.map(\.key.primitivePlottable), mapping.map { $0.value.archived(in: .current) })
  }
  nonisolated public func chartForegroundStyleScale<DataValue: Plottable, S: ShapeStyle>(
    domain: [DataValue], range: [S]
  ) -> some View where DataValue.PrimitivePlottable == String {
    styles(domain.map(\.primitivePlottable), range.map { $0.archived(in: .current) })
  }
  nonisolated public func chartForegroundStyleScale<DataValue: Plottable>(domain: [DataValue]) -> some View
  where DataValue.PrimitivePlottable == String {
    styles(domain.map(\.primitivePlottable), [])
  }
  nonisolated public func chartForegroundStyleScale<S: ShapeStyle>(range: [S]) -> some View {
    styles([], range.map { $0.archived(in: .current) })
  }

  nonisolated private func styles(_ categories: [String], _ styles: [ArchivedValue]) -> some View {
    transformEnvironment(\.chart) {
      $0.categories = categories
      $0.styles = styles
    }
  }
}

/// Source: `Charts.ScaleDomain`.
public protocol ScaleDomain {}

/// A domain by the rules of charts.
protocol ChartScaleDomain: ScaleDomain {
  var chartDomain: ChartDomain { get }
}

extension ClosedRange: ScaleDomain, ChartScaleDomain where Bound: Plottable {
  var chartDomain: ChartDomain {
    var domain = ChartDomain()
    domain.values = [lowerBound.chartValue, upperBound.chartValue]
    return domain
  }
}

extension Array: ScaleDomain, ChartScaleDomain where Element: Plottable {
  var chartDomain: ChartDomain {
    var domain = ChartDomain()
    domain.values = map(\.chartValue)
    return domain
  }
}

/// Source: `Charts.AutomaticScaleDomain`.
public struct AutomaticScaleDomain: ChartScaleDomain {
  let chartDomain: ChartDomain
}

extension ScaleDomain where Self == AutomaticScaleDomain {
  public static var automatic: AutomaticScaleDomain { AutomaticScaleDomain(chartDomain: ChartDomain()) }
  public static func automatic(includesZero: Bool? = nil, reversed: Bool? = nil) -> AutomaticScaleDomain {
    var domain = ChartDomain()
    domain.includesZero = includesZero ?? true
    domain.isReversed = reversed ?? false
    return AutomaticScaleDomain(chartDomain: domain)
  }
}
