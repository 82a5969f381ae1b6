import Archive
public import Foundation

/// How something changes in time. Source: `SwiftUI.Animation`. The system animates a widget's entries: what is kept is the
/// animation's name, and the seconds that it takes with its delay.
public struct Animation: Hashable, Sendable, NamedArgument {
  let name: String
  let seconds: TimeInterval

  /// - Parameter seconds: what the author said; `nil`: as long as SwiftUI's own.
  private static func timed(_ name: String, _ seconds: TimeInterval?, else own: TimeInterval = 0.5) -> Animation {
    Animation(name: seconds.map { "\(name) \($0)" } ?? name, seconds: seconds ?? own)
  }

  /// Of SwiftUI's curves that are no springs.
  private static let curve: TimeInterval = 0.35

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let `default` = timed("default", nil), linear = timed("linear", nil, else: curve),
    easeIn = timed("easeIn", nil, else: curve), easeOut = timed("easeOut", nil, else: curve),
    easeInOut = timed("easeInOut", nil, else: curve), spring = timed("spring", nil), smooth = timed("smooth", nil),
    snappy = timed("snappy", nil), bouncy = timed("bouncy", nil),
    interactiveSpring = timed("interactiveSpring", nil, else: 0.15)
  /// Evenly.
  public static func linear(duration: TimeInterval) -> Animation { timed("linear", duration) }
  /// Slowly first.
  public static func easeIn(duration: TimeInterval) -> Animation { timed("easeIn", duration) }
  /// Slowly last.
  public static func easeOut(duration: TimeInterval) -> Animation { timed("easeOut", duration) }
  /// Slowly first and last.
  public static func easeInOut(duration: TimeInterval) -> Animation { timed("easeInOut", duration) }
  /// As a spring does.
  public static func spring(
    response: Double = 0.5, dampingFraction: Double = 0.825, blendDuration: TimeInterval = 0
  ) -> Animation {
    timed("spring", response)
  }
  /// As a spring does.
  public static func spring(
    duration: TimeInterval = 0.5, bounce: Double = 0.0, blendDuration: Double = 0
  ) -> Animation {
    timed("spring", duration)
  }
  /// As a spring does, gently.
  public static func smooth(duration: TimeInterval = 0.5, extraBounce: Double = 0) -> Animation {
    timed("smooth", duration)
  }
  /// As a spring does, quickly.
  public static func snappy(duration: TimeInterval = 0.5, extraBounce: Double = 0) -> Animation {
    timed("snappy", duration)
  }
  /// As a spring does, beyond its end.
  public static func bouncy(duration: TimeInterval = 0.5, extraBounce: Double = 0) -> Animation {
    timed("bouncy", duration)
  }
  /// Along a curve of Bézier's, by its two control points.
  public static func timingCurve(
    _ p1x: Double, _ p1y: Double, _ p2x: Double, _ p2y: Double, duration: TimeInterval = 0.35
  ) -> Animation {
    timed("timingCurve", duration)
  }
  /// As a spring does, quickly.
  public static func interactiveSpring(
    response: Double = 0.15, dampingFraction: Double = 0.86, blendDuration: TimeInterval = 0.25
  ) -> Animation {
    timed("interactiveSpring", response)
  }
  /// Later; seconds.
  public func delay(_ delay: TimeInterval) -> Animation { then("delay \(delay)", seconds + delay) }
  /// Faster.
  public func speed(_ speed: Double) -> Animation { then("speed \(speed)", speed > 0 ? seconds / speed : .infinity) }
  /// Again and again.
  public func repeatForever(autoreverses: Bool = true) -> Animation { then("repeatForever", .infinity) }
  /// Several times.
  public func repeatCount(_ repeatCount: Int, autoreverses: Bool = true) -> Animation {
    then("repeatCount \(repeatCount)", seconds * Double(max(repeatCount, 1)))
  }

  private func then(_ words: String, _ seconds: TimeInterval) -> Animation {
    Animation(name: "\(name) \(words)", seconds: seconds)
  }
}

/// How a view comes and goes. Source: `SwiftUI.AnyTransition`.
public struct AnyTransition: Sendable, NamedArgument {
  let name: String
  /// Its own; `nil`: as what is around it.
  var animation: Animation?

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let identity = AnyTransition(name: "identity"), opacity = AnyTransition(name: "opacity"),
    slide = AnyTransition(name: "slide"), scale = AnyTransition(name: "scale")
  /// From a side.
  public static func move(edge: Edge) -> AnyTransition { AnyTransition(name: "move \(edge.name)") }
  /// From a side, pushing the view before.
  public static func push(from edge: Edge) -> AnyTransition { AnyTransition(name: "push \(edge.name)") }
  /// Larger or smaller.
  public static func scale(scale: CGFloat, anchor: UnitPoint = .center) -> AnyTransition {
    AnyTransition(name: "scale \(Double(scale))")
  }
  /// From elsewhere.
  public static func offset(_ offset: CGSize) -> AnyTransition { AnyTransition(name: "offset") }
  /// One way to come, another to go.
  public static func asymmetric(insertion: AnyTransition, removal: AnyTransition) -> AnyTransition {
    AnyTransition(name: "\(insertion.name) / \(removal.name)", animation: insertion.animation ?? removal.animation)
  }
  /// Both.
  public func combined(with other: AnyTransition) -> AnyTransition {
    AnyTransition(name: "\(name) + \(other.name)", animation: animation ?? other.animation)
  }
  /// In another time.
  public func animation(_ animation: Animation?) -> AnyTransition { AnyTransition(name: name, animation: animation) }
}

/// Does something, and animates what it changes: an archived view changes nothing.
public func withAnimation<Result>(
  _ animation: Animation? = .default, _ body: () throws -> Result
) rethrows -> Result {
  try body()
}

/// A space in which views of two entries are the same. Source: `SwiftUI.Namespace`.
@propertyWrapper public struct Namespace: DynamicProperty, Sendable {
  /// The space's identity. Source: `SwiftUI.Namespace.ID`.
  public struct ID: Hashable, Sendable {}
  /// A space.
  public init() {}
  /// The space's identity.
  public var wrappedValue: Namespace.ID { ID() }
}

/// What of two views is the same. Source: `SwiftUI.MatchedGeometryProperties`.
public struct MatchedGeometryProperties: OptionSet, Sendable {
  /// A bit for each.
  public let rawValue: UInt32
  /// By their bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// The place.
  public static let position = MatchedGeometryProperties(rawValue: 1)
  /// The size.
  public static let size = MatchedGeometryProperties(rawValue: 2)
  /// Both.
  public static let frame: MatchedGeometryProperties = [.position, .size]
}
