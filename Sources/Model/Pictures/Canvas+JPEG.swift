// SPDX-License-Identifier: Apache-2.0

import CLazyTurboJPEG

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
