// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Testing

@Suite struct `Shrinking a list of faults` {
  /// Runs the search against a rule, and returns the result with the number of attempts.
  private func shrink(_ count: Int, breaks: ([Int]) -> Bool) -> (smallest: [Int], attempts: Int) {
    var search = FaultShrinking(Array(1...count))
    var attempts = 0
    while case .faults(let faults) = search.next(), attempts < 10_000 {
      attempts += 1
      #expect(faults.isEmpty == (attempts == 1))
      search.tried(breaks: breaks(faults))
    }
    guard case .faults(let smallest) = search.found else { return ([], attempts) }
    return (smallest, attempts)
  }

  @Test(arguments: [1, 2, 3, 50, 99, 100]) func `one fault of a hundred is found in a few attempts`(fault: Int) {
    let result = shrink(100) { $0.contains(fault) }
    #expect(result.smallest == [fault])
    #expect(result.attempts <= 24)
  }

  @Test func `faults that break a law only together are found`() {
    let result = shrink(128) { Set($0).isSuperset(of: [3, 64, 127]) }
    #expect(result.smallest == [3, 64, 127])
    #expect(result.attempts < 200)
  }

  @Test func `a list that breaks only as a whole stays`() {
    #expect(shrink(8) { $0.count == 8 }.smallest == Array(1...8))
  }

  @Test func `a list of one fault is not tried again`() {
    var search = FaultShrinking([4])
    #expect(search.next() == .faults([]))
    search.tried(breaks: false)
    #expect(search.next() == nil)
    #expect(search.found == .faults([4]))
  }

  @Test func `a mistake that needs no fault is found first`() {
    let result = shrink(100) { _ in true }
    #expect(result.smallest == [])
    #expect(result.attempts == 1)
  }

  @Test func `the last fault is found in three attempts at most`() {
    #expect(shrink(500) { $0.contains(500) }.attempts <= 3)
    #expect(shrink(500) { $0.contains(499) }.attempts <= 5)
  }

  @Test func `a fault that breaks the law only at the third time is found`() {
    var times = 0
    let result = shrink(64) { faults in
      guard faults.contains(60) else { return false }
      times += 1
      return times.isMultiple(of: 3)
    }
    #expect(result.smallest == [60])
  }

  private func killed(_ step: Int, _ kills: [(ChaosVictim, String)]) -> CampaignEvent {
    CampaignEvent(
      step: step, kind: .kill, text: "", time: 0, kills: kills.map { CampaignEvent.Kill(victim: $0.0, state: $0.1) })
  }

  private func saved(_ step: Int, skipping: Int = 0) -> FaultSubstitute {
    .crash(step: step, victim: .host, point: "host.after-tasks-saved", skipping: skipping)
  }

  private let other = FaultSubstitute.crash(step: 1, victim: .pushServer, point: "peer.before-answer")

  /// What is tried against a rule.
  private func tried(
    _ count: Int, _ substitutes: [FaultSubstitute], sometimes: FaultSubstitute? = nil,
    breaks: (FaultShrinking.Candidate) -> Bool
  ) -> [FaultShrinking.Candidate] {
    var search = FaultShrinking(Array(1...count), substitutes: substitutes)
    var tried: [FaultShrinking.Candidate] = []
    while let candidate = search.next() {
      tried.append(candidate)
      search.tried(breaks: breaks(candidate), sometimes: sometimes.map { candidate == .substitute($0) } ?? false)
    }
    return tried
  }

