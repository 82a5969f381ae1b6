// SPDX-License-Identifier: Apache-2.0

import APNs
import FidelityRules
import Foundation
import NIOHPACK
import Testing

@testable import APNsServer

@Suite struct `Requests on a connection` {
  @Test func `a request is complete with its last DATA frame and keeps the order of repeated headers`() throws {
    let fixture = HTTP2ConnectionFixture()
    let list = HTTP2Frames.request + [("host", "h"), ("apns-topic", "one"), ("apns-topic", "two")]
    #expect(fixture.send(HTTP2Frames.headers(list, on: 1) + HTTP2Frames.data(#"{"aps""#, on: 1, ends: false)).isEmpty)
    let arrival = try #require(fixture.send(HTTP2Frames.data(":{}}", on: 1)).first)
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

  @Test func `requests are complete however their bytes are split`() throws {
    let bytes =
      HTTP2Frames.greeting + HTTP2Frames.acknowledgement + HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3, body: "")
    for size in [1, 2, 5, 9, 10, 24, 25, 60] {
      let fixture = HTTP2ConnectionFixture(greets: false)
      var streams: [UInt32] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        streams += fixture.send(Array(bytes[start..<min(start + size, bytes.count)])).map(\.stream)
      }
      #expect(streams == [1, 3], "\(size) bytes at a time")
      #expect(fixture.http.phase == .open)
    }
  }

  @Test func `a request may have padding, priority, trailers, split header blocks and unknown frames in between`()
    throws
  {
    let fixture = HTTP2ConnectionFixture()
    let block = HTTP2Frames.block(HTTP2Frames.request)
    let head = HTTP2Frames.frame(
      1, flags: 0x28, stream: 1, [3] + HTTP2Frames.number(0) + [15] + block.prefix(10) + [0, 0, 0])
    let rest = HTTP2Frames.frame(9, flags: 4, stream: 1, Array(block.dropFirst(10)))
    let body = HTTP2Frames.frame(0, flags: 8, stream: 1, [2] + Array("{}".utf8) + [0, 0])
    let others =
      HTTP2Frames.frame(0xfa, stream: 7, [1, 2]) + HTTP2Frames.frame(2, stream: 9, HTTP2Frames.number(0) + [3])
    let trailers = HTTP2Frames.headers([("a", "b")], on: 1, ends: true)
    let arrival = try #require(fixture.send(head + rest + others + body + trailers).first)
    #expect(arrival.request.body == Array("{}".utf8))
    #expect(arrival.request.headers.isEmpty)
  }

  @Test func `a request body is truncated after 8192 bytes`() throws {
    let fixture = HTTP2ConnectionFixture()
    let whole = try #require(fixture.send(HTTP2Frames.push(on: 1, body: String(repeating: "x", count: 8192))).first)
    #expect(whole.request.body.count == 8192 && !whole.request.isTruncated)
    let cut = try #require(fixture.send(HTTP2Frames.push(on: 3, body: String(repeating: "x", count: 8193))).first)
    #expect(cut.request.body.count == 8192 && cut.request.isTruncated)
  }

  @Test func `an endless request body is read up to a limit and then answered before its end`() throws {
    var limits = APNsServerLimits()
    limits.bodyRead = 200_000
    let fixture = HTTP2ConnectionFixture(limits: limits)
    var credit = [0: 0, 1: 0]
    var arrivals = fixture.send(HTTP2Frames.headers(on: 1))
    let piece = String(repeating: "x", count: 16_384)
    for _ in 0..<20 where arrivals.isEmpty {
      arrivals = fixture.send(HTTP2Frames.data(piece, on: 1, ends: false))
      for frame in fixture.sent() where frame.kind == 8 {
        credit[frame.stream, default: 0] += Seen.number(frame.bytes, 0)
      }
    }
    #expect(try #require(arrivals.first).request.isTruncated)
    #expect(credit[0] ?? 0 > 150_000 && credit[1] ?? 0 > 100_000)
    fixture.answer(413, "PayloadTooLarge", on: 1)
    // the rest of the request is not needed: RFC 9113, section 8.1
    #expect(fixture.sent().map(\.kind) == [1, 0, 3])
    fixture.send(HTTP2Frames.data("more", on: 1))
    #expect(fixture.http.phase == .open)
  }

  @Test(.rule("APNS-39"))
  func `a request beyond the stream limit is refused once the client has acknowledged the limit`() {
    let fixture = HTTP2ConnectionFixture(streams: 1, greets: false)
    #expect(
      fixture.send(HTTP2Frames.greeting + HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3)).map(\.stream) == [1, 3])
    _ = fixture.sent()
    fixture.send(HTTP2Frames.acknowledgement)
    #expect(fixture.send(HTTP2Frames.push(on: 5)).isEmpty)
    #expect(fixture.sent().compactMap(\.code) == [7])
    fixture.answer(on: 1)
    fixture.answer(on: 3)
    #expect(fixture.send(HTTP2Frames.push(on: 7)).map(\.stream) == [7])
    fixture.http.allow(streams: 3)
    #expect(fixture.sent().compactMap(\.settings) == [[3: 3]])
    #expect(fixture.send(HTTP2Frames.push(on: 9)).isEmpty)
    #expect(fixture.send(HTTP2Frames.acknowledgement + HTTP2Frames.push(on: 11)).map(\.stream) == [11])
  }

  @Test func `a request that the client resets gets no response`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1) + HTTP2Frames.frame(3, stream: 1, HTTP2Frames.number(8)))
    fixture.answer(on: 1)
    #expect(fixture.sent().isEmpty)
    #expect(fixture.http.streams.isEmpty)
  }

  private static let malformed: [(String, [(String, String)])] = [
    ("in capitals", with([("Apns-Topic", "a")])),
    ("of HTTP/1.1", with([("connection", "close")])),
    ("of another scheme", [(":method", "POST"), (":scheme", "http"), (":path", "/3/device/00")]),
    ("without a path", [(":method", "POST"), (":scheme", "https")]),
    ("with two paths", with([(":path", "/")])),
    ("with an unknown pseudo header", with([(":status", "200")])),
    ("with a late pseudo header", with([("host", "h"), (":authority", "h")])),
    ("with a wrong length", with([("content-length", "5")])),
    ("with an invalid length", with([("content-length", "-1")])),
  ]

  private static func with(_ list: [(String, String)]) -> [(String, String)] { HTTP2Frames.request + list }

  @Test(.rule("APNS-46"), arguments: malformed.indices)
  func `a malformed request resets only its own stream`(index: Int) {
    let (name, list) = Self.malformed[index]
    let fixture = HTTP2ConnectionFixture()
    #expect(fixture.send(HTTP2Frames.headers(list, on: 1) + HTTP2Frames.data("{}", on: 1)).isEmpty)
    #expect(fixture.sent().compactMap(\.code).first == 1, "\(name)")
    #expect(fixture.http.remark != nil)
    #expect(fixture.send(HTTP2Frames.push(on: 3)).count == 1)
  }
}
