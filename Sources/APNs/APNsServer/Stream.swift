// SPDX-License-Identifier: Apache-2.0

import APNs
import NIOCore

/// A request that is being received or awaits its response. A reference, because its connection changes it in place for
/// each frame.
final class Stream {
  enum Input {
    /// The request is incomplete.
    case open
    /// The request was passed on before its end, because its body is too long.
    case cut
    case ended
  }

  private var head: RequestHead?
  private var body: [UInt8] = []
  /// Received bytes of the body.
  private(set) var received = 0
  private(set) var input = Input.open
  /// The response to HEAD has no body: RFC 9110, section 9.3.2.
  let isHead: Bool
  let began: NIODeadline
  var sendWindow: Int
  var receiveWindow = 65_535
  var uncredited = 0

  init(_ head: RequestHead, sendWindow: Int, began: NIODeadline) {
    self.head = head
    isHead = head.method == "HEAD"
    self.sendWindow = sendWindow
    self.began = began
  }

  /// The size in memory of an incomplete request.
  var size: Int { (head?.size ?? 0) + body.count }

  /// Keeps the first `APNsRequest.bodyLimit` bytes of the body and counts the rest.
  func append(_ bytes: inout ByteBuffer) {
    received += bytes.readableBytes
    let room = APNsRequest.bodyLimit - body.count
    guard room > 0, input == .open, let kept = bytes.readBytes(length: min(room, bytes.readableBytes)) else { return }
    if body.isEmpty { body = kept } else { body += kept }
  }

  /// True when the content-length differs from the length of the body.
  var breaksPromise: Bool { head?.contentLength.map { $0 != received } ?? false }

  /// Returns the request, once.
  func finish(_ input: Input) -> APNsRequest? {
    self.input = input
    guard let head else { return nil }
    let request = APNsRequest(
      method: head.method, path: head.path, headers: head.headers, body: body, isTruncated: received > body.count)
    self.head = nil
    body = []
    return request
  }
}

/// The rest of a response body whose headers were sent and which awaits flow-control credit.
struct WaitingBody {
  let stream: UInt32
  var rest: ByteBuffer
  /// The time of the headers, or of the last DATA.
  var since: NIODeadline
}

/// The last streams on which this side sent RST_STREAM. What arrives on them is discarded, because the client may have
/// sent it earlier, and nothing more is sent on them: sections 5.1 and 5.4.2.
struct ResetStreams {
  private static let limit = 1024
  private var ids: [UInt32] = []

  func contains(_ id: UInt32) -> Bool { ids.contains(id) }

  /// Forgets the older half when there are too many: another RST_STREAM on one of those does no harm.
  mutating func insert(_ id: UInt32) {
    if ids.count == ResetStreams.limit { ids.removeFirst(ResetStreams.limit / 2) }
    ids.append(id)
  }
}

/// An incomplete header block: section 4.3.
struct HeaderBlock {
  let stream: UInt32
  let endsStream: Bool
  let dependsOnItself: Bool
  var bytes: ByteBuffer
  var continuations = 0
}

/// Counts frames that cost resources without use, per half minute.
struct FloodCounter {
  private var since: NIODeadline?
  private var resets = 0
  private var controls = 0
  private var strays = 0
  /// Ignored frames, minus those that are permitted.
  private var ignored = 0

  enum Kind {
    case reset
    case control
    case stray
    /// A frame that HTTP/2 permits, and that changes nothing here: each costs as much time as one of a request.
    case ignored
  }

  /// Counts a frame and returns the count of its type in the current half minute.
  mutating func count(_ kind: Kind, at now: NIODeadline) -> Int {
    if since.map({ now - $0 > .seconds(30) }) ?? true {
      let permitted = min(ignored, 0)
      self = FloodCounter(since: now)
      ignored = permitted
    }
    switch kind {
    case .reset:
      resets += 1
      return resets
    case .control:
      controls += 1
      return controls
    case .stray:
      strays += 1
      return strays
    case .ignored:
      ignored += 1
      return ignored
    }
  }

  /// The ignored frames that a request permits: a PRIORITY, DATA before the one that ends it, and a WINDOW_UPDATE for the
  /// response on the stream and on the connection.
  static let framesOfRequest = 4

  /// Permits ignored frames, together at most `most`.
  mutating func permit(_ frames: Int, upTo most: Int) { ignored = max(ignored - frames, -most) }

  init(since: NIODeadline? = nil) { self.since = since }
}
