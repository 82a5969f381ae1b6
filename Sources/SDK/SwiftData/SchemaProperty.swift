// SPDX-License-Identifier: Apache-2.0

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
      mutate = { Self.mutate($0, keypath, $1) }
    }

    public init<Model: PersistentModel, Value: _RelationshipValue>(
      name: String, keypath: KeyPath<Model, Value>, hasDefault: Bool,
      metadata: (any SchemaProperty)? = nil
    ) {
      (self.name, self.keypath, self.hasDefault, self.metadata) = (name, keypath, hasDefault, metadata)
      coding = nil
      relationship = Value.self
      mutate = { Self.mutate($0, keypath, $1) }
    }

    private static func mutate<Model: PersistentModel, Value>(
      _ model: any PersistentModel, _ keypath: KeyPath<Model, Value>, _ body: () -> Void
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
