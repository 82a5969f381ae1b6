// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Glibc

/// A text with values. Source: `os.OSLogMessage`.
public struct OSLogMessage: ExpressibleByStringInterpolation {
  let interpolation: OSLogInterpolation

  public init(stringInterpolation: OSLogInterpolation) { interpolation = stringInterpolation }
  public init(stringLiteral value: String) {
    interpolation = OSLogInterpolation(literalCapacity: value.utf8.count, interpolationCount: 0, text: value)
  }
}

/// Whether a value is hidden in the log. Source: `os.OSLogPrivacy`. Nothing is hidden, as when Xcode runs the app.
public struct OSLogPrivacy: Sendable {
  /// Source: `os.OSLogPrivacy.Mask`.
  public enum Mask: Sendable {
    case hash
    case none
  }

  public static var auto: OSLogPrivacy { OSLogPrivacy() }
  public static var `public`: OSLogPrivacy { OSLogPrivacy() }
  public static var `private`: OSLogPrivacy { OSLogPrivacy() }
  public static var sensitive: OSLogPrivacy { OSLogPrivacy() }
  public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
  public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
  public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
}

/// Source: `os.OSLogStringAlignment`.
public struct OSLogStringAlignment: Sendable {
  fileprivate let pad: @Sendable (String) -> String

  public static var none: OSLogStringAlignment { OSLogStringAlignment { $0 } }
  public static func right(columns: @autoclosure @escaping () -> Int) -> OSLogStringAlignment {
    let width = columns()
    return OSLogStringAlignment { String(repeating: " ", count: max(0, width - $0.count)) + $0 }
  }
  public static func left(columns: @autoclosure @escaping () -> Int) -> OSLogStringAlignment {
    let width = columns()
    return OSLogStringAlignment { $0 + String(repeating: " ", count: max(0, width - $0.count)) }
  }
}

/// Source: `os.OSLogIntegerFormatting`.
public struct OSLogIntegerFormatting: Sendable {
  fileprivate var radix = 10
  fileprivate var prefix = ""
  fileprivate var hasSign = false
  fileprivate var isUppercase = false
  fileprivate var digits = 0

  public static var decimal: OSLogIntegerFormatting { OSLogIntegerFormatting() }
  public static func decimal(
    explicitPositiveSign: Bool = false, minDigits: @autoclosure @escaping () -> Int = 0
  ) -> OSLogIntegerFormatting {
    OSLogIntegerFormatting(hasSign: explicitPositiveSign, digits: minDigits())
  }
  public static var hex: OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 16) }
  public static func hex(
    explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
    minDigits: @autoclosure @escaping () -> Int = 0
  ) -> OSLogIntegerFormatting {
    OSLogIntegerFormatting(
      radix: 16, prefix: includePrefix ? "0x" : "", hasSign: explicitPositiveSign, isUppercase: uppercase,
      digits: minDigits())
  }
  public static var octal: OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 8) }

  fileprivate func text<T: FixedWidthInteger>(_ value: T) -> String {
    let number = String(value.magnitude, radix: radix, uppercase: isUppercase)
    let zeros = String(repeating: "0", count: max(0, digits - number.count))
    return (value < 0 ? "-" : hasSign ? "+" : "") + prefix + zeros + number
  }
}

/// Source: `os.OSLogFloatFormatting`.
public struct OSLogFloatFormatting: Sendable {
  private var conversion = "f"
  private var digits: Int?

  public static var fixed: OSLogFloatFormatting { OSLogFloatFormatting() }
  public static func fixed(precision: @autoclosure @escaping () -> Int) -> OSLogFloatFormatting {
    OSLogFloatFormatting(digits: precision())
  }
  public static var exponential: OSLogFloatFormatting { OSLogFloatFormatting(conversion: "e") }
  public static func exponential(precision: @autoclosure @escaping () -> Int) -> OSLogFloatFormatting {
    OSLogFloatFormatting(conversion: "e", digits: precision())
  }
  public static var hybrid: OSLogFloatFormatting { OSLogFloatFormatting(conversion: "g") }
  public static func hybrid(precision: @autoclosure @escaping () -> Int) -> OSLogFloatFormatting {
    OSLogFloatFormatting(conversion: "g", digits: precision())
  }
  public static var hex: OSLogFloatFormatting { OSLogFloatFormatting(conversion: "a") }

  fileprivate func text(_ value: Double) -> String {
    String(format: "%\(digits.map { ".\($0)" } ?? "")\(conversion)", value)
  }
}

/// Source: `os.OSLogBoolFormat`.
public enum OSLogBoolFormat: Sendable {
  case truth
  case answer
}

/// Builds the text of a message. Source: `os.OSLogInterpolation`.
public struct OSLogInterpolation: StringInterpolationProtocol {
  private(set) var text: String

  public init(literalCapacity: Int, interpolationCount: Int) { text = "" }
  init(literalCapacity: Int, interpolationCount: Int, text: String) { self.text = text }

  public mutating func appendLiteral(_ literal: String) { text += literal }

