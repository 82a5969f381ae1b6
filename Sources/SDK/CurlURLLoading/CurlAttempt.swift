// SPDX-License-Identifier: Apache-2.0

import CLazyCurl
import Foundation
import URLSessionAPI

/// Receives the events of one request. All calls are made on the thread that performs it, and may block. A thrown error
/// ends the request.
protocol AttemptWatcher: AnyObject {
  /// The head of a final response.
  func received(_ head: ResponseHead) throws(URLError)
  func received(_ bytes: UnsafeRawBufferPointer) throws(URLError)
  /// Returns how many bytes of the body may be sent now, at most `count`.
  func mayRead(_ count: Int) throws(URLError) -> Int
  func sent(_ total: Int64)
  /// Returns the maximum number of milliseconds until the next call. Throws to end the request.
  func goesOn() throws(URLError) -> Int32
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
    if !isPlain { line.set(lazy_curl_accept_encoding, "") }
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
      if step > 0 { break }
      lazy_curl_wait(line.curl, try watcher.goesOn())
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
    guard head.isComplete, !wasComplete, !(100..<200).contains(head.status) else { return line.count }
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
