// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A value of an author's view or intent, stored without the author's types.
package enum ArchivedValue: Hashable, Sendable {
  case bool(Bool)
  case number(Double)
  case string(String)
  case date(Date)
  case list([ArchivedValue])
  case record(ArchivedArguments)
}

extension ArchivedValue: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(floatLiteral value: Double) { self = .number(value) }
  package init(integerLiteral value: Int) { self = .number(Double(value)) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }

  /// The text, if the value is one.
  package var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The number, if the value is one.
  package var number: Double? { if case .number(let value) = self { value } else { nil } }
}

/// Plain JSON, except that a date is `{"$date": seconds since 1970}`, and a number that JSON cannot express is
/// `{"$number": "inf"}` or similar.
extension ArchivedValue: Codable {
  private enum Word: String, CodingKey {
    case date = "$date"
    case number = "$number"
  }

  package init(from decoder: any Decoder) throws {
    if let record = try? decoder.container(keyedBy: Word.self) {
      if let seconds = try record.decodeIfPresent(Double.self, forKey: .date) {
        self = .date(Date(timeIntervalSince1970: seconds))
        return
      }
      if let number = try record.decodeIfPresent(String.self, forKey: .number).flatMap(Double.init) {
        self = .number(number)
        return
      }
    }
    let value = try decoder.singleValueContainer()
    if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let list = try? value.decode([ArchivedValue].self) {
      self = .list(list)
    } else {
      self = .record(ArchivedArguments(values: try value.decode([String: ArchivedValue].self)))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .date(let date):
      var record = encoder.container(keyedBy: Word.self)
      try record.encode(date.timeIntervalSince1970, forKey: .date)
    case .number(let number) where !number.isFinite:
      var record = encoder.container(keyedBy: Word.self)
      try record.encode("\(number)", forKey: .number)
    case .bool(let value): try encode(value, to: encoder)
    case .number(let value): try encode(value, to: encoder)
    case .string(let value): try encode(value, to: encoder)
    case .list(let value): try encode(value, to: encoder)
    case .record(let value): try encode(value.values, to: encoder)
    }
  }

  private func encode(_ value: some Encodable, to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

// A number from outside (an author, a message, a file, a database) may be infinite, not a number or too large, and the
// conversions of the standard library trap on it. `NumberConversionTests` looks for them in the compiled code.

extension FixedWidthInteger {
  /// The number, rounded toward zero, or the nearest one that this type has; 0 for what is not a number.
  @inlinable package init(saturating value: Double) {
    self = Self(exactly: value.rounded(.towardZero)) ?? (value.isNaN ? 0 : value < 0 ? .min : .max)
  }
}

extension Duration {
  /// Seconds, at most thirty years in each direction; none for what is not a number.
  package static func saturating(seconds: Double) -> Duration {
    .seconds(seconds.isNaN ? 0 : min(max(seconds, -1e9), 1e9))
  }
}
