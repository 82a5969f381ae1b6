// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import Localization
@testable import SwiftUI

/// Lookup of an author's texts in the device's language.
@Suite struct `An author's translations` {
  @Test(.rule("WIDGET-22"))
  func `a text is looked up in strings files and catalogs by device language, then development language`() throws {
    let tables = try Tables()
    #expect(tables.text("hello", "de_CH") == "Hallo")
    #expect(tables.text("hello", "de-AT") == "Servus")
    #expect(tables.text("hello", "fr_FR") == "Hello there")
    #expect(tables.text("from a catalog", "de_DE") == "aus einem Katalog")
    #expect(tables.text("missing", "de_DE") == nil)
    #expect(tables.text("hello", "de_DE", table: "Other") == "andere")
  }

  @Test(.rule("WIDGET-22"))
  func `NSLocalizedString reads a bundle's catalog, and falls back to the value and to the key`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("texts-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("de.lproj"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let catalog =
      #"{"sourceLanguage": "en", "strings": {"title": {"localizations": {"en": {"stringUnit": {"value": "No messages"}}}}}}"#
    try Data(catalog.utf8).write(to: folder.appendingPathComponent("Localizable.xcstrings"))
    try Data(#""title" = "Keine Nachrichten";"#.utf8).write(
      to: folder.appendingPathComponent("de.lproj/Localizable.strings"))
    let bundle = try #require(Bundle(url: folder))
    #expect(NSLocalizedString("title", bundle: bundle, comment: "") == "No messages")
    #expect(bundle.localizedString(forKey: "title", value: nil, table: "Other") == "title")
    #expect(bundle.localizedString(forKey: "absent", value: "a value", table: nil) == "a value")
    #expect(NSLocalizedString("absent", bundle: bundle, comment: "") == "absent")
    let german = try #require(Bundle(url: folder.appendingPathComponent("de.lproj")))
    #expect(german.localizedString(forKey: "title", value: nil, table: nil) == "Keine Nachrichten")
  }

  @Test(.rule("WIDGET-23")) func `a string catalog's plural form is chosen by the count`() throws {
    let tables = try Tables()
    #expect(tables.text("%lld cups", "de_DE", count: 1) == "%lld Tasse")
    #expect(tables.text("%lld cups", "de_DE", count: 2) == "%lld Tassen")
    #expect(tables.text("%lld cups", "de_DE", count: 0) == "keine Tassen")
    #expect(tables.text("%lld cups", "pl_PL", count: 3) == "%lld kubki")
    #expect(tables.text("%lld cups", "pl_PL", count: 5) == "%lld kubków")
  }

  @Test(
    .rule("WIDGET-23"),
    arguments: [
      ("en_US", "0 other 1 one 2 other 21 other 1.5 other"), ("ja_JP", "0 other 1 other 2 other"),
      ("fr_FR", "0 one 1 one 1.5 one 2 other 1000000 many"), ("pt_BR", "0 one 1 one 2 other"),
      ("pt_PT", "0 other 1 one 2 other"), ("es", "0 other 1 one 2 other 2000000 many"),
      ("ru_RU", "0 many 1 one 2 few 5 many 11 many 12 many 21 one 22 few 111 many 1.5 other"),
      ("pl", "0 many 1 one 2 few 5 many 12 many 21 many 22 few 1.5 other"),
      ("cs_CZ", "0 other 1 one 3 few 5 other 1.5 many"), ("hr", "1 one 2 few 5 other 11 other 21 one 12 other"),
      ("sl", "1 one 2 two 3 few 5 other 101 one 102 two"), ("ro", "0 few 1 one 2 few 19 few 20 other 101 few"),
      ("lt", "1 one 2 few 10 other 11 other 21 one 1.5 many"), ("lv", "0 zero 1 one 2 other 11 zero 21 one"),
      ("ar", "0 zero 1 one 2 two 3 few 10 few 11 many 99 many 100 other 103 few"),
      ("he", "0 other 1 one 2 two 3 other"), ("cy", "0 zero 1 one 2 two 3 few 4 other 6 many"),
      ("ga", "1 one 2 two 3 few 7 many 11 other"), ("hi", "0 one 1 one 2 other"), ("uk", "1 one 3 few 7 many"),
    ])
  func `the plural form of a count follows the rules of the language`(language: String, forms: String) {
    let words = forms.split(separator: " ").map(String.init)
    for index in stride(from: 0, to: words.count, by: 2) {
      let count = Double(words[index]) ?? .nan
      #expect(PluralForm(of: count, in: language).rawValue == words[index + 1], "\(words[index])")
    }
  }

