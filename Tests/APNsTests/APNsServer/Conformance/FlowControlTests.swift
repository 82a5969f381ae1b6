// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import APNsServer

/// RFC 9113, sections 5.2 and 6.9, over a socket.
@Suite(.timeLimit(.minutes(1))) struct `Flow control of HTTP/2` {
  private let narrow = HTTP2Frames.preface + HTTP2Frames.settings((4, 1))
  private let closed = HTTP2Frames.preface + HTTP2Frames.settings((4, 0))

  @Test(.rule("HTTP-24", "HTTP-44"))
  func `a response body is sent byte by byte when the client's window is one byte`() async throws {
    try await TestWire.with(greeting: narrow) { wire in
      var frames = await wire.send(HTTP2Frames.request("/refused", on: 1))
      #expect(frames.lengths(on: 1) == [1])
      for _ in 1..<TestWire.refusal.count { frames += await wire.send(HTTP2Frames.credit(1, to: 1)) }
      #expect(frames.text(on: 1) == TestWire.refusal)
      #expect(frames.lengths(on: 1) == [Int](repeating: 1, count: TestWire.refusal.count))
      #expect(frames.filter { $0.kind == 0 }.map(\.ends).lastIndex(of: false) == TestWire.refusal.count - 2)
      #expect(frames.last?.ends == true)
      #expect(await wire.serves(on: 3))
    }
  }

  @Test(.rule("HTTP-24", "APNS-42"))
  func `a response body is sent as far as the window of the connection allows`() async throws {
    try await TestWire.with { wire in
      // 1638 bodies of 40,000 bytes would be too many: one needs less than the window, a second one more.
      var frames = await wire.send(HTTP2Frames.settings((4, 100_000)) + HTTP2Frames.request("/long", on: 1))
      let length = frames.text(on: 1).utf8.count
      frames = await wire.send(HTTP2Frames.request("/long", on: 3))
      #expect(frames.text(on: 3).utf8.count == 65_535 - length)
      frames = await wire.send(HTTP2Frames.credit(1, to: 0) + HTTP2Frames.credit(2, to: 0))
      #expect(frames.lengths(on: 3) == [1, 2])
      frames = await wire.send(HTTP2Frames.credit(1 << 20, to: 0))
      #expect(frames.last { $0.kind == 0 }?.ends == true)
      #expect(frames.text(on: 3).hasSuffix("x\"}"))
    }
  }

  @Test(.rule("HTTP-25")) func `frames behind a body that waits for credit are processed`() async throws {
    try await TestWire.with(greeting: closed) { wire in
      #expect(await wire.send(HTTP2Frames.request("/refused", on: 1)).lengths(on: 1) == [])
      let frames = await wire.send(HTTP2Frames.request(on: 3) + HTTP2Frames.credit(20, to: 1))
      #expect(frames.hasResponse(on: 3))
      #expect(frames.text(on: 1) == TestWire.refusal)
    }
  }

  @Test(.rule("HTTP-67")) func `frames other than DATA need no credit`() async throws {
    try await TestWire.with(greeting: closed) { wire in
      let frames = await wire.send(HTTP2Frames.request(on: 1) + HTTP2Frames.frame(6, HTTP2Frames.octets))
      #expect(frames.map(\.kind) == [1, 6])
    }
  }

  @Test(.rule("HTTP-68"))
  func `an increment of 0 is an error of its stream, or of the connection on stream 0`() async throws {
    let open = HTTP2Frames.request(on: 1, ends: false)
    #expect(try await Consequence.of(open + HTTP2Frames.credit(0, to: 1)) == .streamError(1, on: 1))
    #expect(try await Consequence.of(HTTP2Frames.credit(0, to: 0)) == .connectionError(1))
  }

  @Test(.rule("HTTP-69"))
  func `WINDOW_UPDATE on a stream that is half-closed or closed is no error`() async throws {
    try await TestWire.with { wire in
      let halfClosed = await wire.send(HTTP2Frames.request("/held", on: 1) + HTTP2Frames.credit(5, to: 1))
      #expect(halfClosed == [])
      #expect(await wire.send(HTTP2Frames.request(on: 3) + HTTP2Frames.credit(5, to: 3)).map(\.kind) == [1])
      #expect(await wire.send(HTTP2Frames.reset(1) + HTTP2Frames.credit(5, to: 1)) == [])
      #expect(await wire.serves(on: 5))
    }
  }

  @Test(.rule("HTTP-70")) func `DATA in error counts toward the window of the connection`() async throws {
    try await TestWire.with { wire in
      let piece = HTTP2Frames.frame(0, stream: 1, [UInt8](repeating: 0, count: 16_000))
      let frames = await wire.send(HTTP2Frames.request(on: 1) + piece + piece + piece)
      #expect(frames.codes == [5])
      #expect(frames.filter { $0.kind == 8 && $0.stream == 0 }.map { Seen.number($0.bytes, 0) } == [48_000])
    }
  }

  @Test(.rule("HTTP-70")) func `padding counts toward the windows`() async throws {
    try await TestWire.with { wire in
      let padded = HTTP2Frames.frame(0, flags: 8, stream: 1, [255] + [UInt8](repeating: 0, count: 16_255))
      let frames = await wire.send(HTTP2Frames.request(on: 1, ends: false) + padded + padded + padded)
      let credits = frames.filter { $0.kind == 8 }.map { [$0.stream, Seen.number($0.bytes, 0)] }
      #expect(Set(credits) == [[0, 48_768], [1, 48_768]])
    }
  }

  @Test(.rule("HTTP-71"), arguments: [0, 3, 5])
  func `WINDOW_UPDATE of another length than 4 is a connection error`(length: Int) async throws {
    let bytes = HTTP2Frames.frame(8, [UInt8](repeating: 1, count: length))
    #expect(try await Consequence.of(bytes) == .connectionError(6))
  }

  @Test(.rule("HTTP-72")) func `a window over 2^31-1 is an error of its stream, or of the connection`() async throws {
    let open = HTTP2Frames.request(on: 1, ends: false)
    let most = 0x7fff_ffff - 65_535
    #expect(try await Consequence.of(open + HTTP2Frames.credit(most + 1, to: 1)) == .streamError(3, on: 1))
    #expect(try await Consequence.of(HTTP2Frames.credit(most + 1, to: 0)) == .connectionError(3))
    try await TestWire.with { wire in
      #expect(await wire.send(open + HTTP2Frames.credit(most, to: 1) + HTTP2Frames.credit(most, to: 0)) == [])
      #expect(await wire.serves(on: 3))
    }
  }

  @Test(.rule("HTTP-73"))
  func `SETTINGS change the window of open streams and not that of the connection`() async throws {
    try await TestWire.with(greeting: closed) { wire in
      #expect(await wire.send(HTTP2Frames.request("/refused", on: 1)).lengths(on: 1) == [])
      #expect(await wire.send(HTTP2Frames.settings((4, 3))).lengths(on: 1) == [3])
      #expect(await wire.send(HTTP2Frames.settings((4, 5))).lengths(on: 1) == [2])
      #expect(await wire.send(HTTP2Frames.request("/refused", on: 3)).lengths(on: 3) == [5])
      #expect(await wire.send(HTTP2Frames.settings((4, 100))).map(\.kind) == [4, 0, 0])
    }
  }

  @Test(.rule("HTTP-74")) func `a window that SETTINGS make negative is filled before DATA is sent`() async throws {
    try await TestWire.with(greeting: HTTP2Frames.preface + HTTP2Frames.settings((4, 5))) { wire in
      #expect(await wire.send(HTTP2Frames.request("/refused", on: 1)).lengths(on: 1) == [5])
      // the window is -5
      #expect(await wire.send(HTTP2Frames.settings((4, 0))).lengths(on: 1) == [])
      #expect(await wire.send(HTTP2Frames.credit(5, to: 1)).lengths(on: 1) == [])
      #expect(await wire.send(HTTP2Frames.credit(1, to: 1)).lengths(on: 1) == [1])
      #expect(await wire.send(HTTP2Frames.credit(2, to: 1)).lengths(on: 1) == [2])
      #expect(await wire.send(HTTP2Frames.settings((4, 1))).lengths(on: 1) == [1])
      #expect(await wire.send(HTTP2Frames.credit(100, to: 1)).lengths(on: 1) == [11])
    }
  }

  @Test(.rule("HTTP-75")) func `SETTINGS that raise a window over 2^31-1 are a connection error`() async throws {
    let bytes =
      HTTP2Frames.request(on: 1, ends: false) + HTTP2Frames.credit(0x7fff_ffff - 65_535, to: 1)
      + HTTP2Frames.settings((4, 65_536))
    #expect(try await Consequence.of(bytes) == .connectionError(3))
  }

  @Test func `a body that waits for credit is dropped with its stream`() async throws {
    var limits = APNsServerLimits.unhurried
    limits.waitingBodies = 1
    try await TestWire.with(greeting: closed, limits: limits) { wire in
      for stream in [1, 3, 5, 7] {
        let frames = await wire.send(HTTP2Frames.request("/refused", on: stream) + HTTP2Frames.reset(stream))
        #expect(frames.map(\.kind) == [1])
      }
      #expect(await wire.serves(on: 9))
    }
  }
}
