// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A text that can be looked up later, in another process or language. Source: `Foundation.LocalizedStringResource`,
/// which does not exist on Linux.
public struct LocalizedStringResource: Hashable, Codable, Sendable, ExpressibleByStringInterpolation,
  CustomLocalizedStringResourceConvertible
{
  /// The location of the tables. Source: `LocalizedStringResource.BundleDescription`.
  public enum BundleDescription: Hashable, Codable, Sendable {
    /// Beside the executable.
    case main
    /// In a bundle.
    case atURL(URL)
  }

  /// The key of the translation.
  public let key: String
  /// Used instead of a missing translation.
  public let defaultValue: String.LocalizationValue
  /// The strings file; `nil` for `Localizable`.
  public let table: String?
  /// The language and region of the text.
  public var locale: Locale
  private let bundle: BundleDescription

  /// A text that is its own key.
  public init(
    _ keyAndValue: String.LocalizationValue, table: String? = nil, locale: Locale = .current,
    bundle: BundleDescription = .main, comment: StaticString? = nil
  ) {
    self.init(key: keyAndValue.format.key, defaultValue: keyAndValue, table: table, locale: locale, bundle: bundle)
  }

  /// A text with a separate key.
  public init(
    _ key: StaticString, defaultValue: String.LocalizationValue, table: String? = nil, locale: Locale = .current,
    bundle: BundleDescription = .main, comment: StaticString? = nil
  ) {
    self.init(key: "\(key)", defaultValue: defaultValue, table: table, locale: locale, bundle: bundle)
  }

  public init(stringLiteral value: String) { self.init(String.LocalizationValue(stringLiteral: value)) }
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(String.LocalizationValue(stringInterpolation: stringInterpolation))
  }

  private init(
    key: String, defaultValue: String.LocalizationValue, table: String?, locale: Locale,
    bundle: BundleDescription
  ) {
    self.key = key
    self.defaultValue = defaultValue
    self.table = table
    self.locale = locale
    self.bundle = bundle
  }

  public var localizedStringResource: LocalizedStringResource { self }

  /// The text in the resource's language if it has one, otherwise in `locale`.
  package func resolved(in locale: Locale = .device) -> String {
    let bundle: Bundle? = if case .atURL(let url) = bundle { Bundle(url: url) } else { nil }
    let language = self.locale.meant == .device ? locale : self.locale
    let value = defaultValue.format
    return LocalizedFormat(key).localized(value: value, table: table, bundle: bundle, locale: language)
  }
}

/// A value with a localized text. Source: `Foundation.CustomLocalizedStringResourceConvertible`.
public protocol CustomLocalizedStringResourceConvertible {
  var localizedStringResource: LocalizedStringResource { get }
}

extension String {
  /// A text of the author's code that is the key of its translation. Source: `Foundation.String.LocalizationValue`,
  /// which does not exist on Linux.
  public struct LocalizationValue: Hashable, Codable, Sendable, ExpressibleByStringInterpolation {
    package let format: LocalizedFormat

    /// A key without arguments.
    public init(_ value: String) { format = LocalizedFormat(value) }
    public init(stringLiteral value: String) { format = LocalizedFormat(value) }
    public init(stringInterpolation: StringInterpolation) { format = stringInterpolation.format }

    /// Inserts arguments into a key. Source: `String.LocalizationValue.StringInterpolation`.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
      var format = LocalizedFormat()

      public init(literalCapacity: Int, interpolationCount: Int) {}
      public mutating func appendLiteral(_ literal: String) { format.append(literal: literal) }
      public mutating func appendInterpolation<S: StringProtocol>(_ string: S) { format.append(.text(String(string))) }
      public mutating func appendInterpolation<T: BinaryInteger>(_ value: T) { format.append(value) }
      public mutating func appendInterpolation<T: BinaryFloatingPoint>(_ value: T) {
        format.append(.real(Double(value)))
      }
      /// A number with a C format specifier.
      public mutating func appendInterpolation(_ value: Int, specifier: String) {
        format.append(.integer(Int64(value)), specifier: specifier)
      }
      /// A number with a C format specifier.
      public mutating func appendInterpolation(_ value: Double, specifier: String) {
        format.append(.real(value), specifier: specifier)
      }
      /// A text that is localized separately.
      public mutating func appendInterpolation(_ resource: LocalizedStringResource) {
        format.append(.text(resource.resolved()))
      }
      public mutating func appendInterpolation<F: FormatStyle>(_ input: F.FormatInput, format style: F)
      where F.FormatOutput == String {
        format.append(.text(style.locale(.device).format(input)))
      }
    }
  }

  /// A text in the device's language.
  public init(
    localized keyAndValue: String.LocalizationValue, table: String? = nil, bundle: Bundle? = nil,
    locale: Locale = .current, comment: StaticString? = nil
  ) {
    self = keyAndValue.format.localized(table: table, bundle: bundle, locale: locale.meant)
  }

  /// A text with a separate key, in the device's language.
  public init(
    localized key: StaticString, defaultValue: String.LocalizationValue, table: String? = nil, bundle: Bundle? = nil,
    locale: Locale = .current, comment: StaticString? = nil
  ) {
    self = LocalizedFormat("\(key)").localized(
      value: defaultValue.format, table: table, bundle: bundle, locale: locale.meant)
  }

  public init(localized resource: LocalizedStringResource) { self = resource.resolved() }
}

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