  public mutating func appendInterpolation<T: FixedWidthInteger>(
    _ number: @autoclosure @escaping () -> T, format: OSLogIntegerFormatting = .decimal,
    align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto, attributes: String = ""
  ) {
    text += align.pad(format.text(number()))
  }
  public mutating func appendInterpolation(
    _ number: @autoclosure @escaping () -> Double, format: OSLogFloatFormatting = .fixed,
    align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto, attributes: String = ""
  ) {
    text += align.pad(format.text(number()))
  }
  public mutating func appendInterpolation(
    _ number: @autoclosure @escaping () -> Float, format: OSLogFloatFormatting = .fixed,
    align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto, attributes: String = ""
  ) {
    text += align.pad(format.text(Double(number())))
  }
  public mutating func appendInterpolation(
    _ number: @autoclosure @escaping () -> CGFloat, format: OSLogFloatFormatting = .fixed,
    align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto, attributes: String = ""
  ) {
    text += align.pad(format.text(Double(number())))
  }
  public mutating func appendInterpolation(
    _ boolean: @autoclosure @escaping () -> Bool, format: OSLogBoolFormat = .truth, privacy: OSLogPrivacy = .auto,
    attributes: String = ""
  ) {
    text += format == .truth ? "\(boolean())" : boolean() ? "YES" : "NO"
  }
  public mutating func appendInterpolation(
    _ argumentString: @autoclosure @escaping () -> String, align: OSLogStringAlignment = .none,
    privacy: OSLogPrivacy = .auto, attributes: String = ""
  ) {
    text += align.pad(argumentString())
  }
  public mutating func appendInterpolation<T: CustomStringConvertible>(
    _ value: @autoclosure @escaping () -> T, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto,
    attributes: String = ""
  ) {
    text += align.pad(value().description)
  }
  @_disfavoredOverload public mutating func appendInterpolation(
    _ argumentObject: @autoclosure @escaping () -> NSObject?, privacy: OSLogPrivacy = .auto, attributes: String = ""
  ) {
    text += argumentObject()?.description ?? "(null)"
  }
  @_disfavoredOverload public mutating func appendInterpolation(
    _ error: @autoclosure @escaping () -> any Error, privacy: OSLogPrivacy = .auto, attributes: String = ""
  ) {
    text += "\(error())"
  }
  public mutating func appendInterpolation(
    _ value: @autoclosure @escaping () -> Any.Type, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto,
    attributes: String = ""
  ) {
    text += align.pad("\(value())")
  }
}

/// The formats of `os_log(_:log:type:_:)`: those of `printf`, `%@`, and `%{public}…`.
enum LogFormat {
  /// - Parameter arguments: in the order of the specifiers. One that is missing is `(missing)`.
  static func text(_ format: String, _ arguments: [Any?]) -> String {
    var rest = format[...]
    var arguments = arguments[...]
    var result = ""
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      rest = rest[rest.index(after: percent)...]
      if rest.first == "%" {
        result += "%"
        rest = rest.dropFirst()
        continue
      }
      if rest.first == "{" { rest = rest.drop { $0 != "}" }.dropFirst() }
      let flags = rest.prefix { !$0.isLetter && $0 != "@" }
      rest = rest.dropFirst(flags.count)
      let length = rest.prefix { "hlqjzt".contains($0) }
      rest = rest.dropFirst(length.count)
      guard let conversion = rest.popFirst() else { return result }
      guard let argument = arguments.popFirst() else {
        result += "(missing)"
        continue
      }
      result += Self.text(argument, conversion, flags: flags)
    }
    return result + rest
  }

  private static func text(_ argument: Any?, _ conversion: Character, flags: Substring) -> String {
    switch (conversion, argument) {
    case ("d", let value as any BinaryInteger), ("i", let value as any BinaryInteger),
      ("D", let value as any BinaryInteger):
      String(format: "%\(flags)lld", Int64(truncatingIfNeeded: value))
    case ("u", let value as any BinaryInteger), ("x", let value as any BinaryInteger),
      ("X", let value as any BinaryInteger), ("o", let value as any BinaryInteger):
      String(format: "%\(flags)ll\(conversion)", UInt64(truncatingIfNeeded: value))
    case ("f", let value as any BinaryFloatingPoint), ("g", let value as any BinaryFloatingPoint),
      ("e", let value as any BinaryFloatingPoint):
      String(format: "%\(flags)\(conversion)", Double(value))
    case (_, .some(let value)): "\(value)"
    case (_, nil): "(null)"
    }
  }
}

/// A line of the unified log. It goes where the author's prints go: to standard error, which the agent adds to the
/// journal.
enum LogLine {
  /// What writes it.
  struct Origin: Sendable {
    var subsystem = ""
    var category = ""
    var isEnabled = true
  }

  /// The line without its end: `[subsystem:category] level: text`.
  static func text(_ text: String, _ level: String, from origin: Origin) -> String {
    let place = [origin.subsystem, origin.category].filter { !$0.isEmpty }.joined(separator: ":")
    return "\(place.isEmpty ? "" : "[\(place)] ")\(level): \(text)"
  }

  /// Writes a line as a whole. Any thread.
  static func write(_ message: @autoclosure () -> String, _ level: String, from origin: Origin) {
    guard origin.isEnabled else { return }
    var line = Array((text(message(), level, from: origin) + "\n").utf8)[...]
    while !line.isEmpty {
      let count = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        return
      }
      line = line.dropFirst(count)
    }
  }
}
