// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import FoundationAdditions
@testable import UIKit

/// `beginBackgroundTask` and `performExpiringActivity`, as an author's code calls them.
@Suite(.timeLimit(.minutes(1))) struct `Time in the background` {
  private final class Calls: Sendable {
    let count = Mutex(0)
  }

  /// A process whose time in the background is short, and a host that keeps what it reports.
  private static func fixture(backgroundTime: Double) async throws -> (SDKFixture, AsyncStream<HoldProcess>) {
    var rules = ProcessRules.waiting(60)
    rules.backgroundTime = backgroundTime
    let fixture = try SDKFixture(SDKFixture.app, rules: rules)
    let (reports, continuation) = AsyncStream.makeStream(of: HoldProcess.self)
    fixture.host.connection.onEvent(HoldProcess.self) { event, _ in _ = continuation.yield(event) }
    try await fixture.begin()
    return (fixture, reports)
  }

  private static func next(_ count: Int, of reports: AsyncStream<HoldProcess>) async -> [HoldProcess] {
    var found: [HoldProcess] = []
    for await report in reports {
      found.append(report)
      if found.count == count { break }
    }
    return found
  }

  @Test(.rule("PROCESS-27")) func `the host learns of the first background task and of the end of the last one`()
    async throws
  {
    let (fixture, reports) = try await Self.fixture(backgroundTime: 60)
    let app = UIApplication()
    fixture.process.asCurrent {
      let first = app.beginBackgroundTask(withName: "sync") { Issue.record("the time is not over") }
      let second = app.beginBackgroundTask()
      #expect(first != second && first != .invalid && second != .invalid)
      app.endBackgroundTask(first)
      app.endBackgroundTask(second)
      app.endBackgroundTask(second)
    }
    #expect(await Self.next(2, of: reports) == [HoldProcess(.begun, names: ["sync"]), HoldProcess(.ended)])
  }

  @Test(.rule("PROCESS-27")) func `a task that its handler does not end is reported when backgroundTime is over`()
    async throws
  {
    let (fixture, reports) = try await Self.fixture(backgroundTime: 0.05)
    let app = UIApplication()
    let calls = Calls()
    let task = fixture.process.asCurrent {
      app.beginBackgroundTask(withName: "sync") { calls.count.withLock { $0 += 1 } }
    }
    let found = await Self.next(2, of: reports)
    #expect(found == [HoldProcess(.begun, names: ["sync"]), HoldProcess(.overdue, names: ["sync"])])
    #expect(calls.count.withLock { $0 } == 1)
    fixture.process.asCurrent { app.endBackgroundTask(task) }
  }

  @Test(.rule("PROCESS-27")) func `time in the foreground does not count`() async throws {
    let (fixture, _) = try await Self.fixture(backgroundTime: 30)
    let time = BackgroundTime.of(fixture.process)
    let app = UIApplication()
    time.moves(toFront: true)
    let number = time.begin("sync", orElse: .termination) {}
    let inFront = await MainActor.run { fixture.process.asCurrent { app.backgroundTimeRemaining } }
    #expect(inFront == .greatestFiniteMagnitude)
    time.moves(toFront: false)
    let behind = await MainActor.run { fixture.process.asCurrent { app.backgroundTimeRemaining } }
    #expect(behind > 0 && behind <= 30)
    time.end(number)
  }

  @Test(.rule("PROCESS-27")) func `a new host learns of the task that runs`() async throws {
    let (fixture, reports) = try await Self.fixture(backgroundTime: 60)
    let time = BackgroundTime.of(fixture.process)
    let number = time.begin("sync", orElse: .termination) {}
    let begun = HoldProcess(.begun, names: ["sync"])
    #expect(await Self.next(1, of: reports) == [begun])
    await fixture.process.introduceAgain()
    #expect(await Self.next(1, of: reports) == [begun])
    time.end(number)
    #expect(await Self.next(1, of: reports) == [HoldProcess(.ended)])
    // Nothing runs: the next report is that of the next task.
    await fixture.process.introduceAgain()
    let next = time.begin("save", orElse: .termination) {}
    #expect(await Self.next(1, of: reports) == [HoldProcess(.begun, names: ["save"])])
    time.end(next)
    #expect(await Self.next(1, of: reports) == [HoldProcess(.ended)])
  }

  @Test(.rule("PROCESS-27")) func `the end of the last task does not renew the time, and the foreground does`()
    async throws
  {
    let (fixture, _) = try await Self.fixture(backgroundTime: 60)
    let time = BackgroundTime.of(fixture.process)
    time.end(time.begin("first", orElse: .termination) {})
    let left = try #require(time.remaining)
    #expect(left < 60)
    let second = time.begin("second", orElse: .termination) {}
    #expect(try #require(time.remaining) <= left)
    time.moves(toFront: true)
    #expect(time.remaining == nil)
    time.end(second)
    time.moves(toFront: false)
    #expect(time.remaining == 60)
  }

  @Test(.rule("PROCESS-27")) func `a task that begins when the time is over is called at once, and holds no process`()
    async throws
  {
    let (fixture, reports) = try await Self.fixture(backgroundTime: 0.2)
    let time = BackgroundTime.of(fixture.process)
    let calls = AsyncStream.makeStream(of: String.self)
    let first = time.begin("first", orElse: .termination) {
      // As a handler that begins the next task to gain time.
      time.end(1)
      _ = time.begin("second", orElse: .termination) { calls.continuation.yield("second") }
      calls.continuation.yield("first")
    }
    #expect(first == 1)
    var found: [String] = []
    for await call in calls.stream {
      found.append(call)
      if found.count == 2 { break }
    }
    #expect(found == ["first", "second"])
    #expect(
      await Self.next(3, of: reports) == [
        HoldProcess(.begun, names: ["first"]), HoldProcess(.ended), HoldProcess(.overdue, names: ["second"]),
      ])
  }

  @Test(.rule("PROCESS-27")) func `a task after a pause as long as the time in the background has the whole time`()
    async throws
  {
    let (fixture, reports) = try await Self.fixture(backgroundTime: 0.2)
    let time = BackgroundTime.of(fixture.process)
    time.end(time.begin("first", orElse: .termination) {})
    #expect(await Self.next(2, of: reports) == [HoldProcess(.begun, names: ["first"]), HoldProcess(.ended)])
    // The test needs this time: it is longer than the time in the background.
    try await Task.sleep(for: .seconds(0.25))
    let second = time.begin("second", orElse: .termination) {}
    #expect(await Self.next(1, of: reports) == [HoldProcess(.begun, names: ["second"])])
    time.end(second)
  }

  @Test(.rule("PROCESS-27")) func `an app that comes to the foreground is not reported as overdue`() async throws {
    let (fixture, reports) = try await Self.fixture(backgroundTime: 0.2)
    let time = BackgroundTime.of(fixture.process)
    let called = AsyncStream.makeStream(of: Void.self)
    let number = time.begin("sync", orElse: .termination) { called.continuation.yield() }
    for await _ in called.stream { break }
    time.moves(toFront: true)
    // Longer than the code has to end its task.
    try await Task.sleep(for: .seconds(0.4))
    time.end(number)
    #expect(await Self.next(2, of: reports) == [HoldProcess(.begun, names: ["sync"]), HoldProcess(.ended)])
  }

  @Test(.rule("PROCESS-27"), arguments: [true, false])
  @MainActor func `the time does not count in an app that the user opens, from its launch on`(isOpened: Bool) throws {
    let fixture = try SDKFixture(SDKFixture.app)
    let environment = isOpened ? [LaunchVariables.launch: LaunchVariables.foreground] : [:]
    let app = UIApplication()
    app.serve(in: fixture.process, environment: environment)
    #expect((BackgroundTime.of(fixture.process).remaining == nil) == isOpened)
    app.becomes(.background, in: fixture.process, .none)
    #expect(BackgroundTime.of(fixture.process).remaining != nil)
  }

  @Test(.rule("PROCESS-27")) func `an expiring activity is called again with true, and then lets go of the process`()
    async throws
  {
    let (fixture, reports) = try await Self.fixture(backgroundTime: 0.05)
    let calls = AsyncStream.makeStream(of: Bool.self)
    // The first call lasts until the second one.
    let isOver = DispatchSemaphore(value: 0)
    fixture.process.asCurrent {
      ProcessInfo.processInfo.performExpiringActivity(withReason: "save") { isExpired in
        calls.continuation.yield(isExpired)
        if isExpired { isOver.signal() } else { _ = isOver.wait(timeout: .now() + 50) }
      }
    }
    var found: [Bool] = []
    for await call in calls.stream {
      found.append(call)
      if found.count == 2 { break }
    }
    #expect(found == [false, true])
    #expect(await Self.next(2, of: reports) == [HoldProcess(.begun, names: ["save"]), HoldProcess(.ended)])
  }

  @Test(.rule("PROCESS-27")) func `the main thread can wait for an activity that ends when its time is over`()
    async throws
  {
    let (fixture, _) = try await Self.fixture(backgroundTime: 0.05)
    let time = BackgroundTime.of(fixture.process)
    let result = await MainActor.run {
      let isOver = DispatchSemaphore(value: 0)
      let number = time.begin("save", orElse: .suspension) { isOver.signal() }
      defer { time.end(number) }
      return isOver.wait(timeout: .now() + 50)
    }
    #expect(result == .success)
  }
}
