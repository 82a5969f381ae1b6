// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The result of a widget push at one placement. Timelines reports it, and Pushes reports it to the push server.
package struct PlacementReloadReport: Sendable, Equatable {
  /// `apns-unique-id`.
  package let push: UUID
  package let placement: Int
  package let outcome: ReloadOutcome

  package init(push: UUID, placement: Int, outcome: ReloadOutcome) {
    self.push = push
    self.placement = placement
    self.outcome = outcome
  }
}

/// The state of a reload that a widget push requested.
package enum ReloadOutcome: Codable, Sendable, Equatable {
  /// Paid, or being decided: the extension is to be asked.
  case pending
  /// The budget delays the reload.
  case delayed(rule: String, until: Date?)
  /// The reload is refused.
  case refused(rule: String)
  /// A timeline that was requested after the push is stored.
  case stored
  /// The reload failed, and is tried again.
  case failed(String)
  /// The reload failed, and is not tried again.
  case gaveUp(String)
  /// A newer push replaced it.
  case superseded
}
