package import Foundation

/// A key with values in it, such as `%lld words` with 3: what an interpolated literal becomes when it is a key for a
/// translation.
package struct LocalizedFormat: Hashable, Sendable, Codable {
  /// A value. Its place in the key is `%@`, `%lld`, `%llu` or `%lf`.
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

  /// By which the translation is found.
  package private(set) var key: String
  package private(set) var arguments: [Argument] = []

  /// A key as it stands, without values.
  package init(_ key: String = "") { self.key = key }

  /// Adds a part of the key; a percent sign in it is no value.
  package mutating func append(literal: String) {
    key += literal.replacingOccurrences(of: "%", with: "%%")
  }

  /// Adds a value.
  ///
  /// - Parameter specifier: how it stands in the key; `nil` for the usual way.
  package mutating func append(_ argument: Argument, specifier: String? = nil) {
    key += specifier ?? argument.specifier
    arguments.append(argument)
  }

  /// Adds a whole number.
  package mutating func append(_ number: some BinaryInteger) {
    if let unsigned = UInt64(exactly: number), type(of: number).isSigned == false {
      append(.unsigned(unsigned))
    } else {
      append(.integer(Int64(clamping: number)))
    }
  }

  /// The text in the language of `locale`: the translation, or the key where there is none, with the values in it.
  ///
  /// - Parameters:
  ///   - value: what stands for a translation that there is not; `nil` for the key.
  ///   - table: `Localizable` when `nil`.
  ///   - bundle: where the tables lie; beside the executable when `nil`.
  package func localized(
    value: LocalizedFormat? = nil, table: String? = nil, bundle: Bundle? = nil, locale: Locale
  ) -> String {
    let words = value ?? self
    let translation = StringTables.shared.translation(
      of: key, table: table ?? "Localizable", bundle: bundle, locale: locale, count: words.count)
    return words.filled(translation ?? words.key, locale)
  }

  /// The number that decides about singular and plural: the first one.
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

extension Locale {
  /// The device's: `Locale.current` of Linux's Foundation is the same on every machine. The device says it to its
  /// processes in `LANG`; `en_US` where nothing is said.
  package static let device = Locale(identifier: identifier(ofLanguage: ProcessInfo.processInfo.environment["LANG"]))

  /// The locale that an author means who says `Locale.current`, or nothing.
  package var meant: Locale { self == .current || self == .autoupdatingCurrent ? .device : self }

  /// `de_DE` of `de_DE.UTF-8`.
  static func identifier(ofLanguage language: String?) -> String {
    guard let name = language?.prefix(while: { $0 != "." && $0 != "@" }), !name.isEmpty, name != "C", name != "POSIX"
    else { return "en_US" }
    return String(name)
  }
}
