import Cluster
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What an author says to do with background events, in each form, over real processes.
@Suite(.live, .timeLimit(.live)) struct `The events of a background session, live,` {
  @Test(arguments: [("task", "all"), ("task-of-one", "one"), ("task-matching", "matching")])
  func `are handled by a background task, whose return is the completion`(form: String, name: String) async throws {
    try await HandlersTrial.run("background task \(form)", extensionForm: form) { trial in
      try await trial.begin()
      try await trial.suspended()
      try await trial.acknowledged()
      #expect(
        try await trial.calls(of: Trial.widgetExtension) == [
          "handler 1", "didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents", "completion 0",
        ])
      try await trial.says("returned \(name)")
      let lines = ["called \(name) \(Trial.session)", "returned \(name)"]
      #expect(try await trial.lines(of: Trial.widgetExtension) == lines)
    }
  }

  @Test func `have their background task cancelled when its time runs out`() async throws {
    let settings = ["completionDeadline: 1", "completionGrace: 30"]
    try await HandlersTrial.run("cancelled task", extensionForm: "hanging", settings: settings) { trial in
      try await trial.begin()
      try await trial.suspended()
      try await trial.acknowledged()
      let entries = try await trial.journal.all()
      let expired = try #require(entries.first { $0.kind == ExpireEvents.kind.name })
      let finish = try #require(
        entries.first { $0.reading(DelegateCalled.self)?.method == "urlSessionDidFinishEvents" })
      let cancelled = try await trial.says("the action is cancelled")
      let returns = try await trial.says("the action returns")
      #expect(finish.sequence < expired.sequence)
      #expect(expired.sequence < cancelled.sequence && expired.sequence < returns.sequence)
      let exits = entries.filter { $0.reading(ProcessExited.self)?.address == Trial.widgetExtension }
      #expect(exits.isEmpty, "nobody is evicted")
    }
  }

  @Test func `call every matching widget of a bundle, and need the completion of each`() async throws {
    try await HandlersTrial.run("several handlers", extensionForm: "several") { trial in
      try await trial.begin()
      try await trial.suspended()
      try await trial.acknowledged()
      let calls = try await trial.calls(of: Trial.widgetExtension)
      #expect(calls.first == "handler 3")
      let lines = ["string Trial", "bare", "nil"].map { "called \($0) \(Trial.session)" }
      try await trial.says(lines[2])
      #expect(try await trial.lines(of: Trial.widgetExtension) == lines)
      #expect(calls.filter { $0.hasPrefix("completion") } == ["completion 2", "completion 1", "completion 0"])
    }
  }

  @Test func `stay where no handler matches, until a process creates the session`() async throws {
    try await HandlersTrial.run("no handler", extensionForm: "none") { trial in
      try await trial.begin()
      let process = try await trial.process(1)
      try process.signal(SIGKILL)
      let unclaimed = try await trial.journal.waitFor("the events are unclaimed") {
        $0.reading(SessionUnclaimed.self)?.owner == Trial.widgetExtension
      }
      try trial.set("open")
      try await trial.cluster.run("reload", Trial.kind)
      try await trial.acknowledged()
      let told = try await trial.journal.all().filter { $0.sequence > unclaimed.sequence }
        .compactMap { $0.reading(DelegateCalled.self)?.method }
      #expect(told == ["didFinishDownloadingTo", "didCompleteWithError"], "told, and nobody was woken for it")
      #expect(try await trial.journal.all().allSatisfy { $0.kind != HandlerCalled.kind.name })
    }
  }

  @Test func `of tasks that end before the first wake is completed are told at once, with no second wake`() async throws
  {
    // What it creates for the wake itself would wait for the limiter.
    try await HandlersTrial.run("second wake", extensionForm: "chain", settings: ["limiterFirst: 0"]) { trial in
      try await trial.begin()
      try await trial.suspended()
      try await trial.acknowledged(2)
      let calls = try await trial.calls(of: Trial.widgetExtension)
      #expect(
        calls.filter { $0 != "completion 0" } == [
          "handler 1", "didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents",
          "didFinishDownloadingTo", "didCompleteWithError",
        ])
      // It is called on the main thread, from the method whose return is recorded on another.
      #expect(calls.suffix(2).contains("completion 0"))
    }
  }

  @Test func `whose completion is never called do not loop for ever`() async throws {
    let settings = ["completionDeadline: 0.3", "completionGrace: 0.2", "redeliverAfter: 0.2", "redeliveries: 2"]
    try await HandlersTrial.run("never completed", extensionForm: "never", settings: settings) { trial in
      try await trial.begin()
      try await trial.suspended()
      for generation in UInt32(1)...2 {
        let end = try await trial.ended(generation)
        let absent = try await trial.state("absent", after: end.sequence)
        #expect(
          absent.reading(ProcessState.self)?.why
            == "evicted: did not call the completion for \(Trial.session) within 0.5 s")
      }
      // A host that comes back asks at once for all whom it has something for.
      let last = try await trial.journal.all().last?.sequence ?? 0
      try await trial.cluster.run("kill", "host")
      try await trial.journal.waitFor("the new host has heard of the agent's children", after: last) {
        $0.kind == AgentStarted.kind.answered(.acknowledged).name || $0.kind == ListProcesses.kind.answered(.ok).name
      }
      try await trial.cluster.run("reload", Trial.kind, "--timeout", "120")
      let spawns = try await trial.journal.all().filter { $0.sequence > last }
        .compactMap { $0.reading(SpawnProcess.self) }
      #expect(spawns.filter { $0.address == Trial.widgetExtension }.map(\.reason) == ["timeline"])
      #expect(try await trial.journal.all().filter { $0.sequence > last && $0.kind == HandlerCalled.kind.name }.isEmpty)
    }
  }

  @Test func `of each task reach a running owner as it ends, without its handler`() async throws {
    let urls = ["/figures?size=1000&seed=quick", "/figures?size=196608&bytesPerSecond=131072&seed=slow"]
    try await HandlersTrial.run("running owner", extensionForm: "task", urls: urls, suspendAfter: 60) { trial in
      try await trial.begin()
      try await trial.acknowledged(2)
      let entries = try await trial.journal.all()
      let first = try #require(entries.first { $0.reading(DelegateCalled.self)?.method == "didCompleteWithError" })
      let slow = try #require(entries.last { $0.reading(TransferProgress.self)?.step == .finished })
      #expect(first.reading(DelegateCalled.self)?.taskIdentifier == 1)
      #expect(first.sequence < slow.sequence, "told while the other is under way")
      #expect(
        try await trial.calls(of: Trial.widgetExtension)
          == ["didFinishDownloadingTo", "didCompleteWithError", "didFinishDownloadingTo", "didCompleteWithError"])
    }
  }

  @Test func `come before the handler where the setting wants what developers saw`() async throws {
    let settings = ["observedEventOrder: true"]
    try await HandlersTrial.run("observed order", extensionForm: "several", settings: settings) { trial in
      try await trial.begin()
      try await trial.suspended()
      try await trial.acknowledged()
      #expect(
        try await trial.calls(of: Trial.widgetExtension) == [
          "didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents", "handler 3", "completion 2",
          "completion 1", "completion 0",
        ])
    }
  }

  @Test func `of an app go to its scene and its delegate, and those of its extension to the extension`() async throws {
    try await HandlersTrial.run("app and extension", extensionForm: "task") { trial in
      try await trial.begin()
      try await trial.cluster.run("app", "open")
      try await trial.progress(of: Trial.app, .started)
      try await trial.cluster.run("kill", "app")
      try await trial.suspended()
      try await trial.acknowledged()
      try await trial.acknowledged(owner: Trial.app)
      let ofApp = try await trial.calls(of: Trial.app)
      #expect(ofApp.first == "handler 2")
      for name in ["scene", "delegate"] { try await trial.says("called \(name) \(HandlersTrial.appSession)") }
      #expect(ofApp.filter { $0.hasPrefix("completion") } == ["completion 1", "completion 0"])
      try await trial.says("returned all")
      #expect(
        try await trial.lines(of: Trial.widgetExtension) == ["called all \(Trial.session)", "returned all"])
      for entry in try await trial.journal.all() where entry.kind == SessionEvents.kind.name {
        #expect([Trial.app, Trial.widgetExtension].contains(entry.envelope.header.destination))
      }
    }
  }

  @Test func `are not waited for by a request in getSnapshot, which is halted half-way`() async throws {
    // The download does not end during the test, and so it brings no timeline.
    let urls = ["/figures?size=524288&bytesPerSecond=512&seed=endless"]
    try await HandlersTrial.run("halted snapshot", extensionForm: "halted", urls: urls) { trial in
      #expect(try await trial.cluster.run("snapshot", Trial.kind) == "snapshot\n")
      try await trial.cluster.run("reload", Trial.kind)
      try await trial.stored("a good entry")
      let before = try await trial.journal.all().last?.sequence ?? 0
      async let asked = trial.cluster.attempt(["snapshot", Trial.kind])
      try await trial.expireTimeline(after: before)
      let answer = try await asked
      #expect(answer.status != 0)
      #expect(answer.errors.contains("no snapshot within 30 s: the extension is halted half-way"))
      try await trial.state("suspended")
      let stored = try await trial.journal.all().compactMap { $0.reading(TimelineStored.self) }
      #expect(stored.map(\.text) == [["a good entry"]], "the last good entry stays")
    }
  }

  @Test func `bring what a request in getTimeline could not, which is halted half-way`() async throws {
    try await HandlersTrial.run("halted request", extensionForm: "halted") { trial in
      try await trial.cluster.run("reload", Trial.kind)
      try await trial.stored("a good entry")
      // While the provider is stopped the download does not end, and the extension is asked for nothing else.
      let provider = LabProcess(pid: try #require(trial.cluster.pid(of: "provider")))
      try provider.signal(SIGSTOP)
      let before = try await trial.journal.all().last?.sequence ?? 0
      try await trial.begin()
      try await trial.expireTimeline(after: before)
      let failed = try await trial.journal.waitFor("the extension is halted") { $0.kind == ReloadFailed.kind.name }
      #expect(
        failed.reading(ReloadFailed.self)?.reason
          == "no timeline within 30 s: the extension is halted half-way, and the last timeline stays")
      try await trial.state("suspended", after: failed.sequence)
      let stored = try await trial.journal.all().compactMap { $0.reading(TimelineStored.self) }
      #expect(stored.map(\.text) == [["a good entry"]], "the last good entry stays")
      try provider.signal(SIGCONT)
      try await trial.acknowledged()
      try await trial.stored("\(HandlersTrial.size) bytes")
      #expect(try await trial.calls(of: Trial.widgetExtension).first == "handler 1")
    }
  }
}

