import Archive
import Conversations
import Foundation
import Testing
import Timekeeping

@testable import Timelines

@Suite struct `who is asked for a timeline` {
  @Test func `a placement is asked for its placeholder once, then for its timeline`() {
    var bench = Bench()
    bench.knows(["Coffee"])
    #expect(bench.place(1) == ["free 1 of 1: added, added", "want widget"])
    #expect(bench.take(.awake(widget)) == ["ask 1 Coffee placeholder"])
    let words = bench.giveAll()
    #expect(words == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget"])
    bench.reload()
    #expect(bench.take(.awake(widget)) == ["ask 1 Coffee timeline"])
  }

  @Test(arguments: [
    ("text-size", true), ("accessibility", true), ("locale", true), ("account", false), ("time", false),
  ])
  func `a placeholder is asked for again when a setting changes that views read, once for several changes`(
    setting: String, isAsked: Bool
  ) {
    var bench = Bench.placed()
    bench.take(.systemChanged(setting, .none))
    let words = bench.take(.systemChanged(setting, .none))
    #expect(words == ["merged 2 of 1: system, newer-reload", "free 3 of 1: system, paid-before", "want widget"])
    let asked = bench.giveAll().filter { $0.hasPrefix("ask") }
    #expect(asked == (isAsked ? ["ask 1 Coffee placeholder"] : []) + ["ask 1 Coffee timeline"])
    bench.reload()
    #expect(bench.giveAll().filter { $0.hasPrefix("ask") } == ["ask 1 Coffee timeline"])
  }

  @Test func `a placeholder that is being asked for is not asked for again by a change meanwhile`() {
    var bench = Bench()
    bench.knows(["Coffee"])
    bench.place(1)
    bench.take(.awake(widget))
    bench.take(.systemChanged("text-size", .none))
    #expect(bench.giveAll().filter { $0.hasPrefix("ask") } == ["ask 1 Coffee timeline"])
  }

  @Test func `a placeholder that cannot be made anew leaves the one of before, and its timeline comes`() {
    var bench = Bench.placed()
    bench.take(.systemChanged("text-size", .none))
    bench.take(.awake(widget))
    #expect(bench.fail() == ["ask 1 Coffee timeline"])
    #expect(bench.give() == ["shown 1: 0.0", "release widget"])
  }

