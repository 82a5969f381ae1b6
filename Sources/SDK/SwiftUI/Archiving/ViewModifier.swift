// SPDX-License-Identifier: Apache-2.0

import Archive

/// Source: `SwiftUI.ViewModifier`.
@MainActor @preconcurrency public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = _ViewModifier_Content<Self>
  @ViewBuilder @MainActor @preconcurrency func body(content: Self.Content) -> Self.Body
}

/// Source: `SwiftUI._ViewModifier_Content`.
nonisolated public struct _ViewModifier_Content<Modifier: ViewModifier>: View, WrappingView {
  public typealias Body = Never
  fileprivate let view: any View

  func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    view
  }
}

/// Source: `SwiftUI.ModifiedContent`.
nonisolated public struct ModifiedContent<Content, Modifier> {
  public var content: Content
  public var modifier: Modifier
  public init(content: Content, modifier: Modifier) {
    self.content = content
    self.modifier = modifier
  }
}

extension ModifiedContent: View, WrappingView where Content: View, Modifier: ViewModifier {
  public typealias Body = Never

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View {
    try context.descend(into: self)
    return context.environment.during { modifier.body(content: _ViewModifier_Content(view: content)) }
  }
}

/// Source: `SwiftUI.AnimatableModifier`. An archived view does not change, so its data has its last value.
public protocol AnimatableModifier: Animatable, ViewModifier {}

/// Source: `SwiftUI.EmptyModifier`.
public struct EmptyModifier: ViewModifier {
  public static let identity = EmptyModifier()
  public init() {}
  public func body(content: Content) -> some View { content }
}

extension View {
  nonisolated public func modifier<T: ViewModifier>(_ modifier: T) -> ModifiedContent<Self, T> {
    ModifiedContent(content: self, modifier: modifier)
  }
}
