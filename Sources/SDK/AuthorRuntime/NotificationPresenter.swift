// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How this process asks the author about an alert that arrives while the app is in front. `UserNotifications` sets it, and
/// `UIKit` uses it, so that an app without a delegate of its notification centre links neither for the other.
package final class NotificationPresenter: Sendable {
  /// - Parameter payload: the JSON as the provider sent it.
  /// - Returns: what is presented, such as `banner, sound`; `nil` when the author has no such method.
  package typealias Present = @Sendable @MainActor (_ payload: String) async -> String?

  private let current = Mutex<Present?>(nil)

  package static func of(_ process: HostedProcess) -> NotificationPresenter {
    process.part(NotificationPresenter.self) { _ in NotificationPresenter() }
  }

  package var present: Present? {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }
}
