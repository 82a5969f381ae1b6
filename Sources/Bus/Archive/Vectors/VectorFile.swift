// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// What the root element of an SVG document says about it. The document is read to its end, so that a file that is cut
/// off is known; nothing is drawn. Source: Scalable Vector Graphics 1.1, chapter 7.
package struct VectorFile: Hashable, Sendable {
  /// In points. A pixel of CSS is a point.
  package let width: Double
  package let height: Double

  /// The longest side, in points.
  private static let longest = 10_000.0

  /// Whether the bytes seem to be an SVG document.
  package static func isLikely(_ data: Data) -> Bool {
    // Behind a byte order mark and spaces.
    let start = data.prefix(100).drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return start.first == UInt8(ascii: "<")
  }

  /// Reads the whole document.
  ///
  /// - Throws: `ImageFault`.
  package init(checking data: Data) throws(ImageFault) {
    do throws(XMLFault) {
      var scanner = try XMLScanner(data)
      var size: (width: Double, height: Double)?
      while let token = try scanner.next() {
        guard size == nil, case .start(let root) = token else { continue }
        guard root.name == "svg" else { throw XMLFault(description: "its root element is not svg") }
        size = try Self.size(of: root, scanner)
      }
      guard let size else { throw XMLFault(description: "it has no size") }
      (width, height) = size
    } catch {
      throw .vector(error.description)
    }
  }

  /// The lengths of the root element, or else those of its view box.
  private static func size(
    of root: XMLScanner.Tag, _ scanner: XMLScanner
  ) throws(XMLFault) -> (width: Double, height: Double) {
    func text(_ name: String) -> String? {
      root.attributes.first { $0.name == name }.map { scanner.text($0.value) }
    }
    let box = text("viewBox").flatMap { VectorNumbers.list($0) }.flatMap { $0.count == 4 ? $0 : nil }
    let width = text("width").flatMap { VectorNumbers.length($0, of: box?[2]) }
    let height = text("height").flatMap { VectorNumbers.length($0, of: box?[3]) }
    let size: (Double, Double)
    switch (width, height, box) {
    case (let width?, let height?, _): size = (width, height)
    // One length keeps the ratio of the view box.
    case (let width?, nil, let box?): size = (width, box[2] > 0 ? width * box[3] / box[2] : 0)
    case (nil, let height?, let box?): size = (box[3] > 0 ? height * box[2] / box[3] : 0, height)
    case (nil, nil, let box?): size = (box[2], box[3])
    default: throw XMLFault(description: "it has no size")
    }
    guard size.0 > 0, size.1 > 0, size.0 <= longest, size.1 <= longest else {
      throw XMLFault(description: "its size is not between 0 and \(Int(longest)) points")
    }
    return size
  }
}

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
