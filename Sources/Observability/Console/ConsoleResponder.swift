// SPDX-License-Identifier: Apache-2.0

import CConsolePage
import Crypto
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ShownText

/// The connection of a request, in addition to what Hummingbird needs.
struct ConsoleContext: InitializableFromSource {
  let channel: any Channel

  init(source: ApplicationRequestContextSource) { channel = source.channel }
}

/// Answers each request: first its right to be answered, then its content.
struct ConsoleResponder: HTTPResponder {
  let server: ConsoleServer
  let streams: StreamRegister
  let hosts: SharedHosts

  /// Of the body of a POST.
  private static let bodyLimit = 64 * 1024

  func respond(to request: Request, context: ConsoleContext) async throws -> Response {
    var response: Response
    do {
      response = try await answer(request, context)
    } catch let error as ConsoleError {
      response = Response(error)
    } catch {
      response = Response(ConsoleError(500, "the console failed: \(error)", advice: "reload the page"))
    }
    for (name, value) in Self.headers where response.headers[name] == nil { response.headers[name] = value }
    // RFC 9110, section 9.3.2
    return request.method == .head ? response.createHeadResponse() : response
  }

  /// The headers of all responses.
  private static let headers: [(HeaderName, String)] = [
    (
      .contentSecurityPolicy,
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    (.referrerPolicy, "no-referrer"), (.xContentTypeOptions, "nosniff"), (.cacheControl, "no-store"),
    (.crossOriginResourcePolicy, "same-origin"), (.crossOriginOpenerPolicy, "same-origin"),
  ]

  private func answer(_ request: Request, _ context: ConsoleContext) async throws -> Response {
    // A second Host header would be among the fields.
    guard let host = request.head.authority, hosts.allows(host), request.headers[.host] == nil else {
      throw ConsoleError(
        421, "this console does not have the name that the request uses",
        advice: "open the link that `widgetlab console` printed; --allow-host NAME permits another name")
    }
    let path = request.uri.path
    switch request.method {
    case .head where !path.hasPrefix("/api/"): return try file(path, request)
    case .get:
      guard path.hasPrefix("/api/") else { return try file(path, request) }
      if path == "/api/health" { return try Response(json: ["status": "ok"]) }
      try checkSession(request)
      return try await read(path, request, context)
    case .post:
      try checkOrigin(request, host)
      return try await post(path, request)
    default:
      throw ConsoleError(405, "the method \(request.method.rawValue) has no meaning here", advice: "use GET or POST")
    }
  }

  private func checkSession(_ request: Request) throws {
    guard server.settings.token.isSession(request.headers[values: .cookie]) else {
      throw ConsoleError(
        401, "this browser has no session of this console",
        advice: "open the link that `widgetlab console` printed, with its token")
    }
  }

  /// A page of another site can send a POST, but only with its own origin.
  private func checkOrigin(_ request: Request, _ host: String) throws {
    guard let origin = request.headers[.origin]?.lowercased(),
      ["http://\(host.lowercased())", "https://\(host.lowercased())"].contains(origin)
    else {
      throw ConsoleError(403, "the request does not come from a page of this console", advice: "use the page")
    }
    let type = request.headers[.contentType]?.split(separator: ";").first.map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard type?.lowercased() == "application/json" else {
      throw ConsoleError(403, "the body of a request must be application/json")
    }
  }

  // MARK: Files

  private static let pages = ["screen", "processes", "traces", "bus", "budget", "pushes"]

  private func file(_ path: String, _ request: Request) throws -> Response {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    let name: String
    if path == "/" || Self.pages.contains(parts.first ?? ""), parts.count <= 2 {
      name = "index.html"
    } else if parts.count == 2, parts[0] == "assets" {
      name = parts[1]
    } else {
      throw ConsoleError(404, "there is no page \(path.start(bytes: 200))")
    }
    guard let file = ConsoleFile.all[name] else {
      throw ConsoleError(404, "there is no file \(path.start(bytes: 200))")
    }
    let headers: HTTPFields = [.contentType: file.type, .eTag: file.tag, .cacheControl: "no-cache"]
    if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: headers) }
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
  }

  // MARK: Posts

  private func post(_ path: String, _ request: Request) async throws -> Response {
    switch path {
    case "/api/session":
      struct Sent: Decodable { let token: String }
      let sent = try await body(Sent.self, of: request)
      let token = server.settings.token
      guard token.matches(sent.token) else {
        throw ConsoleError(
          401, "the token of the link is not that of this console", advice: "open the link that it printed last")
      }
      let cookie = "\(token.cookieName)=\(token.cookie); HttpOnly; SameSite=Strict; Path=/"
      return Response(status: .noContent, headers: [.setCookie: cookie])
    case "/api/actions":
      try checkSession(request)
      struct Sent: Decodable { let arguments: [String] }
      let sent = try await body(Sent.self, of: request)
      guard let cluster = server.cluster, server.facts.readOnlyReason == nil else {
        let reason = server.facts.readOnlyReason ?? "no cluster is connected"
        throw ConsoleError(409, "this console performs no actions: \(reason)", advice: "start one with `widgetlab up`")
      }
      return try Response(json: try await cluster.perform(sent.arguments))
    default: throw ConsoleError(404, "there is nothing at \(path.start(bytes: 200))")
    }
  }

  private func body<T: Decodable & Sendable>(_ type: T.Type, of request: Request) async throws -> T {
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > Self.bodyLimit {
      throw ConsoleError(413, "the body has more than \(Self.bodyLimit) bytes")
    }
    let limit = server.settings.bodyLimit
    let bytes = try await withThrowingTaskGroup(of: ByteBuffer.self) { group in
      group.addTask {
        do {
          return try await request.body.collect(upTo: Self.bodyLimit)
        } catch is NIOTooManyBytesError {
          throw ConsoleError(413, "the body has more than \(Self.bodyLimit) bytes")
        }
      }
      group.addTask {
        try await Task.sleep(for: limit)
        throw ConsoleError(408, "the body did not arrive within \(limit)")
      }
      defer { group.cancelAll() }
      guard let bytes = try await group.next() else { throw CancellationError() }
      return bytes
    }
    do {
      return try JSONDecoder().decode(type, from: Data(bytes.readableBytesView))
    } catch {
      throw ConsoleError(400, "the body is not the JSON that this address takes")
    }
  }
}

