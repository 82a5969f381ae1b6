// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Shape`.
nonisolated public protocol Shape: Sendable, Animatable, View {
  nonisolated func path(in rect: CGRect) -> Path
}

/// Source: `SwiftUI.InsettableShape`.
nonisolated public protocol InsettableShape: Shape {
  associatedtype InsetShape: InsettableShape
  /// `amount` is in points, for each side.
  nonisolated func inset(by amount: CGFloat) -> InsetShape
}

/// Source: `SwiftUI.Animatable`. An archived view is never between two values.
nonisolated public protocol Animatable {
  associatedtype AnimatableData = EmptyAnimatableData
  var animatableData: AnimatableData { get set }
}

extension Animatable where AnimatableData == EmptyAnimatableData {
  public var animatableData: EmptyAnimatableData {
    get { EmptyAnimatableData() }
    set {}
  }
}

/// Source: `SwiftUI.EmptyAnimatableData`.
public struct EmptyAnimatableData: Equatable, Sendable {
  public init() {}
}

/// Source: `SwiftUI.AnimatablePair`.
public struct AnimatablePair<First, Second> {
  public var first: First
  public var second: Second
  public init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }
}

/// A shape with its own representation in the archive.
@MainActor protocol ArchivedShape {
  /// Returns the shape with the operations applied to it.
  func shape(in context: ArchivingContext) -> ViewArchive
}

extension Shape where Body == ShapeBody<Self> {
  /// The shape, filled with the foreground style.
  public var body: ShapeBody<Self> { ShapeBody(shape: self) }
}

/// The body of a shape: its own archive, or its outline.
nonisolated public struct ShapeBody<Content: Shape>: View, ArchivedView {
  public typealias Body = Never
  let shape: Content

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    shape.archived(in: context)
  }
}

extension Shape {
  /// Returns the shape as it is stored: its own archive, or its outline in the size of the host's layout, or, before that,
  /// in the size that is proposed.
  @MainActor func archived(in context: ArchivingContext) -> ViewArchive {
    if let known = self as? any ArchivedShape { return known.shape(in: context) }
    let (identifier, size, _) = context.enterClosure()
    return ViewArchive(
      .shape(.path),
      [
        .type: .string("\(Self.self)"), .in: size.archived, .closure: identifier?.archived,
        .path: context.environment.during { path(in: CGRect(origin: .zero, size: size)) }.archived,
      ])
  }
}

/// Source: `SwiftUI.RoundedCornerStyle`.
public enum RoundedCornerStyle: Sendable, NamedArgument {
  case circular
  case continuous
}

/// Source: `SwiftUI.RectangleCornerRadii`. In points.
public struct RectangleCornerRadii: Equatable, Sendable, ArchivedArgument {
  public var topLeading: CGFloat
  public var bottomLeading: CGFloat
  public var bottomTrailing: CGFloat
  public var topTrailing: CGFloat
  public init(
    topLeading: CGFloat = 0, bottomLeading: CGFloat = 0, bottomTrailing: CGFloat = 0, topTrailing: CGFloat = 0
  ) {
    self.topLeading = topLeading
    self.bottomLeading = bottomLeading
    self.bottomTrailing = bottomTrailing
    self.topTrailing = topTrailing
  }
  package var archived: ArchivedValue {
    .record([
      .topLeading: topLeading.archived, .bottomLeading: bottomLeading.archived,
      .bottomTrailing: bottomTrailing.archived, .topTrailing: topTrailing.archived,
    ])
  }
}

/// Source: `CoreGraphics.CGLineCap`.
public enum CGLineCap: Int32, Sendable, NamedArgument {
  case butt
  case round
  case square
}

/// Source: `CoreGraphics.CGLineJoin`.
public enum CGLineJoin: Int32, Sendable, NamedArgument {
  case miter
  case round
  case bevel
}

/// Source: `SwiftUI.StrokeStyle`.
public struct StrokeStyle: Equatable, Sendable, ArchivedArgument {
  /// In points.
  public var lineWidth: CGFloat
  public var lineCap: CGLineCap
  public var lineJoin: CGLineJoin
  public var miterLimit: CGFloat
  /// Lengths that are drawn and skipped in turn, in points.
  public var dash: [CGFloat]
  /// The offset into `dash` at which the line begins.
  public var dashPhase: CGFloat

