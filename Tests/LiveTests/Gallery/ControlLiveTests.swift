// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Controls in Control Center, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Controls in Control Center` {
  @Test(.rule("CONTROL-01", "CONTROL-02", "CONTROL-03"))
  func `a control shows its value, a tap performs its intent, and its value is asked for again`() async throws {
    try await run("control") { fixture in
      let offered = try await fixture.gallery("controlCenter")
      #expect(offered.map(\.widgetKind) == ["Lamp", "Cup", "Tell", "Safe", "Blocked", "Visit"])
      #expect(offered.allSatisfy { $0.section == .main && $0.families == [.control] })
      #expect(offered.first?.displayName == "The lamp")
      let added = try await fixture.add("Lamp", "--location", "controlCenter")
      #expect(added.placement.family == .control)
      for state in [false, true, false] {
        try await fixture.shows(1, "Toggle(isOn: \(state))", state ? "lit" : "dark")
        let before = try await fixture.last
        let output = try await fixture.cluster.run("tap", "1")
        #expect(output.contains("SetLamp was performed by extension"), "\(output)")
        try await fixture.printed("the lamp is \(state ? "dark" : "lit")", after: before)
        #expect(try await fixture.ledger(after: before).contains { $0.hasPrefix("interaction free") })
      }
      // The value outlives the host and the extension.
      try await fixture.shows(1, "Toggle(isOn: true)", "lit")
      try await fixture.cluster.run("kill", "host")
      try await fixture.cluster.eventually("the host runs again") {
        try await fixture.cluster.attempt(["screen", "controlCenter"]).status == 0
      }
      try await fixture.shows(1, "Toggle(isOn: true)", "lit")
    }
  }

  @Test(.rule("CONTROL-04", "CONTROL-06", "CONTROL-07"))
  func `reloadControls asks the placed controls of the kind, and no widget; currentControls lists them`() async throws {
    // Without the minimum time between two reloads.
    try await run("controls reloaded", settings: ["placesEachKind: false", "developerMode: true"]) { fixture in
      try await fixture.add("Lamp", "--location", "controlCenter")
      try await fixture.add("Cup", "--location", "controlCenter", "--set", "size=large")
      try await fixture.add("Tell", "--location", "controlCenter")
      try await fixture.add("Touch")
      try await fixture.shows(1, "dark")
      try await fixture.shows(2, "0 large cups")
      _ = try await fixture.entry(of: 4, at: "homeScreen")
      let before = try await fixture.last
      try await fixture.cluster.run("tap", "3")
      try await fixture.printed(
        #"controls ["Lamp", "Cup", "Tell"] of large size, widgets ["Touch"]"#, after: before)
      try await fixture.shows(1, "lit")
      try await fixture.cluster.eventually("both have their values") {
        try await fixture.all(TimelineStored.self, after: before).count >= 2
      }
      let stored = try await fixture.all(TimelineStored.self, after: before)
      #expect(Set(stored.map(\.widgetKind)) == ["Lamp", "Tell"])
      try await fixture.cluster.run("tap", "2")
      try await fixture.shows(2, "2 large cups")
    }
  }

  @Test(.rule("CONTROL-05", "CONTROL-08"))
  func `a locked device performs a control's intent unless it needs authentication or the control is disabled`()
    async throws
  {
    try await run("controls locked") { fixture in
      for kind in ["Lamp", "Safe", "Blocked"] { try await fixture.add(kind, "--location", "controlCenter") }
      for number in 1...3 { _ = try await fixture.entry(of: number, at: "controlCenter") }
      #expect(try await fixture.cluster.run("tap", "3").contains("nothing happens: the button is disabled"))
      try await fixture.cluster.run("lock")
      #expect(try await fixture.cluster.run("tap", "1").contains("SetLamp was performed by extension"))
      #expect(try await fixture.cluster.run("tap", "2").contains("OpenSafe needs an unlocked device"))
      try await fixture.cluster.run("unlock")
      #expect(try await fixture.cluster.run("tap", "2").contains("OpenSafe was performed by extension"))
    }
  }

  @Test(.rule("GALLERY-50")) func `what the result of a control's intent opens is not opened on a locked device`()
    async throws
  {
    try await run("visits locked") { fixture in
      try await fixture.add("Visit", "--location", "controlCenter")
      _ = try await fixture.entry(of: 1, at: "controlCenter")
      try await fixture.cluster.run("lock")
      let tap = try await fixture.cluster.run("tap", "1")
      #expect(tap.contains("Visit was performed by extension") && tap.contains("visited is not opened"), "\(tap)")
      #expect(!(try await fixture.cluster.run("look", "light").contains("is in front")))
    }
  }

  @Test(.rule("CONTROL-01")) func `a control is in no other place, a widget not in Control Center`() async throws {
    try await run("places of controls") { fixture in
      #expect(try await fixture.refusal("add", "Lamp").contains("--location controlCenter"))
      let refusal = try await fixture.refusal("add", "Touch", "--location", "controlCenter")
      #expect(refusal.contains("Control Center has controls only"), "\(refusal)")
    }
    try await run("before iOS 18", device: "model: iPhone 15, version: \"17.0\"") { fixture in
      let refusal = try await fixture.refusal("add", "Lamp", "--location", "controlCenter")
      #expect(refusal.contains("from iOS 18 on"), "\(refusal)")
    }
  }

  private func run(
    _ name: String, device: String = "model: iPhone 16, version: \"18.0\"",
    settings: [String] = ["placesEachKind: false"],
    _ body: @Sendable (GalleryFixture) async throws -> Void
  ) async throws {
    try await GalleryFixture.run(
      name, device: device, settings: settings, product: ["environment:", "  TRIAL_WIDGETS: controls"], body)
  }
}

extension GalleryFixture {
  /// Waits until the control shows an entry with all of these texts.
  fileprivate func shows(_ number: Int, _ texts: String...) async throws {
    try await cluster.eventually("control \(number) shows \(texts)") {
      guard let seen = try await screen("controlCenter").first(where: { $0.number == number }) else { return false }
      let views = seen.views.joined(separator: "\n")
      return seen.content == "entry" && texts.allSatisfy(views.contains)
    }
  }
}
