// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// A type of models. Source: `Schema.Entity`.
  public final class Entity: Hashable, Sendable {
    public let name: String
    // These never change. They are not `Sendable` for a model that is isolated to the main actor, which the compiler lets
    // only the main actor use.
    nonisolated(unsafe) let type: any PersistentModel.Type
    // Never changes.
    nonisolated(unsafe) let attributes: [PropertyMetadata]
    // Never changes.
    nonisolated(unsafe) let relations: [String: Relation]
    /// The names of each set of properties whose values are unique together.
    public let uniquenessConstraints: [[String]]
    /// Whether `#Unique` has a key path that is no stored property.
    let hasUnknownConstraint: Bool

    private init(_ type: any PersistentModel.Type, _ types: [String: any PersistentModel.Type]) {
      self.type = type
      name = Schema.entityName(for: type)
      let properties = type.schemaMetadata
      attributes = properties.filter { $0.coding != nil }
      let entity = name
      relations = Dictionary(
        properties.compactMap { property in
          property.relationship.map { (property.name, Relation(property, $0, of: entity)) }
        }, uniquingKeysWith: { first, _ in first })
      let single = properties.filter { ($0.metadata as? Attribute)?.isUnique == true }.map { [$0.name] }
      let stored = attributes
      let several = type._uniqueConstraints.map { keyPaths in
        keyPaths.map { path in stored.first { $0.keypath == path }?.name }
      }
      hasUnknownConstraint = several.contains { $0.contains(nil) }
      uniquenessConstraints = single + several.map { $0.compactMap(\.self) }.filter { !$0.isEmpty }
    }

    /// The entities of these types, and of the types of their relationships, by name.
    static func all(reachableFrom types: [any PersistentModel.Type]) -> [String: Entity] {
      var found: [String: any PersistentModel.Type] = [:]
      var open = types
      while let type = open.popLast() {
        guard found.updateValue(type, forKey: Schema.entityName(for: type)) == nil else { continue }
        open += type.schemaMetadata.compactMap { $0.relationship?._modelType }
      }
      return found.mapValues { Entity($0, found) }
    }

    public static func == (a: Entity, b: Entity) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  /// A property whose value is a model or several.
  struct Relation {
    let metadata: PropertyMetadata
    let entity: String
    /// The entity of the related models.
    let target: String
    let isToMany: Bool
    let isOptional: Bool
    let deleteRule: Relationship.DeleteRule
    /// The property of the related models that refers to this model.
    let inverse: String?

    var name: String { metadata.name }

    init(_ metadata: PropertyMetadata, _ value: any _RelationshipValue.Type, of entity: String) {
      self.metadata = metadata
      self.entity = entity
      let relationship = metadata.metadata as? Relationship
      target = Schema.entityName(for: value._modelType)
      isToMany = value._isToMany
      isOptional = value._isOptional
      deleteRule = relationship?.deleteRule ?? .nullify
      inverse = Self.inverse(of: metadata, relationship, in: entity, among: value._modelType.schemaMetadata)
    }

    /// The inverse that one of both sides names, or else the only pair of properties between both types.
    private static func inverse(
      of property: PropertyMetadata, _ relationship: Relationship?, in entity: String, among others: [PropertyMetadata]
    ) -> String? {
      if let path = relationship?.inverseKeyPath { return others.first { $0.keypath == path }?.name }
      let named = others.first { ($0.metadata as? Relationship)?.inverseKeyPath == property.keypath }
      if let named { return named.name }
      let back = others.filter { other in
        other.relationship.map { Schema.entityName(for: $0._modelType) == entity } == true
          && (other.metadata as? Relationship)?.inverseKeyPath == nil
      }
      guard back.count == 1, let other = back.first, other.name != property.name else { return nil }
      guard let own = back.first?.relationship?._modelType.schemaMetadata else { return nil }
      let target = property.relationship.map { Schema.entityName(for: $0._modelType) }
      let forth = own.filter { candidate in
        candidate.relationship.map { Schema.entityName(for: $0._modelType) } == target
          && (candidate.metadata as? Relationship)?.inverseKeyPath == nil
      }
      return forth.count == 1 ? other.name : nil
    }
  }
}

extension Schema {
  /// Whether the links of a relationship are stored with its own records. Otherwise they are those of its inverse: of the
  /// side with one model, so that two processes can add models to the same one, or of one of two equal sides.
  func hasLinks(_ relation: Relation) -> Bool {
    guard let other = inverse(of: relation) else { return true }
    if relation.isToMany != other.isToMany { return !relation.isToMany }
    return (relation.entity, relation.name) <= (other.entity, other.name)
  }

  func inverse(of relation: Relation) -> Relation? {
    relation.inverse.flatMap { entitiesByName[relation.target]?.relations[$0] }
  }
}
