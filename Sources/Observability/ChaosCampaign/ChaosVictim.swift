// SPDX-License-Identifier: Apache-2.0

/// A process that a campaign may disturb, by its name in `widgetlab up`; `extension` and `app` are launched by the
/// device.
package struct ChaosVictim: RawRepresentable, Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
  /// `message-bus`, `host`, `agent-1`, `push-server`, `provider`, `extension`, `app`.
  package let rawValue: String

  /// Creates a victim from its name.
  package init(rawValue: String) { self.rawValue = rawValue }

  package static let messageBus = ChaosVictim(rawValue: "message-bus")
  package static let host = ChaosVictim(rawValue: "host")
  package static let pushServer = ChaosVictim(rawValue: "push-server")
  package static let provider = ChaosVictim(rawValue: "provider")
  package static let widgetExtension = ChaosVictim(rawValue: "extension")
  package static let app = ChaosVictim(rawValue: "app")

  /// An agent, by its number.
  package static func agent(_ number: Int) -> ChaosVictim { ChaosVictim(rawValue: "agent-\(number)") }

  /// The processes of the sample with one agent.
  package static let sample: [ChaosVictim] = [
    .messageBus, .host, .agent(1), .pushServer, .provider, .widgetExtension, .app,
  ]

  /// Whether the device launches it when it is needed; a standing process always runs.
  package var isLaunched: Bool { self == .widgetExtension || self == .app }

  var isAgent: Bool { rawValue.hasPrefix("agent-") }

  package var description: String { rawValue }

  package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

  /// The order of reports: as `up` starts them, then what the device launches.
  private var rank: String {
    let order = [Self.messageBus, .host, .agent(1), .agent(2), .pushServer, .provider, .widgetExtension, .app]
    return "\(order.firstIndex(of: self) ?? order.count)\(rawValue)"
  }
}
