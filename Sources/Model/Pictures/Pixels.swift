// SPDX-License-Identifier: Apache-2.0

import Archive
import CLazy
import Foundation

/// A picture as pixels.
package struct Pixels: Hashable, Sendable {
  package let width: Int
  package let height: Int
  /// Row by row: 0xAARRGGBB, with components that are multiplied by the opacity.
  package private(set) var values: [UInt32]
  /// The program that made the pixels, with its version; `nil`: the file does not state it.
  package private(set) var producer: String?

  /// - Parameters:
  ///   - values: `width` × `height` pixels, as `values`.
  ///   - producer: the program that made them.
  package init(width: Int, height: Int, values: [UInt32], producer: String? = nil) {
    precondition(values.count == width * height, "each pixel has a value")
    (self.width, self.height, self.values, self.producer) = (width, height, values, producer)
  }

  init(_ canvas: Canvas) {
    (width, height) = (canvas.box.width, canvas.box.height)
    var values: [UInt32] = []
    values.reserveCapacity(width * height)
    let (width, height) = (width, height)
    canvas.withPixels { pixels, row in
      for y in 0..<height { values += UnsafeBufferPointer(start: pixels + y * row, count: width) }
    }
    self.values = values
    producer = Self.producer
  }

  /// The program that makes pixels here: another version of Cairo can make others.
  package static var producer: String { "WidgetLab with Cairo \(String(cString: lazy_cairo_version()))" }

  // MARK: PNG

  /// The pixels of a PNG file.
  package init(png: [UInt8]) throws(PixelFailure) {
    try PixelWriter.load()
    guard let canvas = Canvas(png: png) else {
      throw PixelFailure(code: .file, description: "it is no complete PNG file")
    }
    self.init(canvas)
    producer = Self.texts(in: png).lazy.filter { $0.key == "Software" }.map(\.text).first
  }

  /// The pixels as a PNG file, with red, green, blue and opacity of 8 bits. Each row has the differences to the row above,
  /// which are compressed fast. The text `Software` has the producer.
  package func png() throws(PixelFailure) -> [UInt8] {
    try PixelWriter.load()
    let rows = filteredRows()
    var data = [UInt8](repeating: 0, count: lazy_compressed_limit(rows.count))
    let size = lazy_compress(&data, data.count, rows, rows.count)
    guard size > 0 else { throw PixelFailure(code: .size, description: "there is no memory to compress a picture") }
    var file = PNGFile.start(width: width, height: height)
    if let producer { file += PNGFile.chunk("tEXt", Array("Software".utf8) + [0] + Array(producer.utf8)) }
    file += PNGFile.chunk("IDAT", Array(data.prefix(size)))
    return file + PNGFile.chunk("IEND", [])
  }

  /// The rows with the filter *up* of the PNG format.
  private func filteredRows() -> [UInt8] {
    let (length, width, height) = (width * 4 + 1, width, height)
    return [UInt8](unsafeUninitializedCapacity: length * height) { bytes, count in
      var above = [UInt8](repeating: 0, count: width * 4)
      values.withUnsafeBufferPointer { values in
        above.withUnsafeMutableBufferPointer { above in
          for y in 0..<height {
            bytes[y * length] = 2
            var place = y * length + 1
            for x in 0..<width {
              let pixel = values[y * width + x]
              let plain = pixel >> 24 == 255 ? pixel : Self.plain(pixel)
              let parts = (UInt8(truncatingIfNeeded: plain >> 16), UInt8(truncatingIfNeeded: plain >> 8))
              let more = (UInt8(truncatingIfNeeded: plain), UInt8(truncatingIfNeeded: plain >> 24))
              bytes[place] = parts.0 &- above[x * 4]
              bytes[place + 1] = parts.1 &- above[x * 4 + 1]
              bytes[place + 2] = more.0 &- above[x * 4 + 2]
              bytes[place + 3] = more.1 &- above[x * 4 + 3]
              (above[x * 4], above[x * 4 + 1], above[x * 4 + 2], above[x * 4 + 3]) = (parts.0, parts.1, more.0, more.1)
              place += 4
            }
          }
        }
      }
      count = length * height
    }
  }

  /// A pixel with components that are not multiplied by the opacity.
  private static func plain(_ pixel: UInt32) -> UInt32 {
    let alpha = pixel >> 24
    guard alpha > 0 else { return 0 }
    func byte(_ shift: UInt32) -> UInt32 { min(((pixel >> shift & 0xFF) * 255 + alpha / 2) / alpha, 255) << shift }
    return alpha << 24 | byte(16) | byte(8) | byte(0)
  }

  /// The uncompressed texts of a PNG file.
  private static func texts(in file: [UInt8]) -> [(key: String, text: String)] {
    var texts: [(String, String)] = []
    var place = PNGFile.signature.count
    while place + 8 <= file.count {
      let size = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let (name, start) = (String(decoding: file[place + 4..<place + 8], as: UTF8.self), place + 8)
      guard start + size <= file.count else { break }
      let parts = file[start..<start + size].split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
      if name == "tEXt", parts.count == 2 {
        texts.append((String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self)))
      }
      place = start + size + 4
    }
    return texts
  }
}

