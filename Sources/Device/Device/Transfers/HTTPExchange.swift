// SPDX-License-Identifier: Apache-2.0

import Archive
import AsyncHTTPClient
import Crypto
import DeviceRules
import Foundation
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
    url = try RequestCheck.url(URL(string: request.url), text: request.url, security: security)
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
    let target = try RequestCheck.url(
      URL(string: location, relativeTo: url)?.absoluteURL, text: location, security: security)
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
  func head(_ status: Int, _ headers: HTTPHeaders) -> TransferResponse {
    let length = ContentCodings(headers).layers > 0 ? nil : headers.first(name: "content-length").flatMap { Int64($0) }
    return TransferResponse(
      url: url.absoluteString, status: status, headers: headers.map { [$0.name, $0.value] },
      expectedLength: length ?? -1)
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

/// Checks what an author or a server gave for a request, before async-http-client has it. That library ends the process
/// for a port above 65535, a host that is only brackets and a field name that is not ASCII, and sends a method as it is.
enum RequestCheck {
  /// - Parameter text: the URL as it was given, for the message.
  /// - Throws: -1000, -1002 or -1022 for a URL that can never be loaded.
  static func url(_ url: URL?, text: String, security: TransportSecurity) throws(TransferFault) -> URL {
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

/// A challenge for the owner of a task: `AnswerChallenge` without the task.
struct Challenge: Sendable, Hashable {
  /// `NSURLAuthenticationMethod…`.
  let method: String
  let host: String
  let port: Int
  /// `http` or `https`.
  let scheme: String
  let realm: String?
  let previousFailures: Int

  /// The device does not trust the server's certificate.
  static let serverTrust = "NSURLAuthenticationMethodServerTrust"
}

/// The strongest supported scheme that a server offers in `WWW-Authenticate` (RFC 9110, section 11.6.1).
struct AuthenticationOffer: Sendable, Hashable {
  enum Scheme: Int, Sendable, Comparable {
    case basic
    case digest

    static func < (one: Scheme, other: Scheme) -> Bool { one.rawValue < other.rawValue }

    var method: String {
      switch self {
      case .basic: "NSURLAuthenticationMethodHTTPBasic"
      case .digest: "NSURLAuthenticationMethodHTTPDigest"
      }
    }
  }

  let scheme: Scheme
  let parameters: [String: String]
  var realm: String? { parameters["realm"] }

  /// - Returns: `nil` when no supported scheme is offered. For example, `Bearer` is no challenge, and the response is
  ///   final.
  init?(_ values: [String]) {
    let offers = values.flatMap(AuthenticationOffer.offers)
    guard let best = offers.max(by: { $0.scheme < $1.scheme }) else { return nil }
    self = best
  }

  private init?(_ scheme: String, _ parameters: [String: String]) {
    switch scheme.lowercased() {
    case "basic": self.scheme = .basic
    case "digest":
      let qop = parameters["qop"]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      guard parameters["nonce"] != nil, qop?.contains("auth") ?? true,
        ["md5", "sha-256"].contains(parameters["algorithm"]?.lowercased() ?? "md5")
      else { return nil }
      self.scheme = .digest
    default: return nil
    }
    self.parameters = parameters
  }

  /// One header line may contain several challenges: `Basic realm="a, b", Digest realm="c", nonce=d`.
  private static func offers(_ line: String) -> [AuthenticationOffer] {
    var challenges: [(scheme: String, parameters: [String: String])] = []
    for item in items(line) {
      let equals = item.firstIndex(of: "=")
      let words = item[..<(equals ?? item.endIndex)].split(separator: " ")
      guard let last = words.last else { continue }
      if words.count > 1 || equals == nil { challenges.append((String(words[0]), [:])) }
      guard let equals, !challenges.isEmpty else { continue }
      challenges[challenges.count - 1].parameters[last.lowercased()] = value(item[item.index(after: equals)...])
    }
    return challenges.compactMap { AuthenticationOffer($0.scheme, $0.parameters) }
  }

  /// Splits at commas that are not quoted.
  private static func items(_ line: String) -> [Substring] {
    var isQuoted = false
    var isEscaped = false
    return line.split { character in
      defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
      if character == "\"", !isEscaped { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
  }

  private static func value(_ text: Substring) -> String {
    let text = text.trimmingCharacters(in: .whitespaces)
    guard text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
    var isEscape = false
    return String(
      text.dropFirst().dropLast().filter { character in
        isEscape = character == "\\" && !isEscape
        return !isEscape
      })
  }

  /// Returns the value of `Authorization` (RFC 7617 and 7616).
  func authorization(
    user: String, password: String, method: String, uri: String, clientNonce: String = UUID().uuidString
  ) -> String {
    switch scheme {
    case .basic: return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    case .digest:
      let realm = realm ?? ""
      let nonce = parameters["nonce"] ?? ""
      let secret = hash("\(user):\(realm):\(password)")
      let request = hash("\(method):\(uri)")
      let hasQuality = parameters["qop"] != nil
      let middle = hasQuality ? "\(nonce):00000001:\(clientNonce):auth" : nonce
      var fields = [
        "username=\"\(user)\"", "realm=\"\(realm)\"", "nonce=\"\(nonce)\"", "uri=\"\(uri)\"",
        "response=\"\(hash("\(secret):\(middle):\(request)"))\"",
      ]
      if hasQuality { fields += ["qop=auth", "nc=00000001", "cnonce=\"\(clientNonce)\""] }
      if let opaque = parameters["opaque"] { fields.append("opaque=\"\(opaque)\"") }
      if let algorithm = parameters["algorithm"] { fields.append("algorithm=\(algorithm)") }
      return "Digest " + fields.joined(separator: ", ")
    }
  }

  private func hash(_ text: String) -> String {
    let bytes = Data(text.utf8)
    return parameters["algorithm"]?.lowercased() == "sha-256"
      ? SHA256.hash(data: bytes).hexadecimal : Insecure.MD5.hash(data: bytes).hexadecimal
  }
}

/// What a task has on disk when a request is sent.
struct StoredPart: Sendable, Equatable {
  let bytes: Int64
  /// A strong entity tag or a modification date of the stored bytes, for `If-Range`.
  let validator: String?
  /// The length of the whole file; -1 when the server did not report it.
  let expectedLength: Int64

  /// The first byte to request. Bytes without a validator cannot be shown to be part of the same file.
  var resumesAt: Int64 { validator == nil ? 0 : bytes }

  /// The headers of a request for the rest.
  var rangeHeaders: [(name: String, value: String)] {
    guard resumesAt > 0, let validator else { return [] }
    return [("Range", "bytes=\(resumesAt)-"), ("If-Range", validator)]
  }
}

/// What a response means for the stored bytes (RFC 9110, sections 13.1.5, 14.2 and 15.3.7).
enum ResponseVerdict: Sendable, Equatable {
  /// The body continues where the file ends.
  case append
  /// The body is the whole representation. `discarding`: whether stored bytes are void.
  case begin(discarding: Bool)
  /// The range is not available: request again from byte 0.
  case again

  /// Evaluates the head of a response to a request with `part.rangeHeaders`.
  init(status: Int, headers: HTTPHeaders, part: StoredPart) {
    guard part.resumesAt > 0 else {
      self = .begin(discarding: part.bytes > 0)
      return
    }
    switch status {
    case 206:
      guard let range = ContentRange(headers.first(name: "content-range")), range.first == part.bytes,
        part.expectedLength < 0 || range.total == nil || range.total == part.expectedLength,
        headers.validator.map({ $0 == part.validator }) ?? true
      else {
        self = .again
        return
      }
      self = .append
    case 416: self = .again
    default: self = .begin(discarding: true)
    }
  }
}

/// `Content-Range: bytes 5-9/10`.
struct ContentRange: Equatable {
  let first: Int64
  let last: Int64
  let total: Int64?

  init?(_ text: String?) {
    guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst("bytes ".count).split(separator: "/")
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-")
    guard ends.count == 2, let first = Int64(ends[0]), let last = Int64(ends[1]), first <= last else { return nil }
    self.first = first
    self.last = last
    self.total = Int64(parts[1])
  }
}

extension HTTPHeaders {
  /// The validator for `If-Range` of a later request: a strong entity tag, otherwise the modification date.
  var validator: String? {
    if let tag = first(name: "etag"), tag.hasPrefix("\""), tag.hasSuffix("\""), tag.count > 1 { return tag }
    return first(name: "last-modified")
  }
}
