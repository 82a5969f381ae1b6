// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import DeviceRules
import Foundation
import HTTPRules
import Messages
import NIOHTTP1
import NIOSSL

/// The next HTTP request of a task, after redirects and challenges.
struct HTTPExchange: Sendable {
  private(set) var url: URL
  private(set) var method: String
  private(set) var headers: [[String]]
  private(set) var sendsBody: Bool
  private(set) var redirectCount = 0
  private let original: TransferRequest
  private let security: TransportSecurity
  private var failures = 0
  /// Origins whose certificate the owner accepted.
  private var trusted: Set<String> = []

  /// - Throws: `RequestCheck.url`.
  init(
    _ request: TransferRequest, _ configuration: SessionConfiguration, rangeHeaders: [(name: String, value: String)],
    isUpload: Bool
  ) throws(TransferFault) {
    original = request
    security = configuration.client?.transportSecurity ?? TransportSecurity()
    url = try RequestCheck.url(URL(string: request.url), request.url, security)
    method = request.method
    sendsBody = isUpload || request.body != nil
    // The request's own headers take precedence over those of the session's configuration.
    headers = request.headers.filter { $0.count == 2 }
    add(configuration.httpAdditionalHeaders.filter { $0.count == 2 })
    add(configuration.client?.fields ?? [])
    for (name, value) in rangeHeaders { set(name, value) }
    // A range counts bytes of the encoded representation, so a resumed request must not be compressed.
    add([["Accept", "*/*"], ["Accept-Encoding", rangeHeaders.isEmpty ? "gzip, deflate" : "identity"]])
  }

  /// Adds the headers that are not set yet.
  private mutating func add(_ more: [[String]]) {
    let own = Set(headers.map { $0[0].lowercased() })
    headers += more.filter { !own.contains($0[0].lowercased()) }
  }

  private mutating func set(_ name: String, _ value: String) {
    remove([name])
    headers.append([name, value])
  }

  private mutating func remove(_ names: [String]) {
    headers.removeAll { pair in names.contains { $0.caseInsensitiveCompare(pair[0]) == .orderedSame } }
  }

  /// The next request without its body, as the client gets it.
  ///
  /// - Parameter cookie: the value of `Cookie`, unless the request sets it.
  /// - Throws: `RequestCheck.head`: also for what a server gave, such as the realm of a challenge.
  func outgoing(cookie: String?) throws(TransferFault) -> HTTPClientRequest {
    var all = self
    if let cookie { all.add([["Cookie", cookie]]) }
    try RequestCheck.head(method, all.headers, hasBody: sendsBody)
    var outgoing = HTTPClientRequest(url: url.absoluteString)
    outgoing.method = HTTPMethod(rawValue: method)
    for field in all.headers { outgoing.headers.add(name: field[0], value: field[1]) }
    if isTrusted {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.certificateVerification = .none
      outgoing.tlsConfiguration = configuration
    }
    return outgoing
  }

  /// Follows a redirect (documented: a background session always does).
  ///
  /// `Authorization` and cookies are not sent to another origin (RFC 9110, section 15.4). A 303 changes every method
  /// but HEAD to GET, a 301 or 302 changes POST to GET. A GET has no body.
  ///
  /// - Returns: `false` when the response is no redirect or has no location.
  /// - Throws: -1007 after `limit` redirects, and `RequestCheck.url` for the location.
  mutating func redirect(
    _ status: Int, to location: String?, limit: Int
  ) throws(TransferFault) -> Bool {
    guard [301, 302, 303, 307, 308].contains(status), let location, !location.isEmpty else { return false }
    guard redirectCount < limit else {
      throw TransferFault(.httpTooManyRedirects, "too many redirects: \(original.url)", next: .never)
    }
    let target = try RequestCheck.url(URL(string: location, relativeTo: url)?.absoluteURL, location, security)
    redirectCount += 1
    if status == 303 ? method != "HEAD" : status < 303 && method == "POST" {
      method = "GET"
      sendsBody = false
      remove(["Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding"])
    }
    if HTTPExchange.origin(target) != HTTPExchange.origin(url) {
      remove(["Authorization", "Proxy-Authorization", "Cookie", "Origin", "Host"])
      failures = 0
    }
    url = target
    return true
  }

  /// The value of `currentRequest`; `nil` when it is the original.
  var currentRequest: TransferRequest? {
    guard redirectCount > 0 else { return nil }
    var request = original
    request.url = url.absoluteString
    request.method = method
    if !sendsBody { request.body = nil }
    let left = Set(headers.map { $0[0].lowercased() })
    request.headers.removeAll { $0.first.map { !left.contains($0.lowercased()) } ?? true }
    return request
  }

  /// The response as it is stored. The length of an encoded response is unknown, since it is not the file's (observed).
  func head(_ status: Int, _ headers: [[String]]) -> TransferResponse {
    let length = ContentCodings(headers).layers > 0 ? nil : HeaderList(headers)["content-length"].flatMap { Int64($0) }
    return TransferResponse(
      url: url.absoluteString, status: status, headers: headers, expectedLength: length ?? -1)
  }

  /// Whether the response has a length but no body (RFC 9110, sections 9.3.2, 15.3.5 and 15.4.5).
  func hasNoBody(_ status: Int) -> Bool { method == "HEAD" || status == 204 || status == 304 }

  // MARK: Challenges

  /// The challenge for the owner: for credentials, or without an offer, whether it trusts the server.
  func challenge(_ offer: AuthenticationOffer?) -> Challenge {
    Challenge(
      method: offer?.scheme.method ?? Challenge.serverTrust, host: url.host() ?? "", port: HTTPExchange.port(url),
      scheme: url.scheme ?? "", realm: offer?.realm, previousFailures: offer == nil ? 0 : failures)
  }

  /// Adds credentials for the next request.
  mutating func authorise(_ offer: AuthenticationOffer, user: String, password: String) {
    failures += 1
    let uri = url.path(percentEncoded: true) + (url.query(percentEncoded: true).map { "?" + $0 } ?? "")
    set(
      "Authorization",
      offer.authorization(user: user, password: password, method: method, uri: uri.isEmpty ? "/" : uri))
  }

  var isTrusted: Bool { trusted.contains(HTTPExchange.origin(url)) }
  mutating func trust() { trusted.insert(HTTPExchange.origin(url)) }

  // MARK: URLs

  private static func origin(_ url: URL) -> String {
    "\(url.scheme ?? "")://\(url.host() ?? ""):\(port(url))".lowercased()
  }

  private static func port(_ url: URL) -> Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
}
