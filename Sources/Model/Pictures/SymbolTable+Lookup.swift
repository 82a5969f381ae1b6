// SPDX-License-Identifier: Apache-2.0

import Layout

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
    if let form = form(parts[...], isLayered) { return Match(form: form, name: name) }
    let plain = parts.filter { $0 != "fill" }
    guard plain.count < parts.count, let form = form(plain[...], isLayered) else { return nil }
    return Match(form: form, name: plain.joined(separator: "."))
  }

  private func form(_ parts: ArraySlice<String>, _ isLayered: Bool) -> SymbolForm? {
    if isLayered, let composed = composed(parts, isLayered) { return composed }
    return single(parts) ?? composed(parts, isLayered)
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

  private func composed(_ parts: ArraySlice<String>, _ isLayered: Bool) -> SymbolForm? {
    let isFilled = parts.last == "fill"
    let rest = isFilled ? parts.dropLast() : parts
    guard rest.count > 1, let last = rest.last else { return nil }
    let base = rest.dropLast()
    if let frame = SymbolFrame(rawValue: last) {
      // A sign within a shape is filled, if it can be.
      guard let sign = single(base + ["fill"]) ?? form(base, isLayered) ?? Self.letters(base) else { return nil }
      // A hole has one part.
      if isFilled, !isLayered, sign.isComposed { return nil }
      return .within(sign, frame, isFilled: isFilled)
    }
    if last == "slash" {
      return form(isFilled ? base + ["fill"] : base, isLayered).map { .slashed($0) }
    }
    guard let index = rest.lastIndex(of: "badge"), index > rest.startIndex else { return nil }
    guard let behind = form(isFilled ? rest[..<index] + ["fill"] : rest[..<index], isLayered) else { return nil }
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
