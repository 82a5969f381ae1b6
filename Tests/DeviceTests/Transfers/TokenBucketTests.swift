// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import Device
@testable import DeviceRules

@Suite struct TokenBucketTests {
  private let start = ContinuousClock.now

  @Test func `no transfer waits without a rate limit`() {
    var bucket = TokenBucket()
    #expect(bucket.spend(1 << 40, now: start) == .zero)
  }

  @Test(.rule("TRANSFER-37")) func `all transfers together keep to the rate, in the order of their requests`() {
    var bucket = TokenBucket()
    bucket.setRate(1000)
    #expect(bucket.spend(250, now: start) == .milliseconds(250))
    #expect(bucket.spend(250, now: start) == .milliseconds(500))
    #expect(bucket.spend(500, now: start + .milliseconds(250)) == .milliseconds(750))
  }

  @Test func `unused bandwidth is not saved for later`() {
    var bucket = TokenBucket()
    bucket.setRate(1000)
    _ = bucket.spend(100, now: start)
    #expect(bucket.spend(100, now: start + .seconds(60)) == .milliseconds(100))
  }

  @Test func `a new rate applies at once, and the minimum is one byte per second`() {
    var bucket = TokenBucket()
    bucket.setRate(1)
    _ = bucket.spend(3600, now: start)
    bucket.setRate(1000)
    #expect(bucket.spend(100, now: start) == .milliseconds(100))
    #expect(bucket.slice == 250)
    bucket.setRate(0)
    #expect(bucket.slice == 1)
    #expect(bucket.spend(1, now: start) == .seconds(1))
    bucket.setRate(nil)
    #expect(bucket.spend(100, now: start) == .zero)
  }
}
