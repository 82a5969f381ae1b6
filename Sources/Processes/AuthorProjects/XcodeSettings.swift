// SPDX-License-Identifier: Apache-2.0

/// The build settings of a target in one configuration: those of the project and of the target, each over its
/// `.xcconfig` file, with the values of `$(NAME)` inserted.
///
/// Source: Apple, *Build settings reference* and *Adding a build configuration file to your project*.
struct XcodeSettings {
  /// From the lowest to the highest precedence.
  private var layers: [[String: String]]
  /// The names that a value refers to and that no layer has.
  private(set) var unknown: Set<String> = []

  init(_ layers: [[String: String]]) { self.layers = layers }

  /// The value of a setting, with all references inserted; `nil` without one.
  mutating func value(_ name: String) -> String? {
    value(name, below: layers.count, depth: 0)
  }

  /// The value without one that is empty.
  mutating func nonempty(_ name: String) -> String? {
    value(name).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The build settings that a text refers to, such as `NAME` for `$(NAME:rfc1034identifier)`.
  static func references(in text: String) -> Set<String> {
    Set(text.matches(of: /\$[(\x7B]([A-Za-z0-9_]+)/).map { String($0.output.1) })
  }

  mutating func isYes(_ name: String) -> Bool { value(name)?.uppercased() == "YES" }

  /// The words of a value: separated by spaces, in quotes with spaces.
  mutating func words(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isQuoted = false
    for character in value(name) ?? "" {
      if character == "\"" {
        isQuoted.toggle()
      } else if character == " ", !isQuoted {
        if !word.isEmpty { words.append(word) }
        word = ""
      } else {
        word.append(character)
      }
    }
    return word.isEmpty ? words : words + [word]
  }

  /// Inserts values into a text, such as one of an `Info.plist`.
  mutating func expand(_ text: String) -> String { expand(text, of: nil, below: layers.count, depth: 0) }

  private mutating func value(_ name: String, below limit: Int, depth: Int) -> String? {
    for index in (0..<limit).reversed() {
      guard let text = layers[index][name] else { continue }
      return expand(text, of: name, below: index, depth: depth)
    }
    return nil
  }

  /// - Parameters:
  ///   - setting: the setting with this value, for `$(inherited)`.
  ///   - limit: the layer of this value.
  private mutating func expand(_ text: String, of setting: String?, below limit: Int, depth: Int) -> String {
    // A setting can refer to itself over others.
    guard depth < 16 else { return "" }
    var result = ""
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[rest.index(after: dollar)...]
      guard let opening = rest.first, opening == "(" || opening == "{" else {
        result += "$"
        continue
      }
      guard let end = Self.end(of: rest, opening) else { return result + "$" + rest }
      let reference = expand(
        String(rest[rest.index(after: rest.startIndex)..<end]), of: nil, below: layers.count, depth: depth + 1)
      rest = rest[rest.index(after: end)...]
      result += value(ofReference: reference, in: setting, below: limit, depth: depth)
    }
    return result + rest
  }

  /// The index of the bracket that closes the first one.
  private static func end(of text: Substring, _ opening: Character) -> Substring.Index? {
    let closing: Character = opening == "(" ? ")" : "}"
    var depth = 0
    for index in text.indices {
      if text[index] == opening { depth += 1 }
      if text[index] == closing { depth -= 1 }
      if depth == 0 { return index }
    }
    return nil
  }

  private mutating func value(
    ofReference reference: String, in setting: String?, below limit: Int, depth: Int
  ) -> String {
    let parts = reference.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    let name = parts[0]
    var value: String?
    if name == "inherited" || name == setting {
      value = setting.flatMap { self.value($0, below: limit, depth: depth + 1) } ?? ""
    } else {
      value = self.value(name, below: layers.count, depth: depth + 1)
    }
    for part in parts.dropFirst() where part.hasPrefix("default=") && (value ?? "").isEmpty {
      value = String(part.dropFirst("default=".count))
    }
    guard var value else {
      if !name.isEmpty { unknown.insert(name) }
      return ""
    }
    for part in parts.dropFirst() {
      switch part {
      case "rfc1034identifier": value = Self.identifier(value, "-")
      case "c99extidentifier": value = Self.identifier(value, "_")
      case "lower": value = value.lowercased()
      case "upper": value = value.uppercased()
      case "file": value = FilePath.name(value)
      case "dir": value = FilePath.folder(value)
      case "base": value = FilePath.stem(value)
      default: break
      }
    }
    return value
  }

  /// Replaces what an identifier cannot have.
  static func identifier(_ text: String, _ replacement: Character) -> String {
    var result = String(
      text.map { character in
        let isPermitted =
          character.isASCII && (character.isLetter || character.isNumber)
          || replacement == "_" && (character == "_" || !character.isASCII && character.isLetter)
        return isPermitted || replacement == "-" && character == "." ? character : replacement
      })
    if replacement == "_", result.first?.isNumber == true { result = "_" + result.dropFirst() }
    return result
  }
}

/// Reads the settings of a configuration: dictionaries of a project file, and `.xcconfig` files.
struct XcodeSettingReader {
  let configuration: String
  /// `iphoneos`, `watchos` …
  let sdk: String

