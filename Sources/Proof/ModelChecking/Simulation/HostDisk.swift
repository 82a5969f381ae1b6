// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import Messages

/// What the host's database and folders have: the value of the device as of the last transaction, without what the stores
/// do not write.
///
/// The stores write rows; here the value itself is kept, and `restored` makes from it what the next host reads
/// (`StoredDevice`, and the `Stored` of each service). A process that is killed loses what no transaction had, and the
/// messages that waited for it. A power failure, which also loses what was not synchronised, is not simulated.
final class HostDisk {
  /// When a change must be written: `DeviceTransactions.Urgency`.
  enum Urgency: Comparable { case nothing, riding, soon, lasting }

  struct End {
    let key: TaskKey
    let failure: TransferFailure?
    let bytes: Int64
    let sha256: String?
    let transfer: LoadingStateMachine.Transfer?
  }

  struct Report {
    let number: Int64
    let envelope: UUID
    let progress: PushProgress
  }

  let identity: UUID
  var opening = 0
  private var machine: DeviceStateMachine?
  /// Ends that are recorded, of tasks that the value still has as running.
  private var ended: [TaskKey] = []
  /// How each task ended that is not acknowledged.
  private(set) var outcomes: [TaskKey: End] = [:]
  /// The length of each part file.
  var parts: [TaskKey: Int64] = [:]
  private(set) var reports: [Report] = []
  private(set) var lastReport: Int64 = 0
  private(set) var lastLine = 0
  private(set) var lastReload = 0
  private let mistake: SimulatedMistake?
  /// Of a mistake: deliveries that were not deleted.
  private var kept: [DeliveryStateMachine.Delivery] = []

  init(identity: UUID, _ mistake: SimulatedMistake?) {
    self.identity = identity
    self.mistake = mistake
  }

  // MARK: Writing

  /// What a step changed, as the stores of the services see it.
  func urgency(of step: DeviceStep, machine: inout DeviceStateMachine, hasReports: Bool) -> Urgency {
    var urgency = Urgency.nothing
    func raise(_ other: Urgency) { urgency = max(urgency, other) }
    let former = self.machine
    if step.changed.contains(.launching) { raise(Self.urgency(machine.launching, since: former?.launching)) }
    if step.changed.contains(.timelines) {
      let changes = machine.timelines.takeChanges()
      if !changes.placements.isEmpty || !changes.kinds.isEmpty || changes.areUnresolvedReloads { raise(.lasting) }
    }
    if step.changed.contains(.delivery) {
      let touched = machine.delivery.takeTouched()
      if !touched.sessions.isEmpty || !touched.deliveries.isEmpty { raise(.riding) }
    }
    if step.changed.contains(.tokens), machine.tokens.state != former?.tokens.state { raise(.lasting) }
    if step.changed.contains(.notifications), hasReports || machine.notifications.open != former?.notifications.open {
      raise(.lasting)
    }
    if step.changed.contains(.gallery), machine.gallery.state != former?.gallery.state { raise(.lasting) }
    if step.changed.contains(.screen), machine.screen.state != former?.screen.state { raise(.lasting) }
    if step.changed.contains(.conditions),
      machine.conditions.network != former?.conditions.network
        || machine.conditions.isAwake != former?.conditions.isAwake
    {
      raise(.lasting)
    }
    return urgency
  }

  /// `LaunchStore.save`.
  private static func urgency(_ now: LaunchStateMachine, since former: LaunchStateMachine?) -> Urgency {
    guard let former else { return .lasting }
    if now.incarnations != former.incarnations { return .lasting }
    var urgency = Urgency.nothing
    for (address, process) in now.processes {
      let before = former.processes[address] ?? LaunchStateMachine.Process()
      let hasSamePast =
        process.lastGeneration == before.lastGeneration && process.lastEnding == before.lastEnding
        && process.failures == before.failures && process.isQuit == before.isQuit
        && process.assertions.contains(.foreground) == before.assertions.contains(.foreground)
      if !hasSamePast { return .lasting }
      let hasSameRow =
        process.instance == before.instance && process.state == before.state && process.why == before.why
        && process.readyGeneration == before.readyGeneration
      if !hasSameRow { urgency = max(urgency, process.state == .launching ? .riding : .soon) }
    }
    return urgency
  }

