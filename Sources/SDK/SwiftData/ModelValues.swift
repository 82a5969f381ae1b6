// SPDX-License-Identifier: Apache-2.0

import Foundation
import Observation

/// A value of a stored property.
protocol AttributeValue {}

struct StoredValue<Value>: AttributeValue {
  let value: Value
}

/// The related models of a property.
enum RelatedModels {
  /// Before the model is inserted.
  case models([any PersistentModel])
  /// Afterwards.
  case identifiers([PersistentIdentifier])
}

/// The values of a model's stored properties. Only expansions of `@Model` use its public declarations.
public final class _ModelValues {
  /// The primary key.
  var key = UUID().uuidString
  var storeIdentifier: String?
  /// Strong, so that a model can be read when the author keeps no context. The context has only models with changes.
  var context: ModelContext?
  /// By property.
  var attributes: [String: any AttributeValue] = [:]
  /// By property. Absent until the store is asked for it.
  var related: [String: RelatedModels] = [:]
  /// The properties that differ from the store.
  var changed: Set<String> = []
  /// Whether the store has no record of the model.
  var isMissing = false
  private var saved: (attributes: [String: any AttributeValue], related: [String: RelatedModels])?
  let registrar = ObservationRegistrar()

  public init() {}

  func identifier(for type: any PersistentModel.Type) -> PersistentIdentifier {
    PersistentIdentifier(
      entityName: Schema.entityName(for: type), primaryKey: key, storeIdentifier: storeIdentifier)
  }

  // MARK: Properties

  // Each function exists for relationships and for other values. The compiler chooses: a cast at run time would fail for a
  // model that is isolated to the main actor, and for `nil`.

  /// Sets the initial value of a property, in an initializer.
  @_disfavoredOverload
  public func start<Value>(_ property: String, _ value: Value) { attributes[property] = StoredValue(value: value) }

  public func start<Value: _RelationshipValue>(_ property: String, _ value: Value) {
    related[property] = .models(value._relatedModels)
  }

  /// Takes the initial values that the declarations of properties have.
  public func takeDefaults(of values: _ModelValues) {
    attributes.merge(values.attributes) { own, _ in own }
  }

  @_disfavoredOverload
  public func read<Model: PersistentModel, Value>(
    _ model: Model, _ keyPath: KeyPath<Model, Value>, _ property: String
  ) -> Value {
    registrar.access(model, keyPath: keyPath)
    if let attribute = attributes[property] as? StoredValue<Value> { return attribute.value }
    if let type = Value.self as? any ExpressibleByNilLiteral.Type, let value = type.init(nilLiteral: ()) as? Value {
      return value
    }
    fail(Model.self, property)
  }

  public func read<Model: PersistentModel, Value: _RelationshipValue>(
    _ model: Model, _ keyPath: KeyPath<Model, Value>, _ property: String
  ) -> Value {
    registrar.access(model, keyPath: keyPath)
    guard let value = Value._value(of: models(of: property, in: model)) else { fail(Model.self, property) }
    return value
  }

  private func fail(_ type: any PersistentModel.Type, _ property: String) -> Never {
    fatalError(
      isMissing
        ? "\(type).\(property): the store has no such model any more"
        : "\(type).\(property) has no value: neither the store nor the declaration has one")
  }

  @_disfavoredOverload
  public func write<Model: PersistentModel, Value>(
    _ model: Model, _ keyPath: KeyPath<Model, Value>, _ property: String, _ value: Value
  ) {
    willChange(property, of: model)
    registrar.withMutation(of: model, keyPath: keyPath) { attributes[property] = StoredValue(value: value) }
  }

  public func write<Model: PersistentModel, Value: _RelationshipValue>(
    _ model: Model, _ keyPath: KeyPath<Model, Value>, _ property: String, _ value: Value
  ) {
    willChange(property, of: model)
    registrar.withMutation(of: model, keyPath: keyPath) {
      if let context {
        context.relate(model, property, to: value._relatedModels)
      } else {
        related[property] = .models(value._relatedModels)
      }
    }
  }

  private func models(of property: String, in model: any PersistentModel) -> [any PersistentModel] {
    switch related[property] {
    case .models(let models): return models
    case .identifiers(let identifiers): return context?.models(identifiers) ?? []
    case nil:
      guard let context else { return [] }
      return context.models(context.relatedIdentifiers(of: model, property))
    }
  }

  // MARK: Changes

  /// Marks a property as changed, before it is.
  func willChange(_ property: String, of model: any PersistentModel) {
    guard let context else { return }
    if saved == nil { saved = (attributes, related) }
    changed.insert(property)
    context.didChange(model)
  }

  /// Returns to the values of the last save or fetch.
  func revert() {
    if let saved { (attributes, related) = saved }
    didSave()
  }

  func didSave() {
    saved = nil
    changed = []
  }

  /// Takes the values of the store, without those of relationships, for which the store is asked later.
  func refresh(_ attributes: [String: any AttributeValue]) {
    self.attributes.merge(attributes) { _, new in new }
    related = [:]
    didSave()
  }
}
