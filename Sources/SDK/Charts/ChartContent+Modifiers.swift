// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules
public import Foundation
public import SwiftUI

/// A content whose marks have one more modifier each.
nonisolated struct ModifiedChartContent<Content: ChartContent>: ChartContent, ArchivedChartContent {
  typealias Body = Never

  let content: Content
  let name: ModifierName
  let arguments: [String: ArchivedValue]
  let views: () -> [any View]

  @MainActor func marks(in context: ArchivingContext) throws(ArchiveRefusal) -> [ViewArchive] {
    var archives: [ViewArchive] = []
    for view in context.environment.during(views) { archives.append(try context.archive(of: view)) }
    let modifier = ViewArchive.Modifier(name, arguments, views: archives)
    return try context.marks(of: content).map { mark in
      var mark = mark
      mark.modifiers.append(modifier)
      return mark
    }
  }
}

// Source of all: `Charts.ChartContent` of the iOS 18 SDK.
extension ChartContent {
  nonisolated private func modified(
    _ name: ModifierName, _ arguments: [String: ArchivedValue?], views: @escaping () -> [any View] = { [] }
  ) -> some ChartContent {
    ModifiedChartContent(content: self, name: name, arguments: arguments.compactMapValues { $0 }, views: views)
  }

  nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some ChartContent {
    modified(.style(.foregroundStyle), ["style": style.archived(in: .current)])
  }
  /// Gives each category its own style.
  nonisolated public func foregroundStyle<D: Plottable>(by value: PlottableValue<D>) -> some ChartContent
  where D.PrimitivePlottable == String {
    modified(.style(.foregroundStyle), ["by": value.archived])
  }
  /// `opacity` is from 0 to 1.
  nonisolated public func opacity(_ opacity: Double) -> some ChartContent {
    modified(.effect(.opacity), ["opacity": opacity.archived])
  }
  /// `radius` is in points.
  nonisolated public func cornerRadius(_ radius: CGFloat, style: RoundedCornerStyle = .continuous) -> some ChartContent
  {
    modified(.effect(.cornerRadius), ["radius": radius.archived, "style": style == .continuous ? nil : style.archived])
  }
  nonisolated public func interpolationMethod(_ method: InterpolationMethod) -> some ChartContent {
    modified(.chart(.interpolationMethod), method.arguments.mapValues { $0 })
  }
  nonisolated public func lineStyle(_ style: StrokeStyle) -> some ChartContent {
    modified(.chart(.lineStyle), ["style": style.archived])
  }
  nonisolated public func symbol(_ symbol: BasicChartSymbolShape) -> some ChartContent {
    modified(.chart(.symbol), ["symbol": .string(symbol.name)])
  }
  /// `area` is in square points.
  nonisolated public func symbolSize(_ area: CGFloat) -> some ChartContent {
    modified(.chart(.symbolSize), ["area": area.archived])
  }
  nonisolated public func symbolSize(_ size: CGSize) -> some ChartContent {
    modified(.chart(.symbolSize), ["size": size.archived])
  }
  /// Puts the marks of different categories at one place beside each other.
  nonisolated public func position<P: Plottable>(by value: PlottableValue<P>) -> some ChartContent
  where P.PrimitivePlottable == String {
    modified(.layout(.position), ["by": value.archived])
  }
  nonisolated public func zIndex(_ value: Double) -> some ChartContent {
    modified(.layout(.zIndex), ["value": value.archived])
  }
  /// `spacing` is in points.
  nonisolated public func annotation<C: View>(
    position: AnnotationPosition = .automatic, alignment: Alignment = .center, spacing: CGFloat? = nil,
    @ViewBuilder content: @escaping () -> C
  ) -> some ChartContent {
    modified(
      .chart(.annotation),
      ["position": .string(position.name), "alignment": alignment.archived, "spacing": spacing?.archived]
    ) { [content()] }
  }

  nonisolated public func accessibilityLabel(_ label: Text) -> some ChartContent {
    modified(.accessibility(.label), ["label": .string(label.resolved(in: .current))])
  }
  nonisolated public func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some ChartContent {
    accessibilityLabel(Text(labelKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some ChartContent {
    modified(.accessibility(.label), ["label": .string(String(label))])
  }
  nonisolated public func accessibilityValue(_ value: Text) -> some ChartContent {
    modified(.accessibility(.value), ["value": .string(value.resolved(in: .current))])
  }
  nonisolated public func accessibilityValue(_ valueKey: LocalizedStringKey) -> some ChartContent {
    accessibilityValue(Text(valueKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityValue<S: StringProtocol>(_ value: S) -> some ChartContent {
    modified(.accessibility(.value), ["value": .string(String(value))])
  }
  nonisolated public func accessibilityIdentifier(_ identifier: String) -> some ChartContent {
    modified(.accessibility(.identifier), ["identifier": .string(identifier)])
  }
  nonisolated public func accessibilityHidden(_ hidden: Bool) -> some ChartContent {
    modified(.accessibility(.hidden), ["hidden": .bool(hidden)])
  }
}
