// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages
package import ProcessActions

/// What Pushes requests from the rest of the host, in order.
package enum PushOutput: Sendable, Equatable {
  /// What a process is needed for.
  case process(ProcessAction)
  /// Reload these placements because of a widget push. The push waits for the result of each.
  case reload(UUID, placements: [Int])
  /// A notification is for the app. `wakes`: also in the background. Call `expect`, `shown` or `discarded`.
  case handOver(UUID, to: Address, wakes: Bool)
  /// The database can no longer be written: the host must stop.
  case broken(String)
}

/// The properties of an app or an extension that concern pushes.
package struct PushProduct: Sendable, Hashable {
  package let address: Address
  /// The containing app's bundle identifier; for an app, that of the app.
  package let app: String
  /// Its entitlement `aps-environment`; `nil` without one.
  package let environment: PushEnvironment?

  package init(address: Address, app: String, environment: PushEnvironment?) {
    self.address = address
    self.app = app
    self.environment = environment
  }

  var bundle: String { address.bundleIdentifier ?? address.short }
}

/// The widgets of one extension that concern pushes.
package struct PushWidgets: Sendable, Hashable {
  /// The types of `pushHandler(_:)`, without duplicates.
  package let handlers: [String]
  /// Its placed widgets that have a push handler.
  package let placements: [Placement]
  package init(handlers: [String], placements: [Placement]) {
    self.handlers = handlers
    self.placements = placements
  }
}

/// The key of a device token on this device.
package struct TokenKey: Codable, Hashable, Sendable {
  /// The containing app's bundle identifier.
  package let bundle: String
  package let use: PushTokenUse
  package init(_ bundle: String, _ use: PushTokenUse) {
    self.bundle = bundle
    self.use = use
  }
}

/// The result of a widget push at one placement, as Timelines reports it.
package enum ReloadOutcome: Sendable, Equatable {
  /// The reload is pending.
  case pending
  /// The budget delays the reload.
  case delayed(rule: String, until: Date?)
  /// The reload is refused.
  case refused(rule: String)
  case stored
  /// The reload failed, and is tried again.
  case failed(String)
  /// The reload failed, and is not tried again.
  case gaveUp(String)
  /// A newer push replaced it.
  case superseded
}

/// The result of a push at one placement.
package struct PlacementReloadReport: Sendable, Equatable {
  package let push: UUID
  package let placement: Int
  package let outcome: ReloadOutcome
  package init(push: UUID, placement: Int, outcome: ReloadOutcome) {
    self.push = push
    self.placement = placement
    self.outcome = outcome
  }
}
