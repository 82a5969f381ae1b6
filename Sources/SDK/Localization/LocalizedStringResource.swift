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
    self.init(key: keyAndValue.format.key, keyAndValue, table, locale, bundle)
  }

  /// A text with a separate key.
  public init(
    _ key: StaticString, defaultValue: String.LocalizationValue, table: String? = nil, locale: Locale = .current,
    bundle: BundleDescription = .main, comment: StaticString? = nil
  ) {
    self.init(key: "\(key)", defaultValue, table, locale, bundle)
  }

  public init(stringLiteral value: String) { self.init(String.LocalizationValue(stringLiteral: value)) }
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(String.LocalizationValue(stringInterpolation: stringInterpolation))
  }

  private init(
    key: String, _ defaultValue: String.LocalizationValue, _ table: String?, _ locale: Locale,
    _ bundle: BundleDescription
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
