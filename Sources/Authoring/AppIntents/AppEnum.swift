import Archive
import BackgroundURLSession

/// A type with values that a person can see. Source: `AppIntents.AppValue`.
public protocol AppValue: PersistentlyIdentifiable, TypeDisplayRepresentable, InstanceDisplayRepresentable, _IntentValue
{}

extension AppValue {
  /// Its representation's first line, in the device's language.
  public var _title: String { displayRepresentation.title.resolved() }
}

/// A choice among fixed values. Source: `AppIntents.AppEnum`.
public protocol AppEnum: AppValue, CaseIterable, RawRepresentable, Hashable where RawValue: LosslessStringConvertible {
  /// How each is shown.
  static var caseDisplayRepresentations: [Self: DisplayRepresentation] { get }
}

extension AppEnum {
  /// As `caseDisplayRepresentations` says.
  public var displayRepresentation: DisplayRepresentation {
    Self.caseDisplayRepresentations[self] ?? DisplayRepresentation(title: "\(rawValue.description)")
  }
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(.enum) }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.string(rawValue.description)) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Self? {
    archive.value?.string.flatMap { RawValue($0) }.flatMap { Self(rawValue: $0) }
  }
  /// What there is to choose among.
  @concurrent public static func _choices() async throws -> [Self]? { Array(allCases) }
}
