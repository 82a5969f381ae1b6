// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  nonisolated public func font(_ font: Font?) -> some View {
    modified(.style(.font), [.font: font?.archived]) { $0.font = font }
  }
  nonisolated public func fontWeight(_ weight: Font.Weight?) -> some View {
    modified(.style(.fontWeight), [.weight: weight?.archived])
  }
  nonisolated public func fontWidth(_ width: Font.Width?) -> some View {
    modified(.style(.fontWidth), [.width: width?.archived])
  }
  nonisolated public func fontDesign(_ design: Font.Design?) -> some View {
    modified(.style(.fontDesign), [.design: design?.archived])
  }
  nonisolated public func bold(_ isActive: Bool = true) -> some View { switched(.style(.bold), isActive: isActive) }
  nonisolated public func italic(_ isActive: Bool = true) -> some View { switched(.style(.italic), isActive: isActive) }
  nonisolated public func monospaced(_ isActive: Bool = true) -> some View {
    switched(.style(.monospaced), isActive: isActive)
  }
  nonisolated public func monospacedDigit() -> some View { modified(.style(.monospacedDigit)) }
  nonisolated public func underline(
    _ isActive: Bool = true, pattern: Text.LineStyle.Pattern = .solid, color: Color? = nil
  ) -> some View {
    modified(.style(.underline), lined(isActive, pattern: pattern, color: color))
  }
  nonisolated public func strikethrough(
    _ isActive: Bool = true, pattern: Text.LineStyle.Pattern = .solid, color: Color? = nil
  ) -> some View {
    modified(.style(.strikethrough), lined(isActive, pattern: pattern, color: color))
  }
  /// In points.
  nonisolated public func tracking(_ tracking: CGFloat) -> some View {
    modified(.style(.tracking), [.points: tracking.archived])
  }
  /// In points.
  nonisolated public func kerning(_ kerning: CGFloat) -> some View {
    modified(.style(.kerning), [.points: kerning.archived])
  }
  /// In points.
  nonisolated public func baselineOffset(_ baselineOffset: CGFloat) -> some View {
    modified(.style(.baselineOffset), [.points: baselineOffset.archived])
  }
  nonisolated public func textScale(_ scale: Text.Scale, isEnabled: Bool = true) -> some View {
    modified(.undrawn(.textScale), [.scale: isEnabled ? scale.archived : "default"])
  }
  nonisolated public func lineLimit(_ number: Int?) -> some View {
    modified(.style(.lineLimit), [.lines: number?.archived]) { $0.lineLimit = number }
  }
  nonisolated public func lineLimit(_ limit: PartialRangeFrom<Int>) -> some View {
    modified(.style(.lineLimit), [.from: limit.lowerBound.archived])
  }
  nonisolated public func lineLimit(_ limit: PartialRangeThrough<Int>) -> some View {
    lineLimit(limit.upperBound)
  }
  nonisolated public func lineLimit(_ limit: ClosedRange<Int>) -> some View {
    modified(.style(.lineLimit), [.from: limit.lowerBound.archived, .lines: limit.upperBound.archived]) {
      $0.lineLimit = limit.upperBound
    }
  }
  nonisolated public func lineLimit(_ limit: Int, reservesSpace: Bool) -> some View {
    modified(.style(.lineLimit), [.lines: limit.archived, .reservesSpace: reservesSpace.archived]) {
      $0.lineLimit = limit
    }
  }
  /// In points.
  nonisolated public func lineSpacing(_ lineSpacing: CGFloat) -> some View {
    modified(.style(.lineSpacing), [.points: lineSpacing.archived]) { $0.lineSpacing = lineSpacing }
  }
  nonisolated public func multilineTextAlignment(_ alignment: TextAlignment) -> some View {
    modified(.style(.multilineTextAlignment), [.alignment: alignment.archived]) {
      $0.multilineTextAlignment = alignment
    }
  }
  nonisolated public func minimumScaleFactor(_ factor: CGFloat) -> some View {
    modified(.style(.minimumScaleFactor), [.factor: factor.archived]) { $0.minimumScaleFactor = factor }
  }
  nonisolated public func truncationMode(_ mode: Text.TruncationMode) -> some View {
    modified(.style(.truncationMode), [.mode: mode.archived]) { $0.truncationMode = mode }
  }
  nonisolated public func allowsTightening(_ flag: Bool) -> some View {
    modified(.silent(.allowsTightening), [.flag: flag.archived]) { $0.allowsTightening = flag }
  }
  nonisolated public func textCase(_ textCase: Text.Case?) -> some View {
    modified(.style(.textCase), [.case: textCase?.archived]) { $0.textCase = textCase }
  }
  nonisolated public func dynamicTypeSize(_ size: DynamicTypeSize) -> some View {
    modified(.style(.dynamicTypeSize), [.size: size.archived]) { $0.dynamicTypeSize = size }
  }
  nonisolated public func dynamicTypeSize<T: RangeExpression<DynamicTypeSize>>(_ range: T) -> some View {
    modified(.style(.dynamicTypeSize), [.range: .string("\(range)")]) { environment in
      let sizes = DynamicTypeSize.allCases.filter(range.contains)
      if let first = sizes.first, let last = sizes.last {
        environment.dynamicTypeSize = min(max(environment.dynamicTypeSize, first), last)
      }
    }
  }
  nonisolated public func imageScale(_ scale: Image.Scale) -> some View {
    modified(.style(.imageScale), [.scale: scale.archived]) { $0.imageScale = scale }
  }
  nonisolated public func symbolRenderingMode(_ mode: SymbolRenderingMode?) -> some View {
    modified(.style(.symbolRenderingMode), [.mode: mode?.archived]) { $0.symbolRenderingMode = mode }
  }
  nonisolated public func symbolVariant(_ variant: SymbolVariants) -> some View {
    modified(.style(.symbolVariant), [.variant: variant.archived])
  }

  nonisolated private func switched(_ name: ModifierName, isActive: Bool) -> some View {
    modified(name, [.isActive: isActive ? nil : false])
  }
}

