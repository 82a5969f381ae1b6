// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
public import URLSessionAPI

/// An identifier that converts to and from text. Source: `AppIntents.EntityIdentifierConvertible`.
public protocol EntityIdentifierConvertible {
  var entityIdentifierString: String { get }
  /// Returns `nil` when the text is not a valid identifier.
  static func entityIdentifier(for entityIdentifierString: String) -> Self?
}

extension String: EntityIdentifierConvertible {
  public var entityIdentifierString: String { self }
  public static func entityIdentifier(for entityIdentifierString: String) -> String? { entityIdentifierString }
}

extension Int: EntityIdentifierConvertible {
  public var entityIdentifierString: String { description }
  public static func entityIdentifier(for entityIdentifierString: String) -> Int? { Int(entityIdentifierString) }
}

extension UUID: EntityIdentifierConvertible {
  public var entityIdentifierString: String { uuidString }
  public static func entityIdentifier(for entityIdentifierString: String) -> UUID? {
    UUID(uuidString: entityIdentifierString)
  }
}

/// An object of the app that the user can choose. Source: `AppIntents.AppEntity`.
public protocol AppEntity: AppValue, Identifiable where ID: EntityIdentifierConvertible & Sendable {
  associatedtype DefaultQuery: EntityQuery where DefaultQuery.Entity == Self
  static var defaultQuery: DefaultQuery { get }
}

