// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Models of a container, and their changes until they are saved. Source: `SwiftData.ModelContext`. One actor or thread at
/// a time.
public final class ModelContext: Equatable, CustomDebugStringConvertible {
  public let container: ModelContainer
  /// Whether changes of the main context are saved without a call of `save()`.
  public var autosaveEnabled = false
  public var author: String?

  /// Whether this is the context of the main actor.
  var autosaves = false
  private var isAutosaveScheduled = false
  var inserted = ModelSet()
  var changed = ModelSet()
  var deleted = ModelSet()
  /// The models that the author still uses, of those that were inserted or fetched.
  private var registered: [PersistentIdentifier: WeakModel] = [:]
  /// The number of registered models at which those that are gone are removed.
  private var sweepAt = 256

  public static let willSave = Notification.Name("ModelContextWillSave")
  public static let didSave = Notification.Name("ModelContextDidSave")

  public init(_ container: ModelContainer) { self.container = container }

  public static func == (a: ModelContext, b: ModelContext) -> Bool { a === b }
  public var debugDescription: String { "ModelContext (\(inserted.count) inserted, \(changed.count) changed)" }

  // MARK: Changes

  public var hasChanges: Bool { !inserted.isEmpty || !changed.isEmpty || !deleted.isEmpty }
  public var insertedModelsArray: [any PersistentModel] { inserted.models }
  public var changedModelsArray: [any PersistentModel] { changed.models }
  public var deletedModelsArray: [any PersistentModel] { deleted.models }

  func hasChanges(_ identifier: PersistentIdentifier) -> Bool {
    inserted.contains(identifier) || changed.contains(identifier) || deleted.contains(identifier)
  }

  /// Inserts a model and the models that it refers to.
  public func insert<T: PersistentModel>(_ model: T) { insert(any: model) }

  func insert(any model: any PersistentModel) {
    let values = model._modelValues
    if let context = values.context {
      guard context === self else { fatalError("the \(type(of: model)) belongs to another ModelContext") }
      deleted.remove(model.persistentModelID)
      return
    }
    let entity = entity(of: model)
    values.context = self
    values.storeIdentifier = (try? container.store(of: entity.name))?.identifier
    register(model)
    inserted.insert(model)
    for relation in entity.relations.values {
      guard case .models(let models) = values.related[relation.name] else { continue }
      values.related[relation.name] = .identifiers([])
      relate(model, relation.name, to: models)
    }
    scheduleAutosave()
  }

  /// Deletes a model at the next save. Its relationships' rules apply at once.
  public func delete<T: PersistentModel>(_ model: T) { delete(any: model) }

  private func delete(any model: any PersistentModel) {
    let identifier = model.persistentModelID
    guard model._modelValues.context === self, !deleted.contains(identifier) else { return }
    let isNew = inserted.contains(identifier)
    // Before the relationships: their rules may lead back to this model.
    deleted.insert(model)
    applyDeleteRules(of: model)
    changed.remove(identifier)
    if isNew {
      deleted.remove(identifier)
      inserted.remove(identifier)
      registered[identifier] = nil
      model._modelValues.context = nil
      model._modelValues.didSave()
    }
    scheduleAutosave()
  }

  /// Deletes the models that a predicate selects.
  public func delete<T: PersistentModel>(
    model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
  ) throws {
    for model in try fetch(FetchDescriptor(predicate: predicate)) { delete(model) }
  }

  func didChange(_ model: any PersistentModel) {
    let identifier = model.persistentModelID
    guard !inserted.contains(identifier), !deleted.contains(identifier) else { return }
    changed.insert(model)
    scheduleAutosave()
  }

  /// Discards all changes since the last save.
  public func rollback() {
    for model in inserted.models {
      registered[model.persistentModelID] = nil
      model._modelValues.context = nil
      model._modelValues.didSave()
    }
    for model in changed.models + deleted.models { model._modelValues.revert() }
    forgetChanges()
  }

  private func forgetChanges() { (inserted, changed, deleted) = (ModelSet(), ModelSet(), ModelSet()) }

  /// Has no effect: changes are processed at once.
  public func processPendingChanges() {}

  /// Saves what the closure changes.
  public func transaction(block: () throws -> Void) throws {
    try block()
    try save()
  }

