// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A push server whose PostgreSQL database does not exist yet, as when all services of a stack start at once.
@Suite(.live, .timeLimit(.live)) struct `A database that is away at the start` {
  @Test func `a replica stays, and refuses each push until it can be written`() async throws {
    try await LonePushServer.run("no database", settings: ["database: postgres://127.0.0.1:1/none"]) { lone in
      let server = try #require(try PushServerAnnouncement.read(in: lone.instance))
      for _ in 1...8 {
        let answer = try await lone.curl(server, token: String(repeating: "0a", count: 32))
        #expect(answer.output.contains("HTTP 50"), "\(answer)")
      }
      #expect(try PushServerAnnouncement.read(in: lone.instance)?.pid == server.pid)
    }
  }
}