  @Test func `a crash at a point where a process was killed is tried first, the latest first`() {
    let all = FaultSubstitute.all(
      in: [
        killed(3, [(.host, "host.after-tasks-saved"), (.messageBus, "bus.after-segment")]),
        killed(5, [(.host, "idle")]),
        killed(7, [(.host, "host.after-tasks-saved")]), killed(8, [(.pushServer, "peer.before-answer")]),
      ], stopping: [])
    #expect(
      all.prefix(3) == [
        .crash(step: 8, victim: .pushServer, point: "peer.before-answer"), saved(7),
        .crash(step: 3, victim: .messageBus, point: "bus.after-segment"),
      ])
    #expect(Set(all).count == all.count)
  }

  @Test func `then a kill while another process is stopped, and a crash at each other point`() {
    let events = [killed(12, [(.host, "host.after-tasks-saved")]), killed(20, [(.agent(1), "idle")])]
    let all = FaultSubstitute.all(in: events, stopping: [.host, .widgetExtension])
    #expect(
      all.prefix(3) == [
        saved(12), .kill(step: 12, victim: .agent(1), whileStopped: .host),
        .kill(step: 12, victim: .agent(1), whileStopped: .widgetExtension),
      ])
    #expect(all.contains(.kill(step: 12, victim: .host, whileStopped: .widgetExtension)))
    #expect(all.contains(.crash(step: 12, victim: .host, point: "host.before-deliveries-saved")))
    #expect(all.count == ChaosVictim.host.points.count + ChaosVictim.agent(1).points.count + 3)
  }

  @Test func `substitutes are tried after the last fault, and one that breaks the law ends the search`() {
    let tried = tried(8, [other, saved(7), saved(8)]) { $0 == .substitute(saved(7)) }
    #expect(tried == [.faults([]), .faults([8]), .substitute(other), .substitute(saved(7))])
  }

  @Test func `the last two faults are tried when no substitute breaks the law`() {
    let tried = tried(3, [saved(2)]) { $0 == .faults([2, 3]) }
    #expect(tried.prefix(4).map(\.count) == [0, 1, 1, 2])
  }

  @Test func `a substitute with as many faults as the list is not tried`() {
    let pair = FaultSubstitute.kill(step: 1, victim: .host, whileStopped: .app)
    #expect(tried(2, [pair, saved(1)]) { _ in false }.prefix(3) == [.faults([]), .faults([2]), .substitute(saved(1))])
    #expect(tried(3, [pair]) { _ in false }.contains(.substitute(pair)))
  }

  @Test func `a crash that breaks the law sometimes is tried when its point is reached again`() {
    let tried = tried(8, [saved(1), other], sometimes: saved(1)) { $0 == .substitute(saved(1, skipping: 1)) }
    #expect(tried.suffix(2) == [.substitute(saved(1)), .substitute(saved(1, skipping: 1))])
  }

  @Test func `a substitute replaces the faults from its step on`() {
    let steps = (1...20).map { number in
      CampaignStep(number: number, actions: [.reload], delay: 1, fault: .clock(seconds: number), waits: true)
    }
    let kept = steps.keeping(.substitute(saved(7)))
    #expect(kept.map(\.number) == Array(1...15))
    #expect(kept.compactMap(\.fault) == [.point(victim: .host, point: "host.after-tasks-saved", skipping: 0)])
    let pair = steps.keeping(.substitute(.kill(step: 7, victim: .host, whileStopped: .app)))
    #expect(pair.faultNumbers == [7, 8])
    #expect(pair.compactMap(\.fault) == [.stop(victim: .app, milliseconds: 900), .kill(victims: [.host])])
  }

  @Test func `the steps around the faults keep their actions`() {
    let steps = (1...30).map { number in
      CampaignStep(number: number, actions: [.reload], delay: 1, fault: .clock(seconds: number), waits: true)
    }
    let kept = steps.keeping([12, 14])
    #expect(kept.map(\.number) == Array(4...14))
    #expect(kept.faultNumbers == [12, 14])
    #expect(kept.allSatisfy { $0.actions == [.reload] })
    #expect(steps.keeping([2]).map(\.number) == [1, 2])
    #expect(steps.keeping([]).count == 30)
    #expect(steps.keeping([]).faultNumbers.isEmpty)
  }
}
