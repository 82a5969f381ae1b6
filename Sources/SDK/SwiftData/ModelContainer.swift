// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Stores of models. Source: `SwiftData.ModelContainer`. Any thread.
public final class ModelContainer: Sendable, Equatable, CustomDebugStringConvertible {
  public let schema: Schema
  public let migrationPlan: (any SchemaMigrationPlan.Type)?
  public let configurations: Set<ModelConfiguration>
  private let stores: [(configuration: ModelConfiguration, store: RecordStore)]
  @MainActor private var main: ModelContext?

  public convenience init(
    for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: Schema(forTypes), migrationPlan: migrationPlan, configurations: configurations)
  }

  public convenience init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens the stores, and creates those that do not exist.
  ///
  /// - Parameter configurations: without one, the default store.
  public init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
    let files = configurations.filter { !$0.isStoredInMemoryOnly }.map(\.url)
    guard Set(files).count == files.count else { throw SwiftDataError.duplicateConfiguration }
    schema = givenSchema
    self.migrationPlan = migrationPlan
    self.configurations = Set(configurations)
    stores = try configurations.map { configuration in
      let schema = configuration.schema ?? givenSchema
      guard schema.entitiesByName.keys.allSatisfy({ givenSchema.entitiesByName[$0] != nil }) else {
        throw SwiftDataError.configurationSchemaNotFoundInContainerSchema
      }
      let store = try RecordStore(configuration.isStoredInMemoryOnly ? nil : configuration.url)
      try StoredSchema.open(store, for: schema, migrationPlan)
      return (configuration, store)
    }
  }

  /// The store of an entity: that of the first configuration with its type, or without types.
  func store(of entity: String) throws -> RecordStore { try place(of: entity).store }

  func allowsSave(_ entity: String) throws -> Bool { try place(of: entity).configuration.allowsSave }

  private func place(of entity: String) throws -> (configuration: ModelConfiguration, store: RecordStore) {
    guard schema.entitiesByName[entity] != nil else {
      throw SwiftDataError.unknownSchema.because("\(entity) is not in the schema of the container")
    }
    let place = stores.first { $0.configuration.schema.map { $0.entitiesByName[entity] != nil } ?? true }
    guard let place else {
      throw SwiftDataError.unknownSchema.because("no configuration of the container has \(entity)")
    }
    return place
  }

  /// The context of the main actor, which is saved at the end of each turn with changes.
  @MainActor public var mainContext: ModelContext {
    if let main { return main }
    let context = ModelContext(self)
    context.autosaves = true
    context.autosaveEnabled = true
    main = context
    return context
  }

  /// Removes all models of the stores.
  public func erase() throws { for place in stores { try place.store.erase() } }
  public func deleteAllData() { try? erase() }

  public static func == (a: ModelContainer, b: ModelContainer) -> Bool { a === b }
  public var debugDescription: String { "ModelContainer (\(schema.debugDescription))" }
}
