// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
