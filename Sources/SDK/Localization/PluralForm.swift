// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

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
