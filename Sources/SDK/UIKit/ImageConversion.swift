// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
import CLazy
public import Foundation

// Image files from pixels. The libraries are loaded at the first conversion: an extension that only shows images has
// none of them.

extension UIImage {
  /// A PNG file: the bytes of the image's own file, or the pixels of a JPEG file. `nil` for a damaged file.
  public func pngData() -> Data? {
    guard !data.isEmpty else { return nil }
    if file.format == .png { return data }
    return convert("pngData()") { () throws(DecodedImage.Failure) in try DecodedImage(jpeg: data).png() }
  }

  /// A JPEG file with a quality from 0 to 1, on white where the image is translucent. `nil` for a damaged file.
  public func jpegData(compressionQuality: CGFloat) -> Data? {
    guard !data.isEmpty else { return nil }
    return convert("jpegData(compressionQuality:)") { () throws(DecodedImage.Failure) in
      let image = try file.format == .png ? DecodedImage(png: data) : DecodedImage(jpeg: data)
      return try image.jpeg(quality: compressionQuality)
    }
  }

  /// Reports why an image that a phone converts is not converted here.
  private func convert(_ name: String, _ work: () throws(DecodedImage.Failure) -> Data) -> Data? {
    do throws(DecodedImage.Failure) {
      return try work()
    } catch {
      if case .missing(let reason) = error { HostedProcess.current?.noticeUnsimulated(name, "\(reason); it is nil") }
      return nil
    }
  }
}

/// The pixels of an image file.
struct DecodedImage {
  enum Failure: Error {
    /// A library is missing, or does not convert the colours.
    case missing(reason: String)
    /// The file is damaged, or there is no memory.
    case file
  }

  let width: Int
  let height: Int
  /// 0xAARRGGBB, multiplied by the opacity.
  private(set) var pixels: [UInt32]

  init(png: Data) throws(Failure) {
    try Self.loadPNG()
    guard let canvas = png.withUnsafeBytes({ lazy_canvas_read($0.baseAddress, $0.count) }) else { throw .file }
    defer { lazy_canvas_free(canvas) }
    (width, height) = (Int(lazy_canvas_width(canvas)), Int(lazy_canvas_height(canvas)))
    var row = 0
    guard let first = lazy_canvas_pixels(canvas, &row) else { throw .file }
    pixels = []
    pixels.reserveCapacity(width * height)
    for line in 0..<height { pixels += UnsafeBufferPointer(start: first + line * row, count: width) }
  }

  init(jpeg: Data) throws(Failure) {
    try Self.loadJPEG()
    let jpeg = [UInt8](jpeg)
    var (width, height): (Int32, Int32) = (0, 0)
    switch lazy_jpeg_size(jpeg, jpeg.count, &width, &height) {
    case 0: throw .file
    case ..<0: throw .missing(reason: "the colours of print are not converted")
    default: break
    }
    pixels = [UInt32](repeating: 0, count: Int(width) * Int(height))
    guard lazy_jpeg_read(jpeg, jpeg.count, &pixels, Int(width), width, height) != 0 else { throw .file }
    (self.width, self.height) = (Int(width), Int(height))
  }

  private static func loadPNG() throws(Failure) {
    if let reason = lazy_cairo_load() { throw .missing(reason: String(cString: reason)) }
  }

  private static func loadJPEG() throws(Failure) {
    if let reason = lazy_jpeg_load() { throw .missing(reason: String(cString: reason)) }
  }

  func jpeg(quality: CGFloat) throws(Failure) -> Data {
    try Self.loadJPEG()
    let percent = Int32(clamping: Int(saturating: Double(quality) * 100))
    var size = 0
    let written = pixels.map(Self.onWhite).withUnsafeBufferPointer {
      lazy_jpeg_write($0.baseAddress, Int32(width), Int32(height), min(max(percent, 1), 100), &size)
    }
    guard let written else { throw .file }
    defer { lazy_jpeg_free(written) }
    return Data(bytes: written, count: size)
  }

  private static func onWhite(_ pixel: UInt32) -> UInt32 {
    let white = 255 - pixel >> 24
    return pixel &+ (white << 16 | white << 8 | white)
  }

  /// A file of opaque pixels.
  func png() throws(Failure) -> Data {
    try Self.loadPNG()
    var rows: [UInt8] = []
    rows.reserveCapacity(height * (width * 4 + 1))
    for line in 0..<height {
      // The number of the filter: none.
      rows.append(0)
      for pixel in pixels[line * width..<(line + 1) * width] {
        for shift in [16, 8, 0] as [UInt32] { rows.append(UInt8(pixel >> shift & 255)) }
        rows.append(255)
      }
    }
    var compressed = [UInt8](repeating: 0, count: lazy_compressed_limit(rows.count))
    let size = lazy_compress(&compressed, compressed.count, rows, rows.count)
    guard size > 0 else { throw .file }
    return Data(
      PNGFile.start(width: width, height: height) + PNGFile.chunk("IDAT", Array(compressed.prefix(size)))
        + PNGFile.chunk("IEND", []))
  }
}
