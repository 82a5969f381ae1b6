// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Section 4.7 of the rules of WidgetKit, over real processes: tokens and widget pushes on a device.
@Suite(.live, .timeLimit(.live)) struct `Widget pushes to a device` {
  @Test(.rule("PUSH-05", "PUSH-06"))
  func `a new token reaches each push handler once, in the extension`() async throws {
    try await PushesFixture.run("first token") { fixture in
      let token = try await fixture.begin()
      try await fixture.widget.prints("SharedHandler on main: \(token) [First,Second,Other]")
      try await fixture.widget.prints("OtherHandler on main: \(token) [First,Second,Other]")
      let journal = try await fixture.journal.all()
      let made = journal.filter { $0.line(printedBy: PushesFixture.widgetExtension) == "made SharedHandler" }
      #expect(made.count == 1)
      // The app is not started for the token.
      #expect(!journal.contains { $0.reading(SpawnProcess.self)?.address == PushesFixture.app })
      let list = try await fixture.cluster.run("token", "list")
      #expect(list.contains(token))
    }
  }

  @Test(.rule("PUSH-01", "PUSH-05", "PUSH-07"))
  func `a changed token or widget list launches the extension for its push handlers`() async throws {
    try await PushesFixture.run("other token") { fixture in
      let first = try await fixture.begin()
      let generation = try await fixture.journal.waitFor("extension output") {
        $0.line(printedBy: PushesFixture.widgetExtension) != nil
      }
      try await fixture.cluster.run("kill", "extension")
      try await fixture.journal.waitFor("the exit of the extension") {
        $0.reading(ProcessExited.self)?.address == PushesFixture.widgetExtension
      }
      try await fixture.cluster.run("token", "rotate", "--use", "widgets")
      let rotated = try await fixture.received(2)
      #expect(rotated.token != first)
      #expect(rotated.widgets.map(\.kind) == PushesFixture.taking)
      let spawned = try await fixture.journal.waitFor("the extension is launched", after: generation.sequence) {
        $0.reading(SpawnProcess.self)?.address == PushesFixture.widgetExtension
      }
      #expect(spawned.reading(SpawnProcess.self)?.reason.contains("push handlers") == true)
      try await fixture.widget.prints("SharedHandler on main: \(rotated.token) [First,Second,Other]")

      // A widget whose app was never launched cannot be added.
      try await fixture.cluster.run("app", "open")
      try await fixture.app.prints("app token ")
      try await fixture.cluster.run("remove", "1")
      #expect(try await fixture.received(3).widgets.map(\.kind) == ["Second", "Other"])
      try await fixture.cluster.run("add", "First")
      #expect(try await fixture.received(4).widgets.map(\.kind) == ["Second", "Other", "First"])
      // The handlers are not called for a widget without a handler.
      try await fixture.cluster.run("remove", "4")
      for number in ["2", "3", "5"] { try await fixture.cluster.run("remove", number) }
      try await fixture.widget.prints("SharedHandler on main: \(rotated.token) []")
      try await fixture.journal.waitFor("the token is unregistered") {
        let token = $0.reading(TokenChanged.self)?.token
        return token?.token == rotated.token && token?.state == .unregistered
      }
      // A newly placed widget gets a new token.
      try await fixture.cluster.run("add", "First")
      try await fixture.cluster.eventually("the handlers are called for the new widget") {
        try await fixture.journal.all().compactMap { $0.reading(TellPushHandlers.self) }.last?.widgets.map(\.kind)
          == ["First"]
      }
    }
  }

  @Test(.rule("PUSH-10", "PUSH-11", "PUSH-16", "PUSH-24"))
  func `a push reloads only the placements that take pushes, and their next policy reload still happens`()
    async throws
  {
    try await PushesFixture.run("reload", isHeld: true) { fixture in
      let token = try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "10m")
      let push = try await fixture.push()
      try await fixture.reloaded(push)
      #expect(try await fixture.stored(.push) == PushesFixture.taking)
      try await fixture.widget.prints("Second has the push info \(token)")
      try await fixture.cluster.eventually("the log has all steps") {
        try await fixture.cluster.run("push", "log", push.uuidString).contains("reloaded: placement 3 (Other)")
      }
      #expect(
        try await fixture.steps(push) == [.reloading, .reloaded, .reloaded, .reloaded])
      // Each placement reloads in the hour after its own last timeline.
      try await fixture.cluster.run("clock", "advance", "61m")
      #expect(try await Set(fixture.stored(.policy)) == Set(PushesFixture.taking + ["Plain"]))
    }
  }

  @Test(.rule("PUSH-24"))
  func `with the reading of Apple's article, a push reloads the widgets without a push handler too`() async throws {
    let settings = ["developerMode: true", "pushReloadsAllWidgets: true"]
    try await PushesFixture.run("reload all", settings: settings, isHeld: true) { fixture in
      try await fixture.begin()
      let push = try await fixture.push()
      try await fixture.reloaded(push)
      try await fixture.step(push, name: .reloaded, detail: "(Plain)")
      #expect(try await Set(fixture.stored(.push)) == Set(PushesFixture.taking + ["Plain"]))
      // The handlers receive only the widgets that take pushes.
      #expect(try await fixture.received(1).widgets.map(\.kind) == PushesFixture.taking)
    }
  }

  @Test(.rule("PUSH-12"))
  func `a push without content-changed reloads nothing, and the log states this`() async throws {
    try await PushesFixture.run("no change") { fixture in
      try await fixture.begin()
      let push = try await fixture.push(payload: #"{"aps":{}}"#)
      try await fixture.step(push, name: .noContentChanged)
      let next = try await fixture.push()
      try await fixture.reloaded(next)
      #expect(try await fixture.stored(.push) == PushesFixture.taking)
    }
  }

  @Test(.rule("PUSH-13", "PUSH-14"))
  func `a push pays from the budget: it waits by its rule, and a newer push supersedes it`() async throws {
    try await PushesFixture.run("budget", settings: [], isHeld: true) { fixture in
      try await fixture.begin()
      let first = try await fixture.push()
      try await fixture.step(first, name: .budget, detail: "(First) waits until 2026-03-01T06:05:00Z: minimum-spacing")
      let second = try await fixture.push()
      try await fixture.step(first, name: .supersededOnDevice)
      try await fixture.step(second, name: .budget, detail: "(Other) waits until 2026-03-01T06:05:00Z: minimum-spacing")
      #expect(try await fixture.stored(.push).isEmpty)
      try await fixture.cluster.run("clock", "advance", "5m")
      try await fixture.reloaded(second)
      #expect(try await fixture.stored(.push) == PushesFixture.taking)
      let ledger = try await fixture.journal.all().compactMap { $0.reading(BudgetDecided.self)?.entry }
        .filter { $0.because == .push && $0.verdict == .granted }
      #expect(ledger.map(\.rule) == ["budget", "budget", "budget"])
    }
  }

  @Test(.rule("PUSH-13")) func `a push that no budget pays for is logged as refused`() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    try Data("perDay: 0\nminimumSpacing: 0\nlearningDays: 0".utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    try await PushesFixture.run("refused", settings: ["budget: \(path)"]) { fixture in
      try await fixture.begin()
      let push = try await fixture.push()
      for kind in PushesFixture.taking {
        try await fixture.step(push, name: .budget, detail: "(\(kind)) is refused: no-reloads")
      }
      #expect(try await fixture.stored(.push).isEmpty)
    }
  }

  @Test(.rule("PUSH-17"))
  func `a sleeping device wakes only for priority 10 and gets the rest when it wakes or is online again`()
    async throws
  {
    try await PushesFixture.run("asleep") { fixture in
      try await fixture.begin()
      #expect(try await fixture.cluster.run("device", "sleep") == "asleep, network: wifi\n")
      try await fixture.journal.waitFor("the push server has the device's state") {
        $0.reading(DeviceReach.self)?.isAwake == false
      }
      let quiet = try await fixture.push("--priority", "5")
      try await fixture.step(quiet, name: .storedPower)
      let loud = try await fixture.push("--priority", "10")
      try await fixture.reloaded(loud)
      // The state survives a host kill.
      try await fixture.cluster.run("kill", "host")
      try await fixture.cluster.eventually("the host runs again") {
        try await fixture.cluster.attempt(["device"]).output == "asleep, network: wifi\n"
      }
      #expect(try await fixture.steps(quiet).isEmpty)
      try await fixture.cluster.run("device", "wake")
      try await fixture.reloaded(quiet)

      try await fixture.cluster.run("device", "offline")
      let formerPush = try await fixture.push()
      try await fixture.step(formerPush, name: .storedOffline)
      let latter = try await fixture.push()
      try await fixture.step(formerPush, name: .superseded)
      try await fixture.cluster.run("device", "online")
      try await fixture.reloaded(latter)
      #expect(try await fixture.steps(formerPush).isEmpty)
    }
  }

  @Test(.rule("PUSH-17"))
  func `a device that is online again accepts at once what waited for it`() async throws {
    try await PushesFixture.run("online again") { fixture in
      try await fixture.begin()
      for _ in 1...20 {
        try await fixture.cluster.run("device", "offline")
        let push = try await fixture.push()
        try await fixture.step(push, name: .storedOffline)
        try await fixture.cluster.run("device", "online")
        try await fixture.step(push, name: .delivered)
      }
      // The host refused one here, because its report to the push server was ahead of its push service.
      let refused = try await fixture.journal.all().compactMap(\.pushStep).filter {
        $0.1?.detail?.contains("refused it") == true
      }
      #expect(refused.isEmpty, "\(refused)")
    }
  }

  @Test(.rule("PUSH-15"))
  func `a push reloads each widget once when the host is killed between storage and reload`() async throws {
    try await PushesFixture.run("host killed") { fixture in
      try await fixture.begin()
      let push = try await fixture.push()
      _ = try await fixture.journal.waitFor("the host has stored the push") { envelope in
        envelope.kind == "push.deliver/ack" || envelope.reading(PushProgress.self)?.uniqueID == push
      }
      try await fixture.cluster.run("kill", "host")
      try await fixture.reloaded(push)
      // The end of a second push shows that nothing of the first is left.
      let next = try await fixture.push()
      try await fixture.reloaded(next)
      let stored = try await fixture.stored(.push)
      #expect(stored.suffix(3).sorted() == PushesFixture.taking.sorted())
      // The host may have been killed with a stored timeline that is not in the journal; its steps are persistent.
      let first = stored.dropLast(3)
      #expect(Set(first).count == first.count, "\(first)")
      #expect(try await fixture.steps(push).filter { $0 == .reloaded }.count == 3)
    }
  }

  @Test(.rule("APNS-26")) func `a device discards a push that expires on its way`() async throws {
    try await PushesFixture.run("late") { fixture in
      try await fixture.begin()
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGSTOP)
      let push: UUID
      do {
        push = try await fixture.pushThatExpiresOnItsWay()
      } catch {
        try host.signal(SIGCONT)
        throw error
      }
      try host.signal(SIGCONT)
      try await fixture.step(push, name: .expired, detail: "its expiration passed before it arrived")
      // The end of a second push shows that nothing of the first is left.
      let next = try await fixture.push()
      try await fixture.reloaded(next)
      #expect(try await fixture.steps(push).isEmpty)
    }
  }

  @Test(.rule("PUSH-09"), arguments: [2, 60])
  func `an extension whose push handlers returned runs for suspendAfter, and is suspended then`(
    suspendAfter: Int
  ) async throws {
    try await PushesFixture.run("handler's time", isHeld: true, suspendAfter: Double(suspendAfter)) { fixture in
      try await fixture.begin()
      // The host may handle the return of the handlers after the clock was advanced.
      for _ in 1...3 { try await fixture.pass(suspendAfter + 1) }
      try await fixture.suspended()
      try await fixture.cluster.run("token", "rotate", "--use", "widgets")
      _ = try await fixture.received(2)
      let returned = try await fixture.journal.all().last?.sequence ?? 0
      try await fixture.pass(suspendAfter - 1)
      #expect(try await !fixture.journal.all().contains { $0.sequence > returned && $0.suspendsExtension })
      // The host may have handled the return of the handlers after the clock was advanced.
      for _ in 1...3 { try await fixture.pass(1) }
      try await fixture.suspended(after: returned)
    }
  }

  @Test(.rule("PUSH-08"))
  func `a push handler that crashes is called in a second process, and later only in one launched for other work`()
    async throws
  {
    try await PushesFixture.run("handler crashes", environment: ["TRIAL_DIES_IN_HANDLER: yes"]) { fixture in
      try await fixture.cluster.run("reload", "--all")
      let second = try await fixture.nth(2, TellPushHandlers.self).envelope
      let spawned = try await fixture.nth(2, SpawnProcess.self).body
      #expect(spawned.address == PushesFixture.widgetExtension)
      #expect(spawned.reason.contains("push handlers"))
      try await fixture.journal.waitFor("the second exit", after: second.sequence) {
        $0.reading(ProcessExited.self)?.address == PushesFixture.widgetExtension
      }
      // From then on the extension is launched for due timelines, but not for its handlers.
      try await fixture.cluster.run("reload", "--all")
      let other = try await fixture.journal.waitFor("a launch for timelines only", after: second.sequence) {
        $0.reading(SpawnProcess.self).map { $0.reason.contains("timeline") && !$0.reason.contains("push handlers") }
          ?? false
      }
      try await fixture.journal.waitFor("the handlers are called in that process", after: other.sequence) {
        $0.id != second.id && $0.reading(TellPushHandlers.self) != nil
      }
    }
  }
}

