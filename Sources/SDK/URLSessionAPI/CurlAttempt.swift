// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import CLazy
import Foundation
import Messages
import Synchronization

/// Receives the events of one request. All calls are made on the thread that performs it, and may block. A thrown error
/// ends the request.
protocol AttemptWatcher: AnyObject {
  /// The head of an interim response, such as 103.
  func informed(_ head: ResponseHead)
  /// The head of a final response.
  func received(_ head: ResponseHead) throws(URLError)
  func received(_ bytes: UnsafeRawBufferPointer) throws(URLError)
  /// Returns how many bytes of the body may be sent now, at most `count`.
  func mayRead(_ count: Int) throws(URLError) -> Int
  func sent(_ total: Int64)
  /// Returns the maximum number of milliseconds until the next call. Throws to end the request.
  func goesOn() throws(URLError) -> Int32
  /// A step, or a wait of at most this many milliseconds, is over. Throws to end the request.
  func looked(after milliseconds: Int32) throws(URLError)
}

/// Credentials for the server.
struct Credentials: Hashable {
  let user: String
  let password: String
  let isDigest: Bool
}

/// One HTTP request on a libcurl handle, and its response.
final class CurlAttempt {
  private let line: CurlLine
  private unowned let watcher: any AttemptWatcher
  private let body: BodyReader
  private var head = ResponseHead()
  private var stop: URLError?
  private var list: UnsafeMutableRawPointer?
  /// libcurl itself responds to the first 401 with the digest.
  private var answersDigest = false

  init(_ line: CurlLine, _ body: BodyReader, for watcher: any AttemptWatcher) {
    self.line = line
    self.body = body
    self.watcher = watcher
  }

  deinit { lazy_curl_list_free(list) }

  // MARK: Sending

  /// - Parameters:
  ///   - cookies: the value of `Cookie`, unless the request sets it.
  ///   - pieces: the maximum size in bytes of a part of the response.
  ///   - isTrusted: whether the server's certificate is accepted without verification.
  ///   - defaults: header fields, unless the request sets them.
  func prepare(
    _ request: URLRequest, to url: URL, as credentials: Credentials?, cookies: String?, pieces: Int, isTrusted: Bool,
    defaults: [[String]]
  ) {
    let method = request.httpMethod ?? "GET"
    lazy_curl_reset(line.curl)
    line.set(lazy_curl_url, url.absoluteString)
    line.set(lazy_curl_protocols, lazy_curl_http_and_https)
    line.set(lazy_curl_no_signal, 1)
    line.set(lazy_curl_path_as_is, 1)
    line.set(lazy_curl_suppress_connect_headers, 1)
    line.set(lazy_curl_buffer_size, pieces)
    if body.isEmpty { line.set(lazy_curl_http_get, 1) } else { line.set(lazy_curl_upload, 1) }
    if !body.isEmpty { _ = lazy_curl_set_size(line.curl, lazy_curl_body_size, body.count) }
    if method == "HEAD" { line.set(lazy_curl_no_body, 1) }
    line.set(lazy_curl_custom_request, method)
    // A range of a file, and content that the author decodes, is not decoded here.
    let isPlain =
      request.value(forHTTPHeaderField: "Range") != nil || request.value(forHTTPHeaderField: "Accept-Encoding") != nil
    if !isPlain { line.set(lazy_curl_accept_encoding, CurlLine.encodings(for: url)) }
    if isTrusted {
      line.set(lazy_curl_verify_peer, 0)
      line.set(lazy_curl_verify_host, 0)
    }
    if let credentials {
      line.set(lazy_curl_http_auth, credentials.isDigest ? lazy_curl_auth_digest : lazy_curl_auth_basic)
      line.set(lazy_curl_user, credentials.user)
      line.set(lazy_curl_password, credentials.password)
      answersDigest = credentials.isDigest
    }
    let defaults = defaults + (cookies.map { [["Cookie", $0]] } ?? [])
    for field in CurlAttempt.fields(of: request, method, hasBody: !body.isEmpty, defaults) {
      list = lazy_curl_list_append(list, field) ?? list
    }
    _ = lazy_curl_set_object(line.curl, lazy_curl_http_header, list)
  }

  /// The header fields in libcurl's format: `Name: value`, or `Name;` for an empty value.
  private static func fields(of request: URLRequest, _ method: String, hasBody: Bool, _ defaults: [[String]])
    -> [String]
  {
    var fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
      .filter { $0.key.lowercased() != "content-length" }
      .map { $0.value.isEmpty ? "\($0.key);" : "\($0.key): \($0.value)" }
    func lacks(_ name: String) -> Bool { request.value(forHTTPHeaderField: name) == nil }
    fields += defaults.filter { lacks($0[0]) }.map { "\($0[0]): \($0[1])" }
    if hasBody {
      if method == "POST", lacks("Content-Type") {
        fields.append("Content-Type: application/x-www-form-urlencoded")
      }
      if lacks("Expect") { fields.append("Expect:") }
    } else if ["POST", "PUT", "PATCH"].contains(method) {
      fields.append("Content-Length: 0")
    }
    return fields
  }

