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

  /// Sets the initial value of a property, in an initializer.
  public func start<Value>(_ property: String, _ value: Value) {
    if let models = relatedModels(of: value) {
      related[property] = .models(models)
    } else {
      attributes[property] = StoredValue(value: value)
    }
  }

  /// Takes the initial values that the declarations of properties have.
  public func takeDefaults(of values: _ModelValues) {
    attributes.merge(values.attributes) { own, _ in own }
  }

  public func read<Model: PersistentModel, Value>(
    _ model: Model, _ keyPath: KeyPath<Model, Value>, _ property: String
  ) -> Value {
    registrar.access(model, keyPath: keyPath)
    if let attribute = attributes[property] as? StoredValue<Value> { return attribute.value }
    if let type = Value.self as? any _RelationshipValue.Type,
      let value = relationship(type, models(of: property, in: model), as: Value.self)
    {
      return value
    }
    if let type = Value.self as? any ExpressibleByNilLiteral.Type, let value = type.init(nilLiteral: ()) as? Value {
      return value
    }
    fatalError(
      isMissing
        ? "\(Model.self).\(property): the store has no such model any more"
        : "\(Model.self).\(property) has no value: neither the store nor the declaration has one")
  }

  public func write<Model: PersistentModel, Value>(
    _ model: Model, _ keyPath: KeyPath<Model, Value>, _ property: String, _ value: Value
  ) {
    willChange(property, of: model)
    registrar.withMutation(of: model, keyPath: keyPath) {
      guard let models = relatedModels(of: value) else {
        attributes[property] = StoredValue(value: value)
        return
      }
      if let context {
        context.relate(model, property, to: models)
      } else {
        related[property] = .models(models)
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

/// The models of a value of a relationship; `nil` for a value of another type. A cast of the value would fail for `nil`.
private func relatedModels<Value>(of value: Value) -> [any PersistentModel]? {
  func models<Relationship: _RelationshipValue>(_ type: Relationship.Type) -> [any PersistentModel] {
    (value as? Relationship)?._relatedModels ?? []
  }
  return (Value.self as? any _RelationshipValue.Type).map { models($0) }
}

/// A value of the type `type`, which is `Value`.
private func relationship<Relationship: _RelationshipValue, Value>(
  _ type: Relationship.Type, _ models: [any PersistentModel], as: Value.Type
) -> Value? {
  type._value(of: models).flatMap { $0 as? Value }
}