  private func scheduleAutosave() {
    guard autosaves, autosaveEnabled, !isAutosaveScheduled else { return }
    isAutosaveScheduled = true
    // Used in the main actor only, to which this context belongs.
    nonisolated(unsafe) let context = self
    DispatchQueue.main.async {
      context.isAutosaveScheduled = false
      guard context.autosaveEnabled, context.hasChanges else { return }
      do { try context.save() } catch {
        FileHandle.standardError.write(Data("SwiftData: the main context cannot be saved: \(error)\n".utf8))
      }
    }
  }

  // MARK: Models

  func entity(of model: any PersistentModel) -> Schema.Entity {
    guard let entity = container.schema.entity(of: type(of: model)) else {
      fatalError("\(type(of: model)) is not in the schema of the container")
    }
    return entity
  }

  private func register(_ model: any PersistentModel) {
    registered[model.persistentModelID] = WeakModel(model: model)
    guard registered.count >= sweepAt else { return }
    registered = registered.filter { $0.value.model != nil }
    sweepAt = max(256, registered.count * 2)
  }

  private func registeredModel(_ identifier: PersistentIdentifier) -> (any PersistentModel)? {
    registered[identifier]?.model
  }

  /// The models of this context that still exist.
  var registeredModels: [any PersistentModel] { registered.values.compactMap(\.model) }

  public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
    registeredModel(persistentModelID) as? T
  }

  /// The model with this identifier. Reading a property of a model that does not exist ends the process.
  public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
    if let model = find(persistentModelID) { return model }
    guard let entity = container.schema.entitiesByName[persistentModelID.entityName] else {
      fatalError("\(persistentModelID.entityName) is not in the schema of the container")
    }
    let values = values(persistentModelID)
    values.isMissing = true
    return entity.type.init(_modelValues: values)
  }

  /// The model with this identifier, of this context or of the store.
  func find(_ identifier: PersistentIdentifier) -> (any PersistentModel)? {
    if let model = registeredModel(identifier) { return model }
    guard let entity = container.schema.entitiesByName[identifier.entityName],
      let store = try? container.store(of: entity.name),
      let content = try? store.record(of: entity.name, identifier.primaryKey),
      let attributes = try? RecordCoder(entity).decode(content)
    else { return nil }
    return materialize(entity, identifier: identifier, attributes: attributes)
  }

  func models(_ identifiers: [PersistentIdentifier]) -> [any PersistentModel] {
    identifiers.compactMap { deleted.contains($0) ? nil : find($0) }
  }

  private func values(_ identifier: PersistentIdentifier) -> _ModelValues {
    let values = _ModelValues()
    values.key = identifier.primaryKey
    values.storeIdentifier =
      identifier.storeIdentifier ?? (try? container.store(of: identifier.entityName))?.identifier
    values.context = self
    return values
  }

  /// The model of a record: that of this context, with the record's values if it has no changes, or a new one.
  private func materialize(
    _ entity: Schema.Entity, identifier: PersistentIdentifier, attributes: [String: any AttributeValue]
  ) -> any PersistentModel {
    if let model = registeredModel(identifier) {
      if !hasChanges(identifier) { model._modelValues.refresh(attributes) }
      return model
    }
    let values = values(identifier)
    values.attributes = attributes
    let model = entity.type.init(_modelValues: values)
    register(model)
    return model
  }
}

/// A model that its context does not keep.
private struct WeakModel {
  weak var model: (any PersistentModel)?
}

/// Models in the order in which they were added.
struct ModelSet {
  private var numbers: [PersistentIdentifier: (Int, any PersistentModel)] = [:]
  private var next = 0

  var count: Int { numbers.count }
  var isEmpty: Bool { numbers.isEmpty }
  var models: [any PersistentModel] { numbers.values.sorted { $0.0 < $1.0 }.map(\.1) }

  func contains(_ identifier: PersistentIdentifier) -> Bool { numbers[identifier] != nil }

  mutating func insert(_ model: any PersistentModel) {
    guard numbers[model.persistentModelID] == nil else { return }
    numbers[model.persistentModelID] = (next, model)
    next += 1
  }

  mutating func remove(_ identifier: PersistentIdentifier) { numbers[identifier] = nil }
}

