// SPDX-License-Identifier: Apache-2.0

extension MessageTable {
  static let fleets: [MessageEntry] = [
    .request(
      JoinFleet.self, [Route([.fleet], to: .pushServer)], "A fleet joins, and gets the secret of its device tokens.",
      failure: "A retry is safe; fleet-exists: another fleet has this name."),
    .request(
      ChangeFleetTokens.self, [Route([.fleet], to: .pushServer)], "Issues or ends device tokens of many devices.",
      failure: "A retry is safe."),
    .event(FleetReach.self, [Route([.fleet], to: .pushServer)], "Which devices of a fleet are reachable."),
    .request(
      DeliverToFleet.self, [Route([.pushServer], to: .fleet)],
      "Notifications for devices of a fleet; the reply follows when they are on disk.",
      failure: "They are sent again, and recognised by their ids."),
    .request(
      CountFleetPushes.self, [Route([.fleet, .operator], to: .pushServer)],
      "Counts the requests about devices of a fleet by result, and its device tokens.",
      failure: "Nothing changed; retry."),
    .request(
      FleetStatus.self, [Route([.operator], to: .fleet)], "Returns the state and the figures of a fleet.",
      failure: "Nothing changed; retry."),
    .request(
      ListFleetDevices.self, [Route([.operator], to: .fleet)], "Lists devices of a fleet with their tokens, in pages.",
      failure: "Nothing changed; retry."),
    .request(
      SetFleetNetwork.self, [Route([.operator], to: .fleet)],
      "Takes the network from all devices of a fleet, or gives it back.", failure: "A retry is safe."),
  ]
}
