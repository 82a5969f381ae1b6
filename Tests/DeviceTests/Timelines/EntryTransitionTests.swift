// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget
private let origin = TimelineSamples.origin

@Suite struct `Animation between entries` {
  private func transition(_ view: ViewArchive) throws -> EntryTransition {
    EntryTransition(view, try BodyCoding.data(view))
  }

  private func animation(_ formerView: ViewArchive, _ next: ViewArchive) throws -> EntryAnimation? {
    try transition(next).animation(from: transition(formerView))
  }

  private func text(_ text: String, _ modifiers: ViewArchive.Modifier...) -> ViewArchive {
    var view = ViewArchive.text(text)
    view.modifiers = modifiers
    return view
  }

  private func animated(
    _ name: String? = "easeInOut", _ seconds: Double = 0.7, value: String? = nil
  ) -> ViewArchive.Modifier {
    let arguments: ArchivedArguments = [
      .animation: name.map { .string($0) }, .seconds: name == nil ? nil : .number(seconds),
      .value: value.map { .string($0) },
    ]
    return ViewArchive.Modifier(.silent(.animation), arguments)
  }

  private let spring = EntryAnimation(curve: "spring", seconds: 0.5)

  @Test(.rule("TIMELINE-09"))
  func `a changed view uses the default spring, and an unchanged view is not animated`() throws {
    #expect(try animation(text("1"), text("2")) == spring)
    #expect(try animation(text("1"), text("1")) == nil)
    #expect(try animation(text("1", .init(.style(.bold))), text("1")) == spring)
  }

  @Test(.rule("TIMELINE-09"))
  func `the author's animation applies when its value changes, or always when it has no value`() throws {
    let ownAnimation = EntryAnimation(curve: "easeInOut", seconds: 0.7)
    #expect(try animation(text("1", animated(value: "1")), text("2", animated(value: "2"))) == ownAnimation)
    #expect(try animation(text("1", animated(value: "1")), text("2", animated(value: "1"))) == spring)
    #expect(try animation(text("1", animated()), text("2", animated())) == ownAnimation)
    // Long values that differ at their ends are different.
    let long = String(repeating: "x", count: 1000)
    #expect(
      try animation(text("1", animated(value: long + "1")), text("2", animated(value: long + "2"))) == ownAnimation)
  }

  @Test(.rule("TIMELINE-09")) func `an animation between entries lasts at most two seconds`() throws {
    for seconds in [2.5, 60, .infinity] {
      let found = try animation(text("1", animated("linear", seconds)), text("2", animated("linear", seconds)))
      #expect(found == EntryAnimation(curve: "linear", seconds: 2))
    }
    // It can also be encoded.
    _ = try BodyCoding.data(transition(text("1", animated("linear", .infinity))))
  }

  @Test(.rule("TIMELINE-09")) func `the author can disable the animation between entries`() throws {
    #expect(try animation(text("1", animated(nil, value: "1")), text("2", animated(nil, value: "2"))) == nil)
    let identity = ViewArchive.Modifier(.silent(.contentTransition), [.transition: "identity"])
    #expect(try animation(text("1", identity), text("2", identity)) == nil)
  }

  @Test(.rule("TIMELINE-09"))
  func `an animation names the content transition, with the curve and duration that apply to that view`() throws {
    let numeric = ViewArchive.Modifier(.silent(.contentTransition), [.transition: "numericText"])
    #expect(
      try animation(text("1", numeric), text("2", numeric))
        == EntryAnimation(curve: "spring", seconds: 0.5, transition: "numericText"))
    #expect(
      try animation(text("1", numeric, animated(value: "1")), text("2", numeric, animated(value: "2")))
        == EntryAnimation(curve: "easeInOut", seconds: 0.7, transition: "numericText"))
  }

  @Test(.rule("TIMELINE-09"))
  func `an animation names the transition of a view that is inserted or removed, not of one that stays`() throws {
    let slide = ViewArchive.Modifier(
      .silent(.transition), [.transition: "slide", .animation: "easeIn 1.0", .seconds: 1])
    let both = ViewArchive.group([text("1"), text("more", slide)])
    let came = EntryAnimation(curve: "easeIn", seconds: 1, transition: "slide")
    #expect(try animation(.group([text("1")]), both) == came)
    #expect(try animation(both, .group([text("1")])) == came)
    #expect(try animation(both, .group([text("2"), text("more", slide)])) == spring)
  }

  @Test(.rule("TIMELINE-09"))
  func `an entry uses the longest animation of its changed views`() throws {
    func view(_ inner: String, _ outer: String, value: String) -> ViewArchive {
      ViewArchive(
        .container(.vStack), children: [text(inner, animated("linear", 1.5, value: value)), text(outer)],
        modifiers: [animated("easeOut", 0.2)])
    }
    #expect(try animation(view("1", "a", value: "1"), view("2", "a", value: "2"))?.curve == "linear")
    #expect(try animation(view("1", "a", value: "1"), view("2", "a", value: "1"))?.curve == "easeOut")
    #expect(try animation(view("1", "a", value: "1"), view("1", "b", value: "1"))?.curve == "easeOut")
    #expect(try animation(view("1", "a", value: "1"), view("2", "b", value: "2"))?.seconds == 1.5)
  }

  @Test(.rule("TIMELINE-09", "BUDGET-12"))
  func `an entry is animated at no cost if it is visible, not the first and not on an Always-On display`()
    throws
  {
    var fixture = TimelineFixture.placed()
    // No entry was shown before.
    fixture.stateMachine.placements[1]?.transition = nil
    let views = ["a", "b", "c", "d"].map { ViewArchive.text($0) }
    let entries = try zip(0..., views).map { index, view in
      UpcomingEntry(date: origin + Double(index) * 600, text: [], relevance: nil, transition: try transition(view))
    }
    fixture.reload()
    fixture.handle(.awake(widget))
    let providerRequest = try #require(fixture.stateMachine.outstanding[widget])
    let facts = TimelineFacts(
      reloadCause: .operator, entries: 4, first: origin, last: origin + 1800, policy: .never, bytes: 1, digest: "",
      note: nil)
    var shown: [EntryAnimation?] = []
    func handle(_ event: TimelineStateMachine.Event) -> Int {
      var others = 0
      for action in fixture.stateMachine.handle(event, now: fixture.now) {
        if case .shown(let notice, _) = action { shown.append(notice.animation) }
        if case .decided = action { others += 1 }
      }
      return others
    }
    #expect(handle(.gave(providerRequest, facts, entries)) == 0)
    for event in [nil, .luminance(isReduced: true), .seen([], isStandBy: false)] as [TimelineStateMachine.Event?] {
      if let event { _ = handle(event) }
      fixture.now += 600
      #expect(handle(.timerFired) == 0)
      _ = handle(.luminance(isReduced: false))
    }
    #expect(shown == [nil, spring, nil, nil])
  }
}
