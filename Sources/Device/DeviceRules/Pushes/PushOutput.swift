// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// What Pushes requests from the rest of the host, in order.
package enum PushOutput: Sendable, Equatable {
  /// Reload these placements because of a push to widgets or a control. The push waits for the result of each.
  case reload(UUID, placements: [Int])
  /// A notification is for the app. `wakes`: also in the background. Call `expect`, `shown` or `discarded`.
  case offer(UUID, to: Address, wakes: Bool)
  /// A notification is for a Live Activity, or starts one. Call `performed`.
  case activity(PushedNotification)
  /// The token of a Live Activity, or one that starts Live Activities, lower-case hexadecimal; `nil` for none.
  case activityToken(TokenKey, String?)
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

/// The widgets and controls of one extension that concern pushes.
package struct PushWidgets: Sendable, Hashable {
  /// The widgets' types of `pushHandler(_:)`, without duplicates.
  package let handlers: [String]
  /// Its placed widgets that have a push handler.
  package let placements: [Placement]
  /// Its placed widgets without a push handler that a push reloads nevertheless.
  package let others: [Placement]
  /// The controls' types of `pushHandler(_:)`, without duplicates.
  package let controlHandlers: [String]
  /// Its placed controls that have a push handler.
  package let controls: [Placement]
  package init(
    handlers: [String] = [], placements: [Placement] = [], others: [Placement] = [], controlHandlers: [String] = [],
    controls: [Placement] = []
  ) {
    self.handlers = handlers
    self.placements = placements
    self.others = others
    self.controlHandlers = controlHandlers
    self.controls = controls
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

extension TokenKey: Comparable {
  package static func < (left: TokenKey, right: TokenKey) -> Bool {
    (left.bundle, "\(left.use)") < (right.bundle, "\(right.use)")
  }
}
