import APNs
import Foundation
import NIOHPACK
import Testing

@testable import PushFront

@Suite struct `a request on a connection` {
  @Test func `is whole with its last DATA, repeated headers in their order`() throws {
    let talk = Talk()
    let list = Wire.request + [("host", "h"), ("apns-topic", "one"), ("apns-topic", "two")]
    #expect(talk.send(Wire.headers(list, on: 1) + Wire.data(#"{"aps""#, on: 1, ends: false)).isEmpty)
    let arrival = try #require(talk.send(Wire.data(":{}}", on: 1)).first)
    #expect(arrival.stream == 1)
    #expect(
      arrival.request
        == APNsRequest(
          method: "POST", path: "/3/device/00",
          headers: [
            .init(name: "host", value: "h"), .init(name: "apns-topic", value: "one"),
            .init(name: "apns-topic", value: "two"),
          ], body: Array(#"{"aps":{}}"#.utf8)))
  }

  @Test func `comes whole however it is cut`() throws {
    let bytes = Wire.greeting + Wire.acknowledgement + Wire.push(on: 1) + Wire.push(on: 3, body: "")
    for size in [1, 2, 5, 9, 10, 24, 25, 60] {
      let talk = Talk(greets: false)
      var streams: [UInt32] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        streams += talk.send(Array(bytes[start..<min(start + size, bytes.count)])).map(\.stream)
      }
      #expect(streams == [1, 3], "\(size) bytes at a time")
      #expect(talk.http.phase == .open)
    }
  }

  @Test func `may have padding, a priority, trailers, a split header block and unknown frames between`() throws {
    let talk = Talk()
    let block = Wire.block(Wire.request)
    let head = Wire.frame(1, flags: 0x28, stream: 1, [3] + Wire.number(0) + [15] + block.prefix(10) + [0, 0, 0])
    let rest = Wire.frame(9, flags: 4, stream: 1, Array(block.dropFirst(10)))
    let body = Wire.frame(0, flags: 8, stream: 1, [2] + Array("{}".utf8) + [0, 0])
    let others = Wire.frame(0xfa, stream: 7, [1, 2]) + Wire.frame(2, stream: 9, Wire.number(0) + [3])
    let trailers = Wire.headers([("a", "b")], on: 1, ends: true)
    let arrival = try #require(talk.send(head + rest + others + body + trailers).first)
    #expect(arrival.request.body == Array("{}".utf8))
    #expect(arrival.request.headers.isEmpty)
  }

  @Test func `has as much of its body as the contract looks at`() throws {
    let talk = Talk()
    let whole = try #require(talk.send(Wire.push(on: 1, body: String(repeating: "x", count: 8192))).first)
    #expect(whole.request.body.count == 8192 && !whole.request.isTruncated)
    let cut = try #require(talk.send(Wire.push(on: 3, body: String(repeating: "x", count: 8193))).first)
    #expect(cut.request.body.count == 8192 && cut.request.isTruncated)
  }

  @Test func `of any length is read on, with credit, and is answered before its end when it has none`() throws {
    var limits = PushFrontLimits()
    limits.bodyRead = 200_000
    let talk = Talk(limits: limits)
    var credit = [0: 0, 1: 0]
    var arrivals = talk.send(Wire.headers(on: 1))
    let piece = String(repeating: "x", count: 16_384)
    for _ in 0..<20 where arrivals.isEmpty {
      arrivals = talk.send(Wire.data(piece, on: 1, ends: false))
      for frame in talk.said() where frame.kind == 8 { credit[frame.stream, default: 0] += Seen.number(frame.bytes, 0) }
    }
    #expect(try #require(arrivals.first).request.isTruncated)
    #expect(credit[0] ?? 0 > 150_000 && credit[1] ?? 0 > 100_000)
    talk.answer(413, "PayloadTooLarge", on: 1)
    // the rest of the request is of no use: RFC 9113, section 8.1
    #expect(talk.said().map(\.kind) == [1, 0, 3])
    talk.send(Wire.data("more", on: 1))
    #expect(talk.http.phase == .open)
  }

  @Test func `beyond the stream limit is refused, once the client knows the limit`() {
    let talk = Talk(streams: 1, greets: false)
    #expect(talk.send(Wire.greeting + Wire.push(on: 1) + Wire.push(on: 3)).map(\.stream) == [1, 3])
    _ = talk.said()
    talk.send(Wire.acknowledgement)
    #expect(talk.send(Wire.push(on: 5)).isEmpty)
    #expect(talk.said().compactMap(\.code) == [7])
    talk.answer(on: 1)
    talk.answer(on: 3)
    #expect(talk.send(Wire.push(on: 7)).map(\.stream) == [7])
    talk.http.allow(streams: 3)
    #expect(talk.said().compactMap(\.settings) == [[3: 3]])
    #expect(talk.send(Wire.push(on: 9)).isEmpty)
    #expect(talk.send(Wire.acknowledgement + Wire.push(on: 11)).map(\.stream) == [11])
  }

  @Test func `that is given up is answered no more`() {
    let talk = Talk()
    talk.send(Wire.push(on: 1) + Wire.frame(3, stream: 1, Wire.number(8)))
    talk.answer(on: 1)
    #expect(talk.said().isEmpty)
    #expect(talk.http.streams.isEmpty)
  }

  private static let malformed: [(String, [(String, String)])] = [
    ("in capitals", with([("Apns-Topic", "a")])),
    ("of HTTP/1.1", with([("connection", "close")])),
    ("without a path", [(":method", "POST"), (":scheme", "https")]),
    ("with two paths", with([(":path", "/")])),
    ("with an unknown pseudo header", with([(":status", "200")])),
    ("with a late pseudo header", with([("host", "h"), (":authority", "h")])),
    ("with a length that it has not", with([("content-length", "5")])),
    ("with a length that is none", with([("content-length", "-1")])),
  ]

  private static func with(_ list: [(String, String)]) -> [(String, String)] { Wire.request + list }

  @Test(arguments: malformed.indices)
  func `that is malformed is reset alone`(index: Int) {
    let (name, list) = Self.malformed[index]
    let talk = Talk()
    #expect(talk.send(Wire.headers(list, on: 1) + Wire.data("{}", on: 1)).isEmpty)
    #expect(talk.said().compactMap(\.code).first == 1, "\(name)")
    #expect(talk.http.remark != nil)
    #expect(talk.send(Wire.push(on: 3)).count == 1)
  }
}
