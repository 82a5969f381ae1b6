import APNs
import NIOCore
import Testing

@testable import PushFront

@Suite struct `the time that a connection has` {
  private let limits = PushFrontLimits()

  @Test func `for its first SETTINGS is bounded`() {
    for bytes in [[], Wire.preface, Array(Wire.greeting.dropLast())] {
      let talk = Talk(greets: false)
      talk.send(bytes)
      #expect(talk.pass(limits.handshake - 1) != nil)
      #expect(talk.pass(1) == nil)
      #expect(talk.farewell()?.text == "no HTTP/2 connection within 10 s")
    }
  }

  @Test func `to acknowledge our SETTINGS is bounded`() {
    let talk = Talk(greets: false)
    talk.send(Wire.greeting)
    talk.pass(limits.acknowledgement)
    #expect(talk.farewell()?.code == 4)
  }

  @Test func `without a frame is bounded, and Apple's reason is said`() {
    let talk = Talk()
    #expect(talk.pass(limits.idle - 10) == talk.now + 10)
    talk.send(Wire.frame(6, [1, 2, 3, 4, 5, 6, 7, 8]))
    #expect(talk.said() == [Seen](frames: Wire.frame(6, flags: 1, [1, 2, 3, 4, 5, 6, 7, 8])))
    #expect(talk.pass(limits.idle - 1) != nil)
    #expect(talk.pass(1) == nil)
    #expect(talk.farewell() == .init(last: 0, code: 0, text: #"{"reason":"IdleTimeout"}"#))
  }

  @Test func `is not idle while an answer is due, and begins anew with it`() {
    let talk = Talk()
    talk.send(Wire.push(on: 1))
    talk.pass(limits.idle * 2)
    talk.http.now = talk.now
    talk.answer(on: 1)
    #expect(talk.pass(limits.idle - 1) != nil)
    #expect(talk.http.phase == .open)
  }

  @Test(arguments: [
    Wire.headers(on: 1), Wire.headers(on: 1) + Wire.data("{", on: 1, ends: false), Wire.headers(on: 1, isWhole: false),
    [0, 0, 8], Array(Wire.frame(6, [0, 0, 0, 0, 0, 0, 0, 0]).dropLast()),
  ])
  func `for a request or a frame is bounded, however slowly it goes on`(bytes: [UInt8]) {
    let talk = Talk()
    talk.send(Wire.push(on: 3))
    talk.answer(on: 3)
    talk.pass(100)
    talk.send(bytes.count > 50 ? Wire.push(on: 5) : [])
    talk.answer(on: 5)
    talk.send(bytes.map { $0 }.withStream(7))
    #expect(talk.http.mayEndAt ?? .distantFuture <= talk.now + limits.request)
    #expect(talk.pass(limits.request - 1) != nil)
    #expect(talk.pass(1) == nil)
    #expect(talk.farewell()?.text.contains("not whole within 30 s") == true)
  }

  @Test func `is not begun again by the bytes of a frame that trickle in`() {
    let talk = Talk()
    for byte in Wire.push(on: 1).prefix(29) {
      talk.send([byte])
      talk.pass(1)
    }
    #expect(talk.http.phase == .open)
    talk.pass(1)
    #expect(talk.http.phase == .over)
  }

  @Test func `not to read is bounded`() {
    let talk = Talk()
    talk.http.blockedSince = talk.now
    talk.pass(limits.unwritable)
    #expect(talk.http.fault?.text == "the client did not read for 30 s")
  }

  @Test func `after a farewell is bounded`() {
    let talk = Talk()
    talk.send(Wire.push(on: 1) + Wire.push(on: 3))
    talk.answer(403, "UnrelatedKeyIdInToken", manner: .responseAndGoAway, on: 1)
    #expect(talk.pass(limits.request - 1) != nil)
    #expect(talk.pass(1) == nil)
  }
}

extension [UInt8] {
  /// The stream of frames that were written for stream 1.
  fileprivate func withStream(_ stream: UInt8) -> [UInt8] {
    var bytes = ByteBuffer(bytes: self)
    var result: [UInt8] = []
    while let frame = Seen(cutFrom: &bytes) {
      result += Wire.frame(
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
