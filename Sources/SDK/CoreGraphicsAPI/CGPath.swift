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

extension CGMutablePath {
  /// An arc, after a line to its begin if the path has a point. `clockwise` is meant for an axis that points upwards, so
  /// that on the screen the arc turns the other way.
  public func addArc(
    center: CGPoint, radius: CGFloat, startAngle: CGFloat, endAngle: CGFloat, clockwise: Bool,
    transform: CGAffineTransform = .identity
  ) {
    let turn = 2 * CGFloat.pi
    var delta = endAngle - startAngle
    if clockwise {
      if delta <= -turn { delta = -turn } else { while delta > 0 { delta -= turn } }
    } else {
      if delta >= turn { delta = turn } else { while delta < 0 { delta += turn } }
    }
    addRelativeArc(center: center, radius: radius, startAngle: startAngle, delta: delta, transform: transform)
  }

  /// - Parameter delta: in radians.
  public func addRelativeArc(
    center: CGPoint, radius: CGFloat, startAngle: CGFloat, delta: CGFloat, transform: CGAffineTransform = .identity
  ) {
    func point(_ angle: CGFloat, _ along: CGFloat = 0) -> CGPoint {
      CGPoint(
        x: center.x + radius * (cos(angle) - along * sin(angle)),
        y: center.y + radius * (sin(angle) + along * cos(angle)))
    }
    if isEmpty {
      move(to: point(startAngle), transform: transform)
    } else {
      addLine(to: point(startAngle), transform: transform)
    }
    // A cubic curve follows a quarter of a circle to 0.03 %.
    let count = Int(exactly: min(max(1, (abs(Double(delta)) / (.pi / 2)).rounded(.up)), 1000)) ?? 1
    let step = delta / CGFloat(count)
    let handle = 4 / 3 * tan(step / 4)
    for index in 0..<count {
      let begin = startAngle + CGFloat(index) * step
      addCurve(
        to: point(begin + step), control1: point(begin, handle), control2: point(begin + step, -handle),
        transform: transform)
    }
  }
}

/// A change of coordinates. Source: `CoreGraphics.CGAffineTransform`.
public struct CGAffineTransform: Hashable, Codable, Sendable {
  public var a: CGFloat
  public var b: CGFloat
  public var c: CGFloat
  public var d: CGFloat
  public var tx: CGFloat
  public var ty: CGFloat

  /// The identity.
  public init() { self.init(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0) }
  public init(a: CGFloat, b: CGFloat, c: CGFloat, d: CGFloat, tx: CGFloat, ty: CGFloat) {
    (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
  }
  public init(_ a: CGFloat, _ b: CGFloat, _ c: CGFloat, _ d: CGFloat, _ tx: CGFloat, _ ty: CGFloat) {
    self.init(a: a, b: b, c: c, d: d, tx: tx, ty: ty)
  }
  public init(translationX tx: CGFloat, y ty: CGFloat) { self.init(a: 1, b: 0, c: 0, d: 1, tx: tx, ty: ty) }
  public init(scaleX sx: CGFloat, y sy: CGFloat) { self.init(a: sx, b: 0, c: 0, d: sy, tx: 0, ty: 0) }
  /// In radians.
  public init(rotationAngle angle: CGFloat) {
    let (sine, cosine) = (CGFloat(sin(Double(angle))), CGFloat(cos(Double(angle))))
    self.init(a: cosine, b: sine, c: -sine, d: cosine, tx: 0, ty: 0)
  }

  public static let identity = CGAffineTransform()
  public var isIdentity: Bool { self == .identity }

  /// This transform, and then another.
  public func concatenating(_ t2: CGAffineTransform) -> CGAffineTransform {
    CGAffineTransform(
      a: a * t2.a + b * t2.c, b: a * t2.b + b * t2.d, c: c * t2.a + d * t2.c, d: c * t2.b + d * t2.d,
      tx: tx * t2.a + ty * t2.c + t2.tx, ty: tx * t2.b + ty * t2.d + t2.ty)
  }
  public func translatedBy(x tx: CGFloat, y ty: CGFloat) -> CGAffineTransform {
    CGAffineTransform(translationX: tx, y: ty).concatenating(self)
  }
  public func scaledBy(x sx: CGFloat, y sy: CGFloat) -> CGAffineTransform {
    CGAffineTransform(scaleX: sx, y: sy).concatenating(self)
  }
  public func rotated(by angle: CGFloat) -> CGAffineTransform {
    CGAffineTransform(rotationAngle: angle).concatenating(self)
  }
  /// The transform itself when it cannot be inverted.
  public func inverted() -> CGAffineTransform {
    let determinant = a * d - b * c
    guard determinant != 0 else { return self }
    return CGAffineTransform(
      a: d / determinant, b: -b / determinant, c: -c / determinant, d: a / determinant,
      tx: (c * ty - d * tx) / determinant, ty: (b * tx - a * ty) / determinant)
  }
}

extension CGPoint {
  public func applying(_ t: CGAffineTransform) -> CGPoint {
    CGPoint(x: t.a * x + t.c * y + t.tx, y: t.b * x + t.d * y + t.ty)
  }
}

extension CGSize {
  public func applying(_ t: CGAffineTransform) -> CGSize {
    CGSize(width: t.a * width + t.c * height, height: t.b * width + t.d * height)
  }
}

extension CGRect {
  /// The smallest rectangle around the changed corners.
  public func applying(_ t: CGAffineTransform) -> CGRect {
    let corners = [(minX, minY), (maxX, minY), (minX, maxY), (maxX, maxY)].map { CGPoint(x: $0.0, y: $0.1).applying(t) }
    let (xs, ys) = (corners.map(\.x), corners.map(\.y))
    let (left, top) = (xs.min() ?? 0, ys.min() ?? 0)
    return CGRect(x: left, y: top, width: (xs.max() ?? 0) - left, height: (ys.max() ?? 0) - top)
  }
}

/// Source: `CoreGraphics.CGVector`.
public struct CGVector: Hashable, Codable, Sendable {
  public var dx: CGFloat
  public var dy: CGFloat
  public init() { self.init(dx: 0, dy: 0) }
  public init(dx: CGFloat, dy: CGFloat) { (self.dx, self.dy) = (dx, dy) }
  public static let zero = CGVector()
}
