// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Extensions that another `up`, or an update, has without widgets that they had, or does not have at all.
@Suite(.live, .timeLimit(.live)) struct `Replaced extensions` {
  private static let second = Address.widgetExtension("phone", GalleryFixture.second)

  /// Ends the cluster, and starts it again with another configuration.
  private func again(
    _ fixture: GalleryFixture, change: (String) -> String, body: (GalleryFixture) async throws -> Void
  ) async throws {
    #expect(await fixture.cluster.stop() == 0)
    // The folder itself is that of the first cluster, which removes it.
    let folder = fixture.cluster.folder + "-again"
    try FileManager.default.copyItem(atPath: fixture.cluster.folder, toPath: folder)
    // The new `up` has not written its own yet.
    try FileManager.default.removeItem(atPath: folder + "/up.out")
    let file = folder + "/widgetlab.yaml"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let changed = change(text)
    #expect(changed != text)
    try changed.write(toFile: file, atomically: true, encoding: .utf8)
    try await LabCluster.with("again", in: folder) { try await body(GalleryFixture(cluster: $0)) }
  }

  @Test(.rule("GALLERY-51"))
  func `an extension that left the configuration has no widget, no gallery entry, no process and no task`()
    async throws
  {
    let lines = ["executable: FixtureWidgets", "environment:", "  TRIAL_WIDGETS: touched"]
    try await GalleryFixture.run("removed", second: lines) { fixture in
      try await fixture.add("Linked")
      try await fixture.add("Facts", "--stack", "1")
      _ = try await fixture.entry(of: 2)
      let removed = ([""] + ["  - bundle: \(GalleryFixture.second)"] + lines.map { "    \($0)" }).joined(
        separator: "\n")
      try await again(fixture, change: { $0.replacing(removed, with: "") }) { fixture in
        let log = try String(contentsOfFile: fixture.cluster.folder + "/up.err", encoding: .utf8)
        #expect(log.contains("\(GalleryFixture.second) is not in") && log.contains("any more"), "\(log)")
        let gone = try await fixture.all(PlacementChanged.self).last
        #expect(gone?.change == .removed && gone?.placement.id == 1)
        #expect(try await fixture.gallery().allSatisfy { $0.bundle == GalleryFixture.bundle })
        let processes = try await fixture.cluster.run("ps")
        #expect(!processes.contains(GalleryFixture.second) && !processes.contains("…Second"), "\(processes)")
        #expect(try await fixture.refusal("tap", "1", "--button", "1").contains("no placement has the number 1"))
        #expect(try await fixture.refusal("add", "Linked").contains("no widget is of kind Linked"))
        #expect(try await fixture.screen().map(\.number) == [2])
        // The download of the sample's app has no server here, and does not end.
        #expect(try await fixture.cluster.attempt(["check"]).status != 1)
      }
    }
  }

  @Test(.rule("GALLERY-52"), arguments: ["gallery", "reload"])
  func `an update's new kind of an extension without a widget is found`(by command: String) async throws {
    let lines = ["executable: FixtureWidgets", "environment:", "  TRIAL_WIDGETS: touched"]
    try await GalleryFixture.run("new kind", second: lines) { fixture in
      #expect(try await !fixture.item("Linked").isEmpty)
      try await again(fixture, change: { $0.replacing("TRIAL_WIDGETS: touched", with: "TRIAL_WIDGETS: private") }) {
        fixture in
        try await fixture.cluster.run("update", GalleryFixture.app)
        let before = try await fixture.last
        if command == "reload" {
          try await fixture.cluster.run("reload", "--all")
          try await fixture.journal.waitFor("the extension reports its widgets", after: before) {
            $0.source == Self.second.text && $0.reading(ProcessReady.self) != nil
          }
        }
        try await fixture.cluster.eventually("the gallery has the new kind") {
          try await !fixture.item("Balance").isEmpty
        }
        #expect(try await fixture.item("Linked").isEmpty)
        try await fixture.add("Balance")
      }
    }
  }

  @Test func `a control is not tapped after the device got a version without controls`() async throws {
    try await GalleryFixture.run(
      "no controls", product: ["environment:", "  TRIAL_WIDGETS: controls"]
    ) { fixture in
      try await fixture.add("Lamp", "--location", "controlCenter")
      try await again(fixture, change: { $0.replacing("\"18.0\"", with: "\"17.0\"") }) { fixture in
        let refusal = try await fixture.refusal("tap", "1")
        #expect(refusal.contains("controlCenter supports widgets from iOS 18 on"), "\(refusal)")
        let processes = try await fixture.cluster.run("ps")
        #expect(!processes.contains("Lamp"), "\(processes)")
      }
    }
  }

  @Test(.rule("PICTURE-63")) func `a snapshot names the extensions that have the same kind, and draws all of them`()
    async throws
  {
    try await GalleryFixture.run("shared kinds", second: ["executable: FixtureWidgets"]) { fixture in
      #expect(try await fixture.item("Touch").count == 2)
      let refusal = try await fixture.refusal("snapshot", "Touch")
      #expect(refusal.contains("\(GalleryFixture.second) and of \(GalleryFixture.bundle)"), "\(refusal)")
      try await fixture.cluster.run("snapshot", "Touch", "--bundle", GalleryFixture.second)
      let pictures = fixture.cluster.folder + "/pictures"
      let drawn = try await fixture.cluster.run("snapshot", "Touch", "--output", pictures)
      #expect(drawn.contains("2 pictures, 0 left out, 0 failed"), "\(drawn)")
      let names = try FileManager.default.contentsOfDirectory(atPath: pictures).sorted()
      let file = "Touch.systemMedium-fullColor-light-large.svg"
      #expect(names == ["\(GalleryFixture.second).\(file)", "\(GalleryFixture.bundle).\(file)", "index.html"])
    }
  }

  @Test(.rule("PICTURE-60")) func `controls are drawn by name, or with the family control, and compared`() async throws
  {
    try await GalleryFixture.run(
      "control pictures", product: ["environment:", "  TRIAL_WIDGETS: controls"]
    ) { fixture in
      let pictures = fixture.cluster.folder + "/pictures"
      let all = try await fixture.cluster.run("snapshot", "--families", "control", "--output", pictures)
      #expect(all.contains("6 pictures, 0 left out, 0 failed"), "\(all)")
      let lamp = try String(
        contentsOfFile: pictures + "/Lamp.control-fullColor-light-large.svg", encoding: .utf8)
      #expect(lamp.contains("aria-label=\"L\""), "\(lamp)")
      let compared = try await fixture.cluster.run("snapshot", "Lamp", "--verify", pictures)
      #expect(compared.contains("1 picture, 0 left out, 0 failed"), "\(compared)")
    }
  }
}
