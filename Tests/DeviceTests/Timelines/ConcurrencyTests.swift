// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget

/// Extensions that have several requests at once.
@Suite struct `Concurrent requests` {
  private static func fixture(_ concurrentTimelines: Int) -> TimelineFixture {
    var settings = TimelineSettings()
    settings.concurrentTimelines = concurrentTimelines
    settings.developerMode = true
    var fixture = TimelineFixture(settings)
    fixture.kindsReported(["Coffee"])
    for id in 1...3 { fixture.place(id) }
    fixture.giveAll()
    for id in 1...3 { fixture.handle(.reloadOne(id, .operator, .none)) }
    return fixture
  }

  private static func asked(_ words: [String]) -> [String] { words.filter { $0.hasPrefix("ask ") } }

  @Test(.rule("TIMELINE-31"), arguments: [1, 2, 5])
  func `an extension has at most the permitted number of requests at once`(concurrentTimelines: Int) {
    var fixture = Self.fixture(concurrentTimelines)
    let all = (1...3).map { "ask \($0) Coffee timeline" }
    #expect(Self.asked(fixture.handle(.awake(widget))) == Array(all.prefix(concurrentTimelines)))
    #expect(Self.asked(fixture.handle(.awake(widget))) == [])
    let rest = all.dropFirst(concurrentTimelines)
    #expect(Self.asked(fixture.give()) == Array(rest.prefix(1)))
    while fixture.stateMachine.outstanding[widget] != nil { fixture.give() }
    #expect(fixture.stateMachine.placements.values.allSatisfy { $0.pendingReload == nil })
    #expect(!fixture.stateMachine.isBusy)
  }

  @Test(.rule("TIMELINE-31")) func `a placement that is being asked for is not asked for twice at once`() {
    var fixture = Self.fixture(5)
    fixture.handle(.awake(widget))
    #expect(Self.asked(fixture.handle(.reloadOne(1, .operator, .none)) + fixture.handle(.awake(widget))) == [])
    let first = fixture.give()
    #expect(Self.asked(first) == ["ask 1 Coffee timeline"], "the reload that came during the request")
  }

  @Test(.rule("TIMELINE-31")) func `an exit during several requests repeats each of them`() {
    var fixture = Self.fixture(2)
    fixture.handle(.awake(widget))
    #expect(fixture.handle(.instanceEnded(widget)) == ["stop widget", "stop widget", "want widget"])
    #expect(Self.asked(fixture.handle(.awake(widget))) == ["ask 1 Coffee timeline", "ask 2 Coffee timeline"])
  }

  @Test(.rule("TIMELINE-31")) func `a request that takes too long does not end the others`() {
    var fixture = Self.fixture(2)
    fixture.handle(.awake(widget))
    guard let first = fixture.stateMachine.outstanding[widget] else { return #expect(Bool(false), "nothing is asked") }
    let words = fixture.handle(.overran(first, limit: 30))
    #expect(words.contains("stop widget") && words.contains("halt widget") && words.contains("want widget"))
    #expect(fixture.stateMachine.outstanding.map(\.placement.id) == [2])
    #expect(Self.asked(fixture.handle(.awake(widget))) == ["ask 3 Coffee timeline"])
  }

  @Test(.rule("TIMELINE-32"), .timeLimit(.minutes(1)), arguments: [false, true])
  func `a timeline that is requested twice at once is that of the last reply`(requestsTimelinesTwice: Bool) async throws
  {
    var fixture = try TimelineServiceFixture()
    fixture.settings.requestsTimelinesTwice = requestsTimelinesTwice
    let service = try await fixture.host()
    let requests = RequestCount()
    let (replied, reply) = AsyncStream.makeStream(of: Never.self)
    let process = try await fixture.startExtension { _ in
      let number = requests.next()
      guard requestsTimelinesTwice, number == 1 else { return oneEntry("reply \(number)") }
      for await _ in replied {}
      return oneEntry("late reply")
    }
    await service.awake(widget)
    if requestsTimelinesTwice {
      _ = await fixture.bus.first { envelope in
        let text = String(decoding: envelope.body, as: UTF8.self)
        return envelope.header.kind == RequestTimeline.kind.answered(.ok) && text.contains("reply 2")
      }
      reply.finish()
    }
    let stored = try #require(await fixture.received(TimelineStored.self))
    #expect(stored.text == [requestsTimelinesTwice ? "late reply" : "reply 1"])
    #expect(requests.next() == (requestsTimelinesTwice ? 3 : 2))
    await process.leave()
  }
}

/// Counts requests.
private final class RequestCount: Sendable {
  private let count = Mutex(0)

  /// The number of this call.
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
