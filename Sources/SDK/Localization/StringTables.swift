// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
import Synchronization

/// The translations of an author's package: `.strings` files in `.lproj` folders, and `.xcstrings` files.
///
/// They are in the resource bundle that SwiftPM creates beside the executable, `<package>_<target>.resources`, or
/// beside the executable itself. Each table is read once in a process.
package final class StringTables: Sendable {
  package static let shared = StringTables(besideExecutable: Bundle.main.executableURL ?? Bundle.main.bundleURL)

  private let main: [URL]
  private let read = Mutex<[URL: StringTable?]>([:])

  init(besideExecutable executable: URL) {
    let folder = executable.deletingLastPathComponent()
    let name = executable.deletingPathExtension().lastPathComponent
    let beside = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    let bundles = beside.filter { $0.pathExtension == "resources" || $0.pathExtension == "bundle" }
    // Several products in one folder have separate bundles, which SwiftPM names after the target.
    let own = bundles.filter { $0.deletingPathExtension().lastPathComponent.hasSuffix("_\(name)") }
    main = (own.isEmpty ? bundles : own).sorted { $0.path < $1.path } + [folder]
  }

  /// Returns a translation in the first of the locale's languages that the table has, or else in the author's
  /// development language.
  ///
  /// - Parameter count: selects the plural form.
  package func translation(of key: String, table: String, bundle: Bundle?, locale: Locale, count: Double?) -> String? {
    let folders = bundle.flatMap { $0 == Bundle.main ? nil : [$0.bundleURL] } ?? main
    for folder in folders {
      // The bundle of one language, as authors open it to show another language than the device's.
      if folder.pathExtension == "lproj" {
        let strings = folder.appendingPathComponent("\(table).strings")
        let language = folder.deletingPathExtension().lastPathComponent
        if let text = self.table(strings)?.translation(of: key, language: language, count: count) { return text }
      }
      for language in languages(of: locale) {
        let strings = folder.appendingPathComponent("\(language).lproj/\(table).strings")
        if let text = self.table(strings)?.translation(of: key, language: language, count: count) { return text }
        let catalog = folder.appendingPathComponent("\(table).xcstrings")
        if let text = self.table(catalog)?.translation(of: key, language: language, count: count) { return text }
      }
    }
    return nil
  }

  private func table(_ file: URL) -> StringTable? {
    read.withLock { read in
      if let known = read[file] { return known }
      let table = (try? Data(contentsOf: file)).flatMap {
        StringTable($0, isCatalog: file.pathExtension == "xcstrings")
      }
      read[file] = .some(table)
      return table
    }
  }

  /// For example `de-AT`, `de_AT`, `de`, then the development languages.
  private func languages(of locale: Locale) -> [String] {
    let identifier = locale.identifier.replacingOccurrences(of: "-", with: "_")
    let language = String(identifier.prefix { $0 != "_" })
    return [identifier.replacingOccurrences(of: "_", with: "-"), identifier, language, "Base", "en"]
  }
}

/// The translations of one file.
struct StringTable: Sendable {
  /// By language, then by key, then by plural form. A `.strings` file has one language, that of its folder.
  private var texts: [String: [String: [String: String]]] = [:]
  private let isCatalog: Bool

  /// `nil` when the data is not in the expected format.
  init?(_ data: Data, isCatalog: Bool) {
    self.isCatalog = isCatalog
    if isCatalog {
      guard let catalog = try? JSONDecoder().decode(Catalog.self, from: data) else { return nil }
      for (key, entry) in catalog.strings {
        for (language, localization) in entry.localizations ?? [:] {
          texts[language, default: [:]][key] = localization.forms
        }
      }
    } else {
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
      guard let list = list as? [String: Any] else { return nil }
      texts[""] = list.compactMapValues { ($0 as? String).map { ["other": $0] } }
    }
  }

