// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

@testable import Timekeeping

let origin = Date(timeIntervalSince1970: 1_000_000_000)

/// Records entries in order.
final class Record<Entry: Sendable>: Sendable {
  private let entries = Mutex<[Entry]>([])
  var all: [Entry] { entries.withLock { $0 } }
  func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }
}

/// A clock that is held at the origin.
func held(_ record: Record<ClockSetting> = Record()) -> AdjustableClock {
  AdjustableClock(.held(origin), machine: { origin }, save: { record.add($0) })
}

/// Starts a task that waits until the given number of seconds after the origin, performs its work and ends it. The task
/// waits when this returns.
func waiter(
  _ clock: AdjustableClock, until seconds: Double, _ work: @escaping @Sendable () async -> Void
) -> Task<Void, any Error> {
  Task.immediate {
    let own = try await clock.wait(until: origin + seconds)
    await work()
    clock.endWork(own)
  }
}
