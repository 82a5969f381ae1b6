// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Pictures of widgets that are not placed, from the extension's process to files.
@Suite(.live, .timeLimit(.live)) struct `Snapshots in files` {
  @Test(.rule("PICTURE-60", "PICTURE-61", "PICTURE-62", "PICTURE-63", "PICTURE-64"))
  func `widgets are drawn in each combination, and compared with the files of an earlier run`() async throws {
    try await GalleryFixture.run("snapshots", fixture: "views") { fixture in
      try await fixture.cluster.run("clock", "hold")
      let folder = FileManager.default.temporaryDirectory.appending(path: "snapshots-\(UUID().uuidString)")
      let (pictures, failures) = (folder.appending(path: "pictures").path, folder.appending(path: "failures").path)
      defer { try? FileManager.default.removeItem(at: folder) }
      func files(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
      }
      let lists = ["--families", "systemSmall,systemMedium", "--schemes", "light,dark", "--modes", "fullColor,vibrant"]
      let drawn = try await fixture.cluster.attempt(["snapshot", "Caffeine"] + lists + ["--output", pictures])
      #expect(drawn.status == 0 && drawn.output.contains("6 pictures, 1 left out, 0 failed"), "\(drawn)")
      #expect(drawn.output.contains("left out: systemMedium is not shown as vibrant: standBy excludes systemMedium"))
      let names = ["Medium-fullColor-dark", "Medium-fullColor-light", "Small-fullColor-dark", "Small-fullColor-light"]
      let vibrant = ["Small-vibrant-dark", "Small-vibrant-light"]
      #expect(
        files(pictures) == (names + vibrant).map { "Caffeine.system\($0)-large.svg" } + ["index.html"])
      let small = URL(filePath: pictures).appending(path: "Caffeine.systemSmall-fullColor-light-large.svg")
      let document = try String(contentsOf: small, encoding: .utf8)
      #expect(document.contains("viewBox=\"0 0 158 158\"") && document.contains("aria-label=\"Caffeine\""))
      #expect(try String(contentsOfFile: pictures + "/index.html", encoding: .utf8).matches(of: /<img/).count == 6)
      #expect(try await fixture.journal.all().allSatisfy { $0.reading(TimelineStored.self) == nil })

      let compare = ["snapshot", "Caffeine"] + lists + ["--verify", pictures, "--output", failures]
      let equal = try await fixture.cluster.attempt(compare)
      #expect(equal.status == 0 && files(failures).isEmpty, "\(equal)")
      try Data((document + "<!-- an old one -->").utf8).write(to: small)
      let different = try await fixture.cluster.attempt(compare)
      #expect(different.status == 1 && different.output.contains("6 pictures, 1 left out, 1 failed"), "\(different)")
      #expect(
        files(failures)
          == ["difference", "new", "reference"].map { "Caffeine.systemSmall-fullColor-light-large.\($0).svg" })

      let large = try await fixture.cluster.attempt([
        "snapshot", "Caffeine", "--families", "systemSmall", "--text-sizes", "accessibility3", "--locales", "ar",
        "--entries", "all", "--format", "png", "--scale", "1", "--output", failures, "--json",
      ])
      #expect(large.status == 0, "\(large)")
      let name = "Caffeine.systemSmall-fullColor-light-accessibility3-ar-1@1x.png"
      #expect(large.output.contains(name) && files(failures).contains(name))
      let unknown = try await fixture.cluster.attempt(["snapshot", "Tea", "--output", failures])
      #expect(unknown.status == 1 && unknown.errors.contains("no extension has a widget of the kind Tea"))
    }
  }

  /// The references are in `Tests/References`. With `WIDGETLAB_RECORD_PICTURES` set, these tests write them.
  @Test(.rule("PICTURE-01", "PICTURE-64"))
  func `three widgets have the pictures of the references`() async throws {
    try await compare(
      [
        "Caffeine", "Living", "Scrolling", "--schemes", "light,dark", "--modes", "fullColor,accented,vibrant",
        "--text-sizes", "large,accessibility1",
      ], name: "references", folder: "References")
  }

  @Test(.rule("CHART-15")) func `charts have the pictures of the references`() async throws {
    try await compare(["Charted", "--schemes", "light,dark"], name: "chart references", folder: "References/Charts")
  }

  /// Compares pictures with the files of a folder below `Tests`.
  private func compare(_ options: [String], name: String, folder: String) async throws {
    let references = Repository.root.appending(path: "Tests/\(folder)").path
    let device = "model: iPhone 16, version: \"18.0\", timeZone: GMT"
    try await GalleryFixture.run(name, device: device, fixture: "views") { fixture in
      try await fixture.cluster.run("clock", "hold")
      try await fixture.cluster.run("clock", "set", "2026-03-01T06:00:00Z")
      let failures = FileManager.default.temporaryDirectory.appending(path: "references-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: failures) }
      let isRecording = ProcessInfo.processInfo.environment["WIDGETLAB_RECORD_PICTURES"] != nil
      let answer = try await fixture.cluster.attempt(
        ["snapshot"] + options
          + (isRecording ? ["--output", references] : ["--verify", references, "--output", failures]))
      #expect(answer.status == 0, "\(answer.output)\(answer.errors)")
      #expect(answer.output.contains("0 failed") && !answer.output.contains("not compared"), "\(answer.output)")
      #expect(!answer.errors.contains("was made for"), "\(answer.errors)")
    }
  }
}
