// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import DeviceRules
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Stores
import Timekeeping

// What the device's state machine asks of the gallery and of Live Activities, and these of it.

extension Device {
  func connectServices() {
    core.connect(launcher)
    core.connect(apps)
    core.connect(conditions)
    core.connect(transfers)
    core.connect(timelines)
    core.connect(pushes)
    core.performOutside { [weak self] in self?.perform($0) }
    gallery.processActions.receive { [core] in core.handle(.asked(.process($0))) }
    gallery.outputs.receive { [weak self] in self?.route($0) }
    activities.outputs.receive { [weak self] in self?.route($0) }
  }

  private func perform(_ action: DeviceAction) {
    switch action {
    case .launched(let app): launched(app)
    case .instanceEnded(let address, _):
      intents.ended(address)
      activities.ended(address)
      endedOnScreen(address)
    case .archiveActivities: activities.settingsChanged()
    case .relevanceChanged: sendRelevances()
    case .activity(let notification): take(notification)
    case .activityToken(let key, let token): setActivityToken(key, token)
    case .launching, .apps, .conditions, .settings, .loading, .delivery, .timelines, .tokens, .notifications, .ask,
      .sessionTaken, .endTasks, .network:
      break
    }
  }

  private func route(_ output: GalleryOutput) {
    switch output {
    case .screen(let now, let before):
      keepAwake(now.activities, before.activities)
      sendVisiblePlacements()
    case .awaitLaunch(let address, let limit):
      // The launch service has been asked to launch it.
      tasks.start { [launcher, gallery] in
        if await launcher.launchOutcome(of: address, within: limit) != nil { await gallery.launchFailed(address) }
      }
    case .stackTurned: sendVisiblePlacements()
    case .systemChanged(let setting): sendSystemChanged(setting)
    case .background(let app):
      guard let address = configuration.product(app)?.address(on: configuration.device.name) else { return }
      core.handle(.front(app: address, false))
      core.handle(.apps(.leftForeground(address)))
    case .restarted: launcher.evictAll(why: "the device restarts")
    case .broken(let reason): broken(reason)
    }
  }
}
