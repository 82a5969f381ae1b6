// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// Performs a request to its end, including redirections and challenges. Blocks its thread.
final class RequestRun: AttemptWatcher {
  private enum Next {
    /// The response belongs to the author.
    case nothing
    /// A redirection, or the same request with credentials.
    case request(URLRequest, InlineBody)
  }

  /// The maximum number of bytes of an unused body that are read to keep the connection usable.
  private static let skipLimit = 65_536

  private let exchange: CurlExchange
  private let observer: any InlineObserver
  private let configuration: InlineConfiguration
  private let network: DeviceNetwork
  private let began = Date()
  private let deadline: ContinuousClock.Instant

  private var request: URLRequest
  private var body: InlineBody
  private var next = Next.nothing
  private var credentials: Credentials?
  private var refusals = 0
  /// By host: whether its certificate is accepted without verification.
  private var trust: [String: Bool] = [:]
  private var redirectCount = 0
  private var requestCount = 0
  private var skipped = 0
  private var sentBytes: Int64 = 0
  private var bodyLength: Int64 = 0
  private var lastMove = ContinuousClock.now
  /// The end of the last step, or of the last wait for the author or the network.
  private var lastLook = SuspendingClock.now

  init(_ exchange: CurlExchange) {
    self.exchange = exchange
    request = exchange.request
    body = exchange.body
    observer = exchange.observer
    configuration = exchange.connections.configuration
    network = exchange.connections.network
    deadline = .now + .seconds(min(max(configuration.timeoutIntervalForResource, 0), 1e9))
  }

  var metrics: TransferMetrics {
    TransferMetrics(
      began: began, ended: Date(), redirectCount: redirectCount, attempts: requestCount - redirectCount)
  }

  /// Performs the request. Returns its error, if any.
  func run() -> URLError? {
    do throws(URLError) {
      try goOn()
      let line = try exchange.connections.takeLine()
      exchange.has(line)
      defer { exchange.has(nil) }
      repeat { try perform(on: line) } while isUnfinished
      exchange.connections.giveBack(line)
      return nil
    } catch {
      return error
    }
  }

  /// Starts the next request, if any.
  private var isUnfinished: Bool {
    guard case .request(let request, let body) = next else { return false }
    (self.request, self.body, next) = (request, body, .nothing)
    return true
  }

  private func perform(on line: CurlLine) throws(URLError) {
    let url = try destination()
    let reader = try BodyReader(body)
    bodyLength = reader.count
    guard reader.isEmpty || request.httpMethod != "GET" else {
      throw URLError(
        .dataLengthExceedsMaximum, userInfo: [NSLocalizedDescriptionKey: "a GET request has no body"])
    }
    try awaitNetwork()
    let isTrusted = try trusts(url)
    let attempt = CurlAttempt(line, reader, for: self)
    attempt.prepare(
      request, to: url, as: credentials, cookies: exchange.connections.cookies(for: request, to: url),
      pieces: RateLimit.piece(at: network.current.rate), isTrusted: isTrusted, defaults: configuration.client.fields)
    requestCount += 1
    (lastMove, lastLook) = (.now, .now)
    do throws(URLError) {
      try attempt.perform()
    } catch {
      // An error of this response does not matter when another request follows.
      if case .nothing = next { throw error }
    }
  }

  private func destination() throws(URLError) -> URL {
    guard let url = request.url, let scheme = url.scheme?.lowercased() else { throw URLError(.badURL) }
    guard ["http", "https"].contains(scheme) else { throw URLError(.unsupportedURL) }
    guard MessageSyntax.hasUsableHost(url), MessageSyntax.hasUsablePort(url) else { throw URLError(.badURL) }
    guard configuration.client.transportSecurity.allows(url) else {
      throw URLError(
        .appTransportSecurityRequiresSecureConnection,
        userInfo: [NSLocalizedDescriptionKey: TransportSecurity.message])
    }
    let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
    if let what = MessageSyntax.objection(request.httpMethod ?? "GET", fields.lazy.map { ($0.key, $0.value) }) {
      throw URLError(
        .unknown,
        userInfo: [NSLocalizedDescriptionKey: "the request cannot be sent: HTTP does not allow \(what)"])
    }
    guard request.cachePolicy != .returnCacheDataDontLoad else { throw URLError(.resourceUnavailable) }
    return url
  }

  // MARK: Waiting

