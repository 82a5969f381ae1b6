// SPDX-License-Identifier: Apache-2.0

import Foundation
import Yams

/// Reads one mapping of `widgetlab.yaml` or of another settings file. Tracks line numbers, and the keys that its reader
/// knows.
package struct ConfigurationReader {
  private let file: String
  private let path: String
  private let line: Int?
  private var values: [String: (key: Node, value: Node)] = [:]
  private var known: Set<String> = []

  init(_ node: Node, file: String, path: String) throws(ClusterError) {
    self.file = file
    self.path = path
    self.line = node.mark?.line
    guard case .mapping(let mapping) = node else {
      throw ConfigurationReader.error(
        file, line: node.mark?.line, path: path, message: "expected a mapping of keys and values")
    }
    for (key, value) in mapping {
      guard let name = key.string else {
        throw ConfigurationReader.error(file, line: key.mark?.line, path: path, message: "a key is not a string")
      }
      guard values.updateValue((key, value), forKey: name) == nil else {
        throw ConfigurationReader.error(file, line: key.mark?.line, path: join(path, name), message: "is given twice")
      }
    }
  }

  /// Reads a whole file as one mapping.
  ///
  /// - Throws: `configuration`, with the file and the line.
  package init(file: String) throws(ClusterError) {
    let text: String
    do {
      text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
      throw ClusterError(.configuration, "\(file) cannot be read: check the path and its permissions")
    }
    guard let node = try BoundedYAML.compose(text, file: file) else {
      throw ClusterError(.configuration, "\(file) is empty")
    }
    try self.init(node, file: file, path: "")
  }

  /// Resolves a path in the file, relative to the file's folder.
  func beside(_ path: String) -> String {
    URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: file).deletingLastPathComponent()).standardizedFileURL
      .path
  }

  // MARK: Values

  package mutating func string(_ name: String) throws(ClusterError) -> String? {
    guard let node = take(name) else { return nil }
    return try text(node, name)
  }

  /// A whole number, also as 5.0 or 1e3: a JSON Schema cannot refuse them.
  ///
  /// - Parameter range: the permitted numbers, for the error about one that is no `Int`.
  package mutating func integer(
    _ name: String, in range: String = "\(Int.min) to \(Int.max)"
  ) throws(ClusterError) -> Int? {
    guard let node = take(name) else { return nil }
    // Yams reads 1:30 as 90, as YAML 1.1 does, and traps when the result is too large.
    guard node.scalar?.string.contains(":") == false else { throw error(name, "expected a whole number") }
    if let value = node.wholeNumber { return value }
    guard let number = node.number, number.isFinite, number == number.rounded() else {
      throw error(name, "expected a whole number")
    }
    guard let value = Int(exactly: number) else { throw error(name, "must be \(range)") }
    return value
  }

  package mutating func boolean(_ name: String) throws(ClusterError) -> Bool? {
    guard let node = take(name) else { return nil }
    guard let value = node.bool else { throw error(name, "expected true or false") }
    return value
  }

  /// A finite number.
  package mutating func number(_ name: String) throws(ClusterError) -> Double? {
    guard let node = take(name) else { return nil }
    guard let value = node.number, value.isFinite else { throw error(name, "expected a number") }
    return value
  }

  /// A list of finite numbers.
  package mutating func numbers(_ name: String) throws(ClusterError) -> [Double]? {
    guard let node = take(name) else { return nil }
    guard case .sequence(let sequence) = node else { throw error(name, "expected a list of numbers") }
    try limit(sequence.count, name: name)
    var result: [Double] = []
    for element in sequence {
      guard let value = element.number, value.isFinite else { throw error(name, "expected a list of numbers") }
      result.append(value)
    }
    return result
  }

  package mutating func strings(_ name: String) throws(ClusterError) -> [String] {
    guard let node = take(name) else { return [] }
    guard case .sequence(let sequence) = node else { throw error(name, "expected a list") }
    try limit(sequence.count, name: name)
    var result: [String] = []
    for element in sequence { result.append(try text(element, name)) }
    return result
  }

  mutating func dictionary(_ name: String) throws(ClusterError) -> [String: String] {
    guard let node = take(name) else { return [:] }
    guard case .mapping(let mapping) = node else { throw error(name, "expected a mapping of names and values") }
    try limit(mapping.count, name: name)
    var result: [String: String] = [:]
    for (key, value) in mapping { result[try text(key, name)] = try text(value, name) }
    return result
  }

  mutating func mapping(_ name: String) throws(ClusterError) -> ConfigurationReader? {
    guard let node = take(name) else { return nil }
    return try ConfigurationReader(node, file: file, path: join(path, name))
  }

  mutating func mappings(_ name: String) throws(ClusterError) -> [ConfigurationReader] {
    guard let node = take(name) else { return [] }
    guard case .sequence(let sequence) = node else { throw error(name, "expected a list") }
    try limit(sequence.count, name: name, most: BoundedYAML.products)
    var result: [ConfigurationReader] = []
    for (index, element) in sequence.enumerated() {
      result.append(try ConfigurationReader(element, file: file, path: "\(join(path, name))[\(index)]"))
    }
    return result
  }

  /// Whether the file has the key.
  package func has(_ name: String) -> Bool { values[name] != nil }

  // MARK: Errors

  /// Throws an error for the first key that was not read, with the most similar one that was.
  package func finish() throws(ClusterError) { try check(known) }

  /// Throws an error for the first key that is not one of these, with the most similar one of them.
  ///
  /// - Parameter places: the other mappings that have a key.
  func check(_ known: Set<String>, _ places: (String) -> [String] = { _ in [] }) throws(ClusterError) {
    let strangers = values.filter { !known.contains($0.key) }.map { ($0.key, $0.value.key.mark?.line) }
    guard let (name, _) = strangers.min(by: { ($0.1 ?? 0, $0.0) < ($1.1 ?? 0, $1.0) }) else { return }
    let owners = places(name)
    guard owners.isEmpty else {
      throw error(name, "is not a known key here; it belongs to \(owners.joined(separator: " or "))")
    }
    let advice = name.mostSimilar(of: known).map { "; did you mean \($0)?" } ?? ""
    throw error(name, "is not a known key" + advice)
  }

  /// Returns an error about the value of a key.
  package func error(_ name: String, _ message: String) -> ClusterError {
    ConfigurationReader.error(
      file, line: values[name]?.key.mark?.line ?? line, path: join(path, name), message: message)
  }

  /// Returns an error about a required key that the file does not have.
  func missing(_ name: String) -> ClusterError {
    ConfigurationReader.error(file, line: line, path: join(path, name), message: "is missing")
  }

  private static func error(_ file: String, line: Int?, path: String, message: String) -> ClusterError {
    ClusterError(.configuration, "\(file)\(line.map { ":\($0)" } ?? ""): \(path.isEmpty ? "" : path + ": ")\(message)")
  }

  private mutating func take(_ name: String) -> Node? {
    known.insert(name)
    guard let node = values[name]?.value, node.null == nil else { return nil }
    return node
  }

  private func text(_ node: Node, _ name: String) throws(ClusterError) -> String {
    guard case .scalar(let scalar) = node else {
      throw ConfigurationReader.error(file, line: node.mark?.line, path: join(path, name), message: "expected a string")
    }
    // It would end a path, an argument or a variable of a process.
    guard !scalar.string.utf8.contains(0) else {
      throw ConfigurationReader.error(
        file, line: node.mark?.line, path: join(path, name), message: "has a NUL character")
    }
    return scalar.string
  }

  /// Aliases make a short file long.
  private func limit(_ count: Int, name: String, most: Int = BoundedYAML.entries) throws(ClusterError) {
    guard count <= most else { throw error(name, "has \(count) entries, of which at most \(most) are read") }
  }
}

