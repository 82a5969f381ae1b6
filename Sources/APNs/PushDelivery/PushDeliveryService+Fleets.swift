// SPDX-License-Identifier: Apache-2.0

import FleetTokenDerivation
import Foundation
import MessageBus
import Messages
import ShownText
import Timekeeping

/// A message of a fleet, or a step of the delivery to one.
enum FleetJob: Sendable {
  case join(String, UUID, then: @Sendable (Result<String, BusError>) -> Void)
  /// At most `FleetTokenChanges.atOnce` tokens.
  case tokens(String, ChangeFleetTokens.Change, PushEnvironment, then: @Sendable (BusError?) -> Void)
  /// Fails when the service does not know the reach that it changes.
  case reach(String, FleetReach, generation: UInt32, then: @Sendable (BusError?) -> Void)
  case presence(String, isPresent: Bool, generation: UInt32)
  /// The reply to a batch.
  case replied(String, FleetReply)
  /// Hands over what is kept for the next devices.
  case handOver(String)
}

/// The reply of a fleet to a batch of notifications.
struct FleetReply: Sendable {
  let run: UUID
  let number: Int64
  let acknowledged: [(id: UUID, subject: PushSubject)]
  let refused: [(id: UUID, subject: PushSubject, why: String)]
}

// Fleets. The devices of a fleet are decided on as all others are. Their messages are about many devices, and the work
// of one is divided into several transactions.

extension PushDeliveryService {
  /// The tokens, or devices, of one transaction.
  static let fleetDevicesAtOnce = 1_000
  /// A report about more devices makes the service search for what is kept, instead of asking for each device.
  private static let fewDevices = 1_000

  nonisolated func listenToFleets() {
    bus.onPresence { [weak self] presence in
      guard let fleet = presence.address.fleet else { return }
      self?.put(.fleet(.presence(fleet, isPresent: presence.isPresent, generation: presence.generation)))
    }
    bus.onRequest(JoinFleet.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let fleet = try Self.fleet(from)
      let secret = await withCheckedContinuation { continuation in
        _ = put(.fleet(.join(fleet, request.incarnation) { continuation.resume(returning: $0) }))
      }
      return JoinFleet.Reply(secret: try secret.get())
    }
    bus.onEvent(FleetReach.self) { [weak self] event, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let fleet = try Self.fleet(from)
      let error = await withCheckedContinuation { continuation in
        _ = put(
          .fleet(.reach(fleet, event, generation: from.sourceGeneration) { continuation.resume(returning: $0) }))
      }
      if let error { throw error }
    }
    bus.onRequest(ChangeFleetTokens.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let fleet = try Self.fleet(from)
      for change in request.changes {
        guard (0...Int(UInt16.max)).contains(change.serial) else {
          throw BusError(.refused, "the serial number \(change.serial) is not 0 to \(UInt16.max)")
        }
        for part in change.devices.parts(of: Self.fleetDevicesAtOnce) {
          let part = ChangeFleetTokens.Change(
            action: change.action, bundle: change.bundle, use: change.use, serial: change.serial, devices: part)
          let error = await withCheckedContinuation { continuation in
            _ = put(.fleet(.tokens(fleet, part, request.environment) { continuation.resume(returning: $0) }))
          }
          if let error { throw error }
        }
      }
      return Done()
    }
    bus.onRequest(CountFleetPushes.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      await caughtUp()
      return try await store.counts(of: request.fleet)
    }
  }

  private static func fleet(_ from: Received) throws(BusError) -> String {
    guard let fleet = from.source.fleet else { throw BusError(.refused, "\(from.source) is not a fleet") }
    guard FleetDevice.isName(fleet) else {
      throw BusError(.refused, "\"\(fleet)\" is not the name of a fleet: use letters, digits, `-`, `_` and `.`")
    }
    return fleet
  }

