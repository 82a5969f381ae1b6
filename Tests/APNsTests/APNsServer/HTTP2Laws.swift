// SPDX-License-Identifier: Apache-2.0

import APNs
import NIOCore
import NIOHPACK

@testable import APNsServer

/// The laws that hold for any bytes from a client of the push server. The tests check the corpus against them, and
/// `scripts/fuzz` a million more inputs.
///
/// The first byte of an input has options (`HTTP2Client.Options`), the rest are what the client sends.
enum HTTP2Laws {
  /// The law that the bytes break, or `nil`. The fuzzer finds traps.
  static func broken(by bytes: [UInt8]) -> String? {
    guard let first = bytes.first else { return nil }
    let options = HTTP2Client.Options(first)
    let input = (options.greets ? HTTP2Frames.greeting + HTTP2Frames.acknowledgement : []) + bytes.dropFirst()
    var whole = HTTP2Client(options)
    if let law = whole.run(input, parts: max(input.count, 1)) { return law }
    if let law = HTTP2Transcript.broken(by: whole.output, for: input) { return law }
    guard !options.ends else { return nil }
    // Where TCP and TLS cut the bytes has no effect, except on a connection that ends: it may end between two parts.
    var cut = HTTP2Client(options)
    if let law = cut.run(input, parts: 1 + Int(first) % 23) { return law }
    guard cut.output == whole.output else { return "the output depends on where the bytes are cut" }
    guard cut.requests == whole.requests else { return "the requests depend on where the bytes are cut" }
    return nil
  }
}

/// A connection with a backend whose responses depend on the stream only.
struct HTTP2Client {
  /// The first byte of an input.
  struct Options {
    /// The client begins with the preface, SETTINGS and their acknowledgement.
    let greets: Bool
    /// Some responses end the connection, and a shutdown is announced.
    let ends: Bool
    /// The limits are so low that short inputs reach them.
    let isNarrow: Bool
    let seed: UInt32

    init(_ byte: UInt8) {
      (greets, ends, isNarrow) = (byte & 0x80 == 0, byte & 0x40 != 0, byte & 0x20 != 0)
      seed = UInt32(byte & 0x1F)
    }

    var limits: APNsServerLimits {
      var limits = APNsServerLimits()
      guard isNarrow else { return limits }
      (limits.headerList, limits.continuations, limits.bodyRead, limits.unfinished) = (600, 2, 200, 1000)
      (limits.waitingBodies, limits.emptyData, limits.nuisances) = (3, 4, 20)
      return limits
    }
  }

  private let options: Options
  private let limits: APNsServerLimits
  private let streams: Int
  private var http: HTTP2Connection
  private(set) var output = ByteBuffer()
  private(set) var requests: [APNsRequest] = []
  private var served: Set<UInt32> = []
  /// Streams whose response comes after those of later requests.
  private var late: [UInt32] = []

  init(_ options: Options) {
    self.options = options
    limits = options.limits
    streams = options.isNarrow ? 4 : 1000
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    http = HTTP2Connection(limits: limits, at: start)
    http.begin(streams: streams, at: start)
  }

  /// Receives the bytes in parts of a length; returns the law that is broken.
  mutating func run(_ input: [UInt8], parts: Int) -> String? {
    var rest = ByteBuffer(bytes: input)
    while let part = rest.readSlice(length: min(parts, rest.readableBytes)), part.readableBytes > 0 {
      http.receive(part, at: http.now)
      while let arrival = http.next() {
        if let law = take(arrival) ?? brokenState() { return law }
      }
      http.endBatch()
      collect()
      if let law = brokenState() { return law }
    }
    for stream in late { http.answer(response(on: stream), on: stream) }
    http.endBatch()
    collect()
    return brokenState()
  }

  private mutating func collect() {
    output.writeBuffer(&http.output)
    http.output.clear()
  }

  private mutating func take(_ arrival: HTTP2Connection.Arrival) -> String? {
    let (stream, request) = (arrival.stream, arrival.request)
    guard stream % 2 == 1, served.insert(stream).inserted else { return "stream \(stream) has two requests" }
    guard !request.method.isEmpty, !request.path.isEmpty else { return "a request without method or path is served" }
    guard request.body.count <= APNsRequest.bodyLimit else { return "a body is longer than its limit" }
    for header in request.headers {
      guard header.name.utf8.allSatisfy({ 0x21...0x7E ~= $0 && !(0x41...0x5A ~= $0) && $0 != 0x3A }) else {
        return "the header name '\(header.name)' is accepted"
      }
      guard !header.value.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
        return "a header value with a line end is accepted"
      }
    }
    requests.append(request)
    if options.ends, requests.count == 3 { http.announceShutdown(at: http.now) }
    if (stream >> 1) & 3 == options.seed & 3 {
      late.append(stream)
      if late.count > 2 { http.answer(response(on: late[0]), on: late.removeFirst()) }
    } else {
      http.answer(response(on: stream), on: stream)
    }
    return nil
  }

  private func response(on stream: UInt32) -> APNsAnswer {
    let id = String(repeating: "x", count: Int(stream % 200))
    switch (stream >> 1) &+ options.seed & 15 {
    case 0 where options.ends:
      return APNsAnswer(status: 403, reason: "BadCertificate", apnsID: id, manner: .responseAndGoAway)
    case 1 where options.ends: return APNsAnswer(status: 500, reason: "Shutdown", apnsID: id, manner: .goAway)
    case 2: return APNsAnswer(status: 200, apnsID: id, manner: .reset)
    case 3...6: return APNsAnswer(status: 400, reason: "BadDeviceToken", apnsID: id)
    case 7: return APNsAnswer(status: 410, reason: "Unregistered", apnsID: id)
    default: return APNsAnswer(status: 200, apnsID: id)
    }
  }

  /// What the connection keeps is bounded and counted.
  private func brokenState() -> String? {
    if http.phase == .over {
      return http.streams.isEmpty && http.waitingBodies.isEmpty ? nil : "a closed connection has open streams"
    }
    let open = http.streams.values.filter { $0.input == .open }
    guard http.unfinished == open.count, http.unfinishedSize == open.reduce(0, { $0 + $1.size }) else {
      return "the incomplete requests are counted wrongly"
    }
    guard http.streams.count <= max(http.streamLimit, streams, limits.streams) else { return "too many streams" }
    guard http.unfinishedSize <= limits.unfinished + limits.headerList + HTTP2Frame.payloadLimit else {
      return "the incomplete requests are too large"
    }
    guard http.waitingBodies.count <= limits.waitingBodies else { return "too many bodies wait" }
    guard http.waitingBodies.allSatisfy({ http.streams[$0.stream] != nil }) else { return "a body waits for no stream" }
    guard http.receiveWindow >= 0, http.receiveWindow <= 65_535, http.sendWindow <= Int(Int32.max) else {
      return "a window is out of its range"
    }
    return nil
  }
}

