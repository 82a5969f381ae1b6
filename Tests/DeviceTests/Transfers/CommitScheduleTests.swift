// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

@Suite(.timeLimit(.minutes(1))) struct CommitScheduleTests {
  @Test func `requests before a transaction share it, and those after it share the next one`() async {
    let executor = DeviceActor.executor
    let schedule = CommitSchedule()
    let (commits, commit) = AsyncStream.makeStream(of: Int.self)
    let count = Mutex(0)
    schedule.begin {
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 1 { for _ in 1...100 { schedule.request() } }
      commit.yield(number)
      // Whatever was requested in excess would be performed before this.
      if number == 2 { executor.post { executor.post { commit.finish() } } }
    }
    executor.post { for _ in 1...100 { schedule.request() } }
    var seen: [Int] = []
    for await number in commits { seen.append(number) }
    #expect(seen == [1, 2])
  }
}
