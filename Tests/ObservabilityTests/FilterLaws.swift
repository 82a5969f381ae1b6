// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

@testable import JournalAnalysis

/// The laws that hold for any text of a filter. The tests check the corpus against them, and `scripts/fuzz` a million
/// more inputs.
enum FilterLaws {
  /// The base of relative times.
  static let now = Timestamp(microseconds: 1_790_000_000_000_000)

  /// The law that the text breaks, or `nil`. The fuzzer finds traps.
  static func broken(by bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    let expression: FilterExpression
    do throws(FilterError) {
      expression = try FilterExpression(text, now: now)
    } catch {
      return broken(by: error, of: text)
    }
    let again = written(expression)
    do throws(FilterError) {
      guard try FilterExpression(again, now: now) == expression else { return "the expression is read as another" }
    } catch {
      return "the expression cannot be read again: \(error)"
    }
    guard hasReadableDigits(expression) else { return "digits of an identifier are not those that the tail prints" }
    let facts = EnvelopeFacts(sample)
    return expression.matches(facts) == FilterExpression.not(expression).matches(facts)
      ? "an envelope matches an expression and its negation, or neither" : nil
  }

  private static func broken(by error: FilterError, of text: String) -> String? {
    guard error.text == text else { return "the error names another text" }
    guard error.place.lowerBound >= 0, error.place.upperBound <= text.count else {
      return "the error's position is outside of the text"
    }
    let lines = error.description.split(omittingEmptySubsequences: false) { $0.isNewline }
    return lines.count == 4 ? nil : "the error has \(lines.count) lines"
  }

  private static func hasReadableDigits(_ expression: FilterExpression) -> Bool {
    switch expression {
    case .comparison(let comparison):
      guard case .digits(let digits) = comparison.value else { return true }
      return digits.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    case .not(let inner): return hasReadableDigits(inner)
    case .and(let left, let right), .or(let left, let right):
      return hasReadableDigits(left) && hasReadableDigits(right)
    }
  }

  // MARK: Text

  /// The text of an expression, with as few parentheses as possible.
  static func written(_ expression: FilterExpression) -> String {
    switch expression {
    case .comparison(let comparison):
      return "\(comparison.field.rawValue)\(comparison.relation.rawValue)\(written(comparison.value))"
    case .not(let inner): return "!\(written(inner, inParentheses: inner.isJoined))"
    case .and(let left, let right):
      return "\(written(left, inParentheses: left.isOr))&&\(written(right, inParentheses: right.isJoined))"
    case .or(let left, let right):
      return "\(written(left))||\(written(right, inParentheses: right.isOr))"
    }
  }

  private static func written(_ expression: FilterExpression, inParentheses: Bool) -> String {
    inParentheses ? "(\(written(expression)))" : written(expression)
  }

  private static func written(_ value: FilterComparison.Value) -> String {
    switch value {
    case .number(let number): return "\(number)"
    case .digits(let digits): return digits
    case .time(let time):
      let (seconds, rest) = abs(time.microseconds).quotientAndRemainder(dividingBy: 1_000_000)
      let fraction = String(1_000_000 + rest).dropFirst()
      return "@\(time.microseconds < 0 ? "-" : "")\(seconds).\(fraction)"
    case .glob(let glob):
      // A quoted text cannot end with a backslash, which would belong to the mark. A bare word can.
      guard glob.unicodeScalars.last != "\\" else { return glob }
      var text = "\""
      for scalar in glob.unicodeScalars {
        if scalar == "\"" { text += "\\" }
        text.unicodeScalars.append(scalar)
      }
      return text + "\""
    }
  }

  /// An envelope with most fields.
  private static let sample: Envelope = {
    let extensionAddress = Address.widgetExtension("phone", "com.example.Lab.Widget")
    let body = #"{"session":"daily","pid":200,"generation":2,"state":"running","taskIdentifier":3,"widgetKind":"Lab"}"#
    return Envelope(
      header: EnvelopeHeader(
        kind: Kind(stringLiteral: "transfer.progress"), source: extensionAddress, destination: .messageBus),
      body: Array(body.utf8))
  }()
}

extension FilterExpression {
  fileprivate var isOr: Bool { if case .or = self { true } else { false } }
  fileprivate var isJoined: Bool { if case .and = self { true } else { isOr } }
}
