// SPDX-License-Identifier: Apache-2.0

import Archive

/// The ports of the misbehaving server, all on 127.0.0.1.
package struct ServerPorts: Sendable {
  /// The port of the URLs that the sample loads.
  package let main: UInt16
  /// Another one with the same files.
  package let other: UInt16
  /// Ports at which TLS fails, by the name of the behaviour.
  package let secure: [String: UInt16]

  package init(main: UInt16, other: UInt16, secure: [String: UInt16]) {
    self.main = main
    self.other = other
    self.secure = secure
  }
}

/// One request and what is needed to answer it.
package struct ServerTurn: Sendable {
  package let request: ServerRequest
  package let file: ServedFile
  /// Of the same size, with another entity tag.
  package let otherFile: ServedFile
  package let ports: ServerPorts

  package init(request: ServerRequest, file: ServedFile, otherFile: ServedFile, ports: ServerPorts) {
    self.request = request
    self.file = file
    self.otherFile = otherFile
    self.ports = ports
  }

  var size: Int { file.bytes.count }
  var half: ArraySlice<UInt8> { file.bytes.prefix(size * 3 / 4) }
  var length: String { "Content-Length: \(size)" }
  var tag: String { "ETag: \(file.entityTag)" }
  /// The path at which the file is always served as it should be.
  var plain: String { "/plain/\(file.name)" }

  /// What a good server does with any path.
  package func good() -> [ServerAction] {
    let parts = request.path.split(separator: "/")
    switch parts.first {
    case "figures", "plain":
      if let first = request.first, first < size, request.ifRange == nil || request.ifRange == file.entityTag {
        return part(first..<size, of: file)
      }
      return whole()
    // Targets of the redirections.
    case "loop": return redirect(request.path)
    case "hop":
      return redirect(parts.count == 3 && parts[1] != "0" ? "/hop/\((Int(parts[1]) ?? 1) - 1)/\(parts[2])" : plain)
    default: return reply("404 Not Found", body: Self.notFound)
    }
  }

  static let notFound = "no such file"

  /// A line and fields, as they are sent.
  func head(_ line: String, _ fields: [String] = []) -> [UInt8] {
    Array((([line] + fields).joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  func ok(_ fields: String...) -> [UInt8] { head("HTTP/1.1 200 OK", fields) }

  /// The file with a strong entity tag, and further fields.
  func whole(_ fields: String...) -> [ServerAction] {
    [
      .send(head("HTTP/1.1 200 OK", ["Content-Type: application/json", length, tag, "Accept-Ranges: bytes"] + fields)),
      .sendSlowly(file.bytes), .keep,
    ]
  }

  /// A part of a file as a 206.
  func part(_ range: Range<Int>, of file: ServedFile, _ contentRange: String? = nil) -> [ServerAction] {
    let described = "Content-Range: " + (contentRange ?? "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
    let fields = ["Content-Length: \(range.count)", described, "ETag: \(file.entityTag)"]
    return [.send(head("HTTP/1.1 206 Partial Content", fields)), .sendSlowly(Array(file.bytes[range])), .keep]
  }

  /// The head of the whole file, and three quarters of its bytes.
  func cut(_ fields: String...) -> [ServerAction] {
    [.send(head("HTTP/1.1 200 OK", [length] + fields)), .sendSlowly(Array(half))]
  }

  /// The first request is cut, and the one that resumes it is answered by `answer`.
  func resumed(_ answer: (Int) -> [ServerAction]) -> [ServerAction] { request.first.map(answer) ?? cut(tag) }

  /// A short response.
  func reply(_ status: String, body: String = "", fields: String...) -> [ServerAction] {
    [.send(head("HTTP/1.1 \(status)", ["Content-Length: \(body.utf8.count)"] + fields) + Array(body.utf8)), .keep]
  }

  func redirect(_ location: String, _ status: String = "302 Found") -> [ServerAction] {
    reply(status, body: "", fields: "Location: \(location)")
  }

  /// Bytes that are no good response, with a pause so that they arrive before the end of the connection.
  func raw(_ text: String) -> [ServerAction] { [.send(Array(text.utf8)), .wait(50)] }

  /// The file in chunks of the given size.
  func chunks(of size: Int, _ bytes: ArraySlice<UInt8>, extension mark: String = "") -> [UInt8] {
    stride(from: bytes.startIndex, to: bytes.endIndex, by: size).flatMap { start in
      let piece = bytes[start..<min(start + size, bytes.endIndex)]
      return Array("\(String(piece.count, radix: 16))\(mark)\r\n".utf8) + piece + [13, 10]
    }
  }

  /// A body with a content coding, as one response.
  func encoded(_ coding: String, _ body: [UInt8]) -> [ServerAction] {
    [.send(ok("Content-Encoding: \(coding)", "Content-Length: \(body.count)")), .sendSlowly(body), .keep]
  }
}

/// A file of the misbehaving server: figures as the sample reads them, with padding that no two files share.
package struct ServedFile: Sendable {
  package let name: String
  package let bytes: [UInt8]
  /// A strong validator.
  package var entityTag: String { "\"\(name)-\(bytes.count)\"" }

  /// Creates the file of a name, of so many bytes.
  package init(_ name: String, size: Int) {
    self.name = name
    let head = #"{"date":"2026-01-02T00:00:00Z","drinks":[],"freshFor":1,"milligrams":80,"padding":""#
    var random = SplitMix64(seed: name.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) })
    var bytes = Array(head.utf8)
    bytes.reserveCapacity(size)
    while bytes.count < size - 2 {
      var eight = random.next()
      for _ in 0..<8 {
        bytes.append(UInt8(97 + eight & 15))
        eight >>= 8
      }
    }
    self.bytes = bytes.prefix(size - 2) + Array(#""}"#.utf8)
  }
}

/// A request to the misbehaving server.
package struct ServerRequest: Sendable {
  /// Without a query.
  package let path: String
  /// The first byte that `Range` asks for; `nil` without the header.
  package let first: Int?
  package let ifRange: String?

  /// Reads the head of a request, without the empty line at its end; `nil` when it is none.
  package init?(head: String) {
    let lines = head.split(separator: "\r\n")
    guard let words = lines.first?.split(separator: " "), words.count >= 2 else { return nil }
    path = String(words[1].prefix { $0 != "?" })
    func value(_ name: String) -> String? {
      lines.dropFirst().first { $0.lowercased().hasPrefix(name + ":") }.map {
        String($0.dropFirst(name.count + 1).drop { $0 == " " })
      }
    }
    first = value("range").flatMap { text in
      text.hasPrefix("bytes=") ? Int(text.dropFirst(6).prefix { $0 != "-" }) : nil
    }
    ifRange = value("if-range")
  }
}

/// What a server does with a connection. It is closed after the last action, unless that is `keep`.
package enum ServerAction: Sendable, Hashable {
  case send([UInt8])
  /// In pieces, with pauses: so long that something may happen in between.
  case sendSlowly([UInt8])
  /// Milliseconds.
  case wait(Int)
  /// The connection is closed with RST.
  case reset
  /// Nothing more is sent, but the connection stays open until the client closes it, for at most a second.
  case finish
  /// Another request may follow.
  case keep
}

/// Content codings without compression, which need no library: stored blocks of deflate (RFC 1951), in the formats of
/// zlib (RFC 1950) and gzip (RFC 1952). And a body that grows when it is decoded.
package enum Coding {
  private static let gzipHead: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]

  /// Deflate without a frame.
  package static func deflate(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    var rest = bytes
    repeat {
      let piece = rest.prefix(0xffff)
      rest = rest.dropFirst(piece.count)
      let count = UInt16(piece.count)
      out.append(rest.isEmpty ? 1 : 0)
      for word in [count, ~count] { out += [UInt8(word & 255), UInt8(word >> 8)] }
      out += piece
    } while !rest.isEmpty
    return out
  }

  /// The coding `deflate` of HTTP.
  package static func zlib(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return [0x78, 0x01] + deflate(bytes) + words(high << 16 | low).reversed()
  }

  /// One member.
  package static func gzip(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    gzipHead + deflate(bytes) + words(checksum(bytes)) + words(UInt32(truncatingIfNeeded: bytes.count))
  }

  /// Zeros that are about 158 times as long when they are decoded.
  package struct Bomb: Sendable {
    package let encoded: [UInt8]
    package let decoded: [UInt8]

    /// About so many bytes when decoded.
    package init(_ size: Int) {
      // A literal, then copies of 258 bytes from 1 before, each 13 bits, with the fixed codes of RFC 1951, section 3.2.6.
      let copies = size / 258
      var bits = BitWriter()
      bits.write([true, true, false])
      bits.write(code: 0x30, 8)
      for _ in 0..<copies {
        bits.write(code: 0b1100_0101, 8)
        bits.write(code: 0, 5)
      }
      bits.write(code: 0, 7)
      decoded = [UInt8](repeating: 0, count: copies * 258 + 1)
      encoded =
        gzipHead + bits.finished + words(checksum(decoded[...])) + words(UInt32(truncatingIfNeeded: decoded.count))
    }
  }

  /// Bits as deflate packs them: the first one is the lowest of a byte.
  private struct BitWriter {
    private var bytes: [UInt8] = []
    private var current: UInt8 = 0
    private var count = 0

    mutating func write(_ bits: [Bool]) { for bit in bits { add(bit) } }

    /// A Huffman code, its highest bit first.
    mutating func write(code: Int, _ length: Int) {
      for bit in (0..<length).reversed() { add(code >> bit & 1 == 1) }
    }

    private mutating func add(_ bit: Bool) {
      if bit { current |= 1 << UInt8(count) }
      count += 1
      guard count == 8 else { return }
      bytes.append(current)
      (current, count) = (0, 0)
    }

    var finished: [UInt8] { count == 0 ? bytes : bytes + [current] }
  }

  private static func words(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

  /// CRC-32 of RFC 1952.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBytes { Checksum.crc32(of: $0) }
  }
}