/// A cluster with the extension and the app that have each form of handler.
private struct HandlersTrial {
  /// Bytes of the usual file, which takes two seconds.
  static let size = 524_288
  /// Two living processes of an app have no session in common.
  static let appSession = "com.example.Trial.app"
  static let urls = ["/figures?size=\(size)&bytesPerSecond=262144&seed=handlers"]

  let cluster: LabCluster
  let journal: LabJournal

  static func run(
    _ name: String, extensionForm: String, urls: [String] = urls, suspendAfter: Double = 0.2, settings: [String] = [],
    _ body: @Sendable (HandlersTrial) async throws -> Void
  ) async throws {
    let all = urls.map { "${provider.url}\($0)" }.joined(separator: ",")
    let configuration = """
      device:
        name: \(Trial.device)
      appGroups:
        - \(Trial.group)
      apps:
        - bundle: com.example.Trial
          executable: TrialHandlers
          environment:
            TRIAL_FORM: app
            TRIAL_SESSION: \(appSession)
            TRIAL_URLS: \(all)
      extensions:
        - bundle: com.example.Trial.Widget
          executable: TrialHandlers
          environment:
            TRIAL_FORM: \(extensionForm)
            TRIAL_GROUP: \(Trial.group)
            TRIAL_URLS: \(all)
            TRIAL_INLINE_URL: ${provider.url}/figures?size=1048576&bytesPerSecond=1024&seed=inline
      provider:
        executable: provider-server
      settings:
        developerMode: true
        suspendAfter: \(suspendAfter)
        callDeadline: 60
      """
    let rounds = LiveTrait.rounds
    for _ in 1...rounds {
      let text = configuration + settings.map { "\n  \($0)" }.joined()
      try await LabCluster.with(name, configuration: text) { cluster in
        try await body(HandlersTrial(cluster: cluster, journal: cluster.journal))
      }
    }
  }

