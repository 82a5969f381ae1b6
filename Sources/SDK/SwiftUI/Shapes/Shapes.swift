// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

// The system's shapes are drawn by name; their outlines are computed only for authors who call `path(in:)`.

/// Source: `SwiftUI.Rectangle`.
nonisolated public struct Rectangle: InsettableShape, ArchivedShape {
  private var insetAmount: CGFloat = 0

  public init() {}
  public func path(in rect: CGRect) -> Path { Path(rect.insetBy(dx: insetAmount, dy: insetAmount)) }
  public func inset(by amount: CGFloat) -> Rectangle {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.shape(.rectangle), [.inset: insetAmount == 0 ? nil : insetAmount.archived])
  }
}

/// Source: `SwiftUI.Circle`.
nonisolated public struct Circle: InsettableShape, ArchivedShape {
  private var insetAmount: CGFloat = 0

  public init() {}
  public func path(in rect: CGRect) -> Path {
    Path(ellipseIn: square(in: rect.insetBy(dx: insetAmount, dy: insetAmount)))
  }
  public func inset(by amount: CGFloat) -> Circle {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.shape(.circle), [.inset: insetAmount == 0 ? nil : insetAmount.archived])
  }
}

/// Source: `SwiftUI.Ellipse`.
nonisolated public struct Ellipse: InsettableShape, ArchivedShape {
  private var insetAmount: CGFloat = 0

  public init() {}
  public func path(in rect: CGRect) -> Path { Path(ellipseIn: rect.insetBy(dx: insetAmount, dy: insetAmount)) }
  public func inset(by amount: CGFloat) -> Ellipse {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.shape(.ellipse), [.inset: insetAmount == 0 ? nil : insetAmount.archived])
  }
}

/// Source: `SwiftUI.Capsule`.
nonisolated public struct Capsule: InsettableShape, ArchivedShape {
  public var style: RoundedCornerStyle
  private var insetAmount: CGFloat = 0

  public init(style: RoundedCornerStyle = .continuous) { self.style = style }
  public func path(in rect: CGRect) -> Path {
    Path(
      roundedRect: rect.insetBy(dx: insetAmount, dy: insetAmount),
      cornerRadius: min(rect.width, rect.height) / 2 - insetAmount, style: style)
  }
  public func inset(by amount: CGFloat) -> Capsule {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(
      .shape(.capsule),
      [
        .style: style == .continuous ? nil : style.archived, .inset: insetAmount == 0 ? nil : insetAmount.archived,
      ])
  }
}

/// Source: `SwiftUI.RoundedRectangle`.
nonisolated public struct RoundedRectangle: InsettableShape, ArchivedShape {
  /// In points.
  public var cornerSize: CGSize
  public var style: RoundedCornerStyle
  private var insetAmount: CGFloat = 0

  public init(cornerSize: CGSize, style: RoundedCornerStyle = .continuous) {
    self.cornerSize = cornerSize
    self.style = style
  }
  public init(cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) {
    self.init(cornerSize: CGSize(width: cornerRadius, height: cornerRadius), style: style)
  }
  public func path(in rect: CGRect) -> Path {
    Path(roundedRect: rect.insetBy(dx: insetAmount, dy: insetAmount), cornerSize: cornerSize, style: style)
  }
  public func inset(by amount: CGFloat) -> RoundedRectangle {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(
      .shape(.roundedRectangle),
      [
        .cornerRadius: cornerSize.width == cornerSize.height ? cornerSize.width.archived : cornerSize.archived,
        .style: style == .continuous ? nil : style.archived, .inset: insetAmount == 0 ? nil : insetAmount.archived,
      ])
  }
}

/// Source: `SwiftUI.UnevenRoundedRectangle`.
nonisolated public struct UnevenRoundedRectangle: InsettableShape, ArchivedShape {
  /// In points.
  public var cornerRadii: RectangleCornerRadii
  public var style: RoundedCornerStyle
  private var insetAmount: CGFloat = 0

  public init(cornerRadii: RectangleCornerRadii, style: RoundedCornerStyle = .continuous) {
    self.cornerRadii = cornerRadii
    self.style = style
  }
  public init(
    topLeadingRadius: CGFloat = 0, bottomLeadingRadius: CGFloat = 0, bottomTrailingRadius: CGFloat = 0,
    topTrailingRadius: CGFloat = 0, style: RoundedCornerStyle = .continuous
  ) {
    self.init(
      cornerRadii: RectangleCornerRadii(
        topLeading: topLeadingRadius, bottomLeading: bottomLeadingRadius, bottomTrailing: bottomTrailingRadius,
        topTrailing: topTrailingRadius), style: style)
  }
  public func path(in rect: CGRect) -> Path {
    Path(
      roundedRect: rect.insetBy(dx: insetAmount, dy: insetAmount), cornerRadius: cornerRadii.topLeading, style: style)
  }
  public func inset(by amount: CGFloat) -> UnevenRoundedRectangle {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(
      .shape(.unevenRoundedRectangle),
      [.cornerRadii: cornerRadii.archived, .inset: insetAmount == 0 ? nil : insetAmount.archived])
  }
}

/// Source: `SwiftUI.ContainerRelativeShape`. Follows the shape of the container, such as the widget's.
nonisolated public struct ContainerRelativeShape: InsettableShape, ArchivedShape {
  private var insetAmount: CGFloat = 0

  public init() {}
  public func path(in rect: CGRect) -> Path { Path(rect.insetBy(dx: insetAmount, dy: insetAmount)) }
  public func inset(by amount: CGFloat) -> ContainerRelativeShape {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.shape(.containerRelativeShape), [.inset: insetAmount == 0 ? nil : insetAmount.archived])
  }
}

private func square(in rect: CGRect) -> CGRect {
  let side = min(rect.width, rect.height)
  return CGRect(x: rect.midX - side / 2, y: rect.midY - side / 2, width: side, height: side)
}

extension Shape where Self == Rectangle {
  public static var rect: Rectangle { Rectangle() }
}

extension Shape where Self == Circle {
  public static var circle: Circle { Circle() }
}

extension Shape where Self == Ellipse {
  public static var ellipse: Ellipse { Ellipse() }
}

extension Shape where Self == Capsule {
  public static var capsule: Capsule { Capsule() }
}

extension Shape where Self == ContainerRelativeShape {
  public static var containerRelative: ContainerRelativeShape { ContainerRelativeShape() }
}

extension Shape where Self == RoundedRectangle {
  public static func rect(cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) -> RoundedRectangle {
    RoundedRectangle(cornerRadius: cornerRadius, style: style)
  }
  public static func rect(cornerSize: CGSize, style: RoundedCornerStyle = .continuous) -> RoundedRectangle {
    RoundedRectangle(cornerSize: cornerSize, style: style)
  }
}

extension Shape where Self == Capsule {
  public static func capsule(style: RoundedCornerStyle) -> Capsule { Capsule(style: style) }
}