  /// Fails a job after the database has failed, or after `leave()`.
  static func turnDown(_ job: FleetJob, _ error: BusError) {
    switch job {
    case .join(_, _, let then): then(.failure(error))
    case .tokens(_, _, _, let then), .reach(_, _, _, let then): then(error)
    case .presence, .replied, .handOver: break
    }
  }

  func add(_ job: FleetJob, to batch: inout Batch) throws {
    let now = clock.now
    switch job {
    case .join(let fleet, let incarnation, let then): try join(fleet, incarnation, then, to: &batch)
    case .tokens(let fleet, let change, let environment, let then):
      try self.change(fleet, change, environment, then, to: &batch)
    case .reach(let fleet, let reach, let generation, let then):
      guard reach.isFirst || stateMachine.reaches.knows(fleet, generation) else {
        return then(BusError(.noSuchFleet, "the push server does not know which devices of \(fleet) are online"))
      }
      batch.thens.append { then($0 ? BusError(.failed, "cannot write the database", isDefinite: false) : nil) }
      stateMachine.reaches.apply(reach, of: fleet, generation: generation)
      let returned = reach.online.count + reach.awake.count
      guard returned <= Self.fewDevices, !reach.isFirst else { return handOver(to: fleet) }
      var devices: Set<UInt32> = []
      for index in reach.online.indices { devices.insert(index) }
      for index in reach.awake.indices { devices.insert(index) }
      for index in devices.sorted() { try add(.returned(FleetDevice.id(fleet, index)), at: now, to: &batch) }
    case .presence(let fleet, let isPresent, let generation):
      if stateMachine.reaches.presence(fleet, isPresent, generation: generation) { handOver(to: fleet) }
    case .replied(let fleet, let reply):
      // What was sent before this push server became responsible again is sent again.
      guard senders[fleet]?.run == reply.run else { return }
      for (id, subject) in reply.acknowledged { try add(.acknowledged(id, of: subject), at: now, to: &batch) }
      batch.acknowledged.formUnion(reply.acknowledged.map(\.id))
      for (id, subject, why) in reply.refused {
        try add(.refused(id, of: subject, why: why), at: now, to: &batch)
      }
      batch.thens.append { [weak self] isBroken in
        guard !isBroken, let self else { return }
        assumeIsolated { $0.recorded(fleet, reply) }
      }
    case .handOver(let fleet): try handOverNext(to: fleet, now, to: &batch)
    }
  }

  private func join(
    _ fleet: String, _ incarnation: UUID, _ then: @escaping @Sendable (Result<String, BusError>) -> Void,
    to batch: inout Batch
  ) throws {
    guard let secret = try store.join(fleet, incarnation, secret: FleetTokens.makeSecret()) else {
      return then(
        .failure(
          BusError(
            .fleetExists,
            "the push server knows a fleet named \(fleet) with another database: give this one another name, or restore "
              + "the folder of that one")))
    }
    batch.thens.append { [weak self] isBroken in
      guard !isBroken else { return then(.failure(BusError(.failed, "cannot write the database", isDefinite: false))) }
      self?.assumeIsolated { $0.fleetTokens[fleet] = FleetTokens(secret: secret) }
      then(.success(secret))
    }
  }

  // MARK: Tokens

  private func change(
    _ fleet: String, _ change: ChangeFleetTokens.Change, _ environment: PushEnvironment,
    _ then: @escaping @Sendable (BusError?) -> Void, to batch: inout Batch
  ) throws {
    try learnSecret(of: fleet)
    guard let tokens = fleetTokens[fleet] else {
      return then(BusError(.noSuchFleet, "the push server does not know the fleet \(fleet): it has not joined"))
    }
    let now = clock.now
    var changed: [DeviceToken] = []
    for index in change.devices.indices {
      let subject = PushSubject(device: FleetDevice.id(fleet, index), bundle: change.bundle, use: change.use)
      func token(_ serial: Int) -> String { tokens.token(index, change.bundle, change.use, serial: serial) }
      let ended = change.action == .end ? change.serial : change.serial - 1
      if ended >= 0, let former = try known(token(ended)), former.state == .active {
        changed.append(
          DeviceToken(
            token: former.token, subject: subject, environment: former.environment, state: .unregistered, since: now))
      }
      guard change.action == .issue else { continue }
      changed.append(
        DeviceToken(
          token: token(change.serial), subject: subject, environment: environment, state: .active, since: now))
    }
    try add(changed: changed, to: &batch)
    batch.thens.append { isBroken in
      then(isBroken ? BusError(.failed, "cannot write the device tokens", isDefinite: false) : nil)
    }
  }