  /// Reloads the widget; returns when a download of it has begun.
  func begin() async throws {
    try await cluster.run("reload", Trial.kind)
    try await progress(of: Trial.widgetExtension, .started)
  }

  func set(_ name: String) throws {
    let path = "\(cluster.instance.device(Trial.device).group(Trial.group))/\(name)"
    guard FileManager.default.createFile(atPath: path, contents: nil) else { throw LabError("\(path) cannot be made") }
  }

  /// Moves the clock over the deadline of a timeline or snapshot that the extension is asked for.
  func expireTimeline(after sequence: UInt64) async throws {
    try await journal.waitFor("the extension is asked", after: sequence) { $0.reading(RequestTimeline.self) != nil }
    try await cluster.run("clock", "advance", "31s")
  }

  /// Returns when the extension is suspended.
  func suspended() async throws { try await state("suspended") }

  @discardableResult
  func state(_ state: String, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("the extension is \(state)", after: after) {
      let change = $0.reading(ProcessState.self)
      return change?.address == Trial.widgetExtension && change?.state == state
    }
  }

  @discardableResult
  func progress(of owner: Address, _ step: TransferProgress.Step) async throws -> LabEnvelope {
    try await journal.waitFor("\(step.rawValue): a download of \(owner.short)") {
      let progress = $0.reading(TransferProgress.self)
      return progress?.owner == owner && progress?.step == step
    }
  }

