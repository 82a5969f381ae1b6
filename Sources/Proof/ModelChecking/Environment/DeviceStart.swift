// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Messages

/// The first steps of a host, in the order of `Device.resume`, without Live Activities. The searches and the simulation take
/// them from here.
enum DeviceStart: CaseIterable {
  case installedApps
  case conditions
  case delivery
  case loading
  case apps
  case gallery
  case pushes
  /// The notifications for apps themselves.
  case notifications
  case timelines
  case stacks

  /// Whether it is about widgets and pushes.
  var isOfWidgets: Bool {
    switch self {
    case .installedApps, .gallery, .pushes, .notifications, .stacks: true
    case .conditions, .delivery, .loading, .apps, .timelines: false
    }
  }

  /// The events of a step. They depend on what the earlier steps did.
  ///
  /// - Parameters:
  ///   - extensions: the bundles of the extensions that are installed.
  ///   - apps: the bundles of the apps that are installed.
  func events(
    of machine: inout DeviceStateMachine, extensions: Set<String>, apps: Set<String>
  ) -> [DeviceEvent] {
    switch self {
    case .installedApps: return [.gallery(.keep(extensions: extensions, apps: apps))]
    case .conditions:
      let running = Self.instances(.running, of: machine)
      return [.conditions(.began(running: running)), .settings(.began(running: running))]
    case .delivery:
      machine.delivery.suspendedInstances = Self.instances(.suspended, of: machine)
      return [.delivery(.began)]
    case .loading: return [.loading(.network(machine.conditions.network)), .loading(.began)]
    case .apps:
      let quit = machine.launching.processes.filter(\.value.isQuit).keys.sorted { $0.text < $1.text }
      return [.apps(.began(moving: [], quit: quit, inFront: machine.launching.frontApps))]
    case .gallery: return [.gallery(.began)]
    case .pushes:
      return [
        .pushWidgets(machine.pushWidgets, dropsRemoved: false), .tokens(.began),
        .notifications([.began(machine.timelines.reports)]),
      ]
    case .notifications:
      let others = machine.notifications.open.filter { !$0.reloads }
      return others.isEmpty ? [] : [.notifications(others.map { .resumed($0.id) })]
    case .timelines: return [.timelines(.began)]
    case .stacks: return [.gallery(.turnStacks)]
    }
  }

  private static func instances(
    _ state: LaunchStateMachine.State, of machine: DeviceStateMachine
  ) -> [Address: UInt32] {
    machine.launching.processes.compactMapValues { $0.state == state ? $0.instance?.generation : nil }
  }
}
