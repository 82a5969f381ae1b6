// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation
public import SwiftUI

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

/// Where a container stores models. Source: `SwiftData.ModelConfiguration`.
public struct ModelConfiguration: Hashable, Sendable, Identifiable, CustomDebugStringConvertible {
  /// The app group whose folder has the store. Source: `ModelConfiguration.GroupContainer`.
  public struct GroupContainer: Hashable, Sendable {
    fileprivate enum Choice: Hashable {
      case automatic, none
      case identifier(String)
    }
    fileprivate let choice: Choice

    /// The first app group of the process; without one, the folder of the process.
    public static let automatic = GroupContainer(choice: .automatic)
    public static let none = GroupContainer(choice: .none)
    public static func identifier(_ groupContainerIdentifier: String) -> GroupContainer {
      GroupContainer(choice: .identifier(groupContainerIdentifier))
    }
  }

  /// Has no effect: models are not synchronised. Source: `ModelConfiguration.CloudKitDatabase`.
  public struct CloudKitDatabase: Hashable, Sendable {
    fileprivate let name: String
    public static let automatic = CloudKitDatabase(name: "automatic")
    public static let none = CloudKitDatabase(name: "none")
    public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
      CloudKitDatabase(name: "private " + privateDBName)
    }
  }

  public let name: String
  public let schema: Schema?
  public let url: URL
  public let isStoredInMemoryOnly: Bool
  public let allowsSave: Bool
  public let groupContainer: GroupContainer
  public let cloudKitDatabase: CloudKitDatabase
  public var id: String { name }
  public var groupAppContainerIdentifier: String? { Self.group(groupContainer)?.identifier }
  public var cloudKitContainerIdentifier: String? { nil }
  public var debugDescription: String { "ModelConfiguration \(name) (\(url.path(percentEncoded: false)))" }

  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? "default"
    self.schema = schema
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.groupContainer = groupContainer
    self.cloudKitDatabase = cloudKitDatabase
    url =
      isStoredInMemoryOnly
      ? URL(filePath: "/dev/null") : Self.folder(groupContainer).appending(path: "\(self.name).store")
  }

  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.schema = schema
    self.url = url
    // As on a phone, `/dev/null` is a store that is not kept.
    isStoredInMemoryOnly = url.path == "/dev/null"
    self.allowsSave = allowsSave
    groupContainer = .none
    self.cloudKitDatabase = cloudKitDatabase
  }

  @_disfavoredOverload
  public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  // MARK: Folders

  /// The folder of the store: `Library/Application Support` of the group or of the process.
  private static func folder(_ container: GroupContainer) -> URL {
    let base = group(container)?.folder ?? HostedProcess.current?.container ?? home
    return URL(filePath: base, directoryHint: .isDirectory).appending(path: "Library/Application Support")
  }

  private static var home: String {
    let environment = ProcessInfo.processInfo.environment
    return environment["CFFIXED_USER_HOME"] ?? environment["HOME"] ?? "/"
  }

  private static func group(_ container: GroupContainer) -> (identifier: String, folder: String)? {
    let groups = HostedProcess.current?.groups ?? [:]
    switch container.choice {
    case .none: return nil
    case .automatic: return groups.min { $0.key < $1.key }.map { ($0.key, $0.value) }
    case .identifier(let identifier):
      if HostedProcess.current == nil { return nil }
      guard let folder = groups[identifier] else {
        fatalError("\(identifier) is not an app group of this process: add it to appGroups in widgetlab.yaml")
      }
      return (identifier, folder)
    }
  }
}

/// Source: `SwiftData.VersionedSchema`.
public protocol VersionedSchema: SendableMetatype {
  static var models: [any PersistentModel.Type] { get }
  static var versionIdentifier: Schema.Version { get }
}

/// Source: `SwiftData.SchemaMigrationPlan`.
public protocol SchemaMigrationPlan: SendableMetatype {
  static var schemas: [any VersionedSchema.Type] { get }
  static var stages: [MigrationStage] { get }
}

/// Source: `SwiftData.MigrationStage`.
public enum MigrationStage {
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}

private struct ModelContextKey: EnvironmentKey {
  /// Without a container, a context that has no types: fetches fail.
  static var defaultValue: ModelContext {
    do {
      return ModelContext(
        try ModelContainer(for: Schema(), configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]))
    } catch {
      fatalError("no ModelContext for the environment: \(error)")
    }
  }
}

extension EnvironmentValues {
  public var modelContext: ModelContext {
    get { self[ModelContextKey.self] }
    set { self[ModelContextKey.self] = newValue }
  }
}

/// A container for a modifier. An error ends the process, as on a phone.
@MainActor private func container(
  _ types: [any PersistentModel.Type], inMemory: Bool, isAutosaveEnabled: Bool,
  onSetup: (Result<ModelContainer, any Error>) -> Void
) -> ModelContainer {
  do {
    let container = try ModelContainer(
      for: Schema(types), configurations: [ModelConfiguration(isStoredInMemoryOnly: inMemory)])
    container.mainContext.autosaveEnabled = isAutosaveEnabled
    onSetup(.success(container))
    return container
  } catch {
    onSetup(.failure(error))
    fatalError("modelContainer(for:) has no container: \(error)")
  }
}

extension View {
  nonisolated public func modelContext(_ modelContext: ModelContext) -> some View {
    environment(\.modelContext, modelContext)
  }

  @MainActor public func modelContainer(_ container: ModelContainer) -> some View {
    environment(\.modelContext, container.mainContext)
  }

  @MainActor public func modelContainer(
    for modelType: any PersistentModel.Type, inMemory: Bool = false, isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false, onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
  ) -> some View {
    modelContainer(
      for: [modelType], inMemory: inMemory, isAutosaveEnabled: isAutosaveEnabled, isUndoEnabled: isUndoEnabled,
      onSetup: onSetup)
  }

  @MainActor public func modelContainer(
    for modelTypes: [any PersistentModel.Type], inMemory: Bool = false, isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false, onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
  ) -> some View {
    modelContainer(
      container(modelTypes, inMemory: inMemory, isAutosaveEnabled: isAutosaveEnabled, onSetup: onSetup))
  }
}

extension Scene {
  nonisolated public func modelContext(_ modelContext: ModelContext) -> some Scene {
    EnvironmentScene(content: self) { $0.modelContext = modelContext }
  }

  @MainActor public func modelContainer(_ container: ModelContainer) -> some Scene {
    let context = container.mainContext
    return EnvironmentScene(content: self) { $0.modelContext = context }
  }

  @MainActor public func modelContainer(
    for modelType: any PersistentModel.Type, inMemory: Bool = false, isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false, onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
  ) -> some Scene {
    modelContainer(
      for: [modelType], inMemory: inMemory, isAutosaveEnabled: isAutosaveEnabled, isUndoEnabled: isUndoEnabled,
      onSetup: onSetup)
  }

  @MainActor public func modelContainer(
    for modelTypes: [any PersistentModel.Type], inMemory: Bool = false, isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false, onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
  ) -> some Scene {
    modelContainer(
      container(modelTypes, inMemory: inMemory, isAutosaveEnabled: isAutosaveEnabled, onSetup: onSetup))
  }
}
