import Archive

// What is read out of a view. Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  /// What is read out.
  nonisolated public func accessibilityLabel(_ label: Text) -> some View {
    modified("accessibilityLabel", ["label": .string(label.resolved())])
  }
  /// What is read out.
  nonisolated public func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some View {
    modified("accessibilityLabel", ["label": .string(Text(labelKey).resolved())])
  }
  /// What is read out.
  @_disfavoredOverload nonisolated public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View {
    modified("accessibilityLabel", ["label": .string(String(label))])
  }
  /// What is read out.
  nonisolated public func accessibilityValue(_ value: Text) -> some View {
    modified("accessibilityValue", ["value": .string(value.resolved())])
  }
  /// What is read out.
  nonisolated public func accessibilityValue(_ valueKey: LocalizedStringKey) -> some View {
    modified("accessibilityValue", ["value": .string(Text(valueKey).resolved())])
  }
  /// What is read out.
  @_disfavoredOverload nonisolated public func accessibilityValue<S: StringProtocol>(_ value: S) -> some View {
    modified("accessibilityValue", ["value": .string(String(value))])
  }
  /// What is read out.
  nonisolated public func accessibilityHint(_ hint: Text) -> some View {
    modified("accessibilityHint", ["hint": .string(hint.resolved())])
  }
  /// What is read out.
  nonisolated public func accessibilityHint(_ hintKey: LocalizedStringKey) -> some View {
    modified("accessibilityHint", ["hint": .string(Text(hintKey).resolved())])
  }
  /// What is read out.
  @_disfavoredOverload nonisolated public func accessibilityHint<S: StringProtocol>(_ hint: S) -> some View {
    modified("accessibilityHint", ["hint": .string(String(hint))])
  }
  /// What is read out.
  nonisolated public func accessibilityIdentifier(_ identifier: String) -> some View {
    modified("accessibilityIdentifier", ["identifier": .string(identifier)])
  }
  /// Whether the view is read out.
  nonisolated public func accessibilityHidden(_ hidden: Bool) -> some View {
    modified("accessibilityHidden", ["hidden": .bool(hidden)])
  }
  /// The view and those in it as one.
  nonisolated public func accessibilityElement(
    children: AccessibilityChildBehavior = .ignore
  ) -> some View {
    modified("accessibilityElement", ["children": children.archived])
  }
  /// What the view is.
  nonisolated public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View {
    modified("accessibilityAddTraits", ["traits": .list(traits.names.sorted().map { .string($0) })])
  }
  /// What the view is not.
  nonisolated public func accessibilityRemoveTraits(_ traits: AccessibilityTraits) -> some View {
    modified("accessibilityRemoveTraits", ["traits": .list(traits.names.sorted().map { .string($0) })])
  }
  /// When the view is read out beside others.
  nonisolated public func accessibilitySortPriority(_ sortPriority: Double) -> some View {
    modified("accessibilitySortPriority", ["priority": .number(sortPriority)])
  }
}

// The older names of the same, which widgets still use.
extension View {
  /// What is read out.
  nonisolated public func accessibility(label: Text) -> some View { accessibilityLabel(label) }
  /// What is read out.
  nonisolated public func accessibility(value: Text) -> some View { accessibilityValue(value) }
  /// What is read out.
  nonisolated public func accessibility(hint: Text) -> some View { accessibilityHint(hint) }
  /// Whether the view is read out.
  nonisolated public func accessibility(hidden: Bool) -> some View { accessibilityHidden(hidden) }
  /// What tests find the view by.
  nonisolated public func accessibility(identifier: String) -> some View { accessibilityIdentifier(identifier) }
  /// What the view is.
  nonisolated public func accessibility(addTraits traits: AccessibilityTraits) -> some View {
    accessibilityAddTraits(traits)
  }
  /// What the view is not.
  nonisolated public func accessibility(removeTraits traits: AccessibilityTraits) -> some View {
    accessibilityRemoveTraits(traits)
  }
}

/// What becomes of views within one that is read out. Source: `SwiftUI.AccessibilityChildBehavior`.
public struct AccessibilityChildBehavior: Hashable, Sendable, NamedArgument {
  let name: String
  /// They are not read out.
  public static let ignore = AccessibilityChildBehavior(name: "ignore")
  /// They are read out by themselves.
  public static let contain = AccessibilityChildBehavior(name: "contain")
  /// They are read out together.
  public static let combine = AccessibilityChildBehavior(name: "combine")
}

/// What a view is. Source: `SwiftUI.AccessibilityTraits`.
public struct AccessibilityTraits: SetAlgebra, Hashable, Sendable {
  var names: Set<String>
  private init(names: Set<String>) { self.names = names }
  /// Nothing.
  public init() { names = [] }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let isButton = Self(names: ["isButton"]), isHeader = Self(names: ["isHeader"]),
    isSelected = Self(names: ["isSelected"]), isLink = Self(names: ["isLink"]), isImage = Self(names: ["isImage"]),
    isStaticText = Self(names: ["isStaticText"]), isSummaryElement = Self(names: ["isSummaryElement"]),
    updatesFrequently = Self(names: ["updatesFrequently"]), isToggle = Self(names: ["isToggle"])

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public func contains(_ member: Self) -> Bool { names.isSuperset(of: member.names) }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public func union(_ other: Self) -> Self { Self(names: names.union(other.names)) }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public func intersection(_ other: Self) -> Self { Self(names: names.intersection(other.names)) }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public func symmetricDifference(_ other: Self) -> Self { Self(names: names.symmetricDifference(other.names)) }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  @discardableResult public mutating func insert(_ member: Self) -> (inserted: Bool, memberAfterInsert: Self) {
    defer { names.formUnion(member.names) }
    return (!contains(member), member)
  }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  @discardableResult public mutating func remove(_ member: Self) -> Self? {
    defer { names.subtract(member.names) }
    return contains(member) ? member : nil
  }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  @discardableResult public mutating func update(with member: Self) -> Self? { insert(member).inserted ? nil : member }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public mutating func formUnion(_ other: Self) { names.formUnion(other.names) }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public mutating func formIntersection(_ other: Self) { names.formIntersection(other.names) }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public mutating func formSymmetricDifference(_ other: Self) { names.formSymmetricDifference(other.names) }
}
