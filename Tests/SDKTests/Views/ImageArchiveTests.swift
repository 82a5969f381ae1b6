// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import SwiftUI

/// Images and colours of a bundle in a temporary folder.
@MainActor @Suite struct `Images of a bundle` {
  private let bundle: Bundle
  private let folder: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/images-\(UUID().uuidString)"
    let dark = #"{"appearance": "luminosity", "value": "dark"}"#
    let sets = [
      "Cup.imageset":
        #"{"images": [{"filename": "a.png", "scale": "2x"}, {"filename": "b.png", "appearances": [\#(dark)]}]}"#,
      "Plain.imageset":
        #"{"images": [{"filename": "a.png"}], "properties": {"template-rendering-intent": "template"}}"#,
      "Vector.imageset": #"{"images": [{"filename": "a.pdf"}]}"#,
      "Drawn.imageset":
        #"{"images": [{"filename": "a.svg"}], "properties": {"preserves-vector-representation": true}}"#,
      "Broken.imageset": #"{"images": [{"filename": "a.svg"}]}"#,
      "Gone.imageset": #"{"images": [{"filename": "gone.png"}]}"#, "Empty.symbolset": #"{"symbols": []}"#,
      "Mark.symbolset": #"{"symbols": [{"filename": "mark.svg", "idiom": "universal"}]}"#,
      "Cup.symbolset": #"{"symbols": [{"filename": "gone.svg"}]}"#,
      "Brand.colorset": """
      {"colors": [{"color": {"components": {"red": "255", "green": "0", "blue": "0"}}},
        {"color": {"reference": "systemBlueColor"}, "appearances": [\(dark)]}]}
      """,
    ]
    for (set, contents) in sets {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/A.xcassets/\(set)", withIntermediateDirectories: true)
      try Self.write(Data(contents.utf8), "\(folder)/A.xcassets/\(set)/Contents.json")
    }
    try Self.write(Self.png(20, 10), "\(folder)/A.xcassets/Cup.imageset/a.png")
    try Self.write(Self.png(8, 8), "\(folder)/A.xcassets/Cup.imageset/b.png")
    try Self.write(Self.png(20, 10), "\(folder)/A.xcassets/Plain.imageset/a.png")
    try Self.write(Self.png(30, 30).dropLast(20), "\(folder)/cut.png")
    try Self.write(Data("%PDF".utf8), "\(folder)/A.xcassets/Vector.imageset/a.pdf")
    try Self.write(Self.svg, "\(folder)/A.xcassets/Drawn.imageset/a.svg")
    try Self.write(Self.svg.dropLast(), "\(folder)/A.xcassets/Broken.imageset/a.svg")
    try Self.write(Self.symbol, "\(folder)/A.xcassets/Mark.symbolset/mark.svg")
    try Self.write(Self.png(30, 30), "\(folder)/loose@3x.png")
    try Self.write(Self.png(4, 4), "\(folder)/photo.jpg.png")
    self.folder = folder
    bundle = try #require(Bundle(path: folder))
  }

  private static func write(_ data: Data, _ path: String) throws {
    try data.write(to: URL(fileURLWithPath: path))
  }

  private func remove() { try? FileManager.default.removeItem(atPath: folder) }

  /// Black PNG files by their width and height.
  private static let files = [
    "20 10": "iVBORw0KGgoAAAANSUhEUgAAABQAAAAKAQAAAACcLkNLAAAADElEQVR42mNgIA4AAAAoAAELqaEoAAAAAElFTkSuQmCC",
    "8 8": "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAAC0lEQVR42mNgQAUAABAAAaoZ+IIAAAAASUVORK5CYII=",
    "30 30": "iVBORw0KGgoAAAANSUhEUgAAAB4AAAAeAQAAAAATS5MPAAAADElEQVR42mNgGIwAAACWAAGNyMEhAAAAAElFTkSuQmCC",
    "4 4": "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAEAQAAAACBiqPTAAAAC0lEQVR42mNggAAAAAgAAST8BHIAAAAASUVORK5CYII=",
  ]

  private static let svg = Data(#"<svg width="24" height="12.5"><path d="M0 0h1v1"/></svg>"#.utf8)

  /// As wide as 1.5 heights of its capital letters.
  private static let symbol = Data(
    """
    <svg><g id="Guides"><line id="Baseline-M" x1="0" y1="170"/><line id="Capline-M" x1="0" y1="100"/>
    <line id="left-margin-Regular-M" x1="10" y1="0"/><line id="right-margin-Regular-M" x1="115" y1="0"/></g>
    <g id="Symbols"><g id="Regular-M"><path d="M10 100h90v70z"/></g></g></svg>
    """.utf8)

  private static func png(_ width: Int, _ height: Int) -> Data {
    Data(base64Encoded: files["\(width) \(height)"] ?? "") ?? Data()
  }

  private func arguments(
    _ view: some View, _ images: ArchivedImages = ArchivedImages(), isDark: Bool = false
  ) throws -> ArchivedArguments {
    var environment = EnvironmentValues()
    environment.images = images
    if isDark { environment.colorScheme = .dark }
    return try view.archived(in: environment).arguments
  }

  @Test(.rule("PICTURE-70", "PICTURE-74"))
  func `an image has the digest, the pixels and the scale of the file for the environment`() throws {
    defer { remove() }
    let images = ArchivedImages()
    let (light, dark) = (Self.png(20, 10), Self.png(8, 8))
    let cup = Image("Cup", bundle: bundle)
    let digest = ContentDigest.hexadecimal(of: light)
    #expect(
      try arguments(cup, images) == [
        .name: "Cup", .image: .string(digest), .pixelWidth: 20, .pixelHeight: 10, .scale: 2,
      ])
    #expect(images.bytes == [digest: light])
    // The same bytes under another name are stored once.
    let plain = try arguments(Image("Plain", bundle: bundle), images)
    #expect(plain[.image] == .string(digest) && plain[.intent] == "template" && plain[.scale] == nil)
    #expect(images.bytes.count == 1 && images.total == light.count)
    #expect(try arguments(cup, images, isDark: true)[.pixelWidth] == 8)
    #expect(images.bytes == [digest: light, ContentDigest.hexadecimal(of: dark): dark])
  }

  @Test(.rule("PICTURE-70"))
  func `only an image with a file for a scheme reads the scheme, so that others are archived once`() throws {
    defer { remove() }
    for (name, isRead) in [("Cup", true), ("Plain", false)] {
      var environment = EnvironmentValues()
      let reads = EnvironmentReads()
      environment.reads = reads
      _ = try Image(name, bundle: bundle).archived(in: environment)
      #expect(reads.containsColorScheme == isRead)
    }
  }

  @Test(.rule("PICTURE-76")) func `a file of the bundle has the scale of its name, also as a UIImage`() throws {
    defer { remove() }
    let loose = try arguments(Image("loose", bundle: bundle))
    #expect(loose[.pixelWidth] == 30 && loose[.scale] == 3)
    #expect(try arguments(Image("photo.jpg.png", bundle: bundle))[.pixelWidth] == 4)
    let file = try #require(UIImage(contentsOfFile: folder + "/loose@3x.png"))
    #expect(file.size == CGSize(width: 10, height: 10))
    #expect(try arguments(Image(uiImage: file)) == loose.without(.name))
    let named = try #require(UIImage(named: "Cup", in: bundle, with: nil))
    #expect(named.size == CGSize(width: 10, height: 5))
    #expect(try arguments(Image(uiImage: named), isDark: true)[.pixelWidth] == 8, "it follows the scheme")
    #expect(UIImage(named: "Nowhere", in: bundle, with: nil) == nil)
    #expect(UIImage(contentsOfFile: "/dev/zero") == nil)
  }

  @Test(
    .rule("PICTURE-75"),
    arguments: [
      ("Nowhere", "no asset catalog of the bundle has it"),
      ("Vector", "a.pdf: it is a PDF file, and only PNG, JPEG and SVG are drawn"),
      ("Gone", "gone.png: the file is missing"), ("Empty", "its set has nothing for this device"),
      ("Broken", "a.svg: the SVG document is not read: it is cut off"),
    ])
  func `an image that cannot be used has the reason`(name: String, reason: String) throws {
    defer { remove() }
    #expect(
      try arguments(Image(name, bundle: bundle)) == [.name: .string(name), .problem: .string(reason)])
  }

  @Test(.rule("PICTURE-77")) func `an SVG image has the pixels that the device makes of it`() throws {
    defer { remove() }
    let images = ArchivedImages()
    let digest = ContentDigest.hexadecimal(of: Self.svg)
    #expect(
      try arguments(Image("Drawn", bundle: bundle), images) == [
        .name: "Drawn", .image: .string(digest), .pixelWidth: 72, .pixelHeight: 37.5, .scale: 3,
      ])
    #expect(images.bytes == [digest: Self.svg])
  }

  @Test(.rule("PICTURE-78")) func `a symbol set has the widths of its variants, and an image set comes before it`()
    throws
  {
    defer { remove() }
    let images = ArchivedImages()
    let digest = ContentDigest.hexadecimal(of: Self.symbol)
    #expect(
      try arguments(Image("Mark", bundle: bundle), images)
        == [.name: "Mark", .image: .string(digest), .symbol: .record(ArchivedArguments(values: ["Regular-M": 1.5]))])
    #expect(images.bytes == [digest: Self.symbol])
    #expect(try arguments(Image("Cup", bundle: bundle))[.symbol] == nil)
  }

  @Test(.rule("PICTURE-75")) func `a damaged file has its size and the reason, and its bytes are left out`() throws {
    defer { remove() }
    let images = ArchivedImages()
    let cut = try arguments(Image("cut", bundle: bundle), images)
    #expect(cut[.pixelWidth] == 30 && cut[.image] == nil)
    #expect(cut[.problem] == "cut.png: the file is damaged: it is cut off")
    let image = try #require(UIImage(data: Self.png(30, 30).dropLast(20)))
    #expect(try arguments(Image(uiImage: image), images)[.problem] == "the file is damaged: it is cut off")
    #expect(images.bytes.isEmpty)
  }

  @Test(.rule("PICTURE-75")) func `the images and colours that cannot be shown are known, each once`() throws {
    defer { remove() }
    let color = Color("None", bundle: bundle)
    let view = VStack {
      Image("Gone", bundle: bundle)
      Image("Gone", bundle: bundle).foregroundStyle(color)
      Image("Cup", bundle: bundle)
      LinearGradient(colors: [.red, color], startPoint: .top, endPoint: .bottom)
    }
    #expect(
      try view.archived(in: EnvironmentValues()).assetProblems == [
        "the image \"Gone\": gone.png: the file is missing",
        "the colour \"None\": no asset catalog of the bundle has it",
      ])
  }

  @Test func `the symbol of an asset shows the colour or the image of its catalog`() throws {
    defer { remove() }
    let color = ColorResource(name: "Brand", bundle: bundle)
    #expect(try arguments(Color(color))[.color] == arguments(Color("Brand", bundle: bundle))[.color])
    #expect(try arguments(Color(UIColor(resource: color)))[.color] == arguments(Color(color))[.color])
    let image = ImageResource(name: "Cup", bundle: bundle)
    #expect(try arguments(Image(image)) == arguments(Image("Cup", bundle: bundle)))
    #expect(UIImage(resource: image).size == CGSize(width: 10, height: 5))
  }

  @Test(.rule("PICTURE-75")) func `a file of more than 16 MiB is not read`() throws {
    defer { remove() }
    let path = folder + "/long.png"
    try Self.write(Self.png(4, 4), path)
    truncate(path, 16 << 20 + 1)
    #expect(UIImage(contentsOfFile: path) == nil)
    let reason = "long.png: the file is longer than 16777216 bytes"
    #expect(try arguments(Image("long", bundle: bundle))[.problem] == .string(reason))
  }

  @Test(.rule("PICTURE-75"), arguments: [68, 69])
  func `all images together are limited by the size of an archive`(limit: Int) throws {
    defer { remove() }
    var environment = EnvironmentValues()
    environment.images = ArchivedImages()
    func archive() throws {
      _ = try Image("Plain", bundle: bundle).archived(in: environment, limits: .init(bytes: limit))
    }
    if limit == 69 {
      try archive()
    } else {
      #expect(throws: ArchiveRefusal.self) { try archive() }
    }
  }

  @Test(.rule("PICTURE-71")) func `a colour has the variants of its set, or the reason why it has none`() throws {
    defer { remove() }
    let red: ArchivedValue = .record([.red: 1, .green: 0, .blue: 0, .opacity: 1])
    #expect(
      try arguments(Color("Brand", bundle: bundle))[.color]
        == .record([.asset: "Brand", .light: red, .dark: "blue"]))
    #expect(
      try arguments(Color("Nowhere", bundle: bundle))[.color]
        == .record([.asset: "Nowhere", .problem: "no asset catalog of the bundle has it"]))
  }
}
