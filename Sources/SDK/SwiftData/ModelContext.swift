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

  func delete(any model: any PersistentModel) {
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

  func forgetChanges() { (inserted, changed, deleted) = (ModelSet(), ModelSet(), ModelSet()) }

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

  func register(_ model: any PersistentModel) {
    registered[model.persistentModelID] = WeakModel(model: model)
    guard registered.count >= sweepAt else { return }
    registered = registered.filter { $0.value.model != nil }
    sweepAt = max(256, registered.count * 2)
  }

  func registeredModel(_ identifier: PersistentIdentifier) -> (any PersistentModel)? { registered[identifier]?.model }

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
    return materialize(entity, identifier, attributes)
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
  func materialize(
    _ entity: Schema.Entity, _ identifier: PersistentIdentifier, _ attributes: [String: any AttributeValue]
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
