public import Foundation

// Accepted, so that an author's files compile: no Xcode shows what is previewed here. Source of all: `SwiftUI` and
// `DeveloperToolsSupport` of the iOS 18 SDK.

/// A preview of a view.
@freestanding(declaration)
public macro Preview(
  _ name: String? = nil, traits: PreviewTrait<Preview.ViewTraits>...,
  @ViewBuilder body: @escaping @MainActor () -> any View
) = #externalMacro(module: "PreviewsMacros", type: "PreviewMacro")

/// Names what a preview is of. Source: `DeveloperToolsSupport.Preview`.
public struct Preview: Sendable {
  /// Traits of views. Source: `Preview.ViewTraits`.
  public struct ViewTraits: Sendable {}
}

/// How a preview is shown. Source: `DeveloperToolsSupport.PreviewTrait`.
public struct PreviewTrait<T>: Sendable {}

extension PreviewTrait where T == Preview.ViewTraits {
  /// As on a device.
  public static var defaultLayout: PreviewTrait<T> { PreviewTrait() }
  /// As large as the view is.
  public static var sizeThatFitsLayout: PreviewTrait<T> { PreviewTrait() }
  /// So large.
  public static func fixedLayout(width: CGFloat, height: CGFloat) -> PreviewTrait<T> { PreviewTrait() }
  /// On a device that lies.
  public static var landscapeLeft: PreviewTrait<T> { PreviewTrait() }
  /// On a device that stands.
  public static var portrait: PreviewTrait<T> { PreviewTrait() }
}

/// Previews of views. Source: `SwiftUI.PreviewProvider`.
@MainActor @preconcurrency public protocol PreviewProvider {
  /// What is previewed.
  associatedtype Previews: View
  /// What is previewed.
  @ViewBuilder static var previews: Self.Previews { get }
}

/// Where a preview is shown. Source: `SwiftUI.PreviewContext`.
public protocol PreviewContext {
  /// A value of the context.
  subscript<Key: PreviewContextKey>(key: Key.Type) -> Key.Value { get }
}

/// A value of a preview's context. Source: `SwiftUI.PreviewContextKey`.
public protocol PreviewContextKey {
  /// Its type.
  associatedtype Value
  /// What stands where nothing is said.
  static var defaultValue: Value { get }
}

/// A device for previews. Source: `SwiftUI.PreviewDevice`.
public struct PreviewDevice: RawRepresentable, ExpressibleByStringLiteral, Sendable {
  /// Its name.
  public let rawValue: String
  /// A device by its name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// A device by its name.
  public init(stringLiteral value: String) { rawValue = value }
}

/// How large a preview is. Source: `SwiftUI.PreviewLayout`.
public enum PreviewLayout: Sendable {
  /// As a device.
  case device
  /// As the view.
  case sizeThatFits
  /// So large.
  case fixed(width: CGFloat, height: CGFloat)
}

extension View {
  /// The view itself.
  nonisolated public func previewContext<C: PreviewContext>(_ value: C) -> some View { self }
  /// The view itself.
  nonisolated public func previewDisplayName(_ value: String?) -> some View { self }
  /// The view itself.
  nonisolated public func previewDevice(_ value: PreviewDevice?) -> some View { self }
  /// The view itself.
  nonisolated public func previewLayout(_ value: PreviewLayout) -> some View { self }
}
