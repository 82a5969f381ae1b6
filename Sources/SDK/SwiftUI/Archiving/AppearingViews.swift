// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime

/// The actions of `onAppear` of the views that are archived, by the view in whose body they are.
@MainActor package final class AppearingViews {
  /// How deep evaluations again may be within each other: of nested views with an action, each evaluates those within it
  /// again.
  private static let deepest = 6
  /// How often bodies may still be evaluated again, so that no view is evaluated without end.
  private var left = 10_000
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
    // A body around this one whose actions are still to be called evaluates it again.
    guard left > 0, bodies.allSatisfy({ $0?.isEmpty != false }) else { return false }
    guard bodies.count(where: { $0 == nil }) < Self.deepest else { return false }
    left -= 1
    return true
  }

  private func call(_ action: () -> Void) {
    guard let process = HostedProcess.current else { return action() }
    process.asCurrent(HostedProcess.currentContext, within: HostedProcess.appearance, action)
  }
}
