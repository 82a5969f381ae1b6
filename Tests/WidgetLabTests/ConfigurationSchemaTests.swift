// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `The schema and the reader of the configuration` {
  /// What follows `"device": {"name": "a"}, ` in a file, or a whole file. Editors read YAML 1.2, and the reader 1.1:
  /// the text between « and » is plain in the YAML, and a text in the JSON. Without characters it is no value and null.
  private static let accepted = [
    #""device": {"name": 5}"#, #""device": {"name": "a", "version": 14}"#, #""device": {"name": "a", "version": 99.1}"#,
    #""device": {"name": "a", "version": "26.0.1", "locale": «»}"#, #""device": {"name": "a", "platform": "iPadOS"}"#,
    #""device": {"name": "a", "model": "iPad Air", "platform": "iPadOS"}"#,
    #""device": {"name": "a", "model": "iPad", "platform": "iOS"}"#,
    #""device": {"name": "a", "model": "iPhone 16", "platform": «»}"#,
    #""apps": «», "extensions": «», "appGroups": «», "settings": «», "pushServer": «», "bus": «»"#,
    #""appGroups": ["group.a", 5, true]"#,
    #""apps": [{"bundle": "a.b", "executable": 1, "environment": {"A": «», "B": 1, "C": true}}]"#,
    #""apps": [{"bundle": "a.b", "executable": true, "agent": «», "version": 1.5}]"#,
    #""apps": [{"bundle": "a.b", "executable": "c", "resources": «», "entitlements": {"aps-environment": «»}}]"#,
    #""extensions": [{"bundle": "a.b.c", "executable": "c", "dataProtection": "complete", "buildSettings": {"A": 1}}]"#,
    #""provider": {"executable": "p", "arguments": ["--port", 8080, 1.5, true]}"#,
    #""settings": {"developerMode": «yes»}"#,
    #""settings": {"developerMode": «No», "placesEachKind": «ON», "observedEventOrder": «off»}"#,
    #""settings": {"suspendAfter": «»}"#, #""settings": {"suspendAfter": «1:30»}"#,
    #""settings": {"suspendAfter": «1_000.5»}"#,
    #""settings": {"suspendAfter": 999999999.5}"#, #""settings": {"suspendAfter": 0}"#,
    #""settings": {"imageAreaLimit": 1}"#,
    #""settings": {"activityLimit": 5.0}"#, #""settings": {"entryLimit": 1e3}"#,
    #""settings": {"entryLimit": «1_000»}"#,
    #""settings": {"entryLimit": «0b11»}"#, #""settings": {"redeliveries": 9223372036854775807}"#,
    #""settings": {"homeScreenRenderingMode": «»}"#, #""settings": {"budget": 7}"#,
    #""bus": {"journalLimit": 65536}"#, #""bus": {"journalLimit": "64KiB"}"#, #""bus": {"journalLimit": "1GiB"}"#,
    #""bus": {"journalLimit": "1000KiB"}"#, #""bus": {"metrics": "[::1]:9464", "keyGrace": 86400}"#,
    #""pushServer": {"database": "postgresql://h/d", "replicas": 64, "listen": 1}"#,
    #""pushServer": {"database": "${env.URI}", "metrics": "localhost:0", "idleTimeout": 0.001}"#,
  ]

  private static let refused = [
    #""device": «»"#, #""device": {}"#, #""device": {"name": «»}"#, #""device": {"name": ""}"#,
    #""device": {"name": "a/b"}"#, #""device": {"name": ".."}"#, #""device": {"name": "a", "locale": "de/DE"}"#,
    #""device": {"name": "a", "version": 13}"#, #""device": {"name": "a", "version": 100}"#,
    #""device": {"name": "a", "version": "13.9"}"#, #""device": {"name": "a", "version": "new"}"#,
    #""device": {"name": "a", "model": "iPhone 3G"}"#, #""device": {"name": "a", "platform": "watchOS"}"#,
    #""device": {"name": "a", "model": "iPhone 16", "platform": "iPadOS"}"#,
    #""appGroups": ["a b"]"#, #""appGroups": "a""#, #""appGroups": [["a"]]"#, #""apps": {"bundle": "a"}"#,
    #""apps": ["a"]"#, #""apps": [{"bundle": "a"}]"#, #""apps": [{"executable": "a"}]"#,
    #""apps": [{"bundle": "a", "executable": ""}]"#, #""apps": [{"bundle": "a b", "executable": "b"}]"#,
    #""apps": [{"bundle": "a", "executable": "b", "dataProtection": "complete"}]"#,
    #""apps": [{"bundle": "a", "executable": "b", "environment": {"A=B": "x"}}]"#,
    #""apps": [{"bundle": "a", "executable": "b", "environment": {"": "x"}}]"#,
    #""apps": [{"bundle": "a", "executable": "b", "environment": {"A": ["x"]}}]"#,
    #""apps": [{"bundle": "a", "executable": "b", "entitlements": {"keychain-access-groups": ["a b"]}}]"#,
    #""provider": {}"#, #""provider": {"executable": ""}"#, #""provider": {"executable": «»}"#,
    #""provider": {"executable": "p", "arguments": "x"}"#, #""settings": []"#, #""settings": {"suspendafter": 1}"#,
    #""settings": {"developerMode": 1}"#, #""settings": {"developerMode": «maybe»}"#,
    #""settings": {"suspendAfter": -1}"#, #""settings": {"suspendAfter": 1000000000}"#,
    #""settings": {"suspendAfter": true}"#, #""settings": {"suspendAfter": «soon»}"#,
    #""settings": {"suspendAfter": "3"}"#,
    #""settings": {"imageAreaLimit": 0.5}"#, #""settings": {"activityLimit": 0}"#,
    #""settings": {"activityLimit": 101}"#,
    #""settings": {"activityLimit": 5.5}"#, #""settings": {"activityLimit": «1:30»}"#,
    #""settings": {"activityLimit": "5"}"#,
    #""settings": {"redeliveries": 99999999999999999999}"#, #""settings": {"homeScreenRenderingMode": "vibrant"}"#,
    #""bus": {"journalLimit": 65535}"#, #""bus": {"journalLimit": "63KiB"}"#, #""bus": {"journalLimit": "0MiB"}"#,
    #""bus": {"journalLimit": "1GB"}"#, #""bus": {"keyGrace": 86401}"#, #""bus": {"peerLimit": 0}"#,
    #""bus": {"metrics": 9464}"#, #""bus": {"metrics": "9464"}"#, #""bus": {"metrics": "a b:1"}"#,
    #""bus": {"metrics": "::1:9464"}"#, #""bus": {"journalSync": 1}"#, #""pushServer": {"payloadLimit": 8193}"#,
    #""pushServer": {"database": "mysql://h/d"}"#, #""pushServer": {"executable": ""}"#,
    #""pushServer": {"idleTimeout": 0}"#,
  ]

  private static let schema = Result {
    try JSONDecoder().decode(JSONValue.self, from: Data(ConfigurationSchema.text.utf8))
  }

  @Test(arguments: accepted) func `a file that the reader accepts is valid for the schema`(rest: String) throws {
    try expect(rest, isAccepted: true)
  }

  @Test(arguments: refused) func `a file that the reader refuses is invalid for the schema`(rest: String) throws {
    try expect(rest, isAccepted: false)
  }

  @Test(arguments: [
    ("apps", 200, true), ("apps", 201, false), ("extensions", 201, false), ("appGroups", 1_000, true),
    ("appGroups", 1_001, false),
  ])
  func `the lengths of lists are limited by both`(key: String, count: Int, isAccepted: Bool) throws {
    let elements = (0..<count).map { key == "appGroups" ? "\($0)" : #"{"bundle": "b\#($0)", "executable": "c"}"# }
    try expect("\"\(key)\": [\(elements.joined(separator: ", "))]", isAccepted: isAccepted)
  }

  @Test(arguments: [(155, true), (156, false)])
  func `the length of a bundle identifier is limited by both`(count: Int, isAccepted: Bool) throws {
    let bundle = String(repeating: "b", count: count)
    try expect(#""apps": [{"bundle": "\#(bundle)", "executable": "c"}]"#, isAccepted: isAccepted)
  }

  @Test(arguments: [(1_000, true), (1_001, false)])
  func `the number of variables is limited by both`(count: Int, isAccepted: Bool) throws {
    let variables = (0..<count).map { #""N\#($0)": 1"# }.joined(separator: ", ")
    try expect(
      #""apps": [{"bundle": "b", "executable": "c", "environment": {\#(variables)}}]"#, isAccepted: isAccepted)
  }

  private func expect(_ rest: String, isAccepted: Bool) throws {
    let text = rest.hasPrefix("\"device\"") ? "{\(rest)}" : #"{"device": {"name": "a"}, \#(rest)}"#
    let yaml = text.replacing("«", with: "").replacing("»", with: "")
    let json = text.replacing("«»", with: "null").replacing("«", with: "\"").replacing("»", with: "\"")
    let document = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
    let problems = try document.problems(Self.schema.get())
    #expect(problems.isEmpty == isAccepted, "the schema: \(problems.first ?? "no problem")")
    do throws(ClusterError) {
      _ = try ClusterConfiguration(yaml: yaml)
      #expect(isAccepted, "the reader accepts it")
    } catch {
      #expect(!isAccepted, "the reader: \(error.message)")
    }
  }
}

private indirect enum JSONValue: Decodable, Hashable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([JSONValue].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  private var types: [String] {
    switch self {
    case .null: ["null"]
    case .flag: ["boolean"]
    case .number(let number): number == number.rounded() ? ["integer", "number"] : ["number"]
    case .text: ["string"]
    case .list: ["array"]
    case .object: ["object"]
    }
  }

  private var elements: [JSONValue] { if case .list(let values) = self { values } else { [self] } }

  /// The keywords of a JSON Schema that the value violates. Those that the schema does not use are unknown.
  func problems(_ schema: JSONValue) throws -> [String] {
    guard case .object(let keywords) = schema else { return schema == .flag(false) ? ["not permitted"] : [] }
    return try keywords.sorted { $0.key < $1.key }.flatMap { try problems($0.key, $0.value, keywords) }
  }

  private func problems(_ keyword: String, _ rule: JSONValue, _ all: [String: JSONValue]) throws -> [String] {
    func problem(unless isRight: Bool) -> [String] { isRight ? [] : ["\(self): \(keyword) \(rule)"] }
    switch (keyword, rule, self) {
    case ("$schema", _, _), ("title", _, _), ("description", _, _), ("default", _, _): return []
    case ("type", _, _): return problem(unless: rule.elements.contains { types.map(JSONValue.text).contains($0) })
    case ("enum", .list(let values), _): return problem(unless: values.contains(self))
    case ("anyOf", .list(let schemas), _): return problem(unless: try schemas.contains { try problems($0).isEmpty })
    case ("minimum", .number(let limit), .number(let number)): return problem(unless: number >= limit)
    case ("maximum", .number(let limit), .number(let number)): return problem(unless: number <= limit)
    case ("exclusiveMaximum", .number(let limit), .number(let number)): return problem(unless: number < limit)
    case ("minLength", .number(let limit), .text(let text)): return problem(unless: Double(text.count) >= limit)
    case ("maxLength", .number(let limit), .text(let text)): return problem(unless: Double(text.count) <= limit)
    case ("pattern", .text(let pattern), .text(let text)): return problem(unless: text.contains(try Regex(pattern)))
    case ("maxItems", .number(let limit), .list(let values)): return problem(unless: Double(values.count) <= limit)
    case ("items", _, .list(let values)): return try values.flatMap { try $0.problems(rule) }
    case ("maxProperties", .number(let limit), .object(let members)):
      return problem(unless: Double(members.count) <= limit)
    case ("required", _, .object(let members)):
      return problem(unless: rule.elements.allSatisfy { name in members.keys.contains { .text($0) == name } })
    case ("propertyNames", _, .object(let members)):
      return try members.keys.flatMap { try JSONValue.text($0).problems(rule) }
    case ("properties", .object(let schemas), .object(let members)):
      return try schemas.flatMap { name, schema in try members[name]?.problems(schema) ?? [] }
    case ("additionalProperties", _, .object(let members)):
      guard case .object(let known)? = all["properties"] else {
        return try members.values.flatMap { try $0.problems(rule) }
      }
      return try members.filter { known[$0.key] == nil }.flatMap { try $0.value.problems(rule) }
    case ("minimum", _, _), ("maximum", _, _), ("exclusiveMaximum", _, _), ("minLength", _, _), ("maxLength", _, _),
      ("pattern", _, _), ("maxItems", _, _), ("items", _, _), ("maxProperties", _, _), ("required", _, _),
      ("propertyNames", _, _), ("properties", _, _), ("additionalProperties", _, _):
      return []
    default: return ["the keyword \(keyword) is unknown"]
    }
  }
}
