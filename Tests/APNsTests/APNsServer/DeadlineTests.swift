// SPDX-License-Identifier: Apache-2.0

import APNs
import FidelityRules
import NIOCore
import Testing

@testable import APNsServer

@Suite struct `Deadlines of a connection` {
  private let limits = APNsServerLimits()

  @Test func `a connection ends when the first SETTINGS frame misses the handshake deadline`() {
    for bytes in [[], HTTP2Frames.preface, Array(HTTP2Frames.greeting.dropLast())] {
      let fixture = HTTP2ConnectionFixture(greets: false)
      fixture.send(bytes)
      #expect(fixture.pass(limits.handshake - 1) != nil)
      #expect(fixture.pass(1) == nil)
      #expect(fixture.farewell()?.text == "no HTTP/2 connection within 10 s")
    }
  }

  @Test func `a connection ends when the client does not acknowledge the server's SETTINGS in time`() {
    let fixture = HTTP2ConnectionFixture(greets: false)
    fixture.send(HTTP2Frames.greeting)
    fixture.pass(limits.acknowledgement)
    #expect(fixture.farewell()?.code == 4)
  }

  @Test(.rule("APNS-37"), arguments: [3_600.0, 60])
  func `an idle connection ends with Apple's reason IdleTimeout`(idleTimeout: Double) {
    var limits = limits
    limits.idle = idleTimeout
    let fixture = HTTP2ConnectionFixture(limits: limits)
    #expect(fixture.pass(limits.idle - 10) == fixture.now + 10)
    fixture.send(HTTP2Frames.frame(6, [1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(fixture.sent() == [Seen](frames: HTTP2Frames.frame(6, flags: 1, [1, 2, 3, 4, 5, 6, 7, 8])))
    #expect(fixture.pass(limits.idle - 1) != nil)
    #expect(fixture.pass(1) == nil)
    #expect(fixture.farewell() == .init(last: 0, code: 0, text: #"{"reason":"IdleTimeout"}"#))
  }

  @Test func `a connection is not idle while a response is pending, and the response restarts the idle deadline`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1))
    fixture.pass(limits.idle * 2)
    fixture.http.now = fixture.now
    fixture.answer(on: 1)
    #expect(fixture.pass(limits.idle - 1) != nil)
    #expect(fixture.http.phase == .open)
  }

  @Test(
    .rule("APNS-41"),
    arguments: [
      HTTP2Frames.headers(on: 1), HTTP2Frames.headers(on: 1) + HTTP2Frames.data("{", on: 1, ends: false),
      HTTP2Frames.headers(on: 1, isWhole: false),
      [0, 0, 8], Array(HTTP2Frames.frame(6, [0, 0, 0, 0, 0, 0, 0, 0]).dropLast()),
    ])
  func `a request or a frame that is incomplete at its deadline ends the connection`(bytes: [UInt8]) {
    #expect(APNsServerLimits().headerList == 8000 && APNsServerLimits().request == 30)
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 3))
    fixture.answer(on: 3)
    fixture.pass(100)
    fixture.send(bytes.count > 50 ? HTTP2Frames.push(on: 5) : [])
    fixture.answer(on: 5)
    fixture.send(bytes.map { $0 }.withStream(7))
    #expect(fixture.http.mayEndAt ?? .distantFuture <= fixture.now + limits.request)
    #expect(fixture.pass(limits.request - 1) != nil)
    #expect(fixture.pass(1) == nil)
    #expect(fixture.farewell()?.text.contains("after 30 s") == true)
  }

  @Test func `single bytes of an incomplete frame do not extend its deadline`() {
    let fixture = HTTP2ConnectionFixture()
    for byte in HTTP2Frames.push(on: 1).prefix(29) {
      fixture.send([byte])
      fixture.pass(1)
    }
    #expect(fixture.http.phase == .open)
    fixture.pass(1)
    #expect(fixture.http.phase == .over)
  }

  @Test func `a connection ends when its client does not read for 30 s`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.http.blockedSince = fixture.now
    fixture.pass(limits.unwritable)
    #expect(fixture.http.fault?.text == "the client did not read for 30 s")
  }

  @Test func `a connection that sent GOAWAY waits for pending responses only until the deadline`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    fixture.answer(403, "UnrelatedKeyIdInToken", manner: .responseAndGoAway, on: 1)
    #expect(fixture.pass(limits.request - 1) != nil)
    #expect(fixture.pass(1) == nil)
  }
}

extension [UInt8] {
  /// The frames of stream 1, changed to another stream.
  fileprivate func withStream(_ stream: UInt8) -> [UInt8] {
    var bytes = ByteBuffer(bytes: self)
    var result: [UInt8] = []
    while let frame = Seen(cutFrom: &bytes) {
      result += HTTP2Frames.frame(
        frame.kind, flags: frame.flags, stream: frame.stream == 1 ? Int(stream) : frame.stream, frame.bytes)
    }
    return result + Array(bytes.readableBytesView)
  }
}

extension [Seen] {
  fileprivate init(frames bytes: [UInt8]) {
    var buffer = ByteBuffer(bytes: bytes)
    self = []
    while let frame = Seen(cutFrom: &buffer) { append(frame) }
  }
}
