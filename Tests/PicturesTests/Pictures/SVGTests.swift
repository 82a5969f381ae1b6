// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `SVG documents` {
  private let font: InterFont

  init() throws { font = try InterFont() }

  private func picture(_ view: ViewArchive, _ style: PictureStyle = PictureStyle()) -> Picture {
    let canvas = LayoutCanvas(size: Size(width: 158, height: 158), margins: Insets(16))
    return view.picture(in: canvas, style, with: font)
  }

  private func svg(_ view: ViewArchive, _ style: PictureStyle = PictureStyle()) -> String {
    picture(view, style).svg(outlines: font)
  }

  private let view = ViewArchive(
    .container(.vStack), [.alignment: "leading"],
    children: [
      .text("Caffeine & tea <1>"),
      ViewArchive(
        .shape(.circle),
        modifiers: [
          .init(.shape(.trim), [.from: 0, .to: 0.6]),
          .init(.shape(.stroke), [.style: "red", .lineWidth: 4, .lineCap: "round"]),
          .init(.layout(.frame), [.width: 40, .height: 40]),
        ]),
      ViewArchive(.leaf(.image), [.systemName: "star.fill"]),
    ],
    modifiers: [
      .init(
        .layout(.containerBackground),
        [
          .placement: "widget",
          .style: .record([
            .linearGradient: .list(["white", "orange"]), .from: "top", .to: "bottom",
          ]),
        ])
    ])

  @Test(.rule("PICTURE-01")) func `the same views have the same bytes, in a document that can be parsed`() throws {
    let text = svg(view)
    let other = view.picture(
      in: LayoutCanvas(size: Size(width: 158, height: 158), margins: Insets(16)), with: try InterFont())
    #expect(try text == other.svg(outlines: InterFont()))
    let foundElements = try elements(text)
    let labels = foundElements.compactMap { $0.attributes["aria-label"] }
    #expect(labels == ["Caffeine &amp; tea ", "&lt;1&gt;", "star.fill"])
    #expect(!text.contains("<script"))
    let numbers = decimals(in: text)
    #expect(numbers.filter { $0 > 6 }.isEmpty, "a factor of an outline has six decimals, all else two")
    #expect(foundElements.contains { $0.name == "linearGradient" })
  }

  @Test(.rule("PICTURE-08")) func `a widget is clipped to its shape`() {
    let text = svg(.text("a"))
    #expect(text.contains("<clipPath id=\"clip1\">") && text.contains("clip-path=\"url(#clip1)\""))
    #expect(text.contains("fill=\"#ffffff\""))
    #expect(svg(.text("a"), PictureStyle(colorScheme: .dark)).contains("fill=\"#1c1c1e\""))
  }

  @Test(.rule("PICTURE-08"), arguments: [("clear", true), ("red", false), ("red secondary", true)])
  func `the colour of a background is below a container background that is not opaque`(
    style: String, isBelow: Bool
  ) {
    let view = ViewArchive.text("a").with(
      .layout(.containerBackground), [.placement: "widget", .style: .string(style)])
    #expect(svg(view).contains("fill=\"#ffffff\"") == isBelow)
  }

  @Test(
    .rule("PICTURE-04"),
    arguments: [
      ("red", false, false, false, "#ff3b30"), ("red", true, false, false, "#ff453a"),
      ("red", false, true, false, "#d70015"), ("red", false, false, true, "#ff383c"),
      ("primary", true, false, false, "#ffffff"), ("mint", false, false, true, "#00c8b3"),
      ("gray6", false, false, true, "#f2f2f7"), ("gray6", true, false, true, "#1c1c1e"),
      ("gray2", true, true, false, "#7c7c80"), ("groupedBackground", false, false, false, "#f2f2f7"),
      ("secondarySystemBackground", true, false, true, "#2c2c2e"), ("opaqueSeparator", false, false, true, "#c6c6c8"),
      ("link", false, false, false, "#007aff"), ("placeholderText", false, false, false, "#3c3c43"),
      ("secondarySystemFill", false, false, false, "#787880"), ("tertiarySystemFill", true, false, true, "#767680"),
      ("quaternarySystemFill", false, false, true, "#747480"), ("gray3", false, false, true, "#c7c7cc"),
      ("gray4", true, false, true, "#3a3a3c"), ("gray5", false, true, true, "#d8d8dc"),
      ("tertiarySystemBackground", true, false, true, "#3a3a3c"),
      ("secondarySystemGroupedBackground", false, false, true, "#ffffff"),
      ("tertiarySystemGroupedBackground", false, true, true, "#ebebf0"),
    ])
  func `a named colour is that of the system`(
    name: String, isDark: Bool, hasContrast: Bool, usesIOS26Colors: Bool, color: String
  ) {
    var settings = DeviceSettings()
    settings.increasesContrast = hasContrast
    let style = PictureStyle(colorScheme: isDark ? .dark : .light, settings: settings, usesIOS26Colors: usesIOS26Colors)
    #expect(svg(ViewArchive(.fill(.color), [.color: .string(name)]), style).contains("fill=\"\(color)\""))
  }

  @Test(.rule("PICTURE-04")) func `levels, opacities and mixes are applied, and an unknown colour is named`() {
    func paint(_ value: ArchivedValue) -> String { svg(ViewArchive(.fill(.color), [.color: value])) }
    #expect(paint("secondary").contains("fill=\"#3c3c43\" fill-opacity=\"0.6\""))
    for (level, opacity) in [("secondary", 0.5), ("tertiary", 0.25), ("quaternary", 0.18)] {
      #expect(paint(.string("red \(level)")).contains("fill=\"#ff3b30\" fill-opacity=\"\(opacity)\""), "\(level)")
    }
    #expect(paint(.record([.color: "red", .opacity: 0.25])).contains("fill-opacity=\"0.25\""))
    #expect(paint(.record([.red: 1, .green: 0.5, .blue: 0, .opacity: 1])).contains("fill=\"#ff8000\""))
    #expect(paint(.record([.mix: .list(["white", "black"]), .by: 0.5])).contains("fill=\"#808080\""))
    #expect(paint(.record([.red: .number(.nan), .green: 0, .blue: 0])).contains("fill=\"#000000\""))
    let asset = picture(ViewArchive(.fill(.color), [.color: .record([.asset: "Brand"])]))
    #expect(asset.notices == ["the colour \"Brand\" of the asset catalog is not drawn as a style"])
  }

  @Test(.rule("PICTURE-07")) func `hidden content is a bar`() {
    let text = svg(.text("▒▒▒▒"))
    #expect(text.contains("fill-opacity=\"0.2\"") && !text.contains("aria-label"))
  }

  @Test(.rule("PICTURE-03")) func `a missing glyph is named`() {
    let notice = "Inter has no glyph for \"日本\": use --fonts with a folder of fonts that have it"
    #expect(picture(.text("日本")).notices == [notice])
  }

  @Test func `effects become groups`() {
    let color = ViewArchive(.fill(.color), [.color: "red"])
    func with(_ name: ModifierName, _ arguments: ArchivedArguments, views: [ViewArchive] = []) -> String {
      var view = color
      view.modifiers = [.init(name, arguments, views: views)]
      return svg(view)
    }
    #expect(with(.effect(.opacity), [.opacity: 0.5]).contains("<g opacity=\"0.5\">"))
    #expect(!with(.effect(.hidden), [:]).contains("#ff3b30"))
    #expect(with(.effect(.rotationEffect), [.degrees: 45]).contains("rotate(45 79 79)"))
    #expect(with(.effect(.scaleEffect), [.scale: 2, .anchor: "topLeading"]).contains("translate(16 16) scale(2 2)"))
    #expect(with(.effect(.shadow), [.radius: 4, .y: 2]).contains("<feOffset dx=\"0\" dy=\"2\" result=\"place\"/>"))
    #expect(with(.effect(.blur), [.radius: 3]).contains("<feGaussianBlur stdDeviation=\"3\"/>"))
    #expect(with(.layer(.mask), [:], views: [ViewArchive(.shape(.circle))]).contains("mask=\"url(#mask2)\""))
    #expect(with(.layer(.clipShape), [:], views: [ViewArchive(.shape(.capsule))]).contains("clip2"))
    #expect(with(.effect(.border), [.style: "blue", .width: 2]).contains("stroke=\"#007aff\" stroke-width=\"2\""))
    var view = color
    view.modifiers = [.init(.unknown("visualEffect"))]
    #expect(picture(view).notices == [".visualEffect has no effect"])
  }
}
