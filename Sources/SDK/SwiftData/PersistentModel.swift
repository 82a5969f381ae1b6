// SPDX-License-Identifier: Apache-2.0

import Dispatch
public import Foundation
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

/// Identifies a model in all contexts, processes and launches. Source: `SwiftData.PersistentIdentifier`. Here it does not
/// change when the model is first saved.
public struct PersistentIdentifier: Hashable, Comparable, Codable, Identifiable, Sendable {
  /// The name of the model's type.
  public let entityName: String
  let primaryKey: String
  /// The store of the model; `nil` before the model is inserted.
  public internal(set) var storeIdentifier: String?

  public var id: PersistentIdentifier { self }

  public static func == (a: Self, b: Self) -> Bool { a.primaryKey == b.primaryKey && a.entityName == b.entityName }
  public static func < (a: Self, b: Self) -> Bool { (a.entityName, a.primaryKey) < (b.entityName, b.primaryKey) }
  public func hash(into hasher: inout Hasher) { hasher.combine(primaryKey) }
}

/// Source: `SwiftData.ModelExecutor`.
public protocol ModelExecutor: Executor {
  var modelContext: ModelContext { get }
}

/// Source: `SwiftData.SerialModelExecutor`.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs the jobs of an actor with a context, in its own queue. Source: `SwiftData.DefaultSerialModelExecutor`.
public final class DefaultSerialModelExecutor: SerialModelExecutor {
  // Used by the jobs of one actor.
  nonisolated(unsafe) public let modelContext: ModelContext
  private let queue = DispatchQueue(label: "SwiftData.DefaultSerialModelExecutor")

  public init(modelContext: ModelContext) { self.modelContext = modelContext }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

/// An actor with its own context. Source: `SwiftData.ModelActor`.
public protocol ModelActor: Actor {
  nonisolated var modelContainer: ModelContainer { get }
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    guard let executor = modelExecutor as? any SerialModelExecutor else {
      fatalError("\(type(of: modelExecutor)) is not a SerialModelExecutor")
    }
    return executor.asUnownedSerialExecutor()
  }

  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The model with this identifier.
  public subscript<T: PersistentModel>(_ id: PersistentIdentifier, as type: T.Type) -> T? {
    modelContext.find(id) as? T
  }
}

/// Source: `SwiftData.SwiftDataError`. The description has the reason in addition.
public struct SwiftDataError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
  private let name: String
  private let reason: String?

  private init(_ name: String, _ reason: String? = nil) { (self.name, self.reason) = (name, reason) }

  /// The same error with a reason.
  func because(_ reason: String) -> SwiftDataError { SwiftDataError(name, reason) }

  public static let backwardMigration = SwiftDataError("backwardMigration")
  public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
    "configurationFileNameContainsInvalidCharacters")
  public static let configurationFileNameTooLong = SwiftDataError("configurationFileNameTooLong")
  public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
    "configurationSchemaNotFoundInContainerSchema")
  public static let duplicateConfiguration = SwiftDataError("duplicateConfiguration")
  public static let includePendingChangesWithBatchSize = SwiftDataError("includePendingChangesWithBatchSize")
  public static let loadIssueModelContainer = SwiftDataError("loadIssueModelContainer")
  public static let missingModelContext = SwiftDataError("missingModelContext")
  public static let modelValidationFailure = SwiftDataError("modelValidationFailure")
  public static let sortingPendingChangesWithIdentifiers = SwiftDataError("sortingPendingChangesWithIdentifiers")
  public static let unknownSchema = SwiftDataError("unknownSchema")
  public static let unsupportedKeyPath = SwiftDataError("unsupportedKeyPath")
  public static let unsupportedPredicate = SwiftDataError("unsupportedPredicate")
  public static let unsupportedSortDescriptor = SwiftDataError("unsupportedSortDescriptor")

  public static func == (a: SwiftDataError, b: SwiftDataError) -> Bool { a.name == b.name }
  public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool { error as? SwiftDataError == pattern }
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  public var description: String { "SwiftDataError.\(name)" + (reason.map { ": \($0)" } ?? "") }
  public var errorDescription: String? { description }
}
