import Archive
import Conversations
import Foundation
import Testing

@testable import Pushes

/// A decision, and its answers in words.
private struct Bench {
  var decision: NotificationDecision

  init(placed: [Int] = [1, 2], open: [NotificationDecision.Open] = []) {
    decision = NotificationDecision(device: device, open: open)
    place(placed)
  }

  mutating func place(_ ids: [Int]) {
    decision.placements = [coffee: Dictionary(uniqueKeysWithValues: ids.map { ($0, "Cups") })]
  }

  @discardableResult
  mutating func take(_ event: NotificationDecision.Event) -> [String] { decision.take(event).map(\.words) }

  @discardableResult
  mutating func report(_ push: Int, _ placement: Int, _ outcome: ReloadOutcome) -> [String] {
    take(.reported(PlacementReport(push: .push(push), placement: placement, outcome: outcome)))
  }

  /// A push whose reloads have begun.
  static func begun(_ push: Int = 1) -> Bench {
    var bench = Bench()
    bench.take(.received(notification(push)))
    bench.take(.begin(.push(push)))
    return bench
  }
}

@Suite struct `a widget push` {
  @Test func `reloads all placements that take pushes, and is over when each has its timeline`() {
    var bench = Bench()
    #expect(bench.take(.received(notification(1))) == ["reload 1"])
    #expect(bench.take(.begin(.push(1))) == ["1 reloading: placement 1 (Cups), placement 2 (Cups)"])
    #expect(bench.decision.outstanding(.push(1)) == [1, 2])
    #expect(bench.report(1, 1, .owed) == [])
    #expect(bench.report(1, 1, .stored) == ["1 reloaded: placement 1 (Cups)"])
    #expect(bench.report(1, 1, .stored) == [])
    #expect(bench.report(1, 2, .stored) == ["1 reloaded: placement 2 (Cups)"])
    #expect(bench.decision.open.isEmpty)
  }

  @Test(arguments: [
    #"{"aps":{}}"#, #"{"aps":{"content-changed":false}}"#, #"{"aps":{"content-changed":"true"}}"#,
    #"{"aps":{"content-changed":1}}"#, #"{"content-changed":true}"#, "{}", "news", "",
  ])
  func `without content-changed reloads nothing, and says so`(payload: String) {
    var bench = Bench()
    let words = bench.take(.received(notification(1, .widgets, payload)))
    #expect(words == ["1 noContentChanged: its payload has no \"content-changed\": true in aps: it reloads nothing"])
    #expect(bench.decision.open.isEmpty)
  }

  @Test(arguments: [
    #"{"aps":{"content-changed":true}}"#, "{\n    \"aps\": {\n        \"content-changed\": true,     \n    }\n}",
    #"{"aps":{"content-changed":true,"alert":{"title":"x"}},"more":[1,2]}"#,
  ])
  func `with it reloads, also as Apple's own sample has it`(payload: String) {
    var bench = Bench()
    #expect(bench.take(.received(notification(1, .widgets, payload))) == ["reload 1"])
  }

  @Test func `that finds no widget says so`() {
    var bench = Bench(placed: [])
    #expect(
      bench.take(.received(notification(1))) == [
        "1 noWidget: no widget of com.example.Coffee with a push handler is placed"
      ])
  }

  @Test func `that is not begun gives way to a newer one`() {
    var bench = Bench()
    bench.take(.received(notification(1)))
    let words = bench.take(.received(notification(2)))
    #expect(words.first?.hasPrefix("1 supersededOnDevice: by 00000000") == true)
    #expect(words.last == "reload 2")
    #expect(bench.take(.begin(.push(1))) == [])
  }

  @Test func `that is begun goes on beside a newer one, and where that took its reload says so once`() {
    var bench = Bench.begun()
    #expect(bench.take(.received(notification(2))) == ["reload 2"])
    #expect(bench.report(1, 1, .superseded) == ["1 supersededOnDevice: at placement 1 (Cups)"])
    #expect(bench.report(1, 2, .stored) == ["1 reloaded: placement 2 (Cups)"])
    #expect(bench.decision.open.map(\.id.short) == ["2"])
  }

  @Test func `names the rule by which the budget lets it wait, or refuses`() {
    var bench = Bench.begun()
    let until = Date(timeIntervalSince1970: 1_000_000_300)
    #expect(
      bench.report(1, 1, .delayed(rule: "minimum-spacing", until: until)) == [
        "1 budget: placement 1 (Cups) waits until 2001-09-09T01:51:40Z: minimum-spacing"
      ])
    #expect(
      bench.report(1, 2, .refused(rule: "no-reloads")) == ["1 budget: placement 2 (Cups) is refused: no-reloads"])
    #expect(bench.report(1, 1, .stored) == ["1 reloaded: placement 1 (Cups)"])
    #expect(bench.decision.open.isEmpty)
  }

  @Test func `whose reload failed waits for the next try, unless there is none`() {
    var bench = Bench.begun()
    #expect(bench.report(1, 1, .failed("it died")) == ["1 reloadFailed: placement 1 (Cups): it died"])
    #expect(bench.decision.outstanding(.push(1)) == [1, 2])
    #expect(bench.report(1, 1, .gaveUp("no kind")) == ["1 reloadFailed: placement 1 (Cups): no kind"])
    #expect(bench.decision.outstanding(.push(1)) == [2])
  }

  @Test func `is over when the widgets are gone`() {
    var bench = Bench.begun()
    bench.report(1, 1, .stored)
    bench.place([1])
    #expect(bench.take(.placed) == ["1 noWidget: the widgets were removed before their reload"])
  }
}

