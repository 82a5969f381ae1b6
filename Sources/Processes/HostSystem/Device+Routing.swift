// SPDX-License-Identifier: Apache-2.0

import Activities
import Apps
import Cluster
import Conditions
import Foundation
import Gallery
import Launching
import MessageBus
import Messages
import OwnedTasks
import ProcessActions
import Pushes
import Stores
import Timekeeping
import Timelines
import Transfers

// The outputs of the services, each with its receivers in order.

extension Device {
  /// Begins to read the outputs of all services, and connects the two paths that need no routing: what services need
  /// from processes goes to the launch service, and the results of widget pushes go to the push service.
  func routeOutputs() async {
    for actions in [apps.processActions, timelines.processActions, gallery.processActions, pushes.processActions] {
      await launcher.perform(actions)
    }
    await launcher.perform(transfers.processActions, launches: parts.launchesForEvents)
    await pushes.take(timelines.reports)
    tasks.start { [self, launcher] in
      for await output in launcher.outputs { await route(output) }
    }
    tasks.start { [self, apps] in for await output in apps.outputs { await route(output) } }
    tasks.start { [self, conditions] in for await output in conditions.outputs { await route(output) } }
    tasks.start { [self, transfers] in for await output in transfers.outputs { await route(output) } }
    tasks.start { [self, timelines] in for await output in timelines.outputs { await route(output) } }
    tasks.start { [self, gallery] in for await output in gallery.outputs { await route(output) } }
    tasks.start { [self, activities] in for await output in activities.outputs { await route(output) } }
    tasks.start { [self, pushes] in for await output in pushes.outputs { await route(output) } }
  }

  private func route(_ output: LaunchOutput) async {
    switch output {
    case .awake(let address, let instance, false, let because?) where because.isForEvents:
      // An answer to transfers, which nothing else waits for.
      await transfers.awake(address, generation: instance.generation, woken: false, because: because)
    case .awake(let address, let instance, let woken, _):
      // The first three are known to the process or to its transfers before their events are delivered.
      if address.role == .app { await setFront(address, await launcher.isInFront(address)) }
      await conditions.runs(address, generation: instance.generation)
      await transfers.awake(address, generation: instance.generation, woken: woken)
      if address.role == .widgetExtension { await timelines.awake(address) }
      if address.role == .app { await launched(address) }
      await pushes.awake(address)
      if address.role == .app { await apps.awake(address) }
    case .suspended(let address, let instance):
      await conditions.suspended(address, generation: instance.generation)
      await transfers.suspended(address, generation: instance.generation)
    case .ended(let address, let instance, _):
      if address.role == .app { await setFront(address, false) }
      // Before all others: it stops messages to this instance. The next one is launched when this output is handled.
      await transfers.ended(address, generation: instance.generation)
      await intents.ended(address)
      await conditions.ended(address, generation: instance.generation)
      if address.role == .app { await apps.ended(address, isQuit: await launcher.isQuit(address)) }
      if address.role == .widgetExtension { await timelines.ended(address) }
      await pushes.ended(address)
      await activities.ended(address)
      await endedOnScreen(address)
    case .launchesPrevented(let address): await apps.launchesPrevented(address)
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ output: AppLifecycleOutput) async {
    switch output {
    case .cancelTransfers(let app):
      do {
        try await transfers.forceQuit(app)
      } catch {
        broken("the transfers of \(app) cannot be cancelled: \(error)")
      }
    case .preventLaunches(let products, let why): await launcher.preventLaunches(products, why: why)
    case .allowLaunches(let products): await launcher.allowLaunches(products)
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ output: DeviceConditionsOutput) async {
    switch output {
    case .networkChanged(let state):
      await transfers.setNetwork(state)
      await pushes.setOnline(state.path != .off)
    case .settingChanged(let change, let settings): await settingChanged(change, settings)
    }
  }

  private func route(_ output: TransferOutput) async {
    switch output {
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ output: TimelineOutput) async {
    switch output {
    case .relevanceChanged: await sendRelevances()
    case .broken(let reason): broken(reason)
    }
  }

  /// Handles what a notification requests of other services.
  private func handling(_ push: UUID, _ body: () async -> Void) async {
    pushes.underWay.begin(.notification(push))
    await body()
    pushes.underWay.end(.notification(push))
  }

  private func route(_ output: PushOutput) async {
    switch output {
    case .reload(let push, let placements): await handling(push) { await reload(placements, because: push) }
    case .offer(let push, let app, let wakes): await handling(push) { await offer(push, to: app, wakes: wakes) }
    case .activity(let notification): await handling(notification.uniqueID) { await take(notification) }
    case .activityToken(let key, let token): await setActivityToken(key, token)
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ output: GalleryOutput) async {
    switch output {
    case .screen(let now, let before):
      await keepAwake(now.activities, before.activities)
      await sendVisiblePlacements()
    case .awaitLaunch(let address, let limit):
      tasks.start { [launcher, gallery] in
        // The launch service has been asked to launch it by then.
        await gallery.processActions.passed()
        if await launcher.launchOutcome(of: address, within: limit) != nil { await gallery.launchFailed(address) }
      }
    case .stackTurned: await sendVisiblePlacements()
    case .systemChanged(let setting): await sendSystemChanged(setting)
    case .background(let app):
      guard let address = configuration.product(app)?.address(on: configuration.device.name) else { return }
      await setFront(address, false)
      await apps.leftForeground(address)
    case .restarted: await launcher.evictAll(why: "the device restarts")
    case .broken(let reason): broken(reason)
    }
  }

  /// An app entered the foreground, left it or exited.
  private func setFront(_ app: Address, _ isInFront: Bool) async {
    await transfers.setFront(app, isInFront)
    await timelines.appIsInFront(app, isInFront)
  }
}
