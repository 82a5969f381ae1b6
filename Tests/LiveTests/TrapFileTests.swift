// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Files, responses and waits: the results of wrong code and of right code.
@Suite(.live, .timeLimit(.live)) struct `Pitfalls of files and time` {
  @Test(.rule("TRAP-05")) func `pitfall 5: a download that is begun during a wake waits for minutes`() async throws {
    try await TrapFixture.run(5, suspendAfter: 0.2) { fixture in
      try await fixture.beginAndSleep()
      fixture.release(10)
      try await fixture.right.acknowledged()
      try await fixture.right.shows("20000 bytes")
      #expect(try await fixture.right.calls().count { $0 == "didFinishDownloadingTo" } == 3)
      let waiting = try await fixture.wrong.progress(.waiting, task: 2)
      #expect(waiting.reading(TransferProgress.self)?.detail?.contains("resume rate limiter") == true)
      try await fixture.advance("61s")
      try await fixture.wrong.progress(.finished, task: 2)
    }
  }

  @Test(.rule("TRAP-09")) func `pitfall 9: the downloaded file is gone after the delegate method returns`() async throws
  {
    try await TrapFixture.run(9, path: "/") { fixture in
      try await fixture.reload()
      try await fixture.wrong.prints("could not be read: \(CocoaError.fileNoSuchFile.rawValue)")
      try await fixture.right.shows("20000 bytes")
    }
  }

  @Test(.rule("TRAP-14"))
  func `pitfall 14: an app that is killed or exits is woken for its events, a force quit app is not`() async throws {
    let apps = [
      "com.example.Exited": "exit", "com.example.Killed": "right", "com.example.Right": "right",
      "com.example.Wrong": "wrong",
    ]
    try await TrapFixture.run(14, apps: apps) { fixture in
      for bundle in apps.keys.sorted() {
        try await fixture.cluster.run("app", "open", bundle)
        try await fixture.app(bundle).progress(.started)
      }
      let (wrong, right) = (fixture.app("com.example.Wrong"), fixture.app("com.example.Right"))
      let (killed, exited) = (fixture.app("com.example.Killed"), fixture.app("com.example.Exited"))
      try await killed.kill()
      #expect(try await exited.ended(1).reading(ProcessExited.self)?.ending == .exited(code: 0))
      for author in [wrong, right] {
        try await fixture.cluster.run("force-quit", author.owner.bundleIdentifier ?? "")
        try await author.progress(.cancelled)
      }
      fixture.release(10)
      for author in [killed, exited] {
        try await author.acknowledged()
        #expect(try await author.calls().first == "handler", "it is woken")
      }
      for author in [wrong, right] {
        #expect(try await author.calls().isEmpty, "it is not woken")
      }
      // One app is in the foreground: an app that is opened before the previous one runs would never be active.
      try await fixture.cluster.run("app", "open", "com.example.Wrong")
      try await wrong.prints("completed 1 -999")
      try await fixture.cluster.run("app", "open", "com.example.Right")
      try await right.prints("force quit by the user")
      try await right.prints("came 20000")
      #expect(try await wrong.tasks() == 1)
    }
  }

  @Test(.rule("TRAP-15"))
  func `pitfall 15: a download without a network neither fails nor continues for seven days`() async throws {
    try await TrapFixture.run(15, path: "/", suspendAfter: 0.2) { fixture in
      try await fixture.cluster.run("network", "off")
      try await fixture.reload()
      for author in [fixture.wrong, fixture.right] {
        try await author.progress(.waiting)
        try await author.state("suspended")
      }
      try await fixture.advance("61s")
      try await fixture.right.prints("completed 1 -1001")
      try await fixture.right.acknowledged()
      try await fixture.advance("6d")
      #expect(try await fixture.wrong.calls().isEmpty)
      try await fixture.advance("1d")
      try await fixture.wrong.prints("completed 1 -1001")
    }
  }

  @Test(.rule("TRAP-16"))
  func `pitfall 16: code that ignores the status code takes the server's error body for the file`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("not found", 404) }
    try await TrapFixture.run(16, path: "/", answer: answer) { fixture in
      try await fixture.reload()
      try await fixture.wrong.shows("9 bytes")
      try await fixture.right.prints("the server answered 404")
      try await fixture.right.acknowledged()
      #expect(try await fixture.right.texts().allSatisfy { $0 == "nothing yet" })
    }
  }

  @Test(.rule("TRAP-17"))
  func `pitfall 17: a redirect to another host drops Authorization, and the response is 403`() async throws {
    let store = try LocalServer { request in
      guard request.headers["authorization"] == "Bearer token" else { return .text("which client", 403) }
      return TrapFixture.usual(request)
    }
    defer { store.stop() }
    let place = store.url("/file").absoluteString
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("there", 302, ["Location": place]) }
    try await TrapFixture.run(17, path: "/", answer: answer) { fixture in
      try await fixture.reload()
      try await fixture.wrong.prints("the server answered 403")
      try await fixture.right.shows("20000 bytes")
    }
  }

  @Test(.rule("TRAP-18"))
  func `pitfall 18: a download that the host does not accept in time fails with -997 and can be begun again`()
    async throws
  {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { request in
      LocalServer.Reply(body: Data(count: TrapFixture.size), holdsAfter: request.path == "/inline" ? 0 : nil)
    }
    try await TrapFixture.run(18, path: "/", inline: "/inline", callDeadline: 5, answer: answer) { fixture in
      try await fixture.reload()
      for _ in 1...2 { _ = await fixture.server.next() }
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGSTOP)
      do {
        // A signal takes effect when the kernel schedules one of the process's threads.
        try await fixture.cluster.eventually("the host is stopped") { host.isStopped }
        fixture.release()
        try await fixture.wrong.prints("completed 1 -997")
        try await fixture.right.prints("could not communicate; retrying")
      } catch {
        try host.signal(SIGCONT)
        throw error
      }
      try host.signal(SIGCONT)
      try await fixture.right.shows("20000 bytes")
      #expect(try await fixture.wrong.output().allSatisfy { !$0.hasPrefix("came") })
    }
  }

  @Test(.rule("TRAP-19", "PROCESS-08"))
  func `pitfall 19: an app and an extension that write one file without a lock lose an update`() async throws {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapFixture.run(19, path: "/", inline: "/held", apps: apps) { fixture in
      for bundle in apps.keys.sorted() {
        try await fixture.cluster.run("app", "open", bundle)
        try await fixture.app(bundle).prints("came 20000")
      }
      try await fixture.reload()
      // Both processes without a lock have read the file; of the processes with a lock the second waits for the first.
      var held = 0
      while held < 3 { if await fixture.server.next()?.path == "/held" { held += 1 } }
      for author in [fixture.wrong, fixture.right] { try await author.prints("came 20000") }
      #expect(fixture.server.requests.count { $0.path == "/held" } == 3)
      fixture.release(4)
      for author in [fixture.wrong, fixture.right, fixture.app("com.example.Wrong"), fixture.app("com.example.Right")] {
        try await author.prints("published")
      }
      #expect(try fixture.published("com.example.Wrong").count == 1)
      #expect(
        try fixture.published("com.example.Right") == ["com.example.Right.Widget.session", "com.example.Right.session"])
    }
  }
}

extension TrapFixture {
  /// The names that an app and its extension have published in their group, sorted.
  fileprivate func published(_ bundle: String) throws -> [String] {
    let file = cluster.instance.device(LiveFixture.device).group(Self.group(of: bundle)) + "/published"
    return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init).sorted()
  }
}
