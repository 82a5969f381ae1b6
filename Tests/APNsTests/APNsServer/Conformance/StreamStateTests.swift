// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import APNsServer

/// RFC 9113, sections 5.1 to 5.5, over a socket.
@Suite(.timeLimit(.minutes(1))) struct `Streams of HTTP/2` {
  private let open = HTTP2Frames.request(on: 1, ends: false)

  @Test(
    .rule("HTTP-13"),
    arguments: [HTTP2Frames.data("x", on: 1), HTTP2Frames.reset(1), HTTP2Frames.credit(1, to: 1)])
  func `a frame other than HEADERS and PRIORITY on an idle stream is a connection error`(bytes: [UInt8]) async throws {
    #expect(try await Consequence.of(bytes) == .connectionError(1))
  }

  @Test(.rule("HTTP-15"))
  func `DATA or HEADERS on a half-closed stream is the stream error STREAM_CLOSED`() async throws {
    for bytes in [HTTP2Frames.data("x", on: 1), HTTP2Frames.headers([("a", "b")], on: 1, ends: true)] {
      let request = HTTP2Frames.request("/held", on: 1)
      #expect(try await Consequence.of(request + bytes) == .streamError(5, on: 1))
    }
  }

  @Test(.rule("HTTP-15"))
  func `DATA on a half-closed stream whose response waits for credit is the stream error STREAM_CLOSED`()
    async throws
  {
    try await TestWire.with(greeting: HTTP2Frames.preface + HTTP2Frames.settings((4, 0))) { wire in
      let frames = await wire.send(HTTP2Frames.request("/refused", on: 1) + HTTP2Frames.data("x", on: 1))
      #expect(frames.map(\.kind) == [1, 3])
      #expect(frames.codes == [5])
      #expect(await wire.send(HTTP2Frames.credit(100, to: 1)) == [])
      #expect(await wire.serves(on: 3))
    }
  }

  @Test(.rule("HTTP-16"))
  func `nothing is sent on a stream after its end or its reset`() async throws {
    try await TestWire.with(greeting: HTTP2Frames.preface + HTTP2Frames.settings((4, 5))) { wire in
      let ended = await wire.send(HTTP2Frames.request(on: 1) + HTTP2Frames.credit(1, to: 1) + HTTP2Frames.reset(1))
      #expect(ended.map(\.kind) == [1])
      let cut = await wire.send(HTTP2Frames.request("/refused", on: 3) + HTTP2Frames.reset(3))
      #expect(cut.map(\.kind) == [1, 0])
      #expect(await wire.send(HTTP2Frames.credit(100, to: 3) + HTTP2Frames.settings((4, 100))).map(\.kind) == [4])
      let refused = await wire.send(
        HTTP2Frames.headers([("a", "b")], on: 5) + HTTP2Frames.data("x", on: 5) + HTTP2Frames.data("x", on: 5))
      #expect(refused.map(\.kind) == [3])
    }
  }

  @Test(.rule("HTTP-17"))
  func `what arrives on a stream that the server reset is discarded and changes the connection's state`() async throws {
    try await TestWire.with { wire in
      // the trailers add `:path: /refused` to the HPACK table, as entry 62
      let trailers = HTTP2Frames.frame(1, flags: 5, stream: 1, [0x44, 8] + Array("/refused".utf8))
      let piece = HTTP2Frames.frame(0, stream: 1, [UInt8](repeating: 0, count: 16_384))
      let frames = await wire.send(
        HTTP2Frames.headers([("a", "b")], on: 1) + piece + piece + piece + HTTP2Frames.credit(9, to: 1) + trailers
          + HTTP2Frames.reset(1))
      #expect(frames.map { [Int($0.kind), $0.stream] } == [[3, 1], [8, 0]])
      #expect(frames.codes == [1])
      let request = HTTP2Frames.frame(1, flags: 5, stream: 3, [0x83, 0x87, 0xbe])
      let later = await wire.send(request)
      let response = try wire.response(on: 3, in: later)
      #expect(response?.text == TestWire.refusal)
    }
  }

  @Test(.rule("HTTP-18"), arguments: [true, false])
  func `DATA on a closed stream is the stream error STREAM_CLOSED, once`(byReset: Bool) async throws {
    try await TestWire.with { wire in
      let closing = byReset ? open + HTTP2Frames.reset(1) : HTTP2Frames.request(on: 1)
      let frames = await wire.send(closing + HTTP2Frames.data("x", on: 1) + HTTP2Frames.data("y", on: 1))
      #expect(frames.codes == [5])
      #expect(frames.last?.stream == 1)
      #expect(await wire.serves(on: 3))
    }
  }

  @Test(.rule("HTTP-18")) func `DATA on a stream that was left out is the stream error STREAM_CLOSED`() async throws {
    let bytes = HTTP2Frames.request(on: 5) + HTTP2Frames.data("x", on: 3)
    #expect(try await Consequence.of(bytes) == .streamError(5, on: 3))
  }

  @Test(.rule("HTTP-18")) func `trailers on a closed stream are the stream error STREAM_CLOSED`() async throws {
    let bytes = HTTP2Frames.request(on: 1) + HTTP2Frames.headers([("a", "b")], on: 1, ends: true)
    #expect(try await Consequence.of(bytes) == .streamError(5, on: 1))
  }

  @Test(.rule("HTTP-19"), arguments: [2, 4]) func `a client's stream has an odd number`(stream: Int) async throws {
    #expect(try await Consequence.of(HTTP2Frames.request(on: stream)) == .connectionError(1))
  }

  @Test(.rule("HTTP-21"), arguments: [1, 3, 5])
  func `the number of a stream is larger than those before it`(stream: Int) async throws {
    let bytes = HTTP2Frames.request(on: 5) + HTTP2Frames.request(on: stream)
    #expect(try await Consequence.of(bytes) == .connectionError(1))
  }

  @Test(.rule("HTTP-22")) func `a stream over the limit is refused with REFUSED_STREAM`() async throws {
    try await TestWire.with(streams: 2) { wire in
      let held = HTTP2Frames.request("/held", on: 1) + HTTP2Frames.request(on: 3, ends: false)
      #expect(await wire.send(held + HTTP2Frames.request(on: 5)).codes == [7])
      #expect(await wire.send(HTTP2Frames.reset(3) + HTTP2Frames.request(on: 7)).map(\.kind) == [1])
    }
  }

  @Test(.rule("HTTP-26"))
  func `a stream that depends on itself is an error, and other priorities are ignored`() async throws {
    let block = HTTP2Frames.block(HTTP2Frames.request)
    func headers(_ dependency: Int) -> [UInt8] {
      HTTP2Frames.frame(1, flags: 0x25, stream: 1, HTTP2Frames.number(dependency) + [255] + block)
    }
    func priority(_ dependency: Int) -> [UInt8] {
      HTTP2Frames.frame(2, stream: 1, HTTP2Frames.number(dependency) + [255])
    }
    #expect(try await Consequence.of(headers(1)) == .streamError(1, on: 1))
    #expect(try await Consequence.of(headers(0x8000_0001)) == .streamError(1, on: 1))
    #expect(try await Consequence.of(open + priority(1)) == .streamError(1, on: 1))
    try await TestWire.with { wire in
      // on an idle stream, an open one and a closed one
      #expect(await wire.send(priority(3) + headers(3)).map(\.kind) == [1])
      #expect(await wire.send(priority(7)) == [])
    }
  }

  @Test(.rule("HTTP-41")) func `RST_STREAM is not sent on an idle stream`() async throws {
    let onItself = HTTP2Frames.frame(2, stream: 9, HTTP2Frames.number(9) + [1])
    #expect(try await Consequence.of(onItself) == .connectionError(1))
    #expect(try await Consequence.of(HTTP2Frames.frame(2, stream: 9, [0])) == .connectionError(6))
  }

  @Test(.rule("HTTP-27"))
  func `a connection error is reported in a GOAWAY, with the last stream, before the connection is closed`()
    async throws
  {
    try await TestWire.with { wire in
      let frames = await wire.send(HTTP2Frames.request("/held", on: 3) + HTTP2Frames.credit(0, to: 0))
      #expect(frames.map(\.kind) == [7])
      #expect(frames.last?.farewell?.last == 3)
      #expect(frames.last?.farewell?.code == 1)
      #expect(wire.isOver)
    }
  }

  @Test(.rule("HTTP-28")) func `RST_STREAM is not answered`() async throws {
    try await TestWire.with { wire in
      #expect(await wire.send(open + HTTP2Frames.reset(1) + HTTP2Frames.reset(1)) == [])
      #expect(await wire.serves(on: 3))
    }
  }
}
