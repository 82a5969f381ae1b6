// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import NIOCore
import NIOHTTP1

@testable import AsyncHTTPClient
@testable import Device
@testable import DeviceRules

/// The laws that hold for any request of an author and any bytes of a server. The tests check the corpus against them,
/// and `scripts/fuzz` a million more inputs.
///
/// The first byte of an input has options (`ExchangeClient.Options`). A request follows, if it has one (`request`), and
/// the rest are what the server sends.
enum ExchangeLaws {
  /// The law that the bytes break, or `nil`. The fuzzer finds traps, among them those of the HTTP library.
  static func broken(by bytes: [UInt8]) -> String? {
    guard let first = bytes.first else { return nil }
    let options = ExchangeClient.Options(first)
    var rest = bytes.dropFirst()
    let request = options.hasRequest ? request(&rest) : TransferRequest(url: "http://localhost/a/b")
    var whole = ExchangeClient(options)
    if let law = whole.run(request, rest, parts: max(rest.count, 1)) { return law }
    // Where TCP cuts the bytes has no effect on a complete response. Of the others, every fourth is cut too: for traps.
    guard let one = whole.first, one.hasEnded || first & 0x03 == 0 else { return nil }
    var cut = ExchangeClient(options)
    if let law = cut.run(request, rest, parts: max(1 + Int(first) % 23, rest.count / 8)) { return law }
    guard let other = cut.first, one.hasEnded else { return nil }
    return one == other ? nil : "the response depends on where the bytes are cut"
  }

  /// Reads lines up to the first zero byte: the URL, the method, and header fields.
  private static func request(_ rest: inout ArraySlice<UInt8>) -> TransferRequest {
    let end = rest.firstIndex(of: 0) ?? rest.endIndex
    let text = String(decoding: rest[..<end], as: UTF8.self)
    rest = rest[end...].dropFirst()
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let fields = lines.dropFirst(2).map { line in
      let name = line.prefix { $0 != ":" }
      return [String(name), String(line.dropFirst(name.count + 1))]
    }
    return TransferRequest(url: lines[0], method: lines.count > 1 ? lines[1] : "GET", headers: fields)
  }
}

/// A transfer attempt on embedded connections: the code of the device and of the HTTP library, without sockets.
struct ExchangeClient {
  /// The first byte of an input.
  struct Options {
    /// The input has a request; otherwise it is a GET.
    let hasRequest: Bool
    /// The request has a body; its second half is sent after the first bytes of the response.
    let hasBody: Bool
    /// The connection ends after the bytes; otherwise the attempt is cancelled then.
    let ends: Bool
    /// The part file has bytes of an earlier attempt.
    let resumes: Bool
    /// More of the body is requested after every second part only.
    let isSlow: Bool

    init(_ byte: UInt8) {
      (hasRequest, hasBody, ends) = (byte & 0x80 != 0, byte & 0x40 != 0, byte & 0x20 == 0)
      (resumes, isSlow) = (byte & 0x10 != 0, byte & 0x08 != 0)
    }
  }

  /// What the first request led to.
  struct Outcome: Equatable {
    var status: Int?
    var body: [UInt8] = []
    var hasEnded = false
  }

  private let options: Options
  private(set) var first: Outcome?
  private var connection: EmbeddedConnection?

  init(_ options: Options) { self.options = options }

  /// Receives the bytes in parts of a length; returns the law that is broken.
  mutating func run(_ request: TransferRequest, _ bytes: ArraySlice<UInt8>, parts: Int) -> String? {
    defer { connection?.close() }
    let part =
      options.resumes
      ? StoredPart(bytes: 5, validator: "\"a\"", expectedLength: 10)
      : StoredPart(bytes: 0, validator: nil, expectedLength: -1)
    do throws(TransferFault) {
      var exchange = try HTTPExchange(
        request, SessionConfiguration(), rangeHeaders: part.rangeHeaders, isUpload: options.hasBody)
      var rest = ByteBuffer(bytes: bytes)
      var cookies: [Cookie] = []
      while true {
        let url = exchange.url
        let load = try start(exchange, Cookie.header(cookies, for: url, at: .distantPast))
        guard let load else { return "the HTTP library refuses a request that was checked" }
        receive(&rest, by: load, parts)
        let outcome = load.outcome
        if first == nil {
          first = Outcome(
            status: outcome.head.map { Int($0.status.code) }, body: outcome.body, hasEnded: outcome.hasEnded)
        }
        if let error = outcome.error { return brokenByFailure(TransferFault(error)) }
        guard let head = outcome.head, outcome.hasEnded else { return nil }
        cookies += head.headers["Set-Cookie"].compactMap { Cookie($0, from: url, now: .distantPast) }
        guard let goesOn = try follow(head, &exchange) else {
          return try brokenBy(head, body: outcome.body, exchange: exchange, part: part)
        }
        guard goesOn else { return nil }
      }
    } catch {
      return brokenByFailure(error)
    }
  }

