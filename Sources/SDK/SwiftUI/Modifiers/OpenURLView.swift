// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// Collects the `onOpenURL(perform:)` actions of an app's views while they are traversed.
@MainActor final class OpenURLActions {
  fileprivate(set) var found: [(URL) -> Void] = []

  nonisolated init() {}
}

extension EnvironmentValues {
  private struct OpenURLActionsKey: EnvironmentKey {
    static var defaultValue: OpenURLActions? { nil }
  }

  /// Where the actions of `onOpenURL(perform:)` are collected; `nil` where they are not needed, as in a widget.
  var openURLActions: OpenURLActions? {
    get { self[OpenURLActionsKey.self] }
    set { self[OpenURLActionsKey.self] = newValue }
  }
}

/// A view with an `onOpenURL(perform:)` action. The archive contains only its content.
nonisolated struct OpenURLView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let action: (URL) -> Void

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    context.environment.openURLActions?.found.append(action)
    return content
  }
}
