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
    var variants: [String: Substring] = [:]
    for (number, line) in lines(text) {
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
        throw SymbolFailure(
          code: .outline,
          description: "\(outlinesFile), line \(number): a name, a tabulator and path data are expected")
      }
      variants[String(parts[0])] = parts[1]
    }
    return variants
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

extension SymbolTable {
  /// What shows a name.
  struct Match {
    var form: SymbolForm
    /// The name that the form shows: without `fill`, if no filled form exists.
    var name: String
  }

  /// The badges that are a sign in a circle, by the names of the signs.
  static let signs: [String: SymbolForm] = [
    "plus": .icon("plus-circle-fill"), "minus": .icon("dash-circle-fill"), "xmark": .icon("x-circle-fill"),
    "checkmark": .icon("check-circle-fill"), "exclamationmark": .icon("exclamation-circle-fill"),
    "questionmark": .icon("question-circle-fill"), "ellipsis": .within(.icon("three-dots"), .circle, isFilled: true),
  ]

  /// What shows a name: its line in the table, the filled form of a line, or a composition, in this order. A name
  /// without any of them is shown without its fill.
  ///
  /// - Parameter isLayered: whether the parts of a symbol have several styles. Compositions are preferred then.
  func match(_ name: String, isLayered: Bool = false) -> Match? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    // No name is longer, and each composition takes a step.
    guard parts.count <= 10 else { return nil }
    if let form = form(parts[...], isLayered: isLayered) { return Match(form: form, name: name) }
    let plain = parts.filter { $0 != "fill" }
    guard plain.count < parts.count, let form = form(plain[...], isLayered: isLayered) else { return nil }
    return Match(form: form, name: plain.joined(separator: "."))
  }

  private func form(_ parts: ArraySlice<String>, isLayered: Bool) -> SymbolForm? {
    if isLayered, let composed = composed(parts, isLayered: isLayered) { return composed }
    return single(parts) ?? composed(parts, isLayered: isLayered)
  }

  /// A line of the table, or its filled form.
  private func single(_ parts: ArraySlice<String>) -> SymbolForm? {
    if let form = forms[parts.joined(separator: ".")] { return form }
    guard parts.last == "fill" else { return nil }
    return forms[parts.dropLast().joined(separator: ".")]?.mappedIcons { icon in
      if icon.hasSuffix("-fill") { return icon }
      return outlines[icon + "-fill"] == nil ? nil : icon + "-fill"
    }
  }

  private func composed(_ parts: ArraySlice<String>, isLayered: Bool) -> SymbolForm? {
    let isFilled = parts.last == "fill"
    let rest = isFilled ? parts.dropLast() : parts
    guard rest.count > 1, let last = rest.last else { return nil }
    let base = rest.dropLast()
    if let frame = SymbolFrame(rawValue: last) {
      // A sign within a shape is filled, if it can be.
      guard let sign = single(base + ["fill"]) ?? form(base, isLayered: isLayered) ?? Self.letters(base) else {
        return nil
      }
      // A hole has one part.
      if isFilled, !isLayered, sign.isComposed { return nil }
      return .within(sign, frame, isFilled: isFilled)
    }
    if last == "slash" {
      return form(isFilled ? base + ["fill"] : base, isLayered: isLayered).map { .slashed($0) }
    }
    guard let index = rest.lastIndex(of: "badge"), index > rest.startIndex else { return nil }
    guard let behind = form(isFilled ? rest[..<index] + ["fill"] : rest[..<index], isLayered: isLayered) else {
      return nil
    }
    let name = rest[(index + 1)...]
    if name.isEmpty { return .badged(behind, nil) }
    let sign = Self.signs[name.joined(separator: ".")] ?? single(name + ["fill"]) ?? single(name)
    return sign.map { .badged(behind, $0) }
  }

  /// A letter, or a number from 0 to 50, which symbols have in shapes.
  private static func letters(_ parts: ArraySlice<String>) -> SymbolForm? {
    guard parts.count == 1, let text = parts.first else { return nil }
    let isLetter = text.utf8.count == 1 && text.utf8.allSatisfy { (0x61...0x7A).contains($0) }
    let isNumber = (1...2).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    guard isLetter || (isNumber && Int(text).map { $0 <= 50 } == true) else { return nil }
    return .letters(text.uppercased())
  }

  /// The name with the variants of `symbolVariant`, where symbols have names for them.
  static func name(_ name: String, variants: [String]) -> String {
    let shapes = ["circle", "square", "rectangle"]
    var parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var wanted = variants.flatMap { $0.split(separator: " ").map(String.init) }
    if wanted.isEmpty { return name }
    while parts.count > 1, let last = parts.last, ["slash", "fill"].contains(last) || shapes.contains(last) {
      wanted.append(last)
      parts.removeLast()
    }
    if wanted.contains("slash") { parts.append("slash") }
    if let shape = wanted.first(where: shapes.contains) { parts.append(shape) }
    if wanted.contains("fill") { parts.append("fill") }
    return parts.joined(separator: ".")
  }

  /// The name in a language that is written from right to left: there `forward` is to the left.
  static func turned(_ name: String) -> String {
    guard ["arrow.", "arrowshape.", "chevron."].contains(where: name.hasPrefix) else { return name }
    let exchanged = ["forward": "backward", "backward": "forward"]
    return name.split(separator: ".", omittingEmptySubsequences: false)
      .map { exchanged[String($0)] ?? String($0) }.joined(separator: ".")
  }
}

extension SymbolForm {
  /// Whether the form has several layers.
  fileprivate var isComposed: Bool {
    switch self {
    case .icon, .letters: false
    case .turned(let form, _), .mirrored(let form), .scaled(let form, _): form.isComposed
    case .within, .slashed, .badged: true
    }
  }
}
