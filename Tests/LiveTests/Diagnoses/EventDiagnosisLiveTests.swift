import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What `widgetlab diagnose` says of authors who handle the events of background sessions wrongly, and of those beside them
/// who do it right. Each names where the mistake was seen.
@Suite(.live, .timeLimit(.live)) struct `Diagnoses of events:` {
  // hadrienbbt/frek, y2kpaulh/Meal, Zentik-notifier/frontend, iAmericanBoy/TDWidgets: a handler that calls nothing, or only
  // reloads; trap 22.
  @Test func `a handler that only reloads never completes, and one that keeps the completion does`() async throws {
    try await TrapTrial.run(22, suspendAfter: 0.2) { trial in
      try await trial.beginAndSleep()
      trial.release()
      try await trial.right.acknowledged()
      try await trial.advance(TrapTrial.overTheDeadline)
      let earned = try await trial.cluster.expect("completion-never-called", of: trial.wrong, notOf: trial.right)
      #expect(earned.subject == "session com.example.Trial.widget")
      // Where it is printed as it happens, and what a script is told.
      let tail = try await trial.cluster.run("tail", "--no-follow", "--color", "never")
      #expect(tail.contains("? error completion-never-called: extension/com.example.Wrong.Widget"))
      let failing = try await trial.cluster.attempt(["diagnose", "completion-never-called"])
      #expect(failing.status == 1)
      #expect(failing.output.contains("error completion-never-called"))
      #expect(try await trial.cluster.attempt(["diagnose", "same-identifier"]).status == 0)
    }
  }

  // A shared client with one completion, in a bundle of two widgets that match; trap 24.
  @Test func `two widgets with one variable lose a completion, and two with a list do not`() async throws {
    try await TrapTrial.run(24, suspendAfter: 0.2, environment: ["TRIAL_WIDGETS: 2"]) { trial in
      try await trial.beginAndSleep()
      trial.release()
      try await trial.right.acknowledged()
      try await trial.advance(TrapTrial.overTheDeadline)
      try await trial.cluster.expect("completion-of-one-handler-missing", of: trial.wrong, notOf: trial.right)
    }
  }

  // Apple's developer forums, thread 654464: a file that is downloaded, and a delegate that is silent; traps 8 and 23.
  @Test(arguments: [8, 23]) func `a handler that does not make the session, and one that does`(trap: Int) async throws {
    try await TrapTrial.run(trap) { trial in
      try await trial.beginAndDie()
      trial.release()
      try await trial.right.acknowledged()
      try await trial.wrong.handlerCalled()
      if trap == 8 { try await trial.advance(TrapTrial.overTheDeadline) }
      try await trial.cluster.expect("session-never-recreated", of: trial.wrong, notOf: trial.right)
    }
  }

  // olibo1zeemoni/EmojiRanger, Littleor/iWidget issue 5: the modifier is left out or commented out; trap 26.
  @Test func `a download without a handler, and one with it`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in
      LocalServer.Reply(body: Data(count: 1000), holdsAfter: 10)
    }
    try await MistakeTrial.run("handler", answer: answer) { trial in
      try await trial.reload()
      for author in [trial.wrong, trial.right] {
        try await author.progress(.started)
        try await author.shows("news to come")
        try await author.kill()
      }
      for _ in 1...2 { trial.server.release() }
      try await trial.right.acknowledged()
      try await trial.cluster.expect("events-without-handler", of: trial.wrong, notOf: trial.right)
    }
  }

  // andr3a88/iOS-Widget, corkine/cyberMeSwift: the only download is begun inside the handler, which is compared with the kind.
  @Test func `a handler that begins the only download, and one whose download the provider begins`() async throws {
    try await MistakeTrial.run("fed") { trial in
      try await trial.reload()
      try await trial.right.shows("news to come")
      for author in [trial.wrong, trial.right] { try await author.state("suspended") }
      let earned = try await trial.cluster.expect("handler-without-session", of: trial.wrong, notOf: trial.right)
      #expect(earned.severity == "note")
      #expect(try await trial.cluster.attempt(["diagnose", "handler-without-session"]).status == 0)
      #expect(
        try await trial.cluster.attempt(["diagnose", "handler-without-session", "--fail-on", "note"]).status == 1)
    }
  }

  // A chain of downloads, each begun when the last one has come, as in several apps of the field; trap 5.
  @Test func `a download that is begun inside the handler, and downloads that are begun before`() async throws {
    try await TrapTrial.run(5, suspendAfter: 0.2) { trial in
      try await trial.beginAndSleep()
      trial.release(10)
      try await trial.right.acknowledged()
      try await trial.wrong.progress(.waiting, task: 2)
      try await trial.cluster.expect("download-in-events-handler", of: trial.wrong, notOf: trial.right)
    }
  }

  // The file is kept for later, or read in a Task or on the main queue; trap 9.
  @Test func `a file that is read when the method has returned, and one that is moved in it`() async throws {
    try await TrapTrial.run(9, path: "/") { trial in
      try await trial.reload()
      try await trial.wrong.says("could not be read")
      try await trial.right.shows("20000 bytes")
      try await trial.cluster.expect("file-read-too-late", of: trial.wrong, notOf: trial.right)
    }
  }

  // Traps 16 and 9: who leaves the server's words of its trouble where they are has not forgotten the file.
  @Test func `a file that is left since the server answered 404 is no mistake`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("not found", 404) }
    try await TrapTrial.run(16, path: "/", answer: answer) { trial in
      try await trial.reload()
      try await trial.right.says("the server answered 404")
      try await trial.right.acknowledged()
      #expect(try await trial.cluster.diagnoses().allSatisfy { $0.code != "file-read-too-late" })
    }
  }

  // aws-amplify/aws-sdk-ios issue 810, home-assistant/iOS issue 777: one identifier for app and extension; trap 1.
  @Test func `one identifier for app and extension, and one for each`() async throws {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapTrial.run(1, path: "/", apps: apps) { trial in
      for bundle in apps.keys.sorted() {
        try await trial.cluster.run("app", "open", bundle)
        try await trial.app(bundle).says("came \(TrapTrial.size)")
      }
      try await trial.reload()
      try await trial.right.shows("20000 bytes")
      let earned = try await trial.cluster.expect("same-identifier", of: trial.wrong, notOf: trial.right)
      #expect(earned.what.contains("app/com.example.Wrong has it open"))
    }
  }

  // EkoLabs/react-native-background-downloader issue 24; trap 2.
  @Test func `a session without a shared container, and one with it`() async throws {
    try await TrapTrial.run(2, path: "/") { trial in
      try await trial.reload()
      try await trial.right.shows("20000 bytes")
      try await trial.cluster.expect("no-shared-container", of: trial.wrong, notOf: trial.right)
    }
  }
}
