// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Accepted, so that an author's files compile; previews are never shown. Source of all: `SwiftUI` and
// `DeveloperToolsSupport` of the iOS 18 SDK.

@freestanding(declaration)
public macro Preview(
  _ name: String? = nil, traits: PreviewTrait<Preview.ViewTraits>...,
  @ViewBuilder body: @escaping @MainActor () -> any View
) = #externalMacro(module: "AuthorMacros", type: "PreviewMacro")

/// Source: `DeveloperToolsSupport.Preview`.
public struct Preview: Sendable {
  /// Source: `Preview.ViewTraits`.
  public struct ViewTraits: Sendable {}
}

/// Source: `DeveloperToolsSupport.PreviewTrait`.
public struct PreviewTrait<T>: Sendable {}

extension PreviewTrait where T == Preview.ViewTraits {
  public static var defaultLayout: PreviewTrait<T> { PreviewTrait() }
  public static var sizeThatFitsLayout: PreviewTrait<T> { PreviewTrait() }
  public static func fixedLayout(width: CGFloat, height: CGFloat) -> PreviewTrait<T> { PreviewTrait() }
  public static var landscapeLeft: PreviewTrait<T> { PreviewTrait() }
  public static var portrait: PreviewTrait<T> { PreviewTrait() }
}

/// Source: `SwiftUI.PreviewProvider`.
@MainActor @preconcurrency public protocol PreviewProvider {
  associatedtype Previews: View
  @ViewBuilder static var previews: Self.Previews { get }
}

/// Source: `SwiftUI.PreviewContext`.
public protocol PreviewContext {
  subscript<Key: PreviewContextKey>(key: Key.Type) -> Key.Value { get }
}

/// Source: `SwiftUI.PreviewContextKey`.
public protocol PreviewContextKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

/// Source: `SwiftUI.PreviewDevice`.
public struct PreviewDevice: RawRepresentable, ExpressibleByStringLiteral, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }
}

/// Source: `SwiftUI.PreviewLayout`.
public enum PreviewLayout: Sendable {
  case device
  case sizeThatFits
  case fixed(width: CGFloat, height: CGFloat)
}

extension View {
  /// Has no effect.
  nonisolated public func previewContext<C: PreviewContext>(_ value: C) -> some View { self }
  /// Has no effect.
  nonisolated public func previewDisplayName(_ value: String?) -> some View { self }
  /// Has no effect.
  nonisolated public func previewDevice(_ value: PreviewDevice?) -> some View { self }
  /// Has no effect.
  nonisolated public func previewLayout(_ value: PreviewLayout) -> some View { self }
}
