// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing
import Timekeeping

@Suite(.timeLimit(.minutes(1))) struct TaskOwnerTests {
  @Test func `end cancels the tasks and returns after the last one has ended`() async {
    let owner = TaskOwner()
    let ended = Atomic(0)
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<3 {
      owner.start {
        start.yield()
        await Self.cancellation()
        ended.add(1, ordering: .relaxed)
      }
    }
    var iterator = started.makeAsyncIterator()
    for _ in 0..<3 { await iterator.next() }
    #expect(owner.count == 3)
    await owner.end()
    #expect(ended.load(ordering: .relaxed) == 3)
    #expect(owner.count == 0)
  }

  @Test func `a task that ended is forgotten`() async {
    let owner = TaskOwner()
    for _ in 0..<100 { await owner.start {}?.value }
    #expect(owner.count == 0)
  }

  @Test func `a task runs on the executor that it is started on`() async {
    final class Executor: TaskExecutor {
      let jobs = Atomic(0)

      func enqueue(_ job: consuming ExecutorJob) {
        jobs.add(1, ordering: .relaxed)
        let job = UnownedJob(job)
        DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      }
    }
    let executor = Executor()
    await TaskOwner().start(on: executor) {}?.value
    #expect(executor.jobs.load(ordering: .relaxed) > 0)
  }

  @Test func `nothing starts after the end`() async {
    let owner = TaskOwner()
    await owner.end()
    #expect(owner.start {} == nil)
  }

  /// Returns when the task is cancelled.
  private static func cancellation() async {
    let (never, end) = AsyncStream.makeStream(of: Void.self)
    await withTaskCancellationHandler {
      for await _ in never {}
    } onCancel: {
      end.finish()
    }
  }
}
