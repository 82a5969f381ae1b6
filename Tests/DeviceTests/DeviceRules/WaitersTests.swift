// SPDX-License-Identifier: Apache-2.0

import Testing
import Timekeeping

@testable import Device

@Suite(.timeLimit(.minutes(1))) struct `Callers that wait for a key` {
  /// Waits until only so many callers are left.
  private func left(_ count: Int, of waiters: Waiters<String>) async throws {
    while await waiters.count > count {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test func `a caller whose limit is over is forgotten, and the others wait`() async throws {
    let waiters = Waiters<String>()
    let other = await waiters.stream(until: "b")
    for await _ in await waiters.stream(until: "a", within: .milliseconds(1)) {}
    try await left(1, of: waiters)
    await waiters.resume { $0 == "b" }
    for await _ in other {}
    #expect(await waiters.count == 0)
  }

  @Test func `a caller that is cancelled is forgotten`() async throws {
    let waiters = Waiters<String>()
    let stream = await waiters.stream(until: "a")
    #expect(await waiters.count == 1)
    let caller = Task { for await _ in stream {} }
    caller.cancel()
    await caller.value
    try await left(0, of: waiters)
  }
}
