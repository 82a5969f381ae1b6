import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// The whole story over real processes, with somebody killed at each point of it. `WIDGETLAB_REPEAT=20` plays each twenty
/// times in a row.
@Suite(.live, .timeLimit(.live)) struct `a background download survives` {
  @Test func `nobody being killed`() async throws {
    try await Trial.run("nobody killed") { trial in
      try await trial.begin()
      try await trial.expectWholeStory(newLife: false)
    }
  }

  @Test func `its extension killed while it runs`() async throws {
    try await Trial.run("extension killed in the download") { trial in
      try await trial.begin()
      try await trial.downloaded(0.3)
      try await trial.kill("extension")
      try await trial.expectWholeStory(newLife: true)
    }
  }

  @Test func `its extension killed after it ended and before the wake`() async throws {
    try await Trial.run("extension killed before the wake") { trial in
      try await trial.begin()
      try await trial.state("suspended", of: Trial.widgetExtension)
      let started = try await trial.journal.waitFor("the extension was born") {
        $0.reading(ProcessStarted.self)?.address == Trial.widgetExtension
      }
      let pid = try #require(started.reading(ProcessStarted.self)?.pid)
      try await trial.downloaded(0.6)
      // Only the agent can wake the extension. While it is stopped the download ends, and the extension dies.
      let agent = LabProcess(pid: try #require(trial.cluster.pid(of: "agent-1")))
      try agent.signal(SIGSTOP)
      do {
        try await trial.progress(of: Trial.widgetExtension, .finished)
        #expect(LabProcess(pid: pid).isStopped)
        try LabProcess(pid: pid).signal(SIGKILL)
      } catch {
        try agent.signal(SIGCONT)
        throw error
      }
      try agent.signal(SIGCONT)
      try await trial.expectWholeStory(newLife: true)
    }
  }

  @Test(arguments: ["handler", "file-before"])
  func `its extension killed between the handler call and didFinishDownloadingTo`(point: String) async throws {
    try await killed(at: point)
  }

  @Test(arguments: ["file-moved", "completed", "finish"])
  func `its extension killed after the file was moved and before the completion`(point: String) async throws {
    try await killed(at: point)
  }

  private func killed(at point: String) async throws {
    try await Trial.run("extension killed at \(point)") { trial in
      try trial.hold(point)
      try await trial.begin()
      let reached = try await trial.reached(point)
      try trial.release(point)
      #expect(
        try await trial.journal.all().allSatisfy { $0.kind != "session.acknowledged" || $0.correlation != Trial.story })
      try await trial.kill("extension")
      try await trial.journal.waitFor("the held life is dead", after: reached.sequence) {
        let exited = $0.reading(ProcessExited.self)
        return exited?.address == Trial.widgetExtension && exited?.ending == .signalled(signal: SIGKILL)
      }
      try await trial.expectWholeStory(newLife: true)
    }
  }

  @Test func `the host killed, which resumes it with Range`() async throws {
    try await Trial.run("host killed") { trial in
      try await trial.begin()
      try await trial.downloaded(0.4)
      // No more comes before the host is dead, however long its killing takes.
      let provider = LabProcess(pid: try #require(trial.cluster.pid(of: "provider")))
      try provider.signal(SIGSTOP)
      try await trial.kill("host")
      try provider.signal(SIGCONT)
      let resumed = try await trial.progress(of: Trial.widgetExtension, .resumed)
      #expect(resumed.reading(TransferProgress.self)?.bytes ?? 0 > 0)
      try await trial.progress(of: Trial.widgetExtension, .finished)
      let served = try await trial.cluster.providerCounters().byPath[Trial.path]
      #expect(
        Double(served?.bytes ?? .max) <= Double(Trial.size) * 1.1, "the provider served \(served?.bytes ?? 0) bytes")
      try await trial.expectWholeStory(newLife: false)
    }
  }

  @Test func `the bus killed`() async throws {
    try await Trial.run("bus killed") { trial in
      try await trial.begin()
      try await trial.downloaded(0.3)
      try await trial.kill("bus")
      try await trial.journal.waitFor("a new broker read the journal back") {
        $0.reading(BusStarted.self)?.generation == 2
      }
      try await trial.expectWholeStory(newLife: false)
    }
  }

  @Test func `the agent killed, and with it its children`() async throws {
    try await Trial.run("agent killed") { trial in
      try await trial.begin()
      try await trial.downloaded(0.3)
      let children = LabProcess.descendants(of: try #require(trial.cluster.pid(of: "agent-1")))
      #expect(children.count == 2)
      try await trial.kill("agent")
      for child in children { try await child.ended() }
      try await trial.expectWholeStory(newLife: true)
    }
  }

  @Test func `the app killed, which is launched for its own events only`() async throws {
    try await Trial.run("app killed") { trial in
      // While the provider is stopped no download ends, and the app cannot have had its events when it is killed.
      let provider = LabProcess(pid: try #require(trial.cluster.pid(of: "provider")))
      try provider.signal(SIGSTOP)
      try await trial.begin()
      try await trial.kill("app")
      try provider.signal(SIGCONT)
      let birth = try await trial.journal.waitFor("a second life of the app") {
        let started = $0.reading(ProcessStarted.self)
        return started?.address == Trial.app && started?.generation == 2
      }
      let handler = try await trial.journal.waitFor("the app's own handler was called", after: birth.sequence) {
        $0.envelope.header.source == Trial.app && $0.reading(HandlerCalled.self) != nil
      }
      #expect(handler.reading(HandlerCalled.self)?.session == Trial.appSession)
      try await trial.expectWholeStory(newLife: false)
    }
  }
}
