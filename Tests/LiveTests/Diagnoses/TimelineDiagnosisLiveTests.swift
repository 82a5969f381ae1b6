// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// `widgetlab diagnose` on authors whose timelines are wrong and, in the same cluster, on authors whose timelines are
/// right. The comment of each test names where the mistake was found.
@Suite(.live, .timeLimit(.live)) struct `Live diagnoses of timelines` {
  // A guard in a response handler returns without the completion; a mistake of providers in the corpus
  // (Uncurlynt/Weather-WithgetKit, AdguardTeam/AdguardForiOS issue 1849: one failed fetch).
  @Test
  func `diagnose reports a provider that completes only on success, but not one that always completes`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("trouble", 503) }
    try await MistakeFixture.run("answer", answer: answer) { fixture in
      try await fixture.reload()
      try await fixture.right.shows("no news")
      try await fixture.journal.waitFor("the wrong provider gets a request") {
        $0.destination == fixture.wrong.owner.text && $0.reading(RequestTimeline.self)?.purpose == .timeline
      }
      try await fixture.cluster.run("clock", "advance", "31s")
      let earned = try await fixture.cluster.expect(
        "get-timeline-never-completes", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.subject == "AnswersWhenAllIsWell of the kind Mistake")
    }
  }

  // home-assistant/iOS pull request 3414, in another form: cached data at once, and new data by the same completion.
  @Test
  func `diagnose reports a provider that completes twice, but not one that waits for the new data`() async throws {
    try await MistakeFixture.run("twice") { fixture in
      try await fixture.reload()
      try await fixture.wrong.shows("from the cache")
      try await fixture.right.shows("news")
      // The wrong provider may be suspended before its second completion: it has nothing more to do after the first. The
      // next request resumes it.
      try await fixture.cluster.eventually("the second completion is reported") {
        try await fixture.reload()
        return try await fixture.cluster.diagnoses().contains { $0.code == "get-timeline-completes-twice" }
      }
      try await fixture.cluster.expect("get-timeline-completes-twice", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // TortugaPower/BookPlayer issue 1230 and pull request 1282 in another form: an archive over its limit.
  @Test
  func `diagnose reports entries that exceed the archive limit with whole articles, but not entries with headlines`()
    async throws
  {
    try await MistakeFixture.run("archive") { fixture in
      try await fixture.reload()
      try await fixture.right.stored()
      let earned = try await fixture.cluster.expect("archive-too-large", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.subject == "GivesWholeArticles of the kind Mistake")
    }
  }

  // A bundle whose second widget was copied from the first, with its kind.
  @Test func `diagnose reports two widgets of one kind, but not two widgets of different kinds`() async throws {
    try await MistakeFixture.run("kind") { fixture in
      try await fixture.reload()
      try await fixture.right.stored()
      try await fixture.cluster.expect("kind-twice", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // Widgets from before iOS 17 are common in the corpus: 133 repositories of 220 have the modifier.
  @Test func `diagnose reports a view without a container background, but not one with it`() async throws {
    try await MistakeFixture.run("background") { fixture in
      try await fixture.reload()
      try await fixture.right.stored()
      try await fixture.cluster.expect("no-container-background", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // A filter that leaves nothing; home-assistant/iOS pull request 3414: the later, empty timeline wins.
  @Test func `diagnose reports a timeline without entries, but not one whose entry states that there is no data`()
    async throws
  {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("[]") }
    try await MistakeFixture.run("entries", answer: answer) { fixture in
      try await fixture.reload()
      try await fixture.right.shows("nothing more today")
      try await fixture.cluster.expect("timeline-without-entries", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // MapleTechLabs/maple, nightscout/nightguard issue 246: dates that are computed from the data.
  @Test(.rule("DIAGNOSIS-04"))
  func `diagnose reports a timeline that ends in the past, but not one that begins now`() async throws {
    try await MistakeFixture.run("past") { fixture in
      try await fixture.reload()
      try await fixture.right.stored()
      try await fixture.cluster.expect("timeline-in-the-past", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // AThevon/TokenEater pull request 27: from fifteen minutes to five.
  @Test(.rule("DIAGNOSIS-03"))
  func `diagnose reports a reload interval of five minutes, but not one of an hour`() async throws {
    try await MistakeFixture.run("interval") { fixture in
      try await fixture.reload()
      try await fixture.right.shows("every hour")
      let earned = try await fixture.cluster.expect(
        "interval-that-no-budget-pays", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.what.contains("after 5 min") || earned.what.contains("after 4 min"))
    }
  }

  // daneden/Zeitgeist issue 28: an index out of range in the provider, with an empty list.
  @Test
  func `diagnose reports a provider that crashes on an empty list, but not one that checks the list`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("[]") }
    try await MistakeFixture.run("crash", answer: answer) { fixture in
      try await fixture.reload()
      try await fixture.right.shows("no news")
      let earned = try await fixture.cluster.expect("crashed-while-asked", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.subject == "TrustsTheServer of the kind Mistake")
    }
  }

  // wikimedia/wikipedia-ios pull request 6019, home-assistant/iOS pull request 2741: images that are decoded at full
  // size.
  @Test(.disabled(if: LiveFixture.isSanitized, "a sanitized extension has no memory limit"))
  func `diagnose reports an eviction for an image decoded at full size, but not for a downsampled image`() async throws
  {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in
      LocalServer.Reply(body: Data(MistakeFixture.news.utf8), holdsAfter: 0)
    }
    try await MistakeFixture.run("memory", settings: ["memoryInterval: 0.05"], answer: answer) { fixture in
      try await fixture.reload()
      try await fixture.wrong.ended(1)
      for _ in 1...10 { fixture.server.release() }
      try await fixture.right.shows("news, 160000 pixels")
      let earned = try await fixture.cluster.expect("evicted-for-memory", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.what.contains("while it was asked for a timeline"))
    }
  }
}

/// `widgetlab diagnose` on authors who reload too often or without effect and, in the same cluster, on authors who do
/// not.
@Suite(.live, .timeLimit(.live)) struct `Live diagnoses of reloads` {
  // callstackincubator/voltra pull request 260, wikimedia/wikipedia-ios pull request 3688: loops from inside the
  // extension.
  @Test(.rule("DIAGNOSIS-06"))
  func `diagnose reports a provider that reloads its own widget in getTimeline, but not one that only saves data`()
    async throws
  {
    try await MistakeFixture.run("provider") { fixture in
      try await fixture.reload()
      try await fixture.right.shows("saved")
      try await fixture.wrong.shows("saved")
      // A reload that a provider requests for its own widget waits for five minutes.
      try await fixture.cluster.run("clock", "advance", "6m")
      let earned = try await fixture.cluster.expect("reload-in-get-timeline", of: fixture.wrong, notOf: fixture.right)
      #expect(earned.subject == "ReloadsWhatItGives of the kind Mistake")
    }
  }

  // MapleTechLabs/maple pull request 548: six reloads in a round, with the same data.
  @Test(.rule("DIAGNOSIS-05"))
  func `diagnose reports an app that reloads for each record, but not one that reloads once`() async throws {
    try await MistakeFixture.run("loop", hasApps: true) { fixture in
      try await fixture.openApps()
      try await fixture.cluster.expect(
        "reload-loop", of: fixture.app(of: fixture.wrong), notOf: fixture.app(of: fixture.right))
    }
  }

  // LoopKit/Loop pull request 2013, wordpress-mobile/WordPress-iOS issue 19685: reloads whenever the app enters the
  // foreground.
  @Test(.rule("DIAGNOSIS-07"))
  func `diagnose reports an app that reloads unchanged content whenever it opens, but not one that compares first`()
    async throws
  {
    try await MistakeFixture.run("same", hasApps: true) { fixture in
      for count in 1...4 {
        try await fixture.openApps()
        try await fixture.cluster.eventually("\(count) timelines that the app asked for") {
          try await fixture.journal.all().compactMap { $0.reading(TimelineStored.self) }
            .count { $0.bundle == fixture.wrong.owner.bundleIdentifier && $0.because == .app } >= count
        }
      }
      try await fixture.cluster.expect("reload-without-change", of: fixture.wrong, notOf: fixture.right)
    }
  }

  // The kind is written twice, with different spellings.
  @Test func `diagnose reports an app that reloads the name of a widget's type, but not one that reloads its kind`()
    async throws
  {
    try await MistakeFixture.run("name", hasApps: true) { fixture in
      try await fixture.openApps()
      for author in [fixture.wrong, fixture.right] { try await author.stored(orFailed: true) }
      try await fixture.cluster.expect(
        "reload-of-unknown-kind", of: fixture.app(of: fixture.wrong), notOf: fixture.app(of: fixture.right))
    }
  }
}

extension TrapAuthor {
  /// Waits until a timeline is stored or, with `orFailed`, a reload fails.
  fileprivate func stored(orFailed: Bool = false) async throws {
    try await journal.waitFor("a timeline of \(owner.short)") {
      $0.reading(TimelineStored.self)?.bundle == owner.bundleIdentifier
        || orFailed && $0.reading(ReloadFailed.self)?.bundle == owner.bundleIdentifier
    }
  }
}
