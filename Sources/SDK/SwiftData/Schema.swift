// SPDX-License-Identifier: Apache-2.0
/// The types of models in a container. Source: `SwiftData.Schema`.
public final class Schema: Hashable, Sendable, CustomDebugStringConvertible {
  /// Source: `Schema.Version`.
  public struct Version: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    public let major: Int
    public let minor: Int
    public let patch: Int

    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    public static func < (a: Self, b: Self) -> Bool {
      (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }
    public var description: String { "\(major).\(minor).\(patch)" }
  }

  public let version: Version
  public var encodingVersion: Version { version }
  /// Those of the given types and of all types that their relationships reach, by name.
  public let entitiesByName: [String: Entity]
  public var entities: [Entity] { entitiesByName.values.sorted { $0.name < $1.name } }

  public init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
    self.version = version
    entitiesByName = Entity.all(reachableFrom: types)
  }

  public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
    self.init(types, version: version)
  }

  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
  }

  public init() {
    version = Version(1, 0, 0)
    entitiesByName = [:]
  }

  public static func entityName(for type: any PersistentModel.Type) -> String { String(describing: type) }
  public func entity<T: PersistentModel>(for type: T.Type) -> Entity? { entitiesByName[Self.entityName(for: type)] }

  func entity(of type: any PersistentModel.Type) -> Entity? { entitiesByName[Self.entityName(for: type)] }

  public static func == (a: Schema, b: Schema) -> Bool {
    a.version == b.version && Set(a.entitiesByName.keys) == Set(b.entitiesByName.keys)
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(Set(entitiesByName.keys)) }
  public var debugDescription: String { "Schema \(version) (\(entities.map(\.name).joined(separator: ", ")))" }
}

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
      var foundTypes: [String: any PersistentModel.Type] = [:]
      var open = types
      while let type = open.popLast() {
        guard foundTypes.updateValue(type, forKey: Schema.entityName(for: type)) == nil else { continue }
        open += type.schemaMetadata.compactMap { $0.relationship?._modelType }
      }
      return foundTypes.mapValues { Entity($0, foundTypes) }
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
      guard let ownMetadata = back.first?.relationship?._modelType.schemaMetadata else { return nil }
      let target = property.relationship.map { Schema.entityName(for: $0._modelType) }
      let forth = ownMetadata.filter { candidate in
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

/// What a property has in addition to its type. Source: `SwiftData.SchemaProperty`.
public protocol SchemaProperty: Sendable {
  var originalName: String { get }
}

extension Schema {
  /// Source: `Schema.Attribute`.
  public final class Attribute: SchemaProperty {
    /// Source: `Schema.Attribute.Option`. Only `unique` and `ephemeral` have an effect.
    public struct Option: Hashable, Sendable {
      private let name: String

      /// Two models with equal values become one when they are saved.
      public static let unique = Option(name: "unique")
      public static let externalStorage = Option(name: "externalStorage")
      /// The value is not saved.
      public static let ephemeral = Option(name: "ephemeral")
      public static let allowsCloudEncryption = Option(name: "allowsCloudEncryption")
      public static let preserveValueOnDeletion = Option(name: "preserveValueOnDeletion")
      public static let spotlight = Option(name: "spotlight")
    }

    public let options: [Option]
    /// The property's name in earlier records; empty if it is the same.
    public let originalName: String
    public let hashModifier: String?

    public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
      self.options = options
      self.originalName = originalName ?? ""
      self.hashModifier = hashModifier
    }

    public var isUnique: Bool { options.contains(.unique) }
  }

  /// Source: `Schema.Relationship`.
  public final class Relationship: SchemaProperty {
    /// Source: `Schema.Relationship.Option`.
    public struct Option: Hashable, Sendable {
      private let name: String
      public static let unique = Option(name: "unique")
    }

    /// Source: `Schema.Relationship.DeleteRule`.
    public enum DeleteRule: String, Codable, Hashable, Sendable {
      case noAction
      case nullify
      case cascade
      case deny
    }

    public let options: [Option]
    public let deleteRule: DeleteRule
    public let minimumModelCount: Int?
    public let maximumModelCount: Int?
    public let originalName: String
    /// A key path of a type is the same in all threads.
    nonisolated(unsafe) public let inverseKeyPath: AnyKeyPath?
    public let hashModifier: String?

    public init(
      _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
      maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil, hashModifier: String? = nil
    ) {
      self.options = options
      self.deleteRule = deleteRule
      self.minimumModelCount = minimumModelCount
      self.maximumModelCount = maximumModelCount
      self.originalName = originalName ?? ""
      inverseKeyPath = inverse
      self.hashModifier = hashModifier
    }
  }

  /// A stored property. Source: `Schema.PropertyMetadata`. Only expansions of `@Model` make one.
  public struct PropertyMetadata {
    public let name: String
    public let keypath: AnyKeyPath
    public let metadata: (any SchemaProperty)?
    /// Whether a record without a value can be read.
    let hasDefault: Bool
    let coding: PropertyCoding?
    let relationship: (any _RelationshipValue.Type)?
    /// Changes the property of a model within an observed mutation.
    let mutate: (any PersistentModel, () -> Void) -> Void

    @_disfavoredOverload
    public init<Model: PersistentModel, Value: Codable>(
      name: String, keypath: KeyPath<Model, Value>, hasDefault: Bool,
      metadata: (any SchemaProperty)? = nil
    ) {
      (self.name, self.keypath, self.hasDefault, self.metadata) = (name, keypath, hasDefault, metadata)
      coding = PropertyCoding(name, Value.self)
      relationship = nil
      mutate = { Self.mutate($0, keypath: keypath, body: $1) }
    }

    public init<Model: PersistentModel, Value: _RelationshipValue>(
      name: String, keypath: KeyPath<Model, Value>, hasDefault: Bool,
      metadata: (any SchemaProperty)? = nil
    ) {
      (self.name, self.keypath, self.hasDefault, self.metadata) = (name, keypath, hasDefault, metadata)
      coding = nil
      relationship = Value.self
      mutate = { Self.mutate($0, keypath: keypath, body: $1) }
    }

    private static func mutate<Model: PersistentModel, Value>(
      _ model: any PersistentModel, keypath: KeyPath<Model, Value>, body: () -> Void
    ) {
      guard let model = model as? Model else { return body() }
      model._modelValues.registrar.withMutation(of: model, keyPath: keypath, body)
    }
  }
}

/// Encodes and decodes the values of one property.
struct PropertyCoding {
  let encode: (any AttributeValue, inout KeyedEncodingContainer<PropertyKey>) throws -> Void
  /// `nil` when the record has no value. The second parameter is the name in the record.
  let decode: (KeyedDecodingContainer<PropertyKey>, String) throws -> (any AttributeValue)?

  init<Value: Codable>(_ name: String, _ type: Value.Type) {
    encode = { value, container in
      if let value = value as? StoredValue<Value> { try container.encode(value.value, forKey: PropertyKey(name)) }
    }
    decode = { container, name in
      let key = PropertyKey(name)
      guard container.contains(key) else { return nil }
      return StoredValue(value: try container.decode(Value.self, forKey: key))
    }
  }
}

struct PropertyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
