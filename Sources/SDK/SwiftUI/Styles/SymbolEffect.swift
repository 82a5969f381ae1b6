// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

// Animations of symbols, which Apple has in the module Symbols. A picture has none: it shows the symbol at rest.

/// Source: `Symbols.SymbolEffect`.
public protocol SymbolEffect: Hashable, Sendable {
  var configuration: SymbolEffectConfiguration { get }
}

/// Source: `Symbols.SymbolEffectConfiguration`.
public struct SymbolEffectConfiguration: Hashable, Sendable {
  /// The effect with its options, such as `bounce down byLayer`.
  let name: String

  fileprivate func adding(_ option: String) -> Self { Self(name: "\(name) \(option)") }
}

/// An effect that runs once. Source: `Symbols.DiscreteSymbolEffect`.
public protocol DiscreteSymbolEffect {}
/// An effect that lasts until it is removed. Source: `Symbols.IndefiniteSymbolEffect`.
public protocol IndefiniteSymbolEffect {}
/// Source: `Symbols.TransitionSymbolEffect`.
public protocol TransitionSymbolEffect {}
/// Source: `Symbols.ContentTransitionSymbolEffect`.
public protocol ContentTransitionSymbolEffect {}

/// Source: `Symbols.AppearSymbolEffect`.
public struct AppearSymbolEffect: SymbolEffect, TransitionSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "appear")

  public var up: Self { Self(configuration: configuration.adding("up")) }
  public var down: Self { Self(configuration: configuration.adding("down")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == AppearSymbolEffect {
  public static var appear: Self { Self() }
}

/// Source: `Symbols.AutomaticSymbolEffect`.
public struct AutomaticSymbolEffect: SymbolEffect, TransitionSymbolEffect, ContentTransitionSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "automatic")
}

extension SymbolEffect where Self == AutomaticSymbolEffect {
  public static var automatic: Self { Self() }
}

