// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BusTesting
import Foundation
import Journal
import JournalAnalysis
import Messages
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `The wait command` {
  private static let ownExtension = RecordedScenario.cast.widgetExtension
  private static let host = RecordedScenario.cast.host

  private func condition(_ text: String) throws -> WaitCondition {
    try WaitCondition(text) { name in
      switch name {
      case "extension": return Self.ownExtension
      case "host": return Self.host
      default: throw CommandError(Exit.usage, "absent")
      }
    }
  }

  private func holds(_ text: String, _ envelopes: [Envelope]) throws -> Bool {
    var watch = WaitWatch(try condition(text))
    for envelope in envelopes { watch.see(envelope) }
    return watch.holds
  }

  private func states(_ states: String...) throws -> [Envelope] {
    var scenario = RecordedScenario()
    for state in states {
      try scenario.send(ProcessState(address: Self.ownExtension, generation: 1, state: state, why: ""), from: Self.host)
    }
    return scenario.envelopes
  }

  @Test func `a wait condition is a process state, a session step or a filter expression`() throws {
    #expect(try condition("host=ready") == .standing(Self.host, "ready"))
    #expect(try condition("extension=suspended") == .state(Self.ownExtension, "suspended"))
    #expect(try condition("extension = running") == .state(Self.ownExtension, "running"))
    #expect(try condition("session=acknowledged") == .output(try FilterExpression("kind == session.acknowledged")))
    #expect(
      try condition("session:daily=opened") == .output(try FilterExpression("kind == session.open && session == daily"))
    )
    #expect(try condition("pid == 5") == .output(try FilterExpression("pid == 5")))
  }

  @Test(arguments: ["host", "host=asleep", "extension=ready", "session=over", "absent=running", "kin == 5", "", "="])
  func `an invalid wait condition is a usage error`(text: String) {
    let commandError = #expect(throws: CommandError.self) { try condition(text) }
    #expect(commandError?.exit == Exit.usage)
  }

  @Test func `a wait for a process fails when the latest state reports a failed launch`() throws {
    let error = BusError(.noSuchExecutable, "there is no executable Weather")
    var scenario = RecordedScenario()
    try scenario.send(
      ProcessState(address: Self.ownExtension, generation: 1, state: "absent", why: "", launchFailure: error),
      from: Self.host)
    let failed = scenario.envelopes
    for (text, expected) in [("running", error), ("suspended", error), ("absent", nil), ("launching", nil)] {
      var watch = WaitWatch(try condition("extension=\(text)"))
      for envelope in failed { watch.see(envelope) }
      #expect(watch.failure == expected, "\(text)")
    }
    var watch = WaitWatch(try condition("extension=running"))
    for envelope in failed + (try states("launching")) { watch.see(envelope) }
    #expect(watch.failure == nil, "the launch is tried again")
  }

  @Test func `a process state condition uses the latest state`() throws {
    #expect(try holds("extension=suspended", states("launching", "running", "suspended")))
    #expect(try !holds("extension=suspended", states("launching", "suspended", "running")))
    #expect(try holds("extension=absent", []))
    #expect(try !holds("extension=absent", states("launching")))
    #expect(try holds("extension=absent", states("launching", "absent")))
  }

  @Test func `a session step holds once it is recorded`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    #expect(try holds("session=downloaded", scenario.envelopes))
    #expect(try !holds("session:figures=delivered", scenario.envelopes))
    try scenario.events(2, pid: 201)
    #expect(try holds("session:figures=acknowledged", scenario.envelopes))
    #expect(try !holds("session:backup=acknowledged", scenario.envelopes))
  }

  @Test func `wait watches the journal from the requested position`() async throws {
    let envelopes = try states("running", "suspended", "running", "suspended")
    try await WrittenJournal.with(envelopes) { folder in
      let reader = JournalReader(folder: URL(fileURLWithPath: folder))
      let found = try await Waiting(folder: folder, since: .sequence(2)).watch(
        try condition("state == running"), reader)
      #expect(found?.header.sequence == 3)
      let state = try await Waiting(folder: folder, since: nil).watch(try condition("extension=suspended"), reader)
      #expect(state?.header.sequence == 4)
    }
  }

  @Test func `wait without a condition or with an invalid position is rejected`() {
    #expect(throws: (any Error).self) { try WaitCommand.parse([]) }
    #expect(throws: (any Error).self) { try WaitCommand.parse(["--for", "host=ready", "--since", "soon"]) }
  }
}
