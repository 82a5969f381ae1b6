import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What `widgetlab diagnose` says of authors whose timelines are wrong, and of those beside them who give right ones. Each
/// names where the mistake was seen.
@Suite(.live, .timeLimit(.live)) struct `Diagnoses of timelines:` {
  // A guard in the answer of a request whose else returns without the completion; trap of providers in the corpus
  // (Uncurlynt/Weather-WithgetKit, AdguardTeam/AdguardForiOS issue 1849: one failed fetch).
  @Test func `a provider that answers when all is well, and one that answers anyway`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("trouble", 503) }
    try await MistakeTrial.run("answer", answer: answer) { trial in
      try await trial.reload()
      try await trial.right.shows("no news")
      try await trial.journal.waitFor("the wrong provider is asked") {
        $0.destination == trial.wrong.owner.text && $0.reading(RequestTimeline.self)?.purpose == .timeline
      }
      try await trial.cluster.run("clock", "advance", "31s")
      let earned = try await trial.cluster.expect("get-timeline-never-completes", of: trial.wrong, notOf: trial.right)
      #expect(earned.subject == "AnswersWhenAllIsWell of the kind Mistake")
    }
  }

  // home-assistant/iOS pull request 3414, in another form: what is cached at once, and what is new by the same completion.
  @Test func `a provider that completes twice, and one that waits for the news`() async throws {
    try await MistakeTrial.run("twice") { trial in
      try await trial.reload()
      try await trial.wrong.shows("from the cache")
      try await trial.right.shows("news")
      try await trial.cluster.expect("get-timeline-completes-twice", of: trial.wrong, notOf: trial.right)
    }
  }

  // TortugaPower/BookPlayer issue 1230 and pull request 1282 in another form: more in the archive than it may have.
  @Test func `entries with whole articles, and entries with headlines`() async throws {
    try await MistakeTrial.run("archive") { trial in
      try await trial.reload()
      try await trial.right.stored()
      let earned = try await trial.cluster.expect("archive-too-large", of: trial.wrong, notOf: trial.right)
      #expect(earned.subject == "GivesWholeArticles of the kind Mistake")
    }
  }

  // A bundle whose second widget was copied from the first, with its kind.
  @Test func `two widgets of one kind, and two of two`() async throws {
    try await MistakeTrial.run("kind") { trial in
      try await trial.reload()
      try await trial.right.stored()
      try await trial.cluster.expect("kind-twice", of: trial.wrong, notOf: trial.right)
    }
  }

  // Widgets from before iOS 17, of which the corpus is full: 133 repositories of 220 have the modifier.
  @Test func `a view without a container background, and one with it`() async throws {
    try await MistakeTrial.run("background") { trial in
      try await trial.reload()
      try await trial.right.stored()
      try await trial.cluster.expect("no-container-background", of: trial.wrong, notOf: trial.right)
    }
  }

  // A filter that leaves nothing; home-assistant/iOS pull request 3414: the later, empty answer wins.
  @Test func `a timeline without entries, and one that says that there is nothing`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("[]") }
    try await MistakeTrial.run("entries", answer: answer) { trial in
      try await trial.reload()
      try await trial.right.shows("nothing more today")
      try await trial.cluster.expect("timeline-without-entries", of: trial.wrong, notOf: trial.right)
    }
  }

  // MapleTechLabs/maple, nightscout/nightguard issue 246: dates that are counted from the data.
  @Test func `a timeline that ends in the past, and one that begins now`() async throws {
    try await MistakeTrial.run("past") { trial in
      try await trial.reload()
      try await trial.right.stored()
      try await trial.cluster.expect("timeline-in-the-past", of: trial.wrong, notOf: trial.right)
    }
  }

  // AThevon/TokenEater pull request 27: from fifteen minutes to five.
  @Test func `a timeline every five minutes, and one every hour`() async throws {
    try await MistakeTrial.run("interval") { trial in
      try await trial.reload()
      try await trial.right.shows("every hour")
      let earned = try await trial.cluster.expect("interval-that-no-budget-pays", of: trial.wrong, notOf: trial.right)
      #expect(earned.what.contains("after 5 min") || earned.what.contains("after 4 min"))
    }
  }

  // daneden/Zeitgeist issue 28: an index out of range in the provider, with nothing to show.
  @Test func `a provider that takes the first of none, and one that looks first`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in .text("[]") }
    try await MistakeTrial.run("crash", answer: answer) { trial in
      try await trial.reload()
      try await trial.right.shows("no news")
      let earned = try await trial.cluster.expect("crashed-while-asked", of: trial.wrong, notOf: trial.right)
      #expect(earned.subject == "TrustsTheServer of the kind Mistake")
    }
  }

  // wikimedia/wikipedia-ios pull request 6019, home-assistant/iOS pull request 2741: pictures that are decoded whole.
  @Test func `a picture that is decoded whole, and one of the size in which it is seen`() async throws {
    let answer: @Sendable (LocalServer.Request) -> LocalServer.Reply = { _ in
      LocalServer.Reply(body: Data(MistakeTrial.news.utf8), holdsAfter: 0)
    }
    try await MistakeTrial.run("memory", settings: ["memoryInterval: 0.05"], answer: answer) { trial in
      try await trial.reload()
      try await trial.wrong.ended(1)
      for _ in 1...10 { trial.server.release() }
      try await trial.right.shows("news, 160000 pixels")
      let earned = try await trial.cluster.expect("evicted-for-memory", of: trial.wrong, notOf: trial.right)
      #expect(earned.what.contains("while it was asked for a timeline"))
    }
  }
}

