// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import HTTPRules
import Messages
import URLSessionAPI

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
    lastMove = .now
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
      lastMove = .now
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
        lastMove = .now
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
    return Int32(saturating: min(max((left / .milliseconds(1)).rounded(.up), 1), 60_000))
  }

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
        next = .request(answer, keepsBody ? body : .none)
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
    lastMove = .now
  }

  // MARK: Challenges

  /// Whether the delegate provided credentials for another request.
  private func meets(
    _ offer: OfferedAuthentication, _ response: HTTPURLResponse, of url: URL
  ) throws(URLError) -> Bool {
    let reply = try challenge(offer.method, url, realm: offer.realm, refusals: refusals, response)
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
    let reply = try challenge(NSURLAuthenticationMethodServerTrust, url, realm: nil, refusals: 0, nil)
    let isTrusted = reply.disposition == .useCredential && reply.user == nil
    trust[server] = isTrusted
    return isTrusted
  }

  private func challenge(
    _ method: String, _ url: URL, realm: String?, refusals: Int, _ response: HTTPURLResponse?
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
