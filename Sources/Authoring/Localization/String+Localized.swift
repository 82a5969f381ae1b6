public import Foundation

extension String {
  /// A text as it stands in the author's code, which is the key of its translation. Source:
  /// `Foundation.String.LocalizationValue`, which Linux lacks.
  public struct LocalizationValue: Hashable, Codable, Sendable, ExpressibleByStringInterpolation {
    package let format: LocalizedFormat

    /// A key as it stands.
    public init(_ value: String) { format = LocalizedFormat(value) }
    /// A literal.
    public init(stringLiteral value: String) { format = LocalizedFormat(value) }
    /// A literal with values in it.
    public init(stringInterpolation: StringInterpolation) { format = stringInterpolation.format }

    /// Puts values into a key. Source: `String.LocalizationValue.StringInterpolation`.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
      var format = LocalizedFormat()

      /// Begins a key.
      public init(literalCapacity: Int, interpolationCount: Int) {}
      /// A part of the key.
      public mutating func appendLiteral(_ literal: String) { format.append(literal: literal) }
      /// A text.
      public mutating func appendInterpolation<S: StringProtocol>(_ string: S) { format.append(.text(String(string))) }
      /// A whole number.
      public mutating func appendInterpolation<T: BinaryInteger>(_ value: T) { format.append(value) }
      /// A number.
      public mutating func appendInterpolation<T: BinaryFloatingPoint>(_ value: T) {
        format.append(.real(Double(value)))
      }
      /// A number in a C format.
      public mutating func appendInterpolation(_ value: Int, specifier: String) {
        format.append(.integer(Int64(value)), specifier: specifier)
      }
      /// A number in a C format.
      public mutating func appendInterpolation(_ value: Double, specifier: String) {
        format.append(.real(value), specifier: specifier)
      }
      /// A text that is looked up for itself.
      public mutating func appendInterpolation(_ resource: LocalizedStringResource) {
        format.append(.text(resource.resolved()))
      }
      /// A value in a format.
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

  /// A text with a key of its own, in the device's language.
  public init(
    localized key: StaticString, defaultValue: String.LocalizationValue, table: String? = nil, bundle: Bundle? = nil,
    locale: Locale = .current, comment: StaticString? = nil
  ) {
    self = LocalizedFormat("\(key)").localized(
      value: defaultValue.format, table: table, bundle: bundle, locale: locale.meant)
  }

  /// A text in the resource's language.
  public init(localized resource: LocalizedStringResource) { self = resource.resolved() }
}