  @Test func `an extension asks for its own timelines, an app for those of its extensions, a person for all`() {
    var bench = Bench()
    #expect(bench.reload(widget) == ["want widget"])
    #expect(bench.reload(app) == ["want widget"])
    #expect(bench.reload(person, nil) == ["want widget", "want other"])
    #expect(
      bench.reload(.app("iphone", "com.none"), nil) == ["failed all: no widget extension belongs to app/com.none"])
  }

  @Test func `an extension asks for the timelines of its app's other extensions, and is no loop of theirs`() {
    let second = Address.widgetExtension("iphone", "com.example.Coffee.Second")
    var decision = TimelineDecision(extensions: [widget, second, other], apps: [app])
    func words(_ event: TimelineDecision.Event) -> [String] { decision.take(event, now: origin).map(\.words) }
    _ = words(.knows(widget, ["Coffee": .systemSmall]))
    _ = words(.knows(second, ["Tea": .systemSmall]))
    let placements = [(1, widget, "Coffee"), (2, second, "Tea")].map { id, address, kind in
      Placement(
        id: id, bundle: address.bundleIdentifier ?? "", kind: kind, family: .systemSmall, location: .homeScreen,
        configuration: [:])
    }
    for placement in placements { _ = words(.placed(placement, .none)) }
    #expect(decision.targets(of: widget) == [second, widget])
    #expect(decision.targets(of: other) == [other])
    _ = words(.reload(from: widget, kind: nil, isInside: true, .none))
    #expect(decision.placements.mapValues { $0.owed?.isInside } == [1: true, 2: false])
  }

  @Test func `a kind that is placed launches only the extension that has it`() {
    var bench = Bench.placed()
    #expect(bench.reload() == ["free 2 of 1: operator, operator", "want widget"])
  }

  @Test func `what was asked before the kinds were known is owed when they are, with the placing as one reload`() {
    var bench = Bench()
    #expect(bench.reload() == ["want widget", "want other"])
    bench.knows(["Coffee"])
    bench.place(1)
    #expect(
      bench.take(.awake(widget)) == [
        "merged 1 of 1: added, newer-reload", "free 2 of 1: operator, paid-before", "want widget",
        "ask 1 Coffee placeholder",
      ])
    bench.knows(["Tea"], other)
    #expect(bench.take(.awake(other)) == ["release other"])
  }

  @Test func `a kind that nobody has fails with the kinds that there are`() {
    var bench = Bench()
    bench.reload(person, "Milk")
    bench.knows(["Coffee"])
    #expect(bench.take(.awake(widget)) == ["release widget"])
    bench.knows(["Tea"], other)
    #expect(
      bench.take(.awake(other)) == ["failed Milk: no widget is of kind Milk; there are: Coffee, Tea", "release other"])
  }

  @Test func `a kind that nobody has placed is told at once`() {
    var bench = Bench.placed()
    bench.knows(["Coffee", "Tea"])
    bench.knows([], other)
    #expect(bench.reload(person, "Tea") == ["failed Tea: no widget of it is placed"])
  }

  @Test func `several placements are asked one after the other, by their numbers`() {
    var bench = Bench.placed()
    bench.place(3)
    bench.place(2)
    let asked = bench.giveAll().filter { $0.hasPrefix("ask") && $0.hasSuffix("timeline") }
    #expect(asked == ["ask 2 Coffee timeline", "ask 3 Coffee timeline"])
  }

  @Test func `reloads that come while one is owed are one`() {
    var bench = Bench.placed()
    bench.reload()
    #expect(
      bench.reload() == ["merged 2 of 1: operator, newer-reload", "free 3 of 1: operator, paid-before", "want widget"])
    #expect(bench.giveAll() == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget"])
  }

  @Test func `a reload that comes while the extension is asked is asked again`() {
    var bench = Bench.placed()
    bench.reload()
    bench.take(.awake(widget))
    #expect(bench.reload() == ["free 3 of 1: operator, operator"])
    #expect(bench.give() == ["shown 1: 0.0", "ask 1 Coffee timeline"])
  }

  @Test
  func `a reload that comes while the placeholder is asked does not take the first timeline's place in the budget`() {
    var bench = Bench()
    bench.knows(["Coffee"])
    bench.place(1)
    bench.take(.awake(widget))
    #expect(bench.reload(app) == ["merged 1 of 1: added, newer-reload", "free 2 of 1: app, paid-before"])
    #expect(bench.giveAll() == ["ask 1 Coffee timeline", "shown 1: 0.0", "release widget"])
  }

  @Test func `each placement has its own configuration, and is asked again when it is edited`() {
    var bench = Bench.placed()
    let edited = bench.placement(1, "Coffee", ["size": "large"])
    #expect(bench.take(.edited(edited, .none)) == ["free 2 of 1: edited, edited", "want widget"])
    #expect(bench.take(.edited(edited, .none)) == [])
    bench.take(.awake(widget))
    #expect(bench.decision.asking[widget]?.placement.configuration == ["size": "large"])
  }

  @Test func `nothing is kept of a placement that is removed while it is asked`() {
    var bench = Bench.placed()
    bench.reload()
    bench.take(.awake(widget))
    bench.take(.removed(1))
    #expect(bench.give() == ["release widget"])
    #expect(bench.decision.placements.isEmpty && bench.decision.upcoming.isEmpty)
  }

  @Test func `a kind that the extension no longer has leaves its placements alone`() {
    var bench = Bench.placed()
    bench.knows(["Tea"])
    bench.reload()
    let words = bench.take(.awake(widget))
    #expect(words == ["failed Coffee: no widget is of kind Coffee; there are: Tea", "release widget"])
    #expect(bench.decision.nextInstant == nil)
  }

  @Test func `a snapshot is asked for before the timelines that are owed, and of who may have the kind`() {
    var bench = Bench.placed()
    bench.reload()
    bench.take(.snapshot(kind: "Coffee", family: nil, serial: 7))
    #expect(bench.take(.awake(widget)) == ["ask 0 Coffee snapshot"])
    #expect(bench.fail() == ["no snapshot: it failed", "ask 1 Coffee timeline"])
    #expect(bench.give() == ["shown 1: 0.0", "release widget"])
    #expect(bench.take(.snapshot(kind: "Tea", family: nil, serial: 8)) == ["want other"])
    bench.knows([], other)
    #expect(
      bench.take(.awake(other)) == ["no snapshot: no widget is of kind Tea; there are: Coffee", "release other"])
  }
}

