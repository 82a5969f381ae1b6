// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
public import CoreFoundationAPI
public import CoreGraphicsAPI
public import Foundation
import Synchronization

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
