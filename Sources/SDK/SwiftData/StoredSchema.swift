// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a store knows of the types whose records it has.
struct StoredSchema: Codable {
  /// The names of the properties of each entity.
  var properties: [String: [String]]
  /// The unique properties of each entity, and the relationships whose links are stored with its records.
  var uniques: [String: [[String]]]
  var links: [String: [String]]
  var version: Schema.Version

  private static let name = "schema"

  /// Migrates a store to a schema. Properties may be added, removed and renamed without a plan, as far as every record
  /// can still be read.
  ///
  /// - Throws: `loadIssueModelContainer` when a record would have no value for a property.
  static func open(_ store: RecordStore, for schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws {
    var stored = try store.info(name).map { try JSONDecoder().decode(StoredSchema.self, from: Data($0.utf8)) }
    let current = StoredSchema(
      properties: schema.entitiesByName.mapValues { ($0.attributes.map(\.name) + $0.relations.keys).sorted() },
      uniques: schema.entitiesByName.mapValues { $0.uniquenessConstraints.sorted { $0.joined() < $1.joined() } },
      links: schema.entitiesByName.mapValues { entity in
        entity.relations.values.filter(schema.hasLinks).map(\.name).sorted()
      },
      version: schema.version)
    for entity in schema.entitiesByName.values where entity.hasUnknownConstraint {
      throw SwiftDataError.unsupportedKeyPath.because("#Unique of \(entity.name) names what is no stored property")
    }
    if let version = stored?.version, let stage = try customStage(of: plan, from: version, to: schema.version) {
      throw SwiftDataError.loadIssueModelContainer.because("\(stage), which is not simulated")
    }
    for (entity, names) in stored?.properties ?? [:] {
      guard let entity = schema.entitiesByName[entity] else { continue }
      for property in entity.attributes where !names.contains(property.name) && !property.hasDefault {
        guard let original = property.metadata?.originalName, names.contains(original) else {
          throw SwiftDataError.loadIssueModelContainer.because(
            "\(entity.name).\(property.name) is new and has neither a default nor an optional type, and the store may "
              + "have models without it")
        }
      }
    }
    if let stored { try stored.requireSameIndexes(as: current, of: schema) }
    // Types that another process uses and this one does not stay known.
    stored?.properties.merge(current.properties) { _, new in new }
    stored?.uniques.merge(current.uniques) { _, new in new }
    stored?.links.merge(current.links) { _, new in new }
    // A process without the plan does not lower it.
    if let old = stored?.version, old < current.version { stored?.version = current.version }
    let next = stored ?? current
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(next), as: UTF8.self)
    if try store.info(name) != text { try store.set(name, to: text) }
  }

  /// The stored unique values and links are those of the properties at the time.
  private func requireSameIndexes(as current: StoredSchema, of schema: Schema) throws {
    for (entity, own) in uniques {
      guard let new = current.uniques[entity], new != own else { continue }
      throw SwiftDataError.loadIssueModelContainer.because(
        "the unique properties of \(entity) have changed, which is not simulated: delete the store's file")
    }
    for (entity, own) in links {
      guard let relations = schema.entitiesByName[entity]?.relations else { continue }
      let renamed = relations.values.compactMap { ($0.metadata.metadata as? Schema.Relationship)?.originalName }
      let moved = own.filter { relations[$0] != nil && current.links[entity]?.contains($0) == false }
      guard let name = (moved + own.filter(renamed.contains)).first else { continue }
      throw SwiftDataError.loadIssueModelContainer.because(
        "the relationship \(entity).\(name) was renamed or has a new inverse, which is not simulated: delete the "
          + "store's file")
    }
  }

  /// The first stage of the plan between both versions that has code of the author.
  private static func customStage(
    of plan: (any SchemaMigrationPlan.Type)?, from old: Schema.Version, to new: Schema.Version
  ) throws -> String? {
    guard let plan, old != new else { return nil }
    guard old < new else { throw SwiftDataError.backwardMigration }
    for case .custom(let from, let to, let before, let after) in plan.stages where before != nil || after != nil {
      if from.versionIdentifier >= old, to.versionIdentifier <= new {
        return "the migration from \(from.versionIdentifier) to \(to.versionIdentifier) is custom"
      }
    }
    return nil
  }
}