/// Source: `Symbols.BounceSymbolEffect`.
public struct BounceSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "bounce")

  public var up: Self { Self(configuration: configuration.adding("up")) }
  public var down: Self { Self(configuration: configuration.adding("down")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == BounceSymbolEffect {
  public static var bounce: Self { Self() }
}

/// Source: `Symbols.BreatheSymbolEffect`.
public struct BreatheSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "breathe")

  public var plain: Self { Self(configuration: configuration.adding("plain")) }
  public var pulse: Self { Self(configuration: configuration.adding("pulse")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == BreatheSymbolEffect {
  public static var breathe: Self { Self() }
}

/// Source: `Symbols.DisappearSymbolEffect`.
public struct DisappearSymbolEffect: SymbolEffect, TransitionSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "disappear")

  public var up: Self { Self(configuration: configuration.adding("up")) }
  public var down: Self { Self(configuration: configuration.adding("down")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == DisappearSymbolEffect {
  public static var disappear: Self { Self() }
}

/// Source: `Symbols.DrawOffSymbolEffect`.
public struct DrawOffSymbolEffect: SymbolEffect, TransitionSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "drawOff")

  public var reversed: Self { Self(configuration: configuration.adding("reversed")) }
  public var nonReversed: Self { Self(configuration: configuration.adding("nonReversed")) }
  public var individually: Self { Self(configuration: configuration.adding("individually")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == DrawOffSymbolEffect {
  public static var drawOff: Self { Self() }
}

/// Source: `Symbols.DrawOnSymbolEffect`.
public struct DrawOnSymbolEffect: SymbolEffect, TransitionSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "drawOn")

  public var individually: Self { Self(configuration: configuration.adding("individually")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == DrawOnSymbolEffect {
  public static var drawOn: Self { Self() }
}

/// Source: `Symbols.PulseSymbolEffect`.
public struct PulseSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "pulse")

  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == PulseSymbolEffect {
  public static var pulse: Self { Self() }
}

/// Source: `Symbols.ReplaceSymbolEffect`.
public struct ReplaceSymbolEffect: SymbolEffect, ContentTransitionSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "replace")

  public var downUp: Self { Self(configuration: configuration.adding("downUp")) }
  public var upUp: Self { Self(configuration: configuration.adding("upUp")) }
  public var offUp: Self { Self(configuration: configuration.adding("offUp")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
  public func magic(fallback: ReplaceSymbolEffect) -> MagicReplace {
    MagicReplace(configuration: fallback.configuration.adding("magic"))
  }

  /// Source: `Symbols.ReplaceSymbolEffect.MagicReplace`.
  public struct MagicReplace: SymbolEffect, ContentTransitionSymbolEffect {
    public var configuration: SymbolEffectConfiguration

    public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
    public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
  }
}

extension SymbolEffect where Self == ReplaceSymbolEffect {
  public static var replace: Self { Self() }
}

/// Source: `Symbols.RotateSymbolEffect`.
public struct RotateSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "rotate")

  public var clockwise: Self { Self(configuration: configuration.adding("clockwise")) }
  public var counterClockwise: Self { Self(configuration: configuration.adding("counterClockwise")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == RotateSymbolEffect {
  public static var rotate: Self { Self() }
}

/// Source: `Symbols.ScaleSymbolEffect`.
public struct ScaleSymbolEffect: SymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "scale")

  public var up: Self { Self(configuration: configuration.adding("up")) }
  public var down: Self { Self(configuration: configuration.adding("down")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
}

extension SymbolEffect where Self == ScaleSymbolEffect {
  public static var scale: Self { Self() }
}

/// Source: `Symbols.VariableColorSymbolEffect`.
public struct VariableColorSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "variableColor")

  public var cumulative: Self { Self(configuration: configuration.adding("cumulative")) }
  public var iterative: Self { Self(configuration: configuration.adding("iterative")) }
  public var reversing: Self { Self(configuration: configuration.adding("reversing")) }
  public var nonReversing: Self { Self(configuration: configuration.adding("nonReversing")) }
  public var hideInactiveLayers: Self { Self(configuration: configuration.adding("hideInactiveLayers")) }
  public var dimInactiveLayers: Self { Self(configuration: configuration.adding("dimInactiveLayers")) }
}

extension SymbolEffect where Self == VariableColorSymbolEffect {
  public static var variableColor: Self { Self() }
}

/// Source: `Symbols.WiggleSymbolEffect`.
public struct WiggleSymbolEffect: SymbolEffect, DiscreteSymbolEffect, IndefiniteSymbolEffect {
  public var configuration = SymbolEffectConfiguration(name: "wiggle")

  public var clockwise: Self { Self(configuration: configuration.adding("clockwise")) }
  public var counterClockwise: Self { Self(configuration: configuration.adding("counterClockwise")) }
  public var left: Self { Self(configuration: configuration.adding("left")) }
  public var right: Self { Self(configuration: configuration.adding("right")) }
  public var up: Self { Self(configuration: configuration.adding("up")) }
  public var down: Self { Self(configuration: configuration.adding("down")) }
  public var forward: Self { Self(configuration: configuration.adding("forward")) }
  public var backward: Self { Self(configuration: configuration.adding("backward")) }
  public var byLayer: Self { Self(configuration: configuration.adding("byLayer")) }
  public var wholeSymbol: Self { Self(configuration: configuration.adding("wholeSymbol")) }
  public func custom(angle: Angle) -> Self { Self(configuration: configuration.adding("custom")) }
  public func custom(angle: Double) -> Self { Self(configuration: configuration.adding("custom")) }
}

extension SymbolEffect where Self == WiggleSymbolEffect {
  public static var wiggle: Self { Self() }
}

/// How often and how fast an effect runs. Source: `Symbols.SymbolEffectOptions`.
public struct SymbolEffectOptions: Hashable, Sendable {
  public static let `default` = SymbolEffectOptions()
  public static let repeating = SymbolEffectOptions()
  public static let nonRepeating = SymbolEffectOptions()

  public static func `repeat`(_ count: Int?) -> Self { .default }
  public static func `repeat`(_ behavior: RepeatBehavior) -> Self { .default }
  public static func speed(_ speed: Double) -> Self { .default }
  public var repeating: Self { self }
  public var nonRepeating: Self { self }
  public func `repeat`(_ count: Int?) -> Self { self }
  public func `repeat`(_ behavior: RepeatBehavior) -> Self { self }
  public func speed(_ speed: Double) -> Self { self }

  /// Source: `Symbols.SymbolEffectOptions.RepeatBehavior`.
  public struct RepeatBehavior: Hashable, Sendable {
    public static let continuous = RepeatBehavior()
    public static let periodic = RepeatBehavior()
    public static func periodic(_ count: Int? = nil, delay: Double? = nil) -> Self { .periodic }
  }
}

extension View {
  /// A symbol with the effect `disappear` or `drawOff` that is active is not drawn, and keeps its place.
  nonisolated public func symbolEffect<T: IndefiniteSymbolEffect & SymbolEffect>(
    _ effect: T, options: SymbolEffectOptions = .default, isActive: Bool = true
  ) -> some View {
    let hides = isActive && (T.self == DisappearSymbolEffect.self || T.self == DrawOffSymbolEffect.self)
    return modified(.silent(.symbolEffect), [.name: effect.configuration.name.archived, .isActive: isActive.archived])
      .opacity(hides ? 0 : 1)
  }
  nonisolated public func symbolEffect<T: DiscreteSymbolEffect & SymbolEffect, U: Equatable>(
    _ effect: T, options: SymbolEffectOptions = .default, value: U
  ) -> some View {
    modified(.silent(.symbolEffect), [.name: effect.configuration.name.archived, .value: .string("\(value)")])
  }
  /// Has no effect: no picture shows an effect, but for the symbols that one hides.
  nonisolated public func symbolEffectsRemoved(_ isEnabled: Bool = true) -> some View { self }
}

extension ContentTransition {
  public static var symbolEffect: ContentTransition { symbolEffect(.automatic) }
  public static func symbolEffect<T: ContentTransitionSymbolEffect & SymbolEffect>(
    _ effect: T, options: SymbolEffectOptions = .default
  ) -> ContentTransition {
    ContentTransition(name: "symbolEffect \(effect.configuration.name)")
  }
}

extension AnyTransition {
  public static var symbolEffect: AnyTransition { symbolEffect(.automatic) }
  public static func symbolEffect<T: TransitionSymbolEffect & SymbolEffect>(
    _ effect: T, options: SymbolEffectOptions = .default
  ) -> AnyTransition {
    AnyTransition(name: "symbolEffect \(effect.configuration.name)")
  }
}
