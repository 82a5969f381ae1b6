// SPDX-License-Identifier: Apache-2.0

public import Observation

/// A class with `@Model`. Source: `SwiftData.PersistentModel`.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, _RelationshipValue {
  /// The stored properties, in the order of their declarations.
  static var schemaMetadata: [Schema.PropertyMetadata] { get }
  /// The constraints of `#Unique`.
  static var _uniqueConstraints: [[AnyKeyPath]] { get }
  /// Where the values of the stored properties are.
  var _modelValues: _ModelValues { get set }
  /// Makes the model for existing values.
  init(_modelValues: _ModelValues)
}

extension PersistentModel {
  public static var _uniqueConstraints: [[AnyKeyPath]] { [] }

  public var persistentModelID: PersistentIdentifier { _modelValues.identifier(for: Self.self) }
  public var id: PersistentIdentifier { persistentModelID }
  /// The context into which the model was inserted or fetched.
  public var modelContext: ModelContext? { _modelValues.context }
  /// Whether the model has changes that are not saved.
  public var hasChanges: Bool { _modelValues.context?.hasChanges(persistentModelID) ?? false }
  /// Whether the context deletes the model when it is saved.
  public var isDeleted: Bool { _modelValues.context?.deleted.contains(persistentModelID) ?? false }

  public static func == (a: Self, b: Self) -> Bool { a === b || a.persistentModelID == b.persistentModelID }
  public func hash(into hasher: inout Hasher) { hasher.combine(persistentModelID) }
}

/// A value of a relationship: a model, several, or one of both as an optional.
public protocol _RelationshipValue {
  static var _modelType: any PersistentModel.Type { get }
  static var _isToMany: Bool { get }
  static var _isOptional: Bool { get }
  var _relatedModels: [any PersistentModel] { get }
  /// `nil` when the models are not a value of the type.
  static func _value(of models: [any PersistentModel]) -> Self?
}

extension PersistentModel {
  public static var _modelType: any PersistentModel.Type { Self.self }
  public static var _isToMany: Bool { false }
  public static var _isOptional: Bool { false }
  public var _relatedModels: [any PersistentModel] { [self] }
  public static func _value(of models: [any PersistentModel]) -> Self? { models.first as? Self }
}

extension Array: _RelationshipValue where Element: PersistentModel {
  public static var _modelType: any PersistentModel.Type { Element.self }
  public static var _isToMany: Bool { true }
  public static var _isOptional: Bool { false }
  public var _relatedModels: [any PersistentModel] { self }
  public static func _value(of models: [any PersistentModel]) -> [Element]? { models.compactMap { $0 as? Element } }
}

extension Optional: _RelationshipValue where Wrapped: _RelationshipValue {
  public static var _modelType: any PersistentModel.Type { Wrapped._modelType }
  public static var _isToMany: Bool { Wrapped._isToMany }
  public static var _isOptional: Bool { true }
  public var _relatedModels: [any PersistentModel] { self?._relatedModels ?? [] }
  public static func _value(of models: [any PersistentModel]) -> Wrapped?? { .some(Wrapped._value(of: models)) }
}

/// The stored property that belongs to a property of a model. It is empty: `_ModelValues` has the value.
public struct _StoredElsewhere: Sendable {
  public init() {}
}
