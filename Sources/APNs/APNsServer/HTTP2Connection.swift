// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import Foundation
import Messages
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
  var waitingBodies: [WaitingBody] = []
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
    waitingBodies = []
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

extension HTTP2Connection {
  /// Processes a frame from the client. Returns a request that it completes.
  private mutating func handle(_ frame: HTTP2Frame) throws(HTTP2Error) -> Arrival? {
    if phase == .settings {
      guard frame.kind == HTTP2Frame.Kind.settings, !frame.has(HTTP2Frame.Flag.ack) else {
        throw HTTP2Error(.protocolError, "the client's first frame is not SETTINGS")
      }
      phase = .open
    }
    guard block == nil || frame.kind == HTTP2Frame.Kind.continuation else {
      throw HTTP2Error(.protocolError, "another frame inside a header block")
    }
    switch frame.kind {
    case HTTP2Frame.Kind.data: return try takeData(frame)
    case HTTP2Frame.Kind.headers: return try takeHeaders(frame)
    case HTTP2Frame.Kind.continuation: return try takeContinuation(frame)
    case HTTP2Frame.Kind.windowUpdate: try takeCredit(frame)
    case HTTP2Frame.Kind.settings: try takeSettings(frame)
    case HTTP2Frame.Kind.ping: try takePing(frame)
    case HTTP2Frame.Kind.reset: try takeReset(frame)
    case HTTP2Frame.Kind.priority: try takePriority(frame)
    case HTTP2Frame.Kind.pushPromise: throw HTTP2Error(.protocolError, "PUSH_PROMISE from a client")
    case HTTP2Frame.Kind.goAway: try takeGoAway(frame)
    default: try count(.ignored, "frames of unknown types")
    }
    return nil
  }

  /// Resets one stream, open or closed; the connection continues: section 5.4.2. Only counts the frame if the stream was
  /// reset before.
  mutating func reset(_ stream: UInt32, with code: ErrorCode, because why: String) throws(HTTP2Error) {
    guard !resetStreams.contains(stream) else { return try count(.stray, "frames of streams that are closed") }
    remark = "stream \(stream) was reset: \(why)"
    writeReset(of: stream, code)
    forget(stream)
    try count(.stray, "requests that cannot be served")
  }

  mutating func writeReset(of stream: UInt32, _ code: ErrorCode) {
    output.writeReset(of: stream, code)
    resetStreams.insert(stream)
  }

  private mutating func forget(_ id: UInt32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if stream.input == .open { uncount(stream.size) }
    if !waitingBodies.isEmpty { waitingBodies.removeAll { $0.stream == id } }
  }

  /// Removes a request from the counts of incomplete requests.
  private mutating func uncount(_ size: Int) {
    unfinished -= 1
    unfinishedSize -= size
  }

  mutating func count(_ kind: FloodCounter.Kind, _ what: String) throws(HTTP2Error) {
    guard nuisances.count(kind, at: now) <= limits.nuisances else {
      throw HTTP2Error(.enhanceYourCalm, "more than \(limits.nuisances) \(what) in half a minute")
    }
  }

  // MARK: Frames of a stream

  private mutating func takeHeaders(_ frame: HTTP2Frame) throws(HTTP2Error) -> Arrival? {
    guard frame.stream % 2 == 1 else { throw HTTP2Error(.protocolError, "HEADERS on stream \(frame.stream)") }
    var frame = frame
    try frame.unpad()
    var dependsOnItself = false
    if frame.has(HTTP2Frame.Flag.priority) {
      guard frame.payload.readableBytes >= 5 else { throw HTTP2Error(.frameSize, "HEADERS too short for a priority") }
      dependsOnItself = frame.dependsOnItself
      frame.payload.moveReaderIndex(forwardBy: 5)
    }
    emptyData = 0
    let block = HeaderBlock(
      stream: frame.stream, endsStream: frame.has(HTTP2Frame.Flag.endStream), dependsOnItself: dependsOnItself,
      bytes: frame.payload)
    if frame.has(HTTP2Frame.Flag.endHeaders) { return try open(block) }
    self.block = block
    return nil
  }

