// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A format key with arguments, such as `%lld words` with 3: an interpolated literal that is a translation key.
package struct LocalizedFormat: Hashable, Sendable, Codable {
  /// An argument. Its specifier in the key is `%@`, `%lld`, `%llu` or `%lf`.
  package enum Argument: Hashable, Sendable, Codable {
    case text(String)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)

    fileprivate var specifier: String {
      switch self {
      case .text: "%@"
      case .integer: "%lld"
      case .unsigned: "%llu"
      case .real: "%lf"
      }
    }

    fileprivate var value: any CVarArg {
      switch self {
      case .text(let text): text
      case .integer(let number): number
      case .unsigned(let number): number
      case .real(let number): number
      }
    }
  }

  /// The key of the translation.
  package private(set) var key: String
  package private(set) var arguments: [Argument] = []

  /// A key without arguments.
  package init(_ key: String = "") { self.key = key }

  /// Appends literal text to the key. Percent signs are escaped.
  package mutating func append(literal: String) {
    key += literal.replacingOccurrences(of: "%", with: "%%")
  }

  /// Appends an argument.
  ///
  /// - Parameter specifier: the format specifier in the key; `nil` for the default one.
  package mutating func append(_ argument: Argument, specifier: String? = nil) {
    key += specifier ?? argument.specifier
    arguments.append(argument)
  }

  /// Appends an integer.
  package mutating func append(_ number: some BinaryInteger) {
    if let unsigned = UInt64(exactly: number), type(of: number).isSigned == false {
      append(.unsigned(unsigned))
    } else {
      append(.integer(Int64(clamping: number)))
    }
  }

  /// The translation in the language of `locale`, or else the key, with the arguments inserted.
  ///
  /// - Parameters:
  ///   - value: used instead of a missing translation; `nil` for the key.
  ///   - table: `Localizable` when `nil`.
  ///   - bundle: the location of the tables; beside the executable when `nil`.
  package func localized(
    value: LocalizedFormat? = nil, table: String? = nil, bundle: Bundle? = nil, locale: Locale
  ) -> String {
    let words = value ?? self
    let translation = StringTables.shared.translation(
      of: key, table: table ?? "Localizable", bundle: bundle, locale: locale, count: words.count)
    return words.filled(translation ?? words.key, locale)
  }

  /// The number that selects the plural form: the first one.
  private var count: Double? {
    for argument in arguments {
      switch argument {
      case .integer(let number): return Double(number)
      case .unsigned(let number): return Double(number)
      case .real(let number): return number
      case .text: continue
      }
    }
    return nil
  }

  private func filled(_ format: String, _ locale: Locale) -> String {
    arguments.isEmpty ? format : String(format: format, locale: locale, arguments: arguments.map(\.value))
  }
}