  public init(
    lineWidth: CGFloat = 1, lineCap: CGLineCap = .butt, lineJoin: CGLineJoin = .miter, miterLimit: CGFloat = 10,
    dash: [CGFloat] = [], dashPhase: CGFloat = 0
  ) {
    self.lineWidth = lineWidth
    self.lineCap = lineCap
    self.lineJoin = lineJoin
    self.miterLimit = miterLimit
    self.dash = dash
    self.dashPhase = dashPhase
  }

  package var archived: ArchivedValue { .record(parts) }

  /// The properties that differ from their defaults.
  var parts: ArchivedArguments {
    var parts: ArchivedArguments = [.lineWidth: lineWidth.archived]
    if lineCap != .butt { parts[.lineCap] = lineCap.archived }
    if lineJoin != .miter { parts[.lineJoin] = lineJoin.archived }
    if !dash.isEmpty { parts[.dash] = dash.archived }
    if dashPhase != 0 { parts[.dashPhase] = dashPhase.archived }
    return parts
  }
}

/// Source: `SwiftUI.FillStyle`.
public struct FillStyle: Equatable, Sendable {
  public var isEOFilled: Bool
  public var isAntialiased: Bool
  public init(eoFill: Bool = false, antialiased: Bool = true) {
    isEOFilled = eoFill
    isAntialiased = antialiased
  }
}

/// A shape with an operation applied to it.
nonisolated struct ModifiedShape<Content: Shape>: Shape, ArchivedShape {
  typealias Body = ShapeBody<Self>
  let content: Content
  let modifier: ViewArchive.Modifier

  func path(in rect: CGRect) -> Path { content.path(in: rect) }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    var shape = content.archived(in: context)
    shape.modifiers.append(modifier)
    return shape
  }
}

extension Shape {
  private func changed(_ name: ModifierName, _ arguments: ArchivedArguments) -> some Shape {
    ModifiedShape(content: self, modifier: ViewArchive.Modifier(name, arguments))
  }

  public func fill<S: ShapeStyle>(_ content: S = .foreground, style: FillStyle = FillStyle()) -> some View {
    modified(.shape(.fill), [.style: content.archived(in: .current), .eoFill: style.isEOFilled ? true : nil])
  }
  public func fill(style: FillStyle = FillStyle()) -> some View { fill(.foreground, style: style) }
  public func stroke<S: ShapeStyle>(_ content: S, style: StrokeStyle, antialiased: Bool = true) -> some View {
    modified(.shape(.stroke), style.parts.merging([.style: content.archived(in: .current)]))
  }
  public func stroke<S: ShapeStyle>(_ content: S, lineWidth: CGFloat = 1, antialiased: Bool = true) -> some View {
    stroke(content, style: StrokeStyle(lineWidth: lineWidth))
  }
  public func stroke(style: StrokeStyle) -> some Shape { changed(.shape(.stroke), style.parts) }
  public func stroke(lineWidth: CGFloat = 1) -> some Shape { stroke(style: StrokeStyle(lineWidth: lineWidth)) }
  public func trim(from startFraction: CGFloat = 0, to endFraction: CGFloat = 1) -> some Shape {
    changed(.shape(.trim), [.from: startFraction.archived, .to: endFraction.archived])
  }
  public func rotation(_ angle: Angle, anchor: UnitPoint = .center) -> some Shape {
    changed(.shape(.rotation), [.degrees: angle.archived, .anchor: anchor == .center ? nil : anchor.archived])
  }
  public func offset(x: CGFloat = 0, y: CGFloat = 0) -> some Shape {
    changed(.layout(.offset), [.x: x.archived, .y: y.archived])
  }
  public func offset(_ offset: CGSize) -> some Shape { self.offset(x: offset.width, y: offset.height) }
  public func scale(x: CGFloat = 1, y: CGFloat = 1, anchor: UnitPoint = .center) -> some Shape {
    changed(.shape(.scale), [.x: x.archived, .y: y.archived])
  }
  public func scale(_ scale: CGFloat, anchor: UnitPoint = .center) -> some Shape { self.scale(x: scale, y: scale) }
  public func size(width: CGFloat, height: CGFloat) -> some Shape {
    changed(.shape(.size), [.width: width.archived, .height: height.archived])
  }
  public func size(_ size: CGSize) -> some Shape { self.size(width: size.width, height: size.height) }
}