/// What the server has sent, read by an independent parser.
private struct HTTP2Transcript {
  private enum Side { case headers, ended, reset }
  private var sides: [Int: Side] = [:]
  private var sentBytes: [Int: Int] = [:]
  private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
  private var pings = 0
  private var acknowledgements = 0

  /// The law that the server's bytes break, or `nil`.
  static func broken(by output: ByteBuffer, for input: [UInt8]) -> String? {
    var (rest, ownTranscript, frames) = (output, HTTP2Transcript(), [Seen]())
    while let frame = Seen(cutFrom: &rest) {
      frames.append(frame)
      if let law = ownTranscript.broken(by: frame) { return law }
    }
    guard rest.readableBytes == 0 else { return "the server sends an incomplete frame" }
    guard let first = frames.first, first.settings != nil else { return "the server does not begin with SETTINGS" }
    if let end = frames.lastIndex(where: { ($0.farewell?.code ?? 0) != 0 }), end != frames.count - 1 {
      return "the server sends frames after it has ended the connection"
    }
    return ownTranscript.broken(byGrantsOf: input)
  }

  private mutating func broken(by frame: Seen) -> String? {
    guard frame.bytes.count <= HTTP2Frame.payloadLimit else { return "a frame is longer than a client permits" }
    switch frame.kind {
    case 0:
      guard sides[frame.stream] == .headers else { return "DATA on stream \(frame.stream) without HEADERS" }
      sentBytes[frame.stream, default: 0] += frame.bytes.count
      if frame.ends { sides[frame.stream] = .ended }
    case 1:
      guard sides[frame.stream] == nil, frame.stream % 2 == 1 else { return "second HEADERS on \(frame.stream)" }
      guard let headers = try? frame.headers(&decoder), let status = headers[":status"], status.count == 3 else {
        return "HEADERS that a client cannot decode"
      }
      sides[frame.stream] = frame.ends ? .ended : .headers
    case 3:
      guard frame.stream % 2 == 1, sides[frame.stream] != .reset else { return "RST_STREAM on \(frame.stream)" }
      sides[frame.stream] = .reset
    case 4: if frame.ends { acknowledgements += 1 }
    case 6: if frame.ends { pings += 1 }
    case 7: break
    case 8: guard 1...0x7FFF_FFFF ~= Seen.number(frame.bytes, 0) else { return "WINDOW_UPDATE of 0" }
    default: return "the server sends a frame of type \(frame.kind)"
    }
    return nil
  }

  /// The client's SETTINGS, PING and WINDOW_UPDATE permit what was sent.
  private func broken(byGrantsOf input: [UInt8]) -> String? {
    var rest = ByteBuffer(bytes: input.dropFirst(HTTP2Frames.preface.count))
    var (window, credit, settings, requests) = (65_535, [0: 65_535], 0, 0)
    while let frame = Seen(cutFrom: &rest) {
      switch frame.kind {
      case 4 where !frame.ends:
        settings += 1
        for place in stride(from: 0, to: frame.bytes.count - 5, by: 6)
        where frame.bytes[place] == 0 && frame.bytes[place + 1] == 4 {
          window = max(window, Seen.number(frame.bytes, place + 2))
        }
      case 6 where !frame.ends: requests += 1
      case 8 where frame.bytes.count == 4:
        credit[frame.stream & 0x7FFF_FFFF, default: 0] += Seen.number(frame.bytes, 0) & 0x7FFF_FFFF
      default: break
      }
    }
    guard acknowledgements <= settings, pings <= requests else { return "an acknowledgement of nothing" }
    guard sentBytes.values.reduce(0, +) <= credit[0] ?? 0 else { return "DATA exceeds the connection's window" }
    for (stream, bytes) in sentBytes where bytes > window + (credit[stream] ?? 0) {
      return "DATA exceeds the window of stream \(stream)"
    }
    return nil
  }
}
