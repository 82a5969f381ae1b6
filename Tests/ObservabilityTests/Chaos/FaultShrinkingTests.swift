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
    guard case .faults(let smallest) = search.foundCandidate else { return ([], attempts) }
    return (smallest, attempts)
  }

  @Test(arguments: [1, 2, 3, 50, 99, 100]) func `one fault of a hundred is found in a few attempts`(fault: Int) {
    let result = shrink(100) { $0.contains(fault) }
    #expect(result.smallest == [fault])
    #expect(result.attempts <= 40)
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
    #expect(search.foundCandidate == .faults([4]))
  }

  @Test func `a mistake that needs no fault is found first`() {
    let result = shrink(100) { _ in true }
    #expect(result.smallest == [])
    #expect(result.attempts == 1)
  }

  @Test func `the last fault is found in three attempts at most`() {
    #expect(shrink(500) { $0.contains(500) }.attempts <= 3)
    #expect(shrink(500) { $0.contains(499) }.attempts <= 6)
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

  @Test func `a crash at a point where a process was killed is tried after the last fault`() {
    let all = PointCrash.all(in: [
      killed(3, [(.host, "host.after-tasks-saved"), (.messageBus, "bus.after-segment")]), killed(5, [(.host, "idle")]),
      killed(7, [(.host, "host.after-tasks-saved")]), killed(8, [(.pushServer, "peer.before-answer")]),
    ])
    let crashes = Array(all.prefix(3))
    let saved = PointCrash(step: 7, victim: .host, point: "host.after-tasks-saved")
    #expect(
      crashes == [
        PointCrash(step: 8, victim: .pushServer, point: "peer.before-answer"), saved,
        PointCrash(step: 3, victim: .messageBus, point: "bus.after-segment"),
      ])
    var search = FaultShrinking(Array(1...8), crashes: crashes)
    var tried: [FaultShrinking.Candidate] = []
    while let candidate = search.next() {
      tried.append(candidate)
      search.tried(breaks: candidate == .crash(saved))
    }
    #expect(tried.prefix(3) == [.faults([]), .faults([8]), .faults([6, 7, 8])])
    #expect(tried.suffix(3) == [.faults([1, 2, 3]), .crash(crashes[0]), .crash(saved)])
    #expect(search.foundCandidate == .crash(saved))
  }

  @Test func `then a crash is tried at each other point of the killed processes`() {
    let all = PointCrash.all(in: [killed(12, [(.host, "host.after-tasks-saved")]), killed(20, [(.agent(1), "idle")])])
    #expect(all.first == PointCrash(step: 12, victim: .host, point: "host.after-tasks-saved"))
    #expect(all.dropFirst().first?.victim == .agent(1), "the latest first")
    #expect(all.contains(PointCrash(step: 12, victim: .host, point: "host.before-deliveries-saved")))
    #expect(Set(all).count == all.count)
    #expect(all.count == ChaosVictim.host.points.count + ChaosVictim.agent(1).points.count)
  }

  @Test func `a crash that breaks the law sometimes is tried when its point is reached again`() {
    let crash = PointCrash(step: 1, victim: .host, point: "host.before-deliveries-saved")
    let second = PointCrash(step: 1, victim: .host, point: "host.before-deliveries-saved", skipping: 1)
    let other = PointCrash(step: 1, victim: .host, point: "host.after-deliveries-saved")
    var search = FaultShrinking(Array(1...8), crashes: [crash, other])
    var tried: [FaultShrinking.Candidate] = []
    while let candidate = search.next() {
      tried.append(candidate)
      search.tried(breaks: candidate == .crash(second), sometimes: candidate == .crash(crash))
    }
    #expect(tried.suffix(2) == [.crash(crash), .crash(second)])
    #expect(search.foundCandidate == .crash(second))
  }

  @Test func `sequences of three faults are tried twice, the latest first`() {
    var tried: [[Int]] = []
    _ = shrink(5) {
      tried.append($0)
      return $0.isEmpty == false && $0.count == 5
    }
    #expect(
      tried.prefix(8) == [[], [5], [3, 4, 5], [2, 3, 4], [1, 2, 3], [3, 4, 5], [2, 3, 4], [1, 2, 3]])
    #expect(shrink(100) { Set($0).isSuperset(of: [93, 95]) }.smallest == [93, 95])
  }

  @Test func `the last six faults are tried when no crash breaks the law`() {
    var search = FaultShrinking(
      Array(1...9), crashes: [PointCrash(step: 2, victim: .host, point: "peer.after-answer")])
    var tried: [FaultShrinking.Candidate] = []
    while let candidate = search.next() {
      tried.append(candidate)
      search.tried(breaks: candidate == .faults(Array(4...9)))
    }
    #expect(tried.contains(.faults(Array(4...9))))
    #expect(search.foundCandidate == .faults(Array(4...9)))
  }

  @Test func `a crash replaces the fault of its step`() {
    let steps = (1...20).map { number in
      CampaignStep(number: number, actions: [.reload], delay: 1, fault: .clock(seconds: number), waits: true)
    }
    let kept = steps.keeping(.crash(PointCrash(step: 7, victim: .host, point: "host.after-tasks-saved")))
    #expect(kept.map(\.number) == Array(1...15))
    #expect(kept.compactMap(\.fault) == [.point(victim: .host, point: "host.after-tasks-saved", skipping: 0)])
  }

  @Test func `the steps around the faults keep their actions`() {
    let steps = (1...30).map { number in
      CampaignStep(number: number, actions: [.reload], delay: 1, fault: .clock(seconds: number), waits: true)
    }
    let keptSteps = steps.keeping([12, 14])
    #expect(keptSteps.map(\.number) == Array(4...14))
    #expect(keptSteps.faultNumbers == [12, 14])
    #expect(keptSteps.allSatisfy { $0.actions == [.reload] })
    #expect(steps.keeping([2]).map(\.number) == [1, 2])
    #expect(steps.keeping([]).count == 30)
    #expect(steps.keeping([]).faultNumbers.isEmpty)
  }
}
