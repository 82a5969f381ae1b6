// SPDX-License-Identifier: Apache-2.0

import APNs
import NIOCore
import NIOHPACK

@testable import APNsServer

/// A connection without a socket, and its client: bytes in, frames out, with a manual clock.
final class HTTP2ConnectionFixture {
  var http: HTTP2Connection
  var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
  var decoder = HPACKDecoder(allocator: ByteBufferAllocator())

  init(limits: APNsServerLimits = APNsServerLimits(), streams: Int = 1000, greets: Bool = true) {
    http = HTTP2Connection(limits: limits, at: now)
    http.begin(streams: streams, at: now)
    guard greets else { return }
    send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement)
    _ = sent()
  }

  /// Sends bytes; returns the complete requests.
  @discardableResult
  func send(_ bytes: [UInt8]) -> [HTTP2Connection.Arrival] {
    http.receive(ByteBuffer(bytes: bytes), at: now)
    var arrivals: [HTTP2Connection.Arrival] = []
    while let arrival = http.next() { arrivals.append(arrival) }
    http.endBatch()
    return arrivals
  }

  /// The frames since the last call.
  func sent() -> [Seen] {
    var frames: [Seen] = []
    while let frame = Seen(cutFrom: &http.output) { frames.append(frame) }
    return frames
  }

  func answer(
    _ status: Int = 200, _ reason: String? = nil, manner: APNsAnswer.Manner = .response, on stream: UInt32
  ) {
    http.answer(APNsAnswer(status: status, reason: reason, apnsID: "an-id", manner: manner), on: stream)
  }

  /// Advances the clock; returns the next deadline.
  @discardableResult
  func pass(_ seconds: Double) -> NIODeadline? {
    now = now + seconds
    return http.look(at: now)
  }

  /// The content of the last GOAWAY.
  func farewell() -> Seen.Farewell? { sent().compactMap(\.farewell).last }
}
