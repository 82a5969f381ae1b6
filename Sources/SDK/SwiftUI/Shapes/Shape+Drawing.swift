// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

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
  var parts: [String: ArchivedValue] {
    var parts = ["lineWidth": lineWidth.archived]
    if lineCap != .butt { parts["lineCap"] = lineCap.archived }
    if lineJoin != .miter { parts["lineJoin"] = lineJoin.archived }
    if !dash.isEmpty { parts["dash"] = dash.archived }
    if dashPhase != 0 { parts["dashPhase"] = dashPhase.archived }
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
  private func changed(_ name: ModifierName, _ arguments: [String: ArchivedValue?]) -> some Shape {
    ModifiedShape(content: self, modifier: ViewArchive.Modifier(name, arguments.compactMapValues { $0 }))
  }

  public func fill<S: ShapeStyle>(_ content: S = .foreground, style: FillStyle = FillStyle()) -> some View {
    modified(.shape(.fill), ["style": content.archived(in: .current), "eoFill": style.isEOFilled ? true : nil])
  }
  public func fill(style: FillStyle = FillStyle()) -> some View { fill(.foreground, style: style) }
  public func stroke<S: ShapeStyle>(_ content: S, style: StrokeStyle, antialiased: Bool = true) -> some View {
    modified(.shape(.stroke), style.parts.merging(["style": content.archived(in: .current)]) { $1 })
  }
  public func stroke<S: ShapeStyle>(_ content: S, lineWidth: CGFloat = 1, antialiased: Bool = true) -> some View {
    stroke(content, style: StrokeStyle(lineWidth: lineWidth))
  }
  public func stroke(style: StrokeStyle) -> some Shape { changed(.shape(.stroke), style.parts) }
  public func stroke(lineWidth: CGFloat = 1) -> some Shape { stroke(style: StrokeStyle(lineWidth: lineWidth)) }
  public func trim(from startFraction: CGFloat = 0, to endFraction: CGFloat = 1) -> some Shape {
    changed(.shape(.trim), ["from": startFraction.archived, "to": endFraction.archived])
  }
  public func rotation(_ angle: Angle, anchor: UnitPoint = .center) -> some Shape {
    changed(.shape(.rotation), ["degrees": angle.archived, "anchor": anchor == .center ? nil : anchor.archived])
  }
  public func offset(x: CGFloat = 0, y: CGFloat = 0) -> some Shape {
    changed(.layout(.offset), ["x": x.archived, "y": y.archived])
  }
  public func offset(_ offset: CGSize) -> some Shape { self.offset(x: offset.width, y: offset.height) }
  public func scale(x: CGFloat = 1, y: CGFloat = 1, anchor: UnitPoint = .center) -> some Shape {
    changed(.shape(.scale), ["x": x.archived, "y": y.archived])
  }
  public func scale(_ scale: CGFloat, anchor: UnitPoint = .center) -> some Shape { self.scale(x: scale, y: scale) }
  public func size(width: CGFloat, height: CGFloat) -> some Shape {
    changed(.shape(.size), ["width": width.archived, "height": height.archived])
  }
  public func size(_ size: CGSize) -> some Shape { self.size(width: size.width, height: size.height) }
}

extension InsettableShape {
  public func strokeBorder<S: ShapeStyle>(_ content: S, style: StrokeStyle, antialiased: Bool = true) -> some View {
    modified(.shape(.strokeBorder), style.parts.merging(["style": content.archived(in: .current)]) { $1 })
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