extension PushesFixture {
  /// Advances the held clock.
  fileprivate func pass(_ seconds: Int) async throws { try await cluster.run("clock", "advance", "\(seconds)s") }

  fileprivate func suspended(after sequence: UInt64 = 0) async throws {
    try await journal.waitFor("the extension is suspended", after: sequence) { $0.suspendsExtension }
  }

  /// Sends a push that the push server sends to the device and that expires while the host is stopped. On a busy
  /// machine the push may expire earlier; then the next attempt has more time.
  fileprivate func pushThatExpiresOnItsWay() async throws -> UUID {
    for seconds in [5.0, 20, 80] {
      let expiration = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + seconds)
      let push = try await push("--expiration", "\(Int(expiration.timeIntervalSince1970))")
      let end = try await journal.waitFor("push \(push) is sent or has expired") {
        guard let logged = $0.reading(PushLogged.self), logged.uniqueID == push else { return false }
        return [.sent, .expired].contains(logged.step.name)
      }
      guard end.reading(PushLogged.self)?.step.name == .sent else { continue }
      try await Task.sleep(for: .seconds(max(0, expiration.timeIntervalSinceNow)))  // until it expires
      return push
    }
    throw LabError("no push was sent before it expired")
  }
}

extension LabEnvelope {
  /// Whether it reports that the extension is suspended.
  fileprivate var suspendsExtension: Bool {
    reading(ProcessState.self).map { $0.address == PushesFixture.widgetExtension && $0.state == "suspended" } ?? false
  }
}
