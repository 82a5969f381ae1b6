import NIOCore
import NIOHPACK

extension HTTP2Connection {
  /// What a frame from the client leads to.
  mutating func take(_ frame: Frame) throws(Fault) -> Arrival? {
    if phase == .settings {
      guard frame.kind == Frame.Kind.settings, !frame.has(Frame.Flag.ack) else {
        throw Fault(.protocolError, "the client's first frame is no SETTINGS")
      }
      phase = .open
    }
    guard block == nil || frame.kind == Frame.Kind.continuation else {
      throw Fault(.protocolError, "another frame within a header block")
    }
    switch frame.kind {
    case Frame.Kind.data: return try takeData(frame)
    case Frame.Kind.headers: return try takeHeaders(frame)
    case Frame.Kind.continuation: return try takeContinuation(frame)
    case Frame.Kind.windowUpdate: try takeCredit(frame)
    case Frame.Kind.settings: try takeSettings(frame)
    case Frame.Kind.ping: try takePing(frame)
    case Frame.Kind.reset: try takeReset(frame)
    case Frame.Kind.priority: try takePriority(frame)
    case Frame.Kind.pushPromise: throw Fault(.protocolError, "a client may not push")
    case Frame.Kind.goAway: guard frame.stream == 0 else { throw Fault(.protocolError, "GOAWAY on a stream") }
    default: break
    }
    return nil
  }

  /// Ends a stream alone: section 5.4.2.
  mutating func reset(_ stream: UInt32, _ code: ErrorCode, _ why: String) throws(Fault) {
    remark = "stream \(stream) was reset: \(why)"
    output.writeReset(of: stream, code)
    forget(stream)
    try count(.stray, "requests that cannot be served")
  }

  mutating func forget(_ id: UInt32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if stream.input == .open { settle(stream.size) }
  }

  /// A request is not unfinished any more, and took so much.
  mutating func settle(_ size: Int) {
    unfinished -= 1
    unfinishedSize -= size
  }

  mutating func count(_ kind: Nuisances.Kind, _ what: String) throws(Fault) {
    guard nuisances.count(kind, at: now) <= limits.nuisances else {
      throw Fault(.enhanceYourCalm, "more than \(limits.nuisances) \(what) in half a minute")
    }
  }

  // MARK: Frames of a stream

  private mutating func takeHeaders(_ frame: Frame) throws(Fault) -> Arrival? {
    guard frame.stream % 2 == 1 else { throw Fault(.protocolError, "HEADERS on stream \(frame.stream)") }
    var frame = frame
    try frame.unpad()
    if frame.has(Frame.Flag.priority) {
      guard frame.payload.readableBytes >= 5 else { throw Fault(.frameSize, "HEADERS too short for their priority") }
      frame.payload.moveReaderIndex(forwardBy: 5)
    }
    emptyData = 0
    let block = HeaderBlock(stream: frame.stream, endsStream: frame.has(Frame.Flag.endStream), bytes: frame.payload)
    if frame.has(Frame.Flag.endHeaders) { return try open(block) }
    self.block = block
    return nil
  }

  private mutating func takeContinuation(_ frame: Frame) throws(Fault) -> Arrival? {
    guard var block, block.stream == frame.stream else { throw Fault(.protocolError, "CONTINUATION without HEADERS") }
    self.block = nil
    block.continuations += 1
    guard block.continuations <= limits.continuations,
      block.bytes.readableBytes + frame.payload.readableBytes <= 2 * limits.headerList
    else { throw Fault(.enhanceYourCalm, "a header block of too many frames or bytes") }
    block.bytes.writeImmutableBuffer(frame.payload)
    if frame.has(Frame.Flag.endHeaders) { return try open(block) }
    self.block = block
    return nil
  }

