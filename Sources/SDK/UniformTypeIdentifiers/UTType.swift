// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A type of data. Source: `UniformTypeIdentifiers.UTType`. The types that a bundle declares are not read; a type of
/// another identifier conforms to nothing.
public struct UTType: Hashable, Sendable, Codable, CustomStringConvertible {
  public let identifier: String

  /// `nil` for an identifier that the system does not declare.
  public init?(_ identifier: String) {
    guard Self.facts[identifier] != nil else { return nil }
    self.identifier = identifier
  }
  public init(exportedAs identifier: String, conformingTo parentType: UTType? = nil) { self.identifier = identifier }
  public init(importedAs identifier: String, conformingTo parentType: UTType? = nil) { self.identifier = identifier }
  public init?(filenameExtension: String, conformingTo supertype: UTType = .data) {
    let name = filenameExtension.lowercased()
    guard let found = Self.order.first(where: { Self.facts[$0]?.extensions.contains(name) == true }) else { return nil }
    identifier = found
    guard conforms(to: supertype) else { return nil }
  }
  public init?(mimeType: String, conformingTo supertype: UTType = .data) {
    guard let found = Self.order.first(where: { Self.facts[$0]?.mimeType == mimeType.lowercased() }) else { return nil }
    identifier = found
    guard conforms(to: supertype) else { return nil }
  }

  init(known identifier: String) { self.identifier = identifier }

  public var preferredFilenameExtension: String? { Self.facts[identifier]?.extensions.first }
  public var preferredMIMEType: String? { Self.facts[identifier]?.mimeType }
  public var isDeclared: Bool { Self.facts[identifier] != nil }
  public var isPublic: Bool { identifier.hasPrefix("public.") }
  public var isDynamic: Bool { identifier.hasPrefix("dyn.") }
  public var supertypes: Set<UTType> {
    let parents = (Self.facts[identifier]?.parents ?? []).map(UTType.init(known:))
    return parents.reduce(into: Set(parents)) { $0.formUnion($1.supertypes) }
  }
  public var description: String { identifier }

  public func conforms(to type: UTType) -> Bool { self == type || supertypes.contains(type) }
  public func isSubtype(of type: UTType) -> Bool { self != type && conforms(to: type) }
  public func isSupertype(of type: UTType) -> Bool { type.isSubtype(of: self) }

  public init(from decoder: any Decoder) throws {
    identifier = try decoder.singleValueContainer().decode(String.self)
  }
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(identifier)
  }
}
