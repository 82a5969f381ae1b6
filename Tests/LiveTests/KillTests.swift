// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A whole background download over real processes, with a kill at each point of it. `WIDGETLAB_REPEAT=20` runs each
/// test twenty times.
@Suite(.live, .timeLimit(.live)) struct `Background downloads across kills` {
  @Test func `a background download completes when no process is killed`() async throws {
    try await LiveFixture.run("no process killed", heldAt: 0.3) { fixture in
      try await fixture.begin()
      try await fixture.endWhileSuspended()
      try await fixture.expectWholeScenario(newInstance: false)
    }
  }

  @Test(.rule("DELIVERY-16"))
  func `a background download completes after its extension is killed while it loads`() async throws {
    try await LiveFixture.run("extension killed in the download", heldAt: 0.3) { fixture in
      try await fixture.begin()
      try await fixture.whileHeld {
        try await fixture.answered()
        try await fixture.kill("extension")
      }
      try await fixture.expectWholeScenario(newInstance: true)
    }
  }

  @Test(.rule("DELIVERY-16"))
  func `a background download completes after its extension is killed between its end and the wake`() async throws {
    try await LiveFixture.run("extension killed before the wake", heldAt: 0.6) { fixture in
      try await fixture.begin()
      try await fixture.state("suspended", of: LiveFixture.widgetExtension)
      let started = try await fixture.journal.waitFor("the extension is launched") {
        $0.reading(ProcessStarted.self)?.address == LiveFixture.widgetExtension
      }
      let pid = try #require(started.reading(ProcessStarted.self)?.pid)
      // Only the agent can resume the extension. While the agent is stopped the download ends and the extension is
      // killed.
      let agent = LabProcess(pid: try #require(fixture.cluster.pid(of: "agent-1")))
      try await fixture.whileHeld { try agent.signal(SIGSTOP) }
      do {
        try await fixture.progress(of: LiveFixture.widgetExtension, .finished)
        #expect(LabProcess(pid: pid).isStopped)
        try LabProcess(pid: pid).signal(SIGKILL)
      } catch {
        try agent.signal(SIGCONT)
        throw error
      }
      try agent.signal(SIGCONT)
      try await fixture.expectWholeScenario(newInstance: true)
    }
  }

  @Test(arguments: ["handler", "file-before"])
  func `a background download completes after a kill between the handler call and didFinishDownloadingTo`(
    point: String
  ) async throws {
    try await killed(at: point)
  }

  @Test(arguments: ["file-moved", "completed", "finish"])
  func `a background download completes after a kill between the move of the file and the completion`(
    point: String
  ) async throws {
    try await killed(at: point)
  }

  private func killed(at point: String) async throws {
    try await LiveFixture.run("extension killed at \(point)", heldAt: 0.3) { fixture in
      try fixture.hold(point)
      try await fixture.begin()
      try await fixture.endWhileSuspended()
      let reached = try await fixture.reached(point)
      try fixture.release(point)
      #expect(
        try await fixture.journal.all().allSatisfy {
          $0.kind != "session.acknowledged" || $0.correlation != LiveFixture.correlation
        })
      try await fixture.kill("extension")
      try await fixture.journal.waitFor("the held process has exited", after: reached.sequence) {
        let exited = $0.reading(ProcessExited.self)
        return exited?.address == LiveFixture.widgetExtension && exited?.ending == .signalled(signal: SIGKILL)
      }
      try await fixture.expectWholeScenario(newInstance: true)
    }
  }

  @Test(.rule("TRANSFER-01")) func `a background download resumes with Range after the host is killed`() async throws {
    try await LiveFixture.run("host killed", heldAt: 0.4) { fixture in
      try await fixture.begin()
      try await fixture.whileHeld {
        try await fixture.state("suspended", of: LiveFixture.widgetExtension)
        try await fixture.kill("host")
        // Until then the provider notices the end of the old connection, and counts no bytes of it any more.
        let resumed = try await fixture.progress(of: LiveFixture.widgetExtension, .resumed)
        #expect(resumed.reading(TransferProgress.self)?.bytes ?? 0 > 0)
      }
      try await fixture.progress(of: LiveFixture.widgetExtension, .finished)
      let served = try await fixture.cluster.providerCounters().byPath[fixture.path]
      #expect(
        Double(served?.bytes ?? .max) <= Double(LiveFixture.size) * 1.1,
        "the provider served \(served?.bytes ?? 0) bytes")
      try await fixture.expectWholeScenario(newInstance: false)
    }
  }

  @Test func `a background download completes after the bus is killed`() async throws {
    try await LiveFixture.run("bus killed", heldAt: 0.3) { fixture in
      try await fixture.begin()
      try await fixture.whileHeld {
        try await fixture.state("suspended", of: LiveFixture.widgetExtension)
        try await fixture.kill("bus")
      }
      try await fixture.journal.waitFor("a new broker has read the journal") {
        $0.reading(BusStarted.self)?.generation == 2
      }
      try await fixture.expectWholeScenario(newInstance: false)
    }
  }

  @Test func `a background download completes after the agent and its child processes are killed`() async throws {
    try await LiveFixture.run("agent killed", heldAt: 0.3) { fixture in
      try await fixture.begin()
      let children = LabProcess.descendants(of: try #require(fixture.cluster.pid(of: "agent-1")))
      #expect(children.count == 2)
      try await fixture.whileHeld {
        try await fixture.answered()
        try await fixture.kill("agent")
        for child in children { try await child.ended() }
      }
      try await fixture.expectWholeScenario(newInstance: true)
    }
  }

  @Test(.rule("DELIVERY-16")) func `a killed app is relaunched for its own events only`() async throws {
    try await LiveFixture.run("app killed") { fixture in
      // No download ends, so the app cannot have its events when it is killed.
      try await fixture.whileStalled {
        try await fixture.begin()
        _ = try await fixture.state("suspended", of: LiveFixture.widgetExtension)
        try await fixture.kill("app")
      }
      let launch = try await fixture.journal.waitFor("a second process of the app") {
        let started = $0.reading(ProcessStarted.self)
        return started?.address == LiveFixture.app && started?.generation == 2
      }
      let handler = try await fixture.journal.waitFor("the app's own handler was called", after: launch.sequence) {
        $0.envelope.header.source == LiveFixture.app && $0.reading(HandlerCalled.self) != nil
      }
      #expect(handler.reading(HandlerCalled.self)?.session == LiveFixture.appSession)
      try await fixture.expectWholeScenario(newInstance: false)
    }
  }
}
