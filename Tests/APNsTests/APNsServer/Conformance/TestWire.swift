// SPDX-License-Identifier: Apache-2.0

import APNs
import Foundation
import NIOCore
import NIOHPACK

@testable import APNsServer

/// A connection over TLS to its own server, for tests of single frames.
///
/// The path of a request selects its response: `/refused` is 400 with a body of `TestWire.refusal`, `/long` is 500 with
/// a body of 40,000 bytes, `/held` waits for `release()`, after `/last` the connection ends with its open streams,
/// `/left` ends it at once; any other is 200.
final class TestWire {
  static let refusal = #"{"reason":"BadPath"}"#

  private let client: TestClient
  private let held: HeldResponses
  private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
  private var pings = 0
  /// Whether the server closed the connection.
  private(set) var isOver = false

  private init(_ client: TestClient, _ held: HeldResponses) {
    self.client = client
    self.held = held
  }

  /// Runs a test with a connection whose SETTINGS are exchanged; with `greeting`, which has the client's preface, those
  /// of the test.
  static func with<Result>(
    greeting: [UInt8] = HTTP2Frames.greeting, streams: Int = 100, limits: APNsServerLimits = .unhurried,
    _ body: (TestWire) async throws -> Result
  ) async throws -> Result {
    var limits = limits
    (limits.firstStreams, limits.streams) = (streams, streams)
    let held = HeldResponses()
    let lab = try await TestAPNsServer.start(
      TestBackend { request, answer in
        switch request.path {
        case "/refused": answer(APNsAnswer(status: 400, reason: "BadPath", apnsID: "an-id"))
        case "/long":
          answer(APNsAnswer(status: 500, reason: String(repeating: "x", count: 40_000), apnsID: "an-id"))
        case "/last":
          answer(APNsAnswer(status: 403, reason: "BadCertificate", apnsID: "an-id", manner: .responseAndGoAway))
        case "/left": answer(APNsAnswer(status: 503, reason: "Shutdown", apnsID: "an-id", manner: .goAway))
        case "/held": held.keep { answer(APNsAnswer(status: 400, reason: "BadPath", apnsID: "an-id")) }
        default: answer(APNsAnswer(status: 200, apnsID: "an-id"))
        }
      }, limits: limits)
    let wire = TestWire(try await lab.connect(), held)
    if !greeting.isEmpty { _ = await wire.send(greeting + HTTP2Frames.acknowledgement) }
    let result = try await body(wire)
    await wire.client.close()
    await lab.stop()
    return result
  }

  /// Sends bytes, and returns the frames with which the server reacts to them. A PING marks their end.
  func send(_ bytes: [UInt8]) async -> [Seen] {
    pings += 1
    let mark = HTTP2Frames.number(0x5eed) + HTTP2Frames.number(pings)
    client.send(bytes + HTTP2Frames.frame(6, mark))
    var frames: [Seen] = []
    while let frame = await client.next() {
      if frame.kind == 6, frame.ends, frame.bytes == mark { return frames }
      frames.append(frame)
    }
    isOver = true
    return frames
  }

  /// Waits until this number of requests is held.
  func hold(_ count: Int) async { for _ in 0..<count { await held.come() } }

  /// Answers the held requests.
  func release() { held.release() }

  /// The next frame.
  func next() async -> Seen? { await client.next() }

  /// The header list of a response, and its body.
  func response(on stream: Int, in frames: [Seen]) throws -> (headers: [String: String], text: String)? {
    var response: (headers: [String: String], text: String)?
    for frame in frames where frame.kind == 1 {
      let headers = try frame.headers(&decoder)
      if frame.stream == stream { response = (headers, frames.text(on: stream)) }
    }
    return response
  }

  /// Whether the server still answers a request.
  func serves(on stream: Int) async -> Bool {
    await send(HTTP2Frames.request(on: stream)).contains { $0.kind == 1 && $0.stream == stream && $0.ends }
  }
}

/// What a violation leads to.
enum Consequence: Equatable {
  /// A GOAWAY with this code, and the end of the connection.
  case connectionError(Int)
  /// RST_STREAM with this code on this stream, and other streams are served.
  case streamError(Int, on: Int)
  /// Anything else.
  case other([Seen])

  /// What the server does when it receives these bytes on a new connection.
  static func of(_ bytes: [UInt8], limits: APNsServerLimits = .unhurried) async throws -> Consequence {
    try await TestWire.with(limits: limits) { wire in
      let frames = await wire.send(bytes)
      if wire.isOver {
        guard let farewell = frames.last?.farewell else { return .other(frames) }
        return .connectionError(farewell.code)
      }
      let resets = frames.filter { $0.kind == 3 }
      guard let reset = resets.first, resets.count == 1, let code = reset.code, await wire.serves(on: 1001) else {
        return .other(frames)
      }
      return .streamError(code, on: reset.stream)
    }
  }
}

extension HTTP2Frames {
  /// A request without a body.
  static func request(_ path: String = "/3/device/00", on stream: Int, ends: Bool = true) -> [UInt8] {
    headers([(":method", "POST"), (":scheme", "https"), (":path", path)], on: stream, ends: ends)
  }

  static func reset(_ stream: Int, _ code: Int = 8) -> [UInt8] { frame(3, stream: stream, number(code)) }

  static func settings(_ values: (Int, Int)...) -> [UInt8] { frame(4, values.flatMap { setting($0.0, $0.1) }) }

  static let octets: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
}

extension [Seen] {
  /// The content of DATA on a stream.
  func text(on stream: Int) -> String { filter { $0.kind == 0 && $0.stream == stream }.map(\.text).joined() }

  /// The length of each DATA frame on a stream.
  func lengths(on stream: Int) -> [Int] { filter { $0.kind == 0 && $0.stream == stream }.map(\.bytes.count) }

  /// Whether there are HEADERS on a stream.
  func hasResponse(on stream: Int) -> Bool { contains { $0.kind == 1 && $0.stream == stream } }

  /// The error codes of RST_STREAM.
  var codes: [Int] { compactMap(\.code) }
}

extension Seen {
  /// The frame in these bytes.
  init?(cutFrom bytes: [UInt8]) {
    var buffer = ByteBuffer(bytes: bytes)
    self.init(cutFrom: &buffer)
  }
}
