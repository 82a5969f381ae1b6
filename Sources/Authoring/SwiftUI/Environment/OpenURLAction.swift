public import Foundation

/// Opens URLs. Source: `SwiftUI.OpenURLAction`. Nothing is opened while views are archived.
nonisolated public struct OpenURLAction: Sendable {
  /// Nothing.
  @MainActor @preconcurrency public func callAsFunction(_ url: URL) {}
}

/// Whether text is to be bold. Source: `SwiftUI.LegibilityWeight`.
public enum LegibilityWeight: Hashable, Sendable {
  /// As usual.
  case regular
  /// Bold.
  case bold
}