extension InsettableShape {
  public func strokeBorder<S: ShapeStyle>(_ content: S, style: StrokeStyle, antialiased: Bool = true) -> some View {
    modified(.shape(.strokeBorder), style.parts.merging([.style: content.archived(in: .current)]))
  }
  public func strokeBorder<S: ShapeStyle>(
    _ content: S = .foreground, lineWidth: CGFloat = 1, antialiased: Bool = true
  ) -> some View {
    strokeBorder(content, style: StrokeStyle(lineWidth: lineWidth))
  }
  public func strokeBorder(style: StrokeStyle, antialiased: Bool = true) -> some View {
    strokeBorder(.foreground, style: style)
  }
}

/// Source: `SwiftUI.AnyShape`.
nonisolated public struct AnyShape: Shape, ArchivedShape {
  private let shapeWithType: any Shape
  public init<S: Shape>(_ shape: S) { shapeWithType = shape }
  public func path(in rect: CGRect) -> Path { shapeWithType.path(in: rect) }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive { shapeWithType.archived(in: context) }
}

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

  private mutating func add(_ word: String, numbers: [CGFloat] = [], rest: [ArchivedValue] = []) {
    elements.append(.list([.string(word)] + numbers.map(\.archived) + rest))
  }

  public var isEmpty: Bool { elements.isEmpty }

  public mutating func move(to end: CGPoint) { add("move", numbers: [end.x, end.y]) }
  public mutating func addLine(to end: CGPoint) { add("line", numbers: [end.x, end.y]) }
  public mutating func addQuadCurve(to end: CGPoint, control: CGPoint) {
    add("quad", numbers: [end.x, end.y, control.x, control.y])
  }
  public mutating func addCurve(to end: CGPoint, control1: CGPoint, control2: CGPoint) {
    add("curve", numbers: [end.x, end.y, control1.x, control1.y, control2.x, control2.y])
  }
  public mutating func closeSubpath() { add("close") }
  public mutating func addRect(_ rect: CGRect) {
    add("rect", numbers: [rect.minX, rect.minY, rect.width, rect.height])
  }
  public mutating func addRects(_ rects: [CGRect]) { for rect in rects { addRect(rect) } }
  public mutating func addRoundedRect(
    in rect: CGRect, cornerSize: CGSize, style: RoundedCornerStyle = .continuous
  ) {
    add(
      "roundedRect", numbers: [rect.minX, rect.minY, rect.width, rect.height, cornerSize.width, cornerSize.height],
      rest: [style.archived])
  }
  public mutating func addEllipse(in rect: CGRect) {
    add("ellipse", numbers: [rect.minX, rect.minY, rect.width, rect.height])
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
      "arc", numbers: [center.x, center.y, radius], rest: [startAngle.archived, endAngle.archived, clockwise.archived])
  }
  public mutating func addRelativeArc(center: CGPoint, radius: CGFloat, startAngle: Angle, delta: Angle) {
    addArc(
      center: center, radius: radius, startAngle: startAngle, endAngle: startAngle + delta,
      clockwise: delta.radians < 0)
  }
  public mutating func addArc(tangent1End: CGPoint, tangent2End: CGPoint, radius: CGFloat) {
    add("tangentArc", numbers: [tangent1End.x, tangent1End.y, tangent2End.x, tangent2End.y, radius])
  }
  public mutating func addPath(_ path: Path) { elements += path.elements }

  /// The area that a stroke of the path covers.
  public func strokedPath(_ style: StrokeStyle) -> Path {
    var path = Path()
    path.add("stroked", numbers: [], rest: [archived, style.archived])
    return path
  }

  package var archived: ArchivedValue { .list(elements) }
}

extension Path: Shape, ArchivedShape {
  /// The path itself, whatever the rectangle.
  public func path(in rect: CGRect) -> Path { self }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.shape(.path), [.type: "Path", .path: archived])
  }
}
