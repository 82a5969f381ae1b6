// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
@_exported public import CoreFoundationAPI
@_exported public import CoreGraphicsAPI
public import Foundation
import Synchronization

// Reading images. The pixels are decoded where a view is drawn, and not here: a thumbnail is the image of the whole file
// with a smaller size.

/// An image file. Source: `ImageIO.CGImageSource`. Only PNG and JPEG files are read.
public final class CGImageSource: Sendable {
  let data: Data
  /// `nil` for another format.
  let file: ImageFile?

  init(_ data: Data) {
    self.data = data
    file = try? ImageFile(header: data)
  }

  /// 1 for a file without a statement about it. Source: Exif 2.32, *Orientation*.
  var orientation: Int { file?.format == .jpeg ? ExifOrientation.find(in: data) ?? 1 : 1 }
}

/// Source: `ImageIO.CGImageSourceStatus`.
public enum CGImageSourceStatus: Int32, Sendable {
  case statusUnexpectedEOF = -5
  case statusInvalidData = -4
  case statusUnknownType = -3
  case statusReadingHeader = -2
  case statusIncomplete = -1
  case statusComplete = 0
}

/// Source: `ImageIO.CGImageSourceCreateWithData(_:_:)`.
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
  data.isEmpty ? nil : CGImageSource(data)
}
/// `nil` for a file that cannot be read. Source: `ImageIO.CGImageSourceCreateWithURL(_:_:)`.
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
  (try? Data(contentsOf: url)).flatMap { CGImageSourceCreateWithData($0, options) }
}

/// The identifier of the type; `nil` for other formats than PNG and JPEG. Source: `ImageIO.CGImageSourceGetType(_:)`.
public func CGImageSourceGetType(_ isrc: CGImageSource) -> CFString? {
  switch isrc.file?.format {
  case .png: "public.png"
  case .jpeg: "public.jpeg"
  case nil: nil
  }
}
/// Source: `ImageIO.CGImageSourceGetCount(_:)`.
public func CGImageSourceGetCount(_ isrc: CGImageSource) -> Int { isrc.file == nil ? 0 : 1 }
/// Source: `ImageIO.CGImageSourceGetStatus(_:)`.
public func CGImageSourceGetStatus(_ isrc: CGImageSource) -> CGImageSourceStatus {
  guard let file = isrc.file else { return .statusUnknownType }
  return file.damage(in: isrc.data) == nil ? .statusComplete : .statusIncomplete
}

