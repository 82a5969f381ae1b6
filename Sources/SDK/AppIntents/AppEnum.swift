// SPDX-License-Identifier: Apache-2.0

import Archive
import URLSessionAPI

/// A type whose values can be displayed to the user. Source: `AppIntents.AppValue`.
public protocol AppValue: PersistentlyIdentifiable, TypeDisplayRepresentable, InstanceDisplayRepresentable, _IntentValue
{}

extension AppValue {
  /// The title of its display representation, in the device's language.
  public var _title: String { displayRepresentation.title.resolved() }
}

/// A choice among fixed values. Source: `AppIntents.AppEnum`.
public protocol AppEnum: AppValue, CaseIterable, RawRepresentable, Hashable where RawValue: LosslessStringConvertible {
  static var caseDisplayRepresentations: [Self: DisplayRepresentation] { get }
}

extension AppEnum {
  /// The entry of `caseDisplayRepresentations`; the raw value when there is no entry.
  public var displayRepresentation: DisplayRepresentation {
    Self.caseDisplayRepresentations[self] ?? DisplayRepresentation(title: "\(rawValue.description)")
  }
  public static var _kind: _IntentValueKind { _IntentValueKind(.enum) }
  public var _archived: _IntentArchive { _IntentArchive(.string(rawValue.description)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Self? {
    archive.value?.string.flatMap { RawValue($0) }.flatMap { Self(rawValue: $0) }
  }
  @concurrent public static func _choices() async throws -> _IntentOptions? { Array(allCases)._options }
}
