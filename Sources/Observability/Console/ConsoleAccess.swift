// SPDX-License-Identifier: Apache-2.0

import Archive
import Crypto
import Foundation

/// The secret of one console. Knowing it is the right to use the console.
package struct ConsoleToken: Sendable, Equatable {
  /// As in the link: 16 to 256 letters, digits, hyphens and underscores.
  package let text: String

  /// Checks a token that the user chose; nil when it is too short, too long or has other characters.
  package init?(_ text: String) {
    let isPlain = text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    guard isPlain, (16...256).contains(text.utf8.count) else { return nil }
    self.text = text
  }

  private init(random bytes: some Sequence<UInt8>) {
    text = bytes.hexadecimal
  }

  /// A new one of 192 random bits.
  package static func random() -> ConsoleToken {
    var generator = SystemRandomNumberGenerator()
    return ConsoleToken(random: (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// The value of the session's cookie. It is derived, so that a restarted console accepts it, and the token cannot be
  /// computed from it.
  var cookie: String { derived("session") }

  /// The cookie's name. Cookies do not differ by port, so two consoles of one machine need two names.
  var cookieName: String { "widgetlab-console-\(derived("name").prefix(8))" }

  /// Compares in a time that does not depend on where the texts differ.
  func matches(_ candidate: String) -> Bool { Self.equal(derived("check"), Self.derived("check", from: candidate)) }

  /// Whether the header of a request has the session's cookie.
  func isSession(_ cookies: [String]) -> Bool {
    let own = cookieName + "="
    return cookies.flatMap { $0.split(separator: ";") }.contains { part in
      let part = part.trimmingCharacters(in: .whitespaces)
      return part.hasPrefix(own) && Self.equal(String(part.dropFirst(own.count)), cookie)
    }
  }

  private func derived(_ use: String) -> String { Self.derived(use, from: text) }

  private static func derived(_ use: String, from text: String) -> String {
    let key = SymmetricKey(data: SHA256.hash(data: Data("widgetlab console \(text)".utf8)))
    return HMAC<SHA256>.authenticationCode(for: Data(use.utf8), using: key).hexadecimal
  }

  private static func equal(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// Which names a request may use for this console. A page of another site that rebinds its name to this machine's
/// address sends its own name.
package struct HostRule: Sendable, Equatable {
  private let hosts: Set<String>
  /// Names that any port may follow, such as that of a published port.
  private let anyPort: Set<String>

  /// - Parameters:
  ///   - port: the port of the console.
  ///   - allowed: further names, as `name` or `name:port`. A name without a port allows all ports.
  package init(port: Int, allowed: [String] = []) {
    let loopback = ["127.0.0.1", "localhost", "[::1]"]
    let named = allowed.map { $0.lowercased() }
    hosts = Set(loopback.map { "\($0):\(port)" } + (port == 80 ? loopback : []) + named.filter(Self.hasPort))
    anyPort = Set(named.filter { !Self.hasPort($0) })
  }

  private static func hasPort(_ name: String) -> Bool {
    guard let colon = name.lastIndex(of: ":") else { return false }
    return Int(name[name.index(after: colon)...]) != nil && !name.hasSuffix("]")
  }

  /// Whether the value of `Host` is a name of this console.
  package func allows(_ host: String) -> Bool {
    let host = host.lowercased()
    if hosts.contains(host) || anyPort.contains(host) { return true }
    guard Self.hasPort(host), let colon = host.lastIndex(of: ":") else { return false }
    return anyPort.contains(String(host[..<colon]))
  }
}
