// SPDX-License-Identifier: Apache-2.0

import Messages

/// The notes about fleets.
enum FleetNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .constant(JoinFleet.self),
    .reply(to: JoinFleet.self) { _ in "joined" },
    .note(ChangeFleetTokens.self) { request in
      request.changes.map { "\($0.action.rawValue) \($0.use.rawValue) of \($0.devices.count) devices" }
        .joined(separator: ", ")
    },
    .note(FleetReach.self) { reach in
      let parts = [
        ("online", reach.online), ("offline", reach.offline), ("awake", reach.awake), ("asleep", reach.asleep),
      ]
      return parts.filter { !$0.1.isEmpty }.map { "\($0.1.count) \($0.0)" }.joined(separator: ", ")
    },
    .note(DeliverToFleet.self) { "\($0.notifications.count) notifications" },
    .reply(to: DeliverToFleet.self) { $0.refused.isEmpty ? "on disk" : "\($0.refused.count) refused" },
    .note(CountFleetPushes.self) { $0.fleet },
    .reply(to: CountFleetPushes.self) { "\($0.counts.count) counts" },
    .constant(FleetStatus.self),
    .reply(to: FleetStatus.self) { "\($0.online) of \($0.devices) online" },
    .note(ListFleetDevices.self) { "from \($0.first)" },
    .reply(to: ListFleetDevices.self) { "\($0.devices.count) devices" },
    .note(SetFleetNetwork.self) { $0.isOn ? "on" : "off" },
  ]
}
