// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

@Suite struct `Images of a picture` {
  private let sample: PictureSample

  init() throws { sample = try PictureSample() }

  private func image(_ more: ArchivedArguments = [:], _ modifiers: [ViewArchive.Modifier] = []) -> ViewArchive {
    ViewArchive(
      .leaf(.image),
      ([.name: "cup", .image: "red", .pixelWidth: 60, .pixelHeight: 30] as ArchivedArguments).merging(more),
      modifiers: modifiers)
  }

  private func drawing(_ view: ViewArchive) -> String {
    sample.svg(view).split(separator: "\n").first { $0.hasPrefix("<image") }.map(String.init) ?? ""
  }

  @Test(.rule("PICTURE-72")) func `an image is embedded with its bytes, in points of its scale`() {
    let href = "href=\"data:image/png;base64,\(PictureSample.png.base64EncodedString())\""
    #expect(drawing(image()).contains("x=\"49\" y=\"64\" width=\"60\" height=\"30\""))
    #expect(drawing(image()).contains(href))
    #expect(drawing(image([.scale: 3])).contains("x=\"69\" y=\"74\" width=\"20\" height=\"10\""))
    #expect(sample.picture(image()).notices.isEmpty)
  }

  @Test(.rule("PICTURE-72")) func `a resizable image takes its frame, and keeps its ratio where it is scaled to fit`() {
    let resizable = ViewArchive.Modifier(.shape(.resizable))
    let frame = ViewArchive.Modifier(.layout(.frame), [.width: 50, .height: 50])
    #expect(drawing(image([:], [resizable, frame])).contains("width=\"50\" height=\"50\""))
    #expect(
      drawing(image([:], [resizable, .init(.layout(.scaledToFit)), frame])).contains("width=\"50\" height=\"25\""))
    #expect(
      drawing(image([:], [resizable, .init(.layout(.scaledToFill)), frame])).contains("width=\"100\" height=\"50\""))
  }

  @Test(
    .rule("PICTURE-73"),
    arguments: [
      (nil, nil, false), ("template", nil, true), (nil, "template", true), ("original", "template", false),
      ("template", "original", true),
    ] as [(String?, String?, Bool)])
  func `a template has the foreground style, by the author's mode or else by the catalog's`(
    mode: String?, intent: String?, isTemplate: Bool
  ) throws {
    var view = image(intent.map { [.intent: .string($0)] } ?? [:])
    if let mode { view = view.with(.shape(.renderingMode), [.mode: .string(mode)]) }
    let picture = sample.picture(view.with(.style(.foregroundStyle), [.style: "blue"]))
    let masks = picture.groups.compactMap(\.mask)
    #expect(masks.count == (isTemplate ? 1 : 0))
    #expect(picture.paints.contains(.color(RGBA(bytes: 0, 122, 255))) == isTemplate)
    let vector = Data("<svg width=\"1\" height=\"1\"><path d=\"M0 0h1v1\"/></svg>".utf8)
    let group = sample.picture(view.with(.style(.foregroundStyle), [.style: "blue"]), images: ["red": vector]).groups
    #expect(group.compactMap(\.mask).count == (isTemplate ? 1 : 0), "also of SVG")
    if isTemplate, case .image = try #require(masks.first?.first) {} else { #expect(!isTemplate) }
  }

  @Test(.rule("PICTURE-75")) func `an image that cannot be drawn is named with the reason`() {
    func notices(_ view: ViewArchive, _ data: Data? = nil) -> [String] {
      sample.picture(view, images: data.map { ["red": $0] } ?? [:]).notices
    }
    #expect(notices(image()) == ["the image \"cup\" is not drawn: its bytes are missing"])
    #expect(
      notices(image(), PictureSample.png.dropLast(20))
        == ["the image \"cup\" is not drawn: the file is damaged: it is cut off"])
    #expect(
      notices(image(), Data("<svg/>".utf8))
        == ["the image \"cup\" is not drawn: the SVG document is not read: it has no size"])
    #expect(
      notices(image(), Data("%PDF".utf8))
        == ["the image \"cup\" is not drawn: it is a PDF file, and only PNG, JPEG and SVG are drawn"])
    #expect(
      notices(image(), Data("<svg width=\"1\" height=\"1\"><text/></svg>".utf8))
        == ["the image \"cup\" is drawn without <text>"])
    let missing = ViewArchive(.leaf(.image), [.name: "cup", .problem: "no asset catalog of the bundle has it"])
    #expect(notices(missing) == ["the image \"cup\" is not drawn: no asset catalog of the bundle has it"])
    let inText = ViewArchive(.leaf(.text), children: [image()])
    #expect(notices(inText) == ["the image \"cup\" in a text is not drawn"])
    #expect(
      notices(
        image(
          [:],
          [
            .init(.shape(.resizable), [.resizingMode: "tile"]),
            .init(.shape(.interpolation), [.interpolation: "none"]),
          ]),
        PictureSample.png)
        == [
          "the image \"cup\" is stretched: resizingMode of resizable has no effect",
          "the image \"cup\" is drawn smooth: interpolation(.none) has no effect",
        ])
  }

  @Test(.rule("PICTURE-71")) func `a colour of an asset catalog follows the scheme and the contrast`() {
    let parts: ArchivedArguments = [
      .asset: "Brand", .light: .record([.red: 1, .green: 0, .blue: 0, .opacity: 0.5]),
      .dark: .record([.red: 0, .green: 1, .blue: 0, .opacity: 1]),
      .lightContrast: .record([.red: 0, .green: 0, .blue: 1, .opacity: 1]),
    ]
    func color(_ parts: ArchivedArguments, scheme: ColorSchemeName, isHigh: Bool) -> Paint? {
      var style = PictureStyle(colorScheme: scheme)
      style.settings.increasesContrast = isHigh
      return sample.picture(ViewArchive(.fill(.color), [.color: .record(parts)]), style).paints.last
    }
    #expect(color(parts, scheme: .light, isHigh: false) == .color(RGBA(1, 0, 0, opacity: 0.5)))
    #expect(color(parts, scheme: .dark, isHigh: false) == .color(RGBA(0, 1, 0)))
    #expect(color(parts, scheme: .light, isHigh: true) == .color(RGBA(0, 0, 1)))
    #expect(color(parts, scheme: .dark, isHigh: true) == .color(RGBA(0, 1, 0)))
    let own = parts.merging([.darkContrast: "white"])
    #expect(color(own, scheme: .dark, isHigh: true) == .color(RGBA(1, 1, 1)))
    let missing = ViewArchive(.fill(.color), [.color: .record([.asset: "Brand", .problem: "its set is empty"])])
    #expect(
      sample.picture(missing).notices
        == ["the colour \"Brand\" of the asset catalog (its set is empty) is not drawn as a style"])
    let gray = sample.picture(ViewArchive(.fill(.color), [.color: "gray"])).paints.last
    #expect(gray == .color(RGBA(142.0 / 255, 142.0 / 255, 147.0 / 255)))
    #expect(sample.picture(missing).paints.last == gray)
    let system = ViewArchive(.fill(.color), [.color: .record([.asset: "Brand", .light: "blue", .dark: "blue"])])
    #expect(
      sample.picture(system).paints.last == sample.picture(ViewArchive(.fill(.color), [.color: "blue"])).paints.last)
  }
}
