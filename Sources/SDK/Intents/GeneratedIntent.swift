// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// The declaration of an intent in an `.intentdefinition`, for generated classes.
public struct _INDefinition {
  let title: String
  let parameters: [_INParameter]

  public init(title: String, parameters: [_INParameter]) {
    self.title = title
    self.parameters = parameters
  }
}

/// The declaration of a parameter, for generated classes.
public struct _INParameter {
  /// The type, in the words of an `.intentdefinition`.
  public enum Kind {
    case boolean, integer, decimal, string, url, dateComponents
    /// An enumeration: its cases, and the conversion from a raw value.
    case enumeration([(name: String, title: String, value: Int)], (Int) -> Any?)
    /// A type of the definition; its values are created from an identifier.
    case object(INObject.Type)
    /// A type of the system that cannot be configured here.
    case other(String)
  }

  /// A default.
  public enum Standard {
    case boolean(Bool)
    case number(Double)
    case string(String)

    var archived: ArchivedValue {
      switch self {
      case .boolean(let value): .bool(value)
      case .number(let value): .number(value)
      case .string(let value): .string(value)
      }
    }
  }

  let name: String
  let title: String
  let kind: Kind
  let isConfigurable: Bool
  let isList: Bool
  let standard: Standard?

  public init(
    _ name: String, title: String, _ kind: Kind, isConfigurable: Bool = true, isList: Bool = false,
    standard: Standard? = nil
  ) {
    self.name = name
    self.title = title
    self.kind = kind
    self.isConfigurable = isConfigurable
    self.isList = isList
    self.standard = standard
  }
}

extension _INParameter {
  var archivedDeclaration: IntentDeclaration.Parameter {
    let type: IntentDeclaration.Parameter.ValueType
    var options: [IntentDeclaration.Option] = []
    switch kind {
    case .boolean: type = .bool
    case .integer: type = .int
    case .decimal: type = .double
    case .url: type = .url
    case .dateComponents: type = .date
    case .enumeration(let cases, _):
      type = .enum
      // `unknown`, the case 0, is no choice of the user.
      options = cases.filter { $0.value != 0 }.map { .init(value: .string($0.name), title: $0.title) }
    case .string, .object, .other: type = .string
    }
    return IntentDeclaration.Parameter(
      name: name, title: title, type: type, isOptional: standard == nil, standard: standard?.archived,
      options: options)
  }

  func archive(_ value: Any) -> ArchivedValue? {
    if isList, let values = value as? [Any] { return .list(values.compactMap(archiveOne)) }
    return archiveOne(value)
  }

  private func archiveOne(_ value: Any) -> ArchivedValue? {
    switch (kind, value) {
    case (.boolean, let value as NSNumber): .bool(value.boolValue)
    case (.integer, let value as NSNumber), (.decimal, let value as NSNumber): .number(value.doubleValue)
    case (.string, let value as String): .string(value)
    case (.url, let value as URL): .string(value.absoluteString)
    case (.dateComponents, let value as DateComponents): Calendar.current.date(from: value).map { .date($0) }
    case (.enumeration(let cases, _), let value as any RawRepresentable):
      (value.rawValue as? Int).flatMap { raw in cases.first { $0.value == raw } }.map { .string($0.name) }
    case (.object, let value as INObject): .string(value.identifier ?? value.displayString)
    default: nil
    }
  }

  /// The value of an archive; `nil` when this type does not accept it.
  func restore(_ value: ArchivedValue) -> Any? {
    guard isList else { return restoreOne(value) }
    guard case .list(let values) = value else { return restoreOne(value).map { [$0] } }
    return values.compactMap(restoreOne)
  }

  private func restoreOne(_ value: ArchivedValue) -> Any? {
    switch kind {
    case .boolean:
      if case .bool(let value) = value { return NSNumber(value: value) }
      return value.string.flatMap(Bool.init).map { NSNumber(value: $0) }
    case .integer:
      return (value.number.flatMap { Int(exactly: $0) } ?? value.string.flatMap { Int($0) })
        .map { NSNumber(value: $0) }
    case .decimal: return (value.number ?? value.string.flatMap { Double($0) }).map { NSNumber(value: $0) }
    case .string: return value.string
    case .url: return value.string.flatMap { URL(string: $0) }
    case .dateComponents:
      var date = value.string.flatMap { try? Date($0, strategy: .iso8601) }
      if case .date(let given) = value { date = given }
      return date.map { Calendar.current.dateComponents([.year, .month, .day, .hour, .minute, .second], from: $0) }
    case .enumeration(let cases, let make):
      guard let name = value.string, let found = cases.first(where: { $0.name == name }) else { return nil }
      return make(found.value)
    case .object(let type): return value.string.map { type.init(identifier: $0, display: $0, pronunciationHint: nil) }
    case .other: return nil
    }
  }
}
