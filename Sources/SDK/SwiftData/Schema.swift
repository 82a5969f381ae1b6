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
