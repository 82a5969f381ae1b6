// SPDX-License-Identifier: Apache-2.0

/// Numbers and functions in the attributes of an SVG document. Source: Scalable Vector Graphics 1.1, chapters 4 and 7.
package enum VectorNumbers {
  /// A number beyond this has no use, and its square would be infinite.
  private static let most = 1e6

  /// A number without a unit.
  package static func number(_ text: some StringProtocol) -> Double? {
    let first = text.utf8.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    // `Double` also reads names such as "nan" and "infinity".
    guard let first, (0x2B...0x39).contains(first) else { return nil }
    guard let value = Double(text.trimmed), abs(value) < most else { return nil }
    return value
  }

  /// A length in points, of which one is a pixel of CSS.
  ///
  /// - Parameter whole: the length that 100 % are; `nil`: a percentage is no length.
  package static func length(_ text: some StringProtocol, of whole: Double? = nil) -> Double? {
    let text = text.trimmed
    for (unit, factor) in [("px", 1), ("pt", 4 / 3.0), ("pc", 16), ("mm", 96 / 25.4), ("cm", 96 / 2.54), ("in", 96)]
    where text.hasSuffix(unit) { return number(text.dropLast(2)).map { $0 * factor } }
    if text.hasSuffix("%") { return whole.flatMap { whole in number(text.dropLast()).map { $0 / 100 * whole } } }
    return number(text)
  }

  /// Numbers with spaces or commas between them; `nil`: something else is among them.
  package static func list(_ text: some StringProtocol) -> [Double]? {
    var numbers: [Double] = []
    var current = ""
    /// Adds the number that is complete.
    func add() -> Bool {
      if current.isEmpty { return true }
      guard let value = number(current) else { return false }
      numbers.append(value)
      current = ""
      return true
    }
    for character in text.unicodeScalars {
      switch character {
      case " ", ",", "\n", "\t", "\r": guard add() else { return nil }
      case "-", "+":
        // A sign begins a number, except in an exponent.
        if current.last != "e", current.last != "E", !add() { return nil }
        current.unicodeScalars.append(character)
      case "." where current.contains("."):
        guard add() else { return nil }
        current = "."
      default: current.unicodeScalars.append(character)
      }
    }
    return add() ? numbers : nil
  }

  /// The functions of a `transform`, such as `translate(3 4) scale(2)`, in order; `nil`: it is none.
  package static func functions(_ text: some StringProtocol) -> [(name: String, numbers: [Double])]? {
    var result: [(name: String, numbers: [Double])] = []
    var rest = text.trimmed[...]
    while let start = rest.firstIndex(of: "(") {
      guard let end = rest.firstIndex(of: ")"), start < end, result.count < 100,
        let numbers = list(rest[rest.index(after: start)..<end])
      else { return nil }
      result.append((rest[..<start].trimmed, numbers))
      rest = rest[rest.index(after: end)...].drop { $0 == "," || $0.isWhitespace }
    }
    return rest.allSatisfy(\.isWhitespace) ? result : nil
  }
}

extension StringProtocol {
  /// Without spaces at its ends.
  fileprivate var trimmed: String {
    let start = drop { $0.isWhitespace }
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...last])
  }
}
