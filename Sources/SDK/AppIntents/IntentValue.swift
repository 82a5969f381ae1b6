// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
public import URLSessionAPI

/// A type of intent parameters. Source: `AppIntents._IntentValue`; authors conform to `AppEnum` and `AppEntity`.
public protocol _IntentValue: Sendable {
  /// The type of a single value that is not optional.
  associatedtype ValueType: _IntentValue = Self
  /// The type without `nil`.
  associatedtype UnwrappedType: _IntentValue = Self
  /// The type in messages.
  static var _kind: _IntentValueKind { get }
  /// The value in messages.
  var _archived: _IntentArchive { get }
  /// The value of an archive; `nil` when the archive holds another type.
  @concurrent static func _restored(_ archive: _IntentArchive) async throws -> Self?
  /// The options; `nil` when any value is accepted.
  @concurrent static func _choices() async throws -> _IntentOptions?
  /// The options that match the search text.
  @concurrent static func _matches(_ words: String) async throws -> _IntentOptions
  /// The value that applies when the user chose none.
  @concurrent static func _unchosen() async -> Self?
  /// The value as displayed to the user.
  var _title: String { get }
}

/// The type of a parameter in messages. Opaque to authors.
public struct _IntentValueKind: Sendable {
  let type: IntentDeclaration.Parameter.ValueType
  let isOptional: Bool
  init(_ type: IntentDeclaration.Parameter.ValueType, isOptional: Bool = false) {
    self.type = type
    self.isOptional = isOptional
  }
}

/// A parameter's value in messages; `nil` for no value. Opaque to authors.
public struct _IntentArchive: Sendable {
  let value: ArchivedValue?
  init(_ value: ArchivedValue?) { self.value = value }
}

/// The options of a parameter in messages. Opaque to authors.
public struct _IntentOptions: Sendable {
  let options: [IntentDeclaration.Option]
  init(_ options: [IntentDeclaration.Option]) { self.options = options }

  /// Each as a list with one element.
  var lists: _IntentOptions {
    _IntentOptions(
      options.map { .init(value: .list([$0.value]), title: $0.title, subtitle: $0.subtitle, section: $0.section) })
  }
}

extension _IntentValue {
  @concurrent public static func _choices() async throws -> _IntentOptions? { nil }
  @concurrent public static func _matches(_ words: String) async throws -> _IntentOptions { _IntentOptions([]) }
  @concurrent public static func _unchosen() async -> Self? { nil }
  /// Swift's description of the value.
  public var _title: String { "\(self)" }

  /// A default of a provider as a value of this type: a single value is the first element of a list.
  static func fitting(_ foundValue: (any _IntentValue)?) -> Self? {
    guard let foundValue else { return nil }
    return foundValue as? Self ?? (foundValue as? [any _IntentValue])?.first as? Self ?? [foundValue] as? Self
  }
}

extension Bool: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.bool) }
  public var _archived: _IntentArchive { _IntentArchive(.bool(self)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Bool? {
    if case .bool(let value) = archive.value { return value }
    return archive.value?.string.flatMap(Bool.init)
  }
}

extension Int: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.int) }
  public var _archived: _IntentArchive { _IntentArchive(.number(Double(self))) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Int? {
    archive.value?.number.flatMap { Int(exactly: $0) } ?? archive.value?.string.flatMap { Int($0) }
  }
}

extension Double: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.double) }
  public var _archived: _IntentArchive { _IntentArchive(.number(self)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Double? {
    archive.value?.number ?? archive.value?.string.flatMap { Double($0) }
  }
}

extension String: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.string) }
  public var _archived: _IntentArchive { _IntentArchive(.string(self)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> String? { archive.value?.string }
}

extension Date: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.date) }
  public var _archived: _IntentArchive { _IntentArchive(.date(self)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Date? {
    if case .date(let date) = archive.value { return date }
    return try archive.value?.string.map { try Date($0, strategy: .iso8601) }
  }
}

extension URL: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.url) }
  public var _archived: _IntentArchive { _IntentArchive(.string(absoluteString)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> URL? {
    archive.value?.string.flatMap { URL(string: $0) }
  }
}

extension Optional: _IntentValue where Wrapped: _IntentValue {
  public typealias ValueType = Wrapped.ValueType
  public typealias UnwrappedType = Wrapped
  public static var _kind: _IntentValueKind { _IntentValueKind(Wrapped._kind.type, isOptional: true) }
  public var _archived: _IntentArchive { self?._archived ?? _IntentArchive(nil) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Wrapped?? {
    try await .some(Wrapped._restored(archive))
  }
  @concurrent public static func _choices() async throws -> _IntentOptions? { try await Wrapped._choices() }
  @concurrent public static func _matches(_ words: String) async throws -> _IntentOptions {
    try await Wrapped._matches(words)
  }
  @concurrent public static func _unchosen() async -> Wrapped?? { await .some(Wrapped._unchosen()) }
  public var _title: String { self?._title ?? "" }
}

extension Array: _IntentValue where Element: _IntentValue {
  public typealias ValueType = Element.ValueType
  public typealias UnwrappedType = [Element]
  public static var _kind: _IntentValueKind { Element._kind }
  public var _archived: _IntentArchive { _IntentArchive(.list(compactMap(\._archived.value))) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> [Element]? {
    guard case .list(let values) = archive.value else {
      // A single value is read as a list with one element.
      return try await Element._restored(archive).map { [$0] }
    }
    var elements: [Element] = []
    for value in values {
      if let element = try await Element._restored(_IntentArchive(value)) { elements.append(element) }
    }
    return elements
  }
  @concurrent public static func _choices() async throws -> _IntentOptions? { try await Element._choices()?.lists }
  @concurrent public static func _matches(_ words: String) async throws -> _IntentOptions {
    try await Element._matches(words).lists
  }
  public var _title: String { map(\._title).formatted() }
}

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
