// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Stores

extension StoreFaultPoints {
  /// The fault points of the device's database, by table.
  static let host: [String: StoreFaultPoints] = {
    let groups: [(StoreFaultPoints, tables: [String])] = [
      (
        StoreFaultPoints(before: .hostBeforeTasksSaved, after: .hostAfterTasksSaved), ["sessions", "tasks", "limiters"]
      ),
      (
        StoreFaultPoints(before: .hostBeforeDeliveriesSaved, after: .hostAfterDeliveriesSaved),
        ["deliveries", "acknowledgedTasks", "syncs"]
      ),
      (
        StoreFaultPoints(before: .hostBeforeInstancesSaved, after: .hostAfterInstancesSaved), ["instances", "agents"]
      ),
      (
        StoreFaultPoints(before: .hostBeforeTimelinesSaved, after: .hostAfterTimelinesSaved),
        ["placed", "kinds", "timelineFacts", "entries", "ledger", "images", "entryImages"]
      ),
      (
        StoreFaultPoints(before: .hostBeforeScreenSaved, after: .hostAfterScreenSaved),
        [
          "declarations", "placements", "metKinds", "launchedApps", "screen", "stacks", "activities", "activityViews",
        ]
      ),
      (
        StoreFaultPoints(before: .hostBeforePushesSaved, after: .hostAfterPushesSaved),
        ["pushTokens", "takenPushes", "openPushes", "pushSteps"]
      ),
      (
        StoreFaultPoints(before: .hostBeforeSettingsSaved, after: .hostAfterSettingsSaved),
        ["deviceSettings", "containers"]
      ),
    ]
    return Dictionary(
      uniqueKeysWithValues: groups.flatMap { group in group.tables.map { ($0, group.0) } })
  }()
}
