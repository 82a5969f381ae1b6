// SPDX-License-Identifier: Apache-2.0

package import Archive

/// A mark of a chart, as the extension archived it.
package struct ChartMark: Hashable, Sendable {
  /// What a value of a mark determines, by the label of the initializer.
  package enum Channel: String, Hashable, Sendable, CaseIterable {
    case x, xStart, xEnd, y, yStart, yEnd, angle, series
  }

  package var kind: MarkView
  package var values: [Channel: PlottedValue]
  /// The other arguments, such as `width`.
  package var arguments: [String: ArchivedValue]
  /// In order of application.
  package var modifiers: [ViewArchive.Modifier]

  /// Reads a mark; `nil` for another view.
  package init?(_ view: ViewArchive) {
    guard case .mark(let kind) = view.name else { return nil }
    self.kind = kind
    arguments = view.arguments
    modifiers = view.modifiers
    values = [:]
    for channel in Channel.allCases { values[channel] = PlottedValue(view.arguments[channel.rawValue]) }
  }

  /// An argument of the first modifier with a name, which is the one next to the mark.
  package func modifier(_ name: ModifierName, _ label: String) -> ArchivedValue? {
    modifiers.first { $0.name == name && $0.arguments[label] != nil }?.arguments[label]
  }

  /// The category by which the mark has its colour.
  package var styleCategory: String? { PlottedValue(modifier(.style(.foregroundStyle), "by"))?.value.category }
  /// The category by which the mark is beside others at the same place.
  package var positionCategory: String? { PlottedValue(modifier(.layout(.position), "by"))?.value.category }
  /// The group of marks that one line or area connects.
  package var series: ChartValue? { values[.series]?.value ?? styleCategory.map { .category($0) } }
  /// How the mark is stacked, by the name of Apple's method.
  package var stacking: String { arguments["stacking"]?.string ?? "standard" }

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