  /// - Parameter count: selects the form. A `zero` form, where defined, is used for 0 in every language.
  func translation(of key: String, language: String, count: Double?) -> String? {
    guard let forms = texts[isCatalog ? language : ""]?[key] else { return nil }
    guard let count else { return forms["other"] }
    let zero = count == 0 ? forms["zero"] : nil
    return zero ?? forms[PluralForm(of: count, in: language).rawValue] ?? forms["other"]
  }

  /// The parts of an `.xcstrings` file that are read here.
  private struct Catalog: Decodable {
    struct Entry: Decodable {
      let localizations: [String: Localization]?
    }
    struct Unit: Decodable {
      let value: String
    }
    struct Localization: Decodable {
      struct Variations: Decodable {
        let plural: [String: Localization]?
        let device: [String: Localization]?
      }
      let stringUnit: Unit?
      let variations: Variations?

      /// By plural form. Of device variations, the iPhone's is used.
      var forms: [String: String] {
        if let stringUnit { return ["other": stringUnit.value] }
        if let plural = variations?.plural { return plural.compactMapValues { $0.stringUnit?.value } }
        let device = variations?.device
        return (device?["iphone"] ?? device?["other"])?.forms ?? [:]
      }
    }
    let strings: [String: Entry]
  }
}

/// `NSLocalizedString` and `Bundle.localizedString(forKey:value:table:)`. `CAuthorProcess` calls it in the place of
/// CoreFoundation's function. Source of the rules: Foundation, `localizedString(forKey:value:table:)`.
///
/// - Returns: the text of the table in the device's language, else the value, or the key for an empty value.
@_cdecl("bundle_localized_string") func copyLocalizedString(
  _ folder: UnsafeRawPointer?, _ key: UnsafeRawPointer?, _ value: UnsafeRawPointer?, _ table: UnsafeRawPointer?
) -> UnsafeRawPointer {
  let url = folder.map { Unmanaged<NSURL>.fromOpaque($0).takeUnretainedValue() as URL }
  let bundle = url.flatMap { $0.standardizedFileURL == Bundle.main.bundleURL.standardizedFileURL ? nil : $0 }
  let (key, value, name) = (text(key) ?? "", text(value) ?? "", text(table) ?? "")
  let translation = StringTables.shared.translation(
    of: key, table: name.isEmpty ? "Localizable" : name, bundle: bundle.flatMap(Bundle.init(url:)), locale: .device,
    count: nil)
  let found = translation ?? (value.isEmpty ? key : value)
  return UnsafeRawPointer(Unmanaged.passRetained(NSString(string: found)).toOpaque())
}

private func text(_ pointer: UnsafeRawPointer?) -> String? {
  pointer.map {
    String._unconditionallyBridgeFromObjectiveC(Unmanaged<NSString>.fromOpaque($0).takeUnretainedValue())
  }
}

/// The plural form for a number in a language.
///
/// Source: the cardinal rules of Unicode's CLDR 48, `plurals.xml`, for common App Store languages. All other languages
/// use the rule of English. A fractional number is treated as one with visible fraction digits.
enum PluralForm: String {
  case zero, one, two, few, many, other

  /// - Parameter language: such as `pt`, or `pt_PT`, whose rule differs from that of Brazil.
  init(of count: Double, in language: String) {
    let parts = language.split(whereSeparator: { $0 == "_" || $0 == "-" }).map { $0.lowercased() }
    let isPortugal = parts.first == "pt" && parts.dropFirst().last == "pt"
    self = PluralForm.form(of: Count(abs(count)), isPortugal ? "pt-pt" : parts.first ?? "")
  }

