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

/// Source: `UIKit.UIRectCorner`.
public struct UIRectCorner: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let topLeft = UIRectCorner(rawValue: 1)
  public static let topRight = UIRectCorner(rawValue: 2)
  public static let bottomLeft = UIRectCorner(rawValue: 4)
  public static let bottomRight = UIRectCorner(rawValue: 8)
  public static let allCorners = UIRectCorner(rawValue: .max)
}

/// A path. Source: `UIKit.UIBezierPath`. It gives its `cgPath` to SwiftUI, and cannot draw itself.
open class UIBezierPath: NSObject {
  private let path = CGMutablePath()
  open var lineWidth: CGFloat = 1

  public override init() { super.init() }
  public convenience init(rect: CGRect) {
    self.init()
    path.addRect(rect)
  }
  public convenience init(ovalIn rect: CGRect) {
    self.init()
    path.addEllipse(in: rect)
  }
  public convenience init(roundedRect rect: CGRect, cornerRadius: CGFloat) {
    self.init(
      roundedRect: rect, byRoundingCorners: .allCorners, cornerRadii: CGSize(width: cornerRadius, height: cornerRadius))
  }
  public convenience init(roundedRect rect: CGRect, byRoundingCorners corners: UIRectCorner, cornerRadii: CGSize) {
    self.init()
    let radius = min(cornerRadii.width, rect.width / 2, rect.height / 2)
    func size(_ corner: UIRectCorner) -> CGFloat { corners.contains(corner) ? radius : 0 }
    let (first, second, third, fourth) = (size(.topLeft), size(.topRight), size(.bottomRight), size(.bottomLeft))
    path.move(to: CGPoint(x: rect.minX + first, y: rect.minY))
    path.addLine(to: CGPoint(x: rect.maxX - second, y: rect.minY))
    corner(CGPoint(x: rect.maxX, y: rect.minY), CGPoint(x: rect.maxX, y: rect.minY + second))
    path.addLine(to: CGPoint(x: rect.maxX, y: rect.maxY - third))
    corner(CGPoint(x: rect.maxX, y: rect.maxY), CGPoint(x: rect.maxX - third, y: rect.maxY))
    path.addLine(to: CGPoint(x: rect.minX + fourth, y: rect.maxY))
    corner(CGPoint(x: rect.minX, y: rect.maxY), CGPoint(x: rect.minX, y: rect.maxY - fourth))
    path.addLine(to: CGPoint(x: rect.minX, y: rect.minY + first))
    corner(CGPoint(x: rect.minX, y: rect.minY), CGPoint(x: rect.minX + first, y: rect.minY))
    path.closeSubpath()
  }
  public convenience init(
    arcCenter center: CGPoint, radius: CGFloat, startAngle: CGFloat, endAngle: CGFloat, clockwise: Bool
  ) {
    self.init()
    addArc(withCenter: center, radius: radius, startAngle: startAngle, endAngle: endAngle, clockwise: clockwise)
  }
  public convenience init(cgPath: CGPath) {
    self.init()
    path.addPath(cgPath)
  }

  /// A quarter of an ellipse from the current point to another, around the corner of their rectangle.
  private func corner(_ corner: CGPoint, _ end: CGPoint) {
    let start = path.currentPoint
    guard start != end else { return }
    let handle: CGFloat = 0.552_284_75
    func toCorner(_ point: CGPoint) -> CGPoint {
      CGPoint(x: point.x + (corner.x - point.x) * handle, y: point.y + (corner.y - point.y) * handle)
    }
    path.addCurve(to: end, control1: toCorner(start), control2: toCorner(end))
  }

  open var cgPath: CGPath { path.copy() ?? path }
  open var isEmpty: Bool { path.isEmpty }
  open var bounds: CGRect { path.boundingBox }
  open var currentPoint: CGPoint { path.currentPoint }

  open func move(to point: CGPoint) { path.move(to: point) }
  open func addLine(to point: CGPoint) { path.addLine(to: point) }
  open func addCurve(to endPoint: CGPoint, controlPoint1: CGPoint, controlPoint2: CGPoint) {
    path.addCurve(to: endPoint, control1: controlPoint1, control2: controlPoint2)
  }
  open func addQuadCurve(to endPoint: CGPoint, controlPoint: CGPoint) {
    path.addQuadCurve(to: endPoint, control: controlPoint)
  }
  open func close() { path.closeSubpath() }
  open func append(_ bezierPath: UIBezierPath) { path.addPath(bezierPath.path) }

  /// Angles are in radians.
  open func addArc(
    withCenter center: CGPoint, radius: CGFloat, startAngle: CGFloat, endAngle: CGFloat, clockwise: Bool
  ) {
    let turn = 2 * CGFloat.pi
    var sweep = (endAngle - startAngle).truncatingRemainder(dividingBy: turn)
    if abs(endAngle - startAngle) >= turn { sweep = clockwise ? turn : -turn }
    if clockwise, sweep < 0 { sweep += turn }
    if !clockwise, sweep > 0 { sweep -= turn }
    let count = max(1, Int(saturating: (Double(abs(sweep)) / (.pi / 2)).rounded(.up)))
    let step = sweep / CGFloat(count)
    let handle = 4 / 3 * CGFloat(tan(Double(step / 4))) * radius
    func point(_ angle: CGFloat, _ ahead: CGFloat) -> CGPoint {
      let (sine, cosine) = (CGFloat(sin(Double(angle))), CGFloat(cos(Double(angle))))
      return CGPoint(
        x: center.x + radius * cosine - ahead * sine, y: center.y + radius * sine + ahead * cosine)
    }
    if path.isEmpty { path.move(to: point(startAngle, 0)) } else { path.addLine(to: point(startAngle, 0)) }
    for index in 0..<count {
      let (from, to) = (startAngle + step * CGFloat(index), startAngle + step * CGFloat(index + 1))
      path.addCurve(to: point(to, 0), control1: point(from, handle), control2: point(to, -handle))
    }
  }
}
