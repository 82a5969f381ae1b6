// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

/// A symbol set as Xcode has it: two weights of a square, whose parts have levels.
@Suite struct `Custom symbols` {
  private let sample: PictureSample

  init() throws { sample = try PictureSample() }

  /// Capital letters of 70 units. The regular square is as wide as 100 units, the black one as 120.
  private static let template = Data(
    """
    <svg width="3300" height="2200"><style>.SFSymbolsPreviewWireframe {fill:none;opacity:0}</style><g id="Guides">
    <line id="Baseline-M" x1="0" x2="9" y1="1126" y2="1126"/><line id="Capline-M" x1="0" x2="9" y1="1056" y2="1056"/>
    <line id="left-margin-Regular-M" x1="1000" x2="1000" y1="0" y2="9"/>
    <line id="right-margin-Regular-M" x1="1140" x2="1140" y1="0" y2="9"/>
    <line id="left-margin-Black-M" x1="2000" x2="2000" y1="0" y2="9"/>
    <line id="right-margin-Black-M" x1="2160" x2="2160" y1="0" y2="9"/></g>
    <g id="Symbols" transform="translate(0 10)">
    <g id="Regular-M" transform="matrix(1 0 0 1 1000 1116)">
    <path class="hierarchical-0:primary SFSymbolsPreviewWireframe" d="M20 -70h100v70h-100z" fill="red"/>
    <path class="hierarchical-1:secondary" d="M20 -70h10v10z"/></g>
    <g id="Black-M" transform="matrix(1 0 0 1 2000 1116)"><path d="M20 -70h120v70h-120z"/></g>
    <g id="Thin-M" transform="matrix(1 0 0 1 100 1116)"><path d="M0 -70h70v70h-70z"/></g></g></svg>
    """.utf8)

  private static let widths: ArchivedValue = .record(
    ArchivedArguments(values: ["Regular-M": 2, "Black-M": .number(160 / 70), "Thin-M": 2]))

  private func symbol() -> ViewArchive {
    ViewArchive(.leaf(.image), [.name: "box", .image: "box", .symbol: Self.widths])
  }

  private func font(_ size: Double, _ weight: String = "regular") -> ArchivedArguments {
    [.font: .record([.size: .number(size), .weight: .string(weight)])]
  }

  private func picture(_ view: ViewArchive) -> Picture { sample.picture(view, images: ["box": Self.template]) }

  /// The bounds of all shapes with a paint.
  private func bounds(_ picture: Picture, _ paint: Paint = .color(RGBA(0, 0, 0))) -> [Rect] {
    func all(_ drawings: [Drawing], _ offset: Point) -> [Rect] {
      drawings.flatMap { drawing -> [Rect] in
        switch drawing {
        case .fill(let path, paint, _):
          path.extent.map {
            [Rect(x: $0.minX + offset.x, y: $0.minY + offset.y, width: $0.size.width, height: $0.size.height)]
          } ?? []
        case .group(let group, let inner):
          all(inner, Point(x: offset.x + (group.offset?.x ?? 0), y: offset.y + (group.offset?.y ?? 0)))
        default: []
        }
      }
    }
    return all(picture.drawings, Point(x: 0, y: 0))
  }

  private func isNear(_ rect: Rect?, x: Double, y: Double, width: Double, height: Double) -> Bool {
    guard let rect else { return false }
    return zip([rect.minX, rect.minY, rect.size.width, rect.size.height], [x, y, width, height])
      .allSatisfy { abs($0 - $1) < 0.01 }
  }

  @Test(.rule("PICTURE-78")) func `capital letters of the font and of the template are equally high`() {
    let picture = picture(symbol().with(.style(.font), font(100)))
    let cap = LineMetrics.system(size: 100).capHeight
    // In the middle of the widget, between its margins.
    #expect(
      isNear(bounds(picture).first, x: 79 - cap * 100 / 140, y: 79 - cap / 2, width: cap * 100 / 70, height: cap),
      "\(bounds(picture))")
    #expect(picture.notices.isEmpty, "\(picture.notices)")
    #expect(picture.groups.contains { $0.label == "box" })
  }

  @Test(
    .rule("PICTURE-78"),
    arguments: [
      ("medium", 100.0, 70.0), ("bold", 120, 70), ("black", 120, 70), ("ultraLight", 70, 70), ("light", 100, 70),
    ])
  func `the variant has the nearest weight`(weight: String, width: Double, height: Double) {
    let unit = LineMetrics.system(size: 20).capHeight / 70
    let rect = bounds(picture(symbol().with(.style(.font), font(20, weight)))).first
    #expect(rect.map { abs($0.size.width - width * unit) < 0.01 } == true, "\(String(describing: rect))")
    #expect(rect.map { abs($0.midX - 79) < 0.01 } == true)
  }

  @Test(.rule("PICTURE-78"), arguments: [("small", 0.8), ("medium", 1), ("large", 1.3)])
  func `a scale that the template does not have is that of another one`(scale: String, factor: Double) {
    let view = symbol().with(.style(.font), font(20)).with(.style(.imageScale), [.scale: .string(scale)])
    let unit = LineMetrics.system(size: 20).capHeight / 70
    #expect(bounds(picture(view)).first.map { abs($0.size.width - 100 * unit * factor) < 0.01 } == true)
  }

  @Test(.rule("PICTURE-78")) func `a symbol has the foreground style, and its levels where they have styles`() {
    let blue = Paint.color(RGBA(bytes: 0, 122, 255))
    let view = symbol().with(.style(.foregroundStyle), [.style: "blue"])
    #expect(bounds(picture(view), blue).count == 2, "also the parts that have other colours")
    let levels = picture(view.with(.style(.symbolRenderingMode), [.mode: "hierarchical"]))
    #expect(bounds(levels, blue).count == 1 && bounds(levels, blue.faded(0.5)).count == 1)
    let palette = picture(symbol().with(.style(.foregroundStyle), [.style: "blue", .secondary: "red"]))
    #expect(bounds(palette, blue).count == 1 && bounds(palette, .color(RGBA(bytes: 255, 59, 48))).count == 1)
    #expect(
      picture(view.with(.style(.symbolRenderingMode), [.mode: "multicolor"])).notices
        == ["the image \"box\" is drawn in one colour"])
  }

  @Test(.rule("PICTURE-78")) func `a resizable symbol fits its frame, and keeps its ratio`() {
    var view = symbol().with(.style(.font), font(20))
    view.modifiers.append(.init(.shape(.resizable)))
    view.modifiers.append(.init(.layout(.frame), [.width: 60, .height: 30]))
    let rect = bounds(picture(view)).first
    // The width of the margins is 140 units, and the height 1.4 times that of the capital letters.
    #expect(
      rect.map { abs($0.size.height - 30 / 1.4) < 0.01 && $0.size.width <= 60 } == true, "\(String(describing: rect))")
  }

  @Test(.rule("PICTURE-78", "PICTURE-79")) func `a template that cannot be drawn is named with the reason`() {
    let view = symbol()
    #expect(
      sample.picture(view, images: ["box": Data("<svg/>".utf8)]).notices == [
        "the image \"box\" is not drawn: the SVG document is not read: "
          + "it has no group such as Regular-M with its lines Baseline-M and Capline-M"
      ])
  }
}