  /// - Throws: `cancelled`, or `timedOut` after the deadline of the whole request.
  private func goOn() throws(URLError) {
    if exchange.isCancelled { throw URLError(.cancelled) }
    if ContinuousClock.now >= deadline { throw URLError(.timedOut) }
  }

  private func awaitNetwork() throws(URLError) {
    var isNotified = false
    while true {
      try goOn()
      let passage = NetworkPassage(network.current, for: request)
      if let failure = passage.failure {
        guard configuration.waitsForConnectivity else { throw failure }
        if !isNotified { observer.waitsForConnectivity() }
        isNotified = true
      } else if !exchange.isHeld {
        return
      }
      exchange.waitForChange(until: deadline)
    }
  }

  /// Blocks the transfer while it is suspended, and until `end`.
  private func hold(until end: ContinuousClock.Instant? = nil) throws(URLError) {
    while exchange.isHeld || end.map({ $0 > .now }) == true {
      try goOn()
      try stayConnected()
      exchange.waitForChange(until: exchange.isHeld ? deadline : min(end ?? deadline, deadline))
      (lastMove, lastLook) = (.now, .now)
    }
    try goOn()
  }

  /// When the network is lost, its connections are lost.
  private func stayConnected() throws(URLError) {
    if NetworkPassage(network.current, for: request) != .open {
      throw URLError(
        .networkConnectionLost, userInfo: [NSLocalizedDescriptionKey: "the device lost its network"])
    }
  }

  private func await<Reply: Sendable>(
    _ question: (@escaping @Sendable (Reply) -> Void) -> Void
  ) throws(URLError) -> Reply {
    let answer = exchange.ask(question)
    while true {
      try goOn()
      if let reply = answer.reply {
        (lastMove, lastLook) = (.now, .now)
        return reply
      }
      exchange.waitForChange(until: deadline)
    }
  }

  func goesOn() throws(URLError) -> Int32 {
    try hold()
    try stayConnected()
    let patience = request.timeoutInterval > 0 ? request.timeoutInterval : URLRequest.timeout
    let left = min(lastMove + .saturating(seconds: patience), deadline) - .now
    guard left > .zero else {
      throw URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: "the request timed out"])
    }
    let longest = suspensionLimit > 0 ? min(suspensionLimit * 1000, 1000) : 60_000
    return Int32(saturating: min(max((left / .milliseconds(1)).rounded(.up), 1), max(longest, 1)))
  }

  /// The kernel's clock goes on while the process is suspended. The system may take back a socket of a suspended process
  /// (documented: TN2277).
  func looked(after milliseconds: Int32) throws(URLError) {
    let late = lastLook.duration(to: .now) - .milliseconds(Int(milliseconds))
    lastLook = .now
    guard suspensionLimit > 0, late > .saturating(seconds: suspensionLimit) else { return }
    throw URLError(
      .networkConnectionLost, userInfo: [NSLocalizedDescriptionKey: "the process was suspended during the request"])
  }

  private var suspensionLimit: Double { exchange.connections.suspensionLimit }

  // MARK: Sending

  func mayRead(_ count: Int) throws(URLError) -> Int {
    lastMove = .now
    let piece = min(count, RateLimit.piece(at: network.current.rate))
    try hold(until: network.pass(piece))
    return piece
  }

  func sent(_ total: Int64) {
    guard total > sentBytes else { return }
    sentBytes = total
    observer.sent(total, of: bodyLength)
  }

  // MARK: Receiving

  func informed(_ head: ResponseHead) {
    guard let response = request.url.flatMap({ head.response(from: $0) }) else { return }
    observer.informed(by: response)
  }

  func received(_ head: ResponseHead) throws(URLError) {
    lastMove = .now
    guard let url = request.url, let response = head.response(from: url) else {
      throw URLError(.cannotParseResponse)
    }
    exchange.connections.store(head.cookies, from: url, for: request)
    if let (following, keepsBody) = request.following(head) {
      guard redirectCount < exchange.connections.redirectLimit else { throw URLError(.httpTooManyRedirects) }
      let answer = try self.await { observer.redirected(by: response, to: following, $0) }
      if let answer {
        redirectCount += 1
        (credentials, skipped) = (nil, 0)
        let former = keepsBody ? body : .none
        next = .request(answer, try InlineBody(of: answer, proposed: following, former: former))
        return
      }
    } else if let offer = OfferedAuthentication(head), try meets(offer, response, of: url) {
      skipped = 0
      next = .request(request, body)
      return
    }
    guard try self.await({ observer.answered(response, $0) }) else { throw URLError(.cancelled) }
  }

  func received(_ bytes: UnsafeRawBufferPointer) throws(URLError) {
    lastMove = .now
    guard case .nothing = next else {
      skipped += bytes.count
      if skipped > RequestRun.skipLimit { throw URLError(.cancelled) }
      return
    }
    try hold(until: network.pass(bytes.count))
    observer.received(Data(bytes))
    // It waits for an author who takes the data slowly.
    (lastMove, lastLook) = (.now, .now)
  }

  // MARK: Challenges

  /// Whether the delegate provided credentials for another request.
  private func meets(
    _ offer: OfferedAuthentication, _ response: HTTPURLResponse, of url: URL
  ) throws(URLError) -> Bool {
    let reply = try challenge(offer.method, url: url, realm: offer.realm, refusals: refusals, response: response)
    guard reply.disposition == .useCredential, let user = reply.user else { return false }
    refusals += 1
    credentials = Credentials(user: user, password: reply.password ?? "", isDigest: offer.isDigest)
    return true
  }

  /// Whether a server's certificate is accepted without verification. The delegate is called once per server.
  private func trusts(_ url: URL) throws(URLError) -> Bool {
    guard url.scheme?.lowercased() == "https" else { return false }
    let server = "\(url.host ?? ""):\(url.port ?? 443)"
    if let known = trust[server] { return known }
    let reply = try challenge(NSURLAuthenticationMethodServerTrust, url: url, realm: nil, refusals: 0, response: nil)
    let isTrusted = reply.disposition == .useCredential && reply.user == nil
    trust[server] = isTrusted
    return isTrusted
  }

  private func challenge(
    _ method: String, url: URL, realm: String?, refusals: Int, response: HTTPURLResponse?
  ) throws(URLError) -> AnswerChallenge.Reply {
    let scheme = url.scheme?.lowercased() ?? "http"
    let challenge = InlineChallenge(
      method: method, host: url.host ?? "", port: url.port ?? (scheme == "https" ? 443 : 80), scheme: scheme,
      realm: realm, previousFailures: refusals, response: response)
    let reply = try self.await { observer.challenged(challenge, $0) }
    guard reply.disposition != .cancelAuthenticationChallenge else { throw URLError(.cancelled) }
    return reply
  }
}

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

