// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// User actions on a device of real processes, and their persistence when the host is killed.
@Suite(.live, .timeLimit(.live)) struct `User actions on a device` {
  @Test(.rule("CLOCK-01"))
  func `a held clock survives a host kill and can be advanced past the deadline of a completion`() async throws {
    try await LiveFixture.run("clock", heldAt: 0.3) { fixture in
      try fixture.hold("file-before")
      try await fixture.cluster.run("reload", LiveFixture.kind)
      try await fixture.progress(of: LiveFixture.widgetExtension, .started)
      try await fixture.endWhileSuspended()
      try await fixture.reached("file-before")
      try await fixture.cluster.run("clock", "hold")
      let held = try await clock(fixture)
      try await killHost(fixture)
      #expect(try await clock(fixture).isHeld)
      #expect(try await clock(fixture).now == held.now)
      try await fixture.journal.waitFor("the new host hands the events over again") {
        $0.reading(SessionEvents.self) != nil && $0.source == LiveFixture.host.text && $0.sourceGeneration == 2
      }
      try fixture.release("file-before")
      try await fixture.cluster.run("clock", "advance", "\(LiveFixture.completionDeadline + 6)s")
      let exit = try await fixture.journal.waitFor("the extension is evicted") {
        $0.reading(ProcessExited.self)?.address == LiveFixture.widgetExtension
      }
      #expect(exit.reading(ProcessExited.self)?.ending == .signalled(signal: SIGKILL))
      // The events are redelivered 60 s of device time later, which passes only when the test advances the clock.
      try await fixture.cluster.eventually("a second process acknowledges the events") {
        try await fixture.cluster.run("clock", "advance", "60s")
        return try await fixture.journal.all().contains {
          $0.reading(SessionAcknowledged.self)?.owner == LiveFixture.widgetExtension
        }
      }
      try await fixture.cluster.run("clock", "reset")
      #expect(try await clock(fixture).isHeld == false)
    }
  }

  @Test(arguments: [["network"], ["network", "cellular"], ["clock", "advance", "1s"], ["sessions"]])
  func `a device command succeeds while the host restarts`(words: [String]) async throws {
    try await LiveFixture.run("host away") { fixture in
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      let answer = try await fixture.cluster.attempt(words)
      #expect(answer.status == 0, "\(answer.errors)")
    }
  }

  @Test(.rule("PROCESS-13")) func `a network change reaches every process and survives a host kill`() async throws {
    try await LiveFixture.run("network") { fixture in
      try await fixture.cluster.run("app", "open")
      _ = try await fixture.state("running", of: LiveFixture.app)
      try await fixture.cluster.run("network", "cellular")
      try await received(fixture, process: LiveFixture.app, network: NetworkState(path: .cellular))
      try await killHost(fixture)
      #expect(try await fixture.cluster.run("network") == "cellular\n")
      try await fixture.cluster.run("network", "slow", "500k")
      try await received(fixture, process: LiveFixture.app, network: NetworkState(path: .cellular, rate: 500_000))
      try await fixture.cluster.run("reload", LiveFixture.kind)
      let received = try await received(
        fixture, process: LiveFixture.widgetExtension, network: NetworkState(path: .cellular, rate: 500_000))
      let first = try await fixture.journal.all().first {
        $0.source == LiveFixture.host.text && $0.destination == LiveFixture.widgetExtension.text
      }
      #expect(first?.sequence == received.sequence, "the network state is sent before anything else")
    }
  }

  @Test(.rule("PROCESS-15", "PROCESS-18"))
  func `a force quit app is not relaunched for events until the user opens it, and its extension is unaffected`()
    async throws
  {
    try await LiveFixture.run("force quit") { fixture in
      try await fixture.whileStalled {
        try await fixture.begin()
        try await fixture.cluster.run("force-quit")
      }
      let exit = try await fixture.journal.waitFor("the app has exited") {
        $0.reading(ProcessExited.self)?.address == LiveFixture.app
      }
      #expect(exit.reading(ProcessExited.self)?.ending == .signalled(signal: SIGKILL))
      try await fixture.progress(of: LiveFixture.app, .cancelled)
      try await killHost(fixture)
      _ = try await fixture.acknowledged(by: LiveFixture.widgetExtension)
      let launches = try await fixture.journal.all().filter {
        $0.reading(ProcessStarted.self)?.address == LiveFixture.app
      }
      #expect(launches.count == 1, "not woken for its events")
      try await fixture.cluster.run("app", "open")
      _ = try await fixture.journal.waitFor("the app's delegate learns that its download was cancelled") {
        $0.source == LiveFixture.app.text && $0.reading(DelegateCalled.self)?.failureCode == -999
      }
    }
  }

  @Test(.rule("PROCESS-19"))
  func `an app update moves the containers, starts new process instances and keeps the downloads`() async throws {
    try await LiveFixture.run("update") { fixture in
      let old = try await fixture.whileStalled {
        try await fixture.begin()
        try await fixture.answered()
        let old = try [LiveFixture.app, LiveFixture.widgetExtension].map { try container(of: $0, fixture) }
        try Data("kept".utf8).write(to: URL(fileURLWithPath: old[1] + "/Documents/note"))
        // Events before the update would be delivered with the old path.
        try await fixture.cluster.run("network", "off")
        return old
      }
      try await fixture.cluster.run("update")
      let updated = try await fixture.journal.all().last?.sequence ?? 0
      try await fixture.cluster.run("network", "on")
      let new = try [LiveFixture.app, LiveFixture.widgetExtension].map { try container(of: $0, fixture) }
      #expect(Set(old).isDisjoint(with: new))
      #expect(FileManager.default.fileExists(atPath: new[1] + "/Documents/note"))
      try await fixture.expectWholeScenario(newInstance: true)
      let copies = try await fixture.journal.all().filter { $0.sequence > updated }
        .compactMap { $0.reading(SessionEvents.self) }.flatMap(\.outcomes).compactMap(\.file)
      #expect(!copies.isEmpty && copies.allSatisfy { copy in !old.contains { copy.hasPrefix($0) } })
    }
  }

  @Test(.rule("PROCESS-19")) func `the next host completes an app update that a host kill interrupts`() async throws {
    try await LiveFixture.run("update, host killed") { fixture in
      let old = try await fixture.whileStalled {
        try await fixture.begin()
        try await fixture.answered()
        let old = try container(of: LiveFixture.widgetExtension, fixture)
        // While the agent is stopped no process exits.
        let agent = LabProcess(pid: try #require(fixture.cluster.pid(of: "agent-1")))
        try agent.signal(SIGSTOP)
        let update = Task { try await fixture.cluster.attempt(["update"]) }
        do {
          _ = try await fixture.state("dying", of: LiveFixture.widgetExtension)
          #expect(try container(of: LiveFixture.widgetExtension, fixture) == old)
          try await fixture.cluster.run("kill", "host")
        } catch {
          try agent.signal(SIGCONT)
          throw error
        }
        try agent.signal(SIGCONT)
        _ = try await update.value
        return old
      }
      try await fixture.cluster.eventually("the containers are moved") {
        let names = try names(of: LiveFixture.widgetExtension, fixture)
        return names.count == 1 && !old.hasSuffix(names[0])
      }
      try await fixture.expectWholeScenario(newInstance: true)
    }
  }

  @Test func `the sessions command lists all sessions, selects one by identifier and fails for an unknown one`()
    async throws
  {
    try await LiveFixture.run("sessions") { fixture in
      let text = try await fixture.whileStalled {
        try await fixture.begin()
        return try await fixture.cluster.run("sessions")
      }
      #expect(text.hasPrefix("network: wifi   clock: "))
      #expect(
        text.contains("\(LiveFixture.session) of extension/…Widget: open in generation 1, 1 running, 0 undelivered"))
      let one = try await fixture.cluster.run("sessions", LiveFixture.appSession, "--all")
      #expect(one.contains(LiveFixture.appSession) && !one.contains(LiveFixture.session))
      #expect(try await fixture.cluster.attempt(["sessions", "nothing"]).status == 1)
    }
  }

  // MARK: Helpers

  private struct Clock: Decodable {
    let now: Double
    let isHeld: Bool
  }

  private func clock(_ fixture: LiveFixture) async throws -> Clock {
    try JSONDecoder().decode(Clock.self, from: Data(try await fixture.cluster.run("clock", "--json").utf8))
  }

  private func killHost(_ fixture: LiveFixture) async throws {
    let last = try await fixture.journal.all().last?.sequence ?? 0
    try await fixture.kill("host")
    try await fixture.journal.waitFor("a new host is connected", after: last) {
      let changed = $0.reading(RegistrationChanged.self)
      return changed?.change == .connected && changed?.registration.address == LiveFixture.host
    }
  }

  @discardableResult
  private func received(_ fixture: LiveFixture, process: Address, network: NetworkState) async throws -> LabEnvelope {
    try await fixture.journal.waitFor("\(process.short) receives the network state: \(network)") {
      $0.destination == process.text && $0.reading(NetworkChanged.self)?.state == network
    }
  }

  private func names(of owner: Address, _ fixture: LiveFixture) throws -> [String] {
    let folder = fixture.cluster.instance.device(LiveFixture.device).containers(of: owner.bundleIdentifier ?? "")
    return try FileManager.default.contentsOfDirectory(atPath: folder)
  }

  /// The path of an owner's container.
  private func container(of owner: Address, _ fixture: LiveFixture) throws -> String {
    let names = try names(of: owner, fixture)
    let folder = fixture.cluster.instance.device(LiveFixture.device).containers(of: owner.bundleIdentifier ?? "")
    return "\(folder)/\(try #require(names.count == 1 ? names.first : nil))"
  }
}
