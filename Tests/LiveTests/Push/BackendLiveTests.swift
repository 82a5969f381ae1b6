// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The developer's backend: its reaction to the responses of APNs and to its own kill.
@Suite(.live, .timeLimit(.live)) struct `The developer's backend` {
  @Test(arguments: [(503, "ServiceUnavailable"), (500, "InternalServerError"), (429, "TooManyRequests")])
  func `the backend retries a push that APNs rejects with a temporary error`(status: Int, reason: String) async throws {
    try await SampleFixture.run("answered \(status)") { fixture in
      try await fixture.cluster.run("apns", "answer", "\(status)", reason)
      let change = try await fixture.drink()
      try await fixture.shown(change)
      try await fixture.pushIs("sent")
      let push = try await fixture.push()
      #expect(push?.attempts == 2)
      try await fixture.expectOneOfEach(1, since: change)
    }
  }

  @Test func `the backend never retries a push that APNs rejects permanently`() async throws {
    try await SampleFixture.run("answered 400") { fixture in
      try await fixture.cluster.run("apns", "answer", "400", "BadTopic")
      let first = try await fixture.drink()
      try await fixture.pushIs("refused")
      let refused = try await fixture.push()
      #expect(refused?.attempts == 1 && refused?.reason == "BadTopic")
      // The next change is another push.
      let second = try await fixture.drink()
      try await fixture.shown(second)
      let accepted = try await fixture.journal.all().filter { $0.sequence > first.after }
        .compactMap { $0.reading(PushLogged.self) }.filter { $0.step.name == .accepted }
      #expect(accepted.count == 1)
    }
  }

  @Test func `a restarted backend sends its pending push and still has the token`() async throws {
    try await SampleFixture.run("backend killed between change and push") { fixture in
      let server = try fixture.process(named: "push-server")
      try server.signal(SIGSTOP)
      do {
        let change = try await fixture.drink()
        let dead = try fixture.process(named: "provider")
        try dead.signal(SIGKILL)
        try await dead.ended()
        try server.signal(SIGCONT)
        try await fixture.shown(change)
        try await fixture.cluster.eventually("the restarted backend has sent the push") {
          guard let pid = fixture.cluster.pid(of: "provider"), pid != dead.pid else { return false }
          return (try? await fixture.push())?.state == "sent"
        }
      } catch {
        try server.signal(SIGCONT)
        throw error
      }
    }
  }
}
