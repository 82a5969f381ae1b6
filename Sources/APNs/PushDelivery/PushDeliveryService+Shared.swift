// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Timekeeping

// What one transaction of a replica reads and decides.

extension PushDeliveryService {
  // MARK: Reading

  /// What the transaction of the jobs needs.
  func scope(of jobs: [PushJobQueue.Job]) -> SharedScope {
    var scope = SharedScope()
    replica.unsent = replica.unsent.filter(replica.owns)
    // A page at a time, because no transaction may take long.
    replica.sending =
      replica.unsent.count > Self.fleetDevicesAtOnce
      ? Set(replica.unsent.prefix(Self.fleetDevicesAtOnce)) : replica.unsent
    var devices = replica.sending
    scope.connections = Set(devices.map(PushSubject.connection))
    for job in jobs {
      if case .fleet(let job) = job {
        for device in need(job, in: &scope) where replica.owns(device) { devices.insert(device) }
        continue
      }
      guard let device = need(job, in: &scope) else { continue }
      scope.connections.insert(PushSubject.connection(of: device))
      if replica.owns(device) { devices.insert(device) }
    }
    if scope.isTaking {
      for (fleet, sender) in senders where !sender.hasRoom && stateMachine.reaches.isPresent(fleet) {
        senders[fleet]?.hasArrivals = true
        scope.full.insert(FleetDevice.connection(of: fleet))
      }
    }
    scope.devices = devices.filter { stateMachine.devices[$0] == nil }.sorted()
    return scope
  }

  /// Adds what a job needs.
  ///
  /// - Returns: the device about which it decides.
  private func need(_ job: PushJobQueue.Job, in scope: inout SharedScope) -> String? {
    switch job {
    case .arrival(let arrival, _):
      scope.requests += 1
      guard case .accepted(let notification, _) = arrival.verdict else { return nil }
      scope.tokens.append(arrival.token)
      return need(notification.subject, in: &scope)
    case .event(.timerFired):
      scope.connections.formUnion(replica.owned.keys)
      return nil
    case .event(.reach(let device, _, _, _)), .event(.presence(let device, _, _)), .event(.returned(let device)),
      .event(.restored(let device)):
      return device
    case .event(.acknowledged(_, let subject)), .event(.refused(_, let subject, _)): return subject.device
    case .event(.tokenEnded(_, let subject)), .event(.ended(let subject)): return need(subject, in: &scope)
    case .event(.accepted(let push)): return need(push.notification.subject, in: &scope)
    case .signal(.tokenEnded(_, let subject)): return need(subject, in: &scope)
    case .signal(.poll):
      scope.connections.formUnion(replica.owned.keys)
      scope.isTaking = true
      scope.endsBy = clock.now
      return nil
    case .signal(.arrived):
      scope.isTaking = true
      return nil
    case .issue(let subject, _, _), .release(let subject, _), .change(let subject, _, _):
      return need(subject, in: &scope)
    case .signal(.replicas), .progress, .notified, .fleet, .barrier: return nil
    }
  }

  @discardableResult
  func need(_ subject: PushSubject, in scope: inout SharedScope) -> String? {
    if !replica.owns(subject.device) { scope.subjects.insert(subject) }
    return subject.device
  }

  /// Loads what the transaction has read.
  func load(_ shared: any SharedPushStore) throws {
    let view = replica.view
    load(replica.loading, view.kept)
    // Which devices these are is known only now.
    let later = Set((view.taken + view.ended).map(\.notification.subject.device)).filter { device in
      replica.owns(device) && stateMachine.devices[device] == nil
    }
    if !later.isEmpty { load(Array(later), try shared.kept(of: Array(later))) }
    replica.strangers = PushStateMachine(settings: settings)
    let isStranger: (StoredPush) -> Bool = { !self.replica.owns($0.notification.subject.device) }
    var held = Dictionary((view.held + view.ended.filter(isStranger)).map { ($0.number, $0) }) { $1 }
    let subjects = Set(view.taken.filter(isStranger).map(\.notification.subject))
    if !subjects.isEmpty {
      for push in try shared.held(of: Array(subjects)) { held[push.number] = push }
    }
    for (device, pushes) in Dictionary(grouping: held.values, by: \.notification.subject.device) {
      replica.strangers.load(device, pushes.sorted { $0.number < $1.number })
    }
  }

  /// Loads what is kept for devices of a page, with one statement.
  func loadTogether(_ devices: [String]) throws {
    guard let shared else { return }
    let missing = devices.filter { replica.owns($0) && stateMachine.devices[$0] == nil }
    if !missing.isEmpty { load(missing, try shared.kept(of: missing)) }
  }

