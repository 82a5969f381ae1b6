import APNs
import FidelityRules
import NIOCore
import Testing

@testable import APNsServer

@Suite struct `Deadlines of a connection` {
  private let limits = APNsServerLimits()

  @Test func `a connection ends when the first SETTINGS frame misses the handshake deadline`() {
    for bytes in [[], HTTP2Frames.preface, Array(HTTP2Frames.greeting.dropLast())] {
      let talk = HTTP2Dialogue(greets: false)
      talk.send(bytes)
      #expect(talk.pass(limits.handshake - 1) != nil)
      #expect(talk.pass(1) == nil)
      #expect(talk.farewell()?.text == "no HTTP/2 connection within 10 s")
    }
  }

  @Test func `a connection ends when the client does not acknowledge the server's SETTINGS in time`() {
    let talk = HTTP2Dialogue(greets: false)
    talk.send(HTTP2Frames.greeting)
    talk.pass(limits.acknowledgement)
    #expect(talk.farewell()?.code == 4)
  }

  @Test(.rule("APNS-37")) func `an idle connection ends with Apple's reason IdleTimeout`() {
    let talk = HTTP2Dialogue()
    #expect(talk.pass(limits.idle - 10) == talk.now + 10)
    talk.send(HTTP2Frames.frame(6, [1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(talk.said() == [Seen](frames: HTTP2Frames.frame(6, flags: 1, [1, 2, 3, 4, 5, 6, 7, 8])))
    #expect(talk.pass(limits.idle - 1) != nil)
    #expect(talk.pass(1) == nil)
    #expect(talk.farewell() == .init(last: 0, code: 0, text: #"{"reason":"IdleTimeout"}"#))
  }

  @Test func `a connection is not idle while a response is pending, and the response restarts the idle deadline`() {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 1))
    talk.pass(limits.idle * 2)
    talk.http.now = talk.now
    talk.answer(on: 1)
    #expect(talk.pass(limits.idle - 1) != nil)
    #expect(talk.http.phase == .open)
  }

  @Test(
    .rule("APNS-41"),
    arguments: [
      HTTP2Frames.headers(on: 1), HTTP2Frames.headers(on: 1) + HTTP2Frames.data("{", on: 1, ends: false),
      HTTP2Frames.headers(on: 1, isWhole: false),
      [0, 0, 8], Array(HTTP2Frames.frame(6, [0, 0, 0, 0, 0, 0, 0, 0]).dropLast()),
    ])
  func `a request or a frame that is incomplete at its deadline ends the connection`(bytes: [UInt8]) {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 3))
    talk.answer(on: 3)
    talk.pass(100)
    talk.send(bytes.count > 50 ? HTTP2Frames.push(on: 5) : [])
    talk.answer(on: 5)
    talk.send(bytes.map { $0 }.withStream(7))
    #expect(talk.http.mayEndAt ?? .distantFuture <= talk.now + limits.request)
    #expect(talk.pass(limits.request - 1) != nil)
    #expect(talk.pass(1) == nil)
    #expect(talk.farewell()?.text.contains("after 30 s") == true)
  }

  @Test func `single bytes of an incomplete frame do not extend its deadline`() {
    let talk = HTTP2Dialogue()
    for byte in HTTP2Frames.push(on: 1).prefix(29) {
      talk.send([byte])
      talk.pass(1)
    }
    #expect(talk.http.phase == .open)
    talk.pass(1)
    #expect(talk.http.phase == .over)
  }

  @Test func `a connection ends when its client does not read for 30 s`() {
    let talk = HTTP2Dialogue()
    talk.http.blockedSince = talk.now
    talk.pass(limits.unwritable)
    #expect(talk.http.fault?.text == "the client did not read for 30 s")
  }

  @Test func `a connection that sent GOAWAY waits for pending responses only until the deadline`() {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    talk.answer(403, "UnrelatedKeyIdInToken", manner: .responseAndGoAway, on: 1)
    #expect(talk.pass(limits.request - 1) != nil)
    #expect(talk.pass(1) == nil)
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
