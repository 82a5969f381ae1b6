// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import NIOCore
import Testing

@testable import Device
@testable import DeviceRules

@Suite(.timeLimit(.minutes(1))) struct IdleLimitTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  @Test(.rule("TRANSFER-32", "CLOCK-09")) func `the idle limit of a transfer attempt counts from the last byte`() {
    var limit = IdleLimit(10, now: start)
    #expect(limit.nextLook(start) == start + .seconds(10))
    limit.touch(start + .seconds(9))
    #expect(limit.nextLook(start + .seconds(10)) == start + .seconds(19))
    #expect(limit.nextLook(start + .seconds(19)) == nil)
    limit.touch(start + .seconds(19))
    #expect(limit.nextLook(start + .seconds(19)) == nil)
    #expect(limit.isOver)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e308])
  func `an idle limit of any number is one`(seconds: Double) {
    var limit = IdleLimit(seconds, now: start)
    _ = limit.nextLook(start + .seconds(1))
  }

  @Test(.rule("TRANSFER-32"))
  func `time in which an attempt waits on the device or a challenge does not count as idle`() {
    var limit = IdleLimit(10, now: start)
    limit.goOutside(true, now: start + .seconds(5))
    #expect(limit.nextLook(start + .seconds(50)) == start + .seconds(60))
    limit.goOutside(false, now: start + .seconds(60))
    #expect(limit.nextLook(start + .seconds(60)) == start + .seconds(70))
    #expect(limit.nextLook(start + .seconds(70)) == nil)
  }

  @Test func `the earliest limit is checked when it has passed, whatever the other limits are`() async {
    let watches = AttemptWatches()
    let long = watches.add { .now() + .hours(1) }
    await withCheckedContinuation { continuation in
      let due = NIODeadline.now() + .milliseconds(20)
      _ = watches.add {
        if .now() < due { return due }
        continuation.resume()
        return nil
      }
    }
    watches.remove(long)
  }

  @Test func `zero, negative, huge and infinite idle limits are accepted`() {
    func isOver(_ idle: Double) -> Bool {
      var limit = IdleLimit(idle, now: start)
      return limit.nextLook(start) == nil
    }
    #expect(isOver(0) && isOver(-1))
    #expect(!isOver(.greatestFiniteMagnitude) && !isOver(.infinity))
  }
}
