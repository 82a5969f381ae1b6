// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import Foundation
import Messages
import NIOCore

extension HTTP2Connection {
  /// Writes a response. Does nothing when the client has reset the stream, or when there is a response already.
  mutating func answer(_ answer: APNsAnswer, on id: UInt32) {
    guard phase == .open || phase == .leaving, let stream = streams[id],
      waiting.isEmpty || !waiting.contains(where: { $0.stream == id })
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
  mutating func finishLeaving() {
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
      waiting.append(rest)
      if waiting.count > limits.waitingBodies {
        end(HTTP2Error(.enhanceYourCalm, "no flow-control credit for \(waiting.count) response bodies"))
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
  mutating func sendWaiting(on stream: UInt32? = nil) {
    guard !waiting.isEmpty else { return }
    var position = 0
    while position < waiting.count, sendWindow > 0 {
      var body = waiting[position]
      guard stream == nil || stream == body.stream, let open = streams[body.stream], open.sendWindow > 0 else {
        position += 1
        continue
      }
      if send(&body, on: open) {
        waiting.remove(at: position)
      } else {
        waiting[position] = body
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
