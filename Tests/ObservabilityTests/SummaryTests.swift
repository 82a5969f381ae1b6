// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

/// What the console shows of a whole journal.
@Suite struct `The summary of a journal` {
  private static let cast = RecordedScenario.cast
  private static let ownExtension = cast.widgetExtension

  private func summary(_ scenario: RecordedScenario) -> JournalSummary {
    scenario.envelopes.reduce(into: JournalSummary()) { _ = $0.handle($1) }
  }

  /// A download whose extension is killed, relaunched and notified.
  private func killed() throws -> RecordedScenario {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(Self.ownExtension, 2, pid: 201)
    try scenario.events(2, pid: 201)
    return scenario
  }

  @Test func `the history has each process instance with its times and its end`() throws {
    var scenario = try killed()
    try scenario.send(
      ProcessState(address: Self.ownExtension, generation: 2, state: "suspended", why: "idle"), from: Self.cast.host)
    let history = summary(scenario).processes
    let runs = try #require(history.lanes[Self.ownExtension])
    #expect(runs.map(\.generation) == [1, 2])
    #expect(runs[0].ending == "SIGKILL" && runs[0].isFailure)
    #expect(runs[0].end != nil && runs[0].spans.allSatisfy { $0.to != nil })
    #expect(runs[1].end == nil)
    #expect(runs[1].spans.map(\.state) == ["running", "suspended"])
    #expect(runs[1].spans[0].to == runs[1].spans[1].from)
    let exit = scenario.envelopes.first { $0.header.kind == ProcessExited.kind }
    #expect(runs[0].endSequence == exit?.header.sequence)
  }

  @Test func `an exit that is reported again does not change the history`() throws {
    var scenario = try killed()
    try scenario.death(Self.ownExtension, 1, pid: 200)
    let runs = try #require(summary(scenario).processes.lanes[Self.ownExtension])
    #expect(runs.count == 2 && runs[1].end == nil)
  }

  @Test func `standing processes are known by their connections, the bus by its generations`() throws {
    var scenario = RecordedScenario()
    func registration(_ generation: UInt32, isConnected: Bool) -> Registration {
      Registration(
        address: Self.cast.host, generation: generation, incarnation: UUID(), pid: 5, isConnected: isConnected)
    }
    func change(_ change: RegistrationChanged.Change, _ generation: UInt32) throws {
      let registration = registration(generation, isConnected: change == .connected)
      try scenario.send(RegistrationChanged(change, registration), from: .messageBus)
    }
    try scenario.send(BusStarted(pid: 1, generation: 1, registrations: []), from: .messageBus)
    try change(.connected, 1)
    #expect(summary(scenario).isHostConnected)
    try change(.disconnected, 1)
    #expect(!summary(scenario).isHostConnected)
    try scenario.send(BusStarted(pid: 1, generation: 1, registrations: []), from: .messageBus)
    try scenario.send(BusStarted(pid: 2, generation: 2, registrations: []), from: .messageBus)
    try change(.connected, 2)
    let history = summary(scenario).processes
    #expect(history.lanes[Self.cast.host]?.map(\.ending) == ["disconnected", nil])
    #expect(history.lanes[.messageBus]?.map(\.generation) == [1, 2])
    #expect(history.order == [.messageBus, Self.cast.host])
  }

  @Test func `a session that is used again after its acknowledgement is another trace`() throws {
    var scenario = try killed()
    let first = scenario.envelopes.count
    scenario.answer(Ping.kind.answered(.ok), from: Self.cast.host, to: Self.cast.agent)
    try scenario.beginning()
    let traces = summary(scenario).traces
    let entries = traces.newest(10).filter { $0.title == RecordedScenario.session }
    #expect(entries.map(\.state) == ["in progress", "acknowledged"])
    let (newer, older) = (entries[0], entries[1])
    #expect(older.exits == 1 && older.generations == [1, 2] && older.end != nil && newer.end == nil)
    #expect(older.last < newer.first && newer.first > UInt64(first))
    #expect(traces[older.id] == older)
    let inside = scenario.envelopes.filter { $0.header.correlation == older.correlation }
    for envelope in inside {
      let wanted = envelope.header.sequence < newer.first ? older.id : newer.id
      #expect(traces.entry(of: envelope.header)?.id == wanted, "#\(envelope.header.sequence)")
    }
  }

  @Test func `a push is a trace with the state of its last step`() throws {
    var scenario = RecordedScenario()
    let id = UUID()
    let subject = PushSubject(device: "iphone", bundle: "com.example.Lab", use: .widgets)
    for step in [PushStep.Name.accepted, .sent, .delivered, .reloading] {
      try scenario.send(
        PushLogged(uniqueID: id, subject: subject, type: "widgets", step: PushStep(step, at: .now)), from: .pushServer,
        correlation: id)
    }
    var entry = try #require(summary(scenario).traces.newest(1).first)
    #expect(entry.type == "push" && entry.title == "widgets push" && entry.owner == "com.example.Lab (widgets)")
    #expect(entry.state == "reloading" && entry.end == nil && entry.steps == 4)
    try scenario.send(
      PushLogged(uniqueID: id, subject: subject, type: "widgets", step: PushStep(.reloaded, at: .now)),
      from: .pushServer, correlation: id)
    entry = try #require(summary(scenario).traces.newest(1).first)
    #expect(entry.state == "reloaded" && entry.end != nil)
    #expect(summary(scenario).pushes.newest(5).first?.steps.map(\.name.rawValue).last == "reloaded")
  }

