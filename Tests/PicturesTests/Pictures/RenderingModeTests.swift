// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Rendering modes` {
  private let sample: PictureSample

  init() throws { sample = try PictureSample() }

  private let tint = RGBA(0.2, 0.4, 0.6)

  private func accented(_ view: ViewArchive, showsBackground: Bool = false) -> Picture {
    sample.picture(view, PictureStyle(showsBackground: showsBackground, mode: .accented, tint: tint))
  }

  private let image = ViewArchive(.leaf(.image), [.pixelWidth: 10, .pixelHeight: 10, .image: "red"])

  // MARK: Accented

  @Test(.rule("PICTURE-46")) func `an accented view keeps only its opacity`() {
    let row = ViewArchive(
      .container(.hStack),
      children: [
        .red, ViewArchive(.fill(.color), [.color: .record([.color: "blue", .opacity: 0.4])]),
        ViewArchive.red.with(.effect(.widgetAccentable)),
        ViewArchive.red.with(.effect(.widgetAccentable), [.accentable: false]),
      ])
    let white = Paint.color(.white)
    #expect(
      accented(row).paints == [white, .color(RGBA(1, 1, 1, opacity: 0.4)), .color(tint), white])
    let inner = ViewArchive(
      .container(.vStack), children: [ViewArchive.red.with(.effect(.widgetAccentable), [.accentable: false])]
    )
    .with(.effect(.widgetAccentable))
    #expect(accented(inner).paints == [.color(tint)], "a false inside a true has no effect")
  }

  @Test(.rule("PICTURE-46")) func `gradients, shadows, borders and texts are in the colour of their group`() {
    let gradient = ArchivedValue.record([
      .linearGradient: .list(["red", .record([.color: "blue", .opacity: 0])]), .from: "top", .to: "bottom",
    ])
    guard case .linear(let stops, _, _) = accented(ViewArchive(.fill(.color), [.color: gradient])).paints.first else {
      Issue.record("a gradient stays a gradient")
      return
    }
    #expect(stops.map(\.color) == [.white, RGBA(1, 1, 1, opacity: 0)])
    let text = ViewArchive.text("a").with(.style(.foregroundStyle), [.style: "red"]).with(
      .effect(.border), [.style: "blue"]
    )
    .with(.effect(.shadow), [.radius: 2]).with(.effect(.widgetAccentable))
    #expect(accented(text).paints == [.color(tint), .color(tint)])
    #expect(accented(text).groups.compactMap(\.shadow?.color) == [RGBA(0.2, 0.4, 0.6, opacity: 0.33)])
  }

  @Test(
    .rule("PICTURE-46"),
    arguments: [
      (nil, .replacement(RGBA.white)), ("fullColor", nil), ("accented", .replacement(RGBA(0.2, 0.4, 0.6))),
      ("desaturated", .luminance(RGBA.white)), ("accentedDesaturated", .luminance(RGBA(0.2, 0.4, 0.6))),
    ] as [(String?, Drawing.ColorMap?)])
  func `an image follows its own mode`(mode: String?, map: Drawing.ColorMap?) {
    let view = mode.map { image.with(.effect(.widgetAccentedRenderingMode), [.mode: .string($0)]) } ?? image
    #expect(accented(view).groups.flatMap(\.colors) == (map.map { [$0] } ?? []))
  }

  @Test(.rule("PICTURE-46")) func `the author's background is not shown, or faded where the place keeps it`() throws {
    let view = ViewArchive.red.with(.layout(.containerBackground), [.placement: "widget", .style: "blue"])
    let kept = try #require(accented(view).groups.first { !$0.colors.isEmpty })
    #expect(kept.colors == [.luminance(.white)] && kept.opacity == 0.3)
    let panel = Paint.color(RGBA(0, 0, 0, opacity: 0.5))
    #expect(accented(.red, showsBackground: true).paints == [panel, .color(.white)])
    #expect(accented(.red).paints == [.color(.white)])
  }

  @Test(.rule("PICTURE-46")) func `the accent is the system's without a tint, and the label of a button is seen`() {
    let button = ViewArchive(.control(.button), children: [.text("Go")]).with(
      .style(.buttonStyle), [.style: "borderedProminent"])
    let style = PictureStyle(showsBackground: false, mode: .accented)
    #expect(sample.picture(button, style).paints == [.color(RGBA(1, 1, 1, opacity: 0.3)), .color(.white)])
    let accent = sample.picture(ViewArchive.red.with(.effect(.widgetAccentable)), style)
    #expect(accent.paints == [.color(RGBA(bytes: 10, 132, 255))])
  }

  @Test(.rule("PICTURE-46")) func `of an effect only the change of the opacity is seen`() {
    let inverted = accented(ViewArchive.red.with(.color(.colorInvert)))
    #expect(inverted.groups.flatMap(\.colors).isEmpty)
    let blended = accented(ViewArchive.red.with(.color(.blendMode), [.mode: "difference"]))
    #expect(blended.groups.allSatisfy { $0.blend == .normal })
    let half = ArchivedValue.record([.color: "white", .opacity: 0.5])
    #expect(accented(ViewArchive.red.with(.color(.colorMultiply), [.color: half])).groups.last?.opacity == 0.5)
    let picture = accented(ViewArchive.red.with(.color(.luminanceToAlpha)))
    let maps = picture.groups.flatMap(\.colors)
    #expect(maps.count == 2 && maps.first == .replacement(.white))
    #expect(picture.paints == [.color(RGBA(bytes: 255, 69, 58))])
  }

  // MARK: Vibrant

  @Test(.rule("PICTURE-47")) func `a vibrant widget is white by the luminance of its views`() {
    let style = PictureStyle(showsBackground: true, mode: .vibrant)
    let picture = sample.picture(ViewArchive.red, style)
    #expect(picture.groups.map(\.colors) == [[], [.luminance(.white)]])
    #expect(!picture.paints.contains(.color(.white)), "a vibrant place has no background")
    let text = picture.svg(outlines: sample.font)
    #expect(
      text.contains(
        "<feColorMatrix in=\"SourceGraphic\" type=\"matrix\" values=\"0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"
          + " 0.2126 0.7152 0.0722 0 0\"/><feComposite operator=\"in\" in2=\"SourceGraphic\" result=\"map1\"/>"))
  }

  @Test(.rule("PICTURE-47")) func `a tint colours a vibrant widget, and its views are dark`() {
    let style = PictureStyle(mode: .vibrant, tint: RGBA(.red))
    #expect(sample.picture(.text("a"), style).groups.flatMap(\.colors) == [.luminance(RGBA(bytes: 255, 59, 48))])
    #expect(sample.picture(.text("a"), style).paints.last == .color(.white))
  }

  @Test(.rule("PICTURE-46", "PICTURE-47")) func `in full colour nothing is mapped`() {
    let view = ViewArchive.red.with(.effect(.widgetAccentable))
    let picture = sample.picture(view, PictureStyle(tint: tint))
    #expect(picture.groups.flatMap(\.colors).isEmpty && picture.paints.last == .color(RGBA(bytes: 255, 59, 48)))
  }
}
