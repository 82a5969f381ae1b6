package import Archive
package import Conversations
package import Foundation

/// What Pushes asks of the rest of the host, in order.
package enum PushIntent: Sendable, Equatable {
  /// Have the process run and keep it running until `release`; then say `awake`.
  case wantAwake(Address, because: String)
  case release(Address, because: String)
  /// End the process: it had its time.
  case evict(Address, why: String)
  /// A widget push is to be turned into reloads: ask `begin` for the placements.
  case reload(UUID)
  /// A notification is for the app. `wakes`: also when the app is not in front. Say `expect`, `shown` or `discarded`.
  case handOver(UUID, to: Address, wakes: Bool)
  /// The database of the room cannot be written any longer: the host must not go on.
  case broken(String)
}

/// An app or an extension, as far as pushes go.
package struct PushProduct: Sendable, Hashable {
  package let address: Address
  /// The containing app's bundle identifier; its own for an app.
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

/// The widgets of one extension, as far as pushes go.
package struct PushWidgets: Sendable, Hashable {
  /// The types of `pushHandler(_:)`, each once.
  package let handlers: [String]
  /// Those of its placed widgets that have one.
  package let placements: [Placement]
  package init(handlers: [String], placements: [Placement]) {
    self.handlers = handlers
    self.placements = placements
  }
}

/// A device token's name on this device.
package struct TokenKey: Codable, Hashable, Sendable {
  /// The containing app's bundle identifier.
  package let bundle: String
  package let use: PushTokenUse
  package init(_ bundle: String, _ use: PushTokenUse) {
    self.bundle = bundle
    self.use = use
  }
}

/// What became of a widget push at one placement, by the word of Timelines.
package enum ReloadOutcome: Sendable, Equatable {
  /// It is to come.
  case owed
  /// The budget lets it wait.
  case delayed(rule: String, until: Date?)
  /// It will not come.
  case refused(rule: String)
  case stored
  /// Tried again.
  case failed(String)
  /// Not tried again.
  case gaveUp(String)
  /// A newer push stands for it.
  case superseded
}

/// What one placement came to.
package struct PlacementReport: Sendable, Equatable {
  package let push: UUID
  package let placement: Int
  package let outcome: ReloadOutcome
  package init(push: UUID, placement: Int, outcome: ReloadOutcome) {
    self.push = push
    self.placement = placement
    self.outcome = outcome
  }
}
