import APNs
import NIOCore
import NIOHPACK

/// One connection of a provider as RFC 9113 has it: bytes in, requests out; answers in, bytes out. It knows no socket, and
/// takes the time as it is told.
///
/// It says no header that its client would have to remember: a refusal costs no HPACK table on either side.
struct HTTP2Connection {
  enum Phase: Equatable {
    /// Before TLS stands.
    case handshake
    /// Before the client's first SETTINGS.
    case settings
    case open
    /// A GOAWAY has named the last stream; those before it are finished.
    case leaving
    /// Nothing more is read; what is in `output` is the last of it.
    case over
  }

  /// A request that is whole.
  struct Arrival {
    let stream: UInt32
    let request: APNsRequest
  }

  let limits: PushFrontLimits
  var phase = Phase.handshake
  /// What is to be written.
  var output = ByteBuffer()
  /// Why it ended by our side, when it did.
  var fault: Fault?
  /// What was refused on the way and did not end it: for the log, the last one of each batch.
  var remark: String?

  var now: NIODeadline
  let began: NIODeadline
  /// When the client sent the last frame, or was answered.
  var lastUse: NIODeadline

  var reader = FrameReader()
  var decoder: HPACKDecoder?
  /// A header block whose CONTINUATION is awaited.
  var block: HeaderBlock?
  /// Since when the first byte of what is not a whole frame, or not a whole header block, is here.
  var partialSince: NIODeadline?

  var streams: [UInt32: Stream] = [:]
  var lastStream: UInt32 = 0
  /// The last stream that is served, by the GOAWAY that was sent.
  var lastServed: UInt32 = .max
  var leavingSince: NIODeadline?
  /// Requests that are not whole, and what they take.
  var unfinished = 0
  var unfinishedSize = 0

  /// The stream limits that were announced and not acknowledged, and the one in force: until a first acknowledgement the
  /// client may not know of any.
  var announcedLimits: [Int] = []
  var announcedSince: NIODeadline?
  var streamLimit: Int

  /// Flow control: what the client may still send, what we read of that, what we may send.
  var receiveWindow = 65_535
  var uncredited = 0
  var sendWindow = 65_535
  /// SETTINGS_INITIAL_WINDOW_SIZE of the client.
  var initialSendWindow = 65_535
  /// The client's HPACK table became smaller than what an encoder may assume: the next header block says that ours is empty.
  var owesTableSize = false
  var waiting: [WaitingBody] = []
  var blockedSince: NIODeadline?

  var nuisances = Nuisances()
  var emptyData = 0
  /// A PING tells when all that the client sent before it saw our GOAWAY is here.
  var shutdown = Shutdown.none

  enum Shutdown {
    case none
    case announced
    case acknowledged
  }

  init(limits: PushFrontLimits, at now: NIODeadline) {
    self.limits = limits
    self.now = now
    began = now
    lastUse = now
    streamLimit = limits.streams
  }

  /// TLS stands: says our SETTINGS.
  mutating func begin(streams: Int, at now: NIODeadline) {
    guard phase == .handshake else { return }
    self.now = now
    phase = .settings
    writeSettings([
      (.headerTableSize, 4096), (.maxConcurrentStreams, streams), (.initialWindowSize, 65_535),
      (.maxFrameSize, Frame.payloadLimit), (.maxHeaderListSize, limits.headerList),
    ])
    announcedLimits = [streams]
    announcedSince = now
  }

  /// Lets the client have as many streams from now on.
  mutating func allow(streams: Int) {
    guard phase == .settings || phase == .open, announcedLimits.last ?? streamLimit != streams else { return }
    writeSettings([(.maxConcurrentStreams, streams)])
    announcedLimits.append(streams)
    announcedSince = announcedSince ?? now
  }

  mutating func receive(_ bytes: ByteBuffer, at now: NIODeadline) {
    self.now = now
    guard phase != .over else { return }
    reader.append(bytes)
  }

  /// The next request that is whole; nil when more has to come, or nothing will.
  mutating func next() -> Arrival? {
    do throws(Fault) {
      while phase != .over, phase != .handshake, let frame = try reader.next() {
        lastUse = now
        partialSince = nil
        if let arrival = try take(frame) { return arrival }
      }
    } catch {
      end(error)
    }
    return nil
  }

  /// All that came was asked for with `next()`.
  mutating func endBatch() {
    guard phase != .over else {
      reader = FrameReader()
      return
    }
    reader.compact()
    partialSince = reader.isWithinFrame || block != nil ? partialSince ?? now : nil
    finishLeaving()
  }

  /// Ends the connection with a GOAWAY that says why.
  mutating func end(_ fault: Fault) {
    guard phase != .over else { return }
    self.fault = fault
    if phase != .handshake {
      output.writeGoAway(lastStream: min(lastStream, lastServed), fault.code, fault.debugData ?? fault.text)
    }
    phase = .over
    streams = [:]
    waiting = []
    block = nil
    decoder = nil
  }

  /// A setting of section 6.5.2.
  enum Setting: UInt16 {
    case headerTableSize = 1
    case enablePush = 2
    case maxConcurrentStreams = 3
    case initialWindowSize = 4
    case maxFrameSize = 5
    case maxHeaderListSize = 6
  }

  private mutating func writeSettings(_ settings: [(Setting, Int)]) {
    output.writeFrameHead(length: settings.count * 6, kind: Frame.Kind.settings, stream: 0)
    for (setting, value) in settings {
      output.writeInteger(setting.rawValue)
      output.writeInteger(UInt32(value))
    }
  }
}
