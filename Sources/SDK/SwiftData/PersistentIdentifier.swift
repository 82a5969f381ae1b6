// SPDX-License-Identifier: Apache-2.0

/// Identifies a model in all contexts, processes and launches. Source: `SwiftData.PersistentIdentifier`. Here it does not
/// change when the model is first saved.
public struct PersistentIdentifier: Hashable, Comparable, Codable, Identifiable, Sendable {
  /// The name of the model's type.
  public let entityName: String
  let primaryKey: String
  /// The store of the model; `nil` before the model is inserted.
  public internal(set) var storeIdentifier: String?

  public var id: PersistentIdentifier { self }

  public static func == (a: Self, b: Self) -> Bool { a.primaryKey == b.primaryKey && a.entityName == b.entityName }
  public static func < (a: Self, b: Self) -> Bool { (a.entityName, a.primaryKey) < (b.entityName, b.primaryKey) }
  public func hash(into hasher: inout Hasher) { hasher.combine(primaryKey) }
}
