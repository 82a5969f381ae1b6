// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
import URLSessionAPI

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
