// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing
import WidgetLabTesting

@testable import Console

/// The folder of the journal is removed and made again while a console shows it.
@Suite(.timeLimit(.minutes(1))) struct `A replaced journal` {
  private func journal(_ client: ConsoleClient) async throws -> [String: Int] {
    let journal = try await client.get("/api/state").json()["journal"] as? [String: Any] ?? [:]
    return journal.compactMapValues { $0 as? Int }
  }

  @Test func `streams end, and everything is read from the new journal`() async throws {
    try await ConsoleFixture.with { fixture, client in
      try fixture.fill(2000)
      try fixture.write([ScreenChanged(state: DeviceScreen(isLocked: true))])
      let formerEvents = try await client.events("rows=1", after: 0)
      _ = try await formerEvents.until { $0.id == 2002 }
      #expect(try await journal(client) == ["generation": 0, "first": 1, "last": 2002])
      try fixture.makeAgain()
      while try await formerEvents.next() != nil {}
      #expect(try await journal(client) == ["generation": 1, "first": 1, "last": 1])
      let events = try await client.events("rows=1&after=0")
      try fixture.fill(3, text: "after")
      var seen: [UInt64] = []
      while seen.count < 4, let event = try await events.next() { seen += event.sequences }
      #expect(seen == [1, 2, 3, 4])
      let answer = try await client.get("/api/messages?after=1").json()
      let rows = try #require(answer["rows"] as? [[String: Any]])
      #expect(rows.compactMap { $0["note"] as? String }.allSatisfy { $0.contains("after") })
      // What the analysis knew of the former journal is gone.
      let history = try await client.get("/api/history").json()
      #expect(history["to"] as? Double ?? 0 > history["from"] as? Double ?? 0)
      var state: [String: Any] = [:]
      repeat {
        state = try await client.get("/api/state").json()
      } while (state["analysis"] as? [String: Any])?["isComplete"] as? Bool != true
      #expect(state["kinds"] as? [String] == ["bus.started", "process.output"])
    }
  }

  @Test func `it is noticed each time`() async throws {
    try await ConsoleFixture.with { fixture, client in
      for generation in 1...3 {
        let events = try await client.events()
        try fixture.makeAgain()
        while try await events.next() != nil {}
        #expect(try await journal(client)["generation"] == generation)
      }
    }
  }

  @Test func `a folder that is removed and not made again stays as it was shown`() async throws {
    try await ConsoleFixture.with { fixture, client in
      try fixture.fill(9)
      let events = try await client.events("rows=1&after=0")
      _ = try await events.until { $0.id == 10 }
      try FileManager.default.removeItem(at: fixture.folder)
      #expect(try await journal(client)["generation"] == 0)
      fixture.cluster.announce.yield([.state])
      #expect(try await events.until { $0.name == "changed" }.last?.topics == ["state"], "the stream goes on")
    }
  }
}
