// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Testing

@Suite struct MonotonicSemaphoreTests {
  @Test func `a wait ends with its signal, or after its time`() {
    let semaphore = MonotonicSemaphore()
    semaphore.signal()
    #expect(semaphore.wait(seconds: 60))
    let start = ContinuousClock.now
    #expect(!semaphore.wait(seconds: 0.02))
    #expect(ContinuousClock.now - start >= .milliseconds(20))
    #expect(!semaphore.wait(seconds: -1))
  }
}
