// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
import URLSessionAPI

/// A type of intent parameters. Source: `AppIntents._IntentValue`; authors conform to `AppEnum` and `AppEntity`.
public protocol _IntentValue: Sendable {
  /// The type of a single value that is not optional.
  associatedtype ValueType: _IntentValue = Self
  /// The type without `nil`.
  associatedtype UnwrappedType: _IntentValue = Self
  /// The type in messages.
  static var _kind: _IntentValueKind { get }
  /// The value in messages.
  var _archived: _IntentArchive { get }
  /// The value of an archive; `nil` when the archive holds another type.
  @concurrent static func _restored(_ archive: _IntentArchive) async throws -> Self?
  /// The options; `nil` when any value is accepted.
  @concurrent static func _choices() async throws -> _IntentOptions?
  /// The options that match the search text.
  @concurrent static func _matches(_ words: String) async throws -> _IntentOptions
  /// The value that applies when the user chose none.
  @concurrent static func _unchosen() async -> Self?
  /// The value as displayed to the user.
  var _title: String { get }
}

/// The type of a parameter in messages. Opaque to authors.
public struct _IntentValueKind: Sendable {
  let type: IntentDeclaration.Parameter.ValueType
  let isOptional: Bool
  init(_ type: IntentDeclaration.Parameter.ValueType, isOptional: Bool = false) {
    self.type = type
    self.isOptional = isOptional
  }
}

/// A parameter's value in messages; `nil` for no value. Opaque to authors.
public struct _IntentArchive: Sendable {
  let value: ArchivedValue?
  init(_ value: ArchivedValue?) { self.value = value }
}

/// The options of a parameter in messages. Opaque to authors.
public struct _IntentOptions: Sendable {
  let options: [IntentDeclaration.Option]
  init(_ options: [IntentDeclaration.Option]) { self.options = options }

  /// Each as a list with one element.
  var lists: _IntentOptions {
    _IntentOptions(
      options.map { .init(value: .list([$0.value]), title: $0.title, subtitle: $0.subtitle, section: $0.section) })
  }
}

extension _IntentValue {
  @concurrent public static func _choices() async throws -> _IntentOptions? { nil }
  @concurrent public static func _matches(_ words: String) async throws -> _IntentOptions { _IntentOptions([]) }
  @concurrent public static func _unchosen() async -> Self? { nil }
  /// Swift's description of the value.
  public var _title: String { "\(self)" }

  /// A default of a provider as a value of this type: a single value is the first element of a list.
  static func fitting(_ found: (any _IntentValue)?) -> Self? {
    guard let found else { return nil }
    return found as? Self ?? (found as? [any _IntentValue])?.first as? Self ?? [found] as? Self
  }
}

extension Bool: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.bool) }
  public var _archived: _IntentArchive { _IntentArchive(.bool(self)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Bool? {
    if case .bool(let value) = archive.value { return value }
    return archive.value?.string.flatMap(Bool.init)
  }
}

extension Int: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.int) }
  public var _archived: _IntentArchive { _IntentArchive(.number(Double(self))) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Int? {
    archive.value?.number.flatMap { Int(exactly: $0) } ?? archive.value?.string.flatMap { Int($0) }
  }
}

extension Double: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.double) }
  public var _archived: _IntentArchive { _IntentArchive(.number(self)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Double? {
    archive.value?.number ?? archive.value?.string.flatMap { Double($0) }
  }
}

extension String: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.string) }
  public var _archived: _IntentArchive { _IntentArchive(.string(self)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> String? { archive.value?.string }
}

extension Date: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.date) }
  public var _archived: _IntentArchive { _IntentArchive(.date(self)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Date? {
    if case .date(let date) = archive.value { return date }
    return try archive.value?.string.map { try Date($0, strategy: .iso8601) }
  }
}

extension URL: _IntentValue {
  public static var _kind: _IntentValueKind { _IntentValueKind(.url) }
  public var _archived: _IntentArchive { _IntentArchive(.string(absoluteString)) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> URL? {
    archive.value?.string.flatMap { URL(string: $0) }
  }
}

extension Optional: _IntentValue where Wrapped: _IntentValue {
  public typealias ValueType = Wrapped.ValueType
  public typealias UnwrappedType = Wrapped
  public static var _kind: _IntentValueKind { _IntentValueKind(Wrapped._kind.type, isOptional: true) }
  public var _archived: _IntentArchive { self?._archived ?? _IntentArchive(nil) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Wrapped?? {
    try await .some(Wrapped._restored(archive))
  }
  @concurrent public static func _choices() async throws -> _IntentOptions? { try await Wrapped._choices() }
  @concurrent public static func _matches(_ words: String) async throws -> _IntentOptions {
    try await Wrapped._matches(words)
  }
  @concurrent public static func _unchosen() async -> Wrapped?? { await .some(Wrapped._unchosen()) }
  public var _title: String { self?._title ?? "" }
}

extension Array: _IntentValue where Element: _IntentValue {
  public typealias ValueType = Element.ValueType
  public typealias UnwrappedType = [Element]
  public static var _kind: _IntentValueKind { Element._kind }
  public var _archived: _IntentArchive { _IntentArchive(.list(compactMap(\._archived.value))) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> [Element]? {
    guard case .list(let values) = archive.value else {
      // A single value is read as a list with one element.
      return try await Element._restored(archive).map { [$0] }
    }
    var elements: [Element] = []
    for value in values {
      if let element = try await Element._restored(_IntentArchive(value)) { elements.append(element) }
    }
    return elements
  }
  @concurrent public static func _choices() async throws -> _IntentOptions? { try await Element._choices()?.lists }
  @concurrent public static func _matches(_ words: String) async throws -> _IntentOptions {
    try await Element._matches(words).lists
  }
  public var _title: String { map(\._title).formatted() }
}