private func lined(
  _ isActive: Bool, pattern: Text.LineStyle.Pattern, color: Color?
) -> ArchivedArguments {
  [
    .isActive: isActive ? nil : false, .pattern: pattern == .solid ? nil : pattern.archived, .color: color?.value,
  ]
}

// Source of all: `SwiftUI.Text` of the iOS 18 SDK.
extension Text {
  public func font(_ font: Font?) -> Text { modified(.style(.font), [.font: font?.archived]) }
  public func fontWeight(_ weight: Font.Weight?) -> Text { modified(.style(.fontWeight), [.weight: weight?.archived]) }
  public func fontWidth(_ width: Font.Width?) -> Text { modified(.style(.fontWidth), [.width: width?.archived]) }
  public func fontDesign(_ design: Font.Design?) -> Text { modified(.style(.fontDesign), [.design: design?.archived]) }
  public func bold() -> Text { modified(.style(.bold)) }
  public func bold(_ isActive: Bool) -> Text { modified(.style(.bold), [.isActive: isActive ? nil : false]) }
  public func italic() -> Text { modified(.style(.italic)) }
  public func italic(_ isActive: Bool) -> Text { modified(.style(.italic), [.isActive: isActive ? nil : false]) }
  public func monospaced(_ isActive: Bool = true) -> Text {
    modified(.style(.monospaced), [.isActive: isActive ? nil : false])
  }
  public func monospacedDigit() -> Text { modified(.style(.monospacedDigit)) }
  public func underline(
    _ isActive: Bool = true, pattern: Text.LineStyle.Pattern = .solid, color: Color? = nil
  ) -> Text {
    modified(.style(.underline), lined(isActive, pattern: pattern, color: color))
  }
  public func strikethrough(
    _ isActive: Bool = true, pattern: Text.LineStyle.Pattern = .solid, color: Color? = nil
  ) -> Text {
    modified(.style(.strikethrough), lined(isActive, pattern: pattern, color: color))
  }
  public func underline(_ isActive: Bool = true, color: Color?) -> Text {
    underline(isActive, pattern: .solid, color: color)
  }
  public func strikethrough(_ isActive: Bool = true, color: Color?) -> Text {
    strikethrough(isActive, pattern: .solid, color: color)
  }
  /// In points.
  public func tracking(_ tracking: CGFloat) -> Text { modified(.style(.tracking), [.points: tracking.archived]) }
  /// In points.
  public func kerning(_ kerning: CGFloat) -> Text { modified(.style(.kerning), [.points: kerning.archived]) }
  /// In points.
  public func baselineOffset(_ baselineOffset: CGFloat) -> Text {
    modified(.style(.baselineOffset), [.points: baselineOffset.archived])
  }
  public func textScale(_ scale: Text.Scale, isEnabled: Bool = true) -> Text {
    modified(.undrawn(.textScale), [.scale: isEnabled ? scale.archived : "default"])
  }
  public func foregroundColor(_ color: Color?) -> Text { modified(.style(.foregroundColor), [.color: color?.value]) }
  public func foregroundStyle<S: ShapeStyle>(_ style: S) -> Text {
    modified(.style(.foregroundStyle), [.style: style.archived(in: .current)])
  }
}

