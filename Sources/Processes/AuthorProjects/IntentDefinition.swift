// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// An `.intentdefinition`: a property list with the intents, types and enumerations that Xcode generates classes from.
package struct IntentDefinition {
  /// The language of the classes that Xcode generates, which decides on the names of cases in Swift.
  package enum Language: Sendable, Hashable {
    case swift, objectiveC
  }

  private let language: Language
  private let intents: [[String: Any]]
  private let types: [[String: Any]]
  private let enums: [[String: Any]]

  /// `nil` for data that is not a definition.
  package init?(_ data: Data, language: Language = .swift) {
    guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
      let intents = list["INIntents"] as? [[String: Any]]
    else { return nil }
    self.language = language
    self.intents = intents.filter { $0["INIntentType"] as? String != "System" }
    types = list["INTypes"] as? [[String: Any]] ?? []
    enums = list["INEnums"] as? [[String: Any]] ?? []
  }

  /// The names of the generated intents.
  package var classes: [String] { intents.compactMap(Self.intentClass) }

  /// Swift sources with the classes that Xcode generates.
  package var swift: String {
    var text = """
      // Written by `widgetlab new --from`, as Xcode generates classes from the definition.
      import Foundation
      import Intents

      """
    for item in enums { text += source(enumeration: item) }
    for item in types { text += source(type: item) }
    for item in intents { text += source(intent: item) }
    return text
  }

  // MARK: Names

  private static func text(_ item: [String: Any], _ key: String) -> String? {
    (item[key] as? String).flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func intentClass(_ item: [String: Any]) -> String? {
    if let name = text(item, "INIntentClassName") { return identifier(name) }
    return text(item, "INIntentName").map { identifier((text(item, "INIntentClassPrefix") ?? "") + $0 + "Intent") }
  }

  private static func typeClass(_ item: [String: Any]) -> String? {
    if let name = text(item, "INTypeClassName") { return identifier(name) }
    return text(item, "INTypeName").map { identifier((text(item, "INTypeClassPrefix") ?? "") + $0) }
  }

  private static func enumName(_ item: [String: Any]) -> String? { text(item, "INEnumName").map(identifier) }

  private static func identifier(_ name: String) -> String { XcodeSettings.identifier(name, "_") }

  /// The name of a case. Xcode's Swift has its first letter in lowercase: `cET4` for `CET4`. Source: public projects.
  /// From Objective-C the compiler imports it with its first word in lowercase: `cet4`.
  private func caseName(_ name: String) -> String {
    let name = Self.identifier(name)
    guard language == .objectiveC else { return name.prefix(1).lowercased() + name.dropFirst() }
    let capitals = name.prefix { $0.isUppercase }
    let isWord = capitals.count > 1 && name.dropFirst(capitals.count).first?.isLetter == true
    let lowered = isWord ? capitals.dropLast() : capitals
    return lowered.lowercased() + name.dropFirst(lowered.count)
  }

  private static func literal(_ text: String) -> String { PackageManifest.literal(text) }

  // MARK: Enumerations and types

  private func cases(_ item: [String: Any]) -> [(name: String, title: String, value: Int)] {
    let values = item["INEnumValues"] as? [[String: Any]] ?? []
    return values.compactMap { value in
      guard let name = Self.text(value, "INEnumValueName") else { return nil }
      return (
        caseName(name), Self.text(value, "INEnumValueDisplayName") ?? name,
        value["INEnumValueIndex"] as? Int ?? 0
      )
    }
  }

  private func source(enumeration item: [String: Any]) -> String {
    guard let name = Self.enumName(item) else { return "" }
    let isSet = Self.text(item, "INEnumType") == "Bitmask"
    var lines: [String] = []
    if isSet {
      lines.append("public struct \(name): OptionSet, Sendable {")
      lines += ["  public let rawValue: Int", "  public init(rawValue: Int) { self.rawValue = rawValue }"]
      lines += cases(item).map { "  public static let `\($0.name)` = \(name)(rawValue: \($0.value))" }
    } else {
      lines.append("public enum \(name): Int, Sendable {")
      lines += cases(item).map { "  case `\($0.name)` = \($0.value)" }
    }
    lines.append("}")
    if !isSet {
      lines.append("public final class \(name)ResolutionResult: INEnumResolutionResult {")
      lines.append("  public static func success(with resolvedValue: \(name)) -> Self { Self() }")
      lines.append("  public static func confirmationRequired(with valueToConfirm: \(name)) -> Self { Self() }")
      lines.append("}")
    }
    return "\n" + lines.joined(separator: "\n") + "\n"
  }

  private func source(type item: [String: Any]) -> String {
    guard let name = Self.typeClass(item) else { return "" }
    var lines = ["public class \(name): INObject {"]
    for property in item["INTypeProperties"] as? [[String: Any]] ?? [] {
      guard property["INTypePropertyDefault"] as? Bool != true, let own = Self.text(property, "INTypePropertyName"),
        let type = swiftType(property, "INTypeProperty")
      else { continue }
      lines += Self.property(Self.identifier(own), type)
    }
    lines.append("}")
    lines.append("public class \(name)ResolutionResult: INObjectResolutionResult {")
    lines.append("  public static func success(with resolvedObject: \(name)) -> Self { Self() }")
    lines.append("  public static func disambiguation(with objectsToDisambiguate: [\(name)]) -> Self { Self() }")
    lines.append("  public static func confirmationRequired(with objectToConfirm: \(name)?) -> Self { Self() }")
    lines.append("}")
    return "\n" + lines.joined(separator: "\n") + "\n"
  }

  private static func property(_ name: String, _ type: (name: String, absent: String?)) -> [String] {
    if let absent = type.absent {
      return [
        "  public var `\(name)`: \(type.name) {",
        "    get { _value(\(literal(name))) ?? \(absent) }",
        "    set { _set(\(literal(name)), newValue) }", "  }",
      ]
    }
    return [
      "  public var `\(name)`: \(type.name)? {", "    get { _value(\(literal(name))) }",
      "    set { _set(\(literal(name)), newValue) }", "  }",
    ]
  }

  /// The type of a property or parameter; `nil` for a type that does not exist here. `absent` is the value of an
  /// enumeration that has none.
  private func swiftType(_ item: [String: Any], _ prefix: String) -> (name: String, absent: String?)? {
    let isList = item[prefix + "SupportsMultipleValues"] as? Bool == true
    func optional(_ name: String) -> (name: String, absent: String?) { (isList ? "[\(name)]" : name, nil) }
    if let name = Self.text(item, prefix + "EnumType") {
      guard let found = enums.first(where: { Self.text($0, "INEnumName") == name }), let own = Self.enumName(found)
      else { return nil }
      if isList { return optional(own) }
      if Self.text(found, "INEnumType") == "Bitmask" { return (own, "[]") }
      return (own, cases(found).first { $0.value == 0 }.map { ".`\($0.name)`" } ?? "\(own)(rawValue: 1)!")
    }
    switch Self.text(item, prefix + "Type") {
    case "Object":
      let name = Self.text(item, prefix + "ObjectType")
      return types.first { Self.text($0, "INTypeName") == name }.flatMap(Self.typeClass).map(optional)
    case "String": return optional("String")
    case "Boolean", "Integer", "Decimal", "Double", "Long": return optional("NSNumber")
    case "URL": return optional("URL")
    case "DateComponents", "Date", "DateComponentsRange": return optional("DateComponents")
    default: return nil
    }
  }
}

extension IntentDefinition {
  // MARK: Intents

  private func source(intent item: [String: Any]) -> String {
    guard let name = Self.intentClass(item) else { return "" }
    let title = Self.text(item, "INIntentTitle") ?? Self.text(item, "INIntentName") ?? name
    var lines = ["public class \(name): INIntent {"]
    var declarations: [String] = []
    let parameters = (item["INIntentParameters"] as? [[String: Any]] ?? [])
      .sorted {
        ($0["INIntentParameterDisplayPriority"] as? Int ?? 0) < ($1["INIntentParameterDisplayPriority"] as? Int ?? 0)
      }
    for parameter in parameters {
      guard let own = Self.text(parameter, "INIntentParameterName"),
        let type = swiftType(parameter, "INIntentParameter")
      else { continue }
      lines += Self.property(Self.identifier(own), type)
      if let declaration = declaration(parameter, Self.identifier(own)) { declarations.append(declaration) }
    }
    lines += ["  public override class var _definition: _INDefinition { _definitionOf\(name)() }", "}"]
    // Outside of the class, in which the name of a parameter hides a type of the same name.
    lines += ["", "private func _definitionOf\(name)() -> _INDefinition {"]
    lines.append("  _INDefinition(title: \(Self.literal(title)), parameters: [")
    lines += declarations.map { "    \($0)," }
    lines += ["  ])", "}"]
    lines += handling(name, item)
    return "\n" + lines.joined(separator: "\n") + "\n"
  }

  /// The parameter for `_INDefinition`.
  private func declaration(_ parameter: [String: Any], _ name: String) -> String? {
    let prefix = "INIntentParameter"
    let givenDefault = (parameter[prefix + "Metadata"] as? [String: Any])?[prefix + "MetadataDefaultValue"]
    var standard: String?
    let kind: String
    if let enumType = Self.text(parameter, prefix + "EnumType") {
      guard let found = enums.first(where: { Self.text($0, "INEnumName") == enumType }), let own = Self.enumName(found)
      else { return nil }
      let options = cases(found).map { "(\(Self.literal($0.name)), \(Self.literal($0.title)), \($0.value))" }
      kind = ".enumeration([\(options.joined(separator: ", "))], { \(own)(rawValue: $0) })"
      standard = (givenDefault as? String).map { ".string(\(Self.literal(caseName($0))))" }
    } else {
      switch Self.text(parameter, prefix + "Type") {
      case "Boolean":
        kind = ".boolean"
        standard = (givenDefault as? Bool).map { ".boolean(\($0))" }
      case "Integer", "Long":
        kind = ".integer"
        standard = (givenDefault as? NSNumber).map { ".number(\($0.intValue))" }
      case "Decimal", "Double":
        kind = ".decimal"
        standard = (givenDefault as? NSNumber).map { ".number(\($0.doubleValue))" }
      case "String":
        kind = ".string"
        standard = (givenDefault as? String).map { ".string(\(Self.literal($0)))" }
      case "URL": kind = ".url"
      case "DateComponents", "Date", "DateComponentsRange": kind = ".dateComponents"
      case "Object":
        let type = Self.text(parameter, prefix + "ObjectType")
        guard let own = types.first(where: { Self.text($0, "INTypeName") == type }).flatMap(Self.typeClass) else {
          return nil
        }
        kind = ".object(\(own).self)"
      default: return nil
      }
    }
    let title = Self.text(parameter, prefix + "DisplayName") ?? name
    var words = [Self.literal(name), "title: \(Self.literal(title))", kind]
    if parameter[prefix + "Configurable"] as? Bool != true { words.append("isConfigurable: false") }
    if parameter[prefix + "SupportsMultipleValues"] as? Bool == true { words.append("isList: true") }
    if let standard { words.append("standard: \(standard)") }
    return "_INParameter(\(words.joined(separator: ", ")))"
  }

  /// The protocol of the handler, whose methods are all optional, and the response.
  private func handling(_ name: String, _ item: [String: Any]) -> [String] {
    let response = item["INIntentResponse"] as? [String: Any] ?? [:]
    let codes = response["INIntentResponseCodes"] as? [[String: Any]] ?? []
    var names = [
      "unspecified", "ready", "continueInApp", "inProgress", "success", "failure", "failureRequiringAppLaunch",
    ]
    for code in codes.compactMap({ Self.text($0, "INIntentResponseCodeName") }).map(caseName)
    where !names.contains(code) { names.append(code) }
    // Xcode gives a definition's own codes numbers from 100 on.
    let cases = names.enumerated().map { "  case `\($1)` = \($0 < 7 ? $0 : $0 + 93)" }
    return ["", "public protocol \(name)Handling: NSObjectProtocol {}", "", "public enum \(name)ResponseCode: Int {"]
      + cases + ["}", "", "public class \(name)Response: INIntentResponse {"]
      + [
        "  public fileprivate(set) var code = \(name)ResponseCode.unspecified",
        "  public convenience init(code: \(name)ResponseCode, userActivity: AnyObject?) {", "    self.init()",
        "    self.code = code", "    self.userActivity = userActivity", "  }", "}",
      ]
  }

  /// What the generated classes lack, for the notes of a project.
  package var missing: [(subject: String, reason: String)] {
    intents.flatMap { item in
      (item["INIntentParameters"] as? [[String: Any]] ?? []).compactMap { parameter in
        let ownName = Self.text(parameter, "INIntentParameterName") ?? "a parameter"
        let name = "\(Self.intentClass(item) ?? "an intent").\(ownName)"
        guard swiftType(parameter, "INIntentParameter") != nil else {
          return (name, "the type \(Self.text(parameter, "INIntentParameterType") ?? "?") does not exist here")
        }
        guard parameter["INIntentParameterSupportsDynamicEnumeration"] as? Bool == true else { return nil }
        return (name, "its options come from an Intents extension, which is not run; any text is accepted")
      }
    }
  }
}
