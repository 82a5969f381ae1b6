// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import DeviceRules
import Messages
import OwnedTasks

// The services of the device's core, and what takes the device several steps.

extension Device {
  func connectServices() {
    core.connect(launcher)
    core.connect(apps)
    core.connect(conditions)
    core.connect(transfers)
    core.connect(timelines)
    core.connect(pushes)
    core.connect(gallery)
    core.connect(activities)
    core.performOutside { [weak self] in self?.perform($0) }
  }

  private func perform(_ action: DeviceAction) {
    switch action {
    case .instanceEnded(let address, _): intents.ended(address)
    case .activities(.started(let app)):
      // Not awaited: the author's code may take its time.
      tasks.start { [self] in await launchForToken(.app(configuration.device.name, app), app) }
    case .launching, .apps, .conditions, .settings, .loading, .delivery, .timelines, .tokens, .notifications, .gallery,
      .activities, .ask, .sessionTaken, .endTasks, .network:
      break
    }
  }
}