  // MARK: Performing

  /// Returns when the response is complete.
  func perform() throws(URLError) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    lazy_curl_set_functions(line.curl, context, takeHeader, takeBody, giveBody, seekBody)
    guard lazy_curl_begin(line.curl) == 0 else { throw URLError(.unknown) }
    defer { lazy_curl_end(line.curl) }
    var code: Int32 = 0
    while true {
      let step = withExtendedLifetime(self) { lazy_curl_step(line.curl, &code) }
      if let stop { throw stop }
      if step < 0 { throw URLError(.unknown) }
      try watcher.looked(after: 0)
      if step > 0 { break }
      let limit = try watcher.goesOn()
      lazy_curl_wait(line.curl, limit)
      try watcher.looked(after: limit)
    }
    guard code == 0 else { throw URLError(curl: code) }
    guard head.isComplete else { throw URLError(.badServerResponse) }
    if answersDigest, head.status == 401 { try watcher.received(head) }
  }

  /// Stores the error that ends the request, because errors cannot be thrown through libcurl's frames.
  private func guarded<Result>(_ work: () throws(URLError) -> Result, otherwise: Result) -> Result {
    guard stop == nil else { return otherwise }
    do throws(URLError) {
      return try work()
    } catch {
      stop = error
      return otherwise
    }
  }

  fileprivate func take(header line: UnsafeRawBufferPointer) -> Int {
    let wasComplete = head.isComplete
    head.add(String(decoding: line, as: UTF8.self))
    // Fields after the head are trailers.
    guard head.isComplete, !wasComplete else { return line.count }
    if (100..<200).contains(head.status) {
      watcher.informed(head)
      return line.count
    }
    if answersDigest, head.status == 401 { return line.count }
    answersDigest = false
    return guarded(
      { () throws(URLError) in
        // libcurl before 7.77 accepts a status below 100.
        guard head.status >= 200 else { throw URLError(.cannotParseResponse) }
        try watcher.received(head)
        return line.count
      }, otherwise: 0)
  }

  fileprivate func take(body bytes: UnsafeRawBufferPointer) -> Int {
    guarded(
      { () throws(URLError) in
        if answersDigest, head.status == 401 {
          answersDigest = false
          try watcher.received(head)
        }
        try watcher.received(bytes)
        return bytes.count
      }, otherwise: 0)
  }

  fileprivate func give(body buffer: UnsafeMutableRawBufferPointer) -> Int {
    guarded(
      { () throws(URLError) in
        let room = try watcher.mayRead(buffer.count)
        let count = try body.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(room, buffer.count)]))
        watcher.sent(body.offset)
        return count
      }, otherwise: Int(lazy_curl_read_abort))
  }

  fileprivate func seek(to offset: Int64) -> Int32 {
    guarded(
      { () throws(URLError) in
        try body.seek(to: offset)
        return 0
      }, otherwise: 1)
  }
}

private typealias Bytes = UnsafeMutablePointer<CChar>

private func attempt(_ context: UnsafeMutableRawPointer?) -> CurlAttempt? {
  context.map { Unmanaged<CurlAttempt>.fromOpaque($0).takeUnretainedValue() }
}

