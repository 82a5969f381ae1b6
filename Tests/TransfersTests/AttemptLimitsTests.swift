// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import NIOCore
import Testing

@testable import Transfers

@Suite struct AttemptLimitsTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  @Test(.rule("TRANSFER-32", "CLOCK-09")) func `the idle limit of a transfer attempt counts from the last byte`() {
    var limits = AttemptLimits(idle: 10, within: 100, now: start)
    #expect(limits.nextLook(start) == start + .seconds(10))
    limits.touch(start + .seconds(9))
    #expect(limits.nextLook(start + .seconds(10)) == start + .seconds(19))
    #expect(limits.nextLook(start + .seconds(19)) == nil)
  }

  @Test(.rule("TRANSFER-54"))
  func `single bytes that arrive now and then do not extend the total limit of a transfer attempt`() {
    var limits = AttemptLimits(idle: 10, within: 100, now: start)
    for second in 1...99 { limits.touch(start + .seconds(Int64(second))) }
    #expect(limits.nextLook(start + .seconds(99)) == start + .seconds(100))
    #expect(limits.nextLook(start + .seconds(100)) == nil)
  }

  @Test(.rule("TRANSFER-32"))
  func `time in which an attempt waits on the device or a challenge counts toward its total limit, not as idle`() {
    var limits = AttemptLimits(idle: 10, within: 100, now: start)
    limits.goOutside(true, start + .seconds(5))
    #expect(limits.nextLook(start + .seconds(50)) == start + .seconds(60))
    #expect(limits.nextLook(start + .seconds(95)) == start + .seconds(100))
    #expect(limits.nextLook(start + .seconds(100)) == nil)
    limits.goOutside(false, start + .seconds(60))
    #expect(limits.nextLook(start + .seconds(60)) == start + .seconds(70))
  }

  @Test func `zero, negative, huge and infinite attempt limits are accepted`() {
    #expect(AttemptLimits(idle: 0, within: .greatestFiniteMagnitude, now: start).nextLook(start) == nil)
    #expect(AttemptLimits(idle: .infinity, within: -1, now: start).nextLook(start) == nil)
    #expect(AttemptLimits(idle: .infinity, within: .infinity, now: start).nextLook(start) != nil)
  }
}
