package import Archive

/// What a shape, a text or a background is filled with. Source: `SwiftUI.ShapeStyle`.
public protocol ShapeStyle: Sendable {
  /// What it comes to in an environment.
  associatedtype Resolved: ShapeStyle = Never
  /// What it comes to in an environment.
  func resolve(in environment: EnvironmentValues) -> Resolved
}

extension Never: ShapeStyle {
  // A type is its own answer here: there is no value of it.
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public typealias Resolved = Never
}

extension ShapeStyle where Resolved == Never {
  /// Nothing: the archive knows the style by itself.
  public func resolve(in environment: EnvironmentValues) -> Never { fatalError("\(Self.self) is not resolved") }
}

/// A style that the archive knows by itself.
package protocol ArchivedStyle: ArchivedArgument {}

extension ShapeStyle {
  /// The style without its type: its own words, or those of what it comes to in this environment.
  package func archived(in environment: EnvironmentValues) -> ArchivedValue {
    if let style = self as? any ArchivedStyle { return style.archived }
    guard Resolved.self != Never.self else { return .string("\(Self.self)") }
    return resolve(in: environment).archived(in: environment)
  }
}

/// A style of any type. Source: `SwiftUI.AnyShapeStyle`.
public struct AnyShapeStyle: ShapeStyle, ArchivedStyle {
  private let style: any ShapeStyle
  /// A style without its type.
  public init<S: ShapeStyle>(_ style: S) { self.style = style }
  package var archived: ArchivedValue { style.archived(in: .current) }
}

/// Less and less of the colour around. Source: `SwiftUI.HierarchicalShapeStyle`.
public struct HierarchicalShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  let name: String
}

/// A colour that the surroundings set. Source: `SwiftUI.ForegroundStyle`.
public struct ForegroundStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "foreground" }
  /// The colour around.
  public init() {}
}

/// The background around. Source: `SwiftUI.BackgroundStyle`.
public struct BackgroundStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "background" }
  /// The background around.
  public init() {}
}

/// The tint around. Source: `SwiftUI.TintShapeStyle`.
public struct TintShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "tint" }
  /// The tint around.
  public init() {}
}

/// What lines between things are drawn with. Source: `SwiftUI.SeparatorShapeStyle`.
public struct SeparatorShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "separator" }
  /// The system's.
  public init() {}
}

/// What blurs what is behind it. Source: `SwiftUI.Material`.
public struct Material: ShapeStyle, ArchivedStyle, NamedArgument {
  let name: String
}

extension ShapeStyle where Self == HierarchicalShapeStyle {
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var primary: HierarchicalShapeStyle { .init(name: "primary") }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var secondary: HierarchicalShapeStyle { .init(name: "secondary") }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var tertiary: HierarchicalShapeStyle { .init(name: "tertiary") }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var quaternary: HierarchicalShapeStyle { .init(name: "quaternary") }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var quinary: HierarchicalShapeStyle { .init(name: "quinary") }
}

extension ShapeStyle where Self == ForegroundStyle {
  /// The colour around.
  public static var foreground: ForegroundStyle { .init() }
}

extension ShapeStyle where Self == BackgroundStyle {
  /// The background around.
  public static var background: BackgroundStyle { .init() }
}

extension ShapeStyle where Self == TintShapeStyle {
  /// The tint around.
  public static var tint: TintShapeStyle { .init() }
}

extension ShapeStyle where Self == SeparatorShapeStyle {
  /// The system's.
  public static var separator: SeparatorShapeStyle { .init() }
}

extension Material {
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static let ultraThin = Material(name: "ultraThinMaterial"), thin = Material(name: "thinMaterial"),
    regular = Material(name: "regularMaterial"), thick = Material(name: "thickMaterial"),
    ultraThick = Material(name: "ultraThickMaterial"), bar = Material(name: "barMaterial")
}

extension ShapeStyle where Self == Material {
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var ultraThinMaterial: Material { .ultraThin }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var thinMaterial: Material { .thin }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var regularMaterial: Material { .regular }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var thickMaterial: Material { .thick }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var ultraThickMaterial: Material { .ultraThick }
  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
  public static var bar: Material { .bar }
}
