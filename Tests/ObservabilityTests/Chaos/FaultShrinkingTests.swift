// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Testing

@Suite struct `Shrinking a list of faults` {
  /// Runs the search against a rule, and returns the result with the number of attempts.
  private func shrink(_ count: Int, breaks: ([Int]) -> Bool) -> (smallest: [Int], attempts: Int) {
    var search = FaultShrinking(Array(1...count))
    var attempts = 0
    while let faults = search.next(), attempts < 10_000 {
      attempts += 1
      #expect(faults.isEmpty == (attempts == 1))
      search.tried(breaks: breaks(faults))
    }
    return (search.smallest, attempts)
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
    #expect(search.next() == [])
    search.tried(breaks: false)
    #expect(search.next() == nil)
    #expect(search.smallest == [4])
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