  /// Sends the request on the connection, or on a new one if that has closed.
  private mutating func start(_ exchange: HTTPExchange, _ cookie: String?) throws(TransferFault) -> EmbeddedLoad? {
    var outgoing = try exchange.outgoing(cookie: cookie)
    if exchange.sendsBody { outgoing.body = .bytes(ByteBuffer(string: "body")) }
    guard let prepared = try? HTTPClientRequest.Prepared(outgoing) else { return nil }
    if connection?.isOpen != true {
      connection?.close()
      connection = try? EmbeddedConnection()
    }
    let load = EmbeddedLoad(prepared, exchange.sendsBody ? ["bo", "dy"] : [])
    connection?.send(load)
    return load
  }

  private func receive(_ rest: inout ByteBuffer, by load: EmbeddedLoad, _ parts: Int) {
    var count = 0
    while !load.outcome.isOver, let part = rest.readSlice(length: min(parts, rest.readableBytes)),
      part.readableBytes > 0
    {
      connection?.receive(part)
      count += 1
      if !options.isSlow || count % 2 == 0 { load.demand() }
      load.writeBody()
    }
    load.demand()
    guard !load.outcome.isOver else { return }
    if options.ends { connection?.close() } else { load.cancel() }
  }

  /// - Returns: `nil` when the response is final, `false` when nothing follows.
  private func follow(_ head: HTTPResponseHead, _ exchange: inout HTTPExchange) throws(TransferFault) -> Bool? {
    if try exchange.redirect(Int(head.status.code), to: head.headers.first(name: "Location"), limit: 4) { return true }
    guard head.status.code == 401, let offer = AuthenticationOffer(head.headers["WWW-Authenticate"]) else { return nil }
    let challenge = exchange.challenge(offer)
    guard challenge.previousFailures < 2 else { return false }
    exchange.authorise(offer, user: "user", password: "secret")
    return true
  }

  private func brokenByFailure(_ fault: TransferFault) -> String? {
    if fault.failure.code == URLError.unknown.rawValue, fault.next != .never { return "an error has no code: \(fault)" }
    return nil
  }

  /// Checks a complete response as `TransferAttempt` handles it.
  private func brokenBy(
    _ head: HTTPResponseHead, body: [UInt8], exchange: HTTPExchange, part: StoredPart
  ) throws(TransferFault) -> String? {
    let storedPart = exchange.head(Int(head.status.code), head.headers)
    guard (200...999).contains(storedPart.status) else { return "the status \(storedPart.status) is a response" }
    guard storedPart.expectedLength >= -1 else { return "a length is negative" }
    let codings = ContentCodings(head.headers)
    let isWhole = codings.layers > 0 || exchange.hasNoBody(storedPart.status) || storedPart.expectedLength < 0
    if exchange.hasNoBody(storedPart.status), !body.isEmpty { return "a response without a body has one" }
    if case .append = ResponseVerdict(status: storedPart.status, headers: head.headers, part: part),
      storedPart.status != 206
    {
      return "the status \(storedPart.status) continues a file"
    }
    if !isWhole, Int64(body.count) != storedPart.expectedLength { return "a complete body has another length" }
    return try brokenByDecoding(body, codings)
  }

  private func brokenByDecoding(_ body: [UInt8], _ codings: ContentCodings) throws(TransferFault) -> String? {
    var decoder = try ContentDecoder(codings)
    var (rest, count, bound) = (ByteBuffer(bytes: body), 0, body.count)
    // The format packs 1032 bytes into one at most.
    for _ in 0..<codings.layers { bound = min(bound * 1032, 1 << 40) }
    while let piece = rest.readSlice(length: min(97, rest.readableBytes)), piece.readableBytes > 0 {
      decoder.add(piece)
      while let decoded = try decoder.next() {
        count += decoded.readableBytes
        guard decoded.readableBytes > 0, decoded.readableBytes <= ContentDecoder.pieceLimit else {
          return "a piece of a decoded body has \(decoded.readableBytes) bytes"
        }
        // Enough of it was seen: a full piece, and one after it.
        if count > ContentDecoder.pieceLimit { return nil }
      }
    }
    try decoder.finish()
    return count <= bound && (codings.layers > 0 || count == body.count) ? nil : "a decoded body has \(count) bytes"
  }
}
