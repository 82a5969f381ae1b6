// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Messages

/// Makes a non-final class `Sendable`, checked by the compiler: its instances are immutable and every member is
/// nonisolated. No code runs on this actor.
@globalActor public actor ConstantAfterInit {
  /// Required by `@globalActor`.
  public static let shared = ConstantAfterInit()
}

/// The response to a request for a URL. Source: `Foundation.URLResponse`.
@ConstantAfterInit open class URLResponse: NSObject {
  /// The URL of the response, after redirections.
  public nonisolated let url: URL?
  /// The content type of the response, without its parameters.
  public nonisolated let mimeType: String?
  /// In bytes; -1 when unknown.
  public nonisolated let expectedContentLength: Int64
  /// The character set of the response.
  public nonisolated let textEncodingName: String?

  /// A response of any URL scheme.
  public nonisolated init(
    url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?
  ) {
    self.url = url
    self.mimeType = mimeType
    self.expectedContentLength = Int64(length)
    self.textEncodingName = name
  }
}

extension URLResponse {
  /// A file name for the body: the one that the server sent, or else the last path component of the URL.
  public nonisolated var suggestedFilename: String? {
    let disposition = (self as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Disposition") ?? ""
    let named = disposition.split(separator: ";").lazy.map { $0.trimmingCharacters(in: .whitespaces) }
      .first { $0.lowercased().hasPrefix("filename=") }
    if let name = named?.dropFirst("filename=".count).trimmingCharacters(in: ["\""]), !name.isEmpty {
      return String(name.split(separator: "/").last ?? "Unknown")
    }
    guard let last = url?.lastPathComponent, !last.isEmpty, last != "/" else { return "Unknown" }
    return last
  }
}

/// The response to an HTTP request. Source: `Foundation.HTTPURLResponse`.
@ConstantAfterInit open class HTTPURLResponse: URLResponse {
  public nonisolated let statusCode: Int
  private nonisolated let fields: [String: String]

  /// A response with these header fields. `httpVersion` is ignored, as on Apple's systems.
  public nonisolated init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?)
  {
    let fields = Dictionary((headerFields ?? [:]).map { (HTTPURLResponse.capitalized($0.key), $0.value) }) {
      "\($0), \($1)"
    }
    self.statusCode = statusCode
    self.fields = fields
    let type = HTTPURLResponse.value(of: "content-type", in: fields)
    let parts = (type ?? "").split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    let charset = parts.dropFirst().first { $0.lowercased().hasPrefix("charset=") }?.dropFirst("charset=".count)
    super.init(
      url: url, mimeType: parts.first,
      expectedContentLength: HTTPURLResponse.value(of: "content-length", in: fields).flatMap { Int($0) } ?? -1,
      textEncodingName: charset.map(String.init))
  }

  /// Capitalizes lower-case HTTP/2 header names: `content-type` becomes `Content-Type`, `etag` becomes `Etag`.
  private static nonisolated func capitalized(_ name: String) -> String {
    guard name == name.lowercased() else { return name }
    return name.split(separator: "-", omittingEmptySubsequences: false).map(\.capitalized).joined(separator: "-")
  }

  public nonisolated var allHeaderFields: [AnyHashable: Any] { fields }

  /// The value of a header field. The name is case-insensitive.
  public nonisolated func value(forHTTPHeaderField field: String) -> String? {
    HTTPURLResponse.value(of: field, in: fields)
  }

  private static nonisolated func value(of name: String, in fields: [String: String]) -> String? {
    fields.first { $0.key.lowercased() == name.lowercased() }?.value
  }

  /// A response that the host stored.
  nonisolated convenience init?(_ transfer: TransferResponse) {
    guard let url = URL(string: transfer.url) else { return nil }
    let pairs = transfer.headers.filter { $0.count == 2 }.map { ($0[0], $0[1]) }
    let fields = Dictionary(pairs) { "\($0), \($1)" }
    self.init(url: url, statusCode: transfer.status, httpVersion: nil, headerFields: fields)
  }

  /// The English description of a status code.
  public nonisolated class func localizedString(forStatusCode statusCode: Int) -> String {
    phrases[statusCode] ?? classes[statusCode / 100] ?? "server error"
  }

  private nonisolated static let classes = [
    1: "informational", 2: "success", 3: "redirected", 4: "client error", 5: "server error",
  ]

  private nonisolated static let phrases = [
    100: "continue", 101: "switching protocols", 200: "no error", 201: "created", 202: "accepted",
    203: "non-authoritative information", 204: "no content", 205: "reset content", 206: "partial content",
    300: "multiple choices", 301: "moved permanently", 302: "found", 303: "see other", 304: "not modified",
    305: "needs proxy", 307: "temporarily redirected", 400: "bad request", 401: "unauthorized",
    402: "payment required", 403: "forbidden", 404: "not found", 405: "method not allowed", 406: "unacceptable",
    407: "proxy authentication required", 408: "request timed out", 409: "conflict", 410: "no longer exists",
    411: "length required", 412: "precondition failed", 413: "request too large", 414: "requested URL too long",
    415: "unsupported media type", 416: "requested range not satisfiable", 417: "expectation failed",
    500: "internal server error", 501: "unimplemented", 502: "bad gateway", 503: "service unavailable",
    504: "gateway timed out", 505: "unsupported version",
  ]
}
