// SPDX-License-Identifier: Apache-2.0

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
