// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let origin = TimelineSamples.origin

@Suite struct `Timeline entries and reload policies` {
  @Test(.rule("TIMELINE-07")) func `entries that are a moment apart are all shown`() {
    let dates = [0, 0.01, 0.02, 1, 1.5]
    var fixture = TimelineFixture.placed(dates: dates)
    #expect(dates.dropFirst().map { _ in fixture.next() } == dates.dropFirst().map { ["shown 1: \($0)"] })
    #expect(fixture.next() == ["nothing is due"])
  }

  @Test(.rule("TIMELINE-06", "TIMELINE-07")) func `each entry is shown at its date`() {
    var fixture = TimelineFixture.placed(dates: [0, 600, 1200])
    #expect(fixture.due == 600)
    #expect(fixture.next() == ["shown 1: 600.0"])
    #expect(fixture.next() == ["shown 1: 1200.0"])
    #expect(fixture.next() == ["nothing is due"])
  }

  @Test(.rule("TIMELINE-11"))
  func `the latest past entry is shown at once, and a first entry in the future waits for its date`() {
    var fixture = TimelineFixture()
    fixture.kindsReported(["Coffee"])
    fixture.place(1)
    #expect(fixture.giveAll(.never, [-900, -600, 300]).contains("shown 1: -600.0"))
    fixture.reload()
    #expect(fixture.giveAll(.never, [60, 120]) == ["ask 1 Coffee timeline", "release widget"])
    #expect(fixture.due == 60)
  }

  @Test(.rule("TIMELINE-14")) func `a new timeline replaces the old one completely`() {
    var fixture = TimelineFixture.placed(dates: [0, 600, 1200])
    fixture.reload()
    fixture.giveAll(.never, [0, 700])
    #expect(fixture.next() == ["shown 1: 700.0"])
    #expect(fixture.next() == ["nothing is due"])
  }

  @Test(.rule("TIMELINE-15"))
  func `atEnd reloads after the last entry, after reloads from its date on, and never not at all`() {
    var fixture = TimelineFixture.placed(policyOfTimeline: .atEnd, dates: [0, 3600])
    #expect(fixture.next() == ["shown 1: 3600.0", "granted 2 of 1: policy, budget", "want widget"])
    fixture.giveAll(.after(fixture.now + 1800), [0, 600, 7200])
    #expect(fixture.next() == ["shown 1: 600.0"])
    #expect(fixture.next() == ["granted 3 of 1: policy, budget", "want widget"])
    fixture.giveAll(.never, [0])
    #expect(fixture.stateMachine.nextInstant == nil)
  }

  @Test(.rule("TIMELINE-16"), arguments: [900.0, 60])
  func `a single-entry timeline with the policy atEnd is requested again after the configured pause`(pause: Double) {
    var settings = TimelineSettings()
    settings.oneEntryPause = pause
    let fixture = TimelineFixture.placed(settings, policyOfTimeline: .atEnd, dates: [0])
    #expect(fixture.due == pause)
  }

  @Test(.rule("TIMELINE-17"), arguments: [60.0, 5])
  func `a reload date in the past is delayed by the configured minimum, also in developer mode`(floor: Double) {
    var settings = TimelineSettings()
    settings.policyFloor = floor
    settings.developerMode = true
    #expect(TimelineFixture.placed(settings, policyOfTimeline: .atEnd, dates: [-600, -300]).due == floor)
    #expect(TimelineFixture.placed(settings, policyOfTimeline: .after(origin - 60)).due == floor)
  }

  @Test(.rule("TIMELINE-33"))
  func `the reload of a policy is later by a part of policyDelay that its seed, placement and reload determine`() {
    func delays(_ seed: Int, upTo most: Double) -> [Double] {
      var settings = TimelineSettings()
      settings.policyDelay = most
      settings.policyDelaySeed = seed
      settings.developerMode = true
      var fixture = TimelineFixture.placed(settings, policyOfTimeline: .after(origin + 3600))
      return (0..<20).map { _ in
        let delay = (fixture.due ?? 0) - 3600
        fixture.reload()
        fixture.giveAll(.after(origin + 3600), [0])
        return delay
      }
    }
    #expect(delays(1, upTo: 0) == Array(repeating: 0, count: 20))
    let some = delays(1, upTo: 600)
    #expect(some.allSatisfy { 0..<600 ~= $0 } && Set(some).count == 20)
    #expect((some.max() ?? 0) > 400 && (some.min() ?? 600) < 200)
    #expect(delays(1, upTo: 600) == some && delays(2, upTo: 600) != some)
  }

  @Test(.rule("TIMELINE-18")) func `relevance lasts for its duration across timelines and ends at a score of 0`() {
    var relevance = CurrentRelevance()
    relevance.show(.init(score: 10, duration: 600), of: origin)
    relevance.show(nil, of: origin + 60)
    #expect(relevance.score(at: origin + 599) == 10)
    #expect(relevance.score(at: origin + 600) == 0)
    relevance.show(.init(score: 5, duration: 0), of: origin)
    #expect(relevance.score(at: origin + 86_400) == 5)
    relevance.show(.init(score: 0, duration: 0), of: origin)
    #expect(relevance.score(at: origin) == 0)
  }

  @Test func `events that are due at the same date are handled in the order of placement numbers`() {
    var fixture = TimelineFixture.placed(policyOfTimeline: .after(origin + 3600))
    fixture.place(2)
    fixture.giveAll(.after(origin + 3600), [0, 3600])
    #expect(
      fixture.next() == [
        "granted 3 of 1: policy, budget", "want widget", "shown 2: 3600.0", "granted 4 of 2: policy, budget",
      ])
  }
}