@Suite struct `a reload that comes to nothing` {
  @Test(arguments: [0, 1])
  func `an extension that dies while it is asked is asked again at once so often as the setting says`(retries: Int) {
    var settings = TimelineSettings()
    settings.retriesAfterDeath = retries
    var bench = Bench.placed(settings)
    bench.reload()
    for _ in 0..<retries {
      bench.take(.awake(widget))
      #expect(bench.take(.lifeEnded(widget)) == ["stop widget", "want widget"])
    }
    bench.take(.awake(widget))
    let words = bench.take(.lifeEnded(widget))
    #expect(words.first == "stop widget" && words.last == "release widget")
    #expect(words[1].hasPrefix("failed Coffee: the extension died"))
    #expect(bench.due == 60)
  }

  @Test(arguments: [60.0, 10])
  func `a placement whose reload failed is left alone, the longer the more often it failed`(first: Double) {
    var settings = TimelineSettings()
    settings.backoff = Backoff(first: first, limit: 3 * first)
    var bench = Bench.placed(settings)
    bench.reload()
    for pause in [first, 2 * first, 3 * first, 3 * first] {
      bench.take(.awake(widget))
      #expect(bench.fail() == ["failed Coffee: it failed", "release widget"])
      #expect(bench.due == pause)
      #expect(bench.next() == ["free 2 of 1: operator, tried-again", "want widget"])
    }
    bench.giveAll()
    #expect(bench.decision.nextInstant == nil)
    #expect(bench.decision.placements[1]?.lastFailure == nil)
  }

  @Test func `who asks for a reload does not wait for the end of it`() {
    for source in [person, app, widget] {
      var bench = Bench.placed()
      bench.take(.inFront(app: app, true))
      bench.reload()
      bench.take(.awake(widget))
      bench.fail()
      #expect(bench.reload(source).last == "want widget", "\(source)")
    }
  }

  @Test func `the system, which changed a setting, does`() {
    var bench = Bench.placed()
    bench.reload()
    bench.take(.awake(widget))
    bench.fail()
    bench.pass(10)
    #expect(
      bench.take(.systemChanged("time", .none)) == [
        "merged 2 of 1: operator, newer-reload", "delayed 3 of 1: system, back-off",
      ])
    #expect(bench.due == 50)
  }

  @Test func `an extension that does not answer in time is halted, and asked for what else it owes`() throws {
    var bench = Bench.placed()
    bench.place(2)
    bench.giveAll()
    bench.reload()
    bench.take(.awake(widget))
    let question = try #require(bench.decision.asking[widget])
    #expect(
      bench.take(.overran(question, limit: 30)) == [
        "stop widget",
        "failed Coffee: no timeline within 30 s: the extension is halted half-way, and the last timeline stays",
        "halt widget", "want widget",
      ])
    #expect(bench.take(.awake(widget)) == ["ask 2 Coffee timeline"])
  }

  @Test func `an extension that dies before it is asked is waited for, and the clock is not`() {
    var bench = Bench.placed()
    bench.reload()
    #expect(bench.decision.isBusy)
    #expect(bench.take(.lifeEnded(widget)) == [])
    #expect(!bench.decision.isBusy)
    #expect(bench.take(.awake(widget)) == ["ask 1 Coffee timeline"])
    #expect(bench.decision.isBusy)
  }
}
