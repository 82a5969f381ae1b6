package import Archive
public import Foundation

/// An angle. Source: `SwiftUI.Angle`.
public struct Angle: Hashable, Comparable, Sendable, ArchivedArgument {
  /// The angle in radians.
  public var radians: Double
  /// The angle in degrees.
  public var degrees: Double {
    get { radians * 180 / .pi }
    set { radians = newValue * .pi / 180 }
  }

  /// None.
  public init() { radians = 0 }
  /// An angle in radians.
  public init(radians: Double) { self.radians = radians }
  /// An angle in degrees.
  public init(degrees: Double) { radians = degrees * .pi / 180 }

  /// An angle in radians.
  public static func radians(_ radians: Double) -> Angle { Angle(radians: radians) }
  /// An angle in degrees.
  public static func degrees(_ degrees: Double) -> Angle { Angle(degrees: degrees) }
  /// None.
  public static let zero = Angle()

  /// Whether one is smaller.
  public static func < (lhs: Angle, rhs: Angle) -> Bool { lhs.radians < rhs.radians }
  /// Both together.
  public static func + (lhs: Angle, rhs: Angle) -> Angle { Angle(radians: lhs.radians + rhs.radians) }
  /// The one without the other.
  public static func - (lhs: Angle, rhs: Angle) -> Angle { Angle(radians: lhs.radians - rhs.radians) }
  /// A multiple.
  public static func * (lhs: Angle, rhs: Double) -> Angle { Angle(radians: lhs.radians * rhs) }
  /// A part.
  public static func / (lhs: Angle, rhs: Double) -> Angle { Angle(radians: lhs.radians / rhs) }
  /// The other way round.
  public static prefix func - (angle: Angle) -> Angle { Angle(radians: -angle.radians) }

  package var archived: ArchivedValue { .number(degrees) }
}

/// A place in a view, each way from 0 to 1. Source: `SwiftUI.UnitPoint`.
public struct UnitPoint: Hashable, Sendable, NamedArgument {
  /// Across, 0 where reading begins.
  public var x: CGFloat
  /// Down, 0 above.
  public var y: CGFloat

  /// Above, where reading begins.
  public init() { self.init(x: 0, y: 0) }
  /// A place.
  public init(x: CGFloat, y: CGFloat) {
    self.x = x
    self.y = y
  }

  var name: String { Self.names[self] ?? "(\(Double(x)), \(Double(y)))" }

  private static let names: [UnitPoint: String] = [
    .center: "center", .leading: "leading", .trailing: "trailing", .top: "top", .bottom: "bottom",
    .topLeading: "topLeading", .topTrailing: "topTrailing", .bottomLeading: "bottomLeading",
    .bottomTrailing: "bottomTrailing",
  ]

  /// Above, where reading begins.
  public static let zero = UnitPoint(x: 0, y: 0)
  /// In the middle.
  public static let center = UnitPoint(x: 0.5, y: 0.5)
  /// Where reading begins.
  public static let leading = UnitPoint(x: 0, y: 0.5)
  /// Where reading ends.
  public static let trailing = UnitPoint(x: 1, y: 0.5)
  /// Above.
  public static let top = UnitPoint(x: 0.5, y: 0)
  /// Below.
  public static let bottom = UnitPoint(x: 0.5, y: 1)
  /// Above, where reading begins.
  public static let topLeading = UnitPoint(x: 0, y: 0)
  /// Above, where reading ends.
  public static let topTrailing = UnitPoint(x: 1, y: 0)
  /// Below, where reading begins.
  public static let bottomLeading = UnitPoint(x: 0, y: 1)
  /// Below, where reading ends.
  public static let bottomTrailing = UnitPoint(x: 1, y: 1)
}
