// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ModelContext {
  /// Stores all changes. Those of one store are one transaction. A process that is killed afterwards has lost nothing.
  ///
  /// A new model whose unique values another model has becomes that model, with the new values.
  public func save() throws {
    guard hasChanges else { return }
    if let denied = deniedDeletion() {
      throw CocoaError(
        .validationRelationshipDeniedDelete,
        userInfo: [
          NSLocalizedDescriptionKey:
            "\(type(of: denied.model)) is not deleted: it has models in \(denied.relation.name), whose rule is deny"
        ])
    }
    let all = inserted.models + changed.models + deleted.models
    for model in all where try !container.allowsSave(entity(of: model).name) {
      throw CocoaError(
        .fileWriteNoPermission, userInfo: [NSLocalizedDescriptionKey: "the configuration does not allow to save"])
    }
    NotificationCenter.default.post(name: Self.willSave, object: self)
    var merged: [PersistentIdentifier: PersistentIdentifier] = [:]
    var stores: [RecordStore] = []
    for model in all {
      let store = try container.store(of: entity(of: model).name)
      if !stores.contains(where: { $0 === store }) { stores.append(store) }
    }
    for store in stores {
      func own(_ models: ModelSet) throws -> [any PersistentModel] {
        try models.models.filter { try container.store(of: entity(of: $0).name) === store }
      }
      let saving = Saving(
        context: self, inserted: try own(inserted), changed: try own(changed), deleted: try own(deleted))
      merged.merge(try store.change(saving.perform)) { _, new in new }
    }
    finishSave(merged)
    NotificationCenter.default.post(name: Self.didSave, object: self)
  }

  /// - Parameter merged: the new models that became stored ones.
  private func finishSave(_ merged: [PersistentIdentifier: PersistentIdentifier]) {
    for model in inserted.models + changed.models { model._modelValues.didSave() }
    for model in deleted.models {
      model._modelValues.didSave()
      model._modelValues.context = nil
      model._modelValues.related = [:]
    }
    let new = inserted.models
    forgetChanges()
    guard !merged.isEmpty else { return }
    for model in new {
      guard let identifier = merged[model.persistentModelID] else { continue }
      if let stored = registeredModel(identifier) {
        stored._modelValues.attributes = model._modelValues.attributes
        stored._modelValues.related = model._modelValues.related
        model._modelValues = stored._modelValues
      } else {
        model._modelValues.key = identifier.primaryKey
        register(model)
      }
    }
    for model in registeredModels {
      for case (let name, .identifiers(let identifiers)) in model._modelValues.related
      where identifiers.contains(where: { merged[$0] != nil }) {
        model._modelValues.related[name] = .identifiers(identifiers.map { merged[$0] ?? $0 })
      }
    }
  }
}

/// The changes of a context to one store.
private struct Saving {
  let context: ModelContext
  let inserted: [any PersistentModel]
  let changed: [any PersistentModel]
  let deleted: [any PersistentModel]

  /// Returns the new models that became stored ones.
  func perform(_ changes: RecordChanges) throws -> [PersistentIdentifier: PersistentIdentifier] {
    for model in deleted { try changes.remove(entity(model).name, model._modelValues.key) }
    // Values may move from one model to another.
    for model in changed { try changes.release(entity(model).name, model._modelValues.key) }
    let merged = try mergedModels(changes)
    for model in inserted {
      let identifier = merged[model.persistentModelID] ?? model.persistentModelID
      try write(model, as: identifier.primaryKey, model._modelValues.attributes, changes)
    }
    var present = inserted
    for model in changed {
      let (entity, values) = (entity(model), model._modelValues)
      // Another process may have deleted the model, or changed other properties.
      guard let content = try changes.record(of: entity.name, values.key) else { continue }
      var attributes = try RecordCoder(entity).decode(content)
      for name in values.changed { attributes[name] = values.attributes[name] ?? attributes[name] }
      try write(model, as: values.key, attributes, changes)
      present.append(model)
    }
    for model in present { try link(model, merged, changes) }
    return merged
  }

  private func entity(_ model: any PersistentModel) -> Schema.Entity { context.entity(of: model) }

  /// For each new model with the unique values of a stored model, or of an earlier new one, that model.
  private func mergedModels(_ changes: RecordChanges) throws -> [PersistentIdentifier: PersistentIdentifier] {
    var merged: [PersistentIdentifier: PersistentIdentifier] = [:]
    for model in inserted {
      let entity = entity(model)
      let identifier = model.persistentModelID
      for (properties, value) in try uniqueValues(entity, model._modelValues.attributes) {
        if let holder = try changes.holder(entity.name, properties, value), holder != identifier.primaryKey {
          merged[identifier] = PersistentIdentifier(
            entityName: entity.name, primaryKey: holder, storeIdentifier: identifier.storeIdentifier)
          break
        }
      }
      let key = (merged[identifier] ?? identifier).primaryKey
      try claim(entity, key, model._modelValues.attributes, changes)
    }
    return merged
  }

  private func uniqueValues(
    _ entity: Schema.Entity, _ attributes: [String: any AttributeValue]
  ) throws -> [(properties: String, value: String)] {
    guard !entity.uniquenessConstraints.isEmpty else { return [] }
    let coder = RecordCoder(entity)
    return try entity.uniquenessConstraints.compactMap { properties in
      try coder.key(properties, of: attributes).map { (properties.joined(separator: ","), $0) }
    }
  }

  /// Another model with one of the values is removed.
  private func claim(
    _ entity: Schema.Entity, _ key: String, _ attributes: [String: any AttributeValue], _ changes: RecordChanges
  ) throws {
    let values = try uniqueValues(entity, attributes)
    guard !values.isEmpty else { return }
    for (properties, value) in values {
      if let holder = try changes.holder(entity.name, properties, value), holder != key {
        try changes.remove(entity.name, holder)
      }
    }
    try changes.release(entity.name, key)
    for (properties, value) in values { try changes.claim(entity.name, properties, value, for: key) }
  }

  private func write(
    _ model: any PersistentModel, as key: String, _ attributes: [String: any AttributeValue], _ changes: RecordChanges
  ) throws {
    let entity = entity(model)
    try claim(entity, key, attributes, changes)
    try changes.write(entity.name, key, try RecordCoder(entity).encode(attributes))
  }

  private func link(
    _ model: any PersistentModel, _ merged: [PersistentIdentifier: PersistentIdentifier], _ changes: RecordChanges
  ) throws {
    let (entity, values) = (entity(model), model._modelValues)
    let source = (merged[model.persistentModelID] ?? model.persistentModelID).primaryKey
    for relation in entity.relations.values where context.container.schema.hasLinks(relation) {
      guard values.changed.contains(relation.name) || context.inserted.contains(model.persistentModelID),
        case .identifiers(let identifiers) = values.related[relation.name]
      else { continue }
      let targets = identifiers.filter { !context.deleted.contains($0) }.map { (merged[$0] ?? $0).primaryKey }
      try changes.link(entity.name, relation.name, from: source, to: targets)
    }
  }
}

extension CocoaError.Code {
  /// `NSValidationRelationshipDeniedDeleteError` of Core Data.
  static let validationRelationshipDeniedDelete = CocoaError.Code(rawValue: 1600)
}
