import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// The instruments of the operator's tool, over the story of real processes.
@Suite(.live, .timeLimit(.live)) struct `The instruments` {
  @Test func `tell a story of two lives: wait, tail, trace and verify`() async throws {
    try await Trial.run("instruments") { trial in
      let cluster = trial.cluster
      let tail = Task {
        try await cluster.attempt([
          "tail", "--output", "json", "--timeout", "120", "--exit-when",
          "kind == session.acknowledged && session == \(Trial.session)",
        ])
      }
      try await trial.begin()
      try await trial.kill("extension")
      let wait = try await cluster.attempt(["wait", "--for", "session:\(Trial.session)=acknowledged"])
      #expect(wait.status == 0, "\(wait.errors)")

      let seen = try await tail.value
      #expect(seen.status == 0, "\(seen.errors)")
      struct Line: Decodable {
        let sequence: UInt64
        let kind: String
      }
      let lines = try seen.output.split(separator: "\n").map {
        try JSONDecoder().decode(Line.self, from: Data($0.utf8))
      }
      #expect(lines.last?.kind == "session.acknowledged")
      #expect(lines.map(\.sequence) == Array(1...UInt64(lines.count)))

      struct Trace: Decodable {
        struct Step: Decodable {
          let kind: String
          let after: UInt64?
          let waited: Double?
        }
        let generations: [UInt32]
        let deaths: Int
        let isAcknowledged: Bool
        let steps: [Step]
      }
      let text = try await cluster.run("trace", Trial.session, "--output", "json")
      let trace = try JSONDecoder().decode(Trace.self, from: Data(text.utf8))
      #expect(trace.generations == [1, 2])
      #expect(trace.deaths == 1)
      #expect(trace.isAcknowledged)
      let kinds = trace.steps.map(\.kind)
      for kind in ["process.spawn", "transfer.create", "process.exited", "handler.called", "completion.called"] {
        #expect(kinds.contains(kind), "\(kind)")
      }
      for kind in ["process.spawn/ok", "process.ready", "session.events", "handler.called", "session.acknowledged"] {
        let step = try #require(trace.steps.last { $0.kind == kind })
        #expect(step.after != nil && step.waited ?? -1 >= 0, "\(kind)")
      }
      let diagram = try await cluster.run("trace", Trial.session, "--output", "mermaid")
      #expect(diagram.hasPrefix("sequenceDiagram\n") && diagram.utf16.count < 50_000)
      #expect(try await cluster.run("journal", "verify").contains("sound"))
    }
  }

  @Test func `end a tail with 1 when the time is over`() async throws {
    try await Trial.run("time-out") { trial in
      let answer = try await trial.cluster.attempt(["tail", "--exit-when", "kind == nothing", "--timeout", "0.3"])
      #expect(answer.status == 1)
      #expect(answer.errors.contains("no envelope matched"))
      let wait = try await trial.cluster.attempt(["wait", "--for", "extension=running", "--timeout", "0.3"])
      #expect(wait.status == 1)
    }
  }

  @Test func `suspend an extension, which the host wakes for its events all the same`() async throws {
    try await Trial.run("suspended") { trial in
      try await trial.begin()
      // While it is looked at, the download does not end, and so the host does not wake the extension.
      let provider = LabProcess(pid: try #require(trial.cluster.pid(of: "provider")))
      try provider.signal(SIGSTOP)
      defer { kill(provider.pid, SIGCONT) }
      // Nor is it to stop it between the tool's word and its look.
      try await trial.journal.waitFor("the host let the extension sleep") {
        let state = $0.reading(ProcessState.self)
        return state?.address == Trial.widgetExtension && state?.state == "suspended"
      }
      try await trial.cluster.run("suspend", "extension")
      let started = try await trial.journal.waitFor("the extension was born") {
        $0.reading(ProcessStarted.self)?.address == Trial.widgetExtension
      }
      let process = LabProcess(pid: try #require(started.reading(ProcessStarted.self)?.pid))
      #expect(process.isStopped)
      try await trial.cluster.run("resume", "extension")
      #expect(process.isAlive && !process.isStopped)
      try await trial.cluster.run("suspend", "extension")
      try provider.signal(SIGCONT)
      try await trial.expectWholeStory(newLife: false)
    }
  }
}
