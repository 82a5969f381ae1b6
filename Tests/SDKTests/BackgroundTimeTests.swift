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
}
