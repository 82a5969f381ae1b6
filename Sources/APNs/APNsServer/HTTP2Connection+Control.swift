// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Frames about the whole connection, and flow control.
extension HTTP2Connection {
  mutating func takePing(_ frame: HTTP2Frame) throws(HTTP2Error) {
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

  mutating func takeSettings(_ frame: HTTP2Frame) throws(HTTP2Error) {
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

  mutating func takeCredit(_ frame: HTTP2Frame) throws(HTTP2Error) {
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
      return try reset(frame.stream, code, "WINDOW_UPDATE of 0, or to over 2^31-1")
    }
    sendWaiting(on: frame.stream)
  }

  /// The client may still expect responses to its open streams.
  mutating func takeGoAway(_ frame: HTTP2Frame) throws(HTTP2Error) {
    guard frame.stream == 0 else { throw HTTP2Error(.protocolError, "GOAWAY on a stream") }
    guard frame.payload.readableBytes >= 8 else { throw HTTP2Error(.frameSize, "GOAWAY with fewer than 8 bytes") }
    try count(.ignored, "GOAWAY")
  }
}
