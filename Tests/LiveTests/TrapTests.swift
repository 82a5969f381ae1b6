// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The creation and the lifetime of sessions: the results of wrong code and of right code.
@Suite(.live, .timeLimit(.live)) struct `Pitfalls of sessions` {
  @Test(.rule("TRAP-01"))
  func `pitfall 1: an extension with the app's session identifier gets an invalid session with -996`() async throws {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapFixture.run(1, path: "/", apps: apps) { fixture in
      for bundle in apps.keys.sorted() {
        try await fixture.cluster.run("app", "open", bundle)
        try await fixture.app(bundle).prints("came \(TrapFixture.size)")
      }
      try await fixture.reload()
      try await fixture.wrong.prints("completed 1 -996")
      try await fixture.wrong.prints("invalid -996")
      try await fixture.right.shows("20000 bytes")
    }
  }

  @Test(.rule("SESSION-05", "SESSION-19"))
  func `an extension that is resumed loses the session that its app opened during the suspension`() async throws {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapFixture.run(1, suspendAfter: 0.2, apps: apps) { fixture in
      try await fixture.beginAndSleep()
      // No events resume the extensions.
      try await fixture.cluster.run("network", "off")
      try await fixture.cluster.run("app", "open", "com.example.Wrong")
      try await fixture.journal.waitFor("the app has the session of the suspended extension") {
        $0.kind == OpenSession.kind.answered(.ok).name
          && $0.envelope.header.destination == fixture.app("com.example.Wrong").owner
      }
      let before = try await fixture.journal.all().last?.sequence ?? 0
      try await fixture.reload()
      try await fixture.wrong.prints("invalid -996")
      let takenNotice = try await fixture.journal.waitFor("the extension is notified") {
        $0.reading(SessionTaken.self) != nil
      }
      #expect(takenNotice.envelope.header.destination == fixture.wrong.owner)
      try await fixture.journal.waitFor("the other extension has answered", after: before) {
        $0.kind == RequestTimeline.kind.answered(.ok).name && $0.envelope.header.source == fixture.right.owner
      }
      #expect(try await fixture.right.output().allSatisfy { !$0.contains("invalid") })
      let answer = try await fixture.cluster.attempt(["diagnose", "same-identifier"])
      #expect(answer.status == 1 && answer.output.contains("opened it while the process was suspended"))
    }
  }

  @Test(.rule("TRAP-02"))
  func `pitfall 2: an extension without a shared container gets an invalid session with -995`() async throws {
    try await TrapFixture.run(2, path: "/") { fixture in
      try await fixture.reload()
      try await fixture.wrong.prints("completed 1 -995")
      try await fixture.wrong.prints("invalid -995")
      try await fixture.right.shows("20000 bytes")
      #expect(try await fixture.wrong.tasks() == 0, "the host receives none")
    }
  }

  @Test(.rule("TRAP-07"))
  func `pitfall 7: an app that does not create its session when it is woken gets no events until it is opened`()
    async throws
  {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapFixture.run(7, apps: apps) { fixture in
      let (wrong, right) = (fixture.app("com.example.Wrong"), fixture.app("com.example.Right"))
      for author in [wrong, right] {
        try await fixture.cluster.run("app", "open", author.owner.bundleIdentifier ?? "")
        try await author.progress(.started)
        try await author.kill()
      }
      fixture.release()
      try await right.acknowledged()
      #expect(try await right.calls().first == "handler")
      try await wrong.handlerCalled()
      #expect(try await wrong.calls() == ["handler"], "although the file is loaded")
      let opened = try await fixture.journal.all().last?.sequence ?? 0
      try await fixture.cluster.run("app", "open", "com.example.Wrong")
      let received = try await wrong.received("didFinishDownloadingTo")
      #expect(received.sequence > opened)
      try await wrong.prints("came 20000")
      try await wrong.acknowledged()
    }
  }

  @Test(.rule("TRAP-08"))
  func `pitfall 8: a session that is created only in getTimeline gets no events until the next reload`() async throws {
    try await TrapFixture.run(8) { fixture in
      try await fixture.beginAndDie()
      fixture.release()
      try await fixture.right.acknowledged()
      try await fixture.right.shows("20000 bytes")
      try await fixture.wrong.handlerCalled()
      #expect(try await fixture.wrong.calls() == ["handler"])
      let asked = try await fixture.journal.all().last?.sequence ?? 0
      try await fixture.reload()
      #expect(try await fixture.wrong.received("didFinishDownloadingTo").sequence > asked)
      try await fixture.wrong.shows("20000 bytes")
    }
  }

  @Test(.rule("TRAP-10")) func `pitfall 10: an await in a background session ends the process`() async throws {
    try await TrapFixture.run(10, path: "/") { fixture in
      try await fixture.reload()
      try await fixture.wrong.prints("Completion handler blocks are not supported in background sessions.")
      let end = try await fixture.wrong.ended(1)
      guard case .signalled? = end.reading(ProcessExited.self)?.ending else {
        throw LabError("it ended in another way: \(end)")
      }
      try await fixture.right.shows("20000 bytes")
      #expect(try await fixture.wrong.tasks() == 0)
    }
  }

  @Test(.rule("TRAP-11"))
  func `pitfall 11: the delegate of a second session with the same identifier is never called`() async throws {
    try await TrapFixture.run(11, path: "/") { fixture in
      try await fixture.reload()
      for task in 1...2 { try await fixture.wrong.prints("the first delegate has the file of task \(task)") }
      try await fixture.wrong.prints("already exists! Its first delegate is kept.")
      #expect(try await fixture.wrong.output().allSatisfy { !$0.hasPrefix("the second delegate") })
      try await fixture.right.shows("20000 bytes")
      #expect(try await fixture.right.output().allSatisfy { !$0.contains("already exists") })
    }
  }

  @Test(.rule("TRAP-12"))
  func `pitfall 12: a task that is created in an invalidated session ends the process`() async throws {
    try await TrapFixture.run(12, path: "/") { fixture in
      try await fixture.reload()
      try await fixture.wrong.prints("invalid 0")
      let first = try await fixture.right.prints("the session is over")
      try await fixture.reload()
      try await fixture.wrong.prints("Task created in a session that has been invalidated")
      try await fixture.wrong.ended(1)
      try await fixture.right.prints("came 20000", after: first.sequence)
      try await fixture.right.prints("the session is over", after: first.sequence)
      #expect(try await fixture.right.endings().isEmpty)
    }
  }

  @Test(.rule("TRAP-13"))
  func `pitfall 13: code that begins a download whenever none is listed downloads a finished file again`() async throws
  {
    try await TrapFixture.run(13, suspendAfter: 0.2) { fixture in
      try await fixture.beginAndSleep()
      fixture.release()
      for author in [fixture.wrong, fixture.right] { try await author.shows("20000 bytes") }
      try await fixture.right.acknowledged()
      #expect(try await fixture.wrong.tasks() == 2)
      #expect(try await fixture.right.tasks() == 1)
    }
  }

  @Test(.rule("TRAP-21"))
  func `pitfall 21: tail shows the output of an extension and the warnings of its runtime`() async throws {
    try await TrapFixture.run(11, path: "/") { fixture in
      try await fixture.reload()
      try await fixture.wrong.prints("the first delegate has the file of task 2")
      let warning = try await fixture.wrong.prints(
        "A background URLSession with identifier com.example.Wrong.Widget.session")
      #expect(warning.reading(ProcessOutput.self)?.stream == "stderr")
      let tail = try await fixture.cluster.run("tail", "--no-follow", "--kind", "process.output", "--color", "never")
      for line in ["the first delegate has the file of task 2", "A background URLSession with identifier"] {
        #expect(tail.contains(line))
      }
    }
  }
}
