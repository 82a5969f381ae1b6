package import Archive
public import Foundation

/// How ends of lines are drawn. Source: `CoreGraphics.CGLineCap`.
public enum CGLineCap: Int32, Sendable, NamedArgument {
  /// At the end.
  case butt
  /// Round, beyond the end.
  case round
  /// Square, beyond the end.
  case square
}

/// How corners of lines are drawn. Source: `CoreGraphics.CGLineJoin`.
public enum CGLineJoin: Int32, Sendable, NamedArgument {
  /// Pointed.
  case miter
  /// Round.
  case round
  /// Cut off.
  case bevel
}

/// How a line is drawn. Source: `SwiftUI.StrokeStyle`.
public struct StrokeStyle: Equatable, Sendable, ArchivedArgument {
  /// Points.
  public var lineWidth: CGFloat
  /// The ends.
  public var lineCap: CGLineCap
  /// The corners.
  public var lineJoin: CGLineJoin
  /// How far a point may stand out.
  public var miterLimit: CGFloat
  /// Points drawn and left out in turn.
  public var dash: [CGFloat]
  /// Where in `dash` the line begins.
  public var dashPhase: CGFloat

  /// A line.
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

  /// What is not as usual.
  var parts: [String: ArchivedValue] {
    var parts = ["lineWidth": lineWidth.archived]
    if lineCap != .butt { parts["lineCap"] = lineCap.archived }
    if lineJoin != .miter { parts["lineJoin"] = lineJoin.archived }
    if !dash.isEmpty { parts["dash"] = dash.archived }
    if dashPhase != 0 { parts["dashPhase"] = dashPhase.archived }
    return parts
  }
}

/// How a form is filled. Source: `SwiftUI.FillStyle`.
public struct FillStyle: Equatable, Sendable {
  /// Whether what is inside twice is outside.
  public var isEOFilled: Bool
  /// Whether edges are smoothed.
  public var isAntialiased: Bool
  /// A way to fill.
  public init(eoFill: Bool = false, antialiased: Bool = true) {
    isEOFilled = eoFill
    isAntialiased = antialiased
  }
}

/// A form with something done to it.
nonisolated struct ModifiedShape<Content: Shape>: Shape, ArchivedShape {
  typealias Body = ShapeBody<Self>
  let content: Content
  let modifier: ViewArchive.Modifier

  func path(in rect: CGRect) -> Path { content.path(in: rect) }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive {
    var shape = content.archived(in: environment)
    shape.modifiers.append(modifier)
    return shape
  }
}

extension Shape {
  private func changed(_ name: String, _ arguments: [String: ArchivedValue?]) -> some Shape {
    ModifiedShape(content: self, modifier: ViewArchive.Modifier(name, arguments.compactMapValues { $0 }))
  }

  /// Fills the form.
  public func fill<S: ShapeStyle>(_ content: S = .foreground, style: FillStyle = FillStyle()) -> some View {
    modified("fill", ["style": content.archived(in: .current), "eoFill": style.isEOFilled ? true : nil])
  }
  /// Fills the form with the colour around.
  public func fill(style: FillStyle = FillStyle()) -> some View { fill(.foreground, style: style) }
  /// Draws the form's line.
  public func stroke<S: ShapeStyle>(_ content: S, style: StrokeStyle, antialiased: Bool = true) -> some View {
    modified("stroke", style.parts.merging(["style": content.archived(in: .current)]) { $1 })
  }
  /// Draws the form's line.
  public func stroke<S: ShapeStyle>(_ content: S, lineWidth: CGFloat = 1, antialiased: Bool = true) -> some View {
    stroke(content, style: StrokeStyle(lineWidth: lineWidth))
  }
  /// The form of the line.
  public func stroke(style: StrokeStyle) -> some Shape { changed("stroke", style.parts) }
  /// The form of the line.
  public func stroke(lineWidth: CGFloat = 1) -> some Shape { stroke(style: StrokeStyle(lineWidth: lineWidth)) }
  /// A part of the form's line.
  public func trim(from startFraction: CGFloat = 0, to endFraction: CGFloat = 1) -> some Shape {
    changed("trim", ["from": startFraction.archived, "to": endFraction.archived])
  }
  /// The form, turned.
  public func rotation(_ angle: Angle, anchor: UnitPoint = .center) -> some Shape {
    changed("rotation", ["degrees": angle.archived, "anchor": anchor == .center ? nil : anchor.archived])
  }
  /// The form elsewhere.
  public func offset(x: CGFloat = 0, y: CGFloat = 0) -> some Shape {
    changed("offset", ["x": x.archived, "y": y.archived])
  }
  /// The form elsewhere.
  public func offset(_ offset: CGSize) -> some Shape { self.offset(x: offset.width, y: offset.height) }
  /// The form, larger or smaller.
  public func scale(x: CGFloat = 1, y: CGFloat = 1, anchor: UnitPoint = .center) -> some Shape {
    changed("scale", ["x": x.archived, "y": y.archived])
  }
  /// The form, larger or smaller.
  public func scale(_ scale: CGFloat, anchor: UnitPoint = .center) -> some Shape { self.scale(x: scale, y: scale) }
  /// The form in so large a place.
  public func size(width: CGFloat, height: CGFloat) -> some Shape {
    changed("size", ["width": width.archived, "height": height.archived])
  }
  /// The form in so large a place.
  public func size(_ size: CGSize) -> some Shape { self.size(width: size.width, height: size.height) }
}

extension InsettableShape {
  /// Draws a line within the form.
  public func strokeBorder<S: ShapeStyle>(_ content: S, style: StrokeStyle, antialiased: Bool = true) -> some View {
    modified("strokeBorder", style.parts.merging(["style": content.archived(in: .current)]) { $1 })
  }
  /// Draws a line within the form.
  public func strokeBorder<S: ShapeStyle>(
    _ content: S = .foreground, lineWidth: CGFloat = 1, antialiased: Bool = true
  ) -> some View {
    strokeBorder(content, style: StrokeStyle(lineWidth: lineWidth))
  }
  /// Draws a line within the form, with the colour around.
  public func strokeBorder(style: StrokeStyle, antialiased: Bool = true) -> some View {
    strokeBorder(.foreground, style: style)
  }
}

/// A form of any kind. Source: `SwiftUI.AnyShape`.
nonisolated public struct AnyShape: Shape, ArchivedShape {
  private let shapeWithType: any Shape
  /// A form without its type.
  public init<S: Shape>(_ shape: S) { shapeWithType = shape }
  /// The form's outline in a place.
  public func path(in rect: CGRect) -> Path { shapeWithType.path(in: rect) }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive { shapeWithType.archived(in: environment) }
}
