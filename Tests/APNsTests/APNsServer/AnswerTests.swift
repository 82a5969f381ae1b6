// SPDX-License-Identifier: Apache-2.0

import APNs
import FidelityRules
import Foundation
import NIOHPACK
import Testing

@testable import APNsServer

@Suite struct `Responses on a connection` {
  @Test func `the response to an accepted push is a HEADERS frame that ends the stream`() throws {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1))
    let id = UUID()
    fixture.http.answer(APNsAnswer(status: 200, apnsID: "eC1DF", uniqueID: id), on: 1)
    let frame = try #require(fixture.sent().first)
    #expect(frame.kind == 1 && frame.ends)
    #expect(
      try frame.headers(&fixture.decoder) == [":status": "200", "apns-id": "eC1DF", "apns-unique-id": id.uuidString])
    #expect(fixture.http.streams.isEmpty)
  }

  @Test(arguments: [400, 403, 404, 405, 410, 413, 429, 500, 503])
  func `the response to a refused push is a HEADERS frame and one DATA frame`(status: Int) throws {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1))
    fixture.http.answer(
      APNsAnswer(
        status: status, reason: #"A"B\"#, timestamp: Date(timeIntervalSince1970: 1.5), apnsID: "i",
        idHeader: "apns-request-id"),
      on: 1)
    let frames = fixture.sent()
    #expect(frames.map(\.kind) == [1, 0])
    #expect(
      try frames[0].headers(&fixture.decoder)
        == [":status": "\(status)", "content-type": "application/json", "apns-request-id": "i"])
    #expect(!frames[0].ends && frames[1].ends)
    #expect(frames[1].text == #"{"reason":"A\"B\\","timestamp":1500}"#)
  }

  /// RFC 9110, section 9.3.2.
  @Test func `the response to HEAD has the headers of a body and no body`() throws {
    let fixture = HTTP2ConnectionFixture()
    let head = [(":method", "HEAD"), (":scheme", "https"), (":path", "/")]
    fixture.send(HTTP2Frames.headers(head, on: 1, ends: true))
    fixture.answer(405, "MethodNotAllowed", on: 1)
    let frames = fixture.sent()
    #expect(frames.map(\.kind) == [1] && frames[0].ends)
    #expect(
      try frames[0].headers(&fixture.decoder)
        == [":status": "405", "content-type": "application/json", "apns-id": "an-id"])
    #expect(fixture.http.streams.isEmpty)
  }

  @Test func `the server announces an empty HPACK table to a client that reduced its table size`() throws {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.frame(4, HTTP2Frames.setting(1, 0)) + HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    fixture.answer(on: 1)
    fixture.answer(on: 3)
    let heads = fixture.sent().filter { $0.kind == 1 }.map { $0.bytes[0] }
    #expect(heads == [0x20, 0x88])
  }

  @Test func `a response body waits for flow-control credit while other responses are sent`() throws {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.frame(4, HTTP2Frames.setting(4, 10)))
    _ = fixture.sent()
    fixture.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3) + HTTP2Frames.push(on: 5))
    fixture.answer(400, "BadTopic", on: 1)
    fixture.answer(on: 3)
    let first = fixture.sent()
    #expect(first.map { [Int($0.kind), $0.stream] } == [[1, 1], [0, 1], [1, 3]])
    #expect(first[1].text == #"{"reason":"# && !first[1].ends)
    fixture.send(HTTP2Frames.credit(100, to: 5))
    fixture.answer(400, "BadPath", on: 5)
    #expect(fixture.sent().map { [Int($0.kind), $0.stream] } == [[1, 5], [0, 5]])
    fixture.send(HTTP2Frames.credit(15, to: 1))
    let rest = fixture.sent()
    #expect(rest.map(\.text) == [#""BadTopic"}"#] && rest[0].ends)
    #expect(fixture.http.waitingBodies.isEmpty && fixture.http.streams.isEmpty)
  }

  @Test func `a body that is sent byte by byte ends the connection only when nothing is granted for 30 s`() {
    let limits = APNsServerLimits()
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.frame(4, HTTP2Frames.setting(4, 0)))
    fixture.send(HTTP2Frames.push(on: 1))
    fixture.answer(400, "BadTopic", on: 1)
    for _ in 0..<5 {
      #expect(fixture.pass(limits.unwritable - 1) != nil)
      fixture.send(HTTP2Frames.credit(1, to: 1))
    }
    #expect(fixture.sent().filter { $0.kind == 0 }.map(\.bytes.count) == [1, 1, 1, 1, 1])
    #expect(fixture.pass(limits.unwritable) == nil)
    #expect(fixture.farewell()?.text.contains("no flow-control credit") == true)
  }

  @Test func `a stream whose body waits for credit gets no second response`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.frame(4, HTTP2Frames.setting(4, 0)))
    fixture.send(HTTP2Frames.push(on: 1))
    _ = fixture.sent()
    for _ in 0..<2 { fixture.answer(400, "BadTopic", on: 1) }
    #expect(fixture.sent().map(\.kind) == [1])
    fixture.send(HTTP2Frames.credit(100, to: 1))
    #expect(fixture.sent().map(\.kind) == [0])
  }

  @Test(.rule("HTTP-01")) func `a reason that is too long for a GOAWAY is cut`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1))
    fixture.answer(503, String(repeating: "x", count: 40_000), manner: .goAway, on: 1)
    #expect(fixture.sent().map(\.bytes.count) == [16_384])
  }

  @Test(.rule("HTTP-99")) func `a GOAWAY after an accepted push reports its stream as processed`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    fixture.answer(manner: .goAway, on: 3)
    #expect(fixture.farewell()?.last == 3)
  }

  @Test func `responses that wait for flow-control credit are bounded in number and time`() {
    var limits = APNsServerLimits()
    limits.waitingBodies = 3
    for count in [3, 4] {
      let fixture = HTTP2ConnectionFixture(limits: limits)
      fixture.send(HTTP2Frames.frame(4, HTTP2Frames.setting(4, 0)))
      for stream in stride(from: 1, through: count * 2, by: 2) {
        fixture.send(HTTP2Frames.push(on: stream))
        fixture.answer(400, "BadTopic", on: UInt32(stream))
      }
      #expect((fixture.http.phase == .over) == (count == 4))
      fixture.pass(limits.unwritable)
      #expect(fixture.http.phase == .over)
      #expect(fixture.farewell()?.text.contains("no flow-control credit") == true)
    }
  }

  @Test func `the server uses the connection's whole flow-control credit and no more`() {
    let fixture = HTTP2ConnectionFixture()
    var sentCount = 0
    for stream in stride(from: 1, to: 6001, by: 2) {
      fixture.send(HTTP2Frames.push(on: stream))
      fixture.answer(400, "BadDeviceToken", on: UInt32(stream))
      sentCount += fixture.sent().filter { $0.kind == 0 }.reduce(0) { $0 + $1.bytes.count }
      if fixture.http.phase == .over { break }
    }
    #expect(65_535 - 27 < sentCount && sentCount <= 65_535)
  }

  @Test func `a response that resets its stream sends only RST_STREAM`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1))
    fixture.answer(manner: .reset, on: 1)
    #expect(fixture.sent().map(\.code) == [2])
    #expect(fixture.http.phase == .open)
  }

  @Test func `a GOAWAY response ends the connection at once and reports its own stream as not processed`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    fixture.answer(503, "ServiceUnavailable", manner: .goAway, on: 3)
    #expect(
      fixture.sent().compactMap(\.farewell) == [.init(last: 1, code: 0, text: #"{"reason":"ServiceUnavailable"}"#)])
    #expect(fixture.http.phase == .over)
  }

  @Test func `a response followed by GOAWAY lets earlier requests finish and accepts no new ones`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    fixture.answer(403, "BadCertificate", manner: .responseAndGoAway, on: 3)
    let frames = fixture.sent()
    #expect(frames.map(\.kind) == [1, 0, 7])
    #expect(frames.last?.farewell == .init(last: 3, code: 0, text: #"{"reason":"BadCertificate"}"#))
    #expect(fixture.send(HTTP2Frames.push(on: 5)).isEmpty)
    #expect(fixture.http.phase == .leaving)
    fixture.answer(on: 1)
    #expect(fixture.sent().map { [Int($0.kind), $0.stream] } == [[1, 1]])
    #expect(fixture.http.phase == .over)
  }

  @Test func `a shutdown waits for pending responses and answers requests that still arrive`() {
    let fixture = HTTP2ConnectionFixture()
    fixture.send(HTTP2Frames.push(on: 1))
    fixture.http.announceShutdown(at: fixture.now)
    let frames = fixture.sent()
    #expect(frames.map(\.kind).prefix(2) == [6, 7], "a client may ignore everything after a GOAWAY")
    #expect(frames.dropFirst().first?.farewell == .init(last: 0x7fff_ffff, code: 0, text: #"{"reason":"Shutdown"}"#))
    #expect(
      fixture.send(HTTP2Frames.push(on: 3) + HTTP2Frames.frame(6, flags: 1, [UInt8](repeating: 0, count: 8))).count == 1
    )
    fixture.answer(503, "Shutdown", on: 3)
    #expect(fixture.http.phase == .open)
    fixture.answer(on: 1)
    #expect(fixture.http.phase == .over)
    #expect(fixture.farewell() == .init(last: 3, code: 0, text: #"{"reason":"Shutdown"}"#))
  }
}
