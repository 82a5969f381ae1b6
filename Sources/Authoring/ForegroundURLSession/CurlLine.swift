import CLazyCurl
import Foundation

/// libcurl's handle for one request after the other, which keeps the connections that they leave open.
///
/// One thread at a time uses it; `wake` is for all others.
final class CurlLine: Sendable {
  // Used by the thread of the request that has the line, and freed when nobody has it any more; waking is for any thread,
  // as curl_multi_wakeup is.
  nonisolated(unsafe) let curl: OpaquePointer

  /// - Throws: `resourceUnavailable` when libcurl is not there or has no memory.
  init() throws(URLError) {
    if let problem = CurlLine.problem {
      throw URLError(.resourceUnavailable, userInfo: [NSLocalizedDescriptionKey: problem])
    }
    guard let curl = lazy_curl_make() else {
      throw URLError(.resourceUnavailable, userInfo: [NSLocalizedDescriptionKey: "libcurl has no memory for a request"])
    }
    self.curl = curl
  }

  deinit { lazy_curl_free(curl) }

  /// Ends the wait of the thread that has the line, or its next one.
  func wake() { lazy_curl_wake(curl) }

  /// Why no request can be performed; loads libcurl when it is first asked for.
  static let problem: String? = lazy_curl_load().map { reason in
    """
    this process cannot perform its own requests, since libcurl is not there: \(String(cString: reason)). Install it \
    (apt-get install libcurl4; libcurl4t64 on Debian 13 and Ubuntu 24.04) and start the device again
    """
  }

  func set(_ option: lazy_curl_option, _ value: Int) { _ = lazy_curl_set_number(curl, option, value) }
  func set(_ option: lazy_curl_option, _ value: String?) { _ = lazy_curl_set_text(curl, option, value) }
}

/// The cookies of one session, or of all that share them.
final class CookieJar: Sendable {
  // Locks itself.
  nonisolated(unsafe) private let cookies: OpaquePointer?

  init() { cookies = CurlLine.problem == nil ? lazy_curl_cookies_make() : nil }

  deinit { if let cookies { lazy_curl_cookies_free(cookies) } }

  /// Puts cookies into the next request of a line, and keeps those of its responses.
  func serve(_ line: CurlLine) {
    _ = lazy_curl_set_cookies(line.curl, cookies)
    line.set(lazy_curl_cookie_file, "")
  }

  func clear() {
    guard let line = try? CurlLine() else { return }
    serve(line)
    line.set(lazy_curl_cookie_list, "ALL")
  }
}

extension URLError {
  /// What a `CURLcode` is to an author. The table of them with their sources is in Documentation/fidelity.md.
  init(curl code: Int32) {
    let code = Int(code)
    let name: URLError.Code =
      switch code {
      case 1, 8: .cannotParseResponse  // an answer that is no HTTP, or HTTP/0.9
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
    let message = words.map { String(cString: $0) } ?? "libcurl's error \(code)"
    self.init(name, userInfo: [NSLocalizedDescriptionKey: message])
  }
}
