// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
public import CoreFoundationAPI
public import CoreGraphicsAPI
import Foundation

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
