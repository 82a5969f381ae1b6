import Cluster
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What a person does to a device of real processes, and that it stays so when the host dies.
@Suite(.live, .timeLimit(.live)) struct `a person and the device` {
  @Test func `hold the clock, over the host's death, and advance it over a completion's deadline`() async throws {
    try await Trial.run("clock") { trial in
      try trial.hold("file-before")
      try await trial.cluster.run("reload", Trial.kind)
      try await trial.reached("file-before")
      try await trial.cluster.run("clock", "hold")
      let held = try await clock(trial)
      try await killHost(trial)
      #expect(try await clock(trial).isHeld)
      #expect(try await clock(trial).now == held.now)
      try await trial.journal.waitFor("the new host hands the events over again") {
        $0.reading(SessionEvents.self) != nil && $0.source == Trial.host.text && $0.sourceGeneration == 2
      }
      try trial.release("file-before")
      try await trial.cluster.run("clock", "advance", "\(Trial.completionDeadline + 6)s")
      let exit = try await trial.journal.waitFor("the extension is evicted") {
        $0.reading(ProcessExited.self)?.address == Trial.widgetExtension
      }
      #expect(exit.reading(ProcessExited.self)?.ending == .signalled(signal: SIGKILL))
      // Redelivered 60 s after that, of the device's time: which does not pass by itself.
      try await trial.cluster.eventually("the events are acknowledged by a second life") {
        try await trial.cluster.run("clock", "advance", "60s")
        return try await trial.journal.all().contains {
          $0.reading(SessionAcknowledged.self)?.owner == Trial.widgetExtension
        }
      }
      try await trial.cluster.run("clock", "reset")
      #expect(try await clock(trial).isHeld == false)
    }
  }

  @Test(arguments: [["network"], ["network", "cellular"], ["clock", "advance", "1s"], ["sessions"]])
  func `are heard by a host that is just being started again`(words: [String]) async throws {
    try await Trial.run("host away") { trial in
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      let answer = try await trial.cluster.attempt(words)
      #expect(answer.status == 0, "\(answer.errors)")
    }
  }

  @Test func `change the network, which every process is told and the next host knows`() async throws {
    try await Trial.run("network") { trial in
      try await trial.cluster.run("app", "open")
      _ = try await trial.state("running", of: Trial.app)
      try await trial.cluster.run("network", "cellular")
      try await told(trial, Trial.app, NetworkState(path: .cellular))
      try await killHost(trial)
      #expect(try await trial.cluster.run("network") == "cellular\n")
      try await trial.cluster.run("network", "slow", "500k")
      try await told(trial, Trial.app, NetworkState(path: .cellular, rate: 500_000))
      try await trial.cluster.run("reload", Trial.kind)
      let told = try await told(trial, Trial.widgetExtension, NetworkState(path: .cellular, rate: 500_000))
      let first = try await trial.journal.all().first {
        $0.source == Trial.host.text && $0.destination == Trial.widgetExtension.text
      }
      #expect(first?.sequence == told.sequence, "before anything else")
    }
  }

  @Test func `end the app, which is not woken before it is opened, and leave its extension alone`() async throws {
    try await Trial.run("force quit") { trial in
      try await trial.begin()
      try await trial.cluster.run("force-quit")
      let exit = try await trial.journal.waitFor("the app is dead") {
        $0.reading(ProcessExited.self)?.address == Trial.app
      }
      #expect(exit.reading(ProcessExited.self)?.ending == .signalled(signal: SIGKILL))
      try await trial.progress(of: Trial.app, .cancelled)
      try await killHost(trial)
      _ = try await trial.acknowledged(by: Trial.widgetExtension)
      let births = try await trial.journal.all().filter { $0.reading(ProcessStarted.self)?.address == Trial.app }
      #expect(births.count == 1, "not woken for its events")
      try await trial.cluster.run("app", "open")
      _ = try await trial.journal.waitFor("the app is told that its download was cancelled") {
        $0.source == Trial.app.text && $0.reading(DelegateCalled.self)?.failureCode == -999
      }
    }
  }

  @Test func `update the app: other containers, other lives, the same downloads`() async throws {
    try await Trial.run("update") { trial in
      try await trial.begin()
      let old = try [Trial.app, Trial.widgetExtension].map { try container(of: $0, trial) }
      try Data("kept".utf8).write(to: URL(fileURLWithPath: old[1] + "/Documents/note"))
      // What came before the update would have been handed over below the old path.
      try await trial.cluster.run("network", "off")
      try await trial.cluster.run("update")
      let updated = try await trial.journal.all().last?.sequence ?? 0
      try await trial.cluster.run("network", "on")
      let new = try [Trial.app, Trial.widgetExtension].map { try container(of: $0, trial) }
      #expect(Set(old).isDisjoint(with: new))
      #expect(FileManager.default.fileExists(atPath: new[1] + "/Documents/note"))
      try await trial.expectWholeStory(newLife: true)
      let copies = try await trial.journal.all().filter { $0.sequence > updated }
        .compactMap { $0.reading(SessionEvents.self) }.flatMap(\.outcomes).compactMap(\.file)
      #expect(!copies.isEmpty && copies.allSatisfy { copy in new.contains { copy.hasPrefix($0) } })
    }
  }

  @Test func `an update is ended by the next host when its own dies in the middle`() async throws {
    try await Trial.run("update, host killed") { trial in
      try await trial.begin()
      let old = try container(of: Trial.widgetExtension, trial)
      // While the agent is stopped nobody ends.
      let agent = LabProcess(pid: try #require(trial.cluster.pid(of: "agent-1")))
      try agent.signal(SIGSTOP)
      let update = Task { try await trial.cluster.attempt(["update"]) }
      do {
        _ = try await trial.state("dying", of: Trial.widgetExtension)
        #expect(try container(of: Trial.widgetExtension, trial) == old)
        try await trial.cluster.run("kill", "host")
      } catch {
        try agent.signal(SIGCONT)
        throw error
      }
      try agent.signal(SIGCONT)
      _ = try await update.value
      try await trial.cluster.eventually("the containers are moved") {
        let names = try names(of: Trial.widgetExtension, trial)
        return names.count == 1 && !old.hasSuffix(names[0])
      }
      try await trial.expectWholeStory(newLife: true)
    }
  }

  @Test func `see the sessions`() async throws {
    try await Trial.run("sessions") { trial in
      try await trial.begin()
      let text = try await trial.cluster.run("sessions")
      #expect(text.hasPrefix("network: wifi   clock: "))
      #expect(text.contains("\(Trial.session) of extension/…Widget: open in generation 1, 1 running, 0 undelivered"))
      let one = try await trial.cluster.run("sessions", Trial.appSession, "--all")
      #expect(one.contains(Trial.appSession) && !one.contains(Trial.session))
      #expect(try await trial.cluster.attempt(["sessions", "nothing"]).status == 1)
    }
  }

  // MARK: Means

  private struct Clock: Decodable {
    let now: Double
    let isHeld: Bool
  }

  private func clock(_ trial: Trial) async throws -> Clock {
    try JSONDecoder().decode(Clock.self, from: Data(try await trial.cluster.run("clock", "--json").utf8))
  }

  private func killHost(_ trial: Trial) async throws {
    let last = try await trial.journal.all().last?.sequence ?? 0
    try await trial.kill("host")
    try await trial.journal.waitFor("a new host is there", after: last) {
      let changed = $0.reading(RegistrationChanged.self)
      return changed?.change == .connected && changed?.registration.address == Trial.host
    }
  }

  @discardableResult
  private func told(_ trial: Trial, _ process: Address, _ network: NetworkState) async throws -> LabEnvelope {
    try await trial.journal.waitFor("\(process.short) is told of the network: \(network)") {
      $0.destination == process.text && $0.reading(NetworkChanged.self)?.state == network
    }
  }

  private func names(of owner: Address, _ trial: Trial) throws -> [String] {
    let folder = trial.cluster.instance.device(Trial.device).containers(of: owner.bundleIdentifier ?? "")
    return try FileManager.default.contentsOfDirectory(atPath: folder)
  }

  /// Where an owner's container is.
  private func container(of owner: Address, _ trial: Trial) throws -> String {
    let names = try names(of: owner, trial)
    let folder = trial.cluster.instance.device(Trial.device).containers(of: owner.bundleIdentifier ?? "")
    return "\(folder)/\(try #require(names.count == 1 ? names.first : nil))"
  }
}
