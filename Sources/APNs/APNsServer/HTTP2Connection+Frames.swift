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
    case HTTP2Frame.Kind.goAway: guard frame.stream == 0 else { throw HTTP2Error(.protocolError, "GOAWAY on a stream") }
    default: break
    }
    return nil
  }

  /// Resets one stream; the connection continues: section 5.4.2.
  mutating func reset(_ stream: UInt32, _ code: ErrorCode, _ why: String) throws(HTTP2Error) {
    remark = "stream \(stream) was reset: \(why)"
    output.writeReset(of: stream, code)
    forget(stream)
    try count(.stray, "requests that cannot be served")
  }

  mutating func forget(_ id: UInt32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if stream.input == .open { uncount(stream.size) }
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
    if frame.has(HTTP2Frame.Flag.priority) {
      guard frame.payload.readableBytes >= 5 else { throw HTTP2Error(.frameSize, "HEADERS too short for a priority") }
      frame.payload.moveReaderIndex(forwardBy: 5)
    }
    emptyData = 0
    let block = HeaderBlock(
      stream: frame.stream, endsStream: frame.has(HTTP2Frame.Flag.endStream), bytes: frame.payload)
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
    if let index = streams.index(forKey: id) {
      guard streams.values[index].input != .ended, block.endsStream else {
        try reset(id, .protocolError, "unexpected HEADERS")
        return nil
      }
      return try finish(id)
    }
    guard id > lastStream else {
      guard list.first?.name.utf8.first != UInt8(ascii: ":") else {
        throw HTTP2Error(.protocolError, "stream \(id) opened after stream \(lastStream)")
      }
      try count(.stray, "frames of streams that are closed")
      return nil
    }
    lastStream = id
    guard id <= lastServed else { return nil }
    guard streams.count < streamLimit, unfinishedSize < limits.unfinished else {
      try reset(id, .refusedStream, "more than \(streamLimit) concurrent streams, or incomplete requests too large")
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
    return block.endsStream ? try finish(id) : nil
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
    uncredited += length
    if uncredited > 32_768 {
      output.writeCredit(uncredited, to: 0)
      receiveWindow += uncredited
      uncredited = 0
    }
    guard let index = streams.index(forKey: frame.stream) else {
      if frame.stream <= lastServed { try count(.stray, "frames of streams that are closed") }
      return nil
    }
    guard streams.values[index].input != .ended else {
      try reset(frame.stream, .streamClosed, "DATA after END_STREAM")
      return nil
    }
    return try fill(frame.stream, at: index, with: &frame.payload, credit: length, ends: ends)
  }

  /// Appends to a request's body.
  private mutating func fill(
    _ id: UInt32, at index: Dictionary<UInt32, Stream>.Index, with bytes: inout ByteBuffer, credit: Int, ends: Bool
  ) throws(HTTP2Error) -> Arrival? {
    let isOpen = streams.values[index].input == .open
    let before = streams.values[index].size
    streams.values[index].append(&bytes)
    if isOpen { unfinishedSize += streams.values[index].size - before }
    streams.values[index].receiveWindow -= credit
    guard streams.values[index].receiveWindow >= 0 else {
      try reset(id, .flowControl, "DATA exceeds the stream's flow-control window")
      return nil
    }
    if ends { return try finish(id) }
    streams.values[index].uncredited += credit
    let uncredited = streams.values[index].uncredited
    if uncredited > 32_768 {
      output.writeCredit(uncredited, to: id)
      streams.values[index].receiveWindow += uncredited
      streams.values[index].uncredited = 0
    }
    return isOpen && streams.values[index].received > limits.bodyRead ? handOn(id, at: index, .cut) : nil
  }

  /// Processes the client's END_STREAM.
  private mutating func finish(_ id: UInt32) throws(HTTP2Error) -> Arrival? {
    guard let index = streams.index(forKey: id) else { return nil }
    guard !streams.values[index].breaksPromise else {
      try reset(id, .protocolError, "content-length differs from the length of the body")
      return nil
    }
    return handOn(id, at: index, .ended)
  }

  private mutating func handOn(
    _ id: UInt32, at index: Dictionary<UInt32, Stream>.Index, _ input: Stream.Input
  ) -> Arrival? {
    let (size, isOpen) = (streams.values[index].size, streams.values[index].input == .open)
    if isOpen { uncount(size) }
    return streams.values[index].finish(input).map { Arrival(stream: id, request: $0) }
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

  /// Priorities are ignored, as documented by Apple: *Sending notification requests to APNs*.
  private func takePriority(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard frame.stream != 0 else { throw HTTP2Error(.protocolError, "PRIORITY on stream 0") }
    guard frame.payload.readableBytes == 5 else { throw HTTP2Error(.frameSize, "PRIORITY with a length other than 5") }
  }

  // MARK: Frames of the connection

  private mutating func takePing(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard frame.stream == 0 else { throw HTTP2Error(.protocolError, "PING on a stream") }
    guard frame.payload.readableBytes == 8 else { throw HTTP2Error(.frameSize, "PING with a length other than 8") }
    if frame.has(HTTP2Frame.Flag.ack) {
      if shutdown == .announced { shutdown = .acknowledged }
      return
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
      for id in Array(streams.keys) {
        streams[id]?.sendWindow += value - initialSendWindow
        guard streams[id]?.sendWindow ?? 0 <= Int32.max else { throw HTTP2Error(.flowControl, "window over 2^31-1") }
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
    guard let index = streams.index(forKey: frame.stream) else { return }
    streams.values[index].sendWindow += increment
    guard increment > 0, streams.values[index].sendWindow <= Int32.max else {
      let code = increment > 0 ? ErrorCode.flowControl : .protocolError
      return try reset(frame.stream, code, "WINDOW_UPDATE of 0, or to over 2^31-1")
    }
    sendWaiting()
  }
}
