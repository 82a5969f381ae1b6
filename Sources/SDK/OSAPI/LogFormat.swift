// SPDX-License-Identifier: Apache-2.0

import Foundation

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
