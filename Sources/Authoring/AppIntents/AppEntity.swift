import Archive
import BackgroundURLSession
public import Foundation

/// An identifier that can be written as text. Source: `AppIntents.EntityIdentifierConvertible`.
public protocol EntityIdentifierConvertible {
  /// As text.
  var entityIdentifierString: String { get }
  /// Of text; `nil` when it is none.
  static func entityIdentifier(for entityIdentifierString: String) -> Self?
}

extension String: EntityIdentifierConvertible {
  /// Itself.
  public var entityIdentifierString: String { self }
  /// Itself.
  public static func entityIdentifier(for entityIdentifierString: String) -> String? { entityIdentifierString }
}

extension Int: EntityIdentifierConvertible {
  /// Its digits.
  public var entityIdentifierString: String { description }
  /// Of digits.
  public static func entityIdentifier(for entityIdentifierString: String) -> Int? { Int(entityIdentifierString) }
}

extension UUID: EntityIdentifierConvertible {
  /// Its digits.
  public var entityIdentifierString: String { uuidString }
  /// Of digits.
  public static func entityIdentifier(for entityIdentifierString: String) -> UUID? {
    UUID(uuidString: entityIdentifierString)
  }
}

/// A thing of the app's that a person can choose. Source: `AppIntents.AppEntity`.
public protocol AppEntity: AppValue, Identifiable where ID: EntityIdentifierConvertible & Sendable {
  /// Finds entities.
  associatedtype DefaultQuery: EntityQuery where DefaultQuery.Entity == Self
  /// Finds entities.
  static var defaultQuery: DefaultQuery { get }
}

extension AppEntity {
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(.entity) }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.string(id.entityIdentifierString)) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Self? {
    guard let text = archive.value?.string, let id = ID.entityIdentifier(for: text) else { return nil }
    return try await defaultQuery.entities(for: [id]).first
  }
  /// What there is to choose among.
  @concurrent public static func _choices() async throws -> [Self]? { try await defaultQuery.suggestedEntities() }
  /// What a person's words find.
  @concurrent public static func _matches(_ words: String) async throws -> [Self] {
    try await defaultQuery.found(words)
  }
  /// What stands when nobody chose.
  @concurrent public static func _unchosen() async -> Self? { await defaultQuery.defaultResult() }
}

/// Offers what there is to choose among. Source: `AppIntents.DynamicOptionsProvider`.
public protocol DynamicOptionsProvider: Sendable {
  /// What is chosen.
  associatedtype Result: Sendable
  /// What stands when nobody chose.
  associatedtype DefaultValue = Result
  /// What there is to choose among.
  @concurrent func results() async throws -> [Result]
  /// What stands when nobody chose.
  @concurrent func defaultResult() async -> Result?
}

extension DynamicOptionsProvider {
  /// There is none.
  @concurrent public func defaultResult() async -> Result? { nil }
}

/// Finds an app's entities. Source: `AppIntents.EntityQuery`.
public protocol EntityQuery<Entity>: DynamicOptionsProvider, PersistentlyIdentifiable where Result == Entity {
  /// What it finds.
  associatedtype Entity: AppEntity
  /// The system makes the query.
  init()
  /// Those with these identifiers.
  @concurrent func entities(for identifiers: [Entity.ID]) async throws -> [Entity]
  /// Those that a person is shown to choose among.
  @concurrent func suggestedEntities() async throws -> [Entity]
}

extension EntityQuery {
  /// None.
  @concurrent public func suggestedEntities() async throws -> [Entity] { [] }
  /// The suggested ones.
  @concurrent public func results() async throws -> [Entity] { try await suggestedEntities() }
}

extension EntityQuery {
  /// What a person's words find: nothing, unless it is an `EntityStringQuery`.
  @concurrent func found(_ words: String) async throws -> [Entity] {
    guard let query = self as? any EntityStringQuery else { return [] }
    return try await query.matching(words) as? [Entity] ?? []
  }
}

extension EntityStringQuery {
  @concurrent fileprivate func matching(_ words: String) async throws -> [any Sendable] {
    try await entities(matching: words)
  }
}

/// Finds entities by a person's words. Source: `AppIntents.EntityStringQuery`.
public protocol EntityStringQuery: EntityQuery {
  /// Those that fit.
  @concurrent func entities(matching string: String) async throws -> [Entity]
}

/// Finds all of an app's entities. Source: `AppIntents.EnumerableEntityQuery`.
public protocol EnumerableEntityQuery: EntityQuery {
  /// All of them.
  @concurrent func allEntities() async throws -> [Entity]
}

extension EnumerableEntityQuery {
  /// All of them.
  @concurrent public func suggestedEntities() async throws -> [Entity] { try await allEntities() }
  /// Those with these identifiers.
  @concurrent public func entities(for identifiers: [Entity.ID]) async throws -> [Entity] {
    try await allEntities().filter { identifiers.contains($0.id) }
  }
}
