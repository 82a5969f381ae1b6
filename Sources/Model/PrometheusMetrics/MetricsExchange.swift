// SPDX-License-Identifier: Apache-2.0

/// One request over HTTP/1.1 and its response. Decides; the server reads and writes.
///
/// A connection has one request. Source: RFC 9112; a response with `Connection: close` is permitted for each.
struct MetricsExchange {
  /// The longest head of a request, bytes.
  static let headLimit = 8_192

  private var head: [UInt8] = []

  /// Takes received bytes.
  ///
  /// - Parameter page: creates the page; called at most once.
  /// - Returns: the response when the head of the request is complete; `nil` to continue reading.
  mutating func receive(_ bytes: some Sequence<UInt8>, page: () -> String) -> [UInt8]? {
    head += bytes
    guard let end = Self.endOfHead(head) else {
      return head.count > Self.headLimit ? Self.response(431, "Request Header Fields Too Large", "") : nil
    }
    let text = String(decoding: head[..<end], as: UTF8.self)
    // CR LF is one character.
    let first = text.split(whereSeparator: \.isNewline).first ?? ""
    let words = first.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return Self.response(400, "Bad Request", "") }
    let isHead = words[0] == "HEAD"
    let path = words[1].split(separator: "?", omittingEmptySubsequences: false).first ?? ""
    guard path == "/metrics" else {
      return Self.response(404, "Not Found", "The metrics are at /metrics.\n", hasBody: !isHead)
    }
    switch words[0] {
    case "GET", "HEAD": return Self.response(200, "OK", page(), MetricText.contentType, hasBody: !isHead)
    default: return Self.response(405, "Method Not Allowed", "", "text/plain", allow: "GET, HEAD")
    }
  }

  /// The number of bytes up to the empty line.
  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    let line = UInt8(ascii: "\n")
    var start = 0
    for index in bytes.indices where bytes[index] == line {
      let length = index - start
      if length == 0 || (length == 1 && bytes[start] == UInt8(ascii: "\r")) { return start }
      start = index + 1
    }
    return nil
  }

  private static func response(
    _ status: Int, _ phrase: String, _ body: String, _ type: String = "text/plain; charset=utf-8", allow: String? = nil,
    hasBody: Bool = true
  ) -> [UInt8] {
    let allowed = allow.map { "Allow: \($0)\r\n" } ?? ""
    let head =
      "HTTP/1.1 \(status) \(phrase)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
      + "\(allowed)Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    return Array((hasBody ? head + body : head).utf8)
  }
}
