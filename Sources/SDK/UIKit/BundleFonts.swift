// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The fonts that the process registers itself.
package final class RegisteredFonts: Sendable {
  /// Why a file cannot be registered. Definite.
  package enum Fault: Error {
    /// There is no such file.
    case missing
    /// It is not a font file.
    case damaged
  }

  /// Those of this process.
  package static let shared = RegisteredFonts()

  private let files = Mutex<[String: [FontNames]]>([:])

  package init() {}

  /// - Returns: whether the file was not registered before.
  package func register(_ file: URL) -> Result<Bool, Fault> {
    guard let data = try? Data(contentsOf: file, options: .mappedIfSafe) else { return .failure(.missing) }
    let fonts = FontNames.all(in: data)
    guard !fonts.isEmpty else { return .failure(.damaged) }
    return .success(files.withLock { $0.updateValue(fonts, forKey: file.standardizedFileURL.path) } == nil)
  }

  /// - Returns: whether the file was registered.
  package func unregister(_ file: URL) -> Bool {
    files.withLock { $0.removeValue(forKey: file.standardizedFileURL.path) } != nil
  }

  /// The names of fonts by their family.
  var families: [String: [String]] {
    let fonts = Set(files.withLock { $0.values.joined() })
    return Dictionary(grouping: fonts, by: \.family).mapValues { $0.map(\.name).sorted() }
  }
}

/// The fonts that a bundle registers with `UIAppFonts` of its `Info.plist`.
struct BundleFonts: Sendable {
  /// Those of this process.
  static let main = BundleFonts(
    Bundle.main.object(forInfoDictionaryKey: "UIAppFonts") as? [String] ?? [],
    in: Bundle.main.resourceURL ?? Bundle.main.bundleURL)

  /// The names of fonts by their family.
  let families: [String: [String]]

  /// Reads the names of fonts. A file that is missing or damaged registers nothing, as on a phone.
  ///
  /// - Parameters:
  ///   - files: relative to the folder.
  ///   - folder: that of the bundle's resources.
  init(_ files: [String], in folder: URL) {
    var families: [String: [String]] = [:]
    for file in files {
      guard let data = try? Data(contentsOf: folder.appendingPathComponent(file), options: .mappedIfSafe) else {
        continue
      }
      for font in FontNames.all(in: data) where families[font.family]?.contains(font.name) != true {
        families[font.family, default: []].append(font.name)
      }
    }
    self.families = families.mapValues { $0.sorted() }
  }
}

/// The names in a font file. Source: *OpenType Specification*, *The OpenType Font File* and *name — Naming Table*.
struct FontNames: Hashable {
  var family: String
  /// The name for PostScript, which `UIFont.init(name:size:)` takes.
  var name: String

  /// The names of each font of a file: one, or those of a collection. Empty for other files.
  static func all(in data: Data) -> [FontNames] {
    let bytes = FontBytes(data: data)
    guard bytes.number(at: 0, 4) == 0x7474_6366 else { return [FontNames(bytes, at: 0)].compactMap(\.self) }
    // `ttcf`, a collection.
    let count = min(bytes.number(at: 8, 4) ?? 0, 256)
    return (0..<count).compactMap { index in
      bytes.number(at: 12 + 4 * index, 4).flatMap { FontNames(bytes, at: $0) }
    }
  }

  /// - Parameter start: of the font in its file.
  private init?(_ bytes: FontBytes, at start: Int) {
    guard let version = bytes.number(at: start, 4), [0x0001_0000, 0x4F54_544F, 0x7472_7565].contains(version),
      let count = bytes.number(at: start + 4, 2)
    else { return nil }
    let records = (0..<count).map { start + 12 + 16 * $0 }
    guard let record = records.first(where: { bytes.number(at: $0, 4) == 0x6E61_6D65 }),
      let table = bytes.number(at: record + 8, 4)
    else { return nil }
    // The typographic family, or else that of four styles.
    guard let family = Self.text(16, bytes, table) ?? Self.text(1, bytes, table),
      let name = Self.text(6, bytes, table)
    else { return nil }
    self.family = family
    self.name = name
  }

  /// A name in English, or else the first one.
  ///
  /// - Parameter table: the place of the table `name`.
  private static func text(_ identifier: Int, _ bytes: FontBytes, _ table: Int) -> String? {
    guard let count = bytes.number(at: table + 2, 2), let storage = bytes.number(at: table + 4, 2) else { return nil }
    var found: String?
    for record in (0..<count).map({ table + 6 + 12 * $0 }) where bytes.number(at: record + 6, 2) == identifier {
      guard let platform = bytes.number(at: record, 2), let language = bytes.number(at: record + 4, 2),
        let length = bytes.number(at: record + 8, 2), let offset = bytes.number(at: record + 10, 2),
        let text = bytes.text(at: table + storage + offset, length, isWide: platform != 1), !text.isEmpty
      else { continue }
      if [0, 0x0409].contains(language) { return text }
      found = found ?? text
    }
    return found
  }
}

/// The bytes of a font file, which may be cut off anywhere.
private struct FontBytes {
  let data: Data

  /// A number with its high byte first; `nil` beyond the end.
  func number(at index: Int, _ count: Int) -> Int? {
    guard index >= 0, index <= data.count - count else { return nil }
    return (0..<count).reduce(0) { $0 << 8 | Int(data[data.startIndex + index + $1]) }
  }

  /// - Parameter isWide: whether its characters have two bytes.
  func text(at index: Int, _ length: Int, isWide: Bool) -> String? {
    guard index >= 0, length <= data.count - index else { return nil }
    let bytes = data.dropFirst(index).prefix(length)
    return String(bytes: bytes, encoding: isWide ? .utf16BigEndian : .macOSRoman)
  }
}
