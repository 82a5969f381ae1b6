// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An image. Source: `UIKit.UIImage`; only what widgets use. Only the pixel size is read, not the pixels.
public final class UIImage: Sendable {
  /// The bytes of the file.
  package let data: Data
  /// Width and height in pixels.
  package let pixels: (width: Int, height: Int)
  /// Pixels per point.
  public let scale: CGFloat

  /// An image from the bytes of a PNG or JPEG file; `nil` for other formats.
  public convenience init?(data: Data) { self.init(data: data, scale: 1) }
  /// An image from the bytes of a PNG or JPEG file; `nil` for other formats.
  public init?(data: Data, scale: CGFloat) {
    guard let pixels = ImageHeader.pixels(data) else { return nil }
    self.data = data
    self.pixels = pixels
    self.scale = scale
  }
  public convenience init?(contentsOfFile path: String) {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    self.init(data: data)
  }
  /// An image file of the main bundle. Asset catalogs are not supported.
  public convenience init?(named name: String) {
    let path = ["", "png", "jpg"].lazy.compactMap { Bundle.main.path(forResource: name, ofType: $0) }.first
    guard let path else { return nil }
    self.init(contentsOfFile: path)
  }

  /// In points.
  public var size: CGSize { CGSize(width: CGFloat(pixels.width) / scale, height: CGFloat(pixels.height) / scale) }
  /// The bytes of the file if it is a PNG file.
  public func pngData() -> Data? { data.starts(with: ImageHeader.png) ? data : nil }
  /// The bytes of the file if it is a JPEG file.
  public func jpegData(compressionQuality: CGFloat) -> Data? { data.starts(with: ImageHeader.jpeg) ? data : nil }
}

/// The header of an image file. Source: the PNG specification, 11.2.2, and ITU-T T.81, B.2.2.
enum ImageHeader {
  static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]

  /// Width and height in pixels.
  static func pixels(_ data: Data) -> (width: Int, height: Int)? {
    let bytes = [UInt8](data)
    func number(at index: Int, _ count: Int) -> Int? {
      guard index + count <= bytes.count else { return nil }
      return bytes[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
    }
    if bytes.starts(with: png), let width = number(at: 16, 4), let height = number(at: 20, 4) { return (width, height) }
    guard bytes.starts(with: jpeg) else { return nil }
    var index = 2
    while let marker = number(at: index, 2), let length = number(at: index + 2, 2), length >= 2 {
      let isFrame = (0xFFC0...0xFFCF).contains(marker) && ![0xFFC4, 0xFFC8, 0xFFCC].contains(marker)
      if isFrame, let height = number(at: index + 5, 2), let width = number(at: index + 7, 2) { return (width, height) }
      index += 2 + length
    }
    return nil
  }
}
