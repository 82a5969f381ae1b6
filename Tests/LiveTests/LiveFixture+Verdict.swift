// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing
import WidgetLabTesting

extension LiveFixture {
  /// Waits for the end of both downloads and checks the whole journal: the extension received its own events, in
  /// Apple's order, with the right bytes, in a real process; nothing followed the acknowledgement; the app received
  /// only its own events.
  ///
  /// - Parameters:
  ///   - newInstance: whether the events must have reached a later process instance than the first.
  ///   - endsWhenIdle: whether the system may have ended that process instance since.
  func expectWholeScenario(newInstance: Bool, endsWhenIdle: Bool = false) async throws {
    let end = try await acknowledged(by: Self.widgetExtension)
    try await expectAppEventsRemoved()
    let entries = try await journal.all()
    let acknowledgement = try #require(
      entries.last { $0.kind == "session.events/ack" && $0.envelope.header.source == Self.widgetExtension })
    let generation = acknowledgement.sourceGeneration
    #expect(newInstance ? generation > 1 : generation == 1)
    try expectOrder(entries, generation: generation, acknowledgement: acknowledgement)
    try expectProcess(entries, generation, mayHaveEnded: endsWhenIdle)
    try await expectBytes(entries, generation)
    try await expectNothingMore(after: end)
    expectNoStrayEnvelopes(try await journal.all())
  }

  /// Waits until the app has acknowledged its events and the host has removed them. The host's notice of the removal may
  /// be missing: a host that is killed just after the removal has not sent it.
  private func expectAppEventsRemoved() async throws {
    try await journal.waitFor("the app acknowledges its events") {
      $0.kind == "session.events/ack" && $0.envelope.header.source == Self.app
    }
    try await cluster.eventually("the host has removed the acknowledged events of the app") {
      try await cluster.attempt(["sessions", Self.appSession]).output.contains("0 running, 0 undelivered")
    }
  }

  /// Checks the order: handler, didFinishDownloadingTo, didCompleteWithError, urlSessionDidFinishEvents; the
  /// completion, the acknowledgement, the removal of the events.
  private func expectOrder(
    _ entries: [LabEnvelope], generation: UInt32, acknowledgement: LabEnvelope
  ) throws {
    let ownEntries = entries.filter {
      $0.envelope.header.source == Self.widgetExtension && $0.sourceGeneration == generation
    }
    let calls: [String] = ownEntries.compactMap { entry in
      if let called = entry.reading(HandlerCalled.self), called.session == Self.session { return "handler" }
      if let called = entry.reading(DelegateCalled.self), called.session == Self.session { return called.method }
      return nil
    }
    let order = ["handler", "didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents"]
    #expect(calls == order, "the calls in the process that acknowledged")
    let completion = try #require(ownEntries.first { $0.kind == "completion.called" })
    let complete = try #require(ownEntries.first { $0.reading(DelegateCalled.self)?.method == "didCompleteWithError" })
    let forgotten = try #require(
      entries.first { $0.reading(SessionAcknowledged.self)?.owner == Self.widgetExtension })
    #expect(complete.sequence < completion.sequence)
    #expect(completion.sequence < acknowledgement.sequence)
    #expect(acknowledgement.sequence < forgotten.sequence)
    #expect(ownEntries.allSatisfy { $0.reading(DelegateCalled.self)?.failureCode == nil })
  }

  /// Checks that the agent and the process itself report one pid, and that this pid runs the extension's executable.
  private func expectProcess(_ entries: [LabEnvelope], _ generation: UInt32, mayHaveEnded: Bool) throws {
    let launches = entries.compactMap { $0.reading(ProcessStarted.self) }.filter { $0.address == Self.widgetExtension }
    #expect(Set(launches.map(\.pid)).count == launches.count, "every process instance has its own pid")
    let launch = try #require(launches.first { $0.generation == generation })
    let handler = try #require(
      entries.first { $0.sourceGeneration == generation && $0.reading(HandlerCalled.self)?.session == Self.session })
    #expect(handler.reading(HandlerCalled.self)?.pid == launch.pid)
    let ready = try #require(
      entries.first {
        $0.kind == "process.ready" && $0.envelope.header.source == Self.widgetExtension
          && $0.sourceGeneration == generation
      })
    #expect(ready.reading(ProcessReady.self)?.pid == launch.pid)
    if mayHaveEnded { return }
    let process = LabProcess(pid: launch.pid)
    #expect(process.isAlive)
    #expect(process.executableName == "FixtureExtension")
  }

  /// Checks that the file that the extension moved is the file that the provider serves.
  private func expectBytes(_ entries: [LabEnvelope], _ generation: UInt32) async throws {
    let served = try await cluster.sha256(of: try await cluster.fetch("/figures?size=\(Self.size)&seed=trial"))
    // A child's output passes through its agent, and may be recorded after the acknowledgement.
    try await journal.waitFor("generation \(generation) prints: reached file-moved \(served) \(Self.size)") {
      guard let output = $0.reading(ProcessOutput.self), output.address == Self.widgetExtension else { return false }
      return output.generation == generation && output.line == "reached file-moved \(served) \(Self.size)"
    }
    let moved = try Data(contentsOf: URL(fileURLWithPath: groupFolder + "/trial-result"))
    #expect(try await cluster.sha256(of: moved) == served)
    let finished = entries.compactMap { $0.reading(TransferProgress.self) }
      .first { $0.owner == Self.widgetExtension && $0.step == .finished }
    #expect(finished?.sha256 == served)
  }

  /// Checks that a new host, which would redeliver events that it still had, delivers nothing; a reload shows that it
  /// works.
  private func expectNothingMore(after end: LabEnvelope) async throws {
    let last = try await journal.all().last?.sequence ?? 0
    try await kill("host")
    try await journal.waitFor("a new host is connected", after: last) {
      let changed = $0.reading(RegistrationChanged.self)
      return changed?.change == .connected && changed?.registration.address == Self.host
    }
    try await cluster.run("reload", Self.kind, "--timeout", "120")
    try await journal.waitFor("the new host stored a timeline", after: last) { $0.kind == "timeline.stored" }
    let late = try await journal.all().filter { entry in
      guard entry.sequence > end.sequence else { return false }
      return entry.reading(SessionEvents.self)?.session == Self.session
        || entry.reading(HandlerCalled.self)?.session == Self.session
        || entry.reading(DelegateCalled.self)?.session == Self.session
    }
    #expect(late.isEmpty, "after the acknowledgement: \(late)")
  }

  /// Checks that no envelope of one session reached the owner of the other.
  private func expectNoStrayEnvelopes(_ entries: [LabEnvelope]) {
    for entry in entries {
      let parties = [entry.envelope.header.source, entry.envelope.header.destination]
      if entry.correlation == Self.correlation { #expect(!parties.contains(Self.app), "\(entry)") }
      if entry.correlation == Self.appCorrelation { #expect(!parties.contains(Self.widgetExtension), "\(entry)") }
      guard let events = entry.reading(SessionEvents.self) else { continue }
      let owner = events.session == Self.session ? Self.widgetExtension : Self.app
      #expect(entry.envelope.header.destination == owner, "\(entry)")
      #expect([Self.session, Self.appSession].contains(events.session))
    }
  }
}
