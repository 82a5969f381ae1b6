// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import FidelityRules
import Foundation
import JournalAnalysis
import MessageBus
import Messages
import Testing
import WidgetLabTesting

/// Stored work that ends the host by a trap, twice in a row. The device goes on without it.
@Suite(.live, .timeLimit(.live)) struct `Work that is set aside` {
  @Test(.rule("TRANSFER-67")) func `a task fails with -1, and a later one is loaded`() async throws {
    try await run("a task that traps", at: .hostWithinTask, kind: "task") { fixture in
      try await fixture.expect(TransferProgress.self, what: "the task failed") {
        $0.step == .failed && $0.detail?.contains("twice in a row") == true
      }
      try await fixture.expect(TransferProgress.self, what: "a later task ended", asking: .work) {
        $0.step == .finished
      }
    }
  }

  @Test func `a notification is discarded, and a later one reloads the widget`() async throws {
    try await run("a notification that traps", at: .hostWithinNotification, kind: "notification") { fixture in
      try await fixture.expect(PushProgress.self, what: "the notification was discarded") {
        $0.step.name == .discarded && $0.step.detail?.contains("twice in a row") == true
      }
      try await fixture.expect(PushProgress.self, what: "a later one was handled", asking: .work) {
        $0.step.name == .reloaded
      }
    }
  }

  @Test func `a timeline is not handled again at once, and a later one is stored`() async throws {
    try await run("a timeline that traps", at: .hostWithinTimeline, kind: "timeline") { fixture in
      try await fixture.expect(TimelineStored.self, what: "a later timeline was stored", asking: .work) { _ in true }
    }
  }

  @Test func `an image is not read`() async throws {
    let request = ReadImage(digest: String(repeating: "a", count: 64), offset: 0)
    try await run("an image that traps", at: .hostWithinImage, kind: "image", asking: request) { fixture in
      let error = await #expect(throws: BusError.self) {
        try await fixture.bus.request(
          request, to: FaultFixture.host, within: LabTimeout.usual, whenUnreachable: .wait)
      }
      #expect(error?.code == .noSuchImage && error?.message.contains("twice in a row") == true)
    }
  }

  /// Plants a trap for two instances of the host, and waits for the diagnosis of the third.
  private func run(
    _ name: String, at point: FaultPoint, kind: String, asking request: ReadImage? = nil,
    body: (FaultFixture) async throws -> Void
  ) async throws {
    try await FaultFixture.run(name) { fixture in
      let fault = try #require(fixture.page.arm(.trap, at: point, of: FaultFixture.host, times: 2))
      try await fixture.cluster.eventually("the host ended by two traps") {
        if let request {
          _ = try? await fixture.bus.request(request, to: FaultFixture.host, within: .seconds(2))
        } else if fixture.page.performed(fault) == 0 {
          await fixture.ask(.work)
        }
        return fixture.page.performed(fault) == 2
      }
      try await fixture.expect(FaultNoticed.self, what: "the work is set aside") {
        // SIGILL, or SIGTRAP on arm64.
        $0.fault == .setAside && $0.subject.hasPrefix(kind) && $0.details.contains("by SIG")
      }
      let report = try await fixture.cluster.attempt(["diagnose"]).output
      #expect(report.contains("set-aside"))
      try await body(fixture)
      try await fixture.expectLawful()
    }
  }
}

extension FaultFixture {
  /// Waits for a message in the journal.
  ///
  /// - Parameter demand: what is requested until it is there.
  fileprivate func expect<Body: Message>(
    _ type: Body.Type, what: String, asking demand: Demand? = nil, isMeant: @escaping (Body) -> Bool
  ) async throws {
    let start = demand == nil ? 0 : try await cluster.journal.all().count
    try await cluster.eventually(what) {
      if let demand { await ask(demand) }
      return try await cluster.journal.all().dropFirst(start).contains {
        $0.envelope.reading(Body.self).map(isMeant) == true
      }
    }
  }
}
