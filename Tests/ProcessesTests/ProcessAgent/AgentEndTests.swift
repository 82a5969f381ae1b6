// SPDX-License-Identifier: Apache-2.0

import BusTesting
import DefaultsLog
import Dispatch
import Foundation
import Glibc
import MessageBus
import Messages
import Synchronization
import Testing
import Timekeeping

@testable import ProcessAgent

/// The order in which the agent handles what the bus reports, and its end.
@Suite(.timeLimit(.minutes(1)))
struct AgentEndTests {
  @Test func `the user defaults of a child are compacted after its exit`() async throws {
    try await withFixture { fixture in
      let home = "\(fixture.folder)/home/com.example.A"
      let path = DefaultsFile.path(of: "com.example.A", in: home)
      let value = [UInt8](repeating: 1, count: DefaultsFile.compactedFrom / 8)
      for _ in 0..<10 { try DefaultsFile(path).append(.value("a", value)) }
      let child = try await fixture.spawn("exit 0")
      _ = try await fixture.exit(of: child.generation)
      // The exit is sent before.
      try await eventually { (try? Data(contentsOf: URL(fileURLWithPath: path)).count < 2 * value.count) == true }
      #expect(try DefaultsFile(path).values() == ["a": value])
    }
  }

  @Test func `presence of the host is applied in the order in which the bus reported it`() async throws {
    let barrier = ActorBarrier()
    // An acknowledgement would report the host as present.
    try await withFixture(isHostDeaf: true, reportedPid: { barrier.pass($0) }) { fixture in
      _ = try await fixture.spawn("exec sleep 600")
      // A busy actor sorts its waiting jobs by priority, so two tasks without an owner are reversed for certain.
      barrier.close()
      async let children = fixture.children()
      await barrier.untilReached()
      for (isPresent, priority) in [(false, TaskPriority.background), (true, .high)] {
        await perform(priority) {
          fixture.agent.presenceChanged(Presence(address: .host("d"), isPresent: isPresent, generation: 2))
        }
      }
      await perform(.background) {}
      barrier.open()
      _ = try await children
      // The failure of a spawn is an event of the children, which is handled after the presence before it.
      await #expect(throws: BusError.self) {
        try await fixture.spawn(executable: try fixture.damagedProgram(), address: .app("d", "com.example.B"))
      }
      #expect(await fixture.agent.isHostPresent)
    }
  }

  @Test func `after its end the agent runs no task and sends nothing to a host that connects`() async throws {
    let fixture = try await AgentFixture(isHostDeaf: true)
    let instance = try await fixture.spawn("exit 3")
    _ = try await fixture.exit(of: instance.generation)
    await fixture.bus.disconnect(.host("d"))
    await fixture.agent.end()
    #expect(fixture.agent.tasks.count == 0)
    let second = try await AgentFixture.startHost(on: fixture.bus)
    let error = await #expect(throws: BusError.self) {
      try await second.request(ListProcesses(), to: .agent("d", 1))
    }
    #expect(error?.code == .unreachable)
    #expect(await fixture.bus.sentEnvelopes.count { $0.header.kind == ProcessExited.kind } == 1)
    await second.leave()
    await fixture.end()
  }

  @Test func `the agent retires its process instances before it leaves the bus`() async throws {
    let fixture = try await AgentFixture()
    let instance = try await fixture.spawn("exec sleep 600")
    await fixture.agent.end()
    let kinds = await fixture.bus.sentEnvelopes.map(\.header.kind)
    let retired = try #require(kinds.firstIndex(of: RetireInstance.kind.answered(.ok)))
    #expect(retired < (try #require(kinds.firstIndex(of: Goodbye.kind))))
    // An earlier one is of a spawn that was tried again: `AgentFixture.spawn`.
    _ = try await fixture.received(RetireInstance.self) { $0.generation == instance.generation }
    await fixture.end()
  }

  @Test func `the agent ends while the bus is disconnected and a child writes`() async throws {
    let fixture = try await AgentFixture()
    let instance = try await fixture.spawn("while :; do echo line; sleep 0.01; done")
    _ = try await fixture.received(ProcessOutput.self)
    await fixture.bus.disconnect(.agent("d", 1))
    await fixture.agent.end()
    #expect(kill(instance.pid, 0) == -1)
    #expect(fixture.agent.tasks.count == 0)
    await fixture.end()
  }
}

/// Runs `body` in a task of a priority, without raising that priority to the one of the waiting task.
private func perform(_ priority: TaskPriority, _ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    Task.detached(priority: priority) {
      body()
      continuation.resume()
    }
  }
}

/// Keeps an actor busy: blocks the thread of the first call after `close()`, until `open()`.
private final class ActorBarrier: Sendable {
  private let isClosed = Mutex(false)
  private let gate = DispatchSemaphore(value: 0)
  private let (reached, reach) = AsyncStream.makeStream(of: Void.self)

  func close() { isClosed.withLock { $0 = true } }
  func open() { gate.signal() }
  func untilReached() async { for await _ in reached { return } }

  func pass(_ pid: Int32) -> Int32 {
    let mustWait = isClosed.withLock { isClosed in
      defer { isClosed = false }
      return isClosed
    }
    guard mustWait else { return pid }
    reach.yield()
    _ = gate.wait(timeout: .now() + 60)
    return pid
  }
}
