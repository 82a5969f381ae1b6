// SPDX-License-Identifier: Apache-2.0

import Archive

// Accessibility modifiers. Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  nonisolated public func accessibilityLabel(_ label: Text) -> some View {
    modified(.accessibility(.label), texts: ["label": label])
  }
  nonisolated public func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some View {
    accessibilityLabel(Text(labelKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View {
    modified(.accessibility(.label), ["label": .string(String(label))])
  }
  nonisolated public func accessibilityValue(_ value: Text) -> some View {
    modified(.accessibility(.value), texts: ["value": value])
  }
  nonisolated public func accessibilityValue(_ valueKey: LocalizedStringKey) -> some View {
    accessibilityValue(Text(valueKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityValue<S: StringProtocol>(_ value: S) -> some View {
    modified(.accessibility(.value), ["value": .string(String(value))])
  }
  nonisolated public func accessibilityHint(_ hint: Text) -> some View {
    modified(.accessibility(.hint), texts: ["hint": hint])
  }
  nonisolated public func accessibilityHint(_ hintKey: LocalizedStringKey) -> some View {
    accessibilityHint(Text(hintKey))
  }
  @_disfavoredOverload nonisolated public func accessibilityHint<S: StringProtocol>(_ hint: S) -> some View {
    modified(.accessibility(.hint), ["hint": .string(String(hint))])
  }
  nonisolated public func accessibilityIdentifier(_ identifier: String) -> some View {
    modified(.accessibility(.identifier), ["identifier": .string(identifier)])
  }
  nonisolated public func accessibilityHidden(_ hidden: Bool) -> some View {
    modified(.accessibility(.hidden), ["hidden": .bool(hidden)])
  }
  nonisolated public func accessibilityElement(
    children: AccessibilityChildBehavior = .ignore
  ) -> some View {
    modified(.accessibility(.element), ["children": children.archived])
  }
  nonisolated public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View {
    modified(.accessibility(.addTraits), ["traits": .list(traits.names.sorted().map { .string($0) })])
  }
  nonisolated public func accessibilityRemoveTraits(_ traits: AccessibilityTraits) -> some View {
    modified(.accessibility(.removeTraits), ["traits": .list(traits.names.sorted().map { .string($0) })])
  }
  nonisolated public func accessibilitySortPriority(_ sortPriority: Double) -> some View {
    modified(.accessibility(.sortPriority), ["priority": .number(sortPriority)])
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
