import APNs
import Foundation
import NIOHPACK
import Testing

@testable import APNsServer

@Suite struct `Responses on a connection` {
  @Test func `the response to an accepted push is a HEADERS frame that ends the stream`() throws {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 1))
    let id = UUID()
    talk.http.answer(APNsAnswer(status: 200, apnsID: "eC1DF", uniqueID: id), on: 1)
    let frame = try #require(talk.said().first)
    #expect(frame.kind == 1 && frame.ends)
    #expect(
      try frame.headers(&talk.decoder) == [":status": "200", "apns-id": "eC1DF", "apns-unique-id": id.uuidString])
    #expect(talk.http.streams.isEmpty)
  }

  @Test(arguments: [400, 403, 404, 405, 410, 413, 429, 500, 503])
  func `the response to a refused push is a HEADERS frame and one DATA frame`(status: Int) throws {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 1))
    talk.http.answer(
      APNsAnswer(
        status: status, reason: #"A"B\"#, timestamp: Date(timeIntervalSince1970: 1.5), apnsID: "i",
        idHeader: "apns-request-id"),
      on: 1)
    let frames = talk.said()
    #expect(frames.map(\.kind) == [1, 0])
    #expect(
      try frames[0].headers(&talk.decoder)
        == [":status": "\(status)", "content-type": "application/json", "apns-request-id": "i"])
    #expect(!frames[0].ends && frames[1].ends)
    #expect(frames[1].text == #"{"reason":"A\"B\\","timestamp":1500}"#)
  }

  @Test func `the server announces an empty HPACK table to a client that reduced its table size`() throws {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.frame(4, HTTP2Frames.setting(1, 0)) + HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    talk.answer(on: 1)
    talk.answer(on: 3)
    let heads = talk.said().filter { $0.kind == 1 }.map { $0.bytes[0] }
    #expect(heads == [0x20, 0x88])
  }

  @Test func `a response body waits for flow-control credit while other responses are sent`() throws {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.frame(4, HTTP2Frames.setting(4, 10)))
    _ = talk.said()
    talk.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3) + HTTP2Frames.push(on: 5))
    talk.answer(400, "BadTopic", on: 1)
    talk.answer(on: 3)
    #expect(talk.said().map { [Int($0.kind), $0.stream] } == [[1, 1], [1, 3]])
    talk.send(HTTP2Frames.credit(100, to: 5))
    talk.answer(400, "BadPath", on: 5)
    #expect(talk.said().map { [Int($0.kind), $0.stream] } == [[1, 5], [0, 5]])
    talk.send(HTTP2Frames.credit(15, to: 1))
    #expect(talk.said().map(\.text) == [#"{"reason":"BadTopic"}"#])
    #expect(talk.http.waiting.isEmpty && talk.http.streams.isEmpty)
  }

  @Test func `responses that wait for flow-control credit are bounded in number and time`() {
    var limits = APNsServerLimits()
    limits.waitingBodies = 3
    for count in [3, 4] {
      let talk = HTTP2Dialogue(limits: limits)
      talk.send(HTTP2Frames.frame(4, HTTP2Frames.setting(4, 0)))
      for stream in stride(from: 1, through: count * 2, by: 2) {
        talk.send(HTTP2Frames.push(on: stream))
        talk.answer(400, "BadTopic", on: UInt32(stream))
      }
      #expect((talk.http.phase == .over) == (count == 4))
      talk.pass(limits.unwritable)
      #expect(talk.http.phase == .over)
      #expect(talk.farewell()?.text.contains("no flow-control credit") == true)
    }
  }

  @Test func `the server uses the connection's whole flow-control credit and no more`() {
    let talk = HTTP2Dialogue()
    var sent = 0
    for stream in stride(from: 1, to: 6001, by: 2) {
      talk.send(HTTP2Frames.push(on: stream))
      talk.answer(400, "BadDeviceToken", on: UInt32(stream))
      sent += talk.said().filter { $0.kind == 0 }.reduce(0) { $0 + $1.bytes.count }
      if talk.http.phase == .over { break }
    }
    #expect(65_535 - 27 < sent && sent <= 65_535)
  }

  @Test func `a response that resets its stream sends only RST_STREAM`() {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 1))
    talk.answer(manner: .reset, on: 1)
    #expect(talk.said().map(\.code) == [2])
    #expect(talk.http.phase == .open)
  }

  @Test func `a GOAWAY response ends the connection at once and reports its own stream as not processed`() {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    talk.answer(503, "ServiceUnavailable", manner: .goAway, on: 3)
    #expect(talk.said().compactMap(\.farewell) == [.init(last: 1, code: 0, text: #"{"reason":"ServiceUnavailable"}"#)])
    #expect(talk.http.phase == .over)
  }

  @Test func `a response followed by GOAWAY lets earlier requests finish and accepts no new ones`() {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 1) + HTTP2Frames.push(on: 3))
    talk.answer(403, "BadCertificate", manner: .responseAndGoAway, on: 3)
    let frames = talk.said()
    #expect(frames.map(\.kind) == [1, 0, 7])
    #expect(frames.last?.farewell == .init(last: 3, code: 0, text: #"{"reason":"BadCertificate"}"#))
    #expect(talk.send(HTTP2Frames.push(on: 5)).isEmpty)
    #expect(talk.http.phase == .leaving)
    talk.answer(on: 1)
    #expect(talk.said().map { [Int($0.kind), $0.stream] } == [[1, 1]])
    #expect(talk.http.phase == .over)
  }

  @Test func `a shutdown waits for pending responses and answers requests that still arrive`() {
    let talk = HTTP2Dialogue()
    talk.send(HTTP2Frames.push(on: 1))
    talk.http.announceShutdown(at: talk.now)
    let frames = talk.said()
    #expect(frames.map(\.kind).prefix(2) == [6, 7], "a client may ignore everything after a GOAWAY")
    #expect(frames.dropFirst().first?.farewell == .init(last: 0x7fff_ffff, code: 0, text: #"{"reason":"Shutdown"}"#))
    #expect(
      talk.send(HTTP2Frames.push(on: 3) + HTTP2Frames.frame(6, flags: 1, [UInt8](repeating: 0, count: 8))).count == 1)
    talk.answer(503, "Shutdown", on: 3)
    #expect(talk.http.phase == .open)
    talk.answer(on: 1)
    #expect(talk.http.phase == .over)
    #expect(talk.farewell() == .init(last: 3, code: 0, text: #"{"reason":"Shutdown"}"#))
  }
}
