// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

// Which devices are in memory.

extension PushStateMachine {
  /// The device whose kept notifications must be loaded before the event is handled; `nil` for none.
  func missing(for event: Event) -> String? {
    let device: String
    switch event {
    case .accepted(let push): device = push.notification.subject.device
    case .reach(let returned, let isOnline, _, _):
      guard isOnline else { return nil }
      device = returned
    case .returned(let returned):
      guard canReach(returned) else { return nil }
      device = returned
    case .presence(let returned, let isPresent, let generation):
      guard isPresent, let reach = reaches[returned], reach.generation == generation, reach.isOnline else { return nil }
      device = returned
    case .tokenEnded(_, let subject), .ended(let subject): device = subject.device
    // The notification was sent, so its device is in memory, unless a shared store has failed since then.
    case .acknowledged(_, let subject), .refused(_, let subject, _): device = subject.device
    case .restored(let restored): device = restored
    case .timerFired: return nil
    }
    return devices[device] == nil ? device : nil
  }

  /// Whether a device is connected and has a network.
  func canReach(_ device: String) -> Bool { reaches[device].map { $0.isPresent && $0.isOnline } ?? false }

  /// Adds what is kept for a device, in the order of the numbers. The previous process instance may have sent all but the
  /// last of those of a subject that were stored, and those that were not.
  mutating func load(_ device: String, _ kept: [StoredPush]) {
    var loaded = Device(round: round)
    for push in kept {
      var queue = loaded.queues[push.notification.subject] ?? SubjectQueue()
      if push.isHeld ?? push.notification.isFromStorage {
        if let former = queue.held { queue.sent.append(former) }
        queue.held = push
      } else {
        queue.sent.append(push)
      }
      loaded.queues[push.notification.subject] = queue
    }
    devices[device] = loaded
  }

  /// Removes what is kept for devices from memory. Whether they can be reached stays.
  mutating func unload(_ devices: some Sequence<String>) {
    for device in devices { self.devices[device] = nil }
  }

  /// Removes all devices of connections from memory, because another replica decides about them.
  mutating func forget(_ connections: Set<String>) {
    devices = devices.filter { !connections.contains(PushSubject.connection(of: $0.key)) }
    reaches.forget(connections)
  }

  /// The devices in memory of a connection that can be reached, or that could when they were connected last.
  func known(of connections: Set<String>) -> [String] {
    reaches.known(of: connections)
  }

  /// Removes idle devices from memory, when there are many. Call when all actions are performed.
  mutating func removeIdle() {
    guard devices.count >= bound else { return }
    devices = devices.filter { _, device in device.round == round || !device.queues.values.allSatisfy(\.isIdle) }
    round += 1
    bound = devices.count + settings.idleDevices
  }
}
