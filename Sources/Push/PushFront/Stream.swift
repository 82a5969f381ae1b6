import APNs
import NIOCore

/// A request on its way in, or waiting for its answer.
struct Stream {
  enum Input {
    /// More of the request has to come.
    case open
    /// The request was handed on before its end: its body is too long to be waited for.
    case cut
    case ended
  }

  private var head: RequestHead?
  private var body: [UInt8] = []
  /// Bytes of the body that came.
  private(set) var received = 0
  private(set) var input = Input.open
  let began: NIODeadline
  var sendWindow: Int
  var receiveWindow = 65_535
  var uncredited = 0

  init(_ head: RequestHead, sendWindow: Int, began: NIODeadline) {
    self.head = head
    self.sendWindow = sendWindow
    self.began = began
  }

  /// What it takes while the request is not whole.
  var size: Int { (head?.size ?? 0) + body.count }

  /// Keeps what the contract looks at, and counts the rest.
  mutating func append(_ bytes: inout ByteBuffer) {
    received += bytes.readableBytes
    let room = APNsRequest.bodyLimit - body.count
    guard room > 0, input == .open, let kept = bytes.readBytes(length: min(room, bytes.readableBytes)) else { return }
    if body.isEmpty { body = kept } else { body += kept }
  }

  /// The content-length that was promised is not what came.
  var breaksPromise: Bool { head?.contentLength.map { $0 != received } ?? false }

  /// The request, once.
  mutating func finish(_ input: Input) -> APNsRequest? {
    self.input = input
    guard let head else { return nil }
    let request = APNsRequest(
      method: head.method, path: head.path, headers: head.headers, body: body, isTruncated: received > body.count)
    self.head = nil
    body = []
    return request
  }
}

/// The body of a refusal whose headers were said, and for which the client has left no credit.
struct WaitingBody {
  let stream: UInt32
  let text: String
  let since: NIODeadline
}

/// A header block that is not whole: section 4.3.
struct HeaderBlock {
  let stream: UInt32
  let endsStream: Bool
  var bytes: ByteBuffer
  var continuations = 0
}

/// How often a client does what costs us and serves nobody, in the present half minute.
struct Nuisances {
  private var since: NIODeadline?
  private var resets = 0
  private var controls = 0
  private var strays = 0

  enum Kind {
    case reset
    case control
    case stray
  }

  /// How often it was in this half minute, with this time.
  mutating func count(_ kind: Kind, at now: NIODeadline) -> Int {
    if since.map({ now - $0 > .seconds(30) }) ?? true { self = Nuisances(since: now) }
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
    }
  }

  init(since: NIODeadline? = nil) { self.since = since }
}
