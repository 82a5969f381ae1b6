// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import WidgetLab

private let widget = Address.widgetExtension("iphone", "com.example.App.Widget")
private let noon = Date(timeIntervalSince1970: 1_795_262_400)  // 2026-11-21 12:00:00Z

private func session(
  _ name: String = "figures", openIn: UInt32? = 2, running: Int = 1, undelivered: Int = 0, waitsFor: String? = nil,
  limitedUntil: Date? = nil
) -> SessionReport {
  SessionReport(
    owner: widget, session: name, configuration: SessionConfiguration(), openIn: openIn, running: running,
    undelivered: undelivered, waitsFor: waitsFor, limitedUntil: limitedUntil)
}

private func task(
  _ identifier: Int, _ state: TaskReport.State, session: String = "figures", type: TransferType = .download,
  received: Int64 = 0, of expected: Int64 = -1, sent sentBytes: Int64 = 0, ofSent: Int64 = 0, waitsFor: String? = nil,
  nextTry: Date? = nil, attempts: Int = 1, status: Int? = nil, failure: TransferFailure? = nil
) -> TaskReport {
  TaskReport(
    owner: widget, session: session,
    task: TaskSnapshot(
      taskIdentifier: identifier, type: type, request: TransferRequest(url: "https://example.com/\(identifier)"),
      taskDescription: nil, bytesSent: sentBytes, bytesExpectedToSend: ofSent, bytesReceived: received,
      bytesExpected: expected),
    state: state, waitsFor: waitsFor, nextTry: nextTry, attempts: attempts,
    response: status.map { TransferResponse(url: "", status: $0, headers: [], expectedLength: expected) },
    failure: failure)
}

private func report(
  _ sessions: [SessionReport], _ tasks: [TaskReport], network: NetworkState = NetworkState(), isHeld: Bool = false,
  offset: Double = 0
) -> SessionsReport {
  SessionsReport(
    network: network, clock: ClockState(now: noon, isHeld: isHeld, offset: offset), sessions: sessions, tasks: tasks)
}

@Suite struct `The sessions table` {
  @Test func `the sessions table shows each task's state, progress, next attempt and reason`() {
    let tasks = [
      task(4, .ended, received: 1000, of: 1000, status: 404),
      task(
        5, .ended, received: 10, of: 1000, attempts: 9, failure: TransferFailure(code: -1001, message: "timed out")),
      task(3, .suspended, received: 250, of: 1000),
      task(2, .waiting, waitsFor: "connectivity", nextTry: noon + 90, attempts: 3),
      task(1, .loading, received: 393_216, of: 786_432),
      task(6, .loading, type: .upload, sent: 2_000_000, ofSent: 8_000_000),
    ]
    let lines = report([session(running: 4, undelivered: 2, waitsFor: "its owner to run")], tasks).lines(all: false)
    #expect(
      lines
        == [
          "network: wifi   clock: 2026-11-21 12:00:00Z, running, same as this machine's",
          "",
          "figures of extension/…Widget: open in generation 2, 4 running, 2 undelivered; delivery waits for its owner to run",
          "  TASK  STATE      PROGRESS             BYTES             TRIES  NEXT           WHY              REQUEST",
          "     1  loading    [######......]  50%  393 kB of 786 kB  1      -              -                https://example.com/1",
          "     6  loading    [###.........]  25%  2 MB of 8 MB      1      -              -                upload https://example.com/6",
          "     2  waiting    -                    0 B               3      in 1 min 30 s  connectivity     https://example.com/2",
          "     3  suspended  [###.........]  25%  250 B of 1 kB     1      -              -                https://example.com/3",
          "     4  ended      [############] 100%  1 kB of 1 kB      1      -              HTTP 404         https://example.com/4",
          "     5  ended      [............]   1%  10 B of 1 kB      9      -              -1001 timed out  https://example.com/5",
        ])
  }

  @Test(arguments: [1e308, -1e308, .infinity, .nan])
  func `the sessions table shows a task with a date beyond all calendars`(seconds: Double) {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    let tasks = [task(1, .waiting, received: .max, of: 1, nextTry: date), task(2, .waiting, nextTry: date)]
    let lines = report([session(limitedUntil: date)], tasks, offset: seconds).lines(all: true)
    #expect(lines.contains { $0.contains("https://example.com/2") })
  }

  @Test func `the sessions table begins with the network, the clock and the limiter`() {
    let sessions = [
      session("a", limitedUntil: noon + 61), session("b", limitedUntil: noon + 61), session("c", limitedUntil: noon),
    ]
    let head = report(
      sessions, [], network: NetworkState(path: .cellular, rate: 50_000), isHeld: true, offset: 90_000
    ).lines(all: false).first
    #expect(
      head
        == "network: cellular, 50 kB/s   clock: 2026-11-21 12:00:00Z, held, 1 d 1 h ahead of this machine's   "
        + "limiter: extension/…Widget in 1 min 1 s")
  }

  @Test func `the sessions table lists the active ones of ten thousand tasks and counts the rest`() {
    let tasks = (1...10_000).map { index in
      switch index {
      case ...600: task(index, .ended, received: 5, of: 5, status: 200)
      case ...606: task(index, .loading, received: 1, of: 5)
      default: task(index, .waiting, waitsFor: "a connection to example.com")
      }
    }
    let short = report([session(running: 9400, undelivered: 600)], tasks).lines(all: false)
    #expect(short.count == 3 + 1 + SessionsReport.limit + 1)
    #expect(short[4].hasPrefix("   601  loading") && short[10].hasPrefix("   607  waiting"))
    #expect(
      short.last
        == "  and 9980 more (--all lists them): 9380 waiting (a connection to example.com), 600 ended (HTTP 200)")
    #expect(report([session()], tasks).lines(all: true).count == 3 + 1 + 10_000)
  }

  @Test func `the sessions table states that there is no session or no task`() {
    #expect(report([], []).lines(all: false).last == "no background session")
    let empty = report([session(openIn: nil, running: 0)], []).lines(all: false)
    #expect(empty.last == "figures of extension/…Widget: open in no process, 0 running, 0 undelivered")
  }

  @Test func `the sessions table lists each task under its own session`() {
    let lines = report(
      [session("a"), session("b")], [task(1, .loading, session: "b"), task(2, .loading, session: "a")]
    ).lines(all: false)
    #expect(lines[4].contains("/2") && lines[8].contains("/1"))
  }

  @Test func `the sessions report in JSON has all tasks, with times since 1970`() throws {
    let text = try report([session()], [task(1, .waiting, nextTry: noon)]).json
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(Set(object.keys) == ["network", "clock", "sessions", "tasks"])
    let tasks = try #require(object["tasks"] as? [[String: Any]])
    #expect(tasks.first?["nextTry"] as? Double == 1_795_262_400)
  }
}
