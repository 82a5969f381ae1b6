// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Images and colours, from the author's files to the picture of a screen.
@Suite(.live, .timeLimit(.live)) struct `Images of a widget` {
  @Test(
    .rule("PICTURE-70", "PICTURE-71", "PICTURE-72", "PICTURE-73", "PICTURE-74", "PICTURE-75"),
    .rule("PICTURE-76", "PICTURE-77", "PICTURE-78"))
  func `a picture has the images and colours of the catalog, the bundle and the group folder`() async throws {
    let assets = try AssetFixture()
    try await GalleryFixture.run(
      "assets", fixture: "views", product: [assets.resources], groups: ["group.com.example.Gallery"]
    ) { fixture in
      let group = fixture.cluster.instance.device("phone").group("group.com.example.Gallery")
      try FileManager.default.createDirectory(atPath: group, withIntermediateDirectories: true)
      try AssetFixture.dark.write(to: URL(filePath: group + "/shared.png"))
      try await fixture.add("Pictured")
      let entry = try await fixture.entry(of: 1)
      #expect(entry.views.contains("    Image(Cup, pixelHeight: 60, pixelWidth: 60)"), "\(entry.views)")
      let file = FileManager.default.temporaryDirectory.appending(path: "assets-\(UUID().uuidString).svg")
      defer { try? FileManager.default.removeItem(at: file) }
      func draw(_ change: [String] = []) async throws -> (text: String, errors: String) {
        if !change.isEmpty { _ = try await fixture.cluster.attempt(change) }
        let answer = try await fixture.cluster.attempt(["screen", "--picture", file.path])
        #expect(answer.status == 0, "\(answer.errors)")
        return (try String(contentsOf: file, encoding: .utf8), answer.errors)
      }
      func image(_ side: Int, _ data: Data) -> String {
        "width=\"\(side)\" height=\"\(side)\" preserveAspectRatio=\"none\" \(Self.href(data))"
      }
      let light = try await draw()
      #expect(light.text.contains(image(20, AssetFixture.light)), "its own size in points")
      #expect(light.text.contains(image(40, AssetFixture.light)), "resized")
      #expect(light.text.contains(image(25, AssetFixture.dark)), "of the group folder")
      #expect(light.text.contains(image(10, AssetFixture.tea)), "of the bundle")
      #expect(light.text.contains("<mask") && light.text.contains("fill=\"#34c759\""), "a template")
      #expect(light.text.contains("<stop offset=\"1\" stop-color=\"#fafbfc\"/>"), "of an SVG image")
      #expect(light.errors.contains("the image \"Badge\" is drawn without <text>"), "\(light.errors)")
      #expect(ScreenDrawing.customSymbols(light.text) == ["Mark MLLZ #ff3b30"], "the bold triangle")
      #expect(light.text.contains("fill=\"#010203\"") && light.text.contains("fill=\"#f0e6dc\""))
      #expect(light.errors.contains("the image \"Broken\" is not drawn: a.png: the file is damaged: it is cut off"))
      #expect(light.errors.contains("the image \"Nowhere\" is not drawn: no asset catalog of the bundle has it"))
      let foundResult = try await fixture.cluster.attempt(["diagnose", "asset-not-usable"])
      #expect(
        foundResult.status == 1 && foundResult.output.contains("cannot show the image \"Broken\": a.png"),
        "\(foundResult.output)")
      #expect(foundResult.output.contains("cannot show the image \"Nowhere\"") && !foundResult.output.contains("Cup"))
      let dark = try await draw(["look", "dark"])
      #expect(!dark.text.contains(Self.href(AssetFixture.light)))
      #expect(dark.text.components(separatedBy: Self.href(AssetFixture.dark)).count == 4)
      #expect(dark.text.contains("fill=\"#040506\"") && dark.text.contains("fill=\"#14191e\""))
      let contrast = try await draw(["setting", "contrast", "increased"])
      #expect(contrast.text.contains("fill=\"#0a0b0c\""))
    }
  }

  @Test(.rule("PICTURE-72", "PICTURE-74", "PICTURE-76"))
  func `an image that is longer than a message reaches the picture whole`() async throws {
    // A JPEG file of 458 KiB, most of it comments.
    let comment = [0xFF, 0xFE, 0xFF, 0xFF] + (0..<65_533).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 10, 0, 20, 1, 1, 0x11, 0]
    let comments = Array(repeatElement(comment, count: 7).joined())
    let jpeg = Data([0xFF, 0xD8] + comments + frame + [0xFF, 0xDA, 0, 2, 7, 0xFF, 0xD9])
    try await GalleryFixture.run("long image", fixture: "views", groups: ["group.com.example.Gallery"]) {
      fixture in
      let group = fixture.cluster.instance.device("phone").group("group.com.example.Gallery")
      try FileManager.default.createDirectory(atPath: group, withIntermediateDirectories: true)
      try jpeg.write(to: URL(filePath: group + "/shared.png"))
      try await fixture.add("Pictured")
      _ = try await fixture.entry(of: 1)
      let file = FileManager.default.temporaryDirectory.appending(path: "long-\(UUID().uuidString).svg")
      defer { try? FileManager.default.removeItem(at: file) }
      try await fixture.cluster.run("screen", "--picture", file.path)
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(text.contains("href=\"data:image/jpeg;base64,\(jpeg.base64EncodedString())\""))
      let asked = try await fixture.journal.all().filter { $0.reading(ReadImage.self) != nil }
      #expect(asked.count == 4, "in pieces of 128 KiB")
    }
  }

  @Test(.rule("PICTURE-75", "VIEW-03"))
  func `an image of a catalog over the area limit is refused, and diagnose reports it`() async throws {
    let assets = try AssetFixture()
    try await GalleryFixture.run("huge", fixture: "views", product: [assets.resources]) { fixture in
      try await fixture.add("Huge")
      try await fixture.cluster.eventually("the reload has failed") {
        try await fixture.screen().first?.note?.contains("imageArea") == true
      }
      let answer = try await fixture.cluster.attempt(["diagnose", "archive-too-large"])
      #expect(answer.status == 1 && answer.output.contains("3131904 pixels"), "\(answer.output)")
    }
  }

  @Test(.rule("BUNDLE-07")) func `resources that do not exist are refused before anything starts`() async throws {
    let refusal = await #expect(throws: (any Error).self) {
      try await GalleryFixture.run("missing", fixture: "views", product: ["resources: [no.xcassets]"]) { _ in
      }
    }
    #expect("\(try #require(refusal))".contains("no.xcassets does not exist"))
  }

  private static func href(_ data: Data) -> String { "href=\"data:image/png;base64,\(data.base64EncodedString())\"" }
}