  /// A header block is whole: a new stream, or trailers.
  private mutating func open(_ block: HeaderBlock) throws(Fault) -> Arrival? {
    let id = block.stream
    let list = try decode(block.bytes)
    if let index = streams.index(forKey: id) {
      guard streams.values[index].input != .ended, block.endsStream else {
        try reset(id, .protocolError, "HEADERS where none may be")
        return nil
      }
      return try finish(id)
    }
    guard id > lastStream else {
      guard list.first?.name.utf8.first != UInt8(ascii: ":") else {
        throw Fault(.protocolError, "stream \(id) is opened after stream \(lastStream)")
      }
      try count(.stray, "frames of streams that are closed")
      return nil
    }
    lastStream = id
    guard id <= lastServed else { return nil }
    guard streams.count < streamLimit, unfinishedSize < limits.unfinished else {
      try reset(id, .refusedStream, "more than \(streamLimit) streams at once, or too much that is not whole")
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

  private mutating func decode(_ block: ByteBuffer) throws(Fault) -> HPACKHeaders {
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
      throw Fault(.enhanceYourCalm, "a header list of more than \(limits.headerList) bytes")
    } catch {
      throw Fault(.compression, "a header block that is no HPACK")
    }
  }

  private mutating func takeData(_ frame: Frame) throws(Fault) -> Arrival? {
    guard frame.stream % 2 == 1, frame.stream <= lastStream else {
      throw Fault(.protocolError, "DATA on stream \(frame.stream), which is not open")
    }
    let length = frame.payload.readableBytes
    receiveWindow -= length
    guard receiveWindow >= 0 else { throw Fault(.flowControl, "more DATA than the connection's window has room for") }
    var frame = frame
    try frame.unpad()
    let ends = frame.has(Frame.Flag.endStream)
    emptyData = frame.payload.readableBytes == 0 && !ends ? emptyData + 1 : 0
    guard emptyData <= limits.emptyData else {
      throw Fault(.enhanceYourCalm, "more than \(limits.emptyData) empty DATA frames in a row")
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
      try reset(frame.stream, .streamClosed, "DATA after its end")
      return nil
    }
    return try fill(frame.stream, at: index, with: &frame.payload, credit: length, ends: ends)
  }

  /// Adds to a request's body.
  private mutating func fill(
    _ id: UInt32, at index: Dictionary<UInt32, Stream>.Index, with bytes: inout ByteBuffer, credit: Int, ends: Bool
  ) throws(Fault) -> Arrival? {
    let isOpen = streams.values[index].input == .open
    let before = streams.values[index].size
    streams.values[index].append(&bytes)
    if isOpen { unfinishedSize += streams.values[index].size - before }
    streams.values[index].receiveWindow -= credit
    guard streams.values[index].receiveWindow >= 0 else {
      try reset(id, .flowControl, "more DATA than its window has room for")
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

  /// The client has ended its side of a stream.
  private mutating func finish(_ id: UInt32) throws(Fault) -> Arrival? {
    guard let index = streams.index(forKey: id) else { return nil }
    guard !streams.values[index].breaksPromise else {
      try reset(id, .protocolError, "content-length is not the length of its body")
      return nil
    }
    return handOn(id, at: index, .ended)
  }

  private mutating func handOn(
    _ id: UInt32, at index: Dictionary<UInt32, Stream>.Index, _ input: Stream.Input
  ) -> Arrival? {
    let (size, isOpen) = (streams.values[index].size, streams.values[index].input == .open)
    if isOpen { settle(size) }
    return streams.values[index].finish(input).map { Arrival(stream: id, request: $0) }
  }

  private mutating func takeReset(_ frame: Frame) throws(Fault) {
    guard frame.payload.readableBytes == 4 else { throw Fault(.frameSize, "RST_STREAM of another length than 4") }
    guard frame.stream % 2 == 1, frame.stream <= lastStream else {
      throw Fault(.protocolError, "RST_STREAM on stream \(frame.stream), which is not open")
    }
    try count(.reset, "RST_STREAM")
    forget(frame.stream)
  }

  /// Priorities are passed over, as Apple does: *Sending notification requests to APNs*.
  private func takePriority(_ frame: Frame) throws(Fault) {
    guard frame.stream != 0 else { throw Fault(.protocolError, "PRIORITY of the connection") }
    guard frame.payload.readableBytes == 5 else { throw Fault(.frameSize, "PRIORITY of another length than 5") }
  }

  // MARK: Frames of the connection

  private mutating func takePing(_ frame: Frame) throws(Fault) {
    guard frame.stream == 0 else { throw Fault(.protocolError, "PING on a stream") }
    guard frame.payload.readableBytes == 8 else { throw Fault(.frameSize, "PING of another length than 8") }
    if frame.has(Frame.Flag.ack) {
      if shutdown == .announced { shutdown = .acknowledged }
      return
    }
    try count(.control, "PING and SETTINGS")
    output.writeFrameHead(length: 8, kind: Frame.Kind.ping, flags: Frame.Flag.ack, stream: 0)
    output.writeImmutableBuffer(frame.payload)
  }

  private mutating func takeSettings(_ frame: Frame) throws(Fault) {
    guard frame.stream == 0 else { throw Fault(.protocolError, "SETTINGS on a stream") }
    if frame.has(Frame.Flag.ack) {
      guard frame.payload.readableBytes == 0 else { throw Fault(.frameSize, "an acknowledgement with SETTINGS") }
      guard !announcedLimits.isEmpty else { throw Fault(.protocolError, "an acknowledgement of no SETTINGS") }
      streamLimit = announcedLimits.removeFirst()
      announcedSince = announcedLimits.isEmpty ? nil : now
      return
    }
    guard frame.payload.readableBytes % 6 == 0 else { throw Fault(.frameSize, "SETTINGS of no multiple of 6 bytes") }
    try count(.control, "PING and SETTINGS")
    var payload = frame.payload
    while let number = payload.readInteger(as: UInt16.self), let value = payload.readInteger(as: UInt32.self) {
      if let setting = Setting(rawValue: number) { try take(setting, Int(value)) }
    }
    output.writeFrameHead(length: 0, kind: Frame.Kind.settings, flags: Frame.Flag.ack, stream: 0)
    sendWaiting()
  }

  private mutating func take(_ setting: Setting, _ value: Int) throws(Fault) {
    switch setting {
    case .headerTableSize: owesTableSize = owesTableSize || value < 4096
    case .enablePush: guard value <= 1 else { throw Fault(.protocolError, "ENABLE_PUSH is \(value)") }
    case .initialWindowSize:
      guard value <= Int32.max else { throw Fault(.flowControl, "INITIAL_WINDOW_SIZE is \(value)") }
      for id in Array(streams.keys) {
        streams[id]?.sendWindow += value - initialSendWindow
        guard streams[id]?.sendWindow ?? 0 <= Int32.max else { throw Fault(.flowControl, "a window over 2^31-1") }
      }
      initialSendWindow = value
    case .maxFrameSize:
      guard 16_384...16_777_215 ~= value else { throw Fault(.protocolError, "MAX_FRAME_SIZE is \(value)") }
    case .maxConcurrentStreams, .maxHeaderListSize: break
    }
  }

  private mutating func takeCredit(_ frame: Frame) throws(Fault) {
    guard let credit = frame.payload.getInteger(at: frame.payload.readerIndex, as: UInt32.self),
      frame.payload.readableBytes == 4
    else { throw Fault(.frameSize, "WINDOW_UPDATE of another length than 4") }
    let increment = Int(credit & 0x7fff_ffff)
    guard frame.stream != 0 else {
      guard increment > 0 else { throw Fault(.protocolError, "WINDOW_UPDATE of nothing") }
      sendWindow += increment
      guard sendWindow <= Int32.max else { throw Fault(.flowControl, "a window over 2^31-1") }
      return sendWaiting()
    }
    guard frame.stream % 2 == 1, frame.stream <= lastStream else {
      throw Fault(.protocolError, "WINDOW_UPDATE on stream \(frame.stream), which is not open")
    }
    guard let index = streams.index(forKey: frame.stream) else { return }
    streams.values[index].sendWindow += increment
    guard increment > 0, streams.values[index].sendWindow <= Int32.max else {
      let code = increment > 0 ? ErrorCode.flowControl : .protocolError
      return try reset(frame.stream, code, "WINDOW_UPDATE of nothing, or to over 2^31-1")
    }
    sendWaiting()
  }
}
