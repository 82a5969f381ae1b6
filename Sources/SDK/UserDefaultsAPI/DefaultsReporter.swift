// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import MessageBus
import Messages
import Synchronization

/// Records in the journal which defaults a process changed. Changes within a moment of a notice are in the next one, so
/// that thousands of them do not fill the journal.
final class DefaultsReporter: Sendable {
  private struct State {
    var changes: [(domain: String, keys: [String], count: Int)] = []
    var isSending = false
  }

  /// The shortest time between two notices, of the machine's time.
  private static let pause = Duration.milliseconds(100)

  private let process: HostedProcess
  private let state = Mutex(State())

  init(_ process: HostedProcess) { self.process = process }

  /// Any thread.
  func changed(_ key: String, in domain: String) {
    let begins = state.withLock { state in
      let index = state.changes.firstIndex { $0.domain == domain } ?? state.changes.count
      if index == state.changes.count { state.changes.append((domain, [], 0)) }
      state.changes[index].count += 1
      let keys = state.changes[index].keys
      if keys.count < DefaultsChanged.namedKeys, !keys.contains(key) { state.changes[index].keys.append(key) }
      defer { state.isSending = true }
      return !state.isSending
    }
    // The author's code may occupy all threads of Swift concurrency: on one core there is one.
    if begins { process.startTask(on: process.connection.executor) { await self.send() } }
  }

  private func send() async {
    while let changes = next() {
      for change in changes {
        process.connection.record(DefaultsChanged(domain: change.domain, keys: change.keys, changes: change.count))
      }
      await process.connection.caughtUp()
      try? await Task.sleep(for: Self.pause)
    }
  }

  private func next() -> [(domain: String, keys: [String], count: Int)]? {
    state.withLock { state in
      defer { state.changes = [] }
      state.isSending = !state.changes.isEmpty && !Task.isCancelled
      return state.isSending ? state.changes : nil
    }
  }
}
