// SPDX-License-Identifier: Apache-2.0

import APNs
import FidelityRules
import NIOCore
import Testing

@testable import APNsServer

/// Frames that HTTP/2 lets a server ignore. Each costs as much time as a frame of a request.
@Suite struct `Frames without effect` {
  private static let kinds: [(name: String, first: [UInt8], each: [UInt8])] = [
    ("frames of unknown types", [], HTTP2Frames.frame(0xee)),
    ("PRIORITY", [], HTTP2Frames.frame(2, stream: 1, [0, 0, 0, 3, 16])),
    ("WINDOW_UPDATE", [], HTTP2Frames.credit(1, to: 0)),
    ("WINDOW_UPDATE", HTTP2Frames.headers(on: 1), HTTP2Frames.credit(1, to: 1)),
    ("GOAWAY", [], HTTP2Frames.frame(7, [0, 0, 0, 0, 0, 0, 0, 0])),
    ("acknowledgements of PING", [], HTTP2Frames.frame(6, flags: 1, [0, 0, 0, 0, 0, 0, 0, 0])),
    ("DATA frames with few bytes", HTTP2Frames.headers(on: 1), HTTP2Frames.data("a", on: 1, ends: false)),
  ]

  @Test(.rule("APNS-41"), arguments: kinds.indices)
  func `more than 1000 in half a minute end the connection with the name of the frame`(index: Int) throws {
    let (name, first, each) = Self.kinds[index]
    let fixture = HTTP2ConnectionFixture()
    // A request permits some.
    let permitted = first.isEmpty ? 0 : FloodCounter.framesOfRequest
    fixture.send(first + (0..<1000 + permitted).flatMap { _ in each })
    #expect(fixture.farewell() == nil, "\(name)")
    fixture.send(each)
    let farewell = try #require(fixture.farewell(), "\(name)")
    #expect(farewell.code == 11 && farewell.text == "more than 1000 \(name) in half a minute")
  }

  @Test func `after half a minute the count begins again`() {
    let fixture = HTTP2ConnectionFixture()
    for _ in 0..<5 {
      fixture.send((0..<1000).flatMap { _ in HTTP2Frames.frame(0xee) })
      fixture.pass(31)
    }
    #expect(fixture.farewell() == nil && fixture.http.phase == .open)
  }

  /// As some clients send them: a PRIORITY before a request, DATA before the one that ends it, and two WINDOW_UPDATE for
  /// the response.
  @Test func `frames that belong to requests are permitted, however many requests there are`() {
    let fixture = HTTP2ConnectionFixture()
    for number in 0..<3000 {
      let stream = 1 + 2 * number
      fixture.send(
        HTTP2Frames.frame(2, stream: stream, [0, 0, 0, 0, 16]) + HTTP2Frames.headers(on: stream)
          + HTTP2Frames.data("{}", on: stream, ends: false) + HTTP2Frames.data("", on: stream))
      fixture.answer(400, "BadDeviceToken", on: UInt32(stream))
      fixture.send(HTTP2Frames.credit(27, to: 0) + HTTP2Frames.credit(27, to: stream))
      _ = fixture.sent()
    }
    #expect(fixture.http.phase == .open)
  }

  @Test func `a client may return the credit of a thousand responses at once`() {
    let fixture = HTTP2ConnectionFixture()
    let streams = (0..<1000).map { 1 + 2 * $0 }
    fixture.send(streams.flatMap { HTTP2Frames.push(on: $0) })
    // A new half minute.
    fixture.pass(31)
    for stream in streams { fixture.answer(400, "BadDeviceToken", on: UInt32(stream)) }
    fixture.send(streams.flatMap { HTTP2Frames.credit(27, to: 0) + HTTP2Frames.credit(27, to: $0) })
    #expect(fixture.http.phase == .open)
  }
}
