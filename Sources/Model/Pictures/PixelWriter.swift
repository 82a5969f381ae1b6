// SPDX-License-Identifier: Apache-2.0

import Archive
import CLazy
import Foundation
package import Layout

extension Picture {
  /// The picture as pixels, drawn by Cairo, and what is not drawn besides what is not drawn in any format.
  ///
  /// - Parameter scale: pixels for each point.
  package func pixels(
    outlines source: any GlyphSource, scale: Double
  ) throws(PixelFailure) -> (pixels: Pixels, notices: [String]) {
    try PixelWriter.load()
    let whole = PixelBox(Rect(origin: Point(x: 0, y: 0), size: size), .scale(scale, scale))
    let canvas = try Canvas(whole)
    var writer = PixelWriter(source: source, limit: whole.grown(by: max(whole.width, whole.height)))
    try writer.draw(drawings, on: canvas, .scale(scale, scale))
    try canvas.check()
    return (Pixels(canvas), writer.notices)
  }
}

/// Draws the operations of a display list.
struct PixelWriter {
  let source: any GlyphSource
  /// What is farther outside cannot be blurred into the picture.
  let limit: PixelBox
  private(set) var notices: [String] = []
  private var images: [String: Canvas] = [:]

  init(source: any GlyphSource, limit: PixelBox) { (self.source, self.limit) = (source, limit) }

  static func load() throws(PixelFailure) {
    guard let reason = lazy_cairo_load() else { return }
    throw PixelFailure(
      code: .library,
      description: "PNG needs Cairo: install libcairo2, or write .svg; it cannot be loaded: \(String(cString: reason))")
  }

  mutating func draw(
    _ drawings: [Drawing], on canvas: Canvas, _ transform: Transform
  ) throws(PixelFailure) {
    for drawing in drawings {
      switch drawing {
      case .fill(let path, let paint, let isEvenOdd):
        guard try set(paint, on: canvas, transform) else { continue }
        canvas.trace(path)
        canvas.fill(isEvenOdd: isEvenOdd)
      case .stroke(let path, let paint, let stroke):
        guard stroke.width > 0, try set(paint, on: canvas, transform) else { continue }
        canvas.trace(path)
        canvas.stroke(stroke)
      case .text(_, let glyphs, let paint):
        guard try set(paint, on: canvas, transform) else { continue }
        for glyph in glyphs { canvas.trace(source.outline(of: glyph.key), at: glyph.origin, scale: glyph.scale) }
        canvas.fill()
      case .image(let mediaType, let base64, let rect):
        canvas.setTransform(transform)
        if let image = image(mediaType, base64) { canvas.draw(image, in: rect) }
      case .group(let group, let drawings):
        try draw(group, drawings: drawings, on: canvas, outer: transform)
      }
    }
  }

  private mutating func image(_ mediaType: String, _ base64: String) -> Canvas? {
    if let known = images[base64] { return known }
    let bytes = Data(base64Encoded: base64).map { Array($0) } ?? []
    do throws(Canvas.JPEGFailure) {
      if let image = mediaType == "image/jpeg" ? try Canvas(jpeg: bytes) : Canvas(png: bytes) {
        images[base64] = image
        return image
      }
      note("an image is no complete PNG file, and is not drawn")
    } catch {
      switch error {
      case .library(let reason):
        note("a JPEG image is not drawn: install libturbojpeg0, or write .svg; it cannot be loaded: \(reason)")
      case .printColors: note("a JPEG image has CMYK colours, and is not drawn: export it in RGB, or write .svg")
      case .file: note("an image is no complete JPEG file, and is not drawn")
      }
    }
    return nil
  }

  private mutating func note(_ notice: String) {
    if !notices.contains(notice) { notices.append(notice) }
  }

  // MARK: Paints

  /// Sets what the next operations draw with, and the map of points; `false`: nothing is seen.
  private mutating func set(
    _ paint: Paint, on canvas: Canvas, _ transform: Transform
  ) throws(PixelFailure) -> Bool {
    canvas.setTransform(transform)
    switch paint {
    case .color(let color):
      canvas.setColor(color)
      return color.opacity > 0
    case .linear(let stops, let from, let to):
      guard from != to else { return setLast(of: stops, on: canvas) }
      canvas.setGradient(stops, isRadial: false, from: (from, 0), to: (to, 0))
    case .radial(let stops, let centre, let from, let to):
      guard to > max(0, from) else { return setLast(of: stops, on: canvas) }
      canvas.setGradient(stops, isRadial: true, from: (centre, max(0, from)), to: (centre, to))
    case .elliptical(let stops, let centre, let unit, let from, let to):
      guard to > max(0, from), unit.width > 0, unit.height > 0 else { return setLast(of: stops, on: canvas) }
      // The gradient's unit is the larger side: Cairo's coordinates of gradients have 16 binary places.
      let side = max(unit.width, unit.height)
      let stretch = Size(width: unit.width / side, height: unit.height / side)
      let inner = Point(x: centre.x / stretch.width, y: centre.y / stretch.height)
      canvas.setGradient(
        stops, isRadial: true, from: (inner, max(0, from) * side), to: (inner, to * side), stretch: stretch)
    case .angular(let stops, let centre, let start):
      guard let turn = try turn(stops, about: centre, start: start, box: canvas.box, transform: transform) else {
        return false
      }
      canvas.setSource(turn)
      canvas.setTransform(transform)
    }
    return true
  }