private func join(_ path: String, _ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

// Without Foundation for usual numbers: its first use takes 0.3 ms at the start of a process.
extension Node {
  /// As `float`.
  fileprivate var number: Double? { plain("0123456789.").map { Double($0) } ?? float }

  /// As `int`, which reads 010 as octal.
  fileprivate var wholeNumber: Int? {
    guard let digits = plain("0123456789"), digits == "0" || digits.utf8.first != UInt8(ascii: "0") else { return int }
    return Int(digits)
  }

  /// The text of a scalar without quotation marks that consists of these characters.
  private func plain(_ characters: StaticString) -> String? {
    guard case .scalar(let scalar) = self, scalar.style == .any || scalar.style == .plain else { return nil }
    return characters.withUTF8Buffer { characters in
      scalar.string.utf8.allSatisfy(characters.contains) ? scalar.string : nil
    }
  }
}

extension String {
  /// Returns the name that the user probably meant: one with few other letters, whatever their case.
  package func mostSimilar(of names: Set<String>) -> String? {
    guard utf8.count <= 60 else { return nil }
    let limit = Swift.max(1, Swift.min(3, utf8.count / 3))
    return names.map { ($0, lowercased().distance(to: $0.lowercased())) }.filter { $0.1 <= limit }
      .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
  }

  /// How many letters must be inserted, removed or replaced to get the other text: the Levenshtein distance.
  private func distance(to other: String) -> Int {
    let (letters, others) = (Array(utf8), Array(other.utf8))
    var row = Array(0...others.count)
    for (index, letter) in letters.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in others.indices {
        let replaced = diagonal + (letter == others[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[others.count]
  }
}

/// Reads the YAML of a settings file in time and memory that its length bounds.
///
/// Yams compares the keys of a mapping. A key that is a list of aliases, of which each is a list of aliases, would have
/// a size exponential in their number, so that no key may be a list, a mapping or an alias. Aliases as values are
/// permitted: they share what they name.
package enum BoundedYAML {
  /// The longest text, in bytes.
  package static let longest = 1 << 18
  /// The most entries of a list or a mapping.
  package static let entries = 1_000
  /// The most apps or extensions.
  package static let products = 200
  /// Replaces the mark of an alias, so that the alias is a text. A private character of Unicode, which YAML permits.
  private static let stand = "\u{E000}"

  /// The root of the document; `nil` when it is empty.
  ///
  /// - Throws: `configuration`, with the file.
  static func compose(_ text: String, file: String) throws(ClusterError) -> Node? {
    guard text.utf8.count <= longest else {
      throw ClusterError(
        .configuration, "\(file) is longer than \(longest) bytes; a file of settings is much shorter")
    }
    // Without aliases, Yams needs no more time than the length permits.
    if text.utf8.contains(UInt8(ascii: "*")) {
      let plain = text.replacingOccurrences(of: "*", with: stand)
      if let root = try parse(plain, file) { try checkKeys(root, file) }
    }
    return try parse(text, file)
  }

  private static func parse(_ text: String, _ file: String) throws(ClusterError) -> Node? {
    do {
      // `ConfigurationReader` decides what a value is. The resolver matters only for a value that shares its node with a
      // key, by an alias. The default one compiles seven regular expressions.
      let hasAliases = text.utf8.contains(UInt8(ascii: "*"))
      return try Yams.compose(yaml: text, hasAliases ? .default : .basic, Constructor([:], [:], [:]), .utf8)
    } catch {
      let reason = "\(error)".replacingOccurrences(of: stand, with: "*")
      throw ClusterError(.configuration, "\(file) is not YAML: \(reason)")
    }
  }

  private static func checkKeys(_ node: Node, _ file: String) throws(ClusterError) {
    switch node {
    case .sequence(let sequence): for element in sequence { try checkKeys(element, file) }
    case .mapping(let mapping):
      for (key, value) in mapping {
        guard case .scalar(let name) = key, name.style != .plain || !name.string.hasPrefix(stand) else {
          let line = key.mark.map { ":\($0.line)" } ?? ""
          throw ClusterError(.configuration, "\(file)\(line): a key is a list, a mapping or an alias; write a name")
        }
        try checkKeys(value, file)
      }
    case .scalar, .alias: break
    }
  }
}
