// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Journal

@Suite(.timeLimit(.minutes(1))) struct `The watch of a journal` {
  private let fixture = JournalFixture()

  @Test func `while the journal grows it looks at intervals, and requests no report`() {
    var pace = JournalWatchPace()
    #expect(pace.looked(foundSomething: false) == (500, false))
    pace.notified()
    let steps = (0..<100).map { _ in pace.looked(foundSomething: true) }
    #expect(steps.map(\.milliseconds) == Array(repeating: 10, count: 20) + Array(repeating: 25, count: 80))
    #expect(steps.allSatisfy { !$0.arms })
  }

  @Test func `after a lull it requests the report of the next write, and looks for what was written before`() {
    var pace = JournalWatchPace()
    #expect(pace.looked(foundSomething: true) == (10, false))
    let quiet = (0..<20).map { _ in pace.looked(foundSomething: false) }
    #expect(quiet.dropLast().allSatisfy { $0 == (10, false) })
    #expect(quiet[19] == (0, true))
    // Written between the last look and the request.
    #expect(pace.looked(foundSomething: true) == (10, false))
    for _ in 0..<20 { _ = pace.looked(foundSomething: false) }
    #expect(pace.looked(foundSomething: false) == (500, false))
  }

  @Test func `a report of something else is requested again`() {
    var pace = JournalWatchPace()
    _ = pace.looked(foundSomething: false)
    pace.notified()
    #expect(pace.looked(foundSomething: false) == (0, true))
    #expect(pace.looked(foundSomething: false) == (500, false))
  }

  @Test func `a folder without reports is looked at more often, until there is one`() {
    var pace = JournalWatchPace()
    _ = pace.looked(foundSomething: false)
    #expect(pace.looked(foundSomething: true) == (10, false))
    for _ in 0..<20 { _ = pace.looked(foundSomething: false) }
    #expect(pace.looked(foundSomething: false) == (20, false))
    #expect(pace.looked(foundSomething: false) == (20, true))
    pace.notified()
    #expect(pace.looked(foundSomething: false) == (0, true))
    #expect(pace.looked(foundSomething: false) == (500, false))
  }

  @Test func `it announces what is written, also in a folder that is made later, or again`() async throws {
    let watch = JournalWatch(folder: fixture.folder)
    defer { watch.end() }
    var pages = JournalPages(folder: fixture.folder)
    func follow(to last: UInt64) async throws {
      var seen: UInt64 = 0
      for await _ in watch.announcements {
        if pages.isReplaced { pages = JournalPages(folder: fixture.folder) }
        let bounds = try pages.bounds()
        watch.looked(foundSomething: bounds?.upperBound ?? 0 > seen)
        seen = bounds?.upperBound ?? 0
        if seen == last { return }
      }
    }
    for round: UInt64 in 1...3 {
      let writer = try fixture.begunWriter()
      try await follow(to: 1)
      for count: UInt64 in 2...5 {
        try fixture.fill(writer, to: count * round)
        try await follow(to: count * round)
      }
      try FileManager.default.removeItem(at: fixture.folder)
    }
    watch.end()
    for await _ in watch.announcements {}
  }
}
