// SPDX-License-Identifier: Apache-2.0

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
    default: return reply("404 Not Found", Self.notFound)
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
  func reply(_ status: String, _ body: String = "", _ fields: String...) -> [ServerAction] {
    [.send(head("HTTP/1.1 \(status)", ["Content-Length: \(body.utf8.count)"] + fields) + Array(body.utf8)), .keep]
  }

  func redirect(_ location: String, _ status: String = "302 Found") -> [ServerAction] {
    reply(status, "", "Location: \(location)")
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