extension AppEntity {
  public static var _kind: _IntentValueKind { _IntentValueKind(.entity) }
  public var _archived: _IntentArchive { _IntentArchive(.string(id.entityIdentifierString)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Self? {
    guard let text = archive.value?.string, let id = ID.entityIdentifier(for: text) else { return nil }
    return try await defaultQuery.entities(for: [id]).first
  }
  @concurrent public static func _choices() async throws -> _IntentOptions? {
    try await defaultQuery.suggestedEntities()._options
  }
  /// The entities that the query finds for the user's search text.
  @concurrent public static func _matches(_ words: String) async throws -> _IntentOptions {
    try await defaultQuery.found(words)
  }
  @concurrent public static func _unchosen() async -> Self? { fitting(await defaultQuery.defaultResult()) }
}

/// Provides the values that can be chosen. Source: `AppIntents.DynamicOptionsProvider`.
public protocol DynamicOptionsProvider: Sendable {
  /// An array, or an `IntentItemCollection`.
  associatedtype Result: ResultsCollection
  /// The type of the value that applies when the user chose none: a value, or a list of values.
  associatedtype DefaultValue: _IntentValue = Result.Result where DefaultValue.ValueType == Result.Result.ValueType
  /// The values that can be chosen.
  @concurrent func results() async throws -> Result
  /// The value that applies when the user chose none.
  @concurrent func defaultResult() async -> DefaultValue?
}

extension DynamicOptionsProvider {
  public typealias Item = IntentItem
  public typealias ItemSection = IntentItemSection
  public typealias ItemCollection = IntentItemCollection
  @concurrent public func defaultResult() async -> DefaultValue? { nil }
}

/// Finds an app's entities. Source: `AppIntents.EntityQuery`.
public protocol EntityQuery<Entity>: DynamicOptionsProvider, PersistentlyIdentifiable where Result.Result == Entity {
  associatedtype Entity: AppEntity = Result.Result
  associatedtype Result = [Entity]
  /// The system creates the query.
  init()
  /// The entities with these identifiers.
  @concurrent func entities(for identifiers: [Entity.ID]) async throws -> [Entity]
  /// The entities that are offered to the user.
  @concurrent func suggestedEntities() async throws -> Result
}

extension EntityQuery {
  @concurrent public func suggestedEntities() async throws -> Result { .empty }
  /// The suggested entities.
  @concurrent public func results() async throws -> Result { try await suggestedEntities() }
}

extension EntityQuery {
  /// The entities that match the search text; none unless the query is an `EntityStringQuery`.
  @concurrent func found(_ words: String) async throws -> _IntentOptions {
    try await (self as? any EntityStringQuery)?.matching(words) ?? _IntentOptions([])
  }
}

extension EntityStringQuery {
  @concurrent fileprivate func matching(_ words: String) async throws -> _IntentOptions {
    try await entities(matching: words)._options
  }
}

/// Finds entities by search text. Source: `AppIntents.EntityStringQuery`.
public protocol EntityStringQuery: EntityQuery {
  @concurrent func entities(matching string: String) async throws -> Result
}

/// Finds all entities of an app. Source: `AppIntents.EnumerableEntityQuery`.
public protocol EnumerableEntityQuery: EntityQuery {
  // Repeated, so that the compiler infers them from `allEntities()`.
  associatedtype Entity
  associatedtype Result = [Entity]
  @concurrent func allEntities() async throws -> Result
}

extension EnumerableEntityQuery {
  @concurrent public func suggestedEntities() async throws -> Result { try await allEntities() }
  @concurrent public func entities(for identifiers: [Entity.ID]) async throws -> [Entity] {
    try await allEntities().items.compactMap { $0 as? Entity }.filter { identifiers.contains($0.id) }
  }
}

/// A type whose values can be displayed to the user. Source: `AppIntents.AppValue`.
public protocol AppValue: PersistentlyIdentifiable, TypeDisplayRepresentable, InstanceDisplayRepresentable, _IntentValue
{}

extension AppValue {
  /// The title of its display representation, in the device's language.
  public var _title: String { displayRepresentation.title.resolved() }
}

/// A type with a display representation for each of its cases. Source: `AppIntents.CaseDisplayRepresentable`.
public protocol CaseDisplayRepresentable: TypeDisplayRepresentable, InstanceDisplayRepresentable, Hashable {
  static var caseDisplayRepresentations: [Self: DisplayRepresentation] { get }
}

/// A choice among fixed values. Source: `AppIntents.AppEnum`.
public protocol AppEnum: AppValue, CaseDisplayRepresentable, CaseIterable, RawRepresentable
where RawValue: LosslessStringConvertible {}

extension AppEnum {
  /// The entry of `caseDisplayRepresentations`; the raw value when there is no entry.
  public var displayRepresentation: DisplayRepresentation {
    Self.caseDisplayRepresentations[self] ?? DisplayRepresentation(title: "\(rawValue.description)")
  }
  public static var _kind: _IntentValueKind { _IntentValueKind(.enum) }
  public var _archived: _IntentArchive { _IntentArchive(.string(rawValue.description)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Self? {
    archive.value?.string.flatMap { RawValue($0) }.flatMap { Self(rawValue: $0) }
  }
  @concurrent public static func _choices() async throws -> _IntentOptions? { Array(allCases)._options }
}

/// How a value is displayed to the user. Source: `AppIntents.DisplayRepresentation`.
public struct DisplayRepresentation: Hashable, Sendable, ExpressibleByStringInterpolation {
  /// An image. Source: `AppIntents.DisplayRepresentation.Image`.
  public struct Image: Hashable, Sendable {
    private let name: String

    /// A system symbol.
    public init(systemName: String) { name = systemName }
    /// An image of the author's bundle.
    public init(named name: String, isTemplate: Bool? = nil, displayStyle: DisplayStyle? = nil) { self.name = name }
    /// An image file.
    public init(url: URL, isTemplate: Bool? = nil, displayStyle: DisplayStyle? = nil) { name = url.absoluteString }
    /// The bytes of an image file.
    public init(data: Data, isTemplate: Bool? = nil, displayStyle: DisplayStyle? = nil) {
      name = "\(data.count) bytes"
    }

    /// The shape in which it is displayed. Source: `AppIntents.DisplayRepresentation.Image.DisplayStyle`.
    public enum DisplayStyle: Hashable, Sendable {
      case `default`, circular
    }
  }

  /// The first line.
  public var title: LocalizedStringResource
  /// The second line.
  public var subtitle: LocalizedStringResource?
  /// Accepted, but not drawn.
  public var image: Image?
  /// Alternative names.
  public var synonyms: [LocalizedStringResource] = []

  public init(title: LocalizedStringResource, subtitle: LocalizedStringResource? = nil, image: Image? = nil) {
    self.title = title
    self.subtitle = subtitle
    self.image = image
  }
  public init(
    title: LocalizedStringResource, subtitle: LocalizedStringResource? = nil, image: Image? = nil,
    synonyms: [LocalizedStringResource]
  ) {
    self.init(title: title, subtitle: subtitle, image: image)
    self.synonyms = synonyms
  }
  public init(stringLiteral value: String) { self.init(title: LocalizedStringResource(stringLiteral: value)) }
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(title: LocalizedStringResource(stringInterpolation: stringInterpolation))
  }
}

/// How a type is displayed to the user. Source: `AppIntents.TypeDisplayRepresentation`.
public struct TypeDisplayRepresentation: Hashable, Sendable, ExpressibleByStringInterpolation {
  public var name: LocalizedStringResource
  public var numericFormat: LocalizedStringResource?

  public init(name: LocalizedStringResource, numericFormat: LocalizedStringResource? = nil) {
    self.name = name
    self.numericFormat = numericFormat
  }
  public init(stringLiteral value: String) { self.init(name: LocalizedStringResource(stringLiteral: value)) }
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(name: LocalizedStringResource(stringInterpolation: stringInterpolation))
  }
}

/// A type with a display representation. Source: `AppIntents.TypeDisplayRepresentable`.
public protocol TypeDisplayRepresentable {
  static var typeDisplayRepresentation: TypeDisplayRepresentation { get }
}

/// A value with a display representation. Source: `AppIntents.InstanceDisplayRepresentable`.
public protocol InstanceDisplayRepresentable: CustomLocalizedStringResourceConvertible {
  var displayRepresentation: DisplayRepresentation { get }
}

extension InstanceDisplayRepresentable {
  public var localizedStringResource: LocalizedStringResource { displayRepresentation.title }
}
