// SPDX-License-Identifier: Apache-2.0

import Cluster
import FaultPoints
import Foundation
import Glibc
import MessageBus
import Messages
import Testing
import WidgetLabTesting

/// Faults inside real processes: at each point between a durable write and its announcement, and on the lines of the
/// bus.
@Suite(.live, .timeLimit(.live)) struct `Injected faults` {
  /// The points, with a process that reaches each and what makes it do so.
  private static let points: [(point: FaultPoint, process: Address, demand: FaultFixture.Demand)] = [
    (.busBeforeJournal, .messageBus, .work), (.busAfterJournal, .messageBus, .work),
    (.busAfterForwarding, .messageBus, .work),
    (.hostBeforeTasksSaved, FaultFixture.host, .work), (.hostAfterTasksSaved, FaultFixture.host, .work),
    (.hostBeforeDeliveriesSaved, FaultFixture.host, .work), (.hostAfterDeliveriesSaved, FaultFixture.host, .work),
    (.hostBeforeInstancesSaved, FaultFixture.host, .launch), (.hostAfterInstancesSaved, FaultFixture.host, .launch),
    (.hostBeforeTimelinesSaved, FaultFixture.host, .work), (.hostAfterTimelinesSaved, FaultFixture.host, .work),
    (.hostBeforeScreenSaved, FaultFixture.host, .settings), (.hostAfterScreenSaved, FaultFixture.host, .settings),
    (.hostBeforePushesSaved, FaultFixture.host, .work), (.hostAfterPushesSaved, FaultFixture.host, .work),
    (.hostBeforeSettingsSaved, FaultFixture.host, .settings), (.hostAfterSettingsSaved, FaultFixture.host, .settings),
    (.hostBeforeFilesCopied, FaultFixture.host, .work), (.hostAfterFilesCopied, FaultFixture.host, .work),
    (.agentBeforeInstanceRegistered, FaultFixture.agent, .launch),
    (.agentAfterInstanceRegistered, FaultFixture.agent, .launch),
    (.agentBeforeSpawn, FaultFixture.agent, .launch), (.agentAfterSpawn, FaultFixture.agent, .launch),
    (.agentBeforeExitReported, FaultFixture.agent, .launch), (.agentAfterExitAcknowledged, FaultFixture.agent, .launch),
    (.pushServerBeforePushesSaved, .pushServer, .work), (.pushServerAfterPushesSaved, .pushServer, .work),
    (.pushServerBeforeTokensSaved, .pushServer, .token), (.pushServerAfterTokensSaved, .pushServer, .token),
    (.authorBeforeEventsHandled, FaultFixture.widgetExtension, .work),
    (.authorAfterEventsHandled, FaultFixture.widgetExtension, .work),
    (.peerBeforeAnswer, FaultFixture.host, .work), (.peerAfterAnswer, FaultFixture.widgetExtension, .work),
  ]

  @Test func `nothing is lost when a process ends at any point, and the page has the point`() async throws {
    try await FaultFixture.run("crash at each point") { fixture in
      for (point, process, demand) in Self.points {
        _ = try await fixture.runningInstance(of: process)
        try await fixture.provoke(fixture.page.arm(.crash, at: point, of: process), point.name, by: demand)
        // The device launches an app or an extension when it needs one, so the instance that ended is not known.
        guard process.bundleIdentifier == nil else { continue }
        // The instance that ended, or the one before its successor.
        let states = fixture.page.lastStates(of: process)
        #expect(states.contains { $0.point == point }, "\(point.name): \(states)")
      }
      try await fixture.expectLawful()
    }
  }

  @Test func `nothing is lost when a write fails at any point`() async throws {
    try await FaultFixture.run("failing writes") { fixture in
      for (index, (point, process, demand)) in Self.points.filter(\.point.canFail).enumerated() {
        let code = [ENOSPC, EIO][index % 2]
        try await fixture.provoke(fixture.page.arm(.fail(errno: code), at: point, of: process), point.name, by: demand)
      }
      try await fixture.expectLawful()
      let log = try String(contentsOfFile: fixture.cluster.instance.logs + "/host.log", encoding: .utf8)
      #expect(log.contains("has no damage and can be written: the disk may have an error"))
    }
  }

  @Test func `nothing is lost when a line of the bus delays, doubles or loses a message with its connection`()
    async throws
  {
    let lines: [(source: Address?, destination: Address?, type: String)] = [
      (nil, FaultFixture.widgetExtension, "session.events"),
      (FaultFixture.widgetExtension, FaultFixture.host, "session.events/ack"),
      (FaultFixture.widgetExtension, FaultFixture.host, "transfer.create"),
      (FaultFixture.host, FaultFixture.widgetExtension, "transfer.create/ok"),
      (.pushServer, FaultFixture.host, "push.deliver"), (FaultFixture.host, .pushServer, "push.progress"),
      (FaultFixture.host, nil, "timeline.request"), (nil, FaultFixture.host, "timeline.request/ok"),
    ]
    try await FaultFixture.run("lines of the bus") { fixture in
      for (source, destination, type) in lines {
        for action in [FaultPointPage.LineAction.delay(milliseconds: 300), .double, .cut] {
          // A reply is sent twice only when its request is.
          if action == .double, type.contains("/") { continue }
          try await fixture.provoke(
            fixture.page.arm(action, from: source, to: destination, type: type), "\(action) of \(type)")
        }
      }
      try await fixture.expectLawful()
    }
  }

  @Test func `a process that the kernel refuses to spawn is launched later`() async throws {
    try await FaultFixture.run("refused spawns") { fixture in
      let fault = fixture.page.arm(.fail(errno: EAGAIN), at: .agentBeforeSpawn, times: 2)
      try await fixture.provoke(fault, "spawn refused", by: .launch)
      try await fixture.expectLawful()
    }
  }

  @Test func `faults end with their injector`() async throws {
    try await FaultFixture.run("injector ends") { fixture in
      let fault = try #require(fixture.page.arm(.stall(milliseconds: 600_000), at: .hostAfterTasksSaved))
      try await fixture.cluster.eventually("the host is stalled") {
        // Again, because a reload begins a download only when the figures are old.
        if fixture.page.performed(fault) == 0 { await fixture.ask(.work) }
        return fixture.page.performed(fault) > 0
      }
      _ = fixture.page.arm(.crash, at: .hostAfterTasksSaved, times: nil)
      let pid = fixture.cluster.pid(of: "host")
      // As the kernel does when an injector is killed.
      fixture.page.release()
      await fixture.ask(.work)
      try await fixture.cluster.eventually("the host serves again") {
        try await fixture.bus.request(
          DeviceStatus(), to: FaultFixture.host, within: LabTimeout.usual, whenUnreachable: .wait
        ).sessions.allSatisfy { $0.running == 0 && $0.undelivered == 0 }
      }
      #expect(fixture.cluster.pid(of: "host") == pid)
    }
  }
}
