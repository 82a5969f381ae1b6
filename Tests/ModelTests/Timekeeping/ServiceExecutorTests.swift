// SPDX-License-Identifier: Apache-2.0

import Testing
import Timekeeping

@Suite(.timeLimit(.minutes(1))) struct ServiceExecutorTests {
  private actor Service {
    nonisolated let executor = ServiceExecutor("test")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var hasOtherRun = false

    /// Whether another job ran between the call and the body of the continuation.
    func isInterruptedBeforeContinuation() async -> Bool {
      hasOtherRun = false
      executor.post { self.assumeIsolated { $0.hasOtherRun = true } }
      return await withCheckedContinuation { $0.resume(returning: hasOtherRun) }
    }

    func work() { preconditionIsolated() }
  }

  @Test func `a task of an actor is not interrupted before it waits`() async {
    let service = Service()
    for _ in 1...20 { #expect(await service.isInterruptedBeforeContinuation() == false) }
  }

  @Test func `a task that prefers the queue runs there, inside and outside of the actor`() async {
    let service = Service()
    await Task(executorPreference: service.executor.taskExecutor) {
      service.executor.checkIsolated()
      await service.work()
      service.executor.checkIsolated()
    }.value
  }
}
