// SPDX-License-Identifier: Apache-2.0

import Foundation

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
