// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// A received frame: RFC 9113, section 4.1.
struct HTTP2Frame {
  /// The frame types of section 6. Others are ignored.
  enum Kind {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let priority: UInt8 = 2
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let pushPromise: UInt8 = 5
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9
  }
  enum Flag {
    static let endStream: UInt8 = 0x1
    static let ack: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20
  }

  let kind: UInt8
  let flags: UInt8
  let stream: UInt32
  var payload: ByteBuffer

  /// Bytes of the frame header.
  static let headLength = 9
  /// The maximum length of a payload, received (our SETTINGS_MAX_FRAME_SIZE) or sent (the least that a client permits).
  static let payloadLimit = 16_384
  /// DATA with fewer bytes costs more time than it brings, unless it ends the request.
  static let smallPayload = 64

  func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

  /// Whether the next field of the payload, a stream dependency, names the frame's own stream: RFC 7540, section 5.3.1.
  var dependsOnItself: Bool {
    payload.getInteger(at: payload.readerIndex, as: UInt32.self).map { $0 & 0x7fff_ffff } == stream
  }

  /// Removes the padding: section 6.1.
  mutating func unpad() throws(HTTP2Error) {
    guard has(Flag.padded) else { return }
    guard let length = payload.readInteger(as: UInt8.self) else {
      throw HTTP2Error(.frameSize, "frame too short for the length of its padding")
    }
    guard Int(length) <= payload.readableBytes else {
      throw HTTP2Error(.protocolError, "frame with more padding than payload")
    }
    payload.moveWriterIndex(to: payload.writerIndex - Int(length))
  }
}

/// Splits received bytes into frames.
struct FrameReader {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// Received bytes that are not yet a complete frame.
  private var input = ByteBuffer()
  private var hasPreface = false

  /// True when part of a frame was received.
  var isWithinFrame: Bool { input.readableBytes > 0 }

  mutating func append(_ bytes: ByteBuffer) {
    if input.readableBytes == 0 {
      input = bytes
    } else {
      input.writeImmutableBuffer(bytes)
    }
  }

  /// Returns the next complete frame, or `nil`.
  mutating func next() throws(HTTP2Error) -> HTTP2Frame? {
    guard hasPreface else {
      guard try readPreface() else { return nil }
      hasPreface = true
      return try next()
    }
    let at = input.readerIndex
    guard let first = input.getInteger(at: at, as: UInt32.self),
      let flags = input.getInteger(at: at + 4, as: UInt8.self),
      let stream = input.getInteger(at: at + 5, as: UInt32.self)
    else { return nil }
    let length = Int(first >> 8)
    guard length <= HTTP2Frame.payloadLimit else {
      throw HTTP2Error(.frameSize, "frame of \(length) bytes, over the limit of \(HTTP2Frame.payloadLimit)")
    }
    guard let payload = input.getSlice(at: at + HTTP2Frame.headLength, length: length) else { return nil }
    input.moveReaderIndex(forwardBy: HTTP2Frame.headLength + length)
    return HTTP2Frame(
      kind: UInt8(truncatingIfNeeded: first), flags: flags, stream: stream & 0x7fff_ffff, payload: payload)
  }

  /// Copies the remaining part of a frame to its own storage, to release the rest.
  mutating func compact() {
    var own = ByteBuffer()
    if input.readableBytes > 0 {
      own.reserveCapacity(input.readableBytes)
      own.writeImmutableBuffer(input)
    }
    input = own
  }

  /// Consumes the client's preface: section 3.4. Returns false when it is incomplete.
  private mutating func readPreface() throws(HTTP2Error) -> Bool {
    let view = input.readableBytesView
    guard zip(view, FrameReader.preface).allSatisfy({ $0 == $1 }) else {
      throw HTTP2Error(.protocolError, "not HTTP/2: no connection preface")
    }
    guard view.count >= FrameReader.preface.count else { return false }
    input.moveReaderIndex(forwardBy: FrameReader.preface.count)
    return true
  }
}

extension ByteBuffer {
  mutating func writeFrameHead(length: Int, kind: UInt8, flags: UInt8 = 0, stream: UInt32) {
    writeMultipleIntegers(UInt32(truncatingIfNeeded: length) << 8 | UInt32(kind), flags, stream)
  }

  mutating func writeReset(of stream: UInt32, _ code: ErrorCode) {
    writeFrameHead(length: 4, kind: HTTP2Frame.Kind.reset, stream: stream)
    writeInteger(code.rawValue)
  }

  mutating func writeCredit(_ bytes: Int, to stream: UInt32) {
    writeFrameHead(length: 4, kind: HTTP2Frame.Kind.windowUpdate, stream: stream)
    writeInteger(UInt32(bytes))
  }

  /// Debug data that is too long for a frame is cut.
  mutating func writeGoAway(lastStream: UInt32, _ code: ErrorCode, _ debugData: String) {
    let text = debugData.utf8.prefix(HTTP2Frame.payloadLimit - 8)
    writeFrameHead(length: 8 + text.count, kind: HTTP2Frame.Kind.goAway, stream: 0)
    writeInteger(lastStream)
    writeInteger(code.rawValue)
    writeBytes(text)
  }
}

/// The error codes of HTTP/2: RFC 9113, section 7.
enum ErrorCode: UInt32 {
  case none = 0
  case protocolError = 1
  case internalError = 2
  case flowControl = 3
  case settingsTimeout = 4
  case streamClosed = 5
  case frameSize = 6
  case refusedStream = 7
  case cancel = 8
  case compression = 9
  case enhanceYourCalm = 11
}

/// Why a connection is closed, with the text for the log and for the GOAWAY's debug data.
struct HTTP2Error: Error, Equatable {
  let code: ErrorCode
  let text: String
  /// The debug data of the GOAWAY if it differs from `text`: the JSON that APNs sends.
  var debugData: String?

  init(_ code: ErrorCode, _ text: String, debugData: String? = nil) {
    self.code = code
    self.text = text
    self.debugData = debugData
  }
}
