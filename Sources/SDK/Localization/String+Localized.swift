// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
