// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `SwiftUI.OpenURLAction`. No URL is opened while views are archived.
nonisolated public struct OpenURLAction: Sendable {
  /// Does nothing.
  @MainActor @preconcurrency public func callAsFunction(_ url: URL) {}
}

/// Source: `SwiftUI.LegibilityWeight`.
public enum LegibilityWeight: Hashable, Sendable {
  case regular
  case bold
}
