// SPDX-License-Identifier: Apache-2.0

import APNs
import NIOCore
import NIOHPACK

/// The protocol state of one provider connection (RFC 9113): takes bytes and responses, produces requests and bytes. It
/// has no socket and no clock; the caller passes the time.
///
/// It sends no header that the client's HPACK table would have to keep: a refusal costs no table entry on either side.
struct HTTP2Connection {
  enum Phase: Equatable {
    /// Before the TLS handshake is complete.
    case handshake
    /// Before the client's first SETTINGS.
    case settings
    case open
    /// A GOAWAY with the last stream was sent; that stream and those before it are finished.
    case leaving
    /// Closed: nothing more is read, and `output` holds the last bytes.
    case over
  }

  /// A complete request.
  struct Arrival: Sendable {
    let stream: UInt32
    let request: APNsRequest
  }

  let limits: APNsServerLimits
  var phase = Phase.handshake
  /// Bytes to write.
  var output = ByteBuffer()
  /// Why this side closed the connection, if it did.
  var fault: HTTP2Error?
  /// For the log: the last error of each batch that did not close the connection.
  var remark: String?

  var now: NIODeadline
  let began: NIODeadline
  /// The time of the last frame from the client, or of the last response.
  var lastUse: NIODeadline

  var reader = FrameReader()
  var decoder: HPACKDecoder?
  /// A header block that awaits a CONTINUATION.
  var block: HeaderBlock?
  /// Arrival time of the first byte of an incomplete frame or header block.
  var partialSince: NIODeadline?

  var streams: [UInt32: Stream] = [:]
  var resetStreams = ResetStreams()
  var lastStream: UInt32 = 0
  /// The last stream whose request was passed on.
  var lastPassedOn: UInt32 = 0
  /// The last stream that is served, as announced in the GOAWAY.
  var lastServed: UInt32 = .max
  var leavingSince: NIODeadline?
  /// The number of incomplete requests; `unfinishedSize` is their size in bytes.
  var unfinished = 0
  var unfinishedSize = 0

  /// Stream limits that were announced and are not yet acknowledged; `streamLimit` is the one in force. Before the
  /// first acknowledgement the client may not know any limit.
  var announcedLimits: [Int] = []
  var announcedSince: NIODeadline?
  var streamLimit: Int

  /// Flow control, in bytes: what the client may still send; what was read and not yet credited; what this side may
  /// send.
  var receiveWindow = 65_535
  var uncredited = 0
  var sendWindow = 65_535
  /// The client's SETTINGS_INITIAL_WINDOW_SIZE.
  var initialSendWindow = 65_535
  /// True when the client reduced its HPACK table below the default: the next header block announces a table size of 0.
  var mustAnnounceTableSize = false
  var waiting: [WaitingBody] = []
  var blockedSince: NIODeadline?

  var nuisances = FloodCounter()
  var emptyData = 0
  /// The state of the shutdown. The acknowledged PING shows that everything the client sent before it received our
  /// GOAWAY has arrived.
  var shutdown = Shutdown.none

  enum Shutdown {
    case none
    case announced
    case acknowledged
  }

  init(limits: APNsServerLimits, at now: NIODeadline) {
    self.limits = limits
    self.now = now
    began = now
    lastUse = now
    streamLimit = limits.streams
  }

  /// Sends our SETTINGS after the TLS handshake.
  mutating func begin(streams: Int, at now: NIODeadline) {
    guard phase == .handshake else { return }
    self.now = now
    phase = .settings
    writeSettings([
      (.headerTableSize, 4096), (.maxConcurrentStreams, streams), (.initialWindowSize, 65_535),
      (.maxFrameSize, HTTP2Frame.payloadLimit), (.maxHeaderListSize, limits.headerList),
    ])
    announcedLimits = [streams]
    announcedSince = now
  }

  /// Announces a new limit of concurrent streams.
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

  /// Returns the next complete request; `nil` when more bytes are needed or the connection is closed.
  mutating func next() -> Arrival? {
    do throws(HTTP2Error) {
      while phase != .over, phase != .handshake, let frame = try reader.next() {
        lastUse = now
        partialSince = nil
        if let arrival = try handle(frame) { return arrival }
      }
    } catch {
      end(error)
    }
    return nil
  }

  /// Ends a batch: call after `next()` has returned `nil`.
  mutating func endBatch() {
    guard phase != .over else {
      reader = FrameReader()
      return
    }
    reader.compact()
    partialSince = reader.isWithinFrame || block != nil ? partialSince ?? now : nil
    finishLeaving()
  }

  /// Closes the connection with a GOAWAY that has the reason.
  mutating func end(_ fault: HTTP2Error) {
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

  /// The settings of section 6.5.2.
  enum Setting: UInt16 {
    case headerTableSize = 1
    case enablePush = 2
    case maxConcurrentStreams = 3
    case initialWindowSize = 4
    case maxFrameSize = 5
    case maxHeaderListSize = 6
  }

  private mutating func writeSettings(_ settings: [(Setting, Int)]) {
    output.writeFrameHead(length: settings.count * 6, kind: HTTP2Frame.Kind.settings, stream: 0)
    for (setting, value) in settings {
      output.writeInteger(setting.rawValue)
      output.writeInteger(UInt32(value))
    }
  }
}