/// The size and the orientation. Source: `ImageIO.CGImageSourceCopyPropertiesAtIndex(_:_:_:)`.
public func CGImageSourceCopyPropertiesAtIndex(
  _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CFDictionary? {
  guard index == 0, let file = isrc.file else { return nil }
  return [
    kCGImagePropertyPixelWidth: file.width, kCGImagePropertyPixelHeight: file.height,
    kCGImagePropertyOrientation: isrc.orientation,
  ]
}

/// Source: `ImageIO.CGImageSourceCreateImageAtIndex(_:_:_:)`.
public func CGImageSourceCreateImageAtIndex(
  _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? {
  guard index == 0, let file = isrc.file, file.damage(in: isrc.data) == nil else { return nil }
  return CGImage(width: file.width, height: file.height, file: isrc.data)
}

/// An image with the size of the thumbnail. It has all bytes of the file, so that the archive of a view is not smaller by
/// it. The image is not turned by its orientation, which the diagnosis `not-simulated` names.
/// Source: `ImageIO.CGImageSourceCreateThumbnailAtIndex(_:_:_:)`.
public func CGImageSourceCreateThumbnailAtIndex(
  _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? {
  guard let image = CGImageSourceCreateImageAtIndex(isrc, index, options) else { return nil }
  let isTurned = options?[kCGImageSourceCreateThumbnailWithTransform] as? Bool == true
  if isTurned, isrc.orientation != 1 {
    HostedProcess.current?.noticeUnsimulated(
      "kCGImageSourceCreateThumbnailWithTransform", "the pixels of an image are not turned by its orientation")
  }
  let limit = (options?[kCGImageSourceThumbnailMaxPixelSize] as? NSNumber)?.doubleValue ?? .infinity
  let longer = Double(max(image.width, image.height))
  guard limit > 0, longer > limit else { return image }
  let scaled = [image.width, image.height].map { max(1, Int(saturating: (Double($0) * limit / longer).rounded())) }
  return CGImage(width: scaled[0], height: scaled[1], file: isrc.data)
}

/// An image file to write. Source: `ImageIO.CGImageDestination`. Pixels are not encoded here: a file has the bytes of the
/// file that its image comes from, so that it must have the same format.
public final class CGImageDestination: Sendable {
  private let type: CFString
  private let image = Mutex<CGImage?>(nil)
  /// Gets the bytes.
  private let write: @Sendable (Data) -> Bool

  init(_ type: CFString, write: @escaping @Sendable (Data) -> Bool) {
    self.type = type
    self.write = write
  }

  func add(_ image: CGImage) { self.image.withLock { $0 = image } }

  func finalize() -> Bool {
    guard let image = image.withLock({ $0 }), let file = try? ImageFile(header: image.file) else { return false }
    guard type == (file.format == .png ? "public.png" : "public.jpeg") else {
      HostedProcess.current?.noticeUnsimulated(
        "CGImageDestinationFinalize", "pixels are not encoded: an image keeps the format of its file, and it is false")
      return false
    }
    if image.width != file.width {
      HostedProcess.current?.noticeUnsimulated(
        "CGImageDestinationFinalize", "pixels are not encoded: the file of a thumbnail has the size of the whole image")
    }
    return write(image.file)
  }
}

/// Source: `ImageIO.CGImageDestinationCreateWithData(_:_:_:_:)`.
public func CGImageDestinationCreateWithData(
  _ data: NSMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  // The author reads it after `CGImageDestinationFinalize`.
  nonisolated(unsafe) let data = data
  return CGImageDestination(type) { bytes in
    data.append(bytes)
    return true
  }
}
/// Source: `ImageIO.CGImageDestinationCreateWithURL(_:_:_:_:)`.
public func CGImageDestinationCreateWithURL(
  _ url: CFURL, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  CGImageDestination(type) { bytes in (try? bytes.write(to: url)) != nil }
}

/// The properties have no effect. Source: `ImageIO.CGImageDestinationAddImage(_:_:_:)`.
public func CGImageDestinationAddImage(
  _ idst: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) { idst.add(image) }

/// Source: `ImageIO.CGImageDestinationFinalize(_:)`.
///
/// - Returns: `false` for an image whose file has another format.
public func CGImageDestinationFinalize(_ idst: CGImageDestination) -> Bool { idst.finalize() }

/// The orientation in a JPEG file. Source: ITU-T T.81, annex B, and Exif 2.32, 4.5.4 and 4.6.4 A.
enum ExifOrientation {
  /// From 1 to 8; `nil` for a file without it.
  static func find(in data: Data) -> Int? {
    let bytes = [UInt8](data.prefix(1 << 17))
    var index = 2
    while index + 4 <= bytes.count, bytes[index] == 0xFF {
      let length = Int(bytes[index + 2]) << 8 | Int(bytes[index + 3])
      let end = index + 2 + length
      guard length >= 2, end <= bytes.count, bytes[index + 1] != 0xDA else { return nil }
      if bytes[index + 1] == 0xE1, bytes[(index + 4)..<end].starts(with: Array("Exif\0\0".utf8)) {
        return Directory(Array(bytes[(index + 10)..<end])).orientation
      }
      index = end
    }
    return nil
  }

  /// The first directory of a TIFF header.
  private struct Directory {
    private let bytes: [UInt8]
    private let isLittle: Bool

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      isLittle = bytes.starts(with: Array("II".utf8))
    }

    var orientation: Int? {
      guard let start = number(at: 4, 4), let count = number(at: start, 2) else { return nil }
      let entries = (0..<count).map { start + 2 + 12 * $0 }
      guard let entry = entries.first(where: { number(at: $0, 2) == 0x0112 }) else { return nil }
      return number(at: entry + 8, 2).flatMap { (1...8).contains($0) ? $0 : nil }
    }

    private func number(at index: Int, _ count: Int) -> Int? {
      guard index >= 0, index <= bytes.count - count else { return nil }
      let digits = bytes[index..<(index + count)]
      return (isLittle ? Array(digits.reversed()) : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
    }
  }
}

// The keys of options and properties. Source: `ImageIO`, *CGImageSource*, *CGImageDestination* and *CGImageProperties*.

public let kCGImageSourceShouldCache: CFString = "kCGImageSourceShouldCache"
public let kCGImageSourceShouldCacheImmediately: CFString = "kCGImageSourceShouldCacheImmediately"
public let kCGImageSourceShouldAllowFloat: CFString = "kCGImageSourceShouldAllowFloat"
public let kCGImageSourceTypeIdentifierHint: CFString = "kCGImageSourceTypeIdentifierHint"
public let kCGImageSourceCreateThumbnailFromImageIfAbsent: CFString = "kCGImageSourceCreateThumbnailFromImageIfAbsent"
public let kCGImageSourceCreateThumbnailFromImageAlways: CFString = "kCGImageSourceCreateThumbnailFromImageAlways"
public let kCGImageSourceThumbnailMaxPixelSize: CFString = "kCGImageSourceThumbnailMaxPixelSize"
public let kCGImageSourceCreateThumbnailWithTransform: CFString = "kCGImageSourceCreateThumbnailWithTransform"
public let kCGImageSourceSubsampleFactor: CFString = "kCGImageSourceSubsampleFactor"
public let kCGImageDestinationLossyCompressionQuality: CFString = "kCGImageDestinationLossyCompressionQuality"
public let kCGImageDestinationImageMaxPixelSize: CFString = "kCGImageDestinationImageMaxPixelSize"
public let kCGImageDestinationBackgroundColor: CFString = "kCGImageDestinationBackgroundColor"
public let kCGImagePropertyPixelWidth: CFString = "PixelWidth"
public let kCGImagePropertyPixelHeight: CFString = "PixelHeight"
public let kCGImagePropertyOrientation: CFString = "Orientation"
public let kCGImagePropertyDPIWidth: CFString = "DPIWidth"
public let kCGImagePropertyDPIHeight: CFString = "DPIHeight"
public let kCGImagePropertyDepth: CFString = "Depth"
public let kCGImagePropertyColorModel: CFString = "ColorModel"
public let kCGImagePropertyHasAlpha: CFString = "HasAlpha"
public let kCGImagePropertyExifDictionary: CFString = "{Exif}"
public let kCGImagePropertyTIFFDictionary: CFString = "{TIFF}"
public let kCGImagePropertyGPSDictionary: CFString = "{GPS}"
