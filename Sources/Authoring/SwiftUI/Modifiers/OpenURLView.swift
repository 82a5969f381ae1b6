import Archive
import Foundation

/// What an app's views do with a URL, found on the way through them.
@MainActor final class OpenURLActions {
  fileprivate(set) var found: [(URL) -> Void] = []

  nonisolated init() {}
}

extension EnvironmentValues {
  private struct OpenURLActionsKey: EnvironmentKey {
    static var defaultValue: OpenURLActions? { nil }
  }

  /// Where `onOpenURL(perform:)` is noted; `nil` where nobody asks, as in a widget.
  var openURLActions: OpenURLActions? {
    get { self[OpenURLActionsKey.self] }
    set { self[OpenURLActionsKey.self] = newValue }
  }
}

/// A view that wants to hear of URLs. It leaves no trace in the archive.
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
