// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import Messages

// What the next host begins with. No function of the rules gives it: the services read it from the rows of their
// tables, and `StoredDevice` assembles it. Here each concern is made again from the parts that its store writes. All
// that a step has changed is written before its actions are performed (`DeviceCore.take`).

extension DeviceModel {
  /// The host is killed. What it had sent to a process has no reply any more, and no attempt is in progress.
  func hostExits(_ state: inout State, _ log: inout Log) {
    _ = state.agent.apply(.hostExits(forgetting: false), Self.address)
    state.restarts += 1
    state.machine = restored(state)
    state.author.attempts = []
    state.author.replies = []
    state.author.checks = []
    state.author.ends = []
    state.author.loads = [:]
    state.author.expired = []
    state.author.requests = []
    state.author.calls = []
    state.unwritten = []
  }

  /// `Device.resume`, without apps, activities and settings.
  func hostStarts(_ state: inout State, _ log: inout Log) {
    for step in DeviceStart.allCases where step != .apps && (scope.hasWidget || !step.isOfWidgets) {
      for event in step.events(of: &state.machine, extensions: ["a.W"], apps: ["a"]) { handle(event, &state, &log) }
    }
    _ = state.agent.apply(.hostStarts, Self.address)
  }

  private func restored(_ state: State) -> DeviceStateMachine {
    let former = state.machine
    var machine = machine(
      former.launching.processes.mapValues(LaunchModel.row), incarnations: former.launching.incarnations)
    // DeviceStore
    machine.conditions = DeviceConditionsStateMachine(network: former.conditions.network)
    // TransferStore
    machine.loading = LoadingStateMachine(
      sessions: former.loading.sessions, transfers: transfers(state), limiters: former.loading.limiters,
      settings: Self.transferSettings, families: AppFamilies(apps: ["a"]))
    machine.delivery = DeliveryStateMachine(
      sessions: former.delivery.sessions.all.mapValues(\.row),
      deliveries: former.delivery.deliveries.values.map(\.row), settings: Self.transferSettings,
      identifiers: Self.identifiers(state.restarts))
    // TimelineStore
    for (id, placed) in former.timelines.placements.all.sorted(by: { $0.key < $1.key }) {
      machine.timelines.restore(placed, former.timelines.upcoming[id] ?? [])
    }
    machine.timelines.restore(
      kinds: former.timelines.kinds, former.timelines.unresolvedReloads, lastReload: state.decided, lastLine: 0)
    // PushesStore
    machine.tokens = TokenStateMachine(products: Self.products, state: former.tokens.state)
    machine.notifications = NotificationStateMachine(
      device: "p", open: former.notifications.open, taken: former.notifications.takenNotifications)
    // GalleryStore
    machine.gallery = GalleryStateMachine(device: .phone, apps: ["a"], state: former.gallery.state)
    machine.screen = ScreenStateMachine(device: .phone, state: former.screen.state)
    return machine
  }

  /// The rows of tasks without an end. An end that is not on the disk is lost.
  private func transfers(_ state: State) -> [LoadingStateMachine.Transfer] {
    (Array(state.machine.loading.transfers.values) + state.unwritten)
      .sorted { $0.key.identifier < $1.key.identifier }.map(\.row)
  }

  /// Each host has its own.
  private static func identifiers(_ restarts: Int8) -> IdentifierSource {
    IdentifierSource(base: UUID(uuid: (UInt8(restarts), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
  }
}
