// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Each form of an author's handler for background events, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Background session events over real processes` {
  @Test(.rule("DELIVERY-29"), arguments: [("task", "all"), ("task-of-one", "one"), ("task-matching", "matching")])
  func `a background task handles the session's events, and its return completes them`(
    form: String, name: String
  ) async throws {
    try await HandlersFixture.run("background task \(form)", extensionForm: form) { fixture in
      try await fixture.begin()
      try await fixture.suspended()
      try await fixture.acknowledged()
      #expect(
        try await fixture.calls(of: LiveFixture.widgetExtension) == [
          "handler 1", "didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents", "completion 0",
        ])
      let returned = try await fixture.prints("returned \(name)")
      try await fixture.state("suspended", after: returned.sequence)
      try await fixture.prints("\(name) runs off the main thread")
      let lines = ["called \(name) \(LiveFixture.session)", "returned \(name)"]
      #expect(try await fixture.lines(of: LiveFixture.widgetExtension) == lines)
    }
  }

  @Test(.rule("DELIVERY-25", "DELIVERY-26", "DELIVERY-29"))
  func `the events call every matching background task of a bundle and need the return of each`() async throws {
    try await HandlersFixture.run("several tasks", extensionForm: "tasks") { fixture in
      try await fixture.begin()
      try await fixture.suspended()
      try await fixture.acknowledged()
      let calls = try await fixture.calls(of: LiveFixture.widgetExtension)
      #expect(calls.first == "handler 3")
      #expect(calls.filter { $0.hasPrefix("completion") } == ["completion 2", "completion 1", "completion 0"])
      for name in ["one", "all", "matching"] { try await fixture.prints("returned \(name)") }
      let called = try await fixture.lines(of: LiveFixture.widgetExtension).filter { $0.hasPrefix("called") }
      #expect(Set(called) == Set(["one", "all", "matching"].map { "called \($0) \(LiveFixture.session)" }))
    }
  }

  @Test(.rule("DELIVERY-30")) func `a background task is cancelled when its time runs out`() async throws {
    let settings = ["completionDeadline: 300", "completionGrace: 300"]
    try await HandlersFixture.run("cancelled task", extensionForm: "hanging", settings: settings) { fixture in
      try await fixture.begin()
      try await fixture.suspended()
      try await fixture.journal.waitFor("all events are delivered") {
        $0.reading(DelegateCalled.self)?.method == "urlSessionDidFinishEvents"
      }
      try await fixture.cluster.run("clock", "advance", "301s")
      try await fixture.acknowledged()
      let entries = try await fixture.journal.all()
      let expired = try #require(entries.first { $0.kind == ExpireEvents.kind.name })
      let finish = try #require(
        entries.first { $0.reading(DelegateCalled.self)?.method == "urlSessionDidFinishEvents" })
      let cancelled = try await fixture.prints("the action is cancelled")
      let returns = try await fixture.prints("the action returns")
      #expect(finish.sequence < expired.sequence)
      #expect(expired.sequence < cancelled.sequence && expired.sequence < returns.sequence)
      let exits = entries.filter { $0.reading(ProcessExited.self)?.address == LiveFixture.widgetExtension }
      #expect(exits.isEmpty, "no process is evicted")
    }
  }

  @Test(.rule("DELIVERY-25", "DELIVERY-26"))
  func `the events call every matching widget of a bundle and need the completion of each`() async throws {
    try await HandlersFixture.run("several handlers", extensionForm: "several") { fixture in
      try await fixture.begin()
      try await fixture.suspended()
      try await fixture.acknowledged()
      let calls = try await fixture.calls(of: LiveFixture.widgetExtension)
      #expect(calls.first == "handler 4")
      let lines = ["string Trial", "bare", "nil", "closure"].map { "called \($0) \(LiveFixture.session)" }
      try await fixture.prints(lines[3])
      #expect(try await fixture.lines(of: LiveFixture.widgetExtension) == lines)
      #expect(calls.filter { $0.hasPrefix("completion") } == (0...3).reversed().map { "completion \($0)" })
    }
  }

  @Test(.rule("DELIVERY-27"))
  func `a new process finds a handler before it builds a view, and has lost what its widget stored`() async throws {
    try await HandlersFixture.run("keeping", extensionForm: "keeping") { fixture in
      try await fixture.begin()
      // It has built views for this timeline.
      try await fixture.stored("nothing yet")
      try await fixture.process(1).signal(SIGKILL)
      try await fixture.release()
      try await fixture.acknowledged()
      try await fixture.prints("called after 0 views: \(LiveFixture.session)")
    }
  }

  @Test(.rule("DELIVERY-28"))
  func `events that match no handler wait until a process creates the session`() async throws {
    try await HandlersFixture.run("no handler", extensionForm: "none") { fixture in
      try await fixture.begin()
      let process = try await fixture.process(1)
      try process.signal(SIGKILL)
      try await fixture.release()
      let unclaimed = try await fixture.journal.waitFor("the events are unclaimed") {
        $0.reading(SessionUnclaimed.self)?.owner == LiveFixture.widgetExtension
      }
      try fixture.set("open")
      try await fixture.cluster.run("reload", LiveFixture.kind)
      try await fixture.acknowledged()
      let calls = try await fixture.journal.all().filter { $0.sequence > unclaimed.sequence }
        .compactMap { $0.reading(DelegateCalled.self)?.method }
      #expect(calls == ["didFinishDownloadingTo", "didCompleteWithError"], "delivered without a wake")
      #expect(try await fixture.journal.all().allSatisfy { $0.kind != HandlerCalled.kind.name })
    }
  }

  @Test(.rule("DELIVERY-20"))
  func `tasks that end before the first wake is completed are delivered at once, without a second wake`() async throws {
    // Tasks that it creates during the wake would otherwise wait for the limiter.
    try await HandlersFixture.run("second wake", extensionForm: "chain", settings: ["limiterFirst: 0"]) { fixture in
      try await fixture.begin()
      try await fixture.suspended()
      try await fixture.acknowledged(2)
      let calls = try await fixture.calls(of: LiveFixture.widgetExtension)
      #expect(
        calls.filter { $0 != "completion 0" } == [
          "handler 1", "didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents",
          "didFinishDownloadingTo", "didCompleteWithError",
        ])
      // The completion is called on the main thread, inside a method whose return is recorded on another thread.
      #expect(calls.suffix(2).contains("completion 0"))
    }
  }

  @Test(.rule("DELIVERY-32"))
  func `events whose completion is never called are redelivered only a limited number of times`() async throws {
    let settings = ["completionDeadline: 0.3", "completionGrace: 0.2", "redeliverAfter: 0.2", "redeliveries: 2"]
    try await HandlersFixture.run("never completed", extensionForm: "never", settings: settings) { fixture in
      try await fixture.begin()
      try await fixture.suspended()
      for generation in UInt32(1)...2 {
        let end = try await fixture.ended(generation)
        let absent = try await fixture.state("absent", after: end.sequence)
        #expect(
          absent.reading(ProcessState.self)?.why
            == "evicted: did not call the completion for \(LiveFixture.session) within 0.5 s")
      }
      // A restarted host launches at once every owner that it has events for.
      let last = try await fixture.journal.all().last?.sequence ?? 0
      try await fixture.cluster.run("kill", "host")
      try await fixture.journal.waitFor("the new host has the agent's list of child processes", after: last) {
        $0.kind == AgentStarted.kind.answered(.acknowledged).name || $0.kind == ListProcesses.kind.answered(.ok).name
      }
      try await fixture.cluster.run("reload", LiveFixture.kind, "--timeout", "120")
      let spawns = try await fixture.journal.all().filter { $0.sequence > last }
        .compactMap { $0.reading(SpawnProcess.self) }
      #expect(spawns.filter { $0.address == LiveFixture.widgetExtension }.map(\.reason) == ["timeline"])
      #expect(
        try await fixture.journal.all().filter { $0.sequence > last && $0.kind == HandlerCalled.kind.name }.isEmpty)
    }
  }

  @Test(.rule("DELIVERY-13"))
  func `a running owner receives each task's events as the task ends, without a handler call`() async throws {
    let urls = ["/figures?size=1000&seed=quick", "/figures?size=196608&holdAt=65536&seed=slow"]
    try await HandlersFixture.run("running owner", extensionForm: "task", urls: urls, suspendAfter: 60) { fixture in
      try await fixture.begin()
      try await fixture.acknowledged(1)
      try await fixture.cluster.post("/figures/release", json: "{}")
      try await fixture.acknowledged(2)
      let entries = try await fixture.journal.all()
      let first = try #require(entries.first { $0.reading(DelegateCalled.self)?.method == "didCompleteWithError" })
      let slow = try #require(entries.last { $0.reading(TransferProgress.self)?.step == .finished })
      #expect(first.reading(DelegateCalled.self)?.taskIdentifier == 1)
      #expect(first.sequence < slow.sequence, "delivered while the other one loads")
      #expect(
        try await fixture.calls(of: LiveFixture.widgetExtension)
          == ["didFinishDownloadingTo", "didCompleteWithError", "didFinishDownloadingTo", "didCompleteWithError"])
    }
  }

  @Test(.rule("DELIVERY-22"))
  func `the delegate calls precede the handler call when observedEventOrder is set`() async throws {
    let settings = ["observedEventOrder: true"]
    try await HandlersFixture.run("observed order", extensionForm: "several", settings: settings) { fixture in
      try await fixture.begin()
      try await fixture.suspended()
      try await fixture.acknowledged()
      #expect(
        try await fixture.calls(of: LiveFixture.widgetExtension) == [
          "didFinishDownloadingTo", "didCompleteWithError", "urlSessionDidFinishEvents", "handler 4", "completion 3",
          "completion 2", "completion 1", "completion 0",
        ])
    }
  }

  @Test(.rule("DELIVERY-12"))
  func `an app's events reach its scene and its delegate, and its extension's events reach the extension`()
    async throws
  {
    try await HandlersFixture.run("app and extension", extensionForm: "task") { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("app", "open")
      try await fixture.progress(of: LiveFixture.app, .started)
      try await fixture.cluster.run("kill", "app")
      try await fixture.suspended()
      try await fixture.acknowledged()
      try await fixture.acknowledged(owner: LiveFixture.app)
      let ofApp = try await fixture.calls(of: LiveFixture.app)
      #expect(ofApp.first == "handler 2")
      for name in ["scene", "delegate"] { try await fixture.prints("called \(name) \(HandlersFixture.appSession)") }
      #expect(ofApp.filter { $0.hasPrefix("completion") } == ["completion 1", "completion 0"])
      try await fixture.prints("returned all")
      #expect(
        try await fixture.lines(of: LiveFixture.widgetExtension) == [
          "called all \(LiveFixture.session)", "returned all",
        ])
      for entry in try await fixture.journal.all() where entry.kind == SessionEvents.kind.name {
        #expect([LiveFixture.app, LiveFixture.widgetExtension].contains(entry.envelope.header.destination))
      }
    }
  }

  @Test(.rule("TIMELINE-25"))
  func `a request that hangs in getSnapshot fails the snapshot at its deadline, and the last good entry stays`()
    async throws
  {
    // The download does not end during the test, so it causes no timeline.
    let urls = ["/figures?size=524288&bytesPerSecond=512&seed=endless"]
    try await HandlersFixture.run("halted snapshot", extensionForm: "halted", urls: urls) { fixture in
      #expect(try await fixture.cluster.run("snapshot", LiveFixture.kind) == "snapshot\n")
      try await fixture.stored("a good entry")
      let before = try await fixture.journal.all().last?.sequence ?? 0
      async let askedSnapshot = fixture.cluster.attempt(["snapshot", LiveFixture.kind])
      try await fixture.expireTimeline(after: before)
      let answer = try await askedSnapshot
      #expect(answer.status != 0)
      #expect(answer.errors.contains("no snapshot within 30 s: the extension is suspended"))
      try await fixture.state("suspended")
      let stored = try await fixture.journal.all().compactMap { $0.reading(TimelineStored.self) }
      #expect(stored.map(\.text) == [["a good entry"]], "the last good entry stays")
    }
  }

  @Test(.rule("TIMELINE-24"))
  func `a background download delivers what a request that hangs in getTimeline could not`() async throws {
    try await HandlersFixture.run("halted request", extensionForm: "halted") { fixture in
      try await fixture.cluster.run("reload", LiveFixture.kind)
      try await fixture.stored("a good entry")
      // While the provider is stopped the download does not end, and the extension gets no other request.
      let provider = LabProcess(pid: try #require(fixture.cluster.pid(of: "provider")))
      try provider.signal(SIGSTOP)
      let before = try await fixture.journal.all().last?.sequence ?? 0
      try await fixture.begin()
      try await fixture.expireTimeline(after: before)
      let failed = try await fixture.journal.waitFor("the reload has failed") { $0.kind == ReloadFailed.kind.name }
      #expect(
        failed.reading(ReloadFailed.self)?.reason
          == "no timeline within 30 s: the extension is suspended, and the last timeline stays")
      try await fixture.state("suspended", after: failed.sequence)
      let storedTimelines = try await fixture.journal.all().compactMap { $0.reading(TimelineStored.self) }
      #expect(storedTimelines.map(\.text) == [["a good entry"]], "the last good entry stays")
      try provider.signal(SIGCONT)
      try await fixture.release()
      try await fixture.acknowledged()
      try await fixture.stored("\(HandlersFixture.size) bytes")
      #expect(try await fixture.calls(of: LiveFixture.widgetExtension).first == "handler 1")
    }
  }
}
