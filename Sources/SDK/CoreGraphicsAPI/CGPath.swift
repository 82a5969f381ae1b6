// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Lines and curves. Source: `CoreGraphics.CGPath`.
public class CGPath {
  /// A part of a path.
  package enum Element: Sendable, Hashable {
    case move(CGPoint)
    case line(CGPoint)
    case quad(CGPoint, control: CGPoint)
    case curve(CGPoint, control1: CGPoint, control2: CGPoint)
    case close
  }

  package fileprivate(set) var elements: [Element] = []

  fileprivate init() {}
  public convenience init(rect: CGRect, transform: UnsafePointer<CGAffineTransform>?) {
    self.init()
    append(rect: rect, transform?.pointee ?? .identity)
  }
  public convenience init(ellipseIn rect: CGRect, transform: UnsafePointer<CGAffineTransform>?) {
    self.init()
    append(ellipse: rect, transform?.pointee ?? .identity)
  }

  public var isEmpty: Bool { elements.isEmpty }

  private var points: [CGPoint] {
    elements.flatMap { element -> [CGPoint] in
      switch element {
      case .move(let point), .line(let point): [point]
      case .quad(let end, let control): [control, end]
      case .curve(let end, let first, let second): [first, second, end]
      case .close: []
      }
    }
  }

  public var currentPoint: CGPoint { points.last ?? .zero }
  /// The smallest rectangle around all points, those that control curves among them.
  public var boundingBox: CGRect {
    let (xs, ys) = (points.map(\.x), points.map(\.y))
    guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else { return .null }
    return CGRect(x: left, y: top, width: right - left, height: bottom - top)
  }

  public func mutableCopy() -> CGMutablePath? {
    let copy = CGMutablePath()
    copy.elements = elements
    return copy
  }
  public func copy() -> CGPath? { mutableCopy() }

  fileprivate func append(rect: CGRect, _ transform: CGAffineTransform) {
    let corners = [(rect.minX, rect.minY), (rect.maxX, rect.minY), (rect.maxX, rect.maxY), (rect.minX, rect.maxY)]
      .map { CGPoint(x: $0.0, y: $0.1).applying(transform) }
    elements += [.move(corners[0]), .line(corners[1]), .line(corners[2]), .line(corners[3]), .close]
  }

  fileprivate func append(ellipse rect: CGRect, _ transform: CGAffineTransform) {
    // A quarter of a circle as a cubic curve.
    let handle: CGFloat = 0.552_284_75
    let unit = CGAffineTransform(a: rect.width / 2, b: 0, c: 0, d: rect.height / 2, tx: rect.midX, ty: rect.midY)
      .concatenating(transform)
    func point(_ x: CGFloat, _ y: CGFloat) -> CGPoint { CGPoint(x: x, y: y).applying(unit) }
    elements += [
      .move(point(1, 0)),
      .curve(point(0, 1), control1: point(1, handle), control2: point(handle, 1)),
      .curve(point(-1, 0), control1: point(-handle, 1), control2: point(-1, handle)),
      .curve(point(0, -1), control1: point(-1, -handle), control2: point(-handle, -1)),
      .curve(point(1, 0), control1: point(handle, -1), control2: point(1, -handle)), .close,
    ]
  }
}

/// A path that can be extended. Source: `CoreGraphics.CGMutablePath`.
public final class CGMutablePath: CGPath {
  public override init() { super.init() }

  public func move(to point: CGPoint, transform: CGAffineTransform = .identity) {
    elements.append(.move(point.applying(transform)))
  }
  public func addLine(to point: CGPoint, transform: CGAffineTransform = .identity) {
    elements.append(.line(point.applying(transform)))
  }
  public func addLines(between points: [CGPoint], transform: CGAffineTransform = .identity) {
    guard let first = points.first else { return }
    move(to: first, transform: transform)
    for point in points.dropFirst() { addLine(to: point, transform: transform) }
  }
  public func addQuadCurve(to end: CGPoint, control: CGPoint, transform: CGAffineTransform = .identity) {
    elements.append(.quad(end.applying(transform), control: control.applying(transform)))
  }
  public func addCurve(
    to end: CGPoint, control1: CGPoint, control2: CGPoint, transform: CGAffineTransform = .identity
  ) {
    elements.append(
      .curve(
        end.applying(transform), control1: control1.applying(transform), control2: control2.applying(transform)))
  }
  public func addRect(_ rect: CGRect, transform: CGAffineTransform = .identity) { append(rect: rect, transform) }
  public func addEllipse(in rect: CGRect, transform: CGAffineTransform = .identity) {
    append(ellipse: rect, transform)
  }
  public func addPath(_ path: CGPath, transform: CGAffineTransform = .identity) {
    elements += path.elements.map { element in
      switch element {
      case .move(let point): .move(point.applying(transform))
      case .line(let point): .line(point.applying(transform))
      case .quad(let end, let control): .quad(end.applying(transform), control: control.applying(transform))
      case .curve(let end, let first, let second):
        .curve(
          end.applying(transform), control1: first.applying(transform), control2: second.applying(transform))
      case .close: .close
      }
    }
  }
  public func closeSubpath() { elements.append(.close) }
}
