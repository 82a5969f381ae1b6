// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import APNsServer

/// RFC 9113, section 4, and what section 5.5 says about extensions, over a socket.
@Suite(.timeLimit(.minutes(1))) struct `Framing of HTTP/2` {
  @Test(.rule("HTTP-01"))
  func `no frame has more than 16,384 bytes, even when the client permits more`() async throws {
    let greeting = HTTP2Frames.preface + HTTP2Frames.settings((4, 1 << 20), (5, 1 << 20))
    try await TestWire.with(greeting: greeting) { wire in
      let frames = await wire.send(HTTP2Frames.request("/long", on: 1))
      #expect(frames.text(on: 1).utf8.count == 40_013)
      #expect(frames.lengths(on: 1) == [16_384, 16_384, 7245])
      #expect(frames.filter { $0.kind == 0 }.map(\.ends) == [false, false, true])
    }
  }

  @Test(.rule("HTTP-02")) func `a frame of an unknown type is ignored on any stream`() async throws {
    try await TestWire.with { wire in
      let unknown = [0, 1, 2, 9].flatMap { HTTP2Frames.frame(0xb, flags: 0xff, stream: $0, HTTP2Frames.octets) }
      let frames = await wire.send(unknown + HTTP2Frames.request(on: 1, ends: false) + unknown)
      #expect(frames == [])
      #expect(await wire.send(HTTP2Frames.data("", on: 1)).map(\.kind) == [1])
    }
  }

  @Test(.rule("HTTP-03")) func `flags that a frame type does not define are ignored`() async throws {
    try await TestWire.with { wire in
      let frames = await wire.send(
        HTTP2Frames.frame(1, flags: 0xd6, stream: 1, HTTP2Frames.block(HTTP2Frames.request))
          + HTTP2Frames.frame(0, flags: 0xf7, stream: 1) + HTTP2Frames.frame(6, flags: 0xfe, HTTP2Frames.octets)
          + HTTP2Frames.frame(4, flags: 0xfe) + HTTP2Frames.frame(8, flags: 0xff, HTTP2Frames.number(1))
          + HTTP2Frames.frame(2, flags: 0xff, stream: 3, [0, 0, 0, 0, 1])
          + HTTP2Frames.frame(3, flags: 0xff, stream: 1, HTTP2Frames.number(8)))
      #expect(frames.map(\.kind) == [1, 6, 4])
    }
  }

  @Test(.rule("HTTP-03", "HTTP-04", "HTTP-33", "HTTP-08"))
  func `the frames that the server sends have no undefined flag, no padding and no reserved bit`() async throws {
    let defined: [UInt8: UInt8] = [0: 0x1, 1: 0x5, 3: 0, 4: 0x1, 6: 0x1, 7: 0, 8: 0]
    try await TestWire.with(greeting: []) { wire in
      let piece = HTTP2Frames.frame(0, stream: 7, [UInt8](repeating: 0, count: 16_000))
      var frames = await wire.send(
        HTTP2Frames.greeting + HTTP2Frames.acknowledgement + HTTP2Frames.request(on: 1)
          + HTTP2Frames.request("/refused", on: 3) + HTTP2Frames.headers([("a", "b")], on: 5)
          + HTTP2Frames.request(on: 7, ends: false) + piece + piece + piece
          + HTTP2Frames.frame(6, HTTP2Frames.octets))
      frames += await wire.send(HTTP2Frames.credit(0, to: 0))
      #expect(Set(frames.map(\.kind)) == [0, 1, 3, 4, 6, 7, 8])
      for frame in frames {
        #expect(frame.flags & ~(defined[frame.kind] ?? 0) == 0 && frame.stream < 1 << 31, "\(frame)")
        // a field block is one HEADERS frame
        #expect(frame.kind != 1 || frame.flags & 4 != 0)
        #expect(frame.kind != 8 || Seen.number(frame.bytes, 0) < 1 << 31)
        #expect(frame.kind != 7 || Seen.number(frame.bytes, 0) < 1 << 31)
      }
    }
  }

  @Test(.rule("HTTP-04")) func `the reserved bit of a stream number and of an increment is ignored`() async throws {
    try await TestWire.with(greeting: HTTP2Frames.preface + HTTP2Frames.settings((4, 0))) { wire in
      let block = HTTP2Frames.block([(":method", "POST"), (":scheme", "https"), (":path", "/refused")])
      let frames = await wire.send(
        HTTP2Frames.frame(1, flags: 5, stream: 0x8000_0001, block) + HTTP2Frames.credit(0x8000_0014, to: 0x8000_0001))
      #expect(frames.map(\.stream) == [1, 1])
      #expect(frames.text(on: 1) == TestWire.refusal)
    }
  }

  @Test(.rule("HTTP-05")) func `a frame of 16,384 bytes is processed`() async throws {
    try await TestWire.with { wire in
      let body = HTTP2Frames.data(String(repeating: "x", count: 16_384), on: 1)
      #expect(await wire.send(HTTP2Frames.request(on: 1, ends: false) + body).map(\.kind) == [1])
    }
  }

  @Test(.rule("HTTP-06"), arguments: [0, 1, 4, 6, 0xb] as [UInt8])
  func `a frame of more than 16,384 bytes is a connection error`(kind: UInt8) async throws {
    let stream = kind < 2 ? 1 : 0
    let bytes = HTTP2Frames.frame(kind, stream: stream, [UInt8](repeating: 0, count: 16_385))
    #expect(try await Consequence.of(HTTP2Frames.request(on: 1, ends: false) + bytes) == .connectionError(6))
  }

  @Test(
    .rule("HTTP-07"),
    arguments: [
      HTTP2Frames.frame(1, flags: 0x24, stream: 1, [0, 0, 0, 0]), HTTP2Frames.frame(1, flags: 0xc, stream: 1),
      HTTP2Frames.request(on: 1, ends: false) + HTTP2Frames.frame(0, flags: 8, stream: 1),
      HTTP2Frames.frame(7, [0, 0, 0, 0, 0, 0, 0]),
    ])
  func `a frame that is too short for its fields is a connection error`(bytes: [UInt8]) async throws {
    #expect(try await Consequence.of(bytes) == .connectionError(6))
  }

  @Test(
    .rule("HTTP-09"),
    arguments: [
      // index 0, an index outside the tables, a table size over 4096, a size update at the end, a string that is cut
      [0x80], [0xff, 0x40], [0x3f, 0xe2, 0x1f, 0x83, 0x87, 0x84], [0x83, 0x87, 0x84, 0x20], [0, 9, 97],
    ] as [[UInt8]])
  func `a field block that cannot be decoded is the connection error COMPRESSION_ERROR`(block: [UInt8]) async throws {
    #expect(try await Consequence.of(HTTP2Frames.frame(1, flags: 5, stream: 1, block)) == .connectionError(9))
  }

  @Test(.rule("HTTP-10")) func `a header list of more than 8000 bytes is a connection error`() async throws {
    let long = String(repeating: "b", count: 8000)
    let bytes = HTTP2Frames.headers(HTTP2Frames.request + [("a", long)], on: 1, ends: true)
    #expect(try await Consequence.of(bytes) == .connectionError(11))
  }

  @Test(.rule("HTTP-11", "HTTP-44"))
  func `a smaller HPACK table of the client is acknowledged at the start of the next field block`() async throws {
    try await TestWire.with { wire in
      let settings = HTTP2Frames.settings((1, 0))
      let frames = await wire.send(settings + HTTP2Frames.request(on: 1) + HTTP2Frames.request(on: 3))
      #expect(frames.map(\.kind) == [4, 1, 1])
      #expect(frames.dropFirst().map { $0.bytes.first } == [0x20, 0x88])
    }
  }

  @Test(.rule("HTTP-29"))
  func `an unknown setting or error code is ignored, but not an unknown frame within a field block`() async throws {
    try await TestWire.with { wire in
      let bytes = HTTP2Frames.settings((0xff, 7), (3, 0)) + HTTP2Frames.request(on: 1, ends: false)
      #expect(await wire.send(bytes + HTTP2Frames.reset(1, 0xdead)).map(\.kind) == [4])
      #expect(await wire.serves(on: 3))
    }
    let begun = HTTP2Frames.headers(on: 1, isWhole: false)
    #expect(try await Consequence.of(begun + HTTP2Frames.frame(0xb, stream: 1)) == .connectionError(1))
  }
}
