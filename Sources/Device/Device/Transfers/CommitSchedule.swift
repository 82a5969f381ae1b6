// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Timekeeping

/// When to write what waits for the disk: at once, or a little later when such a write was a moment ago. A new task, which
/// is written at once, takes it along. So many ends share a wait for the disk, and a single one is not delayed.
final class CommitSchedule: Sendable {
  private struct State {
    var commit: (@DeviceActor () -> Void)?
    var isPlanned = false
    var last = DispatchTime(uptimeNanoseconds: 0)
  }

  private static let interval = DispatchTimeInterval.milliseconds(16)

  private let state = Mutex(State())

  /// Sets what writes. Must be called once, before the first request.
  func begin(_ commit: @escaping @DeviceActor () -> Void) { state.withLock { $0.commit = commit } }

  /// Something must be written soon.
  func request() {
    let due: DispatchTime? = state.withLock { state in
      guard !state.isPlanned else { return nil }
      state.isPlanned = true
      return state.last + CommitSchedule.interval
    }
    guard let due else { return }
    DeviceActor.executor.post(after: due) { [weak self] in DeviceActor.assumeIsolated { self?.fire() } }
  }

  @DeviceActor private func fire() {
    let commit = state.withLock { state in
      state.isPlanned = false
      state.last = .now()
      return state.commit
    }
    commit?()
  }
}
