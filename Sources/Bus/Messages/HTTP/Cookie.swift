// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// How the requests of a session use cookies.
package struct CookieUse: Codable, Hashable, Sendable {
  /// Whether requests send the stored cookies.
  package let sends: Bool
  /// Whether the cookies of responses are stored.
  package let stores: Bool

  package init(sends: Bool, stores: Bool) {
    self.sends = sends
    self.stores = stores
  }
}

/// A cookie as a client stores it. Source: RFC 6265.
package struct Cookie: Codable, Hashable, Sendable {
  package let name: String
  package let value: String
  /// Lowercase, without a leading dot.
  package let domain: String
  /// Whether it is sent to no subdomain.
  package let isHostOnly: Bool
  package let path: String
  package let isSecure: Bool
  package let created: Date
  /// `nil`: it is not stored on disk.
  package let expires: Date?

  /// What it replaces: a cookie with the same key.
  package var key: String { "\(domain) \(path) \(name)" }

  /// Reads the value of a `Set-Cookie` field.
  ///
  /// - Returns: `nil` for a field that is malformed, or that the server may not set.
  package init?(_ field: String, from url: URL, now: Date) {
    // No request could send a control character (RFC 6265bis, section 5.6).
    guard let host = url.host?.lowercased(), MessageSyntax.isValue(field) else { return nil }
    let parts = field.split(separator: ";", omittingEmptySubsequences: false)
    guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
    name = Self.trimmed(pair[..<equals])
    value = Self.trimmed(pair[pair.index(after: equals)...])
    guard !name.isEmpty, name.utf8.count + value.utf8.count <= 4096 else { return nil }
    var attributes: [String: String] = [:]
    for part in parts.dropFirst() {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      attributes[Self.trimmed(words[0]).lowercased()] = words.count > 1 ? Self.trimmed(words[1]) : ""
    }
    var domain = attributes["domain"]?.lowercased() ?? ""
    if domain.hasPrefix(".") { domain.removeFirst() }
    isHostOnly = domain.isEmpty
    self.domain = isHostOnly ? host : domain
    // A domain without a dot, such as `com`, belongs to no one server.
    guard isHostOnly || domain == host || Self.isDomain(domain, of: host) && domain.contains(".") else { return nil }
    path = attributes["path"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? Self.defaultPath(of: url)
    isSecure = attributes["secure"] != nil
    guard !isSecure || url.scheme?.lowercased() == "https" else { return nil }
    created = now
    if let age = attributes["max-age"].flatMap({ Double($0) }) {
      expires = age > 0 ? now + min(age, 1e10) : .distantPast
    } else {
      expires = attributes["expires"].flatMap(CookieDate.read)
    }
  }

  /// Whether a request sends it.
  package func isSent(to url: URL, at now: Date) -> Bool {
    guard let host = url.host?.lowercased(), !isExpired(at: now) else { return false }
    let isDomain = host == domain || !isHostOnly && Self.isDomain(domain, of: host)
    let path = url.path(percentEncoded: true)
    let isPath =
      self.path == "/" || path == self.path || path.hasPrefix(self.path.hasSuffix("/") ? self.path : self.path + "/")
    return isDomain && isPath && (!isSecure || url.scheme?.lowercased() == "https")
  }

  package func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

  /// The value of `Cookie` for a request; `nil` without cookies. Longer paths come first, then older cookies.
  package static func header(_ cookies: some Sequence<Cookie>, for url: URL, at now: Date) -> String? {
    let sent = cookies.filter { $0.isSent(to: url, at: now) }
      .sorted { ($1.path.count, $0.created, $0.name) < ($0.path.count, $1.created, $1.name) }
    return sent.isEmpty ? nil : sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  private static func trimmed(_ text: Substring) -> String { text.trimmingCharacters(in: .whitespaces) }

  /// Whether a host is a subdomain. An address has none.
  private static func isDomain(_ domain: String, of host: String) -> Bool {
    host.hasSuffix("." + domain) && InternetAddress(host) == nil
  }

  /// The folder of the URL's path.
  private static func defaultPath(of url: URL) -> String {
    let path = url.path(percentEncoded: true)
    guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}

/// The date of `Expires`, in any of the forms that servers use. Source: RFC 6265, section 5.1.1.
enum CookieDate {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  static func read(_ text: String) -> Date? {
    var (day, month, year): (Int?, Int?, Int?)
    var time: [Int]?
    let tokens = text.split { !$0.isLetter && !$0.isNumber && $0 != ":" }
    for token in tokens {
      let number = Int(token.prefix { $0.isASCII && $0.isNumber })
      if time == nil, token.contains(":") {
        let parts = token.split(separator: ":").map { Int($0) ?? -1 }
        if parts.count == 3, (0...23) ~= parts[0], (0...59) ~= parts[1], (0...59) ~= parts[2] { time = parts }
      } else if day == nil, let number, token.count <= 2 {
        day = number
      } else if month == nil, let index = months.firstIndex(of: token.prefix(3).lowercased()) {
        month = index + 1
      } else if year == nil, let number, token.count == 2 || token.count == 4 {
        year = number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
      }
    }
    guard let day, let month, let year, let time, (1...31) ~= day, year >= 1601 else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar.date(
      from: DateComponents(year: year, month: month, day: day, hour: time[0], minute: time[1], second: time[2]))
  }
}

/// What HTTP allows in a request. Clients check it first: a library may end the process, or send it as it is.
package enum MessageSyntax {
  /// The name of a method or of a header field. Source: RFC 9110, section 5.6.2.
  package static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// The value of a header field: any text without control characters except the tab. Source: RFC 9110, section 5.5.
  package static func isValue(_ text: String) -> Bool {
    !text.utf8.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7f }
  }

  /// Why a request cannot be sent, such as `the header field name "a b"`; `nil` when it can.
  ///
  /// - Parameter fields: pairs of name and value.
  package static func objection(_ method: String, _ fields: some Sequence<(name: String, value: String)>) -> String? {
    guard isToken(method) else { return "the method \(quoted(method))" }
    for (name, value) in fields {
      guard isToken(name) else { return "the header field name \(quoted(name))" }
      guard isValue(value) else { return "a control character in the header field \(name)" }
    }
    return nil
  }

  /// Whether the host, without its percent encoding, may be the name or the address of a server. Source: the forbidden
  /// code points of the URL standard.
  package static func hasUsableHost(_ url: URL) -> Bool {
    guard let host = url.host, !host.isEmpty else { return false }
    // Only an address in brackets has a colon that is not encoded.
    let isAddress = url.host(percentEncoded: true)?.contains(":") ?? false
    let forbidden = isAddress ? "[]" : #"#%/:<>?@[\]^|"#
    return !host.unicodeScalars.contains {
      $0.value <= 0x20 || $0.value == 0x7f || forbidden.unicodeScalars.contains($0)
    }
  }

  /// Whether the URL has no port, or one that TCP has. `URL.port` is `nil` for a number that is too large for an `Int`.
  package static func hasUsablePort(_ url: URL) -> Bool {
    if let port = url.port { return UInt16(exactly: port) != nil }
    return URLComponents(url: url, resolvingAgainstBaseURL: true)?.rangeOfPort?.isEmpty ?? true
  }

  private static func quoted(_ text: String) -> String { String(text.prefix(80)).debugDescription }
}