/// What `widgetlab diagnose` says of authors who reload too often or for nothing, and of those beside them who do not.
@Suite(.live, .timeLimit(.live)) struct `Diagnoses of reloads:` {
  // callstackincubator/voltra pull request 260, wikimedia/wikipedia-ios pull request 3688: loops from inside the extension.
  @Test func `a provider that reloads what it gives, and one that saves it`() async throws {
    try await MistakeTrial.run("provider") { trial in
      try await trial.reload()
      try await trial.right.shows("saved")
      try await trial.wrong.shows("saved")
      // The reload that a provider asks for itself waits for five minutes.
      try await trial.cluster.run("clock", "advance", "6m")
      let earned = try await trial.cluster.expect("reload-in-get-timeline", of: trial.wrong, notOf: trial.right)
      #expect(earned.subject == "ReloadsWhatItGives of the kind Mistake")
    }
  }

  // MapleTechLabs/maple pull request 548: six reloads in a round, with the same data.
  @Test func `an app that reloads for each record, and one that reloads once`() async throws {
    try await MistakeTrial.run("loop", hasApps: true) { trial in
      try await trial.openApps()
      try await trial.cluster.expect("reload-loop", of: trial.app(of: trial.wrong), notOf: trial.app(of: trial.right))
    }
  }

  // LoopKit/Loop pull request 2013, wordpress-mobile/WordPress-iOS issue 19685: reloads whenever the app comes to the front.
  @Test func `an app that reloads whenever it is opened, and one that compares first`() async throws {
    try await MistakeTrial.run("same", hasApps: true) { trial in
      for count in 1...4 {
        try await trial.openApps()
        try await trial.cluster.eventually("\(count) timelines that the app asked for") {
          try await trial.journal.all().compactMap { $0.reading(TimelineStored.self) }
            .count { $0.bundle == trial.wrong.owner.bundleIdentifier && $0.because == .app } >= count
        }
      }
      try await trial.cluster.expect("reload-without-change", of: trial.wrong, notOf: trial.right)
    }
  }

  // The kind is written twice, and not alike.
  @Test func `an app that reloads its widget's type, and one that reloads its kind`() async throws {
    try await MistakeTrial.run("name", hasApps: true) { trial in
      try await trial.openApps()
      for author in [trial.wrong, trial.right] { try await author.stored(orFailed: true) }
      try await trial.cluster.expect(
        "reload-of-unknown-kind", of: trial.app(of: trial.wrong), notOf: trial.app(of: trial.right))
    }
  }
}

extension TrapAuthor {
  /// A timeline was stored, or a reload came to nothing.
  fileprivate func stored(orFailed: Bool = false) async throws {
    try await journal.waitFor("a timeline of \(owner.short)") {
      $0.reading(TimelineStored.self)?.bundle == owner.bundleIdentifier
        || orFailed && $0.reading(ReloadFailed.self)?.bundle == owner.bundleIdentifier
    }
  }
}
