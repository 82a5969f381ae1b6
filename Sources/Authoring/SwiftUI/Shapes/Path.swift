package import Archive
public import Foundation

/// An outline. Source: `SwiftUI.Path`.
nonisolated public struct Path: Equatable, Sendable, ArchivedArgument {
  /// Each a word and its numbers, such as `["line", 3, 4]`.
  private(set) var elements: [ArchivedValue] = []

  /// An empty outline.
  public init() {}
  /// An outline that a closure draws.
  public init(_ callback: (inout Path) -> Void) { callback(&self) }
  /// A rectangle.
  public init(_ rect: CGRect) { addRect(rect) }
  /// A rectangle with round corners.
  public init(roundedRect rect: CGRect, cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) {
    addRoundedRect(in: rect, cornerSize: CGSize(width: cornerRadius, height: cornerRadius), style: style)
  }
  /// A rectangle with round corners.
  public init(roundedRect rect: CGRect, cornerSize: CGSize, style: RoundedCornerStyle = .continuous) {
    addRoundedRect(in: rect, cornerSize: cornerSize, style: style)
  }
  /// An ellipse.
  public init(ellipseIn rect: CGRect) { addEllipse(in: rect) }

  private mutating func add(_ word: String, _ numbers: [CGFloat] = [], _ rest: [ArchivedValue] = []) {
    elements.append(.list([.string(word)] + numbers.map(\.archived) + rest))
  }

  /// Whether it has no part.
  public var isEmpty: Bool { elements.isEmpty }

  /// Begins a part at a point.
  public mutating func move(to end: CGPoint) { add("move", [end.x, end.y]) }
  /// A line to a point.
  public mutating func addLine(to end: CGPoint) { add("line", [end.x, end.y]) }
  /// A curve to a point, by one other.
  public mutating func addQuadCurve(to end: CGPoint, control: CGPoint) {
    add("quad", [end.x, end.y, control.x, control.y])
  }
  /// A curve to a point, by two others.
  public mutating func addCurve(to end: CGPoint, control1: CGPoint, control2: CGPoint) {
    add("curve", [end.x, end.y, control1.x, control1.y, control2.x, control2.y])
  }
  /// A line back to where the part began.
  public mutating func closeSubpath() { add("close") }
  /// A rectangle.
  public mutating func addRect(_ rect: CGRect) { add("rect", [rect.minX, rect.minY, rect.width, rect.height]) }
  /// Rectangles.
  public mutating func addRects(_ rects: [CGRect]) { for rect in rects { addRect(rect) } }
  /// A rectangle with round corners.
  public mutating func addRoundedRect(
    in rect: CGRect, cornerSize: CGSize, style: RoundedCornerStyle = .continuous
  ) {
    add(
      "roundedRect", [rect.minX, rect.minY, rect.width, rect.height, cornerSize.width, cornerSize.height],
      [style.archived])
  }
  /// An ellipse.
  public mutating func addEllipse(in rect: CGRect) {
    add("ellipse", [rect.minX, rect.minY, rect.width, rect.height])
  }
  /// Lines from point to point.
  public mutating func addLines(_ lines: [CGPoint]) {
    guard let first = lines.first else { return }
    move(to: first)
    for point in lines.dropFirst() { addLine(to: point) }
  }
  /// A part of a circle.
  public mutating func addArc(
    center: CGPoint, radius: CGFloat, startAngle: Angle, endAngle: Angle, clockwise: Bool
  ) {
    add(
      "arc", [center.x, center.y, radius], [startAngle.archived, endAngle.archived, clockwise.archived])
  }
  /// A part of a circle by its length.
  public mutating func addRelativeArc(center: CGPoint, radius: CGFloat, startAngle: Angle, delta: Angle) {
    addArc(
      center: center, radius: radius, startAngle: startAngle, endAngle: startAngle + delta,
      clockwise: delta.radians < 0)
  }
  /// A part of a circle between two lines.
  public mutating func addArc(tangent1End: CGPoint, tangent2End: CGPoint, radius: CGFloat) {
    add("tangentArc", [tangent1End.x, tangent1End.y, tangent2End.x, tangent2End.y, radius])
  }
  /// Another outline.
  public mutating func addPath(_ path: Path) { elements += path.elements }

  package var archived: ArchivedValue { .list(elements) }
}

extension Path: Shape {
  /// The outline, wherever it is.
  public func path(in rect: CGRect) -> Path { self }
}
