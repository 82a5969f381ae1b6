// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK

extension HTTP2Connection {
  /// Processes a frame from the client. Returns a request that it completes.
  mutating func handle(_ frame: HTTP2Frame) throws(HTTP2Error) -> Arrival? {
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
  mutating func reset(_ stream: UInt32, _ code: ErrorCode, _ why: String) throws(HTTP2Error) {
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

  mutating func forget(_ id: UInt32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if stream.input == .open { uncount(stream.size) }
    if !waiting.isEmpty { waiting.removeAll { $0.stream == id } }
  }

  /// Removes a request from the counts of incomplete requests.
  mutating func uncount(_ size: Int) {
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
      try reset(id, .refusedStream, "more than \(streamLimit) concurrent streams, or incomplete requests too large")
      return nil
    }
    guard !block.dependsOnItself else {
      try reset(id, .protocolError, "the stream depends on itself")
      return nil
    }
    let head: RequestHead
    do throws(RequestHead.Malformed) { head = try RequestHead(list) } catch {
      try reset(id, .protocolError, error.text)
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
      if id <= lastServed { try reset(id, .streamClosed, "HEADERS on a closed stream") }
      return nil
    }
    guard stream.input != .ended else {
      try reset(id, .streamClosed, "HEADERS after END_STREAM")
      return nil
    }
    guard block.endsStream, !block.dependsOnItself else {
      try reset(id, .protocolError, "HEADERS within a request must end it, and may not depend on their own stream")
      return nil
    }
    do throws(RequestHead.Malformed) { try RequestHead.check(trailers: list) } catch {
      try reset(id, .protocolError, error.text)
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
      try reset(frame.stream, .streamClosed, "DATA on a closed stream")
      return nil
    }
    guard stream.input != .ended else {
      try reset(frame.stream, .streamClosed, "DATA after END_STREAM")
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
      try reset(id, .flowControl, "DATA exceeds the stream's flow-control window")
      return nil
    }
    if ends { return try finish(stream, id) }
    stream.uncredited += credit
    if stream.uncredited > 32_768 {
      output.writeCredit(stream.uncredited, to: id)
      stream.receiveWindow += stream.uncredited
      stream.uncredited = 0
    }
    return isOpen && stream.received > limits.bodyRead ? handOn(stream, id, .cut) : nil
  }

  /// Processes the client's END_STREAM.
  private mutating func finish(_ stream: Stream, _ id: UInt32) throws(HTTP2Error) -> Arrival? {
    guard !stream.breaksPromise else {
      try reset(id, .protocolError, "content-length differs from the length of the body")
      return nil
    }
    return handOn(stream, id, .ended)
  }

  private mutating func handOn(_ stream: Stream, _ id: UInt32, _ input: Stream.Input) -> Arrival? {
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
      return try refuse(frame.stream, .frameSize, "PRIORITY with a length other than 5")
    }
    if frame.dependsOnItself { try refuse(frame.stream, .protocolError, "the stream depends on itself") }
  }

  /// Resets a stream. On an idle one RST_STREAM may not be sent (section 6.4), and the connection ends.
  private mutating func refuse(_ stream: UInt32, _ code: ErrorCode, _ why: String) throws(HTTP2Error) {
    guard stream % 2 == 1, stream <= lastStream else { throw HTTP2Error(code, "idle stream \(stream): \(why)") }
    try reset(stream, code, why)
  }
}
