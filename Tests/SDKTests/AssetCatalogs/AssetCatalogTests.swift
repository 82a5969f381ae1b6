// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import UIKit

/// A catalog in a temporary folder, which is deleted with it.
private final class Folder {
  let url = FileManager.default.temporaryDirectory.appending(path: "Assets-\(UUID().uuidString).xcassets")

  init(_ sets: [String: String]) throws {
    for (set, contents) in sets {
      let folder = url.appending(path: set)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(contents.utf8).write(to: folder.appending(path: "Contents.json"))
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var catalog: AssetCatalog { AssetCatalog(url) }
}

private func files(_ entries: String...) -> String { "{\"images\": [\(entries.joined(separator: ","))]}" }

@Suite struct `An asset catalog` {
  @Test(.rule("PICTURE-70"), arguments: [(1.0, "a@2x.png"), (2, "a@2x.png"), (3, "a@3x.png")])
  func `an image is the file of the device's scale, or else of the next one`(scale: Double, name: String) throws {
    let folder = try Folder([
      "Cup.imageset": files(
        #"{"idiom": "universal", "scale": "1x"}"#,
        #"{"idiom": "universal", "filename": "a@2x.png", "scale": "2x"}"#,
        #"{"idiom": "universal", "filename": "a@3x.png", "scale": "3x"}"#)
    ])
    let image = try folder.catalog.image("Cup", for: AssetTraits(scale: scale))
    #expect(image.file.lastPathComponent == name)
    #expect(image.scale == (name == "a@3x.png" ? 3 : 2))
    #expect(!image.dependsOnScheme && image.renderingIntent == nil)
  }

  @Test(.rule("PICTURE-70"))
  func `without a larger file, the largest one is used, and a file without a scale for all`() throws {
    let folder = try Folder([
      "Small.imageset": files(
        #"{"filename": "a.png", "scale": "1x"}"#, #"{"filename": "b.png", "scale": "2x"}"#),
      "Any.imageset": files(#"{"filename": "c.png", "idiom": "universal"}"#),
    ])
    #expect(try folder.catalog.image("Small", for: AssetTraits(scale: 3)).file.lastPathComponent == "b.png")
    #expect(try folder.catalog.image("Any", for: AssetTraits(scale: 3)).scale == nil)
  }

  @Test(.rule("PICTURE-70"))
  func `the device's idiom comes before the scheme, the scheme before the contrast, and both before the scale`() throws
  {
    func appearance(_ values: [(String, String)]) -> String {
      values.map { #"{"appearance": "\#($0)", "value": "\#($1)"}"# }.joined(separator: ",")
    }
    let dark = appearance([("luminosity", "dark")])
    let high = appearance([("contrast", "high")])
    let both = appearance([("luminosity", "dark"), ("contrast", "high")])
    let folder = try Folder([
      "A.imageset": files(
        #"{"filename": "any.png", "scale": "3x"}"#, #"{"filename": "dark.png", "appearances": [\#(dark)]}"#,
        #"{"filename": "high.png", "appearances": [\#(high)]}"#),
      "B.imageset": files(
        #"{"filename": "any.png"}"#, #"{"filename": "both.png", "appearances": [\#(both)]}"#,
        #"{"filename": "pad.png", "idiom": "ipad"}"#, #"{"filename": "watch.png", "idiom": "watch"}"#,
        #"{"filename": "wide.png", "display-gamut": "display-P3"}"#,
        #"{"filename": "left.png", "language-direction": "right-to-left"}"#),
    ])
    let catalog = folder.catalog
    func name(_ set: String, _ change: (inout AssetTraits) -> Void) throws -> String {
      var traits = AssetTraits()
      change(&traits)
      return try catalog.image(set, for: traits).file.lastPathComponent
    }
    #expect(try name("A") { _ in } == "any.png")
    #expect(try name("A") { $0.isDark = true } == "dark.png")
    #expect(try name("A") { $0.hasIncreasedContrast = true } == "high.png")
    #expect(
      try name("A") {
        $0.isDark = true
        $0.hasIncreasedContrast = true
      } == "dark.png")
    #expect(try catalog.image("A", for: AssetTraits()).dependsOnScheme)
    #expect(try name("B") { _ in } == "any.png")
    #expect(try name("B") { $0.isDark = true } == "any.png")
    #expect(
      try name("B") {
        $0.isDark = true
        $0.hasIncreasedContrast = true
      } == "both.png")
    #expect(try name("B") { $0.isPad = true } == "pad.png")
    #expect(try name("B") { $0.isRightToLeft = true } == "left.png")
    #expect(try !catalog.image("B", for: AssetTraits()).dependsOnScheme)
  }

  @Test(.rule("PICTURE-70"))
  func `a group with a namespace is part of the names of its assets, and another group is not`() throws {
    let set = files(#"{"filename": "a.png"}"#)
    let folder = try Folder([
      "Food": #"{"properties": {"provides-namespace": true}}"#, "Food/Cup.imageset": set,
      "Food/Hot": #"{"properties": {"provides-namespace": true}}"#, "Food/Hot/Tea.imageset": set,
      "Plain": "{}", "Plain/Star.imageset": set, "Icons.spriteatlas/Sprite.imageset": set,
    ])
    let catalog = folder.catalog
    #expect(catalog.has(.image, "Food/Cup") && catalog.has(.image, "Food/Hot/Tea"))
    #expect(catalog.has(.image, "Star") && !catalog.has(.image, "Cup") && !catalog.has(.image, "Sprite"))
    #expect(!catalog.has(.color, "Star"))
  }

  @Test(.rule("PICTURE-71")) func `a colour has one value for each scheme and contrast, in each notation`() throws {
    let folder = try Folder([
      "Brand.colorset": """
      {"colors": [
        {"idiom": "universal", "color": {"color-space": "srgb",
          "components": {"red": "0x80", "green": "51", "blue": "0.100", "alpha": "0.500"}}},
        {"idiom": "universal", "appearances": [{"appearance": "luminosity", "value": "dark"}],
          "color": {"color-space": "gray-gamma-22", "components": {"white": "0.250", "alpha": "1.000"}}},
        {"idiom": "universal", "appearances": [{"appearance": "contrast", "value": "high"}],
          "color": {"color-space": "display-p3", "components": {"red": 1, "green": 1, "blue": 1}}}
      ]}
      """,
      "System.colorset": """
      {"colors": [{"color": {"platform": "ios", "reference": "systemBlueColor"}}]}
      """,
    ])
    let color = try folder.catalog.color("Brand")
    #expect(color.light == .components(red: 128 / 255, green: 0.2, blue: 0.1, opacity: 0.5))
    #expect(color.dark == .components(red: 0.25, green: 0.25, blue: 0.25, opacity: 1))
    #expect(color.darkContrast == color.dark, "the scheme comes before the contrast")
    guard case .components(let red, let green, let blue, 1) = color.lightContrast else {
      Issue.record("\(color.lightContrast)")
      return
    }
    #expect([red, green, blue].allSatisfy { abs($0 - 1) < 0.001 })
    #expect(try folder.catalog.color("System").dark == .system("systemBlueColor"))
  }

  @Test(.rule("PICTURE-71")) func `a colour of Display P3 outside of sRGB is the nearest one, component by component`()
    throws
  {
    let folder = try Folder([
      "Red.colorset": """
      {"colors": [{"color": {"color-space": "display-p3", "components": {"red": "1.0", "green": "0.0", "blue": "0.0"}}},
        {"color": {}, "appearances": [{"appearance": "contrast", "value": "high"}]}]}
      """
    ])
    #expect(throws: AssetFault.contents("a colour has no components")) { try folder.catalog.color("Red") }
    let half = try Folder([
      "Half.colorset": """
      {"colors": [{"color": {"color-space": "display-p3", "components": {"red": 1.0, "green": 0.5, "blue": 0.0}}}]}
      """
    ])
    guard case .components(let red, let green, let blue, 1) = try half.catalog.color("Half").light else { return }
    #expect(red == 1 && blue == 0 && abs(green - 0.4626) < 0.01, "\(green)")
  }

  @Test(
    .rule("PICTURE-75"),
    arguments: [
      ("{", AssetFault.contents("it is not a JSON object")), ("[]", .contents("it is not a JSON object")),
      ("{}", .noVariant), (files("1"), .contents("an entry is not an object")),
      (files(#"{"filename": "../../secret.png"}"#), .contents("\"../../secret.png\" is not the name of a file")),
      (files(#"{"filename": ".."}"#), .contents("\"..\" is not the name of a file")),
      (files(#"{"filename": "a.png", "scale": "nanx"}"#), .contents("\"nanx\" is not a scale")),
      (files(#"{"filename": "a.png", "scale": "-1x"}"#), .contents("\"-1x\" is not a scale")),
      (files(#"{"filename": "a.png", "idiom": "tv"}"#), .noVariant),
    ])
  func `a set with bad contents is refused with the reason`(contents: String, fault: AssetFault) throws {
    let folder = try Folder(["A.imageset": contents])
    #expect(throws: fault) { try folder.catalog.image("A", for: AssetTraits()) }
  }

  @Test(
    .rule("PICTURE-75"),
    arguments: [
      (#"{"components": {"red": "x", "green": "0", "blue": "0"}}"#, "a colour has no red"),
      (#"{"components": {"red": "1", "green": 1e999, "blue": "0"}}"#, "it is not a JSON object"),
      (#"{"color-space": "lab", "components": {}}"#, "the colour space lab is not known"),
      ("{}", "a colour has no components"),
    ])
  func `a colour set with bad contents is refused with the reason`(color: String, reason: String) throws {
    let folder = try Folder(["A.colorset": "{\"colors\": [{\"color\": \(color)}]}"])
    #expect(throws: AssetFault.contents(reason)) { try folder.catalog.color("A") }
  }

  @Test(.rule("PICTURE-75"))
  func `a missing folder has no assets, and a set without contents or with endless contents is refused`() throws {
    let missing = AssetCatalog(URL(filePath: "/does-not-exist.xcassets"))
    #expect(throws: AssetFault.missing) { try missing.image("A", for: AssetTraits()) }
    let folder = try Folder(["A.imageset": "{}", "B.imageset": "{}"])
    let contents = folder.url.appending(path: "A.imageset/Contents.json")
    try FileManager.default.removeItem(at: contents)
    #expect(throws: AssetFault.contents("the file is missing")) {
      try folder.catalog.image("A", for: AssetTraits())
    }
    symlink("/dev/zero", contents.path)
    #expect(throws: AssetFault.contents("it is not a regular file")) {
      try folder.catalog.image("A", for: AssetTraits())
    }
    let long = folder.url.appending(path: "B.imageset/Contents.json")
    try Data(count: SetContents.limit + 1).write(to: long)
    #expect(throws: AssetFault.contents("the file is longer than 1048576 bytes")) {
      try folder.catalog.image("B", for: AssetTraits())
    }
  }

  @Test(.rule("PICTURE-75")) func `a catalog that contains itself is read to a limited depth`() throws {
    let folder = try Folder(["Group": "{}", "Group/A.imageset": files(#"{"filename": "a.png"}"#)])
    symlink(folder.url.path, folder.url.appending(path: "Group/Loop").path)
    let catalog = folder.catalog
    #expect(catalog.isIncomplete)
    #expect(catalog.has(.image, "A"))
  }
}
