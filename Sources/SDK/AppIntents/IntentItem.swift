// SPDX-License-Identifier: Apache-2.0

import Archive
public import URLSessionAPI

/// The values that an options provider or a query returns. Source: `AppIntents.ResultsCollection`.
public protocol ResultsCollection<Result>: Sendable {
  associatedtype Result: _IntentValue
  /// All values, without sections.
  var items: [Result.ValueType] { get }
  /// A text above the values. Accepted, but not shown.
  var promptLabel: LocalizedStringResource? { get }
  /// Whether the values have an alphabetical index. Accepted, but not shown.
  var usesIndexedCollation: Bool { get }
  /// No values.
  static var empty: Self { get }
  /// The values as options of a parameter.
  var _options: _IntentOptions { get }
}

extension Array: ResultsCollection where Element: _IntentValue {
  public typealias Result = Element
  public var items: [Element.ValueType] { compactMap { $0 as? Element.ValueType } }
  public var promptLabel: LocalizedStringResource? { nil }
  public var usesIndexedCollation: Bool { false }
  public static var empty: [Element] { [] }
  public var _options: _IntentOptions { _IntentOptions(compactMap { IntentItem($0).option(in: nil) }) }
}

/// A value with the text that is displayed for it. Source: `AppIntents.IntentItem`.
public struct IntentItem<Value: _IntentValue>: Sendable {
  public var value: Value
  /// What the user sees for the value.
  public var description: DisplayRepresentation

  /// An item with the value's own display representation.
  public init(_ value: Value) {
    self.value = value
    let displayed = value as? any InstanceDisplayRepresentable
    description = displayed?.displayRepresentation ?? DisplayRepresentation(title: "\(value._title)")
  }
  /// An item with this title instead of the value's own.
  public init(
    _ value: Value, title: LocalizedStringResource, subtitle: LocalizedStringResource? = nil,
    image: DisplayRepresentation.Image? = nil
  ) {
    self.value = value
    description = DisplayRepresentation(title: title, subtitle: subtitle, image: image)
  }

  /// `nil` for an item without a value.
  func option(in section: String?) -> IntentDeclaration.Option? {
    value._archived.value.map { value in
      IntentDeclaration.Option(
        value: value, title: description.title.resolved(), subtitle: description.subtitle?.resolved(),
        section: section)
    }
  }

  /// Builds items from items and values. Source: `AppIntents.IntentItem.Builder`.
  @resultBuilder public enum Builder {
    public static func buildExpression(_ value: Value) -> [IntentItem] { [IntentItem(value)] }
    public static func buildExpression(_ item: IntentItem) -> [IntentItem] { [item] }
    public static func buildBlock(_ items: [IntentItem]...) -> [IntentItem] { items.flatMap(\.self) }
    public static func buildArray(_ items: [[IntentItem]]) -> [IntentItem] { items.flatMap(\.self) }
  }
}

/// Items with a common title. Source: `AppIntents.IntentItemSection`.
public struct IntentItemSection<Result: _IntentValue>: Sendable {
  /// What the user sees above the items.
  public var description: DisplayRepresentation?
  public var items: [IntentItem<Result>]

  public init(_ title: LocalizedStringResource, items: [Result]) {
    self.init(title, items: items.map { IntentItem($0) })
  }
  public init(_ title: LocalizedStringResource, items: [IntentItem<Result>]) {
    description = DisplayRepresentation(title: title)
    self.items = items
  }
  /// The older form of `init(_:items:)`.
  public init(title: LocalizedStringResource, items: [IntentItem<Result>]) { self.init(title, items: items) }
  /// A section without title.
  public init(items: [IntentItem<Result>]) { self.items = items }
  public init(
    _ title: LocalizedStringResource? = nil, subtitle: LocalizedStringResource? = nil,
    image: DisplayRepresentation.Image? = nil, @IntentItem<Result>.Builder itemsBuilder: () -> [IntentItem<Result>]
  ) {
    description = title.map { DisplayRepresentation(title: $0, subtitle: subtitle, image: image) }
    items = itemsBuilder()
  }

  fileprivate var options: [IntentDeclaration.Option] {
    let texts = [description?.title.resolved(), description?.subtitle?.resolved()].compactMap(\.self)
    return items.compactMap { $0.option(in: texts.isEmpty ? nil : texts.joined(separator: ", ")) }
  }

  /// Builds sections from sections or from items. Source: `AppIntents.IntentItemSection.Builder`.
  @resultBuilder public enum Builder {
    public static func buildExpression(_ section: IntentItemSection) -> IntentItemSection { section }
    public static func buildExpression(_ item: IntentItem<Result>) -> IntentItem<Result> { item }
    public static func buildBlock() -> [IntentItemSection] { [] }
    public static func buildBlock(_ sections: IntentItemSection...) -> [IntentItemSection] { sections }
    public static func buildBlock(_ items: IntentItem<Result>...) -> [IntentItemSection] {
      [IntentItemSection(items: items)]
    }
  }
}

/// Values with titles, in sections. Source: `AppIntents.IntentItemCollection`.
public struct IntentItemCollection<Result: _IntentValue>: ResultsCollection {
  public var promptLabel: LocalizedStringResource?
  public var usesIndexedCollation: Bool
  public var sections: [IntentItemSection<Result>]

  public init(
    promptLabel: LocalizedStringResource? = nil, usesIndexedCollation: Bool = false,
    sections: [IntentItemSection<Result>]
  ) {
    self.promptLabel = promptLabel
    self.usesIndexedCollation = usesIndexedCollation
    self.sections = sections
  }
  /// Values in one section without title.
  public init(promptLabel: LocalizedStringResource? = nil, usesIndexedCollation: Bool = false, items: [Result]) {
    self.init(
      promptLabel: promptLabel, usesIndexedCollation: usesIndexedCollation,
      sections: [IntentItemSection(items: items.map { IntentItem($0) })])
  }
  public init(
    promptLabel: LocalizedStringResource? = nil, usesIndexedCollation: Bool = false,
    @IntentItemSection<Result>.Builder sectionsBuilder: () -> [IntentItemSection<Result>]
  ) {
    self.init(promptLabel: promptLabel, usesIndexedCollation: usesIndexedCollation, sections: sectionsBuilder())
  }

  public var items: [Result.ValueType] { sections.flatMap { $0.items.map(\.value).items } }
  public static var empty: IntentItemCollection { IntentItemCollection(sections: []) }
  public var _options: _IntentOptions { _IntentOptions(sections.flatMap(\.options)) }
}
