// SPDX-License-Identifier: Apache-2.0

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
