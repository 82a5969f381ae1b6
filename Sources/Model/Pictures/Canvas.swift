// SPDX-License-Identifier: Apache-2.0

import Archive
import CLazy
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

extension Canvas {
  // MARK: Colour maps

  /// Changes the colour of each pixel.
  func map(_ map: Drawing.ColorMap) {
    let change = PixelMap(map)
    // Most neighbours have the same colour.
    var (last, result) = (UInt32(0), change(0))
    withPixels { pixels, row in
      for y in 0..<box.height {
        for x in y * row..<y * row + box.width {
          if pixels[x] != last { (last, result) = (pixels[x], change(pixels[x])) }
          pixels[x] = result
        }
      }
    }
  }

  // MARK: Shadows

  /// Draws a shadow of what is drawn, below it.
  func cast(_ shadow: Drawing.Shadow, _ transform: Transform) throws(PixelFailure) {
    let cast = try Canvas(box)
    cast.mix(self)
    cast.map(.matrix([Double](repeating: 0, count: 18) + [1, 0]))
    cast.blur(deviation: shadow.radius / 2 * transform.factor)
    let color = shadow.color
    cast.map(
      .matrix([0, 0, 0, 0, color.red, 0, 0, 0, 0, color.green, 0, 0, 0, 0, color.blue, 0, 0, 0, color.opacity, 0]))
    mix(cast, lazy_blend_behind, offset: shadow.offset(transform))
  }

  // MARK: Blur

  /// Blurs the pixels; what is outside is transparent.
  ///
  /// - Parameter deviation: the standard deviation in pixels. Source of the three boxes that replace a Gaussian function:
  ///   W3C, "Filter Effects Module Level 1", `feGaussianBlur`.
  func blur(deviation: Double) {
    guard let boxes = BoxBlur(deviation: deviation) else { return }
    let (width, height) = (box.width, box.height)
    var turned = [Float](repeating: 0, count: width * height * 4)
    withPixels { pixels, row in
      turned.withUnsafeMutableBufferPointer { turned in
        guard let turned = turned.baseAddress else { return }
        var line = BoxBlur.Line(length: width, boxes)
        for y in 0..<height {
          for x in 0..<width {
            let pixel = pixels[y * row + x]
            line.set(
              x, first: Float(pixel & 0xFF), second: Float(pixel >> 8 & 0xFF), third: Float(pixel >> 16 & 0xFF),
              fourth: Float(pixel >> 24))
          }
          line.blur { x, values in
            for part in 0..<4 { turned[(x * height + y) * 4 + part] = values[part] }
          }
        }
        line = BoxBlur.Line(length: height, boxes)
        for x in 0..<width {
          for y in 0..<height {
            let values = turned + (x * height + y) * 4
            line.set(y, first: values[0], second: values[1], third: values[2], fourth: values[3])
          }
          line.blur { y, values in
            let alpha = min(values[3].rounded(), 255)
            func byte(_ value: Float) -> UInt32 { UInt32(saturating: Double(max(0, min(value.rounded(), alpha)))) }
            pixels[y * row + x] =
              byte(values[0]) | byte(values[1]) << 8 | byte(values[2]) << 16 | UInt32(saturating: Double(max(0, alpha)))
              << 24
          }
        }
      }
    }
  }
}

/// A colour map for pixels whose components are multiplied by the opacity.
private struct PixelMap {
  private let numbers: [Double]
  private let luminance: RGBA?

  init(_ map: Drawing.ColorMap) {
    switch map {
    case .matrix(let numbers): (self.numbers, luminance) = (numbers, nil)
    case .luminance(let color): (numbers, luminance) = ([], color)
    }
  }

  func callAsFunction(_ pixel: UInt32) -> UInt32 {
    let alpha = Double(pixel >> 24)
    func component(_ shift: UInt32) -> Double { alpha > 0 ? min(Double(pixel >> shift & 0xFF) / alpha, 1) : 0 }
    let (red, green, blue, opacity) = (component(16), component(8), component(0), alpha / 255)
    if let luminance {
      let shares = Drawing.ColorMap.shares
      let strength = shares[0] * red + shares[1] * green + shares[2] * blue
      return Self.pixel(
        red: luminance.red, green: luminance.green, blue: luminance.blue,
        opacity: opacity * strength * luminance.opacity)
    }
    func row(_ index: Int) -> Double {
      let start = index * 5
      let sum = numbers[start] * red + numbers[start + 1] * green + numbers[start + 2] * blue
      return sum + numbers[start + 3] * opacity + numbers[start + 4]
    }
    return Self.pixel(red: row(0), green: row(1), blue: row(2), opacity: row(3))
  }