extension ModelContext {
  /// The models that the descriptor selects. All models of the type are read, and the predicate and the order are those
  /// of Foundation in this process.
  public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    guard let entity = container.schema.entity(for: T.self) else {
      throw SwiftDataError.unknownSchema.because("\(T.self) is not in the schema of the container")
    }
    let coder = RecordCoder(entity)
    let isPlain = descriptor.includePendingChanges
    var models: [T] = []
    for record in try container.store(of: entity.name).records(of: entity.name) {
      let identifier = PersistentIdentifier(entityName: entity.name, primaryKey: record.id)
      if isPlain, deleted.contains(identifier) { continue }
      if let model = materialize(entity, identifier: identifier, attributes: try coder.decode(record.content)) as? T {
        models.append(model)
      }
    }
    if isPlain { models += inserted.models.compactMap { $0 as? T } }
    if let predicate = descriptor.predicate { models = try models.filter { try predicate.evaluate($0) } }
    if !descriptor.sortBy.isEmpty { models.sort(using: descriptor.sortBy) }
    let rest = models.dropFirst(descriptor.fetchOffset ?? 0)
    return Array(descriptor.fetchLimit.flatMap { $0 > 0 ? rest.prefix($0) : nil } ?? rest)
  }

  public func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<T> {
    FetchResultsCollection(try fetch(descriptor))
  }

  public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try fetch(descriptor).count
  }

  public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier] {
    try fetch(descriptor).map(\.persistentModelID)
  }

  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> {
    FetchResultsCollection(try fetchIdentifiers(descriptor))
  }

  /// Passes each model to the closure.
  public func enumerate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (T) throws -> Void
  ) throws {
    for model in try fetch(descriptor) { try block(model) }
  }
}

extension ModelContext {
  /// Stores all changes, those in one store in one transaction. A process that is killed afterwards has lost nothing.
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
      try write(model, as: identifier.primaryKey, attributes: model._modelValues.attributes, changes: changes)
    }
    var present = inserted
    for model in changed {
      let (entity, values) = (entity(model), model._modelValues)
      // Another process may have deleted the model, or changed other properties.
      guard let content = try changes.record(of: entity.name, values.key) else { continue }
      var attributes = try RecordCoder(entity).decode(content)
      for name in values.changed { attributes[name] = values.attributes[name] ?? attributes[name] }
      try write(model, as: values.key, attributes: attributes, changes: changes)
      present.append(model)
    }
    for model in present { try link(model, merged: merged, changes: changes) }
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
        if let holder = try changes.holder(entity.name, properties: properties, value: value),
          holder != identifier.primaryKey
        {
          merged[identifier] = PersistentIdentifier(
            entityName: entity.name, primaryKey: holder, storeIdentifier: identifier.storeIdentifier)
          break
        }
      }
      let key = (merged[identifier] ?? identifier).primaryKey
      try claim(entity, key: key, attributes: model._modelValues.attributes, changes: changes)
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
    _ entity: Schema.Entity, key: String, attributes: [String: any AttributeValue], changes: RecordChanges
  ) throws {
    let values = try uniqueValues(entity, attributes)
    guard !values.isEmpty else { return }
    for (properties, value) in values {
      if let holder = try changes.holder(entity.name, properties: properties, value: value), holder != key {
        try changes.remove(entity.name, holder)
      }
    }
    try changes.release(entity.name, key)
    for (properties, value) in values { try changes.claim(entity.name, properties: properties, value: value, for: key) }
  }

  private func write(
    _ model: any PersistentModel, as key: String, attributes: [String: any AttributeValue], changes: RecordChanges
  ) throws {
    let entity = entity(model)
    try claim(entity, key: key, attributes: attributes, changes: changes)
    try changes.write(entity.name, id: key, content: try RecordCoder(entity).encode(attributes))
  }

  private func link(
    _ model: any PersistentModel, merged: [PersistentIdentifier: PersistentIdentifier], changes: RecordChanges
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

  private func applyDeleteRules(of model: any PersistentModel) {
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
  private func deniedDeletion() -> (model: any PersistentModel, relation: Schema.Relation)? {
    for model in deleted.models {
      for relation in entity(of: model).relations.values where relation.deleteRule == .deny {
        let others = relatedIdentifiers(of: model, relation.name)
        if others.contains(where: { !deleted.contains($0) && find($0) != nil }) { return (model, relation) }
      }
    }
    return nil
  }
}
