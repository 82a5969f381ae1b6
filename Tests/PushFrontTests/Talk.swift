import APNs
import NIOCore
import NIOHPACK

@testable import PushFront

/// A connection without a socket, and its client: bytes go in, frames come out, and the time is what the test says.
final class Talk {
  var http: HTTP2Connection
  var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
  var decoder = HPACKDecoder(allocator: ByteBufferAllocator())

  init(limits: PushFrontLimits = PushFrontLimits(), streams: Int = 1000, greets: Bool = true) {
    http = HTTP2Connection(limits: limits, at: now)
    http.begin(streams: streams, at: now)
    guard greets else { return }
    send(Wire.greeting + Wire.acknowledgement)
    _ = said()
  }

  /// The requests that became whole.
  @discardableResult
  func send(_ bytes: [UInt8]) -> [HTTP2Connection.Arrival] {
    http.receive(ByteBuffer(bytes: bytes), at: now)
    var arrivals: [HTTP2Connection.Arrival] = []
    while let arrival = http.next() { arrivals.append(arrival) }
    http.endBatch()
    return arrivals
  }

  /// The frames since the last time.
  func said() -> [Seen] {
    var frames: [Seen] = []
    while let frame = Seen(cutFrom: &http.output) { frames.append(frame) }
    return frames
  }

  func answer(
    _ status: Int = 200, _ reason: String? = nil, manner: APNsAnswer.Manner = .response, on stream: UInt32
  ) {
    http.answer(APNsAnswer(status: status, reason: reason, apnsID: "an-id", manner: manner), on: stream)
  }

  /// Lets time pass; says when there will be something to look at.
  @discardableResult
  func pass(_ seconds: Double) -> NIODeadline? {
    now = now + seconds
    return http.look(at: now)
  }

  /// What the last GOAWAY said.
  func farewell() -> Seen.Farewell? { said().compactMap(\.farewell).last }
}
