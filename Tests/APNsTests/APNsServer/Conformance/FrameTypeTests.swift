// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import APNsServer

/// RFC 9113, sections 6 and 7 without flow control, over a socket.
@Suite(.timeLimit(.minutes(1))) struct `Frames of HTTP/2` {
  private let open = HTTP2Frames.request(on: 1, ends: false)
  private let begun = HTTP2Frames.headers(on: 1, isWhole: false)

  @Test(.rule("HTTP-31", "HTTP-35", "HTTP-36", "HTTP-39", "HTTP-77"))
  func `a frame of a stream on stream 0 is a connection error`() async throws {
    let priority = HTTP2Frames.frame(2, [0, 0, 0, 0, 1])
    for bytes in [HTTP2Frames.data("x", on: 0), HTTP2Frames.request(on: 0), priority, HTTP2Frames.reset(0)] {
      #expect(try await Consequence.of(bytes) == .connectionError(1))
    }
    #expect(try await Consequence.of(begun + HTTP2Frames.frame(9, flags: 4)) == .connectionError(1))
  }

  @Test(.rule("HTTP-46", "HTTP-60", "HTTP-63"))
  func `a frame of the connection on a stream is a connection error`() async throws {
    for bytes in [
      HTTP2Frames.frame(4, stream: 1), HTTP2Frames.frame(6, stream: 1, HTTP2Frames.octets),
      HTTP2Frames.frame(7, stream: 1, HTTP2Frames.octets),
    ] {
      #expect(try await Consequence.of(open + bytes) == .connectionError(1))
    }
  }

  @Test(.rule("HTTP-32"), arguments: [0, 1] as [UInt8])
  func `padding as long as the payload is a connection error`(kind: UInt8) async throws {
    let block = HTTP2Frames.block(HTTP2Frames.request)
    func padded(_ length: Int) -> [UInt8] {
      let payload = kind == 0 ? Array("{}".utf8) : block
      let frame = [UInt8(length)] + payload + [UInt8](repeating: 0, count: 9)
      return (kind == 0 ? open : []) + HTTP2Frames.frame(kind, flags: 0xd, stream: 1, frame)
    }
    let rest = (kind == 0 ? 2 : block.count) + 9
    #expect(try await Consequence.of(padded(rest + 1)) == .connectionError(1))
    try await TestWire.with { wire in #expect(await wire.send(padded(9)).map(\.kind) == [1]) }
  }

  @Test(.rule("HTTP-34", "HTTP-78"))
  func `a field block is continued by CONTINUATION of its stream only`() async throws {
    let ends = HTTP2Frames.frame(9, flags: 4, stream: 3)
    for bytes in [ends, HTTP2Frames.frame(6, HTTP2Frames.octets), HTTP2Frames.data("x", on: 1), open] {
      #expect(try await Consequence.of(begun + bytes) == .connectionError(1))
      let continued = begun + HTTP2Frames.frame(9, stream: 1)
      #expect(try await Consequence.of(continued + bytes) == .connectionError(1))
    }
    for bytes in [open + HTTP2Frames.frame(9, flags: 4, stream: 1), HTTP2Frames.frame(9, flags: 4, stream: 1)] {
      #expect(try await Consequence.of(bytes) == .connectionError(1))
    }
    try await TestWire.with { wire in
      let block = HTTP2Frames.block(HTTP2Frames.request)
      let frames = await wire.send(
        HTTP2Frames.frame(1, flags: 1, stream: 1, Array(block.prefix(7)))
          + HTTP2Frames.frame(9, stream: 1, Array(block.dropFirst(7).prefix(9)))
          + HTTP2Frames.frame(9, flags: 4, stream: 1, Array(block.dropFirst(16))))
      #expect(frames.map(\.kind) == [1])
    }
  }

  @Test(.rule("HTTP-37"), arguments: (0...6).filter { $0 != 5 }) func `PRIORITY of another length is a stream error`(
    length: Int
  )
    async throws
  {
    let priority = HTTP2Frames.frame(2, stream: 1, [UInt8](repeating: 0, count: length))
    #expect(try await Consequence.of(open + priority) == .streamError(6, on: 1))
    #expect(try await Consequence.of(HTTP2Frames.request(on: 1) + priority) == .streamError(6, on: 1))
  }

  @Test(.rule("HTTP-38")) func `nothing is sent on a stream that the client has reset`() async throws {
    try await TestWire.with { wire in
      #expect(await wire.send(HTTP2Frames.request("/held", on: 1) + HTTP2Frames.reset(1)) == [])
      wire.release()
      #expect(await wire.send(HTTP2Frames.request(on: 3)).map(\.stream) == [3])
    }
  }

  @Test(.rule("HTTP-40")) func `RST_STREAM on an idle stream is a connection error`() async throws {
    #expect(try await Consequence.of(open + HTTP2Frames.reset(3)) == .connectionError(1))
  }

  @Test(.rule("HTTP-42"), arguments: [0, 3, 5])
  func `RST_STREAM of another length than 4 is a connection error`(length: Int) async throws {
    let bytes = HTTP2Frames.frame(3, stream: 1, [UInt8](repeating: 0, count: length))
    #expect(try await Consequence.of(open + bytes) == .connectionError(6))
  }

  @Test(.rule("HTTP-43", "HTTP-50", "HTTP-54"))
  func `SETTINGS are the first frame, permit no push, and those of the client are acknowledged`() async throws {
    try await TestWire.with(greeting: []) { wire in
      let frames = await wire.send(HTTP2Frames.greeting + HTTP2Frames.request("/refused", on: 1))
      #expect(frames.map(\.kind) == [4, 4, 1, 0])
      #expect(frames.first?.settings?[2] == nil)
      #expect(frames.first?.settings?[5] == 16_384)
      #expect(frames.dropFirst().first == Seen(cutFrom: HTTP2Frames.acknowledgement))
    }
  }

  @Test(.rule("HTTP-45", "HTTP-48")) func `an acknowledgement of SETTINGS with a payload is a connection error`()
    async throws
  {
    let bytes = HTTP2Frames.frame(4, flags: 1, HTTP2Frames.setting(1, 1))
    #expect(try await Consequence.of(bytes) == .connectionError(6))
  }

  @Test(.rule("HTTP-47", "HTTP-48"), arguments: [1, 5, 7])
  func `SETTINGS of a length not divisible by 6 are a connection error`(length: Int) async throws {
    let bytes = HTTP2Frames.frame(4, [UInt8](repeating: 0, count: length))
    #expect(try await Consequence.of(bytes) == .connectionError(6))
  }

  @Test(.rule("HTTP-49", "HTTP-51", "HTTP-52"))
  func `a setting outside its range is a connection error`() async throws {
    for (setting, value, code) in [
      (2, 2, 1), (2, 0xffff_ffff, 1), (4, 1 << 31, 3), (4, 0xffff_ffff, 3), (5, 16_383, 1), (5, 1 << 24, 1),
      (5, 0, 1),
    ] {
      let bytes = HTTP2Frames.settings((setting, value))
      #expect(try await Consequence.of(bytes) == .connectionError(code), "\(setting) \(value)")
    }
    try await TestWire.with { wire in
      let least = HTTP2Frames.settings((1, 0), (2, 0), (3, 0), (4, 0), (5, 16_384), (6, 0))
      let most = HTTP2Frames.settings((1, 0xffff_ffff), (2, 1), (3, 0xffff_ffff), (4, 0x7fff_ffff), (5, 0xff_ffff))
      #expect(await wire.send(least + most).map(\.kind) == [4, 4])
    }
  }

  @Test(.rule("HTTP-53")) func `an unknown setting is ignored`() async throws {
    try await TestWire.with { wire in
      let frames = await wire.send(HTTP2Frames.settings((0, 1), (7, 1), (0xff, 0xffff_ffff)))
      #expect(frames == [Seen(cutFrom: HTTP2Frames.acknowledgement)])
    }
  }

  @Test(.rule("HTTP-54", "HTTP-44")) func `settings are applied in their order before they are acknowledged`()
    async throws
  {
    try await TestWire.with(greeting: HTTP2Frames.preface + HTTP2Frames.settings((4, 100), (4, 1))) { wire in
      #expect(await wire.send(HTTP2Frames.request("/refused", on: 1)).lengths(on: 1) == [1])
      let frames = await wire.send(HTTP2Frames.settings((4, 100), (4, 3)) + HTTP2Frames.request("/refused", on: 3))
      #expect(frames.first == Seen(cutFrom: HTTP2Frames.acknowledgement))
      #expect(frames.lengths(on: 1) == [2])
      #expect(frames.lengths(on: 3) == [3])
    }
  }

  @Test(.rule("HTTP-55")) func `PUSH_PROMISE of a client is a connection error`() async throws {
    let promise = HTTP2Frames.frame(5, flags: 4, stream: 1, HTTP2Frames.number(2))
    #expect(try await Consequence.of(open + promise) == .connectionError(1))
    #expect(try await Consequence.of(HTTP2Frames.frame(5, flags: 4, HTTP2Frames.number(2))) == .connectionError(1))
  }

  @Test(.rule("HTTP-58", "HTTP-59"))
  func `PING is acknowledged with its content, and an acknowledgement is not`() async throws {
    try await TestWire.with { wire in
      #expect(await wire.send(HTTP2Frames.frame(6, flags: 1, HTTP2Frames.octets)) == [])
      let frames = await wire.send(HTTP2Frames.frame(6, HTTP2Frames.octets))
      #expect(frames == [Seen(cutFrom: HTTP2Frames.frame(6, flags: 1, HTTP2Frames.octets))])
    }
  }

  @Test(.rule("HTTP-61"), arguments: [0, 7, 9])
  func `PING of another length than 8 is a connection error`(length: Int) async throws {
    let payload = [UInt8](repeating: 0, count: length)
    for flags in [0, 1] as [UInt8] {
      #expect(try await Consequence.of(HTTP2Frames.frame(6, flags: flags, payload)) == .connectionError(6))
    }
  }

  @Test(.rule("HTTP-62")) func `the requests of a client that sent GOAWAY are answered`() async throws {
    try await TestWire.with { wire in
      let farewell = HTTP2Frames.frame(7, HTTP2Frames.number(0) + HTTP2Frames.number(0) + Array("bye".utf8))
      let frames = await wire.send(open + farewell + HTTP2Frames.data("", on: 1))
      #expect(frames.map(\.kind) == [1])
    }
  }

  @Test(.rule("HTTP-65"))
  func `HEADERS and DATA after the last stream of a GOAWAY change the connection's state`() async throws {
    try await TestWire.with { wire in
      let last = await wire.send(open + HTTP2Frames.request("/last", on: 3))
      #expect(last.last?.farewell?.last == 3)
      // adds `a: b` to the HPACK table, as entry 62
      let later = HTTP2Frames.frame(1, flags: 4, stream: 5, [0x40, 1, 97, 1, 98])
      let piece = HTTP2Frames.frame(0, stream: 5, [UInt8](repeating: 0, count: 16_384))
      let frames = await wire.send(later + piece + piece + piece)
      #expect(frames.map { [Int($0.kind), $0.stream] } == [[8, 0]])
      let rest = await wire.send(HTTP2Frames.frame(1, flags: 5, stream: 1, [0xbe]))
      #expect(rest.map(\.kind) == [1])
      #expect(wire.isOver)
    }
  }

  @Test(.rule("HTTP-79")) func `an unknown error code has no special effect`() async throws {
    try await TestWire.with { wire in
      let farewell = HTTP2Frames.frame(7, HTTP2Frames.number(0) + HTTP2Frames.number(0xbeef))
      let frames = await wire.send(HTTP2Frames.request("/held", on: 1) + HTTP2Frames.reset(1, 0xbeef) + farewell)
      #expect(frames == [])
      #expect(await wire.serves(on: 3))
    }
  }
}