  private static func pixel(red: Double, green: Double, blue: Double, opacity: Double) -> UInt32 {
    let alpha = (min(max(opacity, 0), 1) * 255).rounded()
    func byte(_ value: Double) -> UInt32 { UInt32(saturating: (min(max(value, 0), 1) * alpha).rounded()) }
    return UInt32(saturating: alpha) << 24 | byte(red) << 16 | byte(green) << 8 | byte(blue)
  }
}

/// Three means over neighbours, which are near to a Gaussian function.
struct BoxBlur {
  /// The number of pixels of each mean, and how many of them are before the pixel.
  let passes: [(size: Int, before: Int)]
  /// How far all three reach.
  let reach: Int

  /// - Parameter deviation: `nil` for one that changes no pixel.
  init?(deviation: Double) {
    let size = Int(
      saturating: (min(max(deviation, 0), 10_000) * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5).rounded(.down))
    guard size > 1 else { return nil }
    passes =
      size.isMultiple(of: 2)
      ? [(size, size / 2), (size, size / 2 - 1), (size + 1, size / 2)] : Array(repeating: (size, size / 2), count: 3)
    reach = size / 2 + size / 2 + size / 2 + 2
  }

  /// A row or a column of pixels with four components, and space on both sides.
  struct Line {
    private let length: Int
    private let boxes: BoxBlur
    private var one: [Float]
    private var two: [Float]
    private var isEmpty = true

    init(length: Int, _ boxes: BoxBlur) {
      (self.length, self.boxes) = (length, boxes)
      one = Array(repeating: 0, count: (length + 2 * boxes.reach) * 4)
      two = one
    }

    mutating func set(_ index: Int, first: Float, second: Float, third: Float, fourth: Float) {
      if index == 0 { isEmpty = true }
      let place = (index + boxes.reach) * 4
      (one[place], one[place + 1], one[place + 2], one[place + 3]) = (first, second, third, fourth)
      if fourth > 0 { isEmpty = false }
    }

    /// Calls a function for each blurred pixel. Afterwards all pixels need new values.
    mutating func blur(_ body: (_ index: Int, _ values: UnsafePointer<Float>) -> Void) {
      let (count, reach) = (length + 2 * boxes.reach, boxes.reach)
      let isEmpty = isEmpty
      one.withUnsafeMutableBufferPointer { one in
        two.withUnsafeMutableBufferPointer { two in
          guard var from = one.baseAddress, var to = two.baseAddress else { return }
          if !isEmpty {
            for pass in boxes.passes {
              Self.mean(from: from, to: to, count: count, size: pass.size, before: pass.before)
              swap(&from, &to)
            }
          }
          for index in 0..<length { body(index, from + (index + reach) * 4) }
          // The space on both sides is empty again.
          if !isEmpty { one.update(repeating: 0) }
        }
      }
    }

    private static func mean(
      from: UnsafeMutablePointer<Float>, to: UnsafeMutablePointer<Float>, count: Int, size: Int, before: Int
    ) {
      let share = 1 / Float(size)
      let after = size - before
      for part in 0..<4 {
        var sum: Float = 0
        for index in 0..<min(after - 1, count) { sum += from[index * 4 + part] }
        for index in 0..<count {
          if index + after - 1 < count { sum += from[(index + after - 1) * 4 + part] }
          to[index * 4 + part] = sum * share
          if index - before >= 0 { sum -= from[(index - before) * 4 + part] }
        }
      }
    }
  }
}

extension Canvas {
  /// Why the image of a JPEG file cannot be drawn in pixels.
  enum JPEGFailure: Error {
    /// libjpeg-turbo cannot be loaded.
    case library(reason: String)
    /// Its colours are those of print, which libjpeg-turbo does not convert.
    case printColors
    /// The file is damaged, or the image is too large.
    case file
  }

  /// The image of a JPEG file.
  convenience init(jpeg: [UInt8]) throws(JPEGFailure) {
    if let reason = lazy_jpeg_load() { throw .library(reason: String(cString: reason)) }
    var (width, height): (Int32, Int32) = (0, 0)
    switch lazy_jpeg_size(jpeg, jpeg.count, &width, &height) {
    case 0: throw .file
    case ..<0: throw .printColors
    default: break
    }
    do {
      try self.init(PixelBox(left: 0, top: 0, right: Int(width), bottom: Int(height)))
    } catch {
      throw .file
    }
    var isRead = false
    withPixels { pixels, row in isRead = lazy_jpeg_read(jpeg, jpeg.count, pixels, row, width, height) != 0 }
    guard isRead else { throw .file }
  }
}