  private mutating func takeContinuation(_ frame: HTTP2Frame) throws(HTTP2Error) -> Arrival? {
    guard var block, block.stream == frame.stream else {
      throw HTTP2Error(.protocolError, "CONTINUATION without HEADERS")
    }
    self.block = nil
    block.continuations += 1
    guard block.continuations <= limits.continuations,
      block.bytes.readableBytes + frame.payload.readableBytes <= 2 * limits.headerList
    else { throw HTTP2Error(.enhanceYourCalm, "header block with too many frames or bytes") }
    block.bytes.writeImmutableBuffer(frame.payload)
    if frame.has(HTTP2Frame.Flag.endHeaders) { return try open(block) }
    self.block = block
    return nil
  }

  /// Processes a complete header block: a new stream, or trailers.
  private mutating func open(_ block: HeaderBlock) throws(HTTP2Error) -> Arrival? {
    let id = block.stream
    let list = try decode(block.bytes)
    guard id > lastStream else { return try takeTrailers(list, block) }
    lastStream = id
    guard id <= lastServed else {
      try count(.ignored, "frames after the last stream that is served")
      return nil
    }
    nuisances.permit(FloodCounter.framesOfRequest, upTo: FloodCounter.framesOfRequest * limits.streams)
    guard streams.count < streamLimit, unfinishedSize < limits.unfinished else {
      try reset(
        id, with: .refusedStream,
        because: "more than \(streamLimit) concurrent streams, or incomplete requests too large")
      return nil
    }
    guard !block.dependsOnItself else {
      try reset(id, with: .protocolError, because: "the stream depends on itself")
      return nil
    }
    let head: RequestHead
    do throws(RequestHead.Malformed) { head = try RequestHead(list) } catch {
      try reset(id, with: .protocolError, because: error.text)
      return nil
    }
    let stream = Stream(head, sendWindow: initialSendWindow, began: now)
    unfinished += 1
    unfinishedSize += stream.size
    streams[id] = stream
    return block.endsStream ? try finish(stream, id) : nil
  }

  /// Processes a header block of a stream that was opened before.
  private mutating func takeTrailers(_ list: HPACKHeaders, _ block: HeaderBlock) throws(HTTP2Error) -> Arrival? {
    let id = block.stream
    guard let stream = streams[id] else {
      guard resetStreams.contains(id) || list.first?.name.utf8.first != UInt8(ascii: ":") else {
        throw HTTP2Error(.protocolError, "stream \(id) opened after stream \(lastStream)")
      }
      if id <= lastServed { try reset(id, with: .streamClosed, because: "HEADERS on a closed stream") }
      return nil
    }
    guard stream.input != .ended else {
      try reset(id, with: .streamClosed, because: "HEADERS after END_STREAM")
      return nil
    }
    guard block.endsStream, !block.dependsOnItself else {
      try reset(
        id, with: .protocolError,
        because: "HEADERS within a request must end it, and may not depend on their own stream")
      return nil
    }
    do throws(RequestHead.Malformed) { try RequestHead.check(trailers: list) } catch {
      try reset(id, with: .protocolError, because: error.text)
      return nil
    }
    return try finish(stream, id)
  }

  private mutating func decode(_ block: ByteBuffer) throws(HTTP2Error) -> HPACKHeaders {
    var bytes = block
    var decoder =
      self.decoder
      ?? HPACKDecoder(allocator: ByteBufferAllocator(), maxDynamicTableSize: 4096, maxHeaderListSize: limits.headerList)
    self.decoder = nil
    do {
      let list = try decoder.decodeHeaders(from: &bytes)
      self.decoder = decoder
      return list
    } catch is NIOHPACKErrors.MaxHeaderListSizeViolation {
      throw HTTP2Error(.enhanceYourCalm, "header list of more than \(limits.headerList) bytes")
    } catch {
      throw HTTP2Error(.compression, "invalid HPACK header block")
    }
  }

