import Archive
public import Foundation

// The outlines of the system's forms are drawn by who knows them by their names; an author who asks for one gets it here.

/// A rectangle. Source: `SwiftUI.Rectangle`.
nonisolated public struct Rectangle: InsettableShape, ArchivedShape {
  private var insetAmount: CGFloat = 0

  /// The form.
  public init() {}
  /// The form's outline in a place.
  public func path(in rect: CGRect) -> Path { Path(rect.insetBy(dx: insetAmount, dy: insetAmount)) }
  /// The form, smaller by so many points at each side.
  public func inset(by amount: CGFloat) -> Rectangle {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive {
    ViewArchive("Rectangle", given: ["inset": insetAmount == 0 ? nil : insetAmount.archived])
  }
}

/// The largest circle in its place. Source: `SwiftUI.Circle`.
nonisolated public struct Circle: InsettableShape, ArchivedShape {
  private var insetAmount: CGFloat = 0

  /// The form.
  public init() {}
  /// The form's outline in a place.
  public func path(in rect: CGRect) -> Path {
    Path(ellipseIn: square(in: rect.insetBy(dx: insetAmount, dy: insetAmount)))
  }
  /// The form, smaller by so many points at each side.
  public func inset(by amount: CGFloat) -> Circle {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive {
    ViewArchive("Circle", given: ["inset": insetAmount == 0 ? nil : insetAmount.archived])
  }
}

/// An ellipse. Source: `SwiftUI.Ellipse`.
nonisolated public struct Ellipse: InsettableShape, ArchivedShape {
  private var insetAmount: CGFloat = 0

  /// The form.
  public init() {}
  /// The form's outline in a place.
  public func path(in rect: CGRect) -> Path { Path(ellipseIn: rect.insetBy(dx: insetAmount, dy: insetAmount)) }
  /// The form, smaller by so many points at each side.
  public func inset(by amount: CGFloat) -> Ellipse {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive {
    ViewArchive("Ellipse", given: ["inset": insetAmount == 0 ? nil : insetAmount.archived])
  }
}

/// A rectangle whose short sides are round. Source: `SwiftUI.Capsule`.
nonisolated public struct Capsule: InsettableShape, ArchivedShape {
  /// How corners are round.
  public var style: RoundedCornerStyle
  private var insetAmount: CGFloat = 0

  /// The form.
  public init(style: RoundedCornerStyle = .continuous) { self.style = style }
  /// The form's outline in a place.
  public func path(in rect: CGRect) -> Path {
    Path(
      roundedRect: rect.insetBy(dx: insetAmount, dy: insetAmount),
      cornerRadius: min(rect.width, rect.height) / 2 - insetAmount, style: style)
  }
  /// The form, smaller by so many points at each side.
  public func inset(by amount: CGFloat) -> Capsule {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive {
    ViewArchive(
      "Capsule",
      given: [
        "style": style == .continuous ? nil : style.archived, "inset": insetAmount == 0 ? nil : insetAmount.archived,
      ])
  }
}

/// A rectangle with round corners. Source: `SwiftUI.RoundedRectangle`.
nonisolated public struct RoundedRectangle: InsettableShape, ArchivedShape {
  /// Points.
  public var cornerSize: CGSize
  /// How corners are round.
  public var style: RoundedCornerStyle
  private var insetAmount: CGFloat = 0

  /// A rectangle with round corners.
  public init(cornerSize: CGSize, style: RoundedCornerStyle = .continuous) {
    self.cornerSize = cornerSize
    self.style = style
  }
  /// A rectangle with round corners.
  public init(cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) {
    self.init(cornerSize: CGSize(width: cornerRadius, height: cornerRadius), style: style)
  }
  /// The form's outline in a place.
  public func path(in rect: CGRect) -> Path {
    Path(roundedRect: rect.insetBy(dx: insetAmount, dy: insetAmount), cornerSize: cornerSize, style: style)
  }
  /// The form, smaller by so many points at each side.
  public func inset(by amount: CGFloat) -> RoundedRectangle {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive {
    ViewArchive(
      "RoundedRectangle",
      given: [
        "cornerRadius": cornerSize.width == cornerSize.height ? cornerSize.width.archived : cornerSize.archived,
        "style": style == .continuous ? nil : style.archived, "inset": insetAmount == 0 ? nil : insetAmount.archived,
      ])
  }
}

/// A rectangle each of whose corners is round in its own way. Source: `SwiftUI.UnevenRoundedRectangle`.
nonisolated public struct UnevenRoundedRectangle: InsettableShape, ArchivedShape {
  /// Points.
  public var cornerRadii: RectangleCornerRadii
  /// How corners are round.
  public var style: RoundedCornerStyle
  private var insetAmount: CGFloat = 0

  /// The form.
  public init(cornerRadii: RectangleCornerRadii, style: RoundedCornerStyle = .continuous) {
    self.cornerRadii = cornerRadii
    self.style = style
  }
  /// The form.
  public init(
    topLeadingRadius: CGFloat = 0, bottomLeadingRadius: CGFloat = 0, bottomTrailingRadius: CGFloat = 0,
    topTrailingRadius: CGFloat = 0, style: RoundedCornerStyle = .continuous
  ) {
    self.init(
      cornerRadii: RectangleCornerRadii(
        topLeading: topLeadingRadius, bottomLeading: bottomLeadingRadius, bottomTrailing: bottomTrailingRadius,
        topTrailing: topTrailingRadius), style: style)
  }
  /// The form's outline in a place.
  public func path(in rect: CGRect) -> Path {
    Path(
      roundedRect: rect.insetBy(dx: insetAmount, dy: insetAmount), cornerRadius: cornerRadii.topLeading, style: style)
  }
  /// The form, smaller by so many points at each side.
  public func inset(by amount: CGFloat) -> UnevenRoundedRectangle {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive {
    ViewArchive(
      "UnevenRoundedRectangle",
      given: ["cornerRadii": cornerRadii.archived, "inset": insetAmount == 0 ? nil : insetAmount.archived])
  }
}

/// The form of what is around, such as the widget's. Source: `SwiftUI.ContainerRelativeShape`.
nonisolated public struct ContainerRelativeShape: InsettableShape, ArchivedShape {
  private var insetAmount: CGFloat = 0

  /// The form.
  public init() {}
  /// The form's outline in a place.
  public func path(in rect: CGRect) -> Path { Path(rect.insetBy(dx: insetAmount, dy: insetAmount)) }
  /// The form, smaller by so many points at each side.
  public func inset(by amount: CGFloat) -> ContainerRelativeShape {
    var shape = self
    shape.insetAmount += amount
    return shape
  }
  @MainActor func shape(in environment: EnvironmentValues) -> ViewArchive {
    ViewArchive("ContainerRelativeShape", given: ["inset": insetAmount == 0 ? nil : insetAmount.archived])
  }
}

private func square(in rect: CGRect) -> CGRect {
  let side = min(rect.width, rect.height)
  return CGRect(x: rect.midX - side / 2, y: rect.midY - side / 2, width: side, height: side)
}

extension Shape where Self == Rectangle {
  /// The form.
  public static var rect: Rectangle { Rectangle() }
}

extension Shape where Self == Circle {
  /// The form.
  public static var circle: Circle { Circle() }
}

extension Shape where Self == Ellipse {
  /// The form.
  public static var ellipse: Ellipse { Ellipse() }
}

extension Shape where Self == Capsule {
  /// The form.
  public static var capsule: Capsule { Capsule() }
}

extension Shape where Self == ContainerRelativeShape {
  /// The form.
  public static var containerRelative: ContainerRelativeShape { ContainerRelativeShape() }
}

extension Shape where Self == RoundedRectangle {
  /// A rectangle with round corners.
  public static func rect(cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) -> RoundedRectangle {
    RoundedRectangle(cornerRadius: cornerRadius, style: style)
  }
  /// A rectangle with round corners.
  public static func rect(cornerSize: CGSize, style: RoundedCornerStyle = .continuous) -> RoundedRectangle {
    RoundedRectangle(cornerSize: cornerSize, style: style)
  }
}

extension Shape where Self == Capsule {
  /// A rectangle whose short sides are round.
  public static func capsule(style: RoundedCornerStyle) -> Capsule { Capsule(style: style) }
}
