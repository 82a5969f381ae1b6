import NIOCore

/// A frame as it came off the wire: RFC 9113, section 4.1.
struct Frame {
  /// The types, section 6. Others are passed over.
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

  /// Bytes before the payload.
  static let headLength = 9
  /// The longest payload that is taken: SETTINGS_MAX_FRAME_SIZE.
  static let payloadLimit = 16_384

  func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

  /// Takes the padding off: section 6.1.
  mutating func unpad() throws(Fault) {
    guard has(Flag.padded) else { return }
    guard let length = payload.readInteger(as: UInt8.self), Int(length) <= payload.readableBytes else {
      throw Fault(.protocolError, "a frame with more padding than payload")
    }
    payload.moveWriterIndex(to: payload.writerIndex - Int(length))
  }
}

/// Cuts what came into frames.
struct FrameReader {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// What came and was not a whole frame yet.
  private var input = ByteBuffer()
  private var hasPreface = false

  /// A part of a frame is here.
  var isWithinFrame: Bool { input.readableBytes > 0 }

  mutating func append(_ bytes: ByteBuffer) {
    if input.readableBytes == 0 {
      input = bytes
    } else {
      input.writeImmutableBuffer(bytes)
    }
  }

  /// The next whole frame.
  mutating func next() throws(Fault) -> Frame? {
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
    guard length <= Frame.payloadLimit else {
      throw Fault(.frameSize, "a frame of \(length) bytes, and at most \(Frame.payloadLimit) are taken")
    }
    guard let payload = input.getSlice(at: at + Frame.headLength, length: length) else { return nil }
    input.moveReaderIndex(forwardBy: Frame.headLength + length)
    return Frame(
      kind: UInt8(truncatingIfNeeded: first), flags: flags, stream: stream & 0x7fff_ffff, payload: payload)
  }

  /// Keeps no more than the part of a frame that is left, in storage of its own.
  mutating func compact() {
    var own = ByteBuffer()
    if input.readableBytes > 0 {
      own.reserveCapacity(input.readableBytes)
      own.writeImmutableBuffer(input)
    }
    input = own
  }

  /// Passes over the client's preface: section 3.4. False when it is not all here.
  private mutating func readPreface() throws(Fault) -> Bool {
    let view = input.readableBytesView
    guard zip(view, FrameReader.preface).allSatisfy({ $0 == $1 }) else {
      throw Fault(.protocolError, "the client does not speak HTTP/2: no connection preface")
    }
    guard view.count >= FrameReader.preface.count else { return false }
    input.moveReaderIndex(forwardBy: FrameReader.preface.count)
    return true
  }
}

extension ByteBuffer {
  mutating func writeFrameHead(length: Int, kind: UInt8, flags: UInt8 = 0, stream: UInt32) {
    writeInteger(UInt32(truncatingIfNeeded: length) << 8 | UInt32(kind))
    writeInteger(flags)
    writeInteger(stream)
  }

  mutating func writeReset(of stream: UInt32, _ code: ErrorCode) {
    writeFrameHead(length: 4, kind: Frame.Kind.reset, stream: stream)
    writeInteger(code.rawValue)
  }

  mutating func writeCredit(_ bytes: Int, to stream: UInt32) {
    writeFrameHead(length: 4, kind: Frame.Kind.windowUpdate, stream: stream)
    writeInteger(UInt32(bytes))
  }

  mutating func writeGoAway(lastStream: UInt32, _ code: ErrorCode, _ debugData: String) {
    writeFrameHead(length: 8 + debugData.utf8.count, kind: Frame.Kind.goAway, stream: 0)
    writeInteger(lastStream)
    writeInteger(code.rawValue)
    writeString(debugData)
  }
}