  /// A transaction.
  func commit(_ host: SimulatedHost, _ ends: [End], _ acknowledged: [DeliveryStateMachine.Delivery]) {
    machine = host.machine
    ended = ends.map(\.key)
    for end in ends { outcomes[end.key] = end }
    for delivery in acknowledged {
      if mistake == .acknowledgementForgotten {
        kept.append(delivery)
      } else {
        for task in delivery.tasks {
          let key = TaskKey(session: delivery.session, identifier: task)
          outcomes[key] = nil
          parts[key] = nil
        }
      }
    }
    reports = host.reports
    lastReport = host.lastReport
    (lastLine, lastReload) = (host.lastLine, host.lastReload)
  }

  // MARK: Reading

  /// The value with which the next host starts.
  func restored(_ cluster: SimulatedCluster) -> DeviceStateMachine {
    var device = cluster.device()
    guard let machine else { return device }
    device.launching = LaunchStateMachine(
      agents: SimulatedCluster.agents, processes: machine.launching.processes.mapValues(\.row),
      incarnations: machine.launching.incarnations, suspendAfter: machine.launching.suspendAfter,
      endIdleAfter: machine.launching.endIdleAfter)
    device.conditions = DeviceConditionsStateMachine(
      network: machine.conditions.network, isAwake: machine.conditions.isAwake)
    device.loading = loading(machine.loading, device.loading)
    device.delivery = delivery(machine.delivery, cluster)
    for (id, placed) in machine.timelines.placements.all.sorted(by: { $0.key < $1.key }) {
      device.timelines.restore(placed, machine.timelines.upcoming[id] ?? [])
    }
    device.timelines.restore(
      kinds: machine.timelines.kinds, machine.timelines.unresolvedReloads, lastReload: lastReload, lastLine: lastLine)
    device.tokens = TokenStateMachine(products: SimulatedCluster.products, state: machine.tokens.state)
    device.notifications = NotificationStateMachine(
      device: SimulatedCluster.device, open: machine.notifications.open, taken: machine.notifications.takenNotifications
    )
    device.gallery = GalleryStateMachine(
      device: .phone, apps: [SimulatedCluster.app.bundleIdentifier ?? ""], state: machine.gallery.state)
    device.screen = ScreenStateMachine(device: .phone, state: machine.screen.state)
    return device
  }

  /// Whether a mistake took the end of a task away: the task is in no delivery yet.
  private func isForgotten(_ key: TaskKey, _ delivery: DeliveryStateMachine) -> Bool {
    guard mistake == .loadedAgain, outcomes[key] != nil else { return false }
    return ended.contains(key) || delivery.sessions[key.session]?.ended.contains(key.identifier) == true
  }

  private func loading(_ former: LoadingStateMachine, _ empty: LoadingStateMachine) -> LoadingStateMachine {
    let forgotten = machine.map { machine in
      outcomes.values.filter { isForgotten($0.key, machine.delivery) }.compactMap(\.transfer)
    }
    let left = former.transfers.values.filter { outcomes[$0.key] == nil } + (forgotten ?? [])
    let transfers = left.sorted {
      ($0.created, $0.key.session, $0.key.identifier) < ($1.created, $1.key.session, $1.key.identifier)
    }
    .map(\.row)
    return LoadingStateMachine(
      sessions: former.sessions, transfers: transfers, limiters: former.limiters,
      settings: SimulatedCluster.transferSettings, families: SimulatedCluster.families)
  }

  /// `TransferStore.stateMachine`.
  private func delivery(_ former: DeliveryStateMachine, _ cluster: SimulatedCluster) -> DeliveryStateMachine {
    var deliveries = former.deliveries.values.map(\.row)
    deliveries += kept.map { DeliveryStateMachine.Delivery(id: $0.id, session: $0.session, tasks: $0.tasks) }
    var sessions = former.sessions.all.mapValues(\.row)
    for key in ended where sessions[key.session]?.running.remove(key.identifier) != nil {
      sessions[key.session]?.ended.append(key.identifier)
    }
    if mistake == .loadedAgain {
      for (key, session) in sessions {
        let back = session.ended.filter { outcomes[TaskKey(session: key, identifier: $0)] != nil }
        sessions[key]?.ended.removeAll { back.contains($0) }
        sessions[key]?.running.formUnion(back)
      }
    }
    return DeliveryStateMachine(
      sessions: sessions, deliveries: deliveries, settings: SimulatedCluster.transferSettings,
      identifiers: IdentifierSource(base: cluster.time.dice.uuid()))
  }
}
