// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// `widgetlab diagnose` on authors who handle the events of background sessions wrongly and, in the same cluster, on
/// authors who handle them correctly. The comment of each test names where the mistake was found.
@Suite(.live, .timeLimit(.live)) struct `Live diagnoses of background session events` {
  // hadrienbbt/frek, y2kpaulh/Meal, Zentik-notifier/frontend, iAmericanBoy/TDWidgets: a handler that calls nothing, or
  // only reloads; pitfall 22.
  @Test
  func `diagnose reports a handler that only reloads, but not one that keeps and calls the completion`() async throws {
    try await TrapFixture.run(22, suspendAfter: 0.2) { fixture in
      try await fixture.beginAndSleep()
      fixture.release()
      try await fixture.right.acknowledged()
      try await fixture.wrong.handlerCalled()
      try await fixture.advance(TrapFixture.overTheDeadline)
      let earned = try await fixture.cluster.expect("completion-never-called", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.subject == "session com.example.Wrong.Widget.session")
      // The line in the tail, and the exit code for a script.
      let tail = try await fixture.cluster.run("tail", "--no-follow", "--color", "never")
      #expect(tail.contains("? error completion-never-called: extension/com.example.Wrong.Widget"))
      let failing = try await fixture.cluster.attempt(["diagnose", "completion-never-called"])
      #expect(failing.status == 1)
      #expect(failing.output.contains("error completion-never-called"))
      #expect(try await fixture.cluster.attempt(["diagnose", "same-identifier"]).status == 0)
    }
  }

  // A shared client with one completion, in a bundle of two widgets that match; pitfall 24.
  @Test
  func `diagnose reports two widgets that share one completion variable, but not two that use a list`() async throws {
    try await TrapFixture.run(24, suspendAfter: 0.2, environment: ["TRIAL_WIDGETS: 2"]) { fixture in
      try await fixture.beginAndSleep()
      fixture.release()
      try await fixture.right.acknowledged()
      try await fixture.wrong.handlerCalled()
      try await fixture.advance(TrapFixture.overTheDeadline)
      try await fixture.cluster.expect("completion-of-one-handler-missing", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // Apple's developer forums, thread 654464: the file is downloaded and the delegate is not called; traps 8 and 23.
  @Test(arguments: [8, 23])
  func `diagnose reports a handler that does not recreate the session, but not one that does`(trap: Int) async throws {
    try await TrapFixture.run(trap) { fixture in
      try await fixture.beginAndDie()
      fixture.release()
      try await fixture.right.acknowledged()
      try await fixture.wrong.handlerCalled()
      if trap == 8 { try await fixture.advance(TrapFixture.overTheDeadline) }
      try await fixture.cluster.expect("session-never-recreated", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // olibo1zeemoni/EmojiRanger, Littleor/iWidget issue 5: the modifier is left out or commented out; pitfall 26.
  @Test
  func `diagnose reports a download in an extension without a handler, but not in one with a handler`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in
      LocalServer.Reply(body: Data(count: 1000), holdsAfter: 10)
    }
    try await MistakeFixture.run("handler", answer: answer) { fixture in
      try await fixture.reload()
      for author in [fixture.wrong, fixture.right] {
        try await author.progress(.started)
        try await author.shows("news to come")
        try await author.kill()
      }
      for _ in 1...2 { fixture.server.release() }
      try await fixture.right.acknowledged()
      try await fixture.cluster.expect("events-without-handler", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // andr3a88/iOS-Widget, corkine/cyberMeSwift: the only download is begun inside the handler, whose identifier is
  // compared with the kind.
  @Test(.rule("DIAGNOSIS-09"))
  func `diagnose notes an extension whose handler begins its only download, but not one whose provider begins it`()
    async throws
  {
    try await MistakeFixture.run("fed") { fixture in
      try await fixture.reload()
      try await fixture.right.shows("news to come")
      for author in [fixture.wrong, fixture.right] { try await author.state("suspended") }
      let earned = try await fixture.cluster.expect("handler-without-session", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.severity == "note")
      #expect(try await fixture.cluster.attempt(["diagnose", "handler-without-session"]).status == 0)
      #expect(
        try await fixture.cluster.attempt(["diagnose", "handler-without-session", "--fail-on", "note"]).status == 1)
    }
  }

  // A chain of downloads, each begun when the previous one has finished, as in several published apps; pitfall 5.
  @Test(.rule("DIAGNOSIS-08"))
  func `diagnose reports a download that is begun inside the handler, but not downloads that are begun earlier`()
    async throws
  {
    try await TrapFixture.run(5, suspendAfter: 0.2) { fixture in
      try await fixture.beginAndSleep()
      fixture.release(10)
      try await fixture.right.acknowledged()
      try await fixture.wrong.progress(.waiting, task: 2)
      try await fixture.cluster.expect("download-in-events-handler", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // The file is kept for later, or read in a Task or on the main queue; pitfall 9.
  @Test(.rule("DIAGNOSIS-10"))
  func `diagnose reports a file that is read after the delegate method returns, but not one that is moved inside it`()
    async throws
  {
    try await TrapFixture.run(9, path: "/") { fixture in
      try await fixture.reload()
      try await fixture.wrong.prints("could not be read")
      try await fixture.right.shows("20000 bytes")
      try await fixture.cluster.expect("file-read-too-late", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // Pitfalls 16 and 9: code that leaves the server's error body in place has not forgotten the file.
  @Test(.rule("DIAGNOSIS-10"))
  func `diagnose does not report a file that is left in place because the server answered 404`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("not found", 404) }
    try await TrapFixture.run(16, path: "/", answer: answer) { fixture in
      try await fixture.reload()
      try await fixture.right.prints("the server answered 404")
      try await fixture.right.acknowledged()
      #expect(try await fixture.cluster.diagnoses().allSatisfy { $0.code != "file-read-too-late" })
    }
  }

  // aws-amplify/aws-sdk-ios issue 810, home-assistant/iOS issue 777: one identifier for app and extension; pitfall 1.
  @Test(.rule("BUNDLE-01"))
  func `diagnose reports one session identifier for app and extension, but not one of the bundle for each`()
    async throws
  {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapFixture.run(1, path: "/", apps: apps) { fixture in
      for bundle in apps.keys.sorted() {
        try await fixture.cluster.run("app", "open", bundle)
        try await fixture.app(bundle).prints("came \(TrapFixture.size)")
      }
      try await fixture.reload()
      try await fixture.right.shows("20000 bytes")
      let earned = try await fixture.cluster.expect("same-identifier", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.what.contains("app/com.example.Wrong has it open"))
    }
  }

  // The app group of the Xcode project is not in widgetlab.yaml: appGroups is empty in the example of authors.md.
  @Test(.rule("DEFAULTS-14"))
  func `diagnose reports defaults of an app group that is not the author's, but not those of the author's group`()
    async throws
  {
    try await MistakeFixture.run("group") { fixture in
      try await fixture.reload()
      try await fixture.right.shows("saved")
      try await fixture.wrong.shows("saved")
      let earned = try await fixture.cluster.expect("foreign-app-group", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.subject == "suite group.com.example.Forgotten")
    }
  }

  @Test(.rule("PROCESS-26")) func `a container of another extension cannot be opened, which is reported`() async throws
  {
    try await MistakeFixture.run("container") { fixture in
      try await fixture.reload()
      try await fixture.right.shows("listed")
      try await fixture.wrong.shows("error 257")
      let earned = try await fixture.cluster.expect("foreign-container", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.subject == "container of com.example.Right.Widget")
    }
  }

  @Test(.rule("DIAGNOSIS-11", "SESSION-17"))
  func `what an author's code uses and the device does not simulate is reported once, with its name`() async throws {
    try await MistakeFixture.run("unsimulated") { fixture in
      for _ in 1...2 { try await fixture.reload() }
      let earned = try await fixture.cluster.expect("not-simulated", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.severity == "note")
      var subjects: [String] = []
      try await fixture.cluster.eventually("both are reported") {
        let found = try await fixture.cluster.diagnoses().filter { $0.code == "not-simulated" }
        #expect(found.allSatisfy { $0.times == 1 }, "once in a process")
        subjects = found.map(\.subject).sorted()
        return subjects.count == 2
      }
      #expect(subjects == ["isLuminanceReduced", "multipathServiceType"])
    }
  }

  @Test(.rule("INLINE-24", "DIAGNOSIS-13", "PROCESS-28"))
  func `diagnose reports a synchronous load of a URL, but not an asynchronous one`() async throws {
    try await MistakeFixture.run("blocking") { fixture in
      try await fixture.reload()
      let count = MistakeFixture.news.utf8.count
      try await fixture.wrong.shows("\(count) \(count) true 18 Version 18.0")
      try await fixture.right.shows("news")
      let earned = try await fixture.cluster.expect("blocking-load", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.subject == "127.0.0.1")
      #expect(earned.what.contains("which blocks getTimeline"))
    }
  }

  @Test(.rule("DIAGNOSIS-12"))
  func `code that is compiled for a phone and left out here is reported with its file and line`() async throws {
    try await MistakeFixture.run("unsimulated") { fixture in
      for _ in 1...2 { try await fixture.reload() }
      try await fixture.cluster.eventually("the code of both processes is reported") {
        let found = try await fixture.cluster.diagnoses().filter { $0.code == "code-left-out" }
        #expect(found.allSatisfy { $0.times == 1 && $0.severity == "note" }, "once for each build")
        #expect(found.allSatisfy { $0.subject == "Sources/Testing/FixtureHandlers/Mistakes/LeftOut.swift" })
        #expect(found.allSatisfy { $0.what == "line 5: #if os(iOS)" })
        return Set(found.map(\.process)) == [fixture.wrong.owner.short, fixture.right.owner.short]
      }
    }
  }

  // EkoLabs/react-native-background-downloader issue 24; pitfall 2.
  @Test func `diagnose reports a session without a shared container, but not one with it`() async throws {
    try await TrapFixture.run(2, path: "/") { fixture in
      try await fixture.reload()
      try await fixture.right.shows("20000 bytes")
      try await fixture.cluster.expect("no-shared-container", of: fixture.wrong, notOf: fixture.right)
    }
  }
}
