// SPDX-License-Identifier: Apache-2.0

import CLazyCairo
import Layout

/// Why a picture has no pixels, or a file of pixels cannot be read. Definite.
package struct PixelFailure: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// Cairo cannot be loaded.
    case library
    /// The picture is too large, or there is no memory for it.
    case size
    /// Cairo refused an operation.
    case drawing
    /// The file is no PNG file.
    case file
  }

  package let code: Code
  package let description: String
}

/// Pixels of Cairo, at a place of the picture. For one thread.
final class Canvas {
  let box: PixelBox
  let handle: OpaquePointer

  init(_ box: PixelBox) throws(PixelFailure) {
    guard !box.isEmpty, box.width <= 32767, box.height <= 32767,
      let handle = lazy_canvas_make(Int32(box.width), Int32(box.height))
    else {
      throw PixelFailure(
        code: .size,
        description: "a picture of \(box.width) × \(box.height) pixels is too large: at most 32767 on a side")
    }
    (self.box, self.handle) = (box, handle)
  }

  /// The image of a PNG file; `nil`: it is none.
  init?(png: [UInt8]) {
    guard let handle = png.withUnsafeBufferPointer({ lazy_canvas_read($0.baseAddress, $0.count) }) else { return nil }
    self.handle = handle
    box = PixelBox(
      left: 0, top: 0, right: Int(lazy_canvas_width(handle)), bottom: Int(lazy_canvas_height(handle)))
  }

  deinit { lazy_canvas_free(handle) }

  /// Fails if an operation failed.
  func check() throws(PixelFailure) {
    guard let problem = lazy_canvas_problem(handle) else { return }
    throw PixelFailure(code: .drawing, description: "Cairo refused an operation: \(String(cString: problem))")
  }

  // MARK: Outlines

  /// The following points are in coordinates that a map makes pixels of the picture.
  func setTransform(_ transform: Transform) {
    let matrix = [
      transform.a, transform.b, transform.c, transform.d, transform.x - Double(box.left),
      transform.y - Double(box.top),
    ]
    lazy_canvas_set_matrix(handle, matrix)
  }

  /// Adds an outline to the current one. A number that is not finite is 0.
  ///
  /// - Parameters:
  ///   - origin: of the outline.
  ///   - scale: of the outline.
  func trace(_ path: Path, at origin: Point = Point(x: 0, y: 0), scale: Double = 1) {
    func placed(_ point: Point) -> Point {
      func number(_ value: Double) -> Double { value.isFinite ? min(max(value, -1e6), 1e6) : 0 }
      return Point(x: number(origin.x + point.x * scale), y: number(origin.y + point.y * scale))
    }
    var last = Point(x: 0, y: 0)
    for element in path.elements {
      switch element {
      case .move(let point):
        last = placed(point)
        lazy_canvas_move(handle, last.x, last.y)
      case .line(let point):
        last = placed(point)
        lazy_canvas_line(handle, last.x, last.y)
      case .quad(let point, let control):
        let (end, middle) = (placed(point), placed(control))
        lazy_canvas_curve(
          handle, last.x + (middle.x - last.x) * 2 / 3, last.y + (middle.y - last.y) * 2 / 3,
          end.x + (middle.x - end.x) * 2 / 3, end.y + (middle.y - end.y) * 2 / 3, end.x, end.y)
        last = end
      case .curve(let point, let control1, let control2):
        let (end, one, two) = (placed(point), placed(control1), placed(control2))
        lazy_canvas_curve(handle, one.x, one.y, two.x, two.y, end.x, end.y)
        last = end
      case .close: lazy_canvas_close(handle)
      }
    }
  }

  // MARK: Operations

  func setColor(_ color: RGBA) {
    lazy_canvas_set_color(handle, color.red, color.green, color.blue, color.opacity)
  }

  /// - Parameter stretch: factors from the gradient's coordinates to those of the map.
  func setGradient(
    _ stops: [Paint.Stop], isRadial: Bool, from: (Point, radius: Double), to: (Point, radius: Double),
    stretch: Size = Size(width: 1, height: 1)
  ) {
    let numbers = stops.flatMap { stop in
      [stop.location, stop.color.red, stop.color.green, stop.color.blue, stop.color.opacity]
    }
    lazy_canvas_set_gradient(
      handle, isRadial ? 1 : 0, [from.0.x, from.0.y, from.radius, to.0.x, to.0.y, to.radius],
      [stretch.width, stretch.height], numbers, stops.count)
  }

  /// Removes the map of points.
  func setSource(_ other: Canvas) {
    lazy_canvas_set_source(
      handle, other.handle, Double(other.box.left - box.left), Double(other.box.top - box.top))
  }

  /// - Parameter isSmooth: whether pixels at the outline are mixed with what is below.
  func fill(isEvenOdd: Bool = false, isSmooth: Bool = true) {
    lazy_canvas_fill(handle, isEvenOdd ? 1 : 0, isSmooth ? 1 : 0)
  }

  func stroke(_ stroke: Stroke) {
    // A dash without a length is no dash, as in SVG.
    let dash = stroke.dash.reduce(0, +) > 0 ? stroke.dash.map { min($0, 1e6) } : []
    lazy_canvas_stroke(
      handle, min(stroke.width, 1e6), CChar(stroke.cap.utf8.first ?? 98), CChar(stroke.join.utf8.first ?? 109), dash,
      dash.count, stroke.dashPhase)
  }

  /// Draws an image in a rectangle.
  func draw(_ image: Canvas, in rect: Rect) {
    guard rect.size.width > 0, rect.size.height > 0 else { return }
    lazy_canvas_draw(handle, image.handle, rect.minX, rect.minY, rect.size.width, rect.size.height)
  }

  /// Mixes another canvas with what is drawn.
  ///
  /// - Parameters:
  ///   - isClipped: within the current outline only.
  ///   - offset: of the other canvas, in pixels.
  func mix(
    _ other: Canvas, _ blend: lazy_blend = lazy_blend_normal, opacity: Double = 1, isClipped: Bool = false,
    offset: Point = Point(x: 0, y: 0)
  ) {
    lazy_canvas_mix(
      handle, other.handle, Double(other.box.left - box.left) + offset.x,
      Double(other.box.top - box.top) + offset.y, blend, opacity, isClipped ? 1 : 0)
  }

  /// Calls a function for the pixels, row by row, and for the length of a row in pixels.
  func withPixels(_ body: (_ pixels: UnsafeMutablePointer<UInt32>, _ row: Int) -> Void) {
    var row = 0
    guard let pixels = lazy_canvas_pixels(handle, &row) else { return }
    body(pixels, row)
    lazy_canvas_changed(handle)
  }
}
