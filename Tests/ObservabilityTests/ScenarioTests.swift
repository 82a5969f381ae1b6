// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `The demo's steps` {
  private let cast = RecordedScenario.cast

  @Test func `a demo that kills the extension completes all steps`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(cast.widgetExtension, 2, pid: 201)
    try scenario.events(2, pid: 201)
    try scenario.appsOwnEvents()
    let watch = scenario.watched(killing: .widgetExtension)
    #expect(watch.missing == [])
    #expect(watch.violations == [])
    #expect(watch.envelopesOfApp > 0)
  }

  @Test func `an earlier upload of the extension does not count as the demo's download`() throws {
    var scenario = try RecordedScenario.extensionKilled(uploads: true)
    try scenario.launch(cast.widgetExtension, 2, pid: 201)
    try scenario.events(2, pid: 201)
    try scenario.appsOwnEvents()
    let watch = scenario.watched(killing: .widgetExtension)
    #expect(watch.missing == [])
    #expect(watch.facts.session == RecordedScenario.session)
  }

  @Test func `an event of the extension's session that reaches the app is a violation`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(cast.widgetExtension, 2, pid: 201)
    try scenario.events(2, pid: 201, to: cast.app)
    try scenario.appsOwnEvents()
    let watch = scenario.watched(killing: .widgetExtension)
    #expect(watch.violations.contains { $0.contains("sent to or from the app") })
    #expect(watch.violations.contains { $0.contains("does not own") })
  }

  @Test func `a skipped relaunch is reported as the missing step`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.appsOwnEvents()
    let watch = scenario.watched(killing: .widgetExtension)
    #expect(watch.missing.first == "a new generation of the extension was launched")
  }

  @Test func `a completion before urlSessionDidFinishEvents does not count`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(cast.widgetExtension, 2, pid: 201)
    try scenario.events(2, pid: 201, completesEarly: true)
    try scenario.appsOwnEvents()
    let watch = scenario.watched(killing: .widgetExtension)
    #expect(watch.missing.first == "the extension called the completion handler")
  }

  @Test func `events in the killed process instance do not count as a relaunch`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.events(1, pid: 200)
    try scenario.appsOwnEvents()
    let watch = scenario.watched(killing: .widgetExtension)
    #expect(watch.missing.contains("onBackgroundURLSessionEvents was called in the new process"))
  }

  @Test func `a child that is ready before its launch is recorded satisfies the steps`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(cast.widgetExtension, 2, pid: 201, isQuick: true)
    try scenario.events(2, pid: 201)
    try scenario.appsOwnEvents()
    #expect(scenario.watched(killing: .widgetExtension).missing == [])
  }

  @Test func `a recorded pid that differs from the process's own pid is a violation`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(cast.widgetExtension, 2, pid: 201, recordedPid: 999)
    try scenario.events(2, pid: 201)
    try scenario.appsOwnEvents()
    let watch = scenario.watched(killing: .widgetExtension)
    #expect(watch.violations.contains { $0.contains("999") && $0.contains("201") })
  }

  @Test func `a handler call in a process other than the launched one is a violation`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(cast.widgetExtension, 2, pid: 201)
    try scenario.events(2, pid: 777)
    let watch = scenario.watched(killing: .widgetExtension)
    #expect(watch.violations.contains { $0.contains("777") })
  }

  @Test func `events after the acknowledgement are a violation`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(cast.widgetExtension, 2, pid: 201)
    try scenario.events(2, pid: 201)
    let delivered = try #require(scenario.envelopes.last { $0.header.kind == SessionEvents.kind })
    try scenario.send(
      SessionEvents(session: RecordedScenario.session, wakesHandler: true, outcomes: []), from: cast.host,
      to: cast.widgetExtension, id: delivered.header.id)
    #expect(scenario.watched(killing: .widgetExtension).violations.contains { $0.contains("redelivered") })
  }

  @Test func `a host that restarts the download instead of resuming it misses a step`() throws {
    var scenario = RecordedScenario()
    try scenario.beginning()
    let host = Registration(address: cast.host, generation: 1, pid: 1, isConnected: false)
    try scenario.send(RegistrationChanged(.disconnected, host), from: .messageBus)
    let new = Registration(address: cast.host, generation: 2, pid: 2, isConnected: true)
    try scenario.send(RegistrationChanged(.connected, new), from: .messageBus)
    try scenario.progress(cast.widgetExtension, step: .restarted, bytes: 0)
    try scenario.progress(cast.widgetExtension, step: .finished, bytes: RecordedScenario.fileBytes)
    let watch = scenario.watched(killing: .host)
    #expect(watch.missing.first == "the new host resumed the download with Range")
    try scenario.progress(cast.widgetExtension, step: .resumed, bytes: 500)
    try scenario.progress(cast.widgetExtension, step: .finished, bytes: RecordedScenario.fileBytes)
    try scenario.events(1, pid: 200)
    try scenario.appsOwnEvents()
    #expect(scenario.watched(killing: .host).missing == [])
  }

  @Test func `a file with missing bytes does not count as a finished download`() throws {
    var scenario = RecordedScenario()
    try scenario.beginning()
    try scenario.progress(cast.widgetExtension, step: .finished, bytes: RecordedScenario.fileBytes - 1)
    #expect(scenario.watched(killing: .none).missing.contains("the download finished"))
  }

  @Test func `an app with its own agent is not relaunched when the extension's agent is killed`() {
    let steps = ScenarioTable.steps(killing: .agent, fileBytes: nil, sharesAgent: false).map(\.name)
    #expect(steps.contains("launched"))
    #expect(!steps.contains("app-launched"))
  }

  @Test(arguments: Victim.allCases)
  func `every step comes after its prerequisites in the demo's table`(victim: Victim) {
    var names: Set<String> = []
    for step in ScenarioTable.steps(killing: victim, fileBytes: nil) {
      #expect(names.isSuperset(of: step.after), "\(step.name) of \(victim)")
      #expect(names.insert(step.name).inserted, "\(step.name) of \(victim) occurs twice")
    }
  }
}
