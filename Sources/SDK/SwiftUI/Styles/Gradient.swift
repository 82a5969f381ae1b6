// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Gradient`.
public struct Gradient: Hashable, Sendable, ShapeStyle, ArchivedStyle {
  /// Source: `SwiftUI.Gradient.Stop`.
  public struct Stop: Hashable, Sendable, ArchivedArgument {
    public var color: Color
    /// From 0 to 1.
    public var location: CGFloat
    public init(color: Color, location: CGFloat) {
      self.color = color
      self.location = location
    }
    package var archived: ArchivedValue { .record([.color: color.value, .location: location.archived]) }
  }

  public var stops: [Gradient.Stop]
  private let isEven: Bool

  public init(stops: [Gradient.Stop]) {
    self.stops = stops
    isEven = false
  }
  /// The colours are evenly spaced.
  public init(colors: [Color]) {
    let last = CGFloat(max(colors.count - 1, 1))
    stops = colors.enumerated().map { Stop(color: $1, location: CGFloat($0) / last) }
    isEven = true
  }

  package var archived: ArchivedValue { isEven ? .list(stops.map(\.color.value)) : stops.archived }
}

/// Source: `SwiftUI.AnyGradient`.
public struct AnyGradient: Hashable, Sendable, ShapeStyle, ArchivedStyle {
  let value: ArchivedValue
  init(value: ArchivedValue) { self.value = value }
  public init(_ gradient: Gradient) { value = .record([.gradient: gradient.archived]) }
  package var archived: ArchivedValue { value }
}

/// Returns the archive of a gradient with its geometry. The gradient is a style, and a view that fills the space it is
/// offered.
private func archivedGradient(
  _ name: ArgumentLabel, gradient: ArchivedValue, geometry: ArchivedArguments
) -> ArchivedValue {
  .record(geometry.merging([name: gradient]))
}

/// Source: `SwiftUI.LinearGradient`.
nonisolated public struct LinearGradient: ShapeStyle, View, ArchivedView, ArchivedStyle, Sendable {
  public typealias Body = Never
  package let archived: ArchivedValue

  private init(_ gradient: some ArchivedArgument, start: UnitPoint, end: UnitPoint) {
    archived = archivedGradient(
      .linearGradient, gradient: gradient.archived, geometry: [.from: start.archived, .to: end.archived])
  }

  public init(gradient: Gradient, startPoint: UnitPoint, endPoint: UnitPoint) {
    self.init(gradient, start: startPoint, end: endPoint)
  }
  public init(colors: [Color], startPoint: UnitPoint, endPoint: UnitPoint) {
    self.init(Gradient(colors: colors), start: startPoint, end: endPoint)
  }
  public init(stops: [Gradient.Stop], startPoint: UnitPoint, endPoint: UnitPoint) {
    self.init(Gradient(stops: stops), start: startPoint, end: endPoint)
  }

  package func archive(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.fill(.linearGradient), [.style: archived])
  }
}

/// Source: `SwiftUI.RadialGradient`.
nonisolated public struct RadialGradient: ShapeStyle, View, ArchivedView, ArchivedStyle, Sendable {
  public typealias Body = Never
  package let archived: ArchivedValue

  /// Radii are in points.
  public init(gradient: Gradient, center: UnitPoint, startRadius: CGFloat, endRadius: CGFloat) {
    archived = archivedGradient(
      .radialGradient, gradient: gradient.archived,
      geometry: [.center: center.archived, .from: startRadius.archived, .to: endRadius.archived])
  }
  /// Radii are in points.
  public init(colors: [Color], center: UnitPoint, startRadius: CGFloat, endRadius: CGFloat) {
    self.init(gradient: Gradient(colors: colors), center: center, startRadius: startRadius, endRadius: endRadius)
  }
  /// Radii are in points.
  public init(stops: [Gradient.Stop], center: UnitPoint, startRadius: CGFloat, endRadius: CGFloat) {
    self.init(gradient: Gradient(stops: stops), center: center, startRadius: startRadius, endRadius: endRadius)
  }

  package func archive(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.fill(.radialGradient), [.style: archived])
  }
}

/// Source: `SwiftUI.EllipticalGradient`.
nonisolated public struct EllipticalGradient: ShapeStyle, View, ArchivedView, ArchivedStyle, Sendable {
  public typealias Body = Never
  package let archived: ArchivedValue

  public init(
    gradient: Gradient, center: UnitPoint = .center, startRadiusFraction: CGFloat = 0,
    endRadiusFraction: CGFloat = 0.5
  ) {
    archived = archivedGradient(
      .ellipticalGradient, gradient: gradient.archived,
      geometry: [.center: center.archived, .from: startRadiusFraction.archived, .to: endRadiusFraction.archived])
  }
  public init(
    colors: [Color], center: UnitPoint = .center, startRadiusFraction: CGFloat = 0, endRadiusFraction: CGFloat = 0.5
  ) {
    self.init(
      gradient: Gradient(colors: colors), center: center, startRadiusFraction: startRadiusFraction,
      endRadiusFraction: endRadiusFraction)
  }

  package func archive(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.fill(.ellipticalGradient), [.style: archived])
  }
}

/// Source: `SwiftUI.AngularGradient`.
nonisolated public struct AngularGradient: ShapeStyle, View, ArchivedView, ArchivedStyle, Sendable {
  public typealias Body = Never
  package let archived: ArchivedValue

  public init(gradient: Gradient, center: UnitPoint, startAngle: Angle = .zero, endAngle: Angle = .zero) {
    archived = archivedGradient(
      .angularGradient, gradient: gradient.archived,
      geometry: [.center: center.archived, .from: startAngle.archived, .to: endAngle.archived])
  }
  public init(colors: [Color], center: UnitPoint, startAngle: Angle, endAngle: Angle) {
    self.init(gradient: Gradient(colors: colors), center: center, startAngle: startAngle, endAngle: endAngle)
  }
  public init(stops: [Gradient.Stop], center: UnitPoint, startAngle: Angle, endAngle: Angle) {
    self.init(gradient: Gradient(stops: stops), center: center, startAngle: startAngle, endAngle: endAngle)
  }
  public init(gradient: Gradient, center: UnitPoint, angle: Angle = .zero) {
    self.init(gradient: gradient, center: center, startAngle: angle, endAngle: angle + .degrees(360))
  }
  public init(colors: [Color], center: UnitPoint, angle: Angle = .zero) {
    self.init(gradient: Gradient(colors: colors), center: center, angle: angle)
  }

  package func archive(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.fill(.angularGradient), [.style: archived])
  }
}

extension ShapeStyle where Self == LinearGradient {
  public static func linearGradient(colors: [Color], startPoint: UnitPoint, endPoint: UnitPoint) -> LinearGradient {
    LinearGradient(colors: colors, startPoint: startPoint, endPoint: endPoint)
  }
  public static func linearGradient(_ gradient: Gradient, startPoint: UnitPoint, endPoint: UnitPoint) -> LinearGradient
  {
    LinearGradient(gradient: gradient, startPoint: startPoint, endPoint: endPoint)
  }
}
