// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime

/// The actions of `onAppear` of the views that are archived, by the view in whose body they are.
@MainActor package final class AppearingViews {
  /// How often bodies may still be evaluated again: each of nested views with an action evaluates those within it again.
  private var left = 64
  /// The actions of the bodies that are being evaluated, the innermost last; `nil` when they were called.
  private var bodies: [[() -> Void]?] = []

  package init() {}

  /// Begins a body.
  ///
  /// - Parameter again: whether its actions were called.
  func begin(again: Bool = false) { bodies.append(again ? nil : []) }

  func add(_ action: @escaping () -> Void) {
    guard !bodies.isEmpty else { return call(action) }
    bodies[bodies.count - 1]?.append(action)
  }

  /// Ends the innermost body, and calls its actions.
  ///
  /// - Returns: whether the body is to be evaluated again.
  func end() -> Bool {
    guard let actions = bodies.removeLast(), !actions.isEmpty else { return false }
    for action in actions { call(action) }
    guard left > 0 else { return false }
    left -= 1
    return true
  }

  private func call(_ action: () -> Void) {
    guard let process = HostedProcess.current else { return action() }
    process.asCurrent(HostedProcess.currentContext, within: HostedProcess.appearance, action)
  }
}

/// A view with an action of `onAppear`.
nonisolated struct AppearingView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let action: (() -> Void)?

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    if let action { context.environment.appearing?.add(action) }
    return content
  }
}

/// A view with a `task`, which is never called: the diagnosis `loader-in-view` names it.
nonisolated struct LoadingView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    if context.environment.appearing != nil {
      HostedProcess.current?.noticeLoader("task", "its closure is never called in a widget")
    }
    return content
  }
}