  private mutating func takeData(_ frame: HTTP2Frame) throws(HTTP2Error) -> Arrival? {
    guard frame.stream % 2 == 1, frame.stream <= lastStream else {
      throw HTTP2Error(.protocolError, "DATA on stream \(frame.stream), which is not open")
    }
    let length = frame.payload.readableBytes
    receiveWindow -= length
    guard receiveWindow >= 0 else {
      throw HTTP2Error(.flowControl, "DATA exceeds the connection's flow-control window")
    }
    var frame = frame
    try frame.unpad()
    let ends = frame.has(HTTP2Frame.Flag.endStream)
    emptyData = frame.payload.readableBytes == 0 && !ends ? emptyData + 1 : 0
    guard emptyData <= limits.emptyData else {
      throw HTTP2Error(.enhanceYourCalm, "more than \(limits.emptyData) consecutive empty DATA frames")
    }
    if !ends, frame.payload.readableBytes < HTTP2Frame.smallPayload {
      try count(.ignored, "DATA frames with few bytes")
    }
    uncredited += length
    if uncredited > 32_768 {
      output.writeCredit(uncredited, to: 0)
      receiveWindow += uncredited
      uncredited = 0
    }
    guard let stream = streams[frame.stream] else {
      guard frame.stream <= lastServed else {
        try count(.ignored, "frames after the last stream that is served")
        return nil
      }
      try reset(frame.stream, with: .streamClosed, because: "DATA on a closed stream")
      return nil
    }
    guard stream.input != .ended else {
      try reset(frame.stream, with: .streamClosed, because: "DATA after END_STREAM")
      return nil
    }
    return try fill(stream, frame.stream, with: &frame.payload, credit: length, ends: ends)
  }

  /// Appends to a request's body.
  private mutating func fill(
    _ stream: Stream, _ id: UInt32, with bytes: inout ByteBuffer, credit: Int, ends: Bool
  ) throws(HTTP2Error) -> Arrival? {
    let isOpen = stream.input == .open
    let before = stream.size
    stream.append(&bytes)
    if isOpen { unfinishedSize += stream.size - before }
    stream.receiveWindow -= credit
    guard stream.receiveWindow >= 0 else {
      try reset(id, with: .flowControl, because: "DATA exceeds the stream's flow-control window")
      return nil
    }
    if ends { return try finish(stream, id) }
    stream.uncredited += credit
    if stream.uncredited > 32_768 {
      output.writeCredit(stream.uncredited, to: id)
      stream.receiveWindow += stream.uncredited
      stream.uncredited = 0
    }
    return isOpen && stream.received > limits.bodyRead ? handOn(stream, id: id, input: .cut) : nil
  }

  /// Processes the client's END_STREAM.
  private mutating func finish(_ stream: Stream, _ id: UInt32) throws(HTTP2Error) -> Arrival? {
    guard !stream.breaksPromise else {
      try reset(id, with: .protocolError, because: "content-length differs from the length of the body")
      return nil
    }
    return handOn(stream, id: id, input: .ended)
  }

  private mutating func handOn(_ stream: Stream, id: UInt32, input: Stream.Input) -> Arrival? {
    if stream.input == .open { uncount(stream.size) }
    lastPassedOn = max(lastPassedOn, id)
    return stream.finish(input).map { Arrival(stream: id, request: $0) }
  }

  private mutating func takeReset(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard frame.payload.readableBytes == 4 else {
      throw HTTP2Error(.frameSize, "RST_STREAM with a length other than 4")
    }
    guard frame.stream % 2 == 1, frame.stream <= lastStream else {
      throw HTTP2Error(.protocolError, "RST_STREAM on stream \(frame.stream), which is not open")
    }
    try count(.reset, "RST_STREAM")
    forget(frame.stream)
  }

  /// Priorities are ignored, as documented by Apple: *Sending notification requests to APNs*. Only a stream that depends
  /// on itself is refused, as RFC 7540 requires in section 5.3.1.
  private mutating func takePriority(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard frame.stream != 0 else { throw HTTP2Error(.protocolError, "PRIORITY on stream 0") }
    try count(.ignored, "PRIORITY")
    guard frame.payload.readableBytes == 5 else {
      return try refuse(frame.stream, with: .frameSize, because: "PRIORITY with a length other than 5")
    }
    if frame.dependsOnItself { try refuse(frame.stream, with: .protocolError, because: "the stream depends on itself") }
  }

