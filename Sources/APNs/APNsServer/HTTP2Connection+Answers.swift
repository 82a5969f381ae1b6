// SPDX-License-Identifier: Apache-2.0

import APNs
import Foundation
import NIOCore

extension HTTP2Connection {
  /// Writes a response. Does nothing when the client has reset the stream.
  mutating func answer(_ answer: APNsAnswer, on id: UInt32) {
    guard phase == .open || phase == .leaving, let index = streams.index(forKey: id) else { return }
    lastUse = now
    switch answer.manner {
    case .response: respond(answer, on: id, at: index)
    case .responseAndGoAway:
      respond(answer, on: id, at: index)
      leave(answer.reason)
    case .reset:
      output.writeReset(of: id, .internalError)
      forget(id)
    case .goAway:
      lastServed = min(lastServed, id < 2 ? 0 : id - 2)
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

  private mutating func respond(_ answer: APNsAnswer, on id: UInt32, at index: Dictionary<UInt32, Stream>.Index) {
    let body = answer.body
    output.writeResponse(
      answer, on: id, endsStream: body == nil, announcesTableSize: mustAnnounceTableSize)
    mustAnnounceTableSize = false
    guard let body else { return close(id, at: index) }
    let length = body.utf8.count
    guard length <= sendWindow, length <= streams.values[index].sendWindow else {
      waiting.append(WaitingBody(stream: id, text: body, since: now))
      if waiting.count > limits.waitingBodies {
        end(HTTP2Error(.enhanceYourCalm, "no flow-control credit for \(waiting.count) response bodies"))
      }
      return
    }
    send(body, on: id, at: index)
  }

  /// Sends the body of a refusal in one frame, as clients expect.
  private mutating func send(_ body: String, on id: UInt32, at index: Dictionary<UInt32, Stream>.Index) {
    let length = body.utf8.count
    sendWindow -= length
    output.writeFrameHead(length: length, kind: HTTP2Frame.Kind.data, flags: HTTP2Frame.Flag.endStream, stream: id)
    output.writeString(body)
    close(id, at: index)
  }

  /// Ends our side of a stream.
  private mutating func close(_ id: UInt32, at index: Dictionary<UInt32, Stream>.Index) {
    let stream = streams.remove(at: index).value
    if stream.input == .open { uncount(stream.size) }
    // section 8.1: the response is complete, and the rest of the request is not needed
    if stream.input != .ended { output.writeReset(of: id, .none) }
  }

  /// Sends the bodies for which there is flow-control credit.
  mutating func sendWaiting() {
    guard !waiting.isEmpty else { return }
    let bodies = waiting
    waiting = []
    for body in bodies {
      guard let index = streams.index(forKey: body.stream) else { continue }
      let length = body.text.utf8.count
      if length <= sendWindow, length <= streams.values[index].sendWindow {
        send(body.text, on: body.stream, at: index)
      } else {
        waiting.append(body)
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
    reason.map { APNsAnswer.json(reason: $0, milliseconds: timestamp.map { Int64($0.timeIntervalSince1970 * 1000) }) }
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
  mutating func writeResponse(_ answer: APNsAnswer, on stream: UInt32, endsStream: Bool, announcesTableSize: Bool) {
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
    if !endsStream {
      // content-type is 31 in the static table
      writeInteger(UInt16(0x0f10))
      writeLiteral("application/json")
    }
    writeInteger(UInt8(0))
    writeLiteral(answer.idHeader)
    writeLiteral(answer.apnsID)
    if let id = answer.uniqueID {
      writeInteger(UInt8(0))
      writeLiteral("apns-unique-id")
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
