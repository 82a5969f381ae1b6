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

  package init(width: Int, height: Int, file: Data) {
    self.width = width
    self.height = height
    self.file = file
  }
}
