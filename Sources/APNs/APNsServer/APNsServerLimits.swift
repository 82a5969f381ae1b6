// SPDX-License-Identifier: Apache-2.0

import Archive
import NIOCore

/// Limits of a connection: times in seconds, sizes in bytes. Apple publishes few of them; a limit without a source is
/// ours.
package struct APNsServerLimits: Sendable {
  /// From the accepted connection to the client's first SETTINGS.
  package var handshake = 10.0
  /// Without a frame from the client: then GOAWAY with IdleTimeout.
  package var idle = 3600.0
  /// From the first to the last byte of a request, or of a frame.
  package var request = 30.0
  /// From our SETTINGS to their acknowledgement.
  package var acknowledgement = 30.0
  /// How long a client may read nothing, or return no flow-control credit.
  package var unwritable = 30.0
  /// From our last byte to the close of the socket, for a client that does not close.
  package var ending = 2.0
  /// Concurrent connections; one more is closed on arrival.
  package var connections = 20_000
  /// Concurrent streams before the first authorized request: Apple's *Sending notification requests to APNs*.
  package var firstStreams = 1
  /// Concurrent streams afterwards: observed at api.push.apple.com in 2021.
  package var streams = 1000
  /// Size of a request's header list: observed at api.push.apple.com.
  package var headerList = 8000
  /// CONTINUATION frames of a header block.
  package var continuations = 8
  /// A longer body is not read to its end before the response.
  package var bodyRead = 1 << 20
  /// Incomplete requests of a connection, together.
  package var unfinished = 4 << 20
  /// Number of response bodies that wait for flow-control credit.
  package var waitingBodies = 256
  /// Consecutive empty DATA frames.
  package var emptyData = 16
  /// Frames in half a minute, each: RST_STREAM; PING and SETTINGS; refused frames; frames that HTTP/2 ignores, beyond
  /// those that requests need.
  package var nuisances = 1000

  /// What happens to a connection on which many requests are refused. Nothing by default.
  package var refusals = RefusalPolicy()

  package init() {}
}

extension NIODeadline {
  static func + (start: NIODeadline, seconds: Double) -> NIODeadline {
    start + .nanoseconds(Int64(saturating: min(seconds, 1e9) * 1e9))
  }
}
