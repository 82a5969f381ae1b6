import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What the developer's backend does with the answers of APNs, and over its own death.
@Suite(.live, .timeLimit(.live)) struct `the backend` {
  @Test(arguments: [(503, "ServiceUnavailable"), (500, "InternalServerError"), (429, "TooManyRequests")])
  func `sends again what APNs did not take yet`(status: Int, reason: String) async throws {
    try await StoryTrial.run("answered \(status)") { trial in
      try await trial.cluster.run("apns", "answer", "\(status)", reason)
      let change = try await trial.drink()
      try await trial.shown(change)
      try await trial.pushIs("sent")
      let push = try await trial.push()
      #expect(push?.attempts == 2)
      try await trial.expectOneOfEach(1, since: change)
    }
  }

  @Test func `never sends again what APNs does not want`() async throws {
    try await StoryTrial.run("answered 400") { trial in
      try await trial.cluster.run("apns", "answer", "400", "BadTopic")
      let first = try await trial.drink()
      try await trial.pushIs("refused")
      let refused = try await trial.push()
      #expect(refused?.attempts == 1 && refused?.reason == "BadTopic")
      // The next change is another push.
      let second = try await trial.drink()
      try await trial.shown(second)
      let accepted = try await trial.journal.all().filter { $0.sequence > first.after }
        .compactMap { $0.reading(PushLogged.self) }.filter { $0.station.name == .accepted }
      #expect(accepted.count == 1)
    }
  }

  @Test func `sends after its own death what it owed before, and has the token still`() async throws {
    try await StoryTrial.run("backend killed between change and push") { trial in
      let server = try trial.life(of: "push-server")
      try server.signal(SIGSTOP)
      do {
        let change = try await trial.drink()
        let dead = try trial.life(of: "provider")
        try dead.signal(SIGKILL)
        try await dead.ended()
        try server.signal(SIGCONT)
        try await trial.shown(change)
        try await trial.cluster.eventually("the next life has sent it") {
          guard let pid = trial.cluster.pid(of: "provider"), pid != dead.pid else { return false }
          return (try? await trial.push())?.state == "sent"
        }
      } catch {
        try server.signal(SIGCONT)
        throw error
      }
    }
  }
}
