import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Section 4.7 of the rules of WidgetKit, over real processes: what a device makes of tokens and widget pushes.
@Suite(.live, .timeLimit(.live)) struct `A device that is pushed to` {
  @Test func `tells each push handler once of the first token, in the extension`() async throws {
    try await PushesTrial.run("first token") { trial in
      let token = try await trial.begin()
      try await trial.widget.says("SharedHandler on main: \(token) [First,Second,Other]")
      try await trial.widget.says("OtherHandler on main: \(token) [First,Second,Other]")
      let journal = try await trial.journal.all()
      let made = journal.filter { $0.saidBy(PushesTrial.widgetExtension) == "made SharedHandler" }
      #expect(made.count == 1)
      // The app was never started for it.
      #expect(!journal.contains { $0.reading(SpawnProcess.self)?.address == PushesTrial.app })
      let list = try await trial.cluster.run("token", "list")
      #expect(list.contains(token))
    }
  }

  @Test func `launches the extension for its handlers, with another token and with other widgets`() async throws {
    try await PushesTrial.run("other token") { trial in
      let first = try await trial.begin()
      let generation = try await trial.journal.waitFor("a life") { $0.saidBy(PushesTrial.widgetExtension) != nil }
      try await trial.cluster.run("kill", "extension")
      try await trial.journal.waitFor("the end of the extension") {
        $0.reading(ProcessExited.self)?.address == PushesTrial.widgetExtension
      }
      try await trial.cluster.run("token", "rotate", "--use", "widgets")
      let rotated = try await trial.told(2)
      #expect(rotated.token != first)
      #expect(rotated.widgets.map(\.kind) == PushesTrial.taking)
      let spawned = try await trial.journal.waitFor("the extension is launched", after: generation.sequence) {
        $0.reading(SpawnProcess.self)?.address == PushesTrial.widgetExtension
      }
      #expect(spawned.reading(SpawnProcess.self)?.reason.contains("push handlers") == true)
      try await trial.widget.says("SharedHandler on main: \(rotated.token) [First,Second,Other]")

      // Nothing is placed of an app that was never launched.
      try await trial.cluster.run("app", "open")
      try await trial.app.says("app token ")
      try await trial.cluster.run("remove", "1")
      #expect(try await trial.told(3).widgets.map(\.kind) == ["Second", "Other"])
      try await trial.cluster.run("add", "First")
      #expect(try await trial.told(4).widgets.map(\.kind) == ["Second", "Other", "First"])
      // Of a widget without a handler they are not told.
      try await trial.cluster.run("remove", "4")
      for number in ["2", "3", "5"] { try await trial.cluster.run("remove", number) }
      try await trial.widget.says("SharedHandler on main: \(rotated.token) []")
      try await trial.journal.waitFor("the token is given back") {
        let token = $0.reading(TokenChanged.self)?.token
        return token?.token == rotated.token && token?.state == .unregistered
      }
      // Placed again, there is a token again.
      try await trial.cluster.run("add", "First")
      try await trial.cluster.eventually("the handlers know of another token") {
        try await trial.journal.all().compactMap { $0.reading(TellPushHandlers.self) }.last?.widgets.map(\.kind)
          == ["First"]
      }
    }
  }

  @Test func `reloads all placements that take pushes and no others, and the policy's own next reload still comes`()
    async throws
  {
    try await PushesTrial.run("reload", isHeld: true) { trial in
      let token = try await trial.begin()
      try await trial.cluster.run("clock", "advance", "10m")
      let push = try await trial.push()
      try await trial.reloaded(push)
      #expect(try await trial.stored(.push) == PushesTrial.taking)
      try await trial.widget.says("Second has the push info \(token)")
      try await trial.cluster.eventually("the log has all of it") {
        try await trial.cluster.run("push", "log", push.uuidString).contains("reloaded: placement 3 (Other)")
      }
      #expect(
        try await trial.stations(push) == [.reloading, .reloaded, .reloaded, .reloaded])
      // Each in the hour after its own last timeline.
      try await trial.cluster.run("clock", "advance", "61m")
      #expect(try await Set(trial.stored(.policy)) == Set(PushesTrial.taking + ["Plain"]))
    }
  }

  @Test func `reloads nothing without content-changed, and says so`() async throws {
    try await PushesTrial.run("no change") { trial in
      try await trial.begin()
      let push = try await trial.push(payload: #"{"aps":{}}"#)
      try await trial.station(push, .noContentChanged)
      let next = try await trial.push()
      try await trial.reloaded(next)
      #expect(try await trial.stored(.push) == PushesTrial.taking)
    }
  }

  @Test func `pays from the budget: a push waits by its rule, and a newer one takes its place`() async throws {
    try await PushesTrial.run("budget", settings: [], isHeld: true) { trial in
      try await trial.begin()
      let first = try await trial.push()
      try await trial.station(first, .budget, "(First) waits until 2026-03-01T06:05:00Z: minimum-spacing")
      let second = try await trial.push()
      try await trial.station(first, .supersededOnDevice)
      try await trial.station(second, .budget, "(Other) waits until 2026-03-01T06:05:00Z: minimum-spacing")
      #expect(try await trial.stored(.push).isEmpty)
      try await trial.cluster.run("clock", "advance", "5m")
      try await trial.reloaded(second)
      #expect(try await trial.stored(.push) == PushesTrial.taking)
      let ledger = try await trial.journal.all().compactMap { $0.reading(BudgetDecided.self)?.entry }
        .filter { $0.because == .push && $0.verdict == .granted }
      #expect(ledger.map(\.rule) == ["budget", "budget", "budget"])
    }
  }

  @Test func `says of a push that no budget pays that it is refused`() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    try Data("perDay: 0\nminimumSpacing: 0\nlearningDays: 0".utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    try await PushesTrial.run("refused", settings: ["budget: \(path)"]) { trial in
      try await trial.begin()
      let push = try await trial.push()
      for kind in PushesTrial.taking { try await trial.station(push, .budget, "(\(kind)) is refused: no-reloads") }
      #expect(try await trial.stored(.push).isEmpty)
    }
  }

  @Test func `is woken by priority 10 alone, takes the rest when it wakes, and all of it when it is online again`()
    async throws
  {
    try await PushesTrial.run("asleep") { trial in
      try await trial.begin()
      #expect(try await trial.cluster.run("device", "sleep") == "asleep, network: wifi\n")
      try await trial.journal.waitFor("the push server is told") { $0.reading(DeviceReach.self)?.isAwake == false }
      let quiet = try await trial.push("--priority", "5")
      try await trial.station(quiet, .storedPower)
      let loud = try await trial.push("--priority", "10")
      try await trial.reloaded(loud)
      // It stays so over the host's death.
      try await trial.cluster.run("kill", "host")
      try await trial.cluster.eventually("the host is there again") {
        try await trial.cluster.attempt(["device"]).output == "asleep, network: wifi\n"
      }
      #expect(try await trial.stations(quiet).isEmpty)
      try await trial.cluster.run("device", "wake")
      try await trial.reloaded(quiet)

      try await trial.cluster.run("device", "offline")
      let former = try await trial.push()
      try await trial.station(former, .storedOffline)
      let latter = try await trial.push()
      try await trial.station(former, .superseded)
      try await trial.cluster.run("device", "online")
      try await trial.reloaded(latter)
      #expect(try await trial.stations(former).isEmpty)
    }
  }

  @Test func `whose host dies between the store and the reload reloads once`() async throws {
    try await PushesTrial.run("host dies") { trial in
      try await trial.begin()
      let push = try await trial.push()
      _ = try await trial.journal.waitFor("the host has it on disk") { envelope in
        envelope.kind == "push.deliver/ack" || envelope.reading(PushProgress.self)?.uniqueID == push
      }
      try await trial.cluster.run("kill", "host")
      try await trial.reloaded(push)
      // One more, whose end shows that nothing of the first is left.
      let next = try await trial.push()
      try await trial.reloaded(next)
      let stored = try await trial.stored(.push)
      #expect(stored.suffix(3).sorted() == PushesTrial.taking.sorted())
      // The host may have died with a timeline on disk that it had not told the journal of; the stations outlive it.
      let first = stored.dropLast(3)
      #expect(Set(first).count == first.count, "\(first)")
      #expect(try await trial.stations(push).filter { $0 == .reloaded }.count == 3)
    }
  }

  @Test func `does not take a push whose expiration passed while it was on its way`() async throws {
    try await PushesTrial.run("late") { trial in
      try await trial.begin()
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGSTOP)
      let push: UUID
      do {
        push = try await trial.pushThatExpiresOnItsWay()
      } catch {
        try host.signal(SIGCONT)
        throw error
      }
      try host.signal(SIGCONT)
      try await trial.station(push, .expired, "its expiration passed before it came")
      // One more, whose end shows that nothing of the first is left.
      let next = try await trial.push()
      try await trial.reloaded(next)
      #expect(try await trial.stations(push).isEmpty)
    }
  }

  @Test func `lives with a handler that dies: it is called in a second life, and then in one that begins for more`()
    async throws
  {
    try await PushesTrial.run("handler dies", environment: ["TRIAL_DIES_IN_HANDLER: yes"]) { trial in
      try await trial.cluster.run("reload", "--all")
      let second = try await trial.nth(2, TellPushHandlers.self).envelope
      let spawned = try await trial.nth(2, SpawnProcess.self).body
      #expect(spawned.address == PushesTrial.widgetExtension)
      #expect(spawned.reason.contains("push handlers"))
      try await trial.journal.waitFor("the second death", after: second.sequence) {
        $0.reading(ProcessExited.self)?.address == PushesTrial.widgetExtension
      }
      // From then on it is not launched for its handlers, but for the timelines that it owes.
      try await trial.cluster.run("reload", "--all")
      let other = try await trial.journal.waitFor("a life for timelines alone", after: second.sequence) {
        $0.reading(SpawnProcess.self).map { $0.reason.contains("timeline") && !$0.reason.contains("push handlers") }
          ?? false
      }
      try await trial.journal.waitFor("the handlers are called in that life", after: other.sequence) {
        $0.id != second.id && $0.reading(TellPushHandlers.self) != nil
      }
    }
  }
}

extension PushesTrial {
  /// Sends a push that the push server hands over and that expires while the host is stopped. On a busy machine it may
  /// expire before it is handed over: then another one has more time.
  fileprivate func pushThatExpiresOnItsWay() async throws -> UUID {
    for seconds in [5.0, 20, 80] {
      let expiration = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + seconds)
      let push = try await push("--expiration", "\(Int(expiration.timeIntervalSince1970))")
      let end = try await journal.waitFor("push \(push) is handed over or has expired") {
        guard let logged = $0.reading(PushLogged.self), logged.uniqueID == push else { return false }
        return [.sent, .expired].contains(logged.station.name)
      }
      guard end.reading(PushLogged.self)?.station.name == .sent else { continue }
      try await Task.sleep(for: .seconds(max(0, expiration.timeIntervalSinceNow)))  // it expires
      return push
    }
    throw LabError("no push was handed over before it expired")
  }
}
