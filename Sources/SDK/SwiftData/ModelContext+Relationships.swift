// SPDX-License-Identifier: Apache-2.0

extension ModelContext {
  /// The related models of a property, after the store was asked for them if necessary.
  func relatedIdentifiers(of model: any PersistentModel, _ property: String) -> [PersistentIdentifier] {
    let values = model._modelValues
    if case .identifiers(let identifiers) = values.related[property] { return identifiers }
    guard let relation = entity(of: model).relations[property] else { return [] }
    let identifiers = storedIdentifiers(model, relation)
    values.related[property] = .identifiers(identifiers)
    return identifiers
  }

  private func storedIdentifiers(_ model: any PersistentModel, _ relation: Schema.Relation) -> [PersistentIdentifier] {
    let key = model._modelValues.key
    guard !inserted.contains(model.persistentModelID) else { return [] }
    let keys: [String]?
    if !container.schema.hasLinks(relation), let inverse = container.schema.inverse(of: relation) {
      keys = try? container.store(of: inverse.entity).sources(inverse.entity, inverse.name, to: key)
    } else {
      keys = try? container.store(of: relation.entity).targets(relation.entity, relation.name, from: key)
    }
    return (keys ?? []).map { PersistentIdentifier(entityName: relation.target, primaryKey: $0) }
  }

  /// Sets the related models of a property, and the inverse property of each model whose relationship changes. Inserts
  /// models that do not belong to a context yet.
  func relate(_ model: any PersistentModel, _ property: String, to models: [any PersistentModel]) {
    guard let relation = entity(of: model).relations[property] else {
      fatalError("\(type(of: model)).\(property) is not a relationship")
    }
    let old = relatedIdentifiers(of: model, property)
    for other in models where other._modelValues.context == nil { insert(any: other) }
    // An insertion may have set the property through its inverse.
    let new = models.map(\.persistentModelID)
    model._modelValues.willChange(property, of: model)
    model._modelValues.related[property] = .identifiers(new)
    guard let inverse = container.schema.inverse(of: relation) else { return }
    let (before, after) = (Set(old), Set(new))
    for identifier in old where !after.contains(identifier) {
      if let other = find(identifier) { unlink(other, inverse, from: model.persistentModelID) }
    }
    for other in models where !before.contains(other.persistentModelID) { link(other, inverse, to: model) }
  }

  /// Adds a model to the inverse property of another one.
  private func link(_ other: any PersistentModel, _ inverse: Schema.Relation, to model: any PersistentModel) {
    let identifier = model.persistentModelID
    let old = relatedIdentifiers(of: other, inverse.name)
    guard !old.contains(identifier) else { return }
    if !inverse.isToMany, let previous = old.first.flatMap(find), let back = container.schema.inverse(of: inverse) {
      unlink(previous, back, from: other.persistentModelID)
    }
    set(other, inverse, to: inverse.isToMany ? old + [identifier] : [identifier])
  }

  /// Removes a model from the inverse property of another one.
  private func unlink(
    _ other: any PersistentModel, _ inverse: Schema.Relation, from identifier: PersistentIdentifier
  ) {
    let old = relatedIdentifiers(of: other, inverse.name)
    guard old.contains(identifier) else { return }
    set(other, inverse, to: old.filter { $0 != identifier })
  }

  private func set(_ model: any PersistentModel, _ relation: Schema.Relation, to identifiers: [PersistentIdentifier]) {
    model._modelValues.willChange(relation.name, of: model)
    relation.metadata.mutate(model) { model._modelValues.related[relation.name] = .identifiers(identifiers) }
  }

  // MARK: Deletion

  func applyDeleteRules(of model: any PersistentModel) {
    let identifier = model.persistentModelID
    for relation in entity(of: model).relations.values {
      let others = relatedIdentifiers(of: model, relation.name).compactMap(find)
      switch relation.deleteRule {
      case .cascade: for other in others { delete(any: other) }
      case .nullify:
        guard let inverse = container.schema.inverse(of: relation) else { continue }
        for other in others where !deleted.contains(other.persistentModelID) {
          unlink(other, inverse, from: identifier)
        }
      case .noAction, .deny: break
      }
    }
  }

  /// The first relationship by whose rule a model must not be deleted.
  func deniedDeletion() -> (model: any PersistentModel, relation: Schema.Relation)? {
    for model in deleted.models {
      for relation in entity(of: model).relations.values where relation.deleteRule == .deny {
        let others = relatedIdentifiers(of: model, relation.name)
        if others.contains(where: { !deleted.contains($0) && find($0) != nil }) { return (model, relation) }
      }
    }
    return nil
  }
}