/// How near a picture has to be to its reference. The names and the meaning are those of swift-snapshot-testing.
package struct PixelPrecision: Hashable, Sendable {
  /// The share that has to match, from 0 to 1: of the pixels, or of the bytes if `perceptual` is 1.
  package var share: Double
  /// How near a pixel has to be to match, from 0 to 1: 1 is equal, and 0.98 is about what the eye sees.
  package var perceptual: Double

  /// All pixels are equal.
  package static let exact = PixelPrecision(share: 1, perceptual: 1)

  /// Both from 0 to 1.
  package init(share: Double, perceptual: Double) { (self.share, self.perceptual) = (share, perceptual) }
}

/// A picture beside its reference.
package struct PixelComparison {
  /// Why the picture does not match; `nil`: it does.
  package private(set) var difference: String?
  /// The pixels that differ are red, all others are pale; `nil`: the sizes differ, or no pixel differs.
  package private(set) var image: Pixels?

  /// - Parameter other: the new picture.
  package init(_ reference: Pixels, other: Pixels, precision: PixelPrecision) {
    guard (reference.width, reference.height) == (other.width, other.height) else {
      difference =
        "it has \(other.width) × \(other.height) pixels, the reference has \(reference.width) × \(reference.height)"
      return
    }
    if reference.values == other.values { return }
    let pairs = zip(reference.values, other.values)
    image = Pixels(
      width: other.width, height: other.height, values: pairs.map { $0 == $1 ? Self.pale($1) : 0xFFFF_0000 })
    let count = reference.values.count
    if precision.perceptual < 1 {
      let limit = (1 - precision.perceptual) * 100
      var (far, largest) = (0, 0.0)
      for (one, two) in pairs where one != two {
        let distance = Self.distance(one, two)
        if distance > limit { far += 1 }
        largest = max(largest, distance)
      }
      let share = 1 - Double(far) / Double(count)
      guard share < precision.share else { return }
      difference =
        "\(Self.text(share)) of the pixels match, and \(Self.text(precision.share)) have to; the perceptual "
        + "precision of the farthest is \(Self.text(1 - largest / 100)), and \(Self.text(precision.perceptual)) matches"
    } else {
      let different = pairs.reduce(0) { sum, pair in sum + Self.differentBytes(pair.0, pair.1) }
      guard different > Int(saturating: (1 - precision.share) * Double(count * 4)) else { return }
      let share = 1 - Double(different) / Double(count * 4)
      let pixels = pairs.reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
      difference =
        "\(pixels) of \(count) pixels differ; \(Self.text(share)) of the bytes match, and "
        + "\(Self.text(precision.share)) have to"
    }
    if let difference, let made = reference.producer, let producer = other.producer, made != producer {
      self.difference = difference + "; the reference was made by \(made), and this by \(producer)"
    }
  }

  private static func text(_ share: Double) -> String {
    // Rounded down, so that a share below 1 is never shown as 1.
    let digits = String(Int(saturating: (share * 10_000).rounded(.down)) % 10_000)
    return share >= 1 ? "1" : "0." + String(repeating: "0", count: 4 - digits.count) + digits
  }

  private static func differentBytes(_ one: UInt32, _ two: UInt32) -> Int {
    [24, 16, 8, 0].reduce(0) { $0 + ((one >> $1 & 0xFF) == (two >> $1 & 0xFF) ? 0 : 1) }
  }

  /// An equal pixel, faded on white.
  private static func pale(_ pixel: UInt32) -> UInt32 {
    let white = 255 - (pixel >> 24)
    func byte(_ shift: UInt32) -> UInt32 { (191 + ((pixel >> shift & 0xFF) + white) / 4) << shift }
    return 0xFF00_0000 | byte(16) | byte(8) | byte(0)
  }

  // MARK: Colours

  /// The difference of two pixels as the eye sees it, from 0 to about 100: the larger one on white and on black.
  static func distance(_ one: UInt32, _ two: UInt32) -> Double {
    max(
      distance(Lab(one, below: 0), Lab(two, below: 0)), distance(Lab(one, below: 255), Lab(two, below: 255)))
  }

  /// CIE 1994, with the factors for graphic arts, as Apple's `CILabDeltaE` has it.
  private static func distance(_ one: Lab, _ two: Lab) -> Double {
    let (chroma, other) = (hypot(one.a, one.b), hypot(two.a, two.b))
    let (light, strength) = (one.lightness - two.lightness, chroma - other)
    let hue = max(pow(one.a - two.a, 2) + pow(one.b - two.b, 2) - strength * strength, 0)
    let (first, second) = (strength / (1 + 0.045 * chroma), hue / pow(1 + 0.015 * chroma, 2))
    return (light * light + first * first + second).squareRoot()
  }

  /// A colour in CIE L*a*b*, for the white D65.
  private struct Lab {
    let lightness: Double
    let a: Double
    let b: Double

    private static let linear: [Double] = (0...255).map { byte in
      let part = Double(byte) / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }

    /// - Parameter below: the gray that is seen through the pixel, from 0 to 255.
    init(_ pixel: UInt32, below: UInt32) {
      let rest = (255 - (pixel >> 24)) * below / 255
      func part(_ shift: UInt32) -> Double { Self.linear[min(Int((pixel >> shift & 0xFF) + rest), 255)] }
      let (red, green, blue) = (part(16), part(8), part(0))
      func root(_ value: Double) -> Double {
        value > 216.0 / 24389 ? cbrt(value) : (24389.0 / 27 * value + 16) / 116
      }
      let x = root((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047)
      let y = root(0.2126729 * red + 0.7151522 * green + 0.072175 * blue)
      let z = root((0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883)
      (lightness, a, b) = (116 * y - 16, 500 * (x - y), 200 * (y - z))
    }
  }
}