  private func load(_ devices: [String], _ kept: [StoredPush]) {
    let kept = Dictionary(grouping: kept, by: \.notification.subject.device)
    for device in devices where replica.owns(device) && stateMachine.devices[device] == nil {
      stateMachine.load(device, kept[device] ?? [])
    }
  }

  // MARK: Deciding

  /// A request of a provider. The state of its token is that of the transaction.
  func add(
    _ arrival: PushArrival, _ then: (@Sendable (PushReceipt) -> Void)?, to batch: inout Batch
  ) throws {
    guard case .accepted(let notification, let remark) = arrival.verdict else { return try add(arrival, to: &batch) }
    let token = table.changed(arrival.token) ?? replica.view.tokens[arrival.token]
    guard let token, token.state == .active else {
      try add(arrival.refused(because: token), to: &batch)
      tokens.publish([token].compactMap(\.self), removing: token == nil ? [arrival.token] : [])
      if let then { batch.thens.append { _ in then(.tokenEnded(token)) } }
      return
    }
    lastNumber += 1
    let step = PushStep(.accepted, at: clock.now, detail: remark)
    count(arrival, in: &batch)
    batch.changes.add(lastNumber, arrival, step)
    note(step, of: arrival, in: &batch)
    let push = StoredPush(number: lastNumber, notification: notification, token: arrival.token)
    if let then { batch.thens.append { _ in then(.kept) } }
    try add(.accepted(push), at: step.at, to: &batch)
  }

  /// A notification that another replica has accepted. Its row is replaced by what is decided.
  func take(_ push: StoredPush, to batch: inout Batch) throws {
    try add(.accepted(push), at: clock.now, to: &batch)
    if batch.changes.kept[push.number] == nil { batch.changes.drop(push) }
  }

  /// Decides about an event of a device without an owner, or tells the owner.
  ///
  /// - Returns: whether this replica is the owner.
  func addShared(_ event: PushStateMachine.Event, at now: Date, to batch: inout Batch) throws -> Bool {
    guard let device = event.device else { return true }
    if replica.owns(device) {
      replica.touched.insert(device)
      return true
    }
    let owner = replica.view.routes[PushSubject.connection(of: device)]?.replica
    switch (event, owner) {
    case (.accepted(let push), let owner?) where owner != shared?.replica:
      batch.changes.forwarded.append(push)
      replica.notified.insert(owner)
    case (.tokenEnded(let token, let subject), let owner?): replica.ended.append((token, subject, owner))
    case (.accepted, _), (.tokenEnded, nil), (.ended, _):
      add(replica.strangers.handle(event, now: now), at: now, to: &batch)
    default: break
    }
    return false
  }

  /// What is deleted with this poll; `nil` if nothing is due.
  func old() -> OldPushes? {
    let now = clock.now
    guard
      replica.hasMoreOld || now.timeIntervalSince(replica.tidied) >= Self.tidyingInterval
        || replica.logged > max(100, settings.logLimit / 100)
    else { return nil }
    if !replica.hasMoreOld { (replica.tidied, replica.logged) = (now, 0) }
    return OldPushes(
      date: now.addingTimeInterval(-settings.logAge), number: 0, after: replica.examined,
      ended: now.addingTimeInterval(-settings.endedTokenAge))
  }
}

extension PushArrival {
  /// The request, refused because its token is not active any more, or unknown. The wording is that of the contract.
  fileprivate func refused(because token: DeviceToken?) -> PushArrival {
    let (status, reason) =
      switch token?.state {
      case .expired: (410, "ExpiredToken")
      case .unregistered: (410, "Unregistered")
      case .active, nil: (400, "BadDeviceToken")
      }
    return PushArrival(
      uniqueID: uniqueID, apnsID: apnsID, subject: subject, token: self.token, type: type,
      verdict: .refused(status: status, reason: reason, explanation: "the token ended while the request was accepted"))
  }
}

extension PushStateMachine.Event {
  /// The device about which it decides; `nil` for the timer.
  var device: String? {
    switch self {
    case .accepted(let push): push.notification.subject.device
    case .reach(let device, _, _, _), .presence(let device, _, _), .returned(let device),
      .restored(let device):
      device
    case .acknowledged(_, let subject), .refused(_, let subject, _), .tokenEnded(_, let subject),
      .ended(let subject):
      subject.device
    case .timerFired: nil
    }
  }
}
