// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Path`.
nonisolated public struct Path: Equatable, Sendable, ArchivedArgument {
  /// Each element is a keyword and its numbers, such as `["line", 3, 4]`.
  private(set) var elements: [ArchivedValue] = []

  public init() {}
  public init(_ callback: (inout Path) -> Void) { callback(&self) }
  public init(_ rect: CGRect) { addRect(rect) }
  public init(roundedRect rect: CGRect, cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) {
    addRoundedRect(in: rect, cornerSize: CGSize(width: cornerRadius, height: cornerRadius), style: style)
  }
  public init(roundedRect rect: CGRect, cornerSize: CGSize, style: RoundedCornerStyle = .continuous) {
    addRoundedRect(in: rect, cornerSize: cornerSize, style: style)
  }
  public init(ellipseIn rect: CGRect) { addEllipse(in: rect) }

  private mutating func add(_ word: String, _ numbers: [CGFloat] = [], _ rest: [ArchivedValue] = []) {
    elements.append(.list([.string(word)] + numbers.map(\.archived) + rest))
  }

  public var isEmpty: Bool { elements.isEmpty }

  public mutating func move(to end: CGPoint) { add("move", [end.x, end.y]) }
  public mutating func addLine(to end: CGPoint) { add("line", [end.x, end.y]) }
  public mutating func addQuadCurve(to end: CGPoint, control: CGPoint) {
    add("quad", [end.x, end.y, control.x, control.y])
  }
  public mutating func addCurve(to end: CGPoint, control1: CGPoint, control2: CGPoint) {
    add("curve", [end.x, end.y, control1.x, control1.y, control2.x, control2.y])
  }
  public mutating func closeSubpath() { add("close") }
  public mutating func addRect(_ rect: CGRect) { add("rect", [rect.minX, rect.minY, rect.width, rect.height]) }
  public mutating func addRects(_ rects: [CGRect]) { for rect in rects { addRect(rect) } }
  public mutating func addRoundedRect(
    in rect: CGRect, cornerSize: CGSize, style: RoundedCornerStyle = .continuous
  ) {
    add(
      "roundedRect", [rect.minX, rect.minY, rect.width, rect.height, cornerSize.width, cornerSize.height],
      [style.archived])
  }
  public mutating func addEllipse(in rect: CGRect) {
    add("ellipse", [rect.minX, rect.minY, rect.width, rect.height])
  }
  public mutating func addLines(_ lines: [CGPoint]) {
    guard let first = lines.first else { return }
    move(to: first)
    for point in lines.dropFirst() { addLine(to: point) }
  }
  public mutating func addArc(
    center: CGPoint, radius: CGFloat, startAngle: Angle, endAngle: Angle, clockwise: Bool
  ) {
    add(
      "arc", [center.x, center.y, radius], [startAngle.archived, endAngle.archived, clockwise.archived])
  }
  public mutating func addRelativeArc(center: CGPoint, radius: CGFloat, startAngle: Angle, delta: Angle) {
    addArc(
      center: center, radius: radius, startAngle: startAngle, endAngle: startAngle + delta,
      clockwise: delta.radians < 0)
  }
  public mutating func addArc(tangent1End: CGPoint, tangent2End: CGPoint, radius: CGFloat) {
    add("tangentArc", [tangent1End.x, tangent1End.y, tangent2End.x, tangent2End.y, radius])
  }
  public mutating func addPath(_ path: Path) { elements += path.elements }

  /// The area that a stroke of the path covers.
  public func strokedPath(_ style: StrokeStyle) -> Path {
    var path = Path()
    path.add("stroked", [], [archived, style.archived])
    return path
  }

  package var archived: ArchivedValue { .list(elements) }
}

extension Path: Shape, ArchivedShape {
  /// The path itself, whatever the rectangle.
  public func path(in rect: CGRect) -> Path { self }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.shape(.path), ["type": "Path", "path": archived])
  }
}