  /// The settings of a dictionary that apply to this configuration and SDK.
  func settings(_ values: [String: Any]) -> [String: String] {
    var result: [String: String] = [:]
    // Conditional values replace others, so they are read later.
    for (key, value) in values.sorted(by: { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }) {
      let text = (value as? String) ?? (value as? [Any])?.compactMap { $0 as? String }.joined(separator: " ")
      if let text, let name = name(key) { result[name] = text }
    }
    return result
  }

  /// The settings of an `.xcconfig` file; `nil` when it cannot be read.
  func file(_ path: String, _ files: any ProjectFiles, depth: Int = 0) -> [String: String]? {
    guard depth < 16, let text = files.text(path) else { return nil }
    var result: [String: String] = [:]
    /// Settings with a condition that applies. They replace others.
    var conditional: [String: String] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
      if code.hasPrefix("#include") {
        let parts = code.split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count > 2 else { continue }
        let other = FilePath.absolute(String(parts[1]), in: FilePath.folder(path))
        result.merge(file(other, files, depth: depth + 1) ?? [:]) { $1 }
      } else if let sign = Self.assignment(in: code) {
        let key = code[..<sign].trimmed
        guard let name = name(key) else { continue }
        let value = code[code.index(after: sign)...].trimmed
        if key.contains("[") {
          conditional[name] = value
        } else {
          // A file that is included is a lower layer, whose value `$(inherited)` means.
          result[name] = value.replacing("$(inherited)", with: result[name] ?? "$(inherited)")
        }
      }
    }
    return result.merging(conditional) { $1 }
  }

  /// The index of the `=` that is not in the condition of the key.
  private static func assignment(in line: Substring) -> Substring.Index? {
    var depth = 0
    for index in line.indices {
      switch line[index] {
      case "[": depth += 1
      case "]": depth -= 1
      case "=" where depth == 0: return index
      default: break
      }
    }
    return nil
  }

  /// The name of a setting without its conditions; `nil` when they do not apply.
  private func name(_ key: String) -> String? {
    let parts = key.split(whereSeparator: { "[]".contains($0) })
    for condition in parts.dropFirst().flatMap({ $0.split(separator: ",") }) {
      let sides = condition.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
      guard sides.count == 2 else { return nil }
      let value = sides[0] == "sdk" ? sdk : sides[0] == "config" ? configuration : ""
      let pattern = sides[1]
      let applies = pattern.hasSuffix("*") ? value.hasPrefix(pattern.dropLast()) : value == pattern
      guard applies, !value.isEmpty || pattern == "*" else { return nil }
    }
    return parts.first.map { String($0).trimmed }
  }
}

extension StringProtocol {
  /// Without spaces at both ends.
  var trimmed: String {
    let start = drop(while: \.isWhitespace)
    var end = start[...]
    while let last = end.last, last.isWhitespace { end.removeLast() }
    return String(end)
  }
}
