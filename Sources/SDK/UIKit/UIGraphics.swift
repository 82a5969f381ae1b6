// SPDX-License-Identifier: Apache-2.0

import Archive
public import CoreGraphicsAPI
public import Foundation

// Drawing in the author's process. It has no bitmap, so what would need its pixels ends the process with its name.

/// Source: `UIKit.UIGraphicsImageRendererFormat`.
open class UIGraphicsImageRendererFormat: NSObject {
  open var scale = DeviceFacts.scale
  open var opaque = false
  public override init() { super.init() }
  open class func `default`() -> UIGraphicsImageRendererFormat { UIGraphicsImageRendererFormat() }
  open class func preferred() -> UIGraphicsImageRendererFormat { UIGraphicsImageRendererFormat() }
}

/// Source: `UIKit.UIGraphicsImageRendererContext`.
open class UIGraphicsImageRendererContext: NSObject {}

/// Source: `UIKit.UIGraphicsImageRenderer`. Its drawing functions end the process.
open class UIGraphicsImageRenderer: NSObject {
  public let format: UIGraphicsImageRendererFormat
  private let size: CGSize

  public init(size: CGSize, format: UIGraphicsImageRendererFormat) {
    self.size = size
    self.format = format
  }
  public convenience init(size: CGSize) { self.init(size: size, format: .default()) }
  public convenience init(bounds: CGRect) { self.init(size: bounds.size) }

  open func image(actions: (UIGraphicsImageRendererContext) -> Void) -> UIImage {
    fatalError("UIGraphicsImageRenderer.image: an author's process cannot draw bitmaps on WidgetLab")
  }
  open func pngData(actions: (UIGraphicsImageRendererContext) -> Void) -> Data {
    fatalError("UIGraphicsImageRenderer.pngData: an author's process cannot draw bitmaps on WidgetLab")
  }
  open func jpegData(
    withCompressionQuality compressionQuality: CGFloat, actions: (UIGraphicsImageRendererContext) -> Void
  ) -> Data {
    fatalError("UIGraphicsImageRenderer.jpegData: an author's process cannot draw bitmaps on WidgetLab")
  }
}

/// Ends the process: there are no bitmaps.
public func UIGraphicsBeginImageContextWithOptions(_ size: CGSize, _ opaque: Bool, _ scale: CGFloat) {
  fatalError("UIGraphicsBeginImageContextWithOptions: an author's process cannot draw bitmaps on WidgetLab")
}

/// Ends the process: there are no bitmaps.
public func UIGraphicsBeginImageContext(_ size: CGSize) {
  UIGraphicsBeginImageContextWithOptions(size, false, 1)
}

public func UIGraphicsEndImageContext() {}

/// `nil`: no context was begun.
public func UIGraphicsGetImageFromCurrentImageContext() -> UIImage? { nil }

extension UIImage {
  /// The image with other bounds: its file stays the same. Ends the process within no context.
  public func draw(in rect: CGRect) {
    fatalError("UIImage.draw(in:): an author's process cannot draw bitmaps on WidgetLab")
  }
  public func draw(at point: CGPoint) { draw(in: CGRect(origin: point, size: size)) }

  /// The bitmap, with the bytes of the file; `nil` for an empty image.
  public var cgImage: CGImage? {
    data.isEmpty ? nil : CGImage(width: file.width, height: file.height, file: data)
  }
  public convenience init(cgImage: CGImage) { self.init(cgImage: cgImage, scale: 1) }
  public convenience init(cgImage: CGImage, scale: CGFloat) {
    // A thumbnail has the bytes of the whole image, and fewer pixels.
    let pixels = (try? ImageFile(header: cgImage.file)).map { CGFloat($0.width) / CGFloat(max(1, cgImage.width)) } ?? 1
    guard let image = UIImage(data: cgImage.file, scale: scale * pixels) else {
      fatalError("the bytes of a CGImage are those of an image file")
    }
    self.init(image)
  }

  /// The image itself: its pixels are decoded by the device, which makes the view smaller.
  public func preparingForDisplay() -> UIImage? { self }
}
