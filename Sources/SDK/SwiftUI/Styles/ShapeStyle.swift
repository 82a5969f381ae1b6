// SPDX-License-Identifier: Apache-2.0

package import Archive

/// Source: `SwiftUI.ShapeStyle`.
public protocol ShapeStyle: Sendable {
  associatedtype Resolved: ShapeStyle = Never
  func resolve(in environment: EnvironmentValues) -> Resolved
}

extension Never: ShapeStyle {
  // `Never` resolves to itself; it has no values.
  public typealias Resolved = Never
}

extension ShapeStyle where Resolved == Never {
  /// Never called: the style is archived directly.
  public func resolve(in environment: EnvironmentValues) -> Never { fatalError("\(Self.self) is not resolved") }
}

/// A style with its own representation in the archive.
package protocol ArchivedStyle: ArchivedArgument {}

extension ShapeStyle {
  /// Returns the style without its Swift type: its own archive, or that of the style it resolves to in this
  /// environment.
  package func archived(in environment: EnvironmentValues) -> ArchivedValue {
    if let style = self as? any ArchivedStyle { return style.archived }
    guard Resolved.self != Never.self else { return .string("\(Self.self)") }
    return resolve(in: environment).archived(in: environment)
  }
}

/// Source: `SwiftUI.AnyShapeStyle`.
public struct AnyShapeStyle: ShapeStyle, ArchivedStyle {
  private let style: any ShapeStyle
  public init<S: ShapeStyle>(_ style: S) { self.style = style }
  package var archived: ArchivedValue { style.archived(in: .current) }
}

/// Source: `SwiftUI.HierarchicalShapeStyle`.
public struct HierarchicalShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  let name: String
}

/// Source: `SwiftUI.ForegroundStyle`.
public struct ForegroundStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "foreground" }
  public init() {}
}

/// Source: `SwiftUI.BackgroundStyle`.
public struct BackgroundStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "background" }
  public init() {}
}

/// Source: `SwiftUI.TintShapeStyle`.
public struct TintShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "tint" }
  public init() {}
}

/// Source: `SwiftUI.SeparatorShapeStyle`.
public struct SeparatorShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "separator" }
  public init() {}
}

/// Source: `SwiftUI.Material`.
public struct Material: ShapeStyle, ArchivedStyle, NamedArgument {
  let name: String
}

extension ShapeStyle where Self == HierarchicalShapeStyle {
  public static var primary: HierarchicalShapeStyle { .init(name: "primary") }
  public static var secondary: HierarchicalShapeStyle { .init(name: "secondary") }
  public static var tertiary: HierarchicalShapeStyle { .init(name: "tertiary") }
  public static var quaternary: HierarchicalShapeStyle { .init(name: "quaternary") }
  public static var quinary: HierarchicalShapeStyle { .init(name: "quinary") }
}

extension ShapeStyle where Self == ForegroundStyle {
  public static var foreground: ForegroundStyle { .init() }
}

extension ShapeStyle where Self == BackgroundStyle {
  public static var background: BackgroundStyle { .init() }
}

extension ShapeStyle where Self == TintShapeStyle {
  public static var tint: TintShapeStyle { .init() }
}

extension ShapeStyle where Self == SeparatorShapeStyle {
  public static var separator: SeparatorShapeStyle { .init() }
}

extension Material {
  public static let ultraThin = Material(name: "ultraThinMaterial"), thin = Material(name: "thinMaterial"),
    regular = Material(name: "regularMaterial"), thick = Material(name: "thickMaterial"),
    ultraThick = Material(name: "ultraThickMaterial"), bar = Material(name: "barMaterial")
}

extension ShapeStyle where Self == Material {
  public static var ultraThinMaterial: Material { .ultraThin }
  public static var thinMaterial: Material { .thin }
  public static var regularMaterial: Material { .regular }
  public static var thickMaterial: Material { .thick }
  public static var ultraThickMaterial: Material { .ultraThick }
  public static var bar: Material { .bar }
}