/// The body of a request, read in parts.
final class BodyReader {
  private enum Source {
    case data(Data)
    case file(FileHandle)
  }

  private let source: Source
  /// In bytes.
  let count: Int64
  /// Bytes that were read.
  private(set) var offset: Int64 = 0

  /// - Throws: `fileDoesNotExist` or `noPermissionsToReadFile`.
  init(_ body: InlineBody) throws(URLError) {
    switch body {
    case .none: (source, count) = (.data(Data()), 0)
    case .data(let data): (source, count) = (.data(data), Int64(data.count))
    case .file(let url):
      do {
        let handle = try FileHandle(forReadingFrom: url)
        count = Int64(try handle.seekToEnd())
        try handle.seek(toOffset: 0)
        source = .file(handle)
      } catch {
        let isThere = FileManager.default.fileExists(atPath: url.path)
        throw URLError(
          isThere ? .noPermissionsToReadFile : .fileDoesNotExist, userInfo: [NSURLErrorFailingURLErrorKey: url])
      }
    }
  }

  var isEmpty: Bool { count == 0 }

  /// Copies the next bytes into a buffer. Returns their number.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(URLError) -> Int {
    let wanted = Int(min(Int64(buffer.count), count - offset))
    guard wanted > 0 else { return 0 }
    switch source {
    case .data(let data):
      let start = data.startIndex + Int(offset)
      data.copyBytes(to: buffer, from: start..<start + wanted)
      offset += Int64(wanted)
      return wanted
    case .file(let handle):
      guard let piece = try? handle.read(upToCount: wanted), !piece.isEmpty else {
        throw URLError(.requestBodyStreamExhausted)
      }
      piece.copyBytes(to: buffer)
      offset += Int64(piece.count)
      return piece.count
    }
  }

  func seek(to offset: Int64) throws(URLError) {
    guard offset >= 0, offset <= count else { throw URLError(.requestBodyStreamExhausted) }
    if case .file(let handle) = source {
      do { try handle.seek(toOffset: UInt64(offset)) } catch { throw URLError(.requestBodyStreamExhausted) }
    }
    self.offset = offset
  }
}
