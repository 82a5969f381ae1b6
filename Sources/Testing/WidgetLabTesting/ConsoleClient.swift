// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A browser of the console, reduced to sockets: each byte of a request can be chosen.
package struct ConsoleClient: Sendable {
  /// A response.
  package struct Answer: Sendable {
    package let status: Int
    /// By name in lower case.
    package let headers: [String: String]
    package let body: Data
    /// The head and the body as received.
    package let text: String

    /// The body as JSON.
    ///
    /// - Throws: when it is not a JSON object.
    package func json() throws -> [String: Any] {
      guard let object = try JSONSerialization.jsonObject(with: body) as? [String: Any] else {
        throw LabError("not a JSON object: \(text.prefix(400))")
      }
      return object
    }
  }

  package let port: UInt16
  package let token: String
  /// The cookie of the session; empty before `signIn`.
  package var cookie = ""
  /// The value of `Host`.
  package var host: String { "127.0.0.1:\(port)" }

  /// A client that has no session yet.
  package init(port: Int, token: String) {
    self.port = UInt16(port)
    self.token = token
  }

  /// A client with a session, from the link that a console printed.
  ///
  /// - Throws: `LabError` when the link has no port and token, or the console refuses it.
  package static func signedIn(link: String) async throws -> ConsoleClient {
    guard let parts = URLComponents(string: link), let port = parts.port, let fragment = parts.fragment,
      fragment.hasPrefix("token=")
    else { throw LabError("\(link) is not the link of a console") }
    var client = ConsoleClient(port: port, token: String(fragment.dropFirst("token=".count)))
    try await client.signIn()
    return client
  }

  /// Exchanges the token for a session.
  ///
  /// - Throws: `LabError` when the console refuses it.
  package mutating func signIn() async throws {
    let answer = try await post("/api/session", #"{"token":"\#(token)"}"#)
    guard answer.status == 204, let cookie = answer.headers["set-cookie"] else {
      throw LabError("the console gave no session: \(answer.text)")
    }
    self.cookie = String(cookie.prefix { $0 != ";" })
  }

  /// Reads an address.
  package func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
    try await send("GET", path, headers: headers)
  }

  /// Sends JSON as the page does. A header with an empty value is left out.
  package func post(_ path: String, _ json: String, headers: [String: String] = [:]) async throws -> Answer {
    let usual = ["Origin": "http://\(host)", "Content-Type": "application/json"]
    return try await send("POST", path, headers: usual.merging(headers) { $1 }, body: json)
  }

  /// Performs an action.
  package func act(_ arguments: [String]) async throws -> Answer {
    let body = try JSONSerialization.data(withJSONObject: ["arguments": arguments])
    return try await post("/api/actions", String(decoding: body, as: UTF8.self))
  }

  /// Sends a request on a new connection.
  package func send(
    _ method: String, _ path: String, headers: [String: String] = [:], body: String = ""
  ) async throws -> Answer {
    var fields = ["Host": host, "Connection": "close"]
    if !cookie.isEmpty { fields["Cookie"] = cookie }
    if method == "POST" { fields["Content-Length"] = "\(body.utf8.count)" }
    fields.merge(headers) { $1 }
    let lines = fields.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }
    return try await exchange("\(method) \(path) HTTP/1.1\r\n\(lines.joined())\r\n\(body)")
  }

  /// Sends any bytes, and reads until the console closes the connection.
  package func exchange(_ request: String) async throws -> Answer {
    let socket = try TestSocket(port: port)
    try socket.send(Array(request.utf8))
    var bytes: [UInt8] = []
    while true {
      let more = try await socket.receive()
      if more.isEmpty { return try Self.answer(bytes) }
      bytes += more
    }
  }

  private static func answer(_ bytes: [UInt8]) throws -> Answer {
    let data = Data(bytes)
    guard let end = data.range(of: Data("\r\n\r\n".utf8)) else {
      throw LabError("no response: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
    }
    let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw LabError("no status line: \(lines[0])")
    }
    let headers = lines.dropFirst().compactMap { line -> (String, String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (
        line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      )
    }
    return Answer(
      status: status, headers: Dictionary(headers) { first, _ in first }, body: Data(data[end.upperBound...]),
      text: String(decoding: bytes, as: UTF8.self))
  }

  /// Opens a stream of events.
  ///
  /// - Parameters:
  ///   - query: `rows=1`, or empty.
  ///   - last: the id after which it continues.
  /// - Throws: `LabError` when the response is not a stream.
  package func events(_ query: String = "", after last: UInt64? = nil) async throws -> ConsoleEvents {
    let socket = try TestSocket(port: port)
    let resumed = last.map { "Last-Event-ID: \($0)\r\n" } ?? ""
    let head = "GET /api/events?\(query) HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookie)\r\n\(resumed)\r\n"
    try socket.send(Array(head.utf8))
    let events = ConsoleEvents(socket)
    try await events.open()
    return events
  }
}

