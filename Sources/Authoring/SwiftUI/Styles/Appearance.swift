/// Light or dark. Source: `SwiftUI.ColorScheme`.
public enum ColorScheme: CaseIterable, Sendable, NamedArgument {
  /// Dark on light.
  case light
  /// Light on dark.
  case dark
}

/// How much colours differ. Source: `SwiftUI.ColorSchemeContrast`.
public enum ColorSchemeContrast: CaseIterable, Sendable, NamedArgument {
  /// As usual.
  case standard
  /// More, as a person asked in Settings.
  case increased
}

/// Where reading begins. Source: `SwiftUI.LayoutDirection`.
public enum LayoutDirection: Hashable, CaseIterable, Sendable, NamedArgument {
  /// At the left.
  case leftToRight
  /// At the right.
  case rightToLeft
}

/// The text size that a person chose. Source: `SwiftUI.DynamicTypeSize`.
public enum DynamicTypeSize: Hashable, Comparable, CaseIterable, Sendable, NamedArgument {
  /// Smallest.
  case xSmall
  /// Smaller.
  case small
  /// Between small and large.
  case medium
  /// The usual.
  case large
  /// Larger.
  case xLarge
  /// Larger still.
  case xxLarge
  /// The largest but for accessibility's.
  case xxxLarge
  /// Accessibility's first.
  case accessibility1
  /// Accessibility's second.
  case accessibility2
  /// Accessibility's third.
  case accessibility3
  /// Accessibility's fourth.
  case accessibility4
  /// Accessibility's fifth.
  case accessibility5

  /// Whether it is one of accessibility's.
  public var isAccessibilitySize: Bool { self >= .accessibility1 }

  /// The size by its name.
  package init?(named name: String) {
    guard let size = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = size
  }
}

/// Why a view's data is hidden. Source: `SwiftUI.RedactionReasons`.
public struct RedactionReasons: OptionSet, Sendable, NamedArgument {
  /// A bit for each reason.
  public let rawValue: Int
  /// Reasons by their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// There is no data yet.
  public static let placeholder = RedactionReasons(rawValue: 1)
  /// The data is not for everybody's eyes.
  public static let privacy = RedactionReasons(rawValue: 2)
  /// The data is being made anew.
  public static let invalidated = RedactionReasons(rawValue: 4)

  var name: String {
    let names: [(RedactionReasons, String)] = [
      (.placeholder, "placeholder"), (.privacy, "privacy"), (.invalidated, "invalidated"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: " ")
  }
}

/// How a view gives place to its next. Source: `SwiftUI.ContentTransition`.
public struct ContentTransition: Equatable, Sendable, NamedArgument {
  let name: String

  /// At once.
  public static let identity = ContentTransition(name: "identity")
  /// Fading.
  public static let opacity = ContentTransition(name: "opacity")
  /// Between the two.
  public static let interpolate = ContentTransition(name: "interpolate")
  /// Digit by digit.
  public static func numericText(countsDown: Bool = false) -> ContentTransition {
    ContentTransition(name: countsDown ? "numericText countsDown" : "numericText")
  }
  /// Digit by digit, up or down with the value.
  public static func numericText(value: Double) -> ContentTransition { ContentTransition(name: "numericText") }
}

/// What lies behind a whole container. Source: `SwiftUI.ContainerBackgroundPlacement`.
public struct ContainerBackgroundPlacement: Hashable, Sendable, NamedArgument {
  let name: String

  /// A container by its name.
  package init(name: String) { self.name = name }
}

/// How a picture takes the place it is given. Source: `SwiftUI.ContentMode`.
public enum ContentMode: Hashable, CaseIterable, Sendable, NamedArgument {
  /// Whole.
  case fit
  /// Filling it.
  case fill
}

/// How a view's colours meet those below. Source: `SwiftUI.BlendMode`.
public enum BlendMode: Sendable, NamedArgument {
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  case normal, multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, softLight, hardLight, difference,
    exclusion, hue, saturation, color, luminosity, sourceAtop, destinationOver, destinationOut, plusDarker, plusLighter
}

/// How much of a control there is to see. Source: `SwiftUI.Visibility`.
public enum Visibility: Hashable, CaseIterable, Sendable, NamedArgument {
  /// As the system likes it.
  case automatic
  /// Seen.
  case visible
  /// Hidden.
  case hidden
}

/// How much something matters. Source: `SwiftUI.ControlSize`.
public enum ControlSize: CaseIterable, Sendable, NamedArgument {
  /// Smallest.
  case mini
  /// Smaller.
  case small
  /// As usual.
  case regular
  /// Larger.
  case large
  /// Largest.
  case extraLarge
}