  private static func form(of number: Count, _ language: String) -> PluralForm {
    switch language {
    case "ja", "ko", "zh", "vi", "th", "id", "ms", "my", "lo", "km": .other
    case "fr", "pt": number.whole < 2 ? .one : number.isMillions ? .many : .other
    case "es", "it", "ca", "pt-pt": number.is(1) ? .one : number.isMillions ? .many : .other
    case "hi", "bn", "fa", "gu", "kn", "am", "zu", "as": number.whole == 0 || number.is(1) ? .one : .other
    case "ru", "uk", "be": eastSlavic(number)
    case "pl": number.is(1) ? .one : polish(number)
    case "hr", "sr", "bs": southSlavic(number)
    case "cs", "sk": !number.isWhole ? .many : number.is(1) ? .one : number.is(2...4) ? .few : .other
    case "sl": slovene(number)
    case "ro": romanian(number)
    case "lt": lithuanian(number)
    case "lv": latvian(number)
    case "ar": arabic(number)
    case "he": number.is(1) || !number.isWhole && number.whole == 0 ? .one : number.is(2) ? .two : .other
    case "cy": welsh(number)
    case "ga": irish(number)
    default: number.is(1) ? .one : .other
    }
  }

  private static func romanian(_ number: Count) -> PluralForm {
    if number.is(1) { return .one }
    return !number.isWhole || number.is(0) || number.ends(in: 1...19) ? .few : .other
  }

  private static func irish(_ number: Count) -> PluralForm {
    if number.is(1) { return .one }
    if number.is(2) { return .two }
    return number.is(3...6) ? .few : number.is(7...10) ? .many : .other
  }

  private static func eastSlavic(_ number: Count) -> PluralForm {
    guard number.isWhole else { return .other }
    if number.units == 1, !number.ends(in: 11...11) { return .one }
    return (2...4).contains(number.units) && !number.ends(in: 12...14) ? .few : .many
  }

  private static func polish(_ number: Count) -> PluralForm {
    guard number.isWhole else { return .other }
    return (2...4).contains(number.units) && !number.ends(in: 12...14) ? .few : .many
  }

  private static func southSlavic(_ number: Count) -> PluralForm {
    guard number.isWhole else { return .other }
    if number.units == 1, !number.ends(in: 11...11) { return .one }
    return (2...4).contains(number.units) && !number.ends(in: 12...14) ? .few : .other
  }

  private static func slovene(_ number: Count) -> PluralForm {
    guard number.isWhole else { return .few }
    if number.ends(in: 1...1) { return .one }
    if number.ends(in: 2...2) { return .two }
    return number.ends(in: 3...4) ? .few : .other
  }

  private static func lithuanian(_ number: Count) -> PluralForm {
    guard number.isWhole else { return .many }
    guard number.units > 0, !number.ends(in: 11...19) else { return .other }
    return number.units == 1 ? .one : .few
  }

  private static func latvian(_ number: Count) -> PluralForm {
    guard number.isWhole else { return .other }
    if number.units == 0 || number.ends(in: 11...19) { return .zero }
    return number.units == 1 ? .one : .other
  }

  private static func arabic(_ number: Count) -> PluralForm {
    if number.is(0) { return .zero }
    if number.is(1) { return .one }
    if number.is(2) { return .two }
    return number.ends(in: 3...10) ? .few : number.ends(in: 11...99) ? .many : .other
  }

  private static func welsh(_ number: Count) -> PluralForm {
    let forms: [Int: PluralForm] = [0: .zero, 1: .one, 2: .two, 3: .few, 6: .many]
    return number.isWhole ? forms[number.whole] ?? .other : .other
  }

  /// The operands of the rules.
  private struct Count {
    /// The integer part.
    let whole: Int
    let isWhole: Bool

    init(_ number: Double) {
      whole = Int(saturating: number)
      isWhole = number == number.rounded()
    }

    var units: Int { whole % 10 }
    /// Whether it is a multiple of a million, which has its own form in Romance languages.
    var isMillions: Bool { isWhole && whole > 0 && whole % 1_000_000 == 0 }
    func `is`(_ number: Int) -> Bool { isWhole && whole == number }
    func `is`(_ range: ClosedRange<Int>) -> Bool { isWhole && range.contains(whole) }
    /// Whether the last two digits are in the range.
    func ends(in range: ClosedRange<Int>) -> Bool { isWhole && range.contains(whole % 100) }
  }
}
