// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages

// The requests of operators.

extension FleetService {
  /// Devices of a page, whose tokens fit into an envelope.
  private static let page = 200

  nonisolated func listenToOperators() {
    bus.onRequest(FleetStatus.self) { [weak self] _, _ in
      guard let self else { throw BusError(.closed, "the fleet is ending") }
      return await state()
    }
    bus.onRequest(ListFleetDevices.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the fleet is ending") }
      return await list(request)
    }
    bus.onRequest(SetFleetNetwork.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the fleet is ending") }
      await setNetwork(request.isOn)
      return Done()
    }
  }

  private func setNetwork(_ isOn: Bool) {
    guard machine.isCutOff == isOn else { return }
    machine.isCutOff = !isOn
    reportAll()
  }

  func state() -> FleetState {
    noteReady()
    var state = FleetState()
    state.name = plan.name
    state.pid = getpid()
    state.seed = plan.seed
    state.profile = profileName
    state.devices = plan.devices
    let tally = machine.tally
    state.installed = tally.installed
    state.online = machine.isCutOff ? 0 : tally.online
    state.asleep = plan.devices - tally.awake
    state.isCutOff = machine.isCutOff
    state.activities = machine.live.activities.count
    state.isReady = isReady
    state.readyAfter = readyAfter
    state.time = now
    state.speed = plan.profile.speed
    state.events = tally.events
    state.tokens = tally.state
    state.registration = registration
    state.received = figures.received
    state.liveActivities = figures.activities
    state.seconds = seconds
    return state
  }

  private func list(_ request: ListFleetDevices) -> ListFleetDevices.Reply {
    let first = min(request.first, UInt32(plan.devices))
    let end = min(first + UInt32(max(1, min(request.limit, Self.page))), UInt32(plan.devices))
    let devices = (first..<end).map { device -> ListFleetDevices.Device in
      let flags = machine.devices.flags[Int(device)]
      let activities = machine.live.numbers(of: device)
      let references =
        (0..<FleetDevices.slots).map { TokenReference(device, slot: $0) }
        + activities.map { TokenReference(device, activity: UInt16($0)) }
      let tokens = references.compactMap { reference -> ListFleetDevices.Token? in
        let phase = machine.cell(reference).phase
        guard phase == .issued || phase == .registered, let text = text(of: reference) else { return nil }
        return ListFleetDevices.Token(
          use: reference.use, bundle: bundle(of: reference.use), token: text, isRegistered: phase == .registered)
      }
      return ListFleetDevices.Device(
        id: FleetDevice.id(plan.name, device), isInstalled: flags.contains(.installed),
        isOnline: machine.isOnline(device),
        isAwake: flags.contains(.awake), events: Int(machine.devices.events[Int(device)]),
        received: Int(machine.devices.received[Int(device)]), tokens: tokens, activities: activities)
    }
    return ListFleetDevices.Reply(devices: devices, next: end < UInt32(plan.devices) ? end : nil)
  }
}
