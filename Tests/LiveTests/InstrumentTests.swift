// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The commands of `widgetlab` that observe a cluster, over a download of real processes.
@Suite(.live, .timeLimit(.live)) struct `Commands that observe a cluster` {
  @Test func `wait, tail, trace and verify agree on a download that spans two process instances`() async throws {
    try await LiveFixture.run("instruments", heldAt: 0.3) { fixture in
      let cluster = fixture.cluster
      let tail = Task {
        try await cluster.attempt([
          "tail", "--output", "json", "--timeout", "120", "--exit-when",
          "kind == session.acknowledged && session == \(LiveFixture.session)",
        ])
      }
      try await fixture.begin()
      try await fixture.whileHeld {
        try await fixture.answered()
        try await fixture.kill("extension")
      }
      let wait = try await cluster.attempt(["wait", "--for", "session:\(LiveFixture.session)=acknowledged"])
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
        let exits: Int
        let isAcknowledged: Bool
        let steps: [Step]
      }
      let text = try await cluster.run("trace", LiveFixture.session, "--output", "json")
      let trace = try JSONDecoder().decode(Trace.self, from: Data(text.utf8))
      #expect(trace.generations == [1, 2])
      #expect(trace.exits == 1)
      #expect(trace.isAcknowledged)
      let kinds = trace.steps.map(\.kind)
      for kind in ["process.spawn", "transfer.create", "process.exited", "handler.called", "completion.called"] {
        #expect(kinds.contains(kind), "\(kind)")
      }
      for kind in ["process.spawn/ok", "process.ready", "session.events", "handler.called", "session.acknowledged"] {
        let step = try #require(trace.steps.last { $0.kind == kind })
        #expect(step.after != nil && step.waited ?? -1 >= 0, "\(kind)")
      }
      let diagram = try await cluster.run("trace", LiveFixture.session, "--output", "mermaid")
      #expect(diagram.hasPrefix("sequenceDiagram\n") && diagram.utf16.count < 50_000)
      #expect(try await cluster.run("journal", "verify").contains("sound"))
    }
  }

  @Test func `tail and wait exit with 1 when the timeout expires`() async throws {
    try await LiveFixture.run("timeout") { fixture in
      let answer = try await fixture.cluster.attempt(["tail", "--exit-when", "kind == nothing", "--timeout", "0.3"])
      #expect(answer.status == 1)
      #expect(answer.errors.contains("no envelope matched"))
      let wait = try await fixture.cluster.attempt(["wait", "--for", "extension=running", "--timeout", "0.3"])
      #expect(wait.status == 1)
    }
  }

  @Test func `the suspend command stops an extension, and the host still resumes it for its events`() async throws {
    try await LiveFixture.run("suspended", heldAt: 0.3) { fixture in
      try await fixture.begin()
      // The download does not end, so the host does not wake the extension.
      try await fixture.whileHeld {
        // The host must not suspend the extension between the command and the check either.
        _ = try await fixture.state("suspended", of: LiveFixture.widgetExtension)
        try await fixture.cluster.run("suspend", "extension")
        let started = try await fixture.journal.waitFor("the extension is launched") {
          $0.reading(ProcessStarted.self)?.address == LiveFixture.widgetExtension
        }
        let process = LabProcess(pid: try #require(started.reading(ProcessStarted.self)?.pid))
        #expect(process.isStopped)
        try await fixture.cluster.run("resume", "extension")
        #expect(process.isAlive && !process.isStopped)
        try await fixture.cluster.run("suspend", "extension")
      }
      try await fixture.expectWholeScenario(newInstance: false)
    }
  }
}
