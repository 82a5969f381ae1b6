// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

/// An SVG image of 10 by 10 points, drawn in the points 0 to 10.
private func drawn(
  _ content: String, in frame: Rect = Rect(x: 0, y: 0, width: 10, height: 10), root: String = #"viewBox="0 0 10 10""#
) throws -> VectorImage {
  try VectorImage(Data("<svg width=\"10\" height=\"10\" \(root)>\(content)</svg>".utf8), in: frame)
}

extension Drawing {
  fileprivate var outline: String? {
    switch self {
    case .fill(let path, _, _), .stroke(let path, _, _): path.svg
    default: nil
    }
  }
  fileprivate var paint: Paint? {
    switch self {
    case .fill(_, let paint, _), .stroke(_, let paint, _): paint
    default: nil
    }
  }
}

private let black = Paint.color(RGBA(0, 0, 0))

@Suite struct `Images of SVG` {
  @Test(
    .rule("PICTURE-77"),
    arguments: [
      (#"<path d="M1 1h2v2z"/>"#, "M1 1L3 1L3 3Z"), (#"<rect x="1" y="2" width="3" height="4"/>"#, "M1 2L4 2L4 6L1 6Z"),
      (#"<polygon points="0,0 1,0 1,1"/>"#, "M0 0L1 0L1 1Z"), (#"<polyline points="0 0 1 0 1 1 9"/>"#, "M0 0L1 0L1 1"),
      (#"<g transform="translate(1 2)"><path transform="scale(2,3)" d="M1 1L2 2"/></g>"#, "M3 5L5 8"),
      (#"<path transform="rotate(90 5 5)" d="M5 0L5 5"/>"#, "M10 5L5 5"),
      (#"<path transform="matrix(1 0 0 1 2 3) skewX(45)" d="M0 0L0 1"/>"#, "M2 3L3 4"),
      (##"<defs><path id="a" d="M0 0L1 1"/></defs><use xlink:href="#a" x="2" y="3"/>"##, "M2 3L3 4"),
      (##"<symbol id="a"><path d="M0 0L1 1"/></symbol><use href="#a"/>"##, "M0 0L1 1"),
      (#"<switch><foreignObject/><g><path d="M0 0L1 1"/></g></switch>"#, "M0 0L1 1"),
      (#"<circle cx="5" cy="5" r="5"/>"#, Path(ellipseIn: Rect(x: 0, y: 0, width: 10, height: 10)).svg),
      (#"<ellipse cx="50%" cy="5" rx="5" ry="2"/>"#, Path(ellipseIn: Rect(x: 0, y: 3, width: 10, height: 4)).svg),
    ])
  func `each shape is an outline in the points of the picture`(content: String, outline: String) throws {
    let image = try drawn(content)
    #expect(image.drawings.map(\.outline) == [outline])
    #expect(image.missing.isEmpty && image.drawings.first?.paint == black)
  }

  @Test(.rule("PICTURE-77")) func `a round rectangle has its radii, at most half a side`() throws {
    let shape = #"<rect width="8" height="4" rx="9" ry="1"/>"#
    #expect(try drawn(shape).drawings.first?.outline?.hasPrefix("M4 0L4 0C") == true)
    #expect(try drawn(#"<rect width="8" height="4" ry="1"/>"#).drawings.first?.outline?.hasPrefix("M1 0L7 0C") == true)
  }

  @Test(
    .rule("PICTURE-77"),
    arguments: [
      (##"fill="#f00""##, RGBA(1, 0, 0)), (#"fill="rgb(0,255,0)""#, RGBA(0, 1, 0)), (#"fill="blue""#, RGBA(0, 0, 1)),
      (##"fill="#ff000080""##, RGBA(1, 0, 0, opacity: 128 / 255)),
      (#"fill="rgba(100%, 0, 0, .5)""#, RGBA(1, 0, 0, opacity: 0.5)),
      (#"fill="red" fill-opacity="50%" opacity="0.5""#, RGBA(1, 0, 0, opacity: 0.25)),
      (#"fill="red" style="fill: lime !important; opacity: 1""#, RGBA(0, 1, 0)),
      (#"fill="red" style="fill:color(display-p3 0 1 0)""#, RGBA(1, 0, 0)), (#"class="a b" fill="red""#, RGBA(0, 0, 1)),
      (#"id="c" class="a""#, RGBA(0, 1, 0)), (#"fill="currentColor" color="red""#, RGBA(1, 0, 0)),
      (#"fill="url(#none) red""#, RGBA(1, 0, 0)),
    ])
  func `a colour is that of the attribute, of a rule or of the style`(attributes: String, color: RGBA) throws {
    let rules = "<style>/* {} */ .a{fill:#00f} #c, .z { fill: lime }</style>"
    let image = try drawn("\(rules)<path d=\"M0 0h1v1\" \(attributes)/>")
    guard case .color(let foundColor)? = image.drawings.first?.paint else {
      Issue.record("\(image)")
      return
    }
    #expect(
      zip(
        [foundColor.red, foundColor.green, foundColor.blue, foundColor.opacity],
        [color.red, color.green, color.blue, color.opacity]
      )
      .allSatisfy { abs($0 - $1) < 0.001 }, "\(foundColor)")
  }

  @Test(.rule("PICTURE-77")) func `styles are inherited, and a line has its width in points`() throws {
    let image = try drawn(
      """
      <g fill="none" stroke="red" stroke-width="2" stroke-linecap="round" stroke-dasharray="1" fill-rule="evenodd"
        transform="scale(2)"><path d="M2 2L3 3"/><path d="M2 2L3 3" fill="lime" visibility="hidden"/>
        <path d="M0 0L1 1" display="none"/><path d="M0 0h1v1" stroke="none" fill="lime"/></g>
      """)
    guard case .stroke(_, let paint, let line) = image.drawings.first, image.drawings.count == 2,
      case .fill(_, _, isEvenOdd: true) = image.drawings[1]
    else {
      Issue.record("\(image.drawings)")
      return
    }
    #expect(paint == .color(RGBA(1, 0, 0)) && line.width == 4 && line.cap == "round" && line.dash == [2, 2])
  }

  @Test(.rule("PICTURE-77")) func `an image is scaled to its frame, and stretched with its lines`() throws {
    let shape = #"<path d="M0 0L10 10" stroke="red"/>"#
    let even = try drawn(shape, in: Rect(x: 5, y: 5, width: 20, height: 20))
    #expect(even.drawings.count == 2 && even.drawings[0].outline == "M5 5L25 25" || even.drawings.count == 1)
    let wide = try drawn(#"<path d="M0 0L10 10"/>"#, in: Rect(x: 5, y: 5, width: 40, height: 20))
    guard case .group(let group, _) = wide.drawings.first else {
      Issue.record("\(wide.drawings)")
      return
    }
    #expect(group.scale == Drawing.Scaling(x: 2, y: 1, about: Point(x: 5, y: 5)))
  }

  @Test(
    .rule("PICTURE-77"),
    arguments: [
      (#"viewBox="0 0 20 10""#, "M0 2.5L10 7.5"), (#"viewBox="0 0 20 10" preserveAspectRatio="xMidYMin""#, "M0 0L10 5"),
      (#"viewBox="0 0 20 10" preserveAspectRatio="none""#, "M0 0L10 10"), ("", "M0 0L20 10"),
      (#"viewBox="10 0 20 20""#, "M-5 0L5 5"),
    ])
  func `the view box is fitted into the size, and what is outside is clipped`(root: String, outline: String) throws {
    let image = try drawn(#"<path d="M0 0L20 10"/>"#, root: root)
    if case .group(let group, let inner) = image.drawings.first {
      #expect(inner.map(\.outline) == [outline] && group.clip == Path(Rect(x: 0, y: 0, width: 10, height: 10)))
    } else {
      #expect(image.drawings.map(\.outline) == [outline])
    }
    #expect((["M0 0L20 10", "M-5 0L5 5"].contains(outline)) == (image.drawings.first?.outline == nil))
  }

  @Test(.rule("PICTURE-77")) func `a group with an opacity, a clip and a mask is finished before they apply`() throws {
    let image = try drawn(
      """
      <clipPath id="c"><circle cx="5" cy="5" r="5"/></clipPath><mask id="m"><rect width="5" height="10" fill="#fff"/></mask>
      <g opacity=".5" clip-path="url(#c)"><rect width="9" height="9"/><rect width="5" height="5"/></g>
      <rect width="9" height="9" mask="url('#m')"/>
      """)
    guard case .group(let one, let inner) = image.drawings[0], case .group(let other, _) = image.drawings[1] else {
      Issue.record("\(image.drawings)")
      return
    }
    #expect(one.opacity == 0.5 && one.clip == Path(ellipseIn: Rect(x: 0, y: 0, width: 10, height: 10)))
    #expect(inner.count == 2 && image.missing.isEmpty)
    guard case .group(let luminance, _)? = other.mask?.first else {
      Issue.record("\(other)")
      return
    }
    #expect(luminance.colors == [.luminance(.white)])
  }

  @Test(.rule("PICTURE-77")) func `a gradient fits the box of the shape, or has the coordinates of the image`() throws {
    func paint(_ gradient: String, _ shape: String = #"<rect x="2" width="4" height="8" fill="url(#g)"/>"#) throws
      -> Paint?
    {
      let image = try drawn("<defs>\(gradient)</defs>\(shape)")
      #expect(image.missing.isEmpty)
      return image.drawings.first?.paint
    }
    let stops = ##"<stop stop-color="red"/><stop offset="100%" stop-color="#00f" stop-opacity=".5"/>"##
    let colors = [
      Paint.Stop(color: RGBA(1, 0, 0), location: 0), Paint.Stop(color: RGBA(0, 0, 1, opacity: 0.5), location: 1),
    ]
    #expect(
      try paint("<linearGradient id=\"g\">\(stops)</linearGradient>")
        == .linear(colors, from: Point(x: 2, y: 0), to: Point(x: 6, y: 0)))
    // Diagonal in the box: the lines of equal colour are parallel to the other diagonal.
    guard
      case .linear(_, let from, let to)? = try paint(
        #"<linearGradient id="g" x2="1" y2="1">\#(stops)</linearGradient>"#)
    else { return }
    #expect(abs((to.x - from.x) * -4 + (to.y - from.y) * 8) < 1e-9, "\(from) \(to)")
    #expect(
      try paint(
        """
        <linearGradient id="a">\(stops)</linearGradient><linearGradient id="g" xlink:href="#a"
          gradientUnits="userSpaceOnUse" x1="1" x2="3" gradientTransform="translate(2)"/>
        """) == .linear(colors, from: Point(x: 3, y: 0), to: Point(x: 5, y: 0)))
    #expect(
      try paint(
        #"<radialGradient id="g" gradientUnits="userSpaceOnUse" cx="5" cy="5" r="4">\#(stops)</radialGradient>"#)
        == .radial(colors, centre: Point(x: 5, y: 5), from: 0, to: 4))
    #expect(
      try paint("<radialGradient id=\"g\">\(stops)</radialGradient>")
        == .elliptical(colors, centre: Point(x: 4, y: 4), unit: Size(width: 2, height: 4), from: 0, to: 1))
  }

  @Test(
    .rule("PICTURE-77"),
    arguments: [
      ("<text>a</text>", "<text>"), ("<image href=\"http://a/b.png\"/>", "<image>"), ("<script>a</script>", "<script>"),
      ("<foreignObject/>", "<foreignObject>"), ("<animate/>", "<animate>"),
      ("<use href=\"b.svg#a\"/>", "a reference outside of the file"),
      (##"<use href="#none"/>"##, #"<use> of "none", which is not in the file"#),
      ("<path filter=\"url(#a)\" d=\"M0 0\"/>", "filter"),
      (#"<path d="M0 0h1v1" fill="hsl(0 0 0)"/>"#, #"fill="hsl(0 0 0)""#),
      (#"<path d="M0 0h1?"/>"#, "a path: a number is expected at byte 6 of the path data"),
      (#"<pattern id="p"/><path d="M0 0h1v1" fill="url(#p)"/>"#, "<pattern>"),
      ("<style>@media x{a{b:c}}</style>", "the style rule @media x"),
      ("<style>a b{fill:red}</style>", "the style rule a b"), (#"<g transform="spin(3)"/>"#, #"transform="spin(3)""#),
      (#"<path d="M0 0h1" style="mix-blend-mode:multiply"/>"#, "mix-blend-mode"),
    ])
  func `what is not drawn is named`(content: String, name: String) throws {
    let image = try drawn(content)
    #expect(image.missing == [name])
  }

  @Test(.rule("PICTURE-77")) func `metadata and elements of editors are no part of the image`() throws {
    let image = try drawn("<title>a</title><metadata><rdf:RDF/></metadata><sodipodi:namedview/><desc/>")
    #expect(image.drawings.isEmpty && image.missing.isEmpty)
  }
}
