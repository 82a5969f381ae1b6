// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules
public import SwiftUI

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