/// The name of a header.
typealias HeaderName = HTTPFields.Element.Name

extension HeaderName {
  fileprivate static let host = HeaderName("Host") ?? .connection
  fileprivate static let referrerPolicy = HeaderName("Referrer-Policy") ?? .connection
  fileprivate static let crossOriginOpenerPolicy = HeaderName("Cross-Origin-Opener-Policy") ?? .connection
  /// Where a stream of events continues.
  static let lastEventID = HeaderName("Last-Event-ID") ?? .connection
}

extension Response {
  /// A value as JSON.
  init(json value: some Encodable, status: HTTPResponse.Status = .ok) throws {
    self.init(
      status: status, headers: [.contentType: "application/json; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try ConsoleJSON.bytes(value))))
  }

  init(_ error: ConsoleError) {
    let body = (try? ConsoleJSON.bytes(["error": error])) ?? []
    self.init(
      status: HTTPResponse.Status(code: error.status), headers: [.contentType: "application/json; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}

/// A file of the page.
struct ConsoleFile {
  let bytes: [UInt8]
  let type: String
  /// Its hash.
  let tag: String

  /// By name.
  static let all: [String: ConsoleFile] = {
    var all: [String: ConsoleFile] = [:]
    while let pointer = console_file_at(all.count) {
      let (name, file) = file(pointer.pointee)
      all[name] = file
    }
    return all
  }()

  private static func file(_ file: console_file) -> (String, ConsoleFile) {
    let name = String(cString: file.name)
    let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.length))
    let types = [
      "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
      "svg": "image/svg+xml",
    ]
    let type = types[name.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
    let hash = SHA256.hash(data: bytes).prefix(16).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    return (name, ConsoleFile(bytes: bytes, type: type, tag: "\"\(hash)\""))
  }
}