  /// Resets a stream. On an idle one RST_STREAM may not be sent (section 6.4), and the connection ends.
  private mutating func refuse(_ stream: UInt32, with code: ErrorCode, because why: String) throws(HTTP2Error) {
    guard stream % 2 == 1, stream <= lastStream else { throw HTTP2Error(code, "idle stream \(stream): \(why)") }
    try reset(stream, with: code, because: why)
  }
}

/// Frames about the whole connection, and flow control.
extension HTTP2Connection {
  private mutating func takePing(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard frame.stream == 0 else { throw HTTP2Error(.protocolError, "PING on a stream") }
    guard frame.payload.readableBytes == 8 else { throw HTTP2Error(.frameSize, "PING with a length other than 8") }
    if frame.has(HTTP2Frame.Flag.ack) {
      if shutdown == .announced { shutdown = .acknowledged }
      return try count(.ignored, "acknowledgements of PING")
    }
    try count(.control, "PING and SETTINGS")
    output.writeFrameHead(length: 8, kind: HTTP2Frame.Kind.ping, flags: HTTP2Frame.Flag.ack, stream: 0)
    output.writeImmutableBuffer(frame.payload)
  }

  private mutating func takeSettings(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard frame.stream == 0 else { throw HTTP2Error(.protocolError, "SETTINGS on a stream") }
    if frame.has(HTTP2Frame.Flag.ack) {
      guard frame.payload.readableBytes == 0 else {
        throw HTTP2Error(.frameSize, "SETTINGS acknowledgement with a payload")
      }
      guard !announcedLimits.isEmpty else {
        throw HTTP2Error(.protocolError, "acknowledgement without pending SETTINGS")
      }
      streamLimit = announcedLimits.removeFirst()
      announcedSince = announcedLimits.isEmpty ? nil : now
      return
    }
    guard frame.payload.readableBytes % 6 == 0 else {
      throw HTTP2Error(.frameSize, "SETTINGS length not divisible by 6")
    }
    try count(.control, "PING and SETTINGS")
    var payload = frame.payload
    while let number = payload.readInteger(as: UInt16.self), let value = payload.readInteger(as: UInt32.self) {
      if let setting = Setting(rawValue: number) { try handle(setting, Int(value)) }
    }
    output.writeFrameHead(length: 0, kind: HTTP2Frame.Kind.settings, flags: HTTP2Frame.Flag.ack, stream: 0)
    sendWaiting()
  }

  private mutating func handle(_ setting: Setting, _ value: Int) throws(HTTP2Error) {
    switch setting {
    case .headerTableSize: mustAnnounceTableSize = mustAnnounceTableSize || value < 4096
    case .enablePush: guard value <= 1 else { throw HTTP2Error(.protocolError, "ENABLE_PUSH is \(value)") }
    case .initialWindowSize:
      guard value <= Int32.max else { throw HTTP2Error(.flowControl, "INITIAL_WINDOW_SIZE is \(value)") }
      for stream in streams.values {
        stream.sendWindow += value - initialSendWindow
        guard stream.sendWindow <= Int32.max else { throw HTTP2Error(.flowControl, "window over 2^31-1") }
      }
      initialSendWindow = value
    case .maxFrameSize:
      guard 16_384...16_777_215 ~= value else { throw HTTP2Error(.protocolError, "MAX_FRAME_SIZE is \(value)") }
    case .maxConcurrentStreams, .maxHeaderListSize: break
    }
  }

  private mutating func takeCredit(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard let credit = frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt32.self),
      frame.payload.readableBytes == 4
    else { throw HTTP2Error(.frameSize, "WINDOW_UPDATE with a length other than 4") }
    try count(.ignored, "WINDOW_UPDATE")
    let increment = Int(credit & 0x7fff_ffff)
    guard frame.stream != 0 else {
      guard increment > 0 else { throw HTTP2Error(.protocolError, "WINDOW_UPDATE of 0") }
      sendWindow += increment
      guard sendWindow <= Int32.max else { throw HTTP2Error(.flowControl, "window over 2^31-1") }
      return sendWaiting()
    }
    guard frame.stream % 2 == 1, frame.stream <= lastStream else {
      throw HTTP2Error(.protocolError, "WINDOW_UPDATE on stream \(frame.stream), which is not open")
    }
    guard let stream = streams[frame.stream] else { return }
    stream.sendWindow += increment
    guard increment > 0, stream.sendWindow <= Int32.max else {
      let code = increment > 0 ? ErrorCode.flowControl : .protocolError
      return try reset(frame.stream, with: code, because: "WINDOW_UPDATE of 0, or to over 2^31-1")
    }
    sendWaiting(on: frame.stream)
  }

  /// The client may still expect responses to its open streams.
  private mutating func takeGoAway(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard frame.stream == 0 else { throw HTTP2Error(.protocolError, "GOAWAY on a stream") }
    guard frame.payload.readableBytes >= 8 else { throw HTTP2Error(.frameSize, "GOAWAY with fewer than 8 bytes") }
    try count(.ignored, "GOAWAY")
  }
}