/// A stream of events. For one reader.
package final class ConsoleEvents {
  /// An event.
  package struct Event {
    package let name: String
    package let id: UInt64
    package let data: [String: Any]

    /// The sequence numbers of its rows.
    package var sequences: [UInt64] {
      (data["rows"] as? [[String: Any]] ?? []).compactMap { ($0["sequence"] as? NSNumber)?.uint64Value }
    }
    /// The kinds of its rows.
    package var kinds: [String] { (data["rows"] as? [[String: Any]] ?? []).compactMap { $0["kind"] as? String } }
    /// Its topics.
    package var topics: [String] { data["topics"] as? [String] ?? [] }
  }

  private let socket: TestSocket
  private var received: [UInt8] = []
  /// The content of the chunks, as far as it is not read.
  private var text = ""
  /// The id of the last event or comment.
  package private(set) var lastID: UInt64 = 0

  init(_ socket: TestSocket) { self.socket = socket }

  func open() async throws {
    while true {
      if let end = Data(received).range(of: Data("\r\n\r\n".utf8)) {
        let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 200 ") else { throw LabError(head) }
        received.removeFirst(end.upperBound)
        return
      }
      let more = try await socket.receive()
      guard !more.isEmpty else { throw LabError("the stream ended before its head") }
      received += more
    }
  }

  /// The next event; nil when the connection ended.
  package func next() async throws -> Event? {
    while let block = try await nextBlock() {
      if let event = event(block) { return event }
    }
    return nil
  }

  /// The lines of the next event or comment; nil when the connection ended.
  package func nextBlock() async throws -> String? {
    while true {
      if let end = text.range(of: "\n\n") {
        let block = String(text[..<end.lowerBound])
        text.removeSubrange(..<end.upperBound)
        return block
      }
      if takeChunk() { continue }
      let more: [UInt8]
      do {
        more = try await socket.receive()
      } catch {
        return nil
      }
      if more.isEmpty { return nil }
      received += more
    }
  }

  /// Returns when an event satisfies a condition.
  ///
  /// - Throws: `LabError` when the stream ends before.
  package func until(_ isMeant: (Event) -> Bool) async throws -> [Event] {
    var seen: [Event] = []
    while let event = try await next() {
      seen.append(event)
      if isMeant(event) { return seen }
    }
    throw LabError("the stream ended after \(seen.count) events")
  }

  /// Closes the connection.
  package func close() { socket.close() }

  private func takeChunk() -> Bool {
    guard let end = received.firstIndex(of: UInt8(ascii: "\r")), received.count > end + 1,
      let size = Int(String(decoding: received[..<end], as: UTF8.self), radix: 16), received.count >= end + 4 + size
    else { return false }
    text += String(decoding: received[(end + 2)..<(end + 2 + size)], as: UTF8.self)
    received.removeFirst(end + 4 + size)
    return true
  }

  private func event(_ block: String) -> Event? {
    var fields: [String: String] = [:]
    for line in block.split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { continue }
      fields[String(line[..<colon])] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    if let id = fields["id"].flatMap({ UInt64($0) }) { lastID = id }
    guard let data = fields["data"], let name = fields["event"],
      let object = try? JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]
    else { return nil }
    return Event(name: name, id: lastID, data: object)
  }
}
