// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

private let host = RecordedScenario.cast.host
private let widget = RecordedScenario.cast.widgetExtension
private let person = Address.operator("1")
private let noon = Date(timeIntervalSince1970: 1_795_262_400)

@Suite struct `Notes of the device and its transfers` {
  private func note<C: Message>(_ body: C, from: Address = host, to: Address = .journal) throws -> String {
    var scenario = RecordedScenario()
    try scenario.send(body, from: from, to: to)
    return EnvelopeNote(scenario.envelopes[0]).text
  }

  private func note<R: Request>(of reply: R.Reply, to type: R.Type) throws -> String {
    let header = EnvelopeHeader(kind: R.kind.answered(.ok), source: host, destination: person)
    return EnvelopeNote(Envelope(header: header, body: try BodyCoding.encode(reply))).text
  }

  private let snapshot = TaskSnapshot(
    taskIdentifier: 3, request: TransferRequest(url: "https://a.b/c"), taskDescription: nil, bytesReceived: 5,
    bytesExpected: 10)

  @Test func `a note describes what the user did to the device`() throws {
    let clock = ClockState(now: noon, isHeld: true, offset: 3600)
    let clockText = "2026-11-21 12:00:00Z, held, 1 h ahead of this machine's"
    let network = NetworkState(path: .cellular, rate: 1500)
    #expect(try note(SetClock(change: .advance(86_400)), from: person, to: host) == "advance 1 d")
    #expect(try note(SetClock(change: .set(noon)), from: person, to: host) == "set to 2026-11-21 12:00:00Z")
    #expect(try note(SetClock(change: .rate(3600)), from: person, to: host) == "rate 3600")
    #expect(try note(of: clock, to: SetClock.self) == clockText)
    #expect(try note(ClockChanged(state: clock)) == clockText)
    #expect(try note(SetNetwork(state: network), from: person, to: host) == "cellular, 1.5 kB/s")
    #expect(try note(of: network, to: SetNetwork.self) == "cellular, 1.5 kB/s")
    #expect(try note(NetworkChanged(state: NetworkState(path: .off)), from: host, to: widget) == "off")
    #expect(try note(ForceQuitApp(bundle: "a.b"), from: person, to: host) == "a.b")
    #expect(try note(UpdateApp(bundle: "a.b"), from: person, to: host) == "a.b")
    #expect(try note(ListSessions(session: "figures", offset: 512), from: person, to: host) == "figures from task 512")
    let page = ListSessions.Reply(
      network: network, clock: clock, sessions: [], sessionCount: 0, tasks: [], taskCount: 9)
    #expect(try note(of: page, to: ListSessions.self) == "0 sessions, 0 of 9 tasks")
  }

  @Test func `a note describes a setting of the device`() throws {
    var settings = DeviceSettings(locale: "ar", timeZone: "Asia/Tokyo")
    settings.textSize = .xLarge
    #expect(try note(ChangeSetting(.set(.textSize, "xLarge")), from: person, to: host) == "text-size xLarge")
    #expect(try note(ChangeSetting(.reset(.contrast)), from: person, to: host) == "reset contrast")
    #expect(try note(ChangeSetting(.ask), from: person, to: host) == "ask")
    let reply = ChangeSetting.Reply(settings: settings, changed: [.textSize, .locale], appearance: .dark)
    #expect(try note(of: reply, to: ChangeSetting.self) == "text-size xLarge, locale ar")
    #expect(try note(SettingChanged(settings: settings, name: .textSize)) == "text-size xLarge")
    #expect(try note(SettingChanged(settings: settings), from: host, to: widget) == "locale ar, time-zone Asia/Tokyo")
  }

  @Test func `a note describes a message about a task`() throws {
    #expect(try note(CloseSession(identifier: "figures"), from: widget, to: host) == "figures")
    let expiry = ExpireEvents(session: "figures", delivery: UUID())
    #expect(try note(expiry, from: host, to: widget) == "figures: the time is running out")
    let change = ChangeTransfer(
      session: "figures", taskIdentifier: 3, isSuspended: true, description: .init("note"), priority: 0.75,
      earliestBeginDate: noon)
    #expect(
      try note(change, from: widget, to: host)
        == "figures task 3 suspended, described as note, priority 0.75, not before 2026-11-21 12:00:00Z")
    let count = TransferCounted(
      session: "figures", taskIdentifier: 3, bytesReceived: 50, bytesExpected: 100, resumedAt: 40)
    #expect(try note(count, from: host, to: widget) == "figures task 3 resumed at byte 40, 50 bytes of 100")
    #expect(
      try note(BeginDelayedRequest(session: "figures", task: snapshot), from: host, to: widget)
        == "figures task 3 may begin")
    let challenge = AnswerChallenge(
      session: "figures", task: snapshot, wakesHandler: true, method: "NSURLAuthenticationMethodHTTPBasic",
      host: "a.b", port: 443, scheme: "https", realm: nil, previousFailures: 1)
    #expect(
      try note(challenge, from: host, to: widget)
        == "figures task 3 HTTPBasic of https://a.b:443, failed 1 times, wakes the handler")
    let limiter = LimiterChanged(owner: widget, delay: 120, until: noon, reason: "woken")
    #expect(try note(limiter) == "extension/…Widget waits 2 min: woken")
  }

  @Test func `a note shows a reply without its password`() throws {
    let reply = AnswerChallenge.Reply(disposition: .useCredential, user: "ann", password: "secret")
    #expect(try note(of: reply, to: AnswerChallenge.self) == "useCredential ann")
    let begin = BeginDelayedRequest.Reply(disposition: .useNewRequest, request: TransferRequest(url: "https://d.e"))
    #expect(try note(of: begin, to: BeginDelayedRequest.self) == "useNewRequest https://d.e")
    #expect(
      try note(of: CancelTransfer.Reply(resumeData: Data(count: 7)), to: CancelTransfer.self)
        == "resume data of 7 bytes")
  }

  @Test func `every message type about a session matches a session filter`() throws {
    let bodies: [any Message] = [
      OpenSession(identifier: "figures", configuration: SessionConfiguration()), CloseSession(identifier: "figures"),
      ExpireEvents(session: "figures", delivery: UUID()), ChangeTransfer(session: "figures", taskIdentifier: 1),
      TransferCounted(session: "figures", taskIdentifier: 1, bytesReceived: 0, bytesExpected: 0),
      BeginDelayedRequest(session: "figures", task: snapshot), ListSessions(session: "figures"),
    ]
    let filter = try FilterExpression("session == figures")
    for body in bodies {
      var scenario = RecordedScenario()
      try scenario.send(body, from: widget, to: host)
      #expect(filter.matches(scenario.envelopes[0]), "\(type(of: body).kind)")
    }
  }

  @Test func `a note never shows the bare body of a request, an event or a notice`() throws {
    // A note states that a body is not of its type.
    for entry in MessageTable.all {
      let route = try #require(entry.routes.first)
      let source = route.sources.first == .operator ? person : host
      let envelope = Envelope(
        header: EnvelopeHeader(kind: entry.kind, source: source, destination: .journal), body: Array("[]".utf8))
      #expect(EnvelopeNote(envelope).text != "[]", "\(entry.kind)")
    }
  }
}
