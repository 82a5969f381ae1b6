// SPDX-License-Identifier: Apache-2.0

/// Source: `SwiftUI.ColorScheme`.
public enum ColorScheme: CaseIterable, Sendable, NamedArgument {
  case light
  case dark
}

/// Source: `SwiftUI.ColorSchemeContrast`.
public enum ColorSchemeContrast: CaseIterable, Sendable, NamedArgument {
  case standard
  case increased
}

/// Source: `SwiftUI.LayoutDirection`.
public enum LayoutDirection: Hashable, CaseIterable, Sendable, NamedArgument {
  case leftToRight
  case rightToLeft
}

/// Source: `SwiftUI.DynamicTypeSize`.
public enum DynamicTypeSize: Hashable, Comparable, CaseIterable, Sendable, NamedArgument {
  case xSmall
  case small
  case medium
  case large
  case xLarge
  case xxLarge
  case xxxLarge
  case accessibility1
  case accessibility2
  case accessibility3
  case accessibility4
  case accessibility5

  public var isAccessibilitySize: Bool { self >= .accessibility1 }

  /// Finds the size with this name.
  package init?(named name: String) {
    guard let size = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = size
  }
}

/// Source: `SwiftUI.RedactionReasons`.
public struct RedactionReasons: OptionSet, Sendable, NamedArgument {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let placeholder = RedactionReasons(rawValue: 1)
  public static let privacy = RedactionReasons(rawValue: 2)
  public static let invalidated = RedactionReasons(rawValue: 4)

  var name: String {
    let names: [(RedactionReasons, String)] = [
      (.placeholder, "placeholder"), (.privacy, "privacy"), (.invalidated, "invalidated"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: " ")
  }
}

/// Source: `SwiftUI.ContentTransition`.
public struct ContentTransition: Equatable, Sendable, NamedArgument {
  let name: String

  public static let identity = ContentTransition(name: "identity")
  public static let opacity = ContentTransition(name: "opacity")
  public static let interpolate = ContentTransition(name: "interpolate")
  public static func numericText(countsDown: Bool = false) -> ContentTransition {
    ContentTransition(name: countsDown ? "numericText countsDown" : "numericText")
  }
  public static func numericText(value: Double) -> ContentTransition { ContentTransition(name: "numericText") }
}

/// Source: `SwiftUI.ContainerBackgroundPlacement`.
public struct ContainerBackgroundPlacement: Hashable, Sendable, NamedArgument {
  let name: String

  /// Creates the placement for a container with this name.
  package init(name: String) { self.name = name }
}

/// Source: `SwiftUI.ContentMode`.
public enum ContentMode: Hashable, CaseIterable, Sendable, NamedArgument {
  case fit
  case fill
}

/// Source: `SwiftUI.BlendMode`.
public enum BlendMode: Sendable, NamedArgument {
  case normal, multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, softLight, hardLight, difference,
    exclusion, hue, saturation, color, luminosity, sourceAtop, destinationOver, destinationOut, plusDarker, plusLighter
  // Those of `GraphicsContext.BlendMode` only.
  case copy, sourceIn, sourceOut, destinationIn, destinationAtop, xor, clear
}

/// Source: `SwiftUI.Visibility`.
public enum Visibility: Hashable, CaseIterable, Sendable, NamedArgument {
  case automatic
  case visible
  case hidden
}

/// Source: `SwiftUI.ControlSize`.
public enum ControlSize: CaseIterable, Sendable, NamedArgument {
  case mini
  case small
  case regular
  case large
  case extraLarge
}