extension HTTP2Connection {
  /// Writes a response. Does nothing when the client has reset the stream, or when there is a response already.
  mutating func answer(_ answer: APNsAnswer, on id: UInt32) {
    guard phase == .open || phase == .leaving, let stream = streams[id],
      waitingBodies.isEmpty || !waitingBodies.contains(where: { $0.stream == id })
    else { return }
    lastUse = now
    switch answer.manner {
    case .response: respond(answer, on: stream, id)
    case .responseAndGoAway:
      respond(answer, on: stream, id)
      leave(answer.reason)
    case .reset:
      writeReset(of: id, .internalError)
      forget(id)
    case .goAway:
      // section 8.7: only a stream without effect may be reported as not processed
      let isLost = answer.status != 200 && id >= lastPassedOn
      lastServed = min(lastServed, isLost ? (id < 2 ? 0 : id - 2) : lastPassedOn)
      end(HTTP2Error(farewell: answer.reason))
    }
    finishLeaving()
  }

  /// Sends a GOAWAY with the last stream that is served and the reason.
  private mutating func leave(_ reason: String?) {
    guard phase == .open else { return }
    let fault = HTTP2Error(farewell: reason)
    self.fault = fault
    phase = .leaving
    lastServed = lastStream
    leavingSince = now
    output.writeGoAway(lastStream: lastStream, fault.code, fault.debugData ?? "")
  }

  /// Announces that new streams are refused. The caller refuses those that arrive nevertheless.
  mutating func announceShutdown(at now: NIODeadline) {
    self.now = now
    guard phase == .open || phase == .settings, shutdown == .none else {
      if phase == .handshake { end(HTTP2Error(farewell: APNsReason.shutdown.rawValue)) }
      return
    }
    shutdown = .announced
    // The PING is sent first, because Python's h2 processes nothing after a GOAWAY and would lose its reason. Its
    // acknowledgement shows that the client has read the PING.
    output.writeFrameHead(length: 8, kind: HTTP2Frame.Kind.ping, stream: 0)
    output.writeInteger(UInt64(0))
    output.writeGoAway(lastStream: 0x7fff_ffff, .none, APNsAnswer.json(reason: APNsReason.shutdown.rawValue))
  }

  /// Closes a connection that has sent GOAWAY when no stream is open.
  private mutating func finishLeaving() {
    guard streams.isEmpty else { return }
    if phase == .leaving {
      phase = .over
    } else if shutdown == .acknowledged, block == nil {
      end(HTTP2Error(farewell: APNsReason.shutdown.rawValue))
    }
  }

  private mutating func respond(_ answer: APNsAnswer, on stream: Stream, _ id: UInt32) {
    let body = answer.body
    output.writeResponse(
      answer, on: id, hasBody: body != nil, endsStream: body == nil || stream.isHead,
      announcesTableSize: mustAnnounceTableSize)
    mustAnnounceTableSize = false
    guard let body, !stream.isHead else { return close(id) }
    let length = body.utf8.count
    guard length <= min(sendWindow, stream.sendWindow, HTTP2Frame.payloadLimit) else {
      var rest = WaitingBody(stream: id, rest: ByteBuffer(string: body), since: now)
      guard !send(&rest, on: stream) else { return }
      waitingBodies.append(rest)
      if waitingBodies.count > limits.waitingBodies {
        end(HTTP2Error(.enhanceYourCalm, "no flow-control credit for \(waitingBodies.count) response bodies"))
      }
      return
    }
    // one frame, as clients expect
    sendWindow -= length
    output.writeFrameHead(length: length, kind: HTTP2Frame.Kind.data, flags: HTTP2Frame.Flag.endStream, stream: id)
    output.writeString(body)
    close(id)
  }

