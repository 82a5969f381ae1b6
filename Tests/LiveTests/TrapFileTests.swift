import Cluster
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What comes and what is waited for: what an author sees who does it wrong, and one who does it right.
@Suite(.live, .timeLimit(.live)) struct `Traps of files and time:` {
  @Test func `trap 5: a download begun in a wake waits for minutes`() async throws {
    try await TrapTrial.run(5, suspendAfter: 0.2) { trial in
      try await trial.beginAndSleep()
      trial.release(10)
      try await trial.right.acknowledged()
      try await trial.right.shows("20000 bytes")
      #expect(try await trial.right.calls().count { $0 == "didFinishDownloadingTo" } == 3)
      let waiting = try await trial.wrong.progress(.waiting, task: 2)
      #expect(waiting.reading(TransferProgress.self)?.detail?.contains("resume rate limiter") == true)
      try await trial.advance("61s")
      try await trial.wrong.progress(.finished, task: 2)
    }
  }

  @Test func `trap 9: the file is gone when the method that it was handed in has returned`() async throws {
    try await TrapTrial.run(9, path: "/") { trial in
      try await trial.reload()
      try await trial.wrong.says("could not be read: \(CocoaError.fileNoSuchFile.rawValue)")
      try await trial.right.shows("20000 bytes")
    }
  }

  @Test func `trap 14: a kill is no force quit, and neither is exit`() async throws {
    let apps = [
      "com.example.Exited": "exit", "com.example.Killed": "right", "com.example.Right": "right",
      "com.example.Wrong": "wrong",
    ]
    try await TrapTrial.run(14, apps: apps) { trial in
      for bundle in apps.keys.sorted() {
        try await trial.cluster.run("app", "open", bundle)
        try await trial.app(bundle).progress(.started)
      }
      let (wrong, right) = (trial.app("com.example.Wrong"), trial.app("com.example.Right"))
      let (killed, exited) = (trial.app("com.example.Killed"), trial.app("com.example.Exited"))
      try await killed.kill()
      #expect(try await exited.ended(1).reading(ProcessExited.self)?.ending == .exited(code: 0))
      for author in [wrong, right] {
        try await trial.cluster.run("force-quit", author.owner.bundleIdentifier ?? "")
        try await author.progress(.cancelled)
      }
      trial.release(10)
      for author in [killed, exited] {
        try await author.acknowledged()
        #expect(try await author.calls().first == "handler", "it is woken")
      }
      for author in [wrong, right] {
        #expect(try await author.calls().isEmpty, "it is not woken")
      }
      // One app is in front: who is opened before the other one was there has never been active.
      try await trial.cluster.run("app", "open", "com.example.Wrong")
      try await wrong.says("completed 1 -999")
      try await trial.cluster.run("app", "open", "com.example.Right")
      try await right.says("ended by the person")
      try await right.says("came 20000")
      #expect(try await wrong.tasks() == 1)
    }
  }

  @Test func `trap 15: without a network a download neither fails nor goes on for seven days`() async throws {
    try await TrapTrial.run(15, path: "/", suspendAfter: 0.2) { trial in
      try await trial.cluster.run("network", "off")
      try await trial.reload()
      for author in [trial.wrong, trial.right] {
        try await author.progress(.waiting)
        try await author.state("suspended")
      }
      try await trial.advance("61s")
      try await trial.right.says("completed 1 -1001")
      try await trial.right.acknowledged()
      try await trial.advance("6d")
      #expect(try await trial.wrong.calls().isEmpty)
      try await trial.advance("1d")
      try await trial.wrong.says("completed 1 -1001")
    }
  }

  @Test func `trap 16: the server's words of its trouble are taken for the file`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("not found", 404) }
    try await TrapTrial.run(16, path: "/", answer: answer) { trial in
      try await trial.reload()
      try await trial.wrong.shows("9 bytes")
      try await trial.right.says("the server answered 404")
      try await trial.right.acknowledged()
      #expect(try await trial.right.texts().allSatisfy { $0 == "nothing yet" })
    }
  }

  @Test func `trap 17: a redirection to another host drops Authorization, and a 403 comes`() async throws {
    let store = try LocalServer { request in
      guard request.headers["authorization"] == "Bearer token" else { return .text("who are you", 403) }
      return TrapTrial.usual(request)
    }
    defer { store.stop() }
    let place = store.url("/file").absoluteString
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("there", 302, ["Location": place]) }
    try await TrapTrial.run(17, path: "/", answer: answer) { trial in
      try await trial.reload()
      try await trial.wrong.says("the server answered 403")
      try await trial.right.shows("20000 bytes")
    }
  }

  @Test func `trap 18: a download that the host could not take in time fails with -997, and can be begun again`()
    async throws
  {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { request in
      LocalServer.Reply(body: Data(count: TrapTrial.size), holdsAfter: request.path == "/inline" ? 0 : nil)
    }
    try await TrapTrial.run(18, path: "/", inline: "/inline", callDeadline: 5, answer: answer) { trial in
      try await trial.reload()
      for _ in 1...2 { _ = await trial.server.next() }
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGSTOP)
      do {
        // A signal comes when the kernel has a turn for one of its threads.
        try await trial.cluster.eventually("the host is stopped") { host.isStopped }
        trial.release()
        try await trial.wrong.says("completed 1 -997")
        try await trial.right.says("could not communicate; once more")
      } catch {
        try host.signal(SIGCONT)
        throw error
      }
      try host.signal(SIGCONT)
      try await trial.right.shows("20000 bytes")
      #expect(try await trial.wrong.said().allSatisfy { !$0.hasPrefix("came") })
    }
  }

  @Test func `trap 19: of an app and an extension that write one file without a lock, one loses`() async throws {
    let apps = ["com.example.Right": "right", "com.example.Wrong": "wrong"]
    try await TrapTrial.run(19, path: "/", inline: "/held", apps: apps) { trial in
      for bundle in apps.keys.sorted() {
        try await trial.cluster.run("app", "open", bundle)
        try await trial.app(bundle).says("came 20000")
      }
      try await trial.reload()
      // Both of those without a lock have read what was there; of the others the second waits for the first.
      var held = 0
      while held < 3 { if await trial.server.next()?.path == "/held" { held += 1 } }
      for author in [trial.wrong, trial.right] { try await author.says("came 20000") }
      #expect(trial.server.requests.count { $0.path == "/held" } == 3)
      trial.release(4)
      for author in [trial.wrong, trial.right, trial.app("com.example.Wrong"), trial.app("com.example.Right")] {
        try await author.says("published")
      }
      #expect(try trial.published("com.example.Wrong").count == 1)
      #expect(try trial.published("com.example.Right") == ["com.example.Trial.app", "com.example.Trial.widget"])
    }
  }
}

extension TrapTrial {
  /// What an app and its extension have published in their group, in order of the alphabet.
  fileprivate func published(_ bundle: String) throws -> [String] {
    let file = cluster.instance.device(Trial.device).group(Self.group(of: bundle)) + "/published"
    return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init).sorted()
  }
}
