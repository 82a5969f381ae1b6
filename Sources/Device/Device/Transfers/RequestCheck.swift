// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPRules

/// Checks what an author or a server gave for a request, before async-http-client has it. That library ends the process
/// for a port above 65535, a host that is only brackets and a field name that is not ASCII, and sends a method as it is.
enum RequestCheck {
  /// - Parameter text: the URL as it was given, for the message.
  /// - Throws: -1000, -1002 or -1022 for a URL that can never be loaded.
  static func url(_ url: URL?, _ text: String, _ security: TransportSecurity) throws(TransferFault) -> URL {
    guard let url, let scheme = url.scheme?.lowercased() else {
      throw TransferFault(.badURL, "bad URL: \(text)", next: .never)
    }
    // A background session supports HTTP and HTTPS only (documented).
    guard scheme == "http" || scheme == "https" else {
      throw TransferFault(.unsupportedURL, "unsupported URL: \(text)", next: .never)
    }
    guard MessageSyntax.hasUsableHost(url) else {
      throw TransferFault(.badURL, "bad URL: \(text)", next: .never)
    }
    guard MessageSyntax.hasUsablePort(url) else {
      throw TransferFault(.badURL, "bad URL, its port is not between 0 and 65535: \(text)", next: .never)
    }
    guard security.allows(url) else {
      throw TransferFault(.appTransportSecurityRequiresSecureConnection, TransportSecurity.message, next: .never)
    }
    return url
  }

  /// - Throws: -1 for a method or a field that cannot be sent. Another attempt would fail the same way.
  static func head(_ method: String, _ fields: [[String]], hasBody: Bool) throws(TransferFault) {
    let what =
      switch method {
      // A tunnel has no URL (RFC 9110, sections 9.3.6 and 9.3.8).
      case "CONNECT": "the method CONNECT with a URL" as String?
      case "TRACE" where hasBody: "a body of a TRACE request"
      default: MessageSyntax.objection(method, fields.lazy.map { ($0[0], $0[1]) })
      }
    guard let what else { return }
    throw TransferFault(.unknown, "the request cannot be sent: HTTP does not allow \(what)", next: .never)
  }
}
