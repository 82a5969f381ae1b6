// SPDX-License-Identifier: Apache-2.0

import Foundation
import Yams

/// Reads the YAML of a settings file in time and memory that its length bounds.
///
/// Yams compares the keys of a mapping. A key that is a list of aliases, of which each is a list of aliases, would have
/// a size exponential in their number, so that no key may be a list, a mapping or an alias. Aliases as values are
/// permitted: they share what they name.
enum BoundedYAML {
  /// The longest text, in bytes.
  static let longest = 1 << 18
  /// The most entries of a list or a mapping.
  static let entries = 1_000
  /// The most apps or extensions.
  static let products = 200
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
