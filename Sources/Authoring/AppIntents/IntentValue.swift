import Archive
import BackgroundURLSession
public import Foundation

/// What a parameter of an intent can be. Source: `AppIntents._IntentValue`; authors conform to `AppEnum` and `AppEntity`.
public protocol _IntentValue: Sendable {
  /// How a person's choice travels.
  static var _kind: _IntentValueKind { get }
  /// The value as it travels.
  var _archived: _IntentArchive { get }
  /// The value of what travelled; `nil` when it is none.
  @concurrent static func _restored(_ archive: _IntentArchive) async throws -> Self?
  /// What there is to choose among; `nil` where it is free.
  @concurrent static func _choices() async throws -> [Self]?
  /// What a person's words find.
  @concurrent static func _matches(_ words: String) async throws -> [Self]
  /// The value that stands when nobody chose.
  @concurrent static func _unchosen() async -> Self?
  /// The value as a person reads it.
  var _title: String { get }
}

/// How a parameter travels. Opaque to authors.
public struct _IntentValueKind: Sendable {
  let type: IntentDeclaration.Parameter.ValueType
  let isOptional: Bool
  init(_ type: IntentDeclaration.Parameter.ValueType, isOptional: Bool = false) {
    self.type = type
    self.isOptional = isOptional
  }
}

/// A parameter's value as it travels; no value where it is `nil`. Opaque to authors.
public struct _IntentArchive: Sendable {
  let value: ArchivedValue?
  init(_ value: ArchivedValue?) { self.value = value }
}

extension _IntentValue {
  /// It is free.
  @concurrent public static func _choices() async throws -> [Self]? { nil }
  /// Nothing.
  @concurrent public static func _matches(_ words: String) async throws -> [Self] { [] }
  /// There is none.
  @concurrent public static func _unchosen() async -> Self? { nil }
  /// Swift's own words for it.
  public var _title: String { "\(self)" }
}

extension Bool: _IntentValue {
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(.bool) }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.bool(self)) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Bool? {
    if case .bool(let value) = archive.value { return value }
    return archive.value?.string.flatMap(Bool.init)
  }
}

extension Int: _IntentValue {
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(.int) }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.number(Double(self))) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Int? {
    archive.value?.number.flatMap { Int(exactly: $0) } ?? archive.value?.string.flatMap { Int($0) }
  }
}

extension Double: _IntentValue {
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(.double) }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.number(self)) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Double? {
    archive.value?.number ?? archive.value?.string.flatMap { Double($0) }
  }
}

extension String: _IntentValue {
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(.string) }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.string(self)) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> String? { archive.value?.string }
}

extension Date: _IntentValue {
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(.date) }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.date(self)) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Date? {
    if case .date(let date) = archive.value { return date }
    return try archive.value?.string.map { try Date($0, strategy: .iso8601) }
  }
}

extension URL: _IntentValue {
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(.url) }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.string(absoluteString)) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> URL? {
    archive.value?.string.flatMap { URL(string: $0) }
  }
}

extension Optional: _IntentValue where Wrapped: _IntentValue {
  /// How it travels.
  public static var _kind: _IntentValueKind { _IntentValueKind(Wrapped._kind.type, isOptional: true) }
  /// As it travels.
  public var _archived: _IntentArchive { self?._archived ?? _IntentArchive(nil) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Wrapped?? {
    try await .some(Wrapped._restored(archive))
  }
  /// What there is to choose among.
  @concurrent public static func _choices() async throws -> [Wrapped?]? { try await Wrapped._choices() }
  /// What a person's words find.
  @concurrent public static func _matches(_ words: String) async throws -> [Wrapped?] {
    try await Wrapped._matches(words)
  }
  /// What stands when nobody chose.
  @concurrent public static func _unchosen() async -> Wrapped?? { await .some(Wrapped._unchosen()) }
  /// As a person reads it.
  public var _title: String { self?._title ?? "" }
}

extension Array: _IntentValue where Element: _IntentValue {
  /// How it travels.
  public static var _kind: _IntentValueKind { Element._kind }
  /// As it travels.
  public var _archived: _IntentArchive { _IntentArchive(.list(compactMap(\._archived.value))) }
  /// Of what travelled.
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> [Element]? {
    guard case .list(let values) = archive.value else {
      // One chosen value stands for a list of one.
      return try await Element._restored(archive).map { [$0] }
    }
    var elements: [Element] = []
    for value in values {
      if let element = try await Element._restored(_IntentArchive(value)) { elements.append(element) }
    }
    return elements
  }
  /// What there is to choose among.
  @concurrent public static func _choices() async throws -> [[Element]]? {
    try await Element._choices()?.map { [$0] }
  }
  /// What a person's words find.
  @concurrent public static func _matches(_ words: String) async throws -> [[Element]] {
    try await Element._matches(words).map { [$0] }
  }
  /// As a person reads it.
  public var _title: String { map(\._title).formatted() }
}