@Suite struct `a widget push that the host died over` {
  @Test func `is taken up again when its reloads had not begun`() {
    var first = Bench()
    first.take(.received(notification(1)))
    var second = Bench(open: first.decision.open)
    #expect(second.take(.began([])) == ["reload 1"])
  }

  @Test func `is told what became of it meanwhile, and asks again for the rest alone`() {
    var second = Bench(open: Bench.begun().decision.open)
    let report = PlacementReport(push: .push(1), placement: 1, outcome: .stored)
    #expect(second.take(.began([report])) == ["1 reloaded: placement 1 (Cups)", "reload 1"])
    #expect(second.decision.outstanding(.push(1)) == [2])
    #expect(second.take(.begin(.push(1))) == [])
  }

  @Test func `is over when all of it was stored`() {
    var second = Bench(open: Bench.begun().decision.open)
    let reports = [1, 2].map { PlacementReport(push: .push(1), placement: $0, outcome: .stored) }
    #expect(second.take(.began(reports)).count == 2)
    #expect(second.decision.open.isEmpty)
  }

  @Test func `gives way to a newer one, as far as Timelines does not have it`() {
    var first = Bench.begun()
    first.take(.received(notification(2)))
    var second = Bench(open: first.decision.open)
    let report = PlacementReport(push: .push(1), placement: 1, outcome: .owed)
    #expect(second.take(.began([report])) == ["reload 2", "1 supersededOnDevice: at placement 2 (Cups)"])
    #expect(second.decision.outstanding(.push(1)) == [1])
  }
}

private let alert = #"{"aps":{"alert":"Coffee"}}"#
private let background = #"{"aps":{"content-available":1}}"#

@Suite struct `a push to the app` {
  @Test func `of the type alert is for an app in front, and wakes it with content-available alone`() {
    var bench = Bench()
    #expect(bench.take(.received(notification(1, .alert, alert))) == ["hand over 1"])
    let both = #"{"aps":{"alert":"Coffee","content-available":1}}"#
    #expect(bench.take(.received(notification(2, .alert, both))) == ["hand over 2, waking"])
  }

  @Test func `that is shown alone is handled so`() {
    var bench = Bench()
    bench.take(.received(notification(1, .alert, alert)))
    #expect(bench.take(.shown(.push(1))).first == "1 handled: shown")
    #expect(bench.decision.open.isEmpty)
  }

  @Test func `of the type background wakes it, and is handled with what the author completed with`() {
    var bench = Bench()
    #expect(bench.take(.received(notification(1, .background, background))) == ["hand over 1, waking"])
    #expect(bench.take(.awake(app)) == [])
    bench.take(.expect(.push(1)))
    #expect(bench.take(.awake(app)) == ["ask \(app.short) 1"])
    #expect(bench.take(.awake(app)) == [])
    #expect(bench.take(.answered(.push(1), .newData)) == ["1 handled: newData", "release \(app.short)"])
  }

  @Test func `of the type background without content-available is discarded`() {
    var bench = Bench()
    let words = bench.take(.received(notification(1, .background, alert)))
    #expect(words.first?.hasPrefix("1 discarded: a background push wakes the app with") == true)
  }

  @Test func `of a type that nothing receives is discarded by name`() {
    var bench = Bench()
    let words = bench.take(.received(notification(1, .voip, alert)))
    #expect(words.first == "1 discarded: nothing on this device receives pushes of the type voip")
  }

  @Test func `whose completion never comes has the app ended`() {
    var bench = Bench()
    bench.take(.received(notification(1, .background, background)))
    bench.take(.expect(.push(1)))
    bench.take(.awake(app))
    #expect(
      bench.take(.overran(.push(1))) == [
        "1 handled: the completion handler was not called within 30 s: the app is ended", "release \(app.short)",
        "evict \(app.short)",
      ])
  }

  @Test func `that the app died over is told in the next life, and after a second death no more`() {
    var bench = Bench()
    bench.take(.received(notification(1, .background, background)))
    bench.take(.expect(.push(1)))
    bench.take(.awake(app))
    #expect(bench.take(.lifeEnded(app)) == ["hand over 1, waking"])
    bench.take(.expect(.push(1)))
    #expect(bench.take(.awake(app)) == ["ask \(app.short) 1"])
    #expect(bench.take(.lifeEnded(app)).first == "1 discarded: the app ended twice while it was told")
  }

  @Test func `to an app that a person force-quit is discarded`() {
    var bench = Bench()
    bench.take(.received(notification(1, .background, background)))
    #expect(bench.take(.discarded(.push(1), "force-quit")).first == "1 discarded: force-quit")
  }

  @Test func `is handed over again by the host's next life`() {
    var first = Bench()
    first.take(.received(notification(1, .background, background)))
    var second = Bench(open: first.decision.open)
    #expect(second.take(.began([])) == ["hand over 1, waking"])
  }
}