  @Test func `the ledger has each decision with its message, and the message that asked`() throws {
    var scenario = RecordedScenario()
    let askedID = UUID()
    try scenario.send(ReloadTimelines(widgetKind: "K"), from: Self.ownExtension, to: Self.cast.host, id: askedID)
    for (number, verdict) in [LedgerEntry.Verdict.delayed, .granted].enumerated() {
      let entry = LedgerEntry(
        number: number + 1, date: Date(timeIntervalSince1970: 1e9 + Double(number)), reload: 7, placement: 3,
        bundle: "com.example.Lab.Widget", widgetKind: "K", because: .extension, verdict: verdict,
        rule: "minimum-spacing",
        balance: 4, until: nil)
      try scenario.send(BudgetDecided(entry), from: Self.cast.host)
    }
    let ledger = summary(scenario).ledger
    #expect(ledger.lines.map(\.sequence) == [2, 3])
    #expect(ledger.lines(ofReload: 7).map(\.verdict) == ["delayed", "granted"])
    #expect(ledger.last(ofPlacement: 3)?.number == 2)
    #expect(ledger.lines(ofReload: 8).isEmpty)
  }

  @Test func `the screen is known from placements and stored timelines`() throws {
    var scenario = RecordedScenario()
    let placement = Placement(
      id: 4, bundle: "com.example.Lab.Widget", kind: "K", family: .systemSmall, location: .homeScreen)
    try scenario.send(PlacementChanged(.added, placement), from: Self.cast.host)
    let date = Date(timeIntervalSince1970: 1e9)
    let storedTimeline = TimelineStored(
      bundle: placement.bundle, widgetKind: "K", placement: 4, family: .systemSmall, because: .added, entries: 1,
      first: date, last: date, policy: .never, bytes: 10, digest: "d", text: ["63 mg"])
    try scenario.send(storedTimeline, from: Self.cast.host)
    #expect(summary(scenario).screen.placements[4] == placement)
    #expect(summary(scenario).screen.timelines[4]?.text == ["63 mg"])
    try scenario.send(
      ReloadFailed(bundle: placement.bundle, widgetKind: "K", placement: 4, reason: "it exited"), from: Self.cast.host)
    #expect(summary(scenario).screen.failures[4] == "it exited")
    try scenario.send(PlacementChanged(.removed, placement), from: Self.cast.host)
    #expect(summary(scenario).screen.placements.isEmpty && summary(scenario).screen.failures.isEmpty)
  }

  @Test func `the summary of a demo has its addresses, kinds and times, without tools`() throws {
    let scenario = try killed()
    let summary = summary(scenario)
    #expect(summary.addresses.contains(Self.ownExtension) && !summary.addresses.contains { $0.role.isPassing })
    #expect(summary.kinds.contains("session.acknowledged"))
    #expect(summary.first == 1 && (summary.begin ?? 1) < (summary.time ?? 0))
  }
}

@Suite struct `Why a widget shows nothing newer` {
  private let now = Date(timeIntervalSince1970: 1e9)

  private func account(_ next: Double?, because: ReloadCause?, withheld: Withholding? = nil) -> ListBudget.Account {
    ListBudget.Account(
      placement: 1, bundle: "b", widgetKind: "K", balance: 1, perDay: 40, spent: 0,
      next: next.map { now.addingTimeInterval($0) }, nextBecause: because, withheld: withheld)
  }

  private func decision(_ verdict: LedgerEntry.Verdict, until: Double?) -> LedgerHistory.Line {
    LedgerHistory.Line(
      number: 1, reload: 1, placement: 1, date: 0, because: "app", verdict: verdict.rawValue, rule: "no-balance",
      balance: 0, text: "", sequence: 1, asked: nil, until: until.map { now.timeIntervalSince1970 + $0 })
  }

  private func text(_ change: (inout WidgetReason.Facts) -> Void) -> String {
    var facts = WidgetReason.Facts(now: now)
    change(&facts)
    return WidgetReason.text(facts)
  }

  @Test func `one sentence names the cause that counts most`() {
    #expect(
      text { $0.account = account(3600, because: .policy) }
        == "It is up to date; the next reload is in 1 h, because of policy.")
    #expect(text { $0.account = account(-1, because: .push) } == "A reload is due now, because of push.")
    #expect(text { $0.account = account(nil, because: nil) }.hasPrefix("It is up to date, and no reload is scheduled"))
    let failed = text {
      $0.note = "it exited"
      $0.account = account(60, because: .policy)
      $0.isEmpty = true
    }
    #expect(failed == "The last reload failed: it exited; the next reload is in 1 min, because of policy.")
    #expect(
      text { $0.account = account(nil, because: .app, withheld: .locked) }
        == "Its reload waits until the device is unlocked.")
    #expect(text { $0.isEmpty = true } == "Its extension has not provided a timeline yet.")
    let delayed = text {
      $0.account = account(120, because: .app)
      $0.decision = decision(.delayed, until: 120)
    }
    #expect(delayed == "The budget delays its reload by the rule no-balance, for 2 min.")
    let refused = text {
      $0.account = account(nil, because: nil)
      $0.decision = decision(.refused, until: nil)
    }
    #expect(refused == "The budget refused its last reload by the rule no-balance.")
    // A delay that is over no longer counts.
    let over = text {
      $0.account = account(30, because: .policy)
      $0.decision = decision(.delayed, until: -5)
    }
    #expect(over.hasPrefix("It is up to date"))
    #expect(text { _ in } == "It shows the last timeline that the journal contains.")
  }
}
