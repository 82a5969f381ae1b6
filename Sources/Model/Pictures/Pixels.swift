// SPDX-License-Identifier: Apache-2.0

import CLazyCairo

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

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

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
    let format: [UInt8] = [8, 6, 0, 0, 0]
    var file = Self.signature
    file += Self.chunk("IHDR", UInt32(width).bytes + UInt32(height).bytes + format)
    if let producer { file += Self.chunk("tEXt", Array("Software".utf8) + [0] + Array(producer.utf8)) }
    file += Self.chunk("IDAT", Array(data.prefix(size)))
    return file + Self.chunk("IEND", [])
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

  private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let content = Array(name.utf8) + data
    return UInt32(data.count).bytes + content + lazy_checksum(0, content, content.count).bytes
  }

  /// The uncompressed texts of a PNG file.
  private static func texts(in file: [UInt8]) -> [(key: String, text: String)] {
    var texts: [(String, String)] = []
    var place = signature.count
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

extension UInt32 {
  /// The bytes from the highest to the lowest.
  fileprivate var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) } }
}
