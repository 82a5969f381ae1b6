// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

@testable import Console

/// What the page reads of the bus.
@Suite(.timeLimit(.minutes(1))) struct `Messages of the console` {
  private func sequences(_ answer: ConsoleClient.Answer) throws -> [Int] {
    (try answer.json()["rows"] as? [[String: Any]] ?? []).compactMap { $0["sequence"] as? Int }
  }

  @Test func `rows are exactly the numbers that were asked for`() async throws {
    try await ConsoleFixture.with { fixture, client in
      try fixture.fill(999)
      func rows(_ query: String) async throws -> [Int] { try sequences(try await client.get("/api/messages?\(query)")) }
      #expect(try await rows("limit=3") == [998, 999, 1000])
      #expect(try await rows("before=10&limit=3") == [7, 8, 9])
      #expect(try await rows("before=3&limit=10") == [1, 2])
      #expect(try await rows("after=500&limit=2") == [501, 502])
      #expect(try await rows("after=999&limit=5") == [1000])
      #expect(try await rows("after=1000") == [])
      #expect(try await rows("around=500&limit=4") == [498, 499, 500, 501, 502])
      #expect(try await rows("around=5000&limit=4") == [998, 999, 1000])
      #expect(try await client.get("/api/messages?before=1&after=2").status == 400)
      #expect(try await client.get("/api/messages?before=-1").status == 400)
    }
  }

  @Test func `a filtered search continues from what it has scanned until everything is found`() async throws {
    try await ConsoleFixture.with { fixture, client in
      for round in 0..<30 { try fixture.fill(100, text: round % 10 == 3 ? "wanted" : "other") }
      let filter = "where=note+%3D%3D+%22*wanted*%22"
      var foundNumbers: [Int] = []
      var before = 1_000_000
      for _ in 0..<100 {
        let answer = try await client.get("/api/messages?\(filter)&before=\(before)&limit=120").json()
        let rows = (answer["rows"] as? [[String: Any]] ?? []).compactMap { $0["sequence"] as? Int }
        foundNumbers = rows + foundNumbers
        let scanned = try #require(answer["scanned"] as? [String: Int])
        before = try #require(scanned["from"])
        if before == 1 { break }
      }
      #expect(foundNumbers == Array(302...401) + Array(1302...1401) + Array(2302...2401))
      // A search ends after a time, also forward.
      (foundNumbers, before) = ([], 0)
      for _ in 0..<100 where foundNumbers.count < 2 {
        let answer = try await client.get("/api/messages?\(filter)&after=\(before)&limit=\(2 - foundNumbers.count)")
          .json()
        foundNumbers += (answer["rows"] as? [[String: Any]] ?? []).compactMap { $0["sequence"] as? Int }
        before = try #require((answer["scanned"] as? [String: Int])?["to"])
      }
      #expect(foundNumbers == [302, 303])
    }
  }

  @Test func `a wrong filter has its position and what is allowed there`() async throws {
    try await ConsoleFixture.with { _, client in
      for path in ["/api/messages", "/api/events"] {
        let answer = try await client.get("\(path)?where=kind+%3D%3D+a+%26%26+nonsense")
        #expect(answer.status == 400)
        let error = try #require(try answer.json()["error"] as? [String: Any])
        #expect(error["place"] as? [String: Int] == ["from": 13, "to": 21])
        #expect((error["advice"] as? String)?.contains("kind, from, to") == true)
      }
    }
  }

  @Test func `a message has its cause and its effects`() async throws {
    try await ConsoleFixture.with { fixture, client in
      try fixture.fill(2)
      let detail = try await client.get("/api/messages/2").json()
      #expect(detail["size"] as? Int ?? 0 > 0)
      #expect((detail["row"] as? [String: Any])?["kind"] as? String == "process.output")
      #expect((detail["effects"] as? [Any])?.isEmpty == true)
      for wrong in ["0", "999", "x", "-1", "99999999999999999999"] {
        #expect(try await client.get("/api/messages/\(wrong)").status == 404, "\(wrong)")
      }
    }
  }

  @Test func `the stream has each new message once, and continues after the last id without a gap`() async throws {
    try await ConsoleFixture.with { fixture, client in
      try fixture.fill(9)
      // Otherwise they may be new for the stream.
      try await fixture.until { $0.feed.last == 10 }
      var events = try await client.events("rows=1")
      var seen: [UInt64] = []
      for round in 0..<5 {
        try fixture.fill(700)
        let end = UInt64(10 + 700 * (round + 1))
        while seen.last ?? 0 < end - UInt64(round * 13), let event = try await events.next() { seen += event.sequences }
        let last = events.lastID
        events.close()
        try fixture.fill(0)
        events = try await client.events("rows=1", after: last)
      }
      while seen.last != 3510, let event = try await events.next() {
        #expect(event.sequences.count <= 500)
        seen += event.sequences
      }
      #expect(seen == Array(11...3510))
    }
  }

  @Test func `a stream with a filter sends only what matches, and moves its id on`() async throws {
    try await ConsoleFixture.with { fixture, client in
      let events = try await client.events("rows=1&where=note+%3D%3D+%22*wanted*%22")
      try fixture.fill(400, text: "other")
      try fixture.fill(1, text: "wanted")
      let event = try #require(try await events.until { $0.name == "rows" && !$0.sequences.isEmpty }.last)
      #expect(event.sequences == [402])
      #expect(event.id >= 402)
    }
  }

  @Test func `a stream announces what changed, and after an interruption everything`() async throws {
    try await ConsoleFixture.with { fixture, client in
      let events = try await client.events()
      let state = DeviceScreen(isLocked: true)
      try fixture.write([ScreenChanged(state: state)])
      let changed = try #require(try await events.until { $0.name == "changed" }.last)
      #expect(changed.topics == ["screen"])
      fixture.cluster.announce.yield([.state])
      #expect(try await events.until { $0.name == "changed" }.last?.topics == ["state"])
      let resumed = try await client.events(after: 1)
      #expect(try await resumed.next()?.topics.count == ConsoleTopic.allCases.count)
    }
  }

  @Test func `the first events of a stream have no pause, and over a longer time there are 40 a second`() {
    let start = ContinuousClock.now
    var pace = EventPace(at: start)
    #expect((0..<9).map { _ in pace.pause(at: start) } == Array(repeating: nil, count: 9))
    var now = start
    for _ in 0..<100 {
      guard let pause = pace.pause(at: now) else {
        Issue.record("an event without a pause")
        return
      }
      now += pause
    }
    // 109 events, of which 10 had no pause.
    #expect(abs((now - start) / .seconds(1) - 2.5) < 0.01)
    #expect(pace.pause(at: now + .milliseconds(200)) == nil, "a rest permits events without a pause again")
    now += .seconds(3600)
    #expect((0..<10).count { _ in pace.pause(at: now) == nil } == 9, "and never more than at the beginning")
  }

  @Test func `a stream gives a sign of life`() async throws {
    try await ConsoleFixture.with {
      $0.heartbeat = .milliseconds(50)
    } _: { fixture, client in
      try fixture.fill(4)
      let events = try await client.events()
      // The comment has an id, so that the browser knows the end of the journal after a reconnection.
      while let block = try await events.nextBlock() {
        if block == "id: 5\n: alive" { return }
      }
      Issue.record("the stream ended")
    }
  }

  @Test func `the files of the page are embedded, with their hash`() async throws {
    let folder = Repository.root.appending(path: "Sources/Observability/Console/Resources")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(ConsoleFile.all.keys.sorted() == files, "page.c of CConsolePage lists each file of the folder")
    for (name, file) in ConsoleFile.all {
      let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
      // A failure prints no bytes.
      let isSame = file.bytes == bytes
      #expect(isSame, "\(name)")
      #expect(file.type != "application/octet-stream", "\(name)")
    }
    try await ConsoleFixture.with { _, client in
      let answer = try await client.get("/assets/index.html")
      let tag = try #require(answer.headers["etag"])
      let again = try await client.get("/assets/index.html", ["If-None-Match": tag])
      #expect(again.status == 304 && again.body.isEmpty)
    }
  }
}
