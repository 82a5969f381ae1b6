// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Repeats an image. Source: `SwiftUI.ImagePaint`. The picture of a widget does not show it, and notes that.
public struct ImagePaint: ShapeStyle, ArchivedStyle {
  public var image: Image
  /// In units of the image's size.
  public var sourceRect: CGRect
  public var scale: CGFloat

  public init(
    image: Image, sourceRect: CGRect = CGRect(x: 0, y: 0, width: 1, height: 1), scale: CGFloat = 1
  ) {
    self.image = image
    self.sourceRect = sourceRect
    self.scale = scale
  }

  package var archived: ArchivedValue { .record(["tiledImage": scale.archived]) }
}

extension ShapeStyle where Self == ImagePaint {
  public static func image(
    _ image: Image, sourceRect: CGRect = CGRect(x: 0, y: 0, width: 1, height: 1), scale: CGFloat = 1
  ) -> ImagePaint { ImagePaint(image: image, sourceRect: sourceRect, scale: scale) }
}
