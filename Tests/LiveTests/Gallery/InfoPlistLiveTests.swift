// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing
import WidgetLabTesting

/// An `Info.plist` file for a test.
struct FixtureInfoPlist: Sendable {
  let path: String
  let data: Data

  /// - Parameter point: the extension point; `nil` for a file that is not an extension's.
  init(point: String? = "com.apple.widgetkit-extension", wantsLocation: Bool = false, isBinary: Bool = false) throws {
    var keys: [String: Any] = ["CFBundleDisplayName": "Trial"]
    if let point { keys["NSExtension"] = ["NSExtensionPointIdentifier": point] }
    if wantsLocation { keys["NSWidgetWantsLocation"] = true }
    data = try PropertyListSerialization.data(
      fromPropertyList: keys, format: isBinary ? .binary : .xml, options: 0)
    path = FileManager.default.temporaryDirectory.path + "/info-\(UUID().uuidString).plist"
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// The line of the extension's configuration that names the file.
  var line: String { "infoPlist: \(path)" }

  func remove() { unlink(path) }
}

@Suite(.live, .timeLimit(.live)) struct `An extension with its own Info.plist` {
  @Test(.rule("GALLERY-46"), arguments: [false, true])
  func `the extension point of an XML or binary Info.plist marks a widget extension, and the file is unchanged`(
    isBinary: Bool
  ) async throws {
    let list = try FixtureInfoPlist(isBinary: isBinary)
    defer { list.remove() }
    try await GalleryFixture.run("info plist", product: [list.line]) { fixture in
      try await fixture.add("Plain")
      _ = try await fixture.entry(of: 1)
      #expect(FileManager.default.contents(atPath: list.path) == list.data)
    }
  }

  @Test(
    .rule("GALLERY-46"),
    arguments: [
      ("com.apple.share-services", "is com.apple.share-services, not com.apple.widgetkit-extension"),
      (nil, "NSExtension is missing"),
    ])
  func `up refuses an Info.plist with another extension point or none before it starts anything`(
    point: String?, words: String
  ) async throws {
    let list = try FixtureInfoPlist(point: point)
    defer { list.remove() }
    let folder = FileManager.default.temporaryDirectory.path + "/widgetlab-info-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = """
      device: {name: phone}
      extensions: [{bundle: com.example.Other, executable: FixtureWidgets, \(list.line)}]
      """
    try configuration.write(toFile: folder + "/widgetlab.yaml", atomically: true, encoding: .utf8)
    let answer = try await LabCluster.tool(
      ["up", "--instance", folder + "/instance", "--config", folder + "/widgetlab.yaml"],
      executables: try LabCluster.findExecutables(), in: folder)
    #expect(answer.status == 78, "\(answer.errors)")
    for part in [list.path, words, "infoPlist of com.example.Other", "name the Info.plist"] {
      #expect(answer.errors.contains(part), "\(answer.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder + "/instance"))
  }
}
