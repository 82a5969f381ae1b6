import NIOCore

/// What a connection may take: time in seconds, sizes in bytes. Apple publishes few of these; all are ours where no source is
/// named.
package struct PushFrontLimits: Sendable {
  /// From the accepted connection to the client's first SETTINGS.
  package var handshake = 10.0
  /// Without a frame from the client: then GOAWAY with IdleTimeout.
  package var idle = 3600.0
  /// From the first byte of a request, or of a frame, to its last.
  package var request = 30.0
  /// From our SETTINGS to their acknowledgement.
  package var acknowledgement = 30.0
  /// That a client does not read what it is sent, or returns no credit for it.
  package var unwritable = 30.0
  /// From the last word said to the socket's end, for a client that does not close.
  package var ending = 2.0
  /// Connections at once; one more is closed as it comes.
  package var connections = 20_000
  /// Streams at once until a first request was authorized: Apple's *Sending notification requests to APNs*.
  package var firstStreams = 1
  /// Streams at once from then on: as seen at api.push.apple.com in 2021.
  package var streams = 1000
  /// The header list of a request: as seen at api.push.apple.com.
  package var headerList = 8000
  /// CONTINUATION frames of a header block.
  package var continuations = 8
  /// A body that is longer is not waited for to its end.
  package var bodyRead = 1 << 20
  /// Requests that are not whole, all of a connection together.
  package var unfinished = 4 << 20
  /// Bodies of refusals for which the client has returned no credit.
  package var waitingBodies = 256
  /// DATA frames without a byte in a row.
  package var emptyData = 16
  /// Of one kind in half a minute: RST_STREAM; PING and SETTINGS; what had to be refused or passed over.
  package var nuisances = 1000

  package init() {}
}

extension NIODeadline {
  static func + (start: NIODeadline, seconds: Double) -> NIODeadline {
    start + .nanoseconds(Int64(min(seconds, 1e9) * 1e9))
  }
}
