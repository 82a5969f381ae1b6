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
  /// Connects the services: what one asks of another is done after the call in which it asks, in order.
  func connectServices() {
    for actions in [apps.processActions, timelines.processActions, gallery.processActions, pushes.processActions] {
      actions.receive { [launcher] in launcher.perform($0) }
    }
    let launches = parts.launchesForEvents
    transfers.processActions.receive { [launcher] in launcher.perform(launches ? $0 : $0.withoutWake) }
    timelines.reports.receive { [pushes] in pushes.reported($0) }
    launcher.outputs.receive { [weak self] in self?.route($0) }
    apps.outputs.receive { [weak self] in self?.route($0) }
    conditions.outputs.receive { [weak self] in self?.route($0) }
    transfers.outputs.receive { [weak self] in self?.route($0) }
    timelines.outputs.receive { [weak self] in self?.route($0) }
    gallery.outputs.receive { [weak self] in self?.route($0) }
    activities.outputs.receive { [weak self] in self?.route($0) }
    pushes.outputs.receive { [weak self] in self?.route($0) }
  }

  private func route(_ output: LaunchOutput) {
    switch output {
    case .awake(let address, let instance, false, let because?) where because.isForEvents:
      // An answer to transfers, which nothing else waits for.
      transfers.awake(address, generation: instance.generation, woken: false, because: because)
    case .awake(let address, let instance, let woken, _):
      // The first three are known to the process or to its transfers before their events are delivered.
      if address.role == .app { setFront(address, launcher.isInFront(address)) }
      conditions.runs(address, generation: instance.generation)
      transfers.awake(address, generation: instance.generation, woken: woken)
      if address.role == .widgetExtension { timelines.awake(address) }
      if address.role == .app { launched(address) }
      pushes.awake(address)
      if address.role == .app { apps.awake(address) }
    case .suspended(let address, let instance):
      conditions.suspended(address, generation: instance.generation)
      transfers.suspended(address, generation: instance.generation)
    case .ended(let address, let instance, _):
      if address.role == .app { setFront(address, false) }
      // Before all others: it stops messages to this instance. The next one is launched when this output is handled.
      transfers.ended(address, generation: instance.generation)
      intents.ended(address)
      conditions.ended(address, generation: instance.generation)
      if address.role == .app { apps.ended(address, isQuit: launcher.isQuit(address)) }
      if address.role == .widgetExtension { timelines.ended(address) }
      pushes.ended(address)
      activities.ended(address)
      endedOnScreen(address)
    case .launchesPrevented(let address): apps.launchesPrevented(address)
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ output: AppLifecycleOutput) {
    switch output {
    case .cancelTransfers(let app):
      let keys = transfers.markQuit(app)
      tasks.start(holding: clock) { [transfers, broken] in
        do {
          try await transfers.end(keys)
        } catch {
          broken("the transfers of \(app) cannot be cancelled: \(error)")
        }
      }
    case .preventLaunches(let products, let why): launcher.preventLaunches(products, why: why)
    case .allowLaunches(let products): launcher.allowLaunches(products)
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ output: DeviceConditionsOutput) {
    switch output {
    case .networkChanged(let state):
      transfers.setNetwork(state)
      pushes.setOnline(state.path != .off)
    case .settingChanged(let change, let settings): settingChanged(change, settings)
    }
  }

  private func route(_ output: TransferOutput) {
    switch output {
    case .broken(let reason): broken(reason)
    }
  }

  private func route(_ output: TimelineOutput) {
    switch output {
    case .relevanceChanged: sendRelevances()
    case .broken(let reason): broken(reason)
    }
  }

  /// Handles what a notification requests of other services.
  private func handling(_ push: UUID, _ body: () -> Void) { pushes.underWay.handle(.notification(push), body) }

  private func route(_ output: PushOutput) {
    switch output {
    case .reload(let push, let placements): handling(push) { reload(placements, because: push) }
    case .offer(let push, let app, let wakes): handling(push) { offer(push, to: app, wakes: wakes) }
    case .activity(let notification): handling(notification.uniqueID) { take(notification) }
    case .activityToken(let key, let token): setActivityToken(key, token)
    case .broken(let reason): broken(reason)
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
      setFront(address, false)
      apps.leftForeground(address)
    case .restarted: launcher.evictAll(why: "the device restarts")
    case .broken(let reason): broken(reason)
    }
  }

  /// An app entered the foreground, left it or exited.
  private func setFront(_ app: Address, _ isInFront: Bool) {
    transfers.setFront(app, isInFront)
    timelines.appIsInFront(app, isInFront)
  }
}
