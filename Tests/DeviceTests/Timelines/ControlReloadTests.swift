// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = TimelineSamples.app
private let widget = TimelineSamples.widget

/// Which reloads concern controls, and which widgets.
@Suite struct `Reloads of controls` {
  /// A widget 1 and a control 2 of one extension, both with their first timelines.
  private func fixture(
    _ settings: TimelineSettings = TimelineSettings(), _ policy: BudgetPolicy = BudgetPolicy()
  ) -> TimelineFixture {
    var fixture = TimelineFixture(settings, policy)
    fixture.handle(.kindsReported(widget, ["Coffee": .systemSmall, "Lamp": .control]))
    fixture.place(1)
    fixture.handle(
      .placed(
        Placement(
          id: 2, bundle: widget.bundleIdentifier ?? "", kind: "Lamp", family: .control, location: .controlCenter),
        .none))
    fixture.giveAll()
    fixture.handle(.inFront(app: app, true))
    return fixture
  }

  @Test(.rule("CONTROL-04"), arguments: [(true, [2]), (false, [1]), (nil, [1, 2])] as [(Bool?, [Int])])
  func `a request for all reloads controls, widgets, or both when the operator makes it`(
    areControls: Bool?, placements: [Int]
  ) {
    var fixture = fixture()
    fixture.handle(.reload(from: app, kind: nil, areControls: areControls, isInside: false, .none))
    let pending = fixture.stateMachine.placements.all.filter { $0.value.pendingReload != nil }.keys.sorted()
    #expect(pending == placements)
  }

  @Test(.rule("CONTROL-04")) func `a request for a kind reloads nothing of the other sort`() {
    var fixture = fixture()
    fixture.handle(.reload(from: app, kind: "Lamp", areControls: false, isInside: false, .none))
    fixture.handle(.reload(from: app, kind: "Coffee", areControls: true, isInside: false, .none))
    #expect(fixture.stateMachine.placements.values.allSatisfy { $0.pendingReload == nil })
  }

  @Test(.rule("CONTROL-04", "CONTROL-11"), arguments: [true, false])
  func `the reload of a control is paid from its budget, and is free in developerMode`(developerMode: Bool) {
    func outcomes(perDay: Double) -> [String] {
      var settings = TimelineSettings()
      settings.developerMode = developerMode
      var policy = BudgetPolicy()
      (policy.perDay, policy.minimumSpacing) = (perDay, 0)
      var fixture = fixture(settings, policy)
      fixture.handle(.inFront(app: app, false))
      let pushed = fixture.handle(.reloadOne(2, .push, MessageContext(correlation: .push(1)))).first
      fixture.giveAll()
      let requested = fixture.handle(.reload(from: app, kind: "Lamp", areControls: true, isInside: false, .none)).first
      return [pushed, requested].compactMap { $0.map { String($0.prefix { $0 != " " }) } }
    }
    #expect(outcomes(perDay: 40) == (developerMode ? ["free", "free"] : ["granted", "granted"]))
    #expect(outcomes(perDay: 0) == (developerMode ? ["free", "free"] : ["refused", "refused"]))
  }

  @Test(.rule("CONTROL-04"))
  func `a request for all controls that precedes the report of the kinds reloads no widget`() {
    var fixture = TimelineFixture()
    fixture.place(1)
    fixture.giveAll()
    fixture.handle(.reload(from: app, kind: nil, areControls: true, isInside: false, .none))
    let words = fixture.handle(.kindsReported(widget, ["Coffee": .systemSmall]))
    #expect(fixture.stateMachine.placements[1]?.pendingReload == nil)
    #expect(words.allSatisfy { !$0.contains("failed") }, "\(words)")
  }
}