  /// Sends as much of a body as the windows permit: section 6.9.1. Returns whether that was all.
  private mutating func send(_ body: inout WaitingBody, on stream: Stream) -> Bool {
    while body.rest.readableBytes > 0 {
      let most = min(sendWindow, stream.sendWindow, HTTP2Frame.payloadLimit)
      guard most > 0, var part = body.rest.readSlice(length: min(most, body.rest.readableBytes)) else { return false }
      body.since = now
      sendWindow -= part.readableBytes
      stream.sendWindow -= part.readableBytes
      let flags = body.rest.readableBytes == 0 ? HTTP2Frame.Flag.endStream : 0
      output.writeFrameHead(
        length: part.readableBytes, kind: HTTP2Frame.Kind.data, flags: flags, stream: body.stream)
      output.writeBuffer(&part)
    }
    close(body.stream)
    return true
  }

  /// Ends our side of a stream.
  private mutating func close(_ id: UInt32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if stream.input == .open { uncount(stream.size) }
    // section 8.1: the response is complete, and the rest of the request is not needed
    if stream.input != .ended { writeReset(of: id, .none) }
  }

  /// Sends what waits for flow-control credit and now has some: on one stream, or on all.
  private mutating func sendWaiting(on stream: UInt32? = nil) {
    guard !waitingBodies.isEmpty else { return }
    var position = 0
    while position < waitingBodies.count, sendWindow > 0 {
      var body = waitingBodies[position]
      guard stream == nil || stream == body.stream, let open = streams[body.stream], open.sendWindow > 0 else {
        position += 1
        continue
      }
      if send(&body, on: open) {
        waitingBodies.remove(at: position)
      } else {
        waitingBodies[position] = body
        position += 1
      }
    }
    finishLeaving()
  }
}

extension HTTP2Error {
  /// A close without an HTTP/2 error, with the reason of APNs.
  init(farewell reason: String?) {
    self.init(
      .none, reason ?? "closed by the operator's response", debugData: reason.map { APNsAnswer.json(reason: $0) } ?? "")
  }
}

extension APNsAnswer {
  /// `nil` for a success, and for a response without a reason.
  var body: String? {
    reason.map {
      APNsAnswer.json(reason: $0, milliseconds: timestamp.map { Int64(saturating: $0.timeIntervalSince1970 * 1000) })
    }
  }

  static func json(reason: String, milliseconds: Int64? = nil) -> String {
    var text = #"{"reason":""#
    for character in reason.unicodeScalars {
      switch character {
      case "\"", "\\": text += "\\\(character)"
      case "\u{0}"..<"\u{20}": text += "?"
      default: text.unicodeScalars.append(character)
      }
    }
    text += #"""#
    if let milliseconds { text += #","timestamp":\#(milliseconds)"# }
    return text + "}"
  }
}

extension ByteBuffer {
  /// Writes the HEADERS of a response. Each header is a literal that is never added to a table (RFC 7541, section
  /// 6.2.2), except for the statuses of the static table.
  mutating func writeResponse(
    _ answer: APNsAnswer, on stream: UInt32, hasBody: Bool, endsStream: Bool, announcesTableSize: Bool
  ) {
    let start = writerIndex
    let flags = HTTP2Frame.Flag.endHeaders | (endsStream ? HTTP2Frame.Flag.endStream : 0)
    writeFrameHead(length: 0, kind: HTTP2Frame.Kind.headers, flags: flags, stream: stream)
    if announcesTableSize { writeInteger(UInt8(0x20)) }
    switch answer.status {
    case 200: writeInteger(UInt8(0x88))
    case 400: writeInteger(UInt8(0x8c))
    case 404: writeInteger(UInt8(0x8d))
    case 500: writeInteger(UInt8(0x8e))
    default:
      writeInteger(UInt8(0x08))
      writeLiteral(String(answer.status))
    }
    if hasBody {
      // content-type is 31 in the static table
      writeInteger(UInt16(0x0f10))
      writeLiteral("application/json")
    }
    switch answer.idHeader {
    case "apns-id": writeStaticString("\0\u{7}apns-id")
    case let name:
      writeInteger(UInt8(0))
      writeLiteral(name)
    }
    writeLiteral(answer.apnsID)
    if let id = answer.uniqueID {
      writeStaticString("\0\u{e}apns-unique-id")
      writeLiteral(id.upperCaseText)
    }
    let length = writerIndex - start - HTTP2Frame.headLength
    setInteger(UInt32(truncatingIfNeeded: length) << 8 | UInt32(HTTP2Frame.Kind.headers), at: start)
  }