private func takeHeader(_ bytes: Bytes?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?) -> Int {
  attempt(context)?.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

private func takeBody(_ bytes: Bytes?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?) -> Int {
  attempt(context)?.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

private func giveBody(_ bytes: Bytes?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?) -> Int {
  attempt(context)?.give(body: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    ?? Int(lazy_curl_read_abort)
}

private func seekBody(_ context: UnsafeMutableRawPointer?, _ offset: Int64, _ origin: Int32) -> Int32 {
  origin == SEEK_SET ? attempt(context)?.seek(to: offset) ?? 1 : 1
}

/// A libcurl handle for sequential requests. It keeps the connections that they leave open.
///
/// Used by one thread at a time, except `wake`.
final class CurlLine: Sendable {
  // Used by the thread of the current request, and freed with the last reference. `wake` is safe on any thread, as
  // curl_multi_wakeup is.
  nonisolated(unsafe) let curl: OpaquePointer

  /// - Throws: `resourceUnavailable` when libcurl is missing or out of memory.
  init() throws(URLError) {
    if let problem = CurlLine.problem {
      throw URLError(.resourceUnavailable, userInfo: [NSLocalizedDescriptionKey: problem])
    }
    guard let curl = lazy_curl_make() else {
      throw URLError(.resourceUnavailable, userInfo: [NSLocalizedDescriptionKey: "libcurl is out of memory"])
    }
    self.curl = curl
  }

  deinit { lazy_curl_free(curl) }

  /// Ends the current or the next wait of the thread that uses the handle.
  func wake() { lazy_curl_wake(curl) }

  /// Why no request can be performed. Loads libcurl on first use.
  static let problem: String? = lazy_curl_load().map { reason in
    """
    this process cannot perform its own requests, because libcurl is missing: \(String(cString: reason)). Install it \
    (apt-get install libcurl4; libcurl4t64 on Debian 13 and Ubuntu 24.04) and start the device again
    """
  }

  private static let readsBrotli = lazy_curl_reads_brotli() != 0

  /// The value of `Accept-Encoding`: that of CFNetwork, without Brotli if this libcurl does not have it. An answer in
  /// another coding of libcurl is decoded too. Requires that libcurl is loaded.
  static func encodings(for url: URL) -> String {
    url.scheme?.lowercased() == "https" && readsBrotli ? "gzip, deflate, br" : "gzip, deflate"
  }

  func set(_ option: lazy_curl_option, _ value: Int) { _ = lazy_curl_set_number(curl, option, value) }
  func set(_ option: lazy_curl_option, _ value: String?) { _ = lazy_curl_set_text(curl, option, value) }
}

extension URLError {
  /// Converts a `CURLcode` to the author's error. Sources: Documentation/fidelity/inline-requests.md.
  init(curl code: Int32) {
    let code = Int(code)
    let name: URLError.Code =
      switch code {
      case 1, 8: .cannotParseResponse  // the response is not HTTP, or is HTTP/0.9
      case 3: .badURL
      case 5, 6: .cannotFindHost
      case 7: .cannotConnectToHost
      case 16, 18, 52, 55, 56, 92: .networkConnectionLost
      case 28: .timedOut
      case 35, 58, 59, 77: .secureConnectionFailed
      case 60: .serverCertificateUntrusted
      case 61: .cannotDecodeContentData
      case 65: .requestBodyStreamExhausted
      default: .unknown
      }
    let words = CurlLine.problem == nil ? lazy_curl_message(Int32(code)) : nil
    let message = words.map { String(cString: $0) } ?? "libcurl error \(code)"
    self.init(name, userInfo: [NSLocalizedDescriptionKey: message])
  }
}

/// One inline request, performed by a separate thread.
final class CurlExchange: InlineExchange {
  private struct State {
    var hasBegun = false
    var isHeld = false
    var isCancelled = false
    var line: CurlLine?
  }

  /// Requests with the same value share a limit of concurrent requests.
  let place: String
  let request: URLRequest
  let body: InlineBody
  let observer: any InlineObserver
  let connections: CurlConnections
  private let state = Mutex(State())
  /// Signalled after every change that the thread may wait for.
  private let bell = MonotonicSemaphore()

  init(
    _ request: URLRequest, body: InlineBody, observer: any InlineObserver, on connections: CurlConnections
  ) {
    self.request = request
    self.body = body
    self.observer = observer
    self.connections = connections
    place = "\(request.url?.scheme ?? "")://\(request.url?.host ?? ""):\(request.url?.port ?? 0)"
  }

  // MARK: Any thread

  func resume() {
    let begins = state.withLock { state in
      state.isHeld = false
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if begins { connections.enqueue(self) } else { ring() }
  }

  func suspend() {
    state.withLock { $0.isHeld = true }
    ring()
  }

  func cancel() {
    let begins = state.withLock { state in
      state.isCancelled = true
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if begins { perform(inPlace: false) } else { connections.hurry(self) }
    ring()
  }

  func ring() {
    bell.signal()
    state.withLock { $0.line }?.wake()
  }

  /// - Parameter inPlace: whether it counts towards the limit of its host.
  func perform(inPlace: Bool) {
    let thread = Thread { [self] in
      let network = connections.network
      network.watch(self) { [weak self] in self?.ring() }
      let run = RequestRun(self)
      let failure = run.run()?.described(host: request.url?.host)
      network.forget(self)
      if inPlace { connections.left(place) }
      observer.ended(failure, run.metrics)
    }
    thread.name = "URLSession"
    thread.start()
  }

  // MARK: The performing thread

  var isHeld: Bool { state.withLock { $0.isHeld } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// The handle to wake after a change.
  func has(_ line: CurlLine?) { state.withLock { $0.line = line } }

  /// Waits for a change, at most until `end`.
  func waitForChange(until end: ContinuousClock.Instant) {
    bell.wait(seconds: (end - .now) / .seconds(1))
  }

  /// Sends a question. The reply arrives with a change.
  func ask<Reply: Sendable>(_ question: (@escaping @Sendable (Reply) -> Void) -> Void) -> ExchangeResult<Reply> {
    let answer = ExchangeResult<Reply>()
    question { [bell] reply in
      answer.give(reply)
      bell.signal()
    }
    return answer
  }
}

/// A reply from another thread.
final class ExchangeResult<Reply: Sendable>: Sendable {
  private let state = Mutex<Reply?>(nil)

  var reply: Reply? { state.withLock { $0 } }
  func give(_ reply: Reply) { state.withLock { $0 = reply } }
}
