// SPDX-License-Identifier: Apache-2.0

import CLazyCurl
import Foundation

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
