// SPDX-License-Identifier: Apache-2.0

// What a `Project.swift` of Tuist imports, as far as WidgetLab reads it: `widgetlab run` compiles the manifest with these
// files, and runs it. The names and parameters are Tuist's; what has no effect on a widget extension is accepted and
// dropped. It imports nothing, so that a manifest is compiled in a second.
//
// Source: Tuist, the reference of `ProjectDescription`.

/// A value of the description that the manifest prints as one line of JSON.
package indirect enum Description: Equatable {
  case text(String)
  case integer(Int)
  case number(Double)
  case boolean(Bool)
  case list([Description])
  case map([String: Description])

  package var json: String {
    switch self {
    case .text(let text): Self.literal(text)
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .boolean(let value): value ? "true" : "false"
    case .list(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
    case .map(let keys):
      "{" + keys.sorted { $0.key < $1.key }.map { Self.literal($0.key) + ":" + $0.value.json }.joined(separator: ",")
        + "}"
    }
  }

  private static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  static func texts(_ texts: [String]) -> Description { .list(texts.map { .text($0) }) }

  /// A map without the keys that have no value.
  static func keys(_ keys: [String: Description?]) -> Description { .map(keys.compactMapValues { $0 }) }
}

/// A path: relative to the manifest's folder; with a leading `//` relative to the root of the repository.
public struct Path: ExpressibleByStringInterpolation, Hashable, Codable, Sendable {
  public let pathString: String

  public init(_ path: String) { pathString = path }
  public init(stringLiteral value: String) { self.init(value) }

  public static func path(_ path: String) -> Path { Path(path) }
  public static func relativeToManifest(_ path: String) -> Path { Path(path) }
  public static func relativeToRoot(_ path: String) -> Path { Path("//" + path) }
  public static func relativeToCurrentFile(_ path: String, callerPath: StaticString = #filePath) -> Path {
    let folder = "\(callerPath)".split(separator: "/").dropLast().joined(separator: "/")
    return Path("/\(folder)/\(path)")
  }

  var description: Description { .text(pathString) }
}

/// A value of a property list.
public indirect enum PlistValue: Equatable, Sendable {
  case string(String)
  case integer(Int)
  case real(Double)
  case boolean(Bool)
  case dictionary([String: PlistValue])
  case array([PlistValue])

  var description: Description {
    switch self {
    case .string(let text): .text(text)
    case .integer(let number): .integer(number)
    case .real(let number): .number(number)
    case .boolean(let value): .boolean(value)
    case .dictionary(let keys): .map(keys.mapValues(\.description))
    case .array(let values): .list(values.map(\.description))
    }
  }
}

extension PlistValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(dictionaryLiteral elements: (String, PlistValue)...) {
    self = .dictionary(Dictionary(elements) { $1 })
  }
  public init(arrayLiteral elements: PlistValue...) { self = .array(elements) }
}

public enum Plist {
  public typealias Value = PlistValue
}

/// The `Info.plist` of a target.
public struct InfoPlist: ExpressibleByStringInterpolation, Equatable, Sendable {
  public typealias Value = PlistValue

  let description: Description

  public static func file(path: Path) -> InfoPlist { InfoPlist(description: .map(["file": path.description])) }
  public static func dictionary(_ keys: [String: PlistValue]) -> InfoPlist {
    InfoPlist(description: .map(["dictionary": PlistValue.dictionary(keys).description]))
  }
  public static func extendingDefault(with keys: [String: PlistValue]) -> InfoPlist {
    InfoPlist(description: .map(["extending": PlistValue.dictionary(keys).description]))
  }
  public static var `default`: InfoPlist { extendingDefault(with: [:]) }
  public static func variable(_ name: String) -> InfoPlist { file(path: Path(name)) }

  init(description: Description) { self.description = description }
  public init(stringLiteral value: String) { self = .file(path: Path(value)) }
}

/// The entitlements of a target.
public struct Entitlements: ExpressibleByStringInterpolation, Equatable, Sendable {
  let description: Description

  public static func file(path: Path) -> Entitlements { Entitlements(description: .map(["file": path.description])) }
  public static func dictionary(_ keys: [String: PlistValue]) -> Entitlements {
    Entitlements(description: .map(["dictionary": PlistValue.dictionary(keys).description]))
  }
  public static func variable(_ name: String) -> Entitlements { file(path: Path(name)) }

  init(description: Description) { self.description = description }
  public init(stringLiteral value: String) { self = .file(path: Path(value)) }
}

/// A version with three numbers.
public struct Version: ExpressibleByStringInterpolation, Hashable, Comparable, Sendable {
  public let major: Int
  public let minor: Int
  public let patch: Int

  public init(_ major: Int, _ minor: Int, _ patch: Int) { (self.major, self.minor, self.patch) = (major, minor, patch) }
  public init(stringLiteral value: String) {
    let parts = value.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
    func part(_ index: Int) -> Int { parts.indices.contains(index) ? parts[index] : 0 }
    self.init(part(0), part(1), part(2))
  }

  public static func < (one: Version, other: Version) -> Bool {
    (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
  }

  var text: String { "\(major).\(minor).\(patch)" }
}
