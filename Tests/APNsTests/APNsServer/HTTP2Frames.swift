// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK

/// Encodes and parses HTTP/2 independently of the implementation.
enum HTTP2Frames {
  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// The preface and SETTINGS without a setting.
  static let greeting = preface + frame(4)
  static let acknowledgement = frame(4, flags: 1)

  static func frame(_ kind: UInt8, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []) -> [UInt8] {
    let length = payload.count
    return [UInt8(length >> 16 & 0xff), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), kind, flags]
      + number(stream) + payload
  }

  static func number(_ value: Int) -> [UInt8] {
    [UInt8(value >> 24 & 0xff), UInt8(value >> 16 & 0xff), UInt8(value >> 8 & 0xff), UInt8(value & 0xff)]
  }

  static func setting(_ id: Int, _ value: Int) -> [UInt8] { [0, UInt8(id)] + number(value) }

  static func data(_ text: String, on stream: Int, ends: Bool = true) -> [UInt8] {
    frame(0, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
  }

  static func credit(_ bytes: Int, to stream: Int) -> [UInt8] { frame(8, stream: stream, number(bytes)) }

  /// Literals without indexing: RFC 7541, section 6.2.2.
  static func block(_ headers: [(String, String)]) -> [UInt8] {
    headers.flatMap { [0] + literal($0.0) + literal($0.1) }
  }

  private static func literal(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var rest = bytes.count - 127
    var length: [UInt8] = [127]
    while rest >= 128 {
      length.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return length + [UInt8(rest)] + bytes
  }

  static let request = [(":method", "POST"), (":scheme", "https"), (":path", "/3/device/00")]

  static func headers(
    _ list: [(String, String)] = request, on stream: Int, ends: Bool = false, isWhole: Bool = true
  ) -> [UInt8] {
    frame(1, flags: (ends ? 1 : 0) | (isWhole ? 4 : 0), stream: stream, block(list))
  }

  /// A push as in Apple's samples: `host`, and neither `:authority` nor content-length.
  static func push(on stream: Int, id: String? = nil, body: String = #"{"aps":{}}"#) -> [UInt8] {
    let more = [("host", "api.push.apple.com"), ("apns-topic", "a.b")] + (id.map { [("apns-id", $0)] } ?? [])
    return headers(request + more, on: stream) + data(body, on: stream)
  }
}

/// A frame sent by the server.
struct Seen: Equatable, Sendable {
  let kind: UInt8
  let flags: UInt8
  let stream: Int
  let bytes: [UInt8]

  var ends: Bool { flags & 1 != 0 }
  var text: String { String(decoding: bytes, as: UTF8.self) }
  /// The error code of RST_STREAM.
  var code: Int? { kind == 3 ? Seen.number(bytes, 0) : nil }
  /// The last stream, the code and the debug data of GOAWAY.
  var farewell: Farewell? {
    guard kind == 7 else { return nil }
    return Farewell(
      last: Seen.number(bytes, 0), code: Seen.number(bytes, 4), text: String(decoding: bytes[8...], as: UTF8.self))
  }
  struct Farewell: Equatable {
    let last: Int
    let code: Int
    let text: String
  }
  /// The values of SETTINGS.
  var settings: [Int: Int]? {
    guard kind == 4, !ends else { return nil }
    return Dictionary(
      uniqueKeysWithValues: stride(from: 0, to: bytes.count, by: 6).map {
        (Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), Seen.number(bytes, $0 + 2))
      })
  }

  static func number(_ bytes: [UInt8], _ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }

  /// Removes the next complete frame from the buffer.
  init?(cutFrom buffer: inout ByteBuffer) {
    guard let head = buffer.getBytes(at: buffer.readerIndex, length: 9) else { return nil }
    let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
    guard buffer.readableBytes >= 9 + length else { return nil }
    buffer.moveReaderIndex(forwardBy: 9)
    (kind, flags, stream) = (head[3], head[4], Seen.number(head, 5))
    bytes = buffer.readBytes(length: length) ?? []
  }

  /// The header list of HEADERS.
  func headers(_ decoder: inout HPACKDecoder) throws -> [String: String] {
    var block = ByteBuffer(bytes: bytes)
    let list = try decoder.decodeHeaders(from: &block)
    return Dictionary(list.map { ($0.name, $0.value) }) { "\($0), \($1)" }
  }
}
