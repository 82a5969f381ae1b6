// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation

/// Parses and formats times and sizes.
package enum Amount {
  private static let units: [(name: Character, seconds: Double)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

  /// The seconds of `90s`, `1.5h`, `7d` or `1d12h`; `nil` for anything else.
  package static func seconds(_ text: String) -> Double? {
    var sum = 0.0
    var number = ""
    for character in text {
      if let unit = units.first(where: { $0.name == character }) {
        guard let value = Double(number), value >= 0 else { return nil }
        sum += value * unit.seconds
        number = ""
      } else {
        number.append(character)
      }
    }
    return number.isEmpty && !text.isEmpty && sum < 1e9 ? sum : nil
  }

  /// The bytes of `800`, `50k` (thousand) or `1.5M` (million), at least one; `nil` for anything else.
  package static func bytes(_ text: String) -> Int64? {
    let factors: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
    let factor = text.last.flatMap { factors[$0] }
    guard let value = Double(factor == nil ? text : String(text.dropLast())), (1..<1e12).contains(value * (factor ?? 1))
    else { return nil }
    return Int64(saturating: value * (factor ?? 1))
  }

  /// `12.3 s`, `5 min 3 s`, `1 d 2 h`: the two largest units. An author may give any number.
  package static func text(seconds: Double) -> String {
    let seconds = max(-1e15, min(seconds, 1e15))
    guard seconds >= 60 else { return "\(rounded(seconds)) s" }
    // Rounded to the smaller of the two units.
    let step = seconds >= 86_400 - 1800 ? 3600.0 : seconds >= 3600 - 30 ? 60 : 1
    let whole = Int(saturating: (seconds / step).rounded() * step)
    let parts = [(whole / 86_400, "d"), (whole / 3600 % 24, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")]
    let first = parts.firstIndex { $0.0 > 0 } ?? 3
    return parts[first..<min(first + 2, 4)].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }

  /// `800 B`, `1.2 kB`, `34 MB`.
  package static func text(bytes: Int64) -> String {
    guard bytes >= 1000 else { return "\(bytes) B" }
    var value = Double(bytes)
    for unit in ["kB", "MB", "GB"] {
      value /= 1000
      if value < 999.5 || unit == "GB" {
        return "\(value < 9.95 ? rounded(value) : "\(Int(saturating: value.rounded()))") \(unit)"
      }
    }
    return "\(bytes) B"
  }

  /// `2026-11-21 07:15:03Z`.
  package static func text(_ date: Date) -> String {
    date.formatted(.iso8601).replacing("T", with: " ")
  }

  /// `3600`, `0.5`.
  package static func text(factor: Double) -> String {
    factor == factor.rounded() ? "\(Int(saturating: factor))" : "\(factor)"
  }

  /// With one decimal digit, unless it is 0.
  private static func rounded(_ value: Double) -> String {
    let tenths = Int(saturating: (value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
