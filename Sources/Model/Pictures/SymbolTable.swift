// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Layout

/// Why the symbols cannot be used. Definite.
package struct SymbolFailure: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// A file is missing, or is no text.
    case file
    /// A line of the table is wrong.
    case table
    /// A line of the outlines is wrong.
    case outline
  }

  package let code: Code
  package let description: String
}

/// The symbols by their names: which icons show a name of SF Symbols, and the outlines of these icons.
package struct SymbolTable: Sendable {
  static let tableFile = "symbol-table.txt"
  static let outlinesFile = "symbol-outlines.txt"

  /// The side of the box in which symbols are drawn, in units.
  static let side = 16.0

  /// The lines of the table.
  let forms: [String: SymbolForm]
  /// The path data of icons by their names.
  let outlines: [String: Substring]

  /// The symbols among the resources, read at the first use.
  package static let bundled: Result<SymbolTable, SymbolFailure> = {
    do throws(SymbolFailure) {
      return .success(try SymbolTable(folder: InterFont.folder))
    } catch {
      return .failure(error)
    }
  }()

  /// Reads both files in a folder.
  package init(folder: URL) throws(SymbolFailure) {
    func text(_ name: String) throws(SymbolFailure) -> String {
      let url = folder.appending(path: name)
      guard let data = try? Data(contentsOf: url), let text = String(validating: data, as: UTF8.self) else {
        throw SymbolFailure(code: .file, description: "the symbol file is missing or no text: \(url.path)")
      }
      return text
    }
    try self.init(table: text(Self.tableFile), outlines: text(Self.outlinesFile))
  }

  /// Reads the texts of both files.
  package init(table: String, outlines: String) throws(SymbolFailure) {
    self.outlines = try Self.outlines(outlines)
    forms = try Self.forms(table, icons: self.outlines)
  }

  // MARK: Reading

  /// The lines with their numbers, without empty lines and comments.
  private static func lines(_ text: String) -> [(number: Int, text: Substring)] {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
      .map { ($0.offset + 1, $0.element) }
      .filter { !$0.1.isEmpty && !$0.1.hasPrefix("#") }
  }

  private static func outlines(_ text: String) throws(SymbolFailure) -> [String: Substring] {
    var found: [String: Substring] = [:]
    for (number, line) in lines(text) {
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
        throw SymbolFailure(
          code: .outline,
          description: "\(outlinesFile), line \(number): a name, a tabulator and path data are expected")
      }
      found[String(parts[0])] = parts[1]
    }
    return found
  }

  private static func forms(
    _ text: String, icons: [String: Substring]
  ) throws(SymbolFailure) -> [String: SymbolForm] {
    var forms: [String: SymbolForm] = [:]
    for (number, line) in lines(text) {
      func failure(_ reason: String) -> SymbolFailure {
        SymbolFailure(code: .table, description: "\(tableFile), line \(number): \(reason)")
      }
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 3, words[1] == "=" else { throw failure("`name = icon` is expected, not `\(line)`") }
      guard forms[words[0]] == nil else { throw failure("the symbol \(words[0]) is in the table twice") }
      guard let form = form(words.dropFirst(2)) else {
        throw failure(
          "`\(words.dropFirst(2).joined(separator: " "))` is no icon with `mirror`, `turn`, `scale`, `in`, "
            + "`slash` or `badge`")
      }
      if let missing = form.icons.first(where: { icons[$0] == nil }) {
        throw failure("the icon \(missing) has no outline: scripts/symbols makes it, if Bootstrap Icons has the icon")
      }
      forms[words[0]] = form
    }
    return forms
  }

  /// An icon and what is done with it, in order.
  private static func form(_ words: ArraySlice<String>) -> SymbolForm? {
    guard let icon = words.first else { return nil }
    var form = SymbolForm.icon(icon)
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      switch word {
      case "mirror": form = .mirrored(form)
      case "slash": form = .slashed(form)
      case "turn":
        guard let degrees = rest.popFirst().flatMap(Double.init), abs(degrees) <= 360 else { return nil }
        form = .turned(form, degrees: degrees)
      case "scale":
        guard let factor = rest.popFirst().flatMap(Double.init), (0.1...2).contains(factor) else { return nil }
        form = .scaled(form, factor)
      case "in":
        guard let shape = rest.popFirst() else { return nil }
        let isFilled = shape.hasSuffix("-fill")
        guard let frame = SymbolFrame(rawValue: isFilled ? String(shape.dropLast(5)) : shape) else { return nil }
        form = .within(form, frame, isFilled: isFilled)
      case "badge":
        guard let sign = rest.popFirst() else { return nil }
        form = .badged(form, sign == "dot" ? nil : .icon(sign))
      default: return nil
      }
    }
    return form
  }
}