// Accessibility modifiers. Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  nonisolated public func accessibilityLabel(_ label: Text) -> some View {
    modified(.accessibility(.label), texts: [.label: label])
  }
  nonisolated public func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some View {
    accessibilityLabel(Text(labelKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View {
    modified(.accessibility(.label), [.label: .string(String(label))])
  }
  nonisolated public func accessibilityValue(_ value: Text) -> some View {
    modified(.accessibility(.value), texts: [.value: value])
  }
  nonisolated public func accessibilityValue(_ valueKey: LocalizedStringKey) -> some View {
    accessibilityValue(Text(valueKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityValue<S: StringProtocol>(_ value: S) -> some View {
    modified(.accessibility(.value), [.value: .string(String(value))])
  }
  nonisolated public func accessibilityHint(_ hint: Text) -> some View {
    modified(.accessibility(.hint), texts: [.hint: hint])
  }
  nonisolated public func accessibilityHint(_ hintKey: LocalizedStringKey) -> some View {
    accessibilityHint(Text(hintKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityHint<S: StringProtocol>(_ hint: S) -> some View {
    modified(.accessibility(.hint), [.hint: .string(String(hint))])
  }
  nonisolated public func accessibilityIdentifier(_ identifier: String) -> some View {
    modified(.accessibility(.identifier), [.identifier: .string(identifier)])
  }
  nonisolated public func accessibilityHidden(_ hidden: Bool) -> some View {
    modified(.accessibility(.hidden), [.hidden: .bool(hidden)])
  }
  nonisolated public func accessibilityElement(
    children: AccessibilityChildBehavior = .ignore
  ) -> some View {
    modified(.accessibility(.element), [.children: children.archived])
  }
  nonisolated public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View {
    modified(.accessibility(.addTraits), [.traits: .list(traits.names.sorted().map { .string($0) })])
  }
  nonisolated public func accessibilityRemoveTraits(_ traits: AccessibilityTraits) -> some View {
    modified(.accessibility(.removeTraits), [.traits: .list(traits.names.sorted().map { .string($0) })])
  }
  nonisolated public func accessibilitySortPriority(_ sortPriority: Double) -> some View {
    modified(.accessibility(.sortPriority), [.priority: .number(sortPriority)])
  }
}

// Older names of the same modifiers, which widgets still use.
extension View {
  nonisolated public func accessibility(label: Text) -> some View { accessibilityLabel(label) }
  nonisolated public func accessibility(value: Text) -> some View { accessibilityValue(value) }
  nonisolated public func accessibility(hint: Text) -> some View { accessibilityHint(hint) }
  nonisolated public func accessibility(hidden: Bool) -> some View { accessibilityHidden(hidden) }
  nonisolated public func accessibility(identifier: String) -> some View { accessibilityIdentifier(identifier) }
  nonisolated public func accessibility(addTraits traits: AccessibilityTraits) -> some View {
    accessibilityAddTraits(traits)
  }
  nonisolated public func accessibility(removeTraits traits: AccessibilityTraits) -> some View {
    accessibilityRemoveTraits(traits)
  }
}

/// Source: `SwiftUI.AccessibilityChildBehavior`.
public struct AccessibilityChildBehavior: Hashable, Sendable, NamedArgument {
  let name: String
  public static let ignore = AccessibilityChildBehavior(name: "ignore")
  public static let contain = AccessibilityChildBehavior(name: "contain")
  public static let combine = AccessibilityChildBehavior(name: "combine")
}

/// Source: `SwiftUI.AccessibilityTraits`.
public struct AccessibilityTraits: SetAlgebra, Hashable, Sendable {
  var names: Set<String>
  private init(names: Set<String>) { self.names = names }
  public init() { names = [] }
  public static let isButton = Self(names: ["isButton"]), isHeader = Self(names: ["isHeader"]),
    isSelected = Self(names: ["isSelected"]), isLink = Self(names: ["isLink"]), isImage = Self(names: ["isImage"]),
    isStaticText = Self(names: ["isStaticText"]), isSummaryElement = Self(names: ["isSummaryElement"]),
    updatesFrequently = Self(names: ["updatesFrequently"]), isToggle = Self(names: ["isToggle"])

  public func contains(_ member: Self) -> Bool { names.isSuperset(of: member.names) }
  public func union(_ other: Self) -> Self { Self(names: names.union(other.names)) }
  public func intersection(_ other: Self) -> Self { Self(names: names.intersection(other.names)) }
  public func symmetricDifference(_ other: Self) -> Self { Self(names: names.symmetricDifference(other.names)) }
  @discardableResult public mutating func insert(_ member: Self) -> (inserted: Bool, memberAfterInsert: Self) {
    defer { names.formUnion(member.names) }
    return (!contains(member), member)
  }
  @discardableResult public mutating func remove(_ member: Self) -> Self? {
    defer { names.subtract(member.names) }
    return contains(member) ? member : nil
  }
  @discardableResult public mutating func update(with member: Self) -> Self? { insert(member).inserted ? nil : member }
  public mutating func formUnion(_ other: Self) { names.formUnion(other.names) }
  public mutating func formIntersection(_ other: Self) { names.formIntersection(other.names) }
  public mutating func formSymmetricDifference(_ other: Self) { names.formSymmetricDifference(other.names) }
}