  /// A gradient without a length has its last colour.
  private func setLast(of stops: [Paint.Stop], on canvas: Canvas) -> Bool {
    guard let last = stops.last else { return false }
    canvas.setColor(last.color)
    return last.color.opacity > 0
  }

  /// A turn of colours in a box. The wedges are those of SVG.
  private func turn(
    _ stops: [Paint.Stop], about centre: Point, start: Double, box: PixelBox, transform: Transform
  ) throws(PixelFailure) -> Canvas? {
    guard let inverse = transform.inverse else { return nil }
    let corners = [(box.left, box.top), (box.right, box.top), (box.left, box.bottom), (box.right, box.bottom)]
      .map { inverse(Point(x: Double($0), y: Double($1))) }
    let canvas = try Canvas(box)
    canvas.setTransform(transform)
    for wedge in Wedges(stops: stops, centre: centre, start: start, corners).all {
      canvas.setColor(wedge.color)
      canvas.trace(wedge.path)
      canvas.fill(isSmooth: false)
    }
    return canvas
  }

  // MARK: Groups

  private mutating func draw(
    _ group: Drawing.Group, drawings: [Drawing], on canvas: Canvas, outer: Transform
  ) throws(PixelFailure) {
    let transform = outer.after(group.transform)
    guard group.opacity > 0, transform.inverse != nil else { return }
    guard group.isApart || group.isIsolated && drawings.contains(where: \.hasOpenBlend) else {
      return try draw(drawings, on: canvas, transform)
    }
    var seen = canvas.box
    if let clip = group.clip {
      guard let bounds = clip.bounds else { return }
      seen = seen.intersection(PixelBox(bounds, transform))
    }
    guard !seen.isEmpty else { return }
    let layer = try Canvas(seen.grown(by: group.reach(transform)).intersection(limit))
    try draw(drawings, on: layer, transform)
    for map in group.colors { layer.map(map) }
    if group.blur > 0 { layer.blur(deviation: group.blur * transform.factor) }
    if let shadow = group.shadow { try layer.cast(shadow, transform) }
    if let mask = group.mask {
      let shape = try Canvas(layer.box)
      try draw(mask, on: shape, transform)
      try shape.check()
      layer.mix(shape, lazy_blend_within)
    }
    try layer.check()
    canvas.setTransform(transform)
    if let clip = group.clip { canvas.trace(clip) }
    canvas.mix(layer, group.blend.cairo, opacity: group.opacity, isClipped: group.clip != nil)
  }
}

extension Drawing {
  /// Whether a blend mode of the operation mixes with what is below the operation.
  var hasOpenBlend: Bool {
    guard case .group(let group, let drawings) = self else { return false }
    if group.blend != .normal { return true }
    return !group.isApart && !group.isIsolated && drawings.contains(where: \.hasOpenBlend)
  }
}

extension Drawing.Group {
  /// Whether the operations are finished before they are mixed with what is below.
  var isApart: Bool {
    opacity != 1 || clip != nil || mask != nil || !colors.isEmpty || blur > 0 || shadow != nil || blend != .normal
  }

  /// How far the blur and the shadow move what is outside, in pixels.
  func reach(_ transform: Transform) -> Int {
    var reach = blur > 0 ? 3 * blur * transform.factor : 0
    if let shadow {
      reach +=
        1.5 * shadow.radius * transform.factor + max(abs(shadow.offset(transform).x), abs(shadow.offset(transform).y))
    }
    return Int(saturating: min(reach.rounded(.up), 32767))
  }
}

extension Drawing.Shadow {
  /// The place of the shadow, in pixels.
  func offset(_ transform: Transform) -> Point {
    Point(x: transform.a * x + transform.c * y, y: transform.b * x + transform.d * y)
  }
}

extension Drawing.Blend {
  var cairo: lazy_blend {
    switch self {
    case .normal: lazy_blend_normal
    case .multiply: lazy_blend_multiply
    case .screen: lazy_blend_screen
    case .overlay: lazy_blend_overlay
    case .darken: lazy_blend_darken
    case .lighten: lazy_blend_lighten
    case .colorDodge: lazy_blend_color_dodge
    case .colorBurn: lazy_blend_color_burn
    case .softLight: lazy_blend_soft_light
    case .hardLight: lazy_blend_hard_light
    case .difference: lazy_blend_difference
    case .exclusion: lazy_blend_exclusion
    case .hue: lazy_blend_hue
    case .saturation: lazy_blend_saturation
    case .color: lazy_blend_color
    case .luminosity: lazy_blend_luminosity
    case .plusLighter: lazy_blend_plus_lighter
    }
  }
}
