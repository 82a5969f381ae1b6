// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// A bitmap. Source: `CoreGraphics.CGImage`. It has the bytes of the file that it comes from, and not the pixels.
public final class CGImage: Sendable {
  /// In pixels.
  public let width: Int
  /// In pixels.
  public let height: Int
  /// The bytes of a PNG or JPEG file.
  package let file: Data

  /// Of the pixels that iOS decodes from the file: four for each.
  public var bytesPerRow: Int { width * 4 }
  public var bitsPerComponent: Int { 8 }
  public var bitsPerPixel: Int { 32 }

  package init(width: Int, height: Int, file: Data) {
    self.width = width
    self.height = height
    self.file = file
  }
}

/// Where the alpha channel of an image is. Source: `CoreGraphics.CGImageAlphaInfo`.
public enum CGImageAlphaInfo: UInt32, Sendable {
  case none, premultipliedLast, premultipliedFirst, last, first, noneSkipLast, noneSkipFirst, alphaOnly
}

extension CGImage {
  /// That of the pixels which iOS decodes from the file: `last` with an alpha channel, else `noneSkipLast`, and `none`
  /// for shades of grey. Source: observed.
  public var alphaInfo: CGImageAlphaInfo {
    // The colour type of a PNG file. Source: Portable Network Graphics, 11.2.1.
    let colorType = file.starts(with: [0x89, 0x50, 0x4E, 0x47]) ? file.dropFirst(25).first : nil
    return switch colorType {
    case 4, 6: .last
    case 3 where file.firstRange(of: Data("tRNS".utf8)) != nil: .last
    case 0: .none
    default: .noneSkipLast
    }
  }
}

/// The bytes of an image. Source: `CoreGraphics.CGDataProvider`.
public final class CGDataProvider: Sendable {
  public let data: Data?

  public init?(data: Data) { self.data = data }
}

/// How the pixels of an image are stored. Source: `CoreGraphics.CGBitmapInfo`.
public struct CGBitmapInfo: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let alphaInfoMask = CGBitmapInfo(rawValue: 0x1F)
  public static let floatComponents = CGBitmapInfo(rawValue: 1 << 8)
  public static let byteOrderMask = CGBitmapInfo(rawValue: 0x7000)
  public static let byteOrder16Little = CGBitmapInfo(rawValue: 1 << 12)
  public static let byteOrder32Little = CGBitmapInfo(rawValue: 2 << 12)
  public static let byteOrder16Big = CGBitmapInfo(rawValue: 3 << 12)
  public static let byteOrder32Big = CGBitmapInfo(rawValue: 4 << 12)
}

extension CGImage {
  /// An image from its pixels. Only 8 bits for each of red, green, blue and the last, the opacity, are read.
  ///
  /// - Parameters:
  ///   - space: its primaries have no effect.
  ///   - decode: must be `nil`.
  ///   - shouldInterpolate: has no effect.
  ///   - intent: has no effect.
  /// - Returns: `nil` also for other layouts of pixels.
  public convenience init?(
    width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
    bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
    intent: CGColorRenderingIntent
  ) {
    let order = bitmapInfo.intersection(.byteOrderMask)
    guard let alpha = CGImageAlphaInfo(rawValue: bitmapInfo.intersection(.alphaInfoMask).rawValue),
      [.last, .premultipliedLast, .noneSkipLast].contains(alpha), order == [] || order == .byteOrder32Big,
      bitsPerComponent == 8, bitsPerPixel == 32, space.numberOfComponents == 3, decode == nil,
      let pixels = provider.data,
      let file = PNGWriter(width: width, height: height, bytesPerRow: bytesPerRow, alpha: alpha).file(pixels)
    else { return nil }
    self.init(width: width, height: height, file: file)
  }
}

/// Writes pixels into a PNG file without compressing them. Source: Portable Network Graphics, third edition, and RFC 1950
/// and RFC 1951.
struct PNGWriter {
  let width: Int
  let height: Int
  let bytesPerRow: Int
  let alpha: CGImageAlphaInfo

  /// - Parameter pixels: four bytes each, in rows.
  /// - Returns: `nil` for too few pixels.
  func file(_ pixels: Data) -> Data? {
    guard width > 0, height > 0, bytesPerRow >= width * 4, pixels.count >= bytesPerRow * (height - 1) + width * 4 else {
      return nil
    }
    return Data(
      PNGFile.start(width: width, height: height) + PNGFile.chunk("IDAT", Self.stored(rows(pixels)))
        + PNGFile.chunk("IEND", []))
  }

  /// Each row after the number of its filter: none.
  private func rows(_ pixels: Data) -> [UInt8] {
    let bytes = [UInt8](pixels)
    var result: [UInt8] = []
    result.reserveCapacity(height * (width * 4 + 1))
    for row in 0..<height {
      result.append(0)
      for column in 0..<width {
        let place = row * bytesPerRow + column * 4
        result += pixel(Array(bytes[place..<place + 4]))
      }
    }
    return result
  }

  /// Without the multiplication by the opacity, which PNG does not have.
  private func pixel(_ bytes: [UInt8]) -> [UInt8] {
    switch alpha {
    case .noneSkipLast: return Array(bytes[..<3]) + [255]
    case .premultipliedLast where bytes[3] != 255:
      guard bytes[3] > 0 else { return [0, 0, 0, 0] }
      let opacity = Int(bytes[3])
      return bytes[..<3].map { UInt8(min(255, (Int($0) * 255 + opacity / 2) / opacity)) } + [bytes[3]]
    default: return bytes
    }
  }

  /// In the blocks of a stream that are not compressed.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let end = min(start + 0xFFFF, bytes.count)
      let length = UInt16(end - start)
      result.append(end == bytes.count ? 1 : 0)
      for value in [length, ~length] { result += [UInt8(value & 0xFF), UInt8(value >> 8)] }
      result += bytes[start..<end]
      start = end
    } while start < bytes.count
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return result + [high >> 8, high, low >> 8, low].map { UInt8($0 & 0xFF) }
  }
}
