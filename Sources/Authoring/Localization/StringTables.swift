package import Foundation
import Synchronization

/// The translations that an author's package brings: `.strings` in `.lproj` folders, and `.xcstrings`.
///
/// They lie in the resource bundle that SwiftPM makes beside the executable, `<package>_<target>.resources`, or beside the
/// executable itself. Each table is read once in a process.
package final class StringTables: Sendable {
  package static let shared = StringTables(besideExecutable: Bundle.main.executableURL ?? Bundle.main.bundleURL)

  private let main: [URL]
  private let read = Mutex<[URL: StringTable?]>([:])

  init(besideExecutable executable: URL) {
    let folder = executable.deletingLastPathComponent()
    let name = executable.deletingPathExtension().lastPathComponent
    let beside = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    let bundles = beside.filter { $0.pathExtension == "resources" || $0.pathExtension == "bundle" }
    // Of several products in one folder each has its own; SwiftPM names them by the target.
    let own = bundles.filter { $0.deletingPathExtension().lastPathComponent.hasSuffix("_\(name)") }
    main = (own.isEmpty ? bundles : own).sorted { $0.path < $1.path } + [folder]
  }

  /// A translation, in the first of the locale's languages that a table of this name has; then in the language in which
  /// the author wrote.
  ///
  /// - Parameter count: decides about singular and plural.
  package func translation(of key: String, table: String, bundle: Bundle?, locale: Locale, count: Double?) -> String? {
    let folders = bundle.flatMap { $0 == Bundle.main ? nil : [$0.bundleURL] } ?? main
    for folder in folders {
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

  /// `de-AT`, `de_AT`, `de`, then what an author writes in.
  private func languages(of locale: Locale) -> [String] {
    let identifier = locale.identifier.replacingOccurrences(of: "-", with: "_")
    let language = String(identifier.prefix { $0 != "_" })
    return [identifier.replacingOccurrences(of: "_", with: "-"), identifier, language, "Base", "en"]
  }
}

/// The texts of one file.
struct StringTable: Sendable {
  /// By language, then by key, then by plural form. A `.strings` file has one language, which its folder names.
  private var texts: [String: [String: [String: String]]] = [:]
  private let isCatalog: Bool

  /// `nil` when it is not what its name says.
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

  /// - Parameter count: decides about the form; `zero` is that of 0 in every language whose author wrote it.
  func translation(of key: String, language: String, count: Double?) -> String? {
    guard let forms = texts[isCatalog ? language : ""]?[key] else { return nil }
    guard let count else { return forms["other"] }
    let zero = count == 0 ? forms["zero"] : nil
    return zero ?? forms[PluralForm(of: count, in: language).rawValue] ?? forms["other"]
  }

  /// An `.xcstrings` file, as much of it as counts here.
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

      /// By plural form. Of the forms for devices the phone's.
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