  @Test func `a localized string has a format key for its interpolations and formats its values by locale`() {
    let value: String.LocalizationValue = "\(3) of \("ten") are \(0.5), that is 50 %"
    #expect(value.format.key == "%lld of %@ are %lf, that is 50 %%")
    #expect(String(localized: "\(1234) words") == "1,234 words")
    #expect(String(localized: "\(1234) words", locale: Locale(identifier: "de_DE")) == "1.234 words")
    #expect(String(localized: "half, 50 %") == "half, 50 %")
    #expect(String(localized: "key", defaultValue: "a value") == "a value")
    let resource = LocalizedStringResource("key", defaultValue: "\(2) values")
    #expect(String(localized: resource) == "2 values")
    #expect(resource.key == "key")
  }

  @Test(
    .rule("WIDGET-24"),
    arguments: [
      ("de_DE.UTF-8", "de_DE"), ("fr_CA", "fr_CA"), ("C.UTF-8", "en_US"), ("POSIX", "en_US"), ("", "en_US"),
      (nil, "en_US"),
    ] as [(String?, String)])
  func `the locale of a process comes from LANG, and is en_US without a usable one`(
    language: String?, identifier: String
  ) {
    #expect(DeviceSettings.locale(ofLanguage: language) == identifier)
  }
}

/// String tables beside an executable that does not exist.
private final class Tables {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tables-\(UUID().uuidString)")
  private let tables: StringTables

  init() throws {
    let bundle = folder.appendingPathComponent("Weather_WeatherWidget.resources")
    let other = folder.appendingPathComponent("Weather_WeatherApp.resources")
    try Tables.write(
      #""hello" = "Hallo"; /* a comment */"#, to: bundle.appendingPathComponent("de.lproj/Localizable.strings"))
    try Tables.write(#""hello" = "Servus";"#, to: bundle.appendingPathComponent("de-AT.lproj/Localizable.strings"))
    try Tables.write(#""hello" = "Hello there";"#, to: bundle.appendingPathComponent("en.lproj/Localizable.strings"))
    try Tables.write(#""hello" = "andere";"#, to: bundle.appendingPathComponent("de.lproj/Other.strings"))
    try Tables.write(#""missing" = "die App";"#, to: other.appendingPathComponent("de.lproj/Localizable.strings"))
    try Tables.write(catalog, to: bundle.appendingPathComponent("Localizable.xcstrings"))
    tables = StringTables(besideExecutable: folder.appendingPathComponent("WeatherWidget"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func text(_ key: String, _ locale: String, table: String = "Localizable", count: Double? = nil) -> String? {
    tables.translation(of: key, table: table, bundle: nil, locale: Locale(identifier: locale), count: count)
  }

  private static func write(_ text: String, to file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
}

private let catalog = """
  {"sourceLanguage": "en", "version": "1.0", "strings": {
    "from a catalog": {"localizations": {"de": {"stringUnit": {"state": "translated", "value": "aus einem Katalog"}}}},
    "not translated": {},
    "%lld cups": {"localizations": {"de": {"variations": {"plural": {
      "zero": {"stringUnit": {"state": "translated", "value": "keine Tassen"}},
      "one": {"stringUnit": {"state": "translated", "value": "%lld Tasse"}},
      "other": {"stringUnit": {"state": "translated", "value": "%lld Tassen"}}}}},
      "pl": {"variations": {"plural": {
      "few": {"stringUnit": {"state": "translated", "value": "%lld kubki"}},
      "many": {"stringUnit": {"state": "translated", "value": "%lld kubków"}}}}}}}
  }}
  """
