// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A lookup of a text in an author's strings files.
package struct LocalizedLookup {
  /// The key, with `%@` and other format specifiers for values.
  package let key: String
  /// The strings file; `nil` is `Localizable`.
  package let table: String?
  package let bundle: Bundle?
  package let locale: Locale
  /// The number that selects the plural form: the first one.
  package let count: Double?
}

private struct LocalizeKey: EnvironmentKey {
  static var defaultValue: (LocalizedLookup) -> String? { { _ in nil } }
}

extension EnvironmentValues {
  /// Finds a text, with `%@` and other format specifiers for values; `nil`: the key is the text.
  package var localize: (LocalizedLookup) -> String? {
    get { self[LocalizeKey.self] }
    set { self[LocalizeKey.self] = newValue }
  }
}

/// The parts of a format such as `%lld of %@`, or `%2$@: %1$lld`.
struct FormatPieces: Sequence, IteratorProtocol {
  enum Piece: Equatable {
    case literal(String)
    case argument(Int)
  }

  private var rest: Substring
  private var taken = 0

  init(_ format: String) { rest = format[...] }

  mutating func next() -> Piece? {
    guard let first = rest.first else { return nil }
    if first == "%",
      let match = rest.prefixMatch(of: /%(?:(\d+)\$)?[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l|q|z)?[@dDuUxXoOfFeEgGcCsSaA]/)
    {
      rest = rest[match.range.upperBound...]
      if let given = match.output.1.flatMap({ Int($0) }) { return .argument(given - 1) }
      defer { taken += 1 }
      return .argument(taken)
    }
    var literal = ""
    while let character = rest.first {
      if rest.hasPrefix("%%") {
        literal += "%"
        rest = rest.dropFirst(2)
      } else if character == "%", !literal.isEmpty {
        break
      } else {
        literal.append(character)
        rest = rest.dropFirst()
      }
    }
    return .literal(literal)
  }
}
