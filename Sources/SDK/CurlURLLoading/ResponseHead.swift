// SPDX-License-Identifier: Apache-2.0

import Foundation
import URLSessionAPI

/// The status line and the header fields of a response, parsed line by line.
struct ResponseHead {
  private(set) var status = 0
  /// Names as the server sent them. Several values of a name are joined with commas.
  private(set) var fields: [String: String] = [:]
  /// The values of the `Set-Cookie` fields, which cannot be joined.
  private(set) var cookies: [String] = []
  /// The empty line has been received.
  private(set) var isComplete = false

  /// Adds a line, including its line ending.
  mutating func add(_ line: String) {
    let line = line.trimmingCharacters(in: .whitespacesAndNewlines)
    if line.isEmpty {
      isComplete = true
    } else if line.uppercased().hasPrefix("HTTP/"), fields.isEmpty || isComplete {
      // An interim response precedes this one, or trailers added by libcurl.
      self = ResponseHead()
      status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    } else if !isComplete, let colon = line.firstIndex(of: ":") {
      let name = line[..<colon].trimmingCharacters(in: .whitespaces)
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      if name.lowercased() == "set-cookie" { cookies.append(value) }
      let known = fields.keys.first { $0.lowercased() == name.lowercased() } ?? name
      fields[known] = fields[known].map { "\($0), \(value)" } ?? value
    }
  }

  func value(of name: String) -> String? { fields.first { $0.key.lowercased() == name }?.value }

  func response(from url: URL) -> HTTPURLResponse? {
    HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
  }
}

/// The challenge of a 401 response.
struct OfferedAuthentication: Hashable {
  let isDigest: Bool
  let realm: String?

  /// Selects digest before basic, because it is more secure.
  init?(_ head: ResponseHead) {
    guard head.status == 401, let text = head.value(of: "www-authenticate") else { return nil }
    let lowered = text.lowercased()
    guard lowered.contains("digest ") || lowered.contains("basic") else { return nil }
    isDigest = lowered.contains("digest ")
    realm = text.firstMatch(of: /realm="([^"]*)"/.ignoresCase()).map { String($0.1) }
  }

  var method: String { isDigest ? NSURLAuthenticationMethodHTTPDigest : NSURLAuthenticationMethodHTTPBasic }
}

extension URLRequest {
  /// The request for a redirection, and whether it keeps the body; `nil` when the response is not a redirection.
  ///
  /// A 303 changes every method except HEAD to GET. A 301 or 302 changes POST to GET. `Authorization` and cookies are
  /// not sent to another host (RFC 9110, section 15.4).
  func following(_ head: ResponseHead) -> (request: URLRequest, keepsBody: Bool)? {
    guard [301, 302, 303, 307, 308].contains(head.status), let location = head.value(of: "location"), let url,
      let next = URL(string: location, relativeTo: url)?.absoluteURL
    else { return nil }
    var request = self
    let method = httpMethod ?? "GET"
    let becomesGet = head.status == 303 ? method != "HEAD" : head.status < 303 && method == "POST"
    if becomesGet {
      request.httpMethod = "GET"
      (request.httpBody, request.httpBodyStream) = (nil, nil)
      for name in ["Content-Type", "Content-Length", "Content-Encoding"] {
        request.setValue(nil, forHTTPHeaderField: name)
      }
    }
    if next.host != url.host || next.port != url.port || next.scheme != url.scheme {
      for name in ["Authorization", "Proxy-Authorization", "Cookie", "Origin", "Host"] {
        request.setValue(nil, forHTTPHeaderField: name)
      }
    }
    request.url = next
    return (request, !becomesGet)
  }
}
