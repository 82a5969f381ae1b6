// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reports the time in this process, and how long waits of nominally a fifth of a second take.
enum FixtureTime {
  static var isAsked: Bool { ProcessInfo.processInfo.environment["TRIAL_TIME"] != nil }

  /// Seconds since 1970 from four clocks, then the duration of five kinds of wait in milliseconds: `1772344800 …, 201
  /// …`.
  static func report() async -> String {
    var now = timeval()
    gettimeofday(&now, nil)
    let times = [now.tv_sec, time(nil), Int(NSDate().timeIntervalSince1970), Int(Date.now.timeIntervalSince1970)]
    let slept = await measured { try? await Task.sleep(for: .milliseconds(200)) }
    let after = await measured {
      await withCheckedContinuation { done in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { done.resume() }
      }
    }
    let blocked = await withCheckedContinuation { done in
      Thread.detachNewThread { done.resume(returning: blockingWaits()) }
    }
    let waits = [slept, after] + blocked
    return [times.map(String.init), waits.map(String.init)].map { $0.joined(separator: " ") }.joined(separator: ", ")
  }

  private static func measured(_ work: () async -> Void) async -> Int {
    let begun = ContinuousClock.now
    await work()
    return milliseconds(since: begun)
  }

  private static func blockingWaits() -> [Int] {
    let condition = NSCondition()
    condition.lock()
    let lock = NSLock()
    lock.lock()
    let waits: [() -> Void] = [
      { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 0.2) },
      { _ = condition.wait(until: Date(timeIntervalSinceNow: 0.2)) },
      { _ = lock.lock(before: Date(timeIntervalSinceNow: 0.2)) },
    ]
    return waits.map { wait in
      let begun = ContinuousClock.now
      wait()
      return milliseconds(since: begun)
    }
  }

  private static func milliseconds(since begun: ContinuousClock.Instant) -> Int {
    Int(((ContinuousClock.now - begun) / .milliseconds(1)).rounded())
  }
}
