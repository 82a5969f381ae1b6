// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import NIOCore
import Testing

@testable import APNsServer

@Suite struct `HTTP/2 errors` {
  struct Case {
    let name: String
    /// The error code of the GOAWAY.
    let code: Int
    /// The bytes that the client sends after its greeting.
    let bytes: [UInt8]
    init(_ name: String, _ code: Int, _ parts: [UInt8]...) {
      self.name = name
      self.code = code
      bytes = parts.flatMap { $0 }
    }
  }

  private static let octets: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
  private static let begun = HTTP2Frames.headers(on: 1, isWhole: false)
  private static let cancel = HTTP2Frames.frame(3, stream: 1, HTTP2Frames.number(8))

  static let faults: [Case] = frames + streams + settings + floods

  private static let frames: [Case] = [
    Case("a frame that is too long", 6, HTTP2Frames.frame(0, stream: 1, [UInt8](repeating: 0, count: 16_385))),
    Case("more padding than payload", 1, HTTP2Frames.frame(1, flags: 0xc, stream: 1, [9, 0])),
    Case("HEADERS too short for their priority", 6, HTTP2Frames.frame(1, flags: 0x24, stream: 1, [0])),
    Case("another frame within a header block", 1, begun, HTTP2Frames.frame(6, octets)),
    Case("CONTINUATION of another stream", 1, begun, HTTP2Frames.frame(9, flags: 4, stream: 3)),
    Case("CONTINUATION without HEADERS", 1, HTTP2Frames.frame(9, flags: 4, stream: 1)),
    Case("invalid HPACK", 9, HTTP2Frames.frame(1, flags: 4, stream: 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0x0f])),
    Case("an HPACK index outside the tables", 9, HTTP2Frames.frame(1, flags: 4, stream: 1, [0xbe])),
    Case("RST_STREAM of another length", 6, HTTP2Frames.frame(3, stream: 1, [0])),
    Case("PING of another length", 6, HTTP2Frames.frame(6, [1])),
    Case("PING on a stream", 1, HTTP2Frames.frame(6, stream: 1, octets)),
    Case("PUSH_PROMISE", 1, HTTP2Frames.frame(5, flags: 4, stream: 1, HTTP2Frames.number(2))),
    Case("GOAWAY on a stream", 1, HTTP2Frames.frame(7, stream: 1, octets)),
    Case("PRIORITY of the connection", 1, HTTP2Frames.frame(2, [0, 0, 0, 0, 1])),
    Case("PRIORITY of another length", 6, HTTP2Frames.frame(2, stream: 1, [0])),
    Case("credit of 0", 1, HTTP2Frames.credit(0, to: 0)),
    Case("credit that overflows", 3, HTTP2Frames.credit(0x7fff_ffff, to: 0)),
    Case("credit of another length", 6, HTTP2Frames.frame(8, [1])),
  ]

  private static let streams: [Case] = [
    Case("DATA without a stream", 1, HTTP2Frames.data("x", on: 0)),
    Case("DATA on a stream that was not opened", 1, HTTP2Frames.data("x", on: 5)),
    Case("HEADERS without a stream", 1, HTTP2Frames.headers(on: 0)),
    Case("HEADERS on a stream of the server", 1, HTTP2Frames.headers(on: 2)),
    Case("a stream that is opened again", 1, HTTP2Frames.headers(on: 3, ends: true), HTTP2Frames.headers(on: 1)),
    Case("RST_STREAM without a stream", 1, HTTP2Frames.frame(3, stream: 0, HTTP2Frames.number(8))),
    Case("RST_STREAM before its stream", 1, cancel),
    Case("credit for a stream that was not opened", 1, HTTP2Frames.credit(1, to: 9)),
  ]

  private static let settings: [Case] = [
    Case("SETTINGS of another length", 6, HTTP2Frames.frame(4, [0, 1, 0])),
    Case("SETTINGS on a stream", 1, HTTP2Frames.frame(4, stream: 1)),
    Case("an unexpected acknowledgement", 1, HTTP2Frames.acknowledgement),
    Case("an acknowledgement with a payload", 6, HTTP2Frames.frame(4, flags: 1, HTTP2Frames.setting(1, 1))),
    Case("an ENABLE_PUSH value other than 0 and 1", 1, HTTP2Frames.frame(4, HTTP2Frames.setting(2, 2))),
    Case("a window that is too large", 3, HTTP2Frames.frame(4, HTTP2Frames.setting(4, 1 << 31))),
    Case("a frame size that is too small", 1, HTTP2Frames.frame(4, HTTP2Frames.setting(5, 100))),
    Case(
      "credit that overflows through SETTINGS", 3, HTTP2Frames.headers(on: 1),
      HTTP2Frames.credit(0x7fff_ffff - 65_535, to: 1),
      HTTP2Frames.frame(4, HTTP2Frames.setting(4, 65_536))),
  ]

  private static let floods: [Case] = [
    Case("CONTINUATION without end", 11, begun, many(9, HTTP2Frames.frame(9, stream: 1))),
    Case(
      "a header block without end", 11, begun,
      many(2, HTTP2Frames.frame(9, stream: 1, [UInt8](repeating: 0, count: 9000)))),
    Case(
      "a header list that is too large", 11, HTTP2Frames.headers([("a", String(repeating: "b", count: 8000))], on: 1)),
    Case("an HPACK bomb", 11, HTTP2Frames.frame(1, flags: 4, stream: 1, bomb)),
    Case("a flood of empty DATA", 11, HTTP2Frames.headers(on: 1), many(17, HTTP2Frames.data("", on: 1, ends: false))),
    Case("a flood of PING", 11, many(1001, HTTP2Frames.frame(6, octets))),
    Case("a flood of SETTINGS", 11, many(1001, HTTP2Frames.frame(4))),
    Case(
      "a flood of RST_STREAM", 11,
      (0...1000).flatMap { open($0 * 2 + 1, HTTP2Frames.frame(3, stream: $0 * 2 + 1, HTTP2Frames.number(8))) }),
    Case("a flood of malformed requests", 11, (0...1000).flatMap { HTTP2Frames.headers([("a", "b")], on: $0 * 2 + 1) }),
    Case(
      "a flood of DATA on a reset stream", 11, HTTP2Frames.headers(on: 1), cancel,
      many(1001, HTTP2Frames.data("x", on: 1))),
  ]

  /// A header of 1000 bytes in the table, referenced a hundred times.
  private static let bomb: [UInt8] = {
    let head: [UInt8] = [0x40, 1, 97, 127, 0xe9, 0x06]
    return head + [UInt8](repeating: 98, count: 127 + 0x69 + 6 << 7) + [UInt8](repeating: 0xbe, count: 100)
  }()

  private static func open(_ stream: Int, _ then: [UInt8]) -> [UInt8] {
    HTTP2Frames.headers(on: stream, ends: true) + then
  }

  private static func many(_ count: Int, _ bytes: [UInt8]) -> [UInt8] { (0..<count).flatMap { _ in bytes } }

  @Test(.rule("APNS-41"), arguments: faults.indices)
  func `a violation of HTTP/2 ends the connection with a GOAWAY that states the error code and the reason`(index: Int)
    throws
  {
    let (name, bytes, code) = (Self.faults[index].name, Self.faults[index].bytes, Self.faults[index].code)
    let fixture = HTTP2ConnectionFixture()
    // an additional frame after the last one that is processed
    fixture.send(bytes + HTTP2Frames.push(on: 4001))
    let farewell = try #require(fixture.farewell(), "\(name)")
    #expect(farewell.code == code && !farewell.text.isEmpty, "\(name): \(farewell)")
    #expect(fixture.http.phase == .over)
    #expect(fixture.http.fault?.text == farewell.text)
    #expect(fixture.http.streams.isEmpty && fixture.http.block == nil && !fixture.http.reader.isWithinFrame)
    #expect(fixture.send(HTTP2Frames.push(on: 4003)).isEmpty)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", 1), ("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 1),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\u{8}\u{6}\0\0\0\0\0\0\0\0\0\0\0\0\0", 1),
  ])
  func `a connection without the HTTP/2 preface ends`(words: String, code: Int) {
    let fixture = HTTP2ConnectionFixture(greets: false)
    fixture.send(Array(words.utf8))
    #expect(fixture.farewell()?.code == code)
    #expect(fixture.http.phase == .over)
  }

  @Test(arguments: [
    ("HEADERS that are not trailers", HTTP2Frames.headers([("a", "b")], on: 1), 1),
    ("credit of 0", HTTP2Frames.credit(0, to: 1), 1),
    ("credit that overflows", HTTP2Frames.credit(0x7fff_ffff, to: 1), 3),
    ("DATA after the end", HTTP2Frames.data("", on: 1) + HTTP2Frames.data("x", on: 1), 5),
  ])
  func `a stream error resets only its own stream`(name: String, bytes: [UInt8], code: Int) {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.headers(on: 1) + bytes)
    #expect(fixture.sent().compactMap(\.code) == [code], "\(name)")
    #expect(fixture.send(HTTP2Frames.push(on: 3)).count == 1)
  }

  @Test func `DATA beyond the flow-control window ends the connection`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.headers(on: 1) + HTTP2Frames.headers(on: 3) + HTTP2Frames.headers(on: 5))
    // two streams use 32,768 bytes together, not above the threshold for credit; then more than the rest of the window
    // is sent
    let piece = String(repeating: "x", count: 16_384)
    fixture.http.receiveWindow = 16_384
    fixture.send(HTTP2Frames.data(piece, on: 1, ends: false) + HTTP2Frames.data("x", on: 3, ends: false))
    #expect(fixture.farewell()?.code == 3)
  }

  @Test func `the memory for incomplete requests is bounded`() {
    var limits = APNsServerLimits()
    limits.unfinished = 20_000
    let fixture = HTTP2ConnectionFixture(limits: limits)
    var refused = 0
    for stream in stride(from: 1, to: 41, by: 2) {
      fixture.send(
        HTTP2Frames.headers(on: stream) + HTTP2Frames.data(String(repeating: "x", count: 4000), on: stream, ends: false)
      )
      refused += fixture.sent().filter { $0.code == 7 }.count
    }
    #expect(fixture.http.unfinishedSize < 30_000)
    #expect(refused > 10 && fixture.http.phase == .open)
    for stream in stride(from: 1, to: 41, by: 2) {
      fixture.send(HTTP2Frames.frame(3, stream: stream, HTTP2Frames.number(8)))
    }
    #expect(fixture.http.unfinishedSize == 0 && fixture.http.unfinished == 0)
  }
}
