import APNs
import Foundation
import NIOCore

extension HTTP2Connection {
  /// Says an answer; does nothing when the client has given the stream up.
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
      end(Fault(farewell: answer.reason))
    }
    finishLeaving()
  }

  /// Names the last stream that is served, and why no other is.
  private mutating func leave(_ reason: String?) {
    guard phase == .open else { return }
    let fault = Fault(farewell: reason)
    self.fault = fault
    phase = .leaving
    lastServed = lastStream
    leavingSince = now
    output.writeGoAway(lastStream: lastStream, fault.code, fault.debugData ?? "")
  }

  /// Tells the client that no new stream is welcome; those that come nevertheless are the caller's to refuse.
  mutating func announceShutdown(at now: NIODeadline) {
    self.now = now
    guard phase == .open || phase == .settings, shutdown == .none else {
      if phase == .handshake { end(Fault(farewell: APNsReason.shutdown.rawValue)) }
      return
    }
    shutdown = .announced
    // The PING, whose answer tells that this has been read, goes first: Python's h2 takes nothing after a GOAWAY, and then
    // loses its reason too.
    output.writeFrameHead(length: 8, kind: Frame.Kind.ping, stream: 0)
    output.writeInteger(UInt64(0))
    output.writeGoAway(lastStream: 0x7fff_ffff, .none, APNsAnswer.json(reason: APNsReason.shutdown.rawValue))
  }

  /// Ends a connection that has said goodbye, when nothing is under way any more.
  mutating func finishLeaving() {
    guard streams.isEmpty else { return }
    if phase == .leaving {
      phase = .over
    } else if shutdown == .acknowledged, block == nil {
      end(Fault(farewell: APNsReason.shutdown.rawValue))
    }
  }

  private mutating func respond(_ answer: APNsAnswer, on id: UInt32, at index: Dictionary<UInt32, Stream>.Index) {
    let body = answer.body
    output.writeResponse(
      answer, on: id, endsStream: body == nil, saysTableSize: owesTableSize)
    owesTableSize = false
    guard let body else { return close(id, at: index) }
    let length = body.utf8.count
    guard length <= sendWindow, length <= streams.values[index].sendWindow else {
      waiting.append(WaitingBody(stream: id, text: body, since: now))
      if waiting.count > limits.waitingBodies {
        end(Fault(.enhanceYourCalm, "no flow-control credit for the bodies of \(waiting.count) refusals"))
      }
      return
    }
    send(body, on: id, at: index)
  }

  /// The body of a refusal: in one frame, as clients expect.
  private mutating func send(_ body: String, on id: UInt32, at index: Dictionary<UInt32, Stream>.Index) {
    let length = body.utf8.count
    sendWindow -= length
    output.writeFrameHead(length: length, kind: Frame.Kind.data, flags: Frame.Flag.endStream, stream: id)
    output.writeString(body)
    close(id, at: index)
  }

  /// Our side of a stream has ended.
  private mutating func close(_ id: UInt32, at index: Dictionary<UInt32, Stream>.Index) {
    let stream = streams.remove(at: index).value
    if stream.input == .open { settle(stream.size) }
    // section 8.1: the answer is whole, and the rest of the request is of no use
    if stream.input != .ended { output.writeReset(of: id, .none) }
  }

  /// Sends the bodies that there is credit for now.
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

extension Fault {
  /// An end that is nobody's mistake in HTTP/2, with the reason that APNs has for it.
  init(farewell reason: String?) {
    self.init(
      .none, reason ?? "an answer that was to end it", debugData: reason.map { APNsAnswer.json(reason: $0) } ?? "")
  }
}

extension APNsAnswer {
  /// `nil` for a success, and for what was asked for without a reason.
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
  /// HEADERS of an answer. Each header is a literal that no table is asked to keep (RFC 7541, section 6.2.2), except for the
  /// statuses of the static table.
  mutating func writeResponse(_ answer: APNsAnswer, on stream: UInt32, endsStream: Bool, saysTableSize: Bool) {
    let start = writerIndex
    let flags = Frame.Flag.endHeaders | (endsStream ? Frame.Flag.endStream : 0)
    writeFrameHead(length: 0, kind: Frame.Kind.headers, flags: flags, stream: stream)
    if saysTableSize { writeInteger(UInt8(0x20)) }
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
    let length = writerIndex - start - Frame.headLength
    setInteger(UInt32(truncatingIfNeeded: length) << 8 | UInt32(Frame.Kind.headers), at: start)
  }

  /// A string as it is: RFC 7541, section 5.2.
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
