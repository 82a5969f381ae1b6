// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// Source: `SwiftUI.Animation`. The system animates a widget's entries: the archive holds the animation's name and its
/// duration in seconds, delay included.
public struct Animation: Hashable, Sendable, NamedArgument {
  let name: String
  let seconds: TimeInterval

  /// - Parameter seconds: the author's duration; `nil`: SwiftUI's default.
  private static func timed(_ name: String, _ seconds: TimeInterval?, else ownSeconds: TimeInterval = 0.5) -> Animation
  {
    Animation(name: seconds.map { "\(name) \($0)" } ?? name, seconds: seconds ?? ownSeconds)
  }

  /// The duration of SwiftUI's curves that are not springs.
  private static let curve: TimeInterval = 0.35

  public static let `default` = timed("default", nil), linear = timed("linear", nil, else: curve),
    easeIn = timed("easeIn", nil, else: curve), easeOut = timed("easeOut", nil, else: curve),
    easeInOut = timed("easeInOut", nil, else: curve), spring = timed("spring", nil), smooth = timed("smooth", nil),
    snappy = timed("snappy", nil), bouncy = timed("bouncy", nil),
    interactiveSpring = timed("interactiveSpring", nil, else: 0.15)
  public static func linear(duration: TimeInterval) -> Animation { timed("linear", duration) }
  public static func easeIn(duration: TimeInterval) -> Animation { timed("easeIn", duration) }
  public static func easeOut(duration: TimeInterval) -> Animation { timed("easeOut", duration) }
  public static func easeInOut(duration: TimeInterval) -> Animation { timed("easeInOut", duration) }
  // `.spring()` is the other one.
  @_disfavoredOverload public static func spring(
    response: Double = 0.5, dampingFraction: Double = 0.825, blendDuration: TimeInterval = 0
  ) -> Animation {
    timed("spring", response)
  }
  public static func spring(
    duration: TimeInterval = 0.5, bounce: Double = 0.0, blendDuration: Double = 0
  ) -> Animation {
    timed("spring", duration)
  }
  public static func smooth(duration: TimeInterval = 0.5, extraBounce: Double = 0) -> Animation {
    timed("smooth", duration)
  }
  public static func snappy(duration: TimeInterval = 0.5, extraBounce: Double = 0) -> Animation {
    timed("snappy", duration)
  }
  public static func bouncy(duration: TimeInterval = 0.5, extraBounce: Double = 0) -> Animation {
    timed("bouncy", duration)
  }
  public static func timingCurve(
    _ p1x: Double, _ p1y: Double, _ p2x: Double, _ p2y: Double, duration: TimeInterval = 0.35
  ) -> Animation {
    timed("timingCurve", duration)
  }
  public static func interactiveSpring(
    response: Double = 0.15, dampingFraction: Double = 0.86, blendDuration: TimeInterval = 0.25
  ) -> Animation {
    timed("interactiveSpring", response)
  }
  public static func interpolatingSpring(
    duration: TimeInterval = 0.5, bounce: Double = 0.0, initialVelocity: Double = 0.0
  ) -> Animation {
    timed("interpolatingSpring", duration)
  }
  /// Its duration is the period without damping, as `Spring.response`.
  public static func interpolatingSpring(
    mass: Double = 1.0, stiffness: Double, damping: Double, initialVelocity: Double = 0.0
  ) -> Animation {
    let response = stiffness > 0 && mass > 0 ? 2 * Double.pi * (mass / stiffness).squareRoot() : 0
    return Animation(name: "interpolatingSpring \(stiffness) \(damping)", seconds: response)
  }
  /// In seconds.
  public func delay(_ delay: TimeInterval) -> Animation { then("delay \(delay)", seconds + delay) }
  public func speed(_ speed: Double) -> Animation { then("speed \(speed)", speed > 0 ? seconds / speed : .infinity) }
  public func repeatForever(autoreverses: Bool = true) -> Animation { then("repeatForever", .infinity) }
  public func repeatCount(_ repeatCount: Int, autoreverses: Bool = true) -> Animation {
    then("repeatCount \(repeatCount)", seconds * Double(max(repeatCount, 1)))
  }

  private func then(_ words: String, _ seconds: TimeInterval) -> Animation {
    Animation(name: "\(name) \(words)", seconds: seconds)
  }
}

/// Source: `SwiftUI.AnyTransition`.
public struct AnyTransition: Sendable, NamedArgument {
  let name: String
  /// `nil`: the animation of the enclosing view.
  var animation: Animation?

  public static let identity = AnyTransition(name: "identity"), opacity = AnyTransition(name: "opacity"),
    slide = AnyTransition(name: "slide"), scale = AnyTransition(name: "scale")
  public static func move(edge: Edge) -> AnyTransition { AnyTransition(name: "move \(edge.name)") }
  public static func push(from edge: Edge) -> AnyTransition { AnyTransition(name: "push \(edge.name)") }
  public static func scale(scale: CGFloat, anchor: UnitPoint = .center) -> AnyTransition {
    AnyTransition(name: "scale \(Double(scale))")
  }
  public static func offset(_ offset: CGSize) -> AnyTransition { AnyTransition(name: "offset") }
  public static func asymmetric(insertion: AnyTransition, removal: AnyTransition) -> AnyTransition {
    AnyTransition(name: "\(insertion.name) / \(removal.name)", animation: insertion.animation ?? removal.animation)
  }
  public func combined(with other: AnyTransition) -> AnyTransition {
    AnyTransition(name: "\(name) + \(other.name)", animation: animation ?? other.animation)
  }
  public func animation(_ animation: Animation?) -> AnyTransition { AnyTransition(name: name, animation: animation) }
}

/// Runs `body` without animation: an archived view does not change. Source: `SwiftUI.withAnimation`.
public func withAnimation<Result>(
  _ animation: Animation? = .default, _ body: () throws -> Result
) rethrows -> Result {
  try body()
}

/// Runs `body` without animation: an archived view does not change. Source: `SwiftUI.withTransaction`.
public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
  try body()
}

/// Source: `SwiftUI.Namespace`.
@propertyWrapper public struct Namespace: DynamicProperty, Sendable {
  /// Source: `SwiftUI.Namespace.ID`.
  public struct ID: Hashable, Sendable {}
  public init() {}
  public var wrappedValue: Namespace.ID { ID() }
}

/// Source: `SwiftUI.MatchedGeometryProperties`.
public struct MatchedGeometryProperties: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let position = MatchedGeometryProperties(rawValue: 1)
  public static let size = MatchedGeometryProperties(rawValue: 2)
  public static let frame: MatchedGeometryProperties = [.position, .size]
}
