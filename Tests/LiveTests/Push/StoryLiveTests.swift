import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// From a figure that changes at the developer's backend to the new entry on the screen, over real processes, with no reload
/// asked for by the app. `WIDGETLAB_REPEAT=20` plays each twenty times in a row.
@Suite(.live, .timeLimit(.live)) struct `a figure that changes at the backend is shown` {
  @Test func `while the extension is suspended`() async throws {
    try await StoryTrial.run("push to a suspended extension") { trial in
      let change = try await trial.drink()
      let shown = try await trial.shown(change)
      let lives = try await trial.journal.all().compactMap { $0.reading(ProcessStarted.self) }
        .filter { $0.address == StoryTrial.widgetExtension }
      #expect(lives.count == 1, "shown by #\(shown.sequence)")
      try await trial.expectOneOfEach(1, since: change)
    }
  }

  @Test func `while the extension is dead`() async throws {
    try await StoryTrial.run("push to a dead extension") { trial in
      try await trial.cluster.run("kill", "extension")
      try await trial.journal.waitFor("the extension is dead") {
        $0.reading(ProcessExited.self)?.address == StoryTrial.widgetExtension
      }
      let change = try await trial.drink()
      try await trial.shown(change)
      let lives = try await trial.journal.all().compactMap { $0.reading(ProcessStarted.self) }
        .filter { $0.address == StoryTrial.widgetExtension }
      #expect(lives.count == 2)
      try await trial.expectOneOfEach(1, since: change)
    }
  }

  @Test func `when the device is back that was offline, the newest alone`() async throws {
    try await StoryTrial.run("push to a device offline") { trial in
      try await trial.cluster.run("device", "offline")
      let first = try await trial.drink()
      let superseded = try await trial.station(.storedOffline, after: first.after)
      try await trial.pushIs("sent")
      let second = try await trial.drink()
      let delivered = try await trial.station(.storedOffline, after: second.after)
      #expect(try await trial.station(.superseded, after: first.after) == superseded)
      #expect(!(try await trial.journal.all().contains { $0.kind == "push.deliver" }))
      try await trial.cluster.run("device", "online")
      try await trial.shown(second)
      #expect(try await trial.station(.delivered, after: second.after) == delivered)
      try await trial.expectOneOfEach(2, since: first, superseded: 1)
    }
  }

  @Test func `when the host was killed after the 200 and before it acknowledged`() async throws {
    try await StoryTrial.run("host killed before its acknowledgement") { trial in
      try trial.life(of: "host").signal(SIGSTOP)
      let change = try await trial.drink()
      try await trial.pushIs("sent")
      try await trial.journal.waitFor("the push is on its way to the host") { $0.kind == "push.deliver" }
      try await trial.killAndReturn("host", .host(Trial.device))
      try await trial.shown(change)
      try await trial.expectOneOfEach(1, since: change)
    }
  }

  @Test func `when the push server was killed after its 200, while the host did not acknowledge`() async throws {
    try await StoryTrial.run("push server killed before the acknowledgement") { trial in
      let host = try trial.life(of: "host")
      try host.signal(SIGSTOP)
      let change = try await trial.drink()
      do {
        try await trial.pushIs("sent")
        try await trial.journal.waitFor("the push is on its way to the host") { $0.kind == "push.deliver" }
        try await trial.killAndReturn("push-server", .pushServer)
      } catch {
        try host.signal(SIGCONT)
        throw error
      }
      try host.signal(SIGCONT)
      try await trial.shown(change)
      try await trial.expectOneOfEach(1, since: change)
    }
  }

  @Test func `when the push server was killed after its 200, while the device was offline`() async throws {
    try await StoryTrial.run("push server killed with a stored push") { trial in
      try await trial.cluster.run("device", "offline")
      let change = try await trial.drink()
      try await trial.pushIs("sent")
      try await trial.killAndReturn("push-server", .pushServer)
      try await trial.cluster.run("device", "online")
      try await trial.shown(change)
      try await trial.expectOneOfEach(1, since: change)
    }
  }

  @Test func `when the token was rotated in between: 410, the new token, delivered`() async throws {
    try await StoryTrial.run("push to a rotated token") { trial in
      let old = try #require(try await trial.subscriptions().first?.token)
      // The new token's upload waits for the network, so the backend knows nothing of it.
      try await trial.cluster.run("device", "offline")
      try await trial.cluster.run("token", "rotate")
      let change = try await trial.drink()
      try await trial.pushIs("tokenless")
      let refused = try await trial.push()
      #expect(refused?.status == 410 && refused?.reason == "Unregistered" && refused?.attempts == 1)
      #expect(try await trial.subscriptions().isEmpty)
      try await trial.cluster.run("device", "online")
      try await trial.shown(change)
      let new = try #require(try await trial.subscriptions().first?.token)
      #expect(new != old)
      try await trial.expectOneOfEach(1, since: change)
    }
  }
}
