import Archive
import Conversations
import Foundation
import Testing

@testable import Timelines

@Suite struct `entries and policies` {
  @Test func `each entry is shown at its time`() {
    var bench = Bench.placed(dates: [0, 600, 1200])
    #expect(bench.due == 600)
    #expect(bench.next() == ["shown 1: 600.0"])
    #expect(bench.next() == ["shown 1: 1200.0"])
    #expect(bench.next() == ["nothing is due"])
  }

  @Test func `of past entries the latest is shown at once, and a first one in the future waits for its date`() {
    var bench = Bench()
    bench.knows(["Coffee"])
    bench.place(1)
    #expect(bench.giveAll(.never, [-900, -600, 300]).contains("shown 1: -600.0"))
    bench.reload()
    #expect(bench.giveAll(.never, [60, 120]) == ["ask 1 Coffee timeline", "release widget"])
    #expect(bench.due == 60)
  }

  @Test func `a new timeline replaces the whole of the old one`() {
    var bench = Bench.placed(dates: [0, 600, 1200])
    bench.reload()
    bench.giveAll(.never, [0, 700])
    #expect(bench.next() == ["shown 1: 700.0"])
    #expect(bench.next() == ["nothing is due"])
  }

  @Test func `atEnd asks after the last entry's date, after from its date on, never not at all`() {
    var bench = Bench.placed(policyOfTimeline: .atEnd, dates: [0, 3600])
    #expect(bench.next() == ["shown 1: 3600.0", "granted 2 of 1: policy, budget", "want widget"])
    bench.giveAll(.after(bench.now + 1800), [0, 600, 7200])
    #expect(bench.next() == ["shown 1: 600.0"])
    #expect(bench.next() == ["granted 3 of 1: policy, budget", "want widget"])
    bench.giveAll(.never, [0])
    #expect(bench.decision.nextInstant == nil)
  }

  @Test(arguments: [900.0, 60])
  func `a timeline of one entry is asked for again after the system's own pause`(pause: Double) {
    var settings = TimelineSettings()
    settings.oneEntryPause = pause
    let bench = Bench.placed(settings, policyOfTimeline: .atEnd, dates: [0])
    #expect(bench.due == pause)
  }

  @Test(arguments: [60.0, 5])
  func `a policy whose date is past comes no sooner than the setting says, in developer mode too`(floor: Double) {
    var settings = TimelineSettings()
    settings.policyFloor = floor
    settings.developerMode = true
    #expect(Bench.placed(settings, policyOfTimeline: .atEnd, dates: [-600, -300]).due == floor)
    #expect(Bench.placed(settings, policyOfTimeline: .after(origin - 60)).due == floor)
  }

  @Test func `relevance is kept over timelines for its duration, and ends at a score of 0`() {
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

  @Test func `what comes due at one instant comes by the numbers of the placements`() {
    var bench = Bench.placed(policyOfTimeline: .after(origin + 3600))
    bench.place(2)
    bench.giveAll(.after(origin + 3600), [0, 3600])
    #expect(
      bench.next() == [
        "granted 3 of 1: policy, budget", "want widget", "shown 2: 3600.0", "granted 4 of 2: policy, budget",
        "want widget",
      ])
  }
}