  /// Reads the secret of a fleet that has joined at another push server, or earlier.
  func learnSecret(of fleet: String) throws {
    guard fleetTokens[fleet] == nil else { return }
    fleetTokens[fleet] = try store.secret(ofFleet: fleet).flatMap(FleetTokens.init)
  }

  /// A token in the running transaction.
  private func known(_ token: String) throws -> DeviceToken? {
    shared == nil ? try table[token] : table.changed(token) ?? replica.view.tokens[token]
  }

  /// The journal has the fleet's request, so that no notice of each token is recorded.
  private func add(changed: [DeviceToken], to batch: inout Batch) throws {
    for token in changed {
      table.put(token)
      batch.changes.tokens.append(.token(token))
      if token.state != .active { try add(.tokenEnded(token.token, of: token.subject), at: clock.now, to: &batch) }
    }
  }

  // MARK: Sending

  /// Sends notifications to their devices; those of one fleet together.
  func send(_ notifications: [PushedNotification]) {
    for notification in notifications {
      guard let fleet = FleetDevice.fleet(of: notification.subject.device) else {
        send(notification)
        continue
      }
      senders[fleet, default: FleetSender(epoch: replica.epoch(ofFleet: fleet))].add(notification)
    }
    for fleet in senders.keys.sorted() { sendNext(to: fleet) }
  }

  private func sendNext(to fleet: String) {
    while let batch = senders[fleet]?.next() {
      let message = DeliverToFleet(
        run: batch.run, epoch: batch.epoch, batch: batch.number, settled: batch.settled,
        notifications: batch.notifications)
      bus.submit(
        message, to: .fleet(fleet), id: UUID(), context: .none, within: .seconds(7 * 86_400), whenUnreachable: .wait
      ) { [weak self] result in
        switch result {
        case .success(let reply): self?.put(.fleet(.replied(fleet, FleetReply(batch, refused: reply.refused))))
        // This process has left the bus: the next process instance continues.
        case .failure(let error) where error.code == .closed: break
        case .failure(let error): self?.put(.fleet(.replied(fleet, FleetReply(batch, all: error))))
        }
      }
    }
    stateMachine.reaches.setFull(fleet, senders[fleet]?.isFull ?? false)
    if senders[fleet]?.isFull == true { senders[fleet]?.hasHeld = true }
  }

  /// The reply to a batch is on the disk.
  private func recorded(_ fleet: String, _ reply: FleetReply) {
    senders[fleet]?.drop(Set(reply.acknowledged.map(\.id)))
    senders[fleet]?.replied()
    senders[fleet]?.record(reply.number)
    takeArrivals(for: fleet)
    guard let sender = senders[fleet], sender.isLow else { return }
    if sender.hasHeld, sender.place == nil {
      senders[fleet]?.hasHeld = false
      handOver(to: fleet)
    } else if sender.isPaused {
      senders[fleet]?.isPaused = false
      put(.fleet(.handOver(fleet)))
    }
  }

  /// Takes what other replicas have accepted, if that was left to them and there is room now.
  private func takeArrivals(for fleet: String) {
    guard let sender = senders[fleet], sender.hasArrivals, sender.hasRoom else { return }
    senders[fleet]?.hasArrivals = false
    put(.signal(.arrived))
  }

