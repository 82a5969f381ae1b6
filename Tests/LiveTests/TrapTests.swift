import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Which session, made when, and for how long: what an author sees who does it wrong, and one who does it right.
@Suite(.live, .timeLimit(.live)) struct `Traps of sessions:` {
  @Test func `trap 1: the extension has the app's identifier, and its session is invalid with -996`() async throws {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapTrial.run(1, path: "/", apps: apps) { trial in
      for bundle in apps.keys.sorted() {
        try await trial.cluster.run("app", "open", bundle)
        try await trial.app(bundle).says("came \(TrapTrial.size)")
      }
      try await trial.reload()
      try await trial.wrong.says("completed 1 -996")
      try await trial.wrong.says("invalid -996")
      try await trial.right.shows("20000 bytes")
    }
  }

  @Test func `trap 2: an extension without a shared container has a session that is invalid with -995`() async throws {
    try await TrapTrial.run(2, path: "/") { trial in
      try await trial.reload()
      try await trial.wrong.says("completed 1 -995")
      try await trial.wrong.says("invalid -995")
      try await trial.right.shows("20000 bytes")
      #expect(try await trial.wrong.tasks() == 0, "the host hears of none")
    }
  }

  @Test func `trap 7: an app that does not make its session when it is woken hears nothing before it is opened`()
    async throws
  {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapTrial.run(7, apps: apps) { trial in
      let (wrong, right) = (trial.app("com.example.Wrong"), trial.app("com.example.Right"))
      for author in [wrong, right] {
        try await trial.cluster.run("app", "open", author.owner.bundleIdentifier ?? "")
        try await author.progress(.started)
        try await author.kill()
      }
      trial.release()
      try await right.acknowledged()
      #expect(try await right.calls().first == "handler")
      try await wrong.handlerCalled()
      #expect(try await wrong.calls() == ["handler"], "and the file is there")
      let opened = try await trial.journal.all().last?.sequence ?? 0
      try await trial.cluster.run("app", "open", "com.example.Wrong")
      let told = try await wrong.told("didFinishDownloadingTo")
      #expect(told.sequence > opened)
      try await wrong.says("came 20000")
      try await wrong.acknowledged()
    }
  }

  @Test func `trap 8: a session that is made in getTimeline alone hears nothing before the next reload`() async throws {
    try await TrapTrial.run(8) { trial in
      try await trial.beginAndDie()
      trial.release()
      try await trial.right.acknowledged()
      try await trial.right.shows("20000 bytes")
      try await trial.wrong.handlerCalled()
      #expect(try await trial.wrong.calls() == ["handler"])
      let asked = try await trial.journal.all().last?.sequence ?? 0
      try await trial.reload()
      #expect(try await trial.wrong.told("didFinishDownloadingTo").sequence > asked)
      try await trial.wrong.shows("20000 bytes")
    }
  }

  @Test func `trap 10: to await in a background session ends the process`() async throws {
    try await TrapTrial.run(10, path: "/") { trial in
      try await trial.reload()
      try await trial.wrong.says("Completion handler blocks are not supported in background sessions.")
      let end = try await trial.wrong.ended(1)
      guard case .signalled? = end.reading(ProcessExited.self)?.ending else {
        throw LabError("it ended otherwise: \(end)")
      }
      try await trial.right.shows("20000 bytes")
      #expect(try await trial.wrong.tasks() == 0)
    }
  }

  @Test func `trap 11: the delegate of a second session of one identifier is never called`() async throws {
    try await TrapTrial.run(11, path: "/") { trial in
      try await trial.reload()
      for task in 1...2 { try await trial.wrong.says("the first delegate has the file of task \(task)") }
      try await trial.wrong.says("already exists! Its delegate stays the first one.")
      #expect(try await trial.wrong.said().allSatisfy { !$0.hasPrefix("the second delegate") })
      try await trial.right.shows("20000 bytes")
      #expect(try await trial.right.said().allSatisfy { !$0.contains("already exists") })
    }
  }

  @Test func `trap 12: a task that is made in an invalidated session ends the process`() async throws {
    try await TrapTrial.run(12, path: "/") { trial in
      try await trial.reload()
      try await trial.wrong.says("invalid 0")
      let first = try await trial.right.says("the session is over")
      try await trial.reload()
      try await trial.wrong.says("Task created in a session that has been invalidated")
      try await trial.wrong.ended(1)
      try await trial.right.says("came 20000", after: first.sequence)
      try await trial.right.says("the session is over", after: first.sequence)
      #expect(try await trial.right.endings().isEmpty)
    }
  }

  @Test func `trap 13: who begins a download whenever none is listed downloads what has just come`() async throws {
    try await TrapTrial.run(13, suspendAfter: 0.2) { trial in
      try await trial.beginAndSleep()
      trial.release()
      for author in [trial.wrong, trial.right] { try await author.shows("20000 bytes") }
      try await trial.right.acknowledged()
      #expect(try await trial.wrong.tasks() == 2)
      #expect(try await trial.right.tasks() == 1)
    }
  }

  @Test func `trap 21: what a released extension prints, and what is said of it, is in the tail`() async throws {
    try await TrapTrial.run(11, path: "/") { trial in
      try await trial.reload()
      try await trial.wrong.says("the first delegate has the file of task 2")
      let warning = try await trial.wrong.says("A background URLSession with identifier com.example.Trial.widget")
      #expect(warning.reading(ProcessOutput.self)?.stream == "stderr")
      let tail = try await trial.cluster.run("tail", "--no-follow", "--kind", "process.output", "--color", "never")
      for line in ["the first delegate has the file of task 2", "A background URLSession with identifier"] {
        #expect(tail.contains(line))
      }
    }
  }
}