  /// Returns when so many deliveries have been acknowledged.
  func acknowledged(_ count: Int = 1, owner: Address = Trial.widgetExtension) async throws {
    try await cluster.eventually("\(owner.short) has acknowledged \(count)") {
      try await journal.all().count { $0.reading(SessionAcknowledged.self)?.owner == owner } == count
    }
  }

  func stored(_ text: String) async throws {
    try await journal.waitFor("the timeline says: \(text)") { $0.reading(TimelineStored.self)?.text == [text] }
  }

  @discardableResult
  func says(_ line: String) async throws -> LabEnvelope {
    try await journal.waitFor("it says: \(line)") { $0.reading(ProcessOutput.self)?.line == line }
  }

  func ended(_ generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("the end of generation \(generation) of the extension") {
      let exited = $0.reading(ProcessExited.self)
      return exited?.address == Trial.widgetExtension && exited?.generation == generation
    }
  }

  func process(_ generation: UInt32) async throws -> LabProcess {
    let birth = try await journal.waitFor("generation \(generation) of the extension was born") {
      let started = $0.reading(ProcessStarted.self)
      return started?.address == Trial.widgetExtension && started?.generation == generation
    }
    return LabProcess(pid: birth.reading(ProcessStarted.self)?.pid ?? 0)
  }

  /// What was called in an owner's lives, in order, as its runtime recorded it.
  func calls(of owner: Address) async throws -> [String] {
    try await journal.all().filter { $0.envelope.header.source == owner }.compactMap { entry in
      if let called = entry.reading(HandlerCalled.self) { return "handler \(called.matching)" }
      if let called = entry.reading(DelegateCalled.self) { return called.method }
      return entry.reading(CompletionCalled.self).map { "completion \($0.outstanding)" }
    }
  }

  /// What the author's handlers printed. It goes by the agent, so it may stand in the journal later than it was said.
  func lines(of owner: Address) async throws -> [String] {
    try await journal.all().compactMap { $0.reading(ProcessOutput.self) }.filter { $0.address == owner }.map(\.line)
      .filter { $0.hasPrefix("called ") || $0.hasPrefix("returned ") }
  }
}