  /// Writes a string without Huffman coding: RFC 7541, section 5.2.
  private mutating func writeLiteral(_ text: String) {
    var length = text.utf8.count
    if length < 127 {
      writeInteger(UInt8(length))
    } else {
      writeInteger(UInt8(127))
      length -= 127
      while length >= 128 {
        writeInteger(UInt8(length & 0x7f) | 0x80)
        length >>= 7
      }
      writeInteger(UInt8(length))
    }
    writeString(text)
  }
}

extension HTTP2Connection {
  /// Closes the connection if a deadline has passed. Returns the next deadline.
  mutating func look(at now: NIODeadline) -> NIODeadline? {
    self.now = now
    while phase != .over, let (deadline, fault) = nextDeadline(), deadline <= now { end(fault) }
    return phase == .over ? nil : nextDeadline()?.deadline
  }

  /// A lower bound of the next deadline. Fast: it does not inspect each stream, so it may be too early.
  var mayEndAt: NIODeadline? {
    guard phase == .open, unfinished == 0, partialSince == nil, waitingBodies.isEmpty, blockedSince == nil,
      announcedSince == nil
    else {
      return now + min(limits.handshake, limits.acknowledgement, limits.request, limits.unwritable, limits.idle)
    }
    return lastUse + limits.idle
  }

  private func nextDeadline() -> (deadline: NIODeadline, fault: HTTP2Error)? {
    var soonest: (deadline: NIODeadline, fault: HTTP2Error)?
    func consider(_ since: NIODeadline?, _ seconds: Double, _ fault: @autoclosure () -> HTTP2Error) {
      guard let since, since + seconds < soonest?.deadline ?? .distantFuture else { return }
      soonest = (since + seconds, fault())
    }
    if phase == .handshake || phase == .settings {
      consider(
        began, limits.handshake, HTTP2Error(.settingsTimeout, "no HTTP/2 connection within \(text(limits.handshake))"))
      return soonest
    }
    consider(
      announcedSince, limits.acknowledgement,
      HTTP2Error(.settingsTimeout, "our SETTINGS were not acknowledged within \(text(limits.acknowledgement))"))
    consider(
      partialSince, limits.request,
      HTTP2Error(.enhanceYourCalm, "incomplete frame or header block after \(text(limits.request))"))
    if unfinished > 0,
      let oldest = streams.filter({ $0.value.input == .open }).min(by: { $0.value.began < $1.value.began })
    {
      consider(
        oldest.value.began, limits.request,
        HTTP2Error(.enhanceYourCalm, "incomplete request on stream \(oldest.key) after \(text(limits.request))"))
    }
    consider(
      waitingBodies.lazy.map(\.since).min(), limits.unwritable,
      HTTP2Error(.enhanceYourCalm, "no flow-control credit for \(text(limits.unwritable))"))
    consider(
      blockedSince, limits.unwritable,
      HTTP2Error(.enhanceYourCalm, "the client did not read for \(text(limits.unwritable))"))
    consider(
      leavingSince, limits.request, HTTP2Error(.none, "open requests did not end within \(text(limits.request))"))
    if streams.isEmpty { consider(lastUse, limits.idle, HTTP2Error(farewell: APNsReason.idleTimeout.rawValue)) }
    return soonest
  }

  private func text(_ seconds: Double) -> String { "\(seconds.formatted) s" }
}

extension Double {
  /// Formats a whole number without a fraction.
  fileprivate var formatted: String { self == rounded() && abs(self) < 1e15 ? "\(Int(saturating: self))" : "\(self)" }
}
