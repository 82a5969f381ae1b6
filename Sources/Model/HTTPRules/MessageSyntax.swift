// SPDX-License-Identifier: Apache-2.0

package import Foundation

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