  // MARK: Hand-over

  /// Hands over what is kept for the devices of a fleet that are online, from the first device on.
  func handOver(to fleet: String) {
    var sender = senders[fleet] ?? FleetSender(epoch: replica.epoch(ofFleet: fleet))
    let isUnderWay = sender.place != nil
    sender.place = FleetDevice.bounds(of: fleet).after
    senders[fleet] = sender
    if !isUnderWay { put(.fleet(.handOver(fleet))) }
  }

  private func handOverNext(to fleet: String, _ now: Date, to batch: inout Batch) throws {
    guard let sender = senders[fleet], let place = sender.place else { return }
    guard sender.isLow else {
      senders[fleet]?.isPaused = true
      return
    }
    let devices = try store.devicesWithKept(of: fleet, after: place, limit: Self.fleetDevicesAtOnce)
    let reachable = devices.filter(stateMachine.canReach)
    try loadTogether(reachable)
    for device in reachable { try add(.returned(device), at: now, to: &batch) }
    // If the transaction fails, the devices of this page are sent what is kept by the next one.
    senders[fleet]?.place = devices.count == Self.fleetDevicesAtOnce ? devices.last : nil
    guard senders[fleet]?.place != nil else { return takeArrivals(for: fleet) }
    batch.thens.append { [weak self] isBroken in if !isBroken { self?.put(.fleet(.handOver(fleet))) } }
  }

  // MARK: Counting

  /// Counts the verdict about a request for a device of a fleet, or for an unknown token.
  func count(_ arrival: PushArrival, in batch: inout Batch) {
    guard let fleet = arrival.subject.map({ FleetDevice.fleet(of: $0.device) }) ?? "" else { return }
    let type = arrival.type?.start(bytes: 32) ?? ""
    let (name, reason): (PushStep.Name, String) =
      switch arrival.verdict {
      case .accepted: (.accepted, "")
      case .refused(let status, let reason, _): (.refused, reason ?? "\(status)")
      }
    batch.changes.counts[
      FleetPushCount(fleet: fleet, type: type, name: name.rawValue, reason: reason), default: 0] += 1
  }

  /// Counts a step of a notification.
  func count(_ name: PushStep.Name, of push: StoredPush, in batch: inout Batch) {
    guard let fleet = FleetDevice.fleet(of: push.notification.subject.device) else { return }
    func add(_ name: String, _ count: Int) {
      let key = FleetPushCount(fleet: fleet, type: push.notification.type.rawValue, name: name, reason: "")
      batch.changes.counts[key, default: 0] += count
    }
    switch name {
    case .sent where push.isForOnce: add(FleetPushCount.open, 1)
    case .superseded, .collapsed, .expired, .notStored, .tokenUnregistered, .delivered:
      add(name.rawValue, 1)
      if push.isForOnce, push.isSent { add(FleetPushCount.open, -1) }
    default: break
    }
  }
}

extension FleetReply {
  fileprivate init(_ batch: FleetSender.Batch, refused: [DeliverToFleet.Refusal]) {
    let codes = Dictionary(refused.map { ($0.index, $0.code) }) { first, _ in first }
    var acknowledged: [(id: UUID, subject: PushSubject)] = []
    var reasons: [(id: UUID, subject: PushSubject, why: String)] = []
    for (index, notification) in batch.notifications.enumerated() {
      if let code = codes[index] {
        reasons.append((notification.uniqueID, notification.subject, code.rawValue))
      } else {
        acknowledged.append((notification.uniqueID, notification.subject))
      }
    }
    self.init(run: batch.run, number: batch.number, acknowledged: acknowledged, refused: reasons)
  }

  fileprivate init(_ batch: FleetSender.Batch, all error: BusError) {
    self.init(
      run: batch.run, number: batch.number, acknowledged: [],
      refused: batch.notifications.map { ($0.uniqueID, $0.subject, error.message) })
  }
}
