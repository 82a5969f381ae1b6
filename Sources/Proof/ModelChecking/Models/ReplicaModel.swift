// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import PushRules

/// How often what is around two replicas acts.
package struct ReplicaScope: Sendable {
  /// Notifications that providers send.
  package var pushes: Int8 = 2
  /// Exits of a replica. Its next instance starts at once.
  package var exits: Int8 = 0
  /// How often a replica is stopped for any time, and continues.
  package var stops: Int8 = 0
  /// Changes of the device's network. It returns by itself.
  package var networkChanges: Int8 = 0
  /// Exits of the device's host.
  package var hostExits: Int8 = 0
  /// The device is one of a fleet: it forgets the ids of what its push server has recorded, and compares epochs.
  package var isOfFleet = false
  /// A replica that continues handles no report that was sent to it before the broker ended its connection.
  package var dropsOldReports = true
  /// Whether a fleet compares epochs. It does.
  package var comparesEpochs = true

  package init(_ set: (inout ReplicaScope) -> Void = { _ in }) { set(&self) }
}

/// Two replicas of the push server, their database, the broker between them and a device, and that device.
///
/// The decisions are those of `PushStateMachine`. No plain value states which replica may decide: `route` is a row of
/// the database, and `PushDeliveryService.open` compares it with what the replica knows. So this is environment here,
/// from the statements of `PostgresPushStore`:
///
/// - `claim`: `INSERT INTO route … ON CONFLICT … SET replica = excluded.replica, epoch = former.epoch + 1`, under
///   the exclusive lock of the routes. It waits for open transactions, and `endStuck` ends those of a stopped replica.
/// - `begin`: the shared lock, then `SELECT connection, replica, epoch FROM route`.
/// - `releaseEnded`: `UPDATE route SET replica = NULL, epoch = epoch + 1` for replicas not seen for 5 s.
/// - `taken`: the rows `state = 0` of the connections of this replica, or without an owner.
/// - `kept_stored`: a unique index, at most one row `state = 2` of a subject.
///
/// A request has its number before its transaction ends, so a later one may be on the disk first. All else of a
/// transaction happens at once. Each job of a replica has a transaction. Dates: a decision is made at second 0, and a
/// timer fires at second 1.
package struct ReplicaModel: Model {
  /// A row of `kept`.
  struct Row: Hashable, Sendable {
    enum State: Int8, Sendable { case arrived, sent, stored }
    var state: State
    var isFromStorage: Bool
  }

  /// The tables `kept` and `route`.
  struct Database: Hashable, Sendable {
    var rows: [Int64: Row] = [:]
    var owner: Int8?
    var epoch: Int64 = 0
  }

  enum Job: Hashable, Sendable {
    case reach(isOnline: Bool, UInt32)
    case presence(UInt32)
    /// The device's reply. `run`: the epoch in which it was sent.
    case result(Int64, run: Int64, isRefused: Bool)
  }

  struct Replica: Hashable, Sendable {
    enum Condition: Hashable, Sendable { case runs, isStopped }
    /// Another one for each process instance.
    var instance: Int8
    var machine: PushStateMachine
    /// The epoch of the device's route, if this replica is its owner as far as it knows.
    var epoch: Int64?
    /// What is kept was removed from memory, and notifications may not have been sent.
    var isUnsent = false
    var condition = Condition.runs
    /// Whether the broker has a connection of it.
    var isConnected = true
    var jobs: [Job] = []
    /// The number of a request whose transaction is open.
    var open: Int64?
    /// What it has recorded since it became the owner.
    var recorded: Set<Int64> = []
  }

  /// A notification on its way to the device, until the replica has the reply.
  struct Message: Hashable, Sendable {
    let number: Int64
    let instance: Int8
    let epoch: Int64
    /// What the replica had recorded when it was sent: a fleet forgets these.
    let settled: Set<Int64>

    var place: (Int64, Int8, Int64) { (number, instance, epoch) }
    var arrival: Action { .arrives(number, from: instance, epoch: epoch) }
  }

  struct Device: Hashable, Sendable {
    var isOnline = true
    var generation: UInt32 = 1
    var handled: Set<Int64> = []
    /// The ids that it remembers, each with the epoch in which it was received.
    var known: [Int64: Int64] = [:]
    var epoch: Int64 = 0
  }

  struct Left: Hashable, Sendable { var pushes, exits, stops, networkChanges, hostExits: Int8 }

  /// What a search must meet.
  enum Event: Hashable, Sendable {
    case takenOver, lost, forwarded, recognised, refused, outOfOrder, terminated, superseded, delivered
  }

  package struct State: Hashable, Sendable {
    var replicas: [Replica]
    var database = Database()
    var device = Device()
    /// The replica to which the broker passes on what the device sends.
    var responsible = 0
    var isReportDue = true
    var messages: Set<Message> = []
    var lastNumber: Int64 = 0
    var accepted: Set<Int64> = []
    var closed: [Int64: PushStep.Name] = [:]
    var left: Left
    var objection: String?
    var met: Set<Event> = []
  }

  package enum Action: Hashable, Sendable, CustomStringConvertible {
    case requestBegins(Int)
    case requestIsOnDisk(Int)
    case nextJob(Int)
    case poll(Int)
    case timerFires(Int)
    case exits(Int)
    case stops(Int)
    case continues(Int)
    case isDisconnected(Int)
    case reportArrives, networkChanges, hostExits
    case arrives(Int64, from: Int8, epoch: Int64)

    package var description: String {
      switch self {
      case .requestBegins(let replica): "a provider sends a notification to replica \(replica)"
      case .requestIsOnDisk(let replica): "the transaction of that request ends at replica \(replica)"
      case .nextJob(let replica): "replica \(replica) handles the next message of the device"
      case .poll(let replica): "replica \(replica) polls the database"
      case .timerFires(let replica): "the next date of replica \(replica) is reached"
      case .exits(let replica): "replica \(replica) is killed, and its next instance starts"
      case .stops(let replica): "replica \(replica) is stopped"
      case .continues(let replica): "replica \(replica) continues"
      case .isDisconnected(let replica): "the broker ends the connection of replica \(replica), which is silent"
      case .reportArrives: "the device's report arrives at its replica"
      case .networkChanges: "the device's network goes or returns"
      case .hostExits: "the host is killed, and the next one starts"
      case .arrives(let number, let instance, let epoch):
        "notification \(number), sent by instance \(instance) in epoch \(epoch), arrives at the device"
      }
    }
  }

  private static let device = "p"
  private static let subject = PushSubject(device: device, bundle: "a", use: .widgets)
  private static let connection: Set<String> = [device]
  private static let now = Date(timeIntervalSinceReferenceDate: 0)

  package let name: String
  package let about: String
  private let scope: ReplicaScope

  package init(_ name: String, about: String, _ scope: ReplicaScope) {
    self.name = name
    self.about = about
    self.scope = scope
  }

  private static var settings: PushSettings {
    var settings = PushSettings()
    settings.retryAfter = 1
    settings.inFlight = 1
    settings.storageAge = 1_000
    return settings
  }

  private static func replica(_ instance: Int8) -> Replica {
    Replica(instance: instance, machine: PushStateMachine(settings: settings))
  }

  package var initialState: State {
    State(
      replicas: [Self.replica(0), Self.replica(1)],
      left: Left(
        pushes: scope.pushes, exits: scope.exits, stops: scope.stops, networkChanges: scope.networkChanges,
        hostExits: scope.hostExits))
  }

  /// A stopped replica may stay stopped forever.
  package func isProgress(_ action: Action) -> Bool {
    switch action {
    case .requestIsOnDisk, .nextJob, .poll, .timerFires, .isDisconnected, .reportArrives, .networkChanges, .arrives:
      true
    case .requestBegins, .exits, .stops, .continues, .hostExits: false
    }
  }

  package func actions(in state: State) -> [Action] {
    var actions: [Action] = []
    for (index, replica) in state.replicas.enumerated() {
      if state.left.exits > 0 { actions.append(.exits(index)) }
      guard replica.condition == .runs else {
        actions.append(.continues(index))
        if replica.isConnected { actions.append(.isDisconnected(index)) }
        continue
      }
      if state.left.stops > 0, state.replicas.allSatisfy({ $0.condition == .runs }) { actions.append(.stops(index)) }
      if replica.open != nil {
        actions.append(.requestIsOnDisk(index))
        continue
      }
      if state.left.pushes > 0 { actions.append(.requestBegins(index)) }
      if !replica.jobs.isEmpty, canClaim(index, state) { actions.append(.nextJob(index)) }
      if isPollUseful(index, state), canClaim(index, state) { actions.append(.poll(index)) }
      var machine = replica.machine
      if machine.nextInstant != nil, canClaim(index, state) { actions.append(.timerFires(index)) }
    }
    if state.isReportDue, state.replicas[state.responsible].isConnected { actions.append(.reportArrives) }
    if !state.device.isOnline || state.left.networkChanges > 0 { actions.append(.networkChanges) }
    if state.left.hostExits > 0 { actions.append(.hostExits) }
    for message in state.messages.sorted(by: { $0.place < $1.place }) {
      // Without a connection of its sender, no reply arrives there, and the message is sent again.
      let sender = state.replicas.first { $0.instance == message.instance }
      if sender?.isConnected ?? true { actions.append(message.arrival) }
    }
    return actions
  }

  /// Whether a transaction that may claim the route can begin: it waits for the open transactions of others.
  private func canClaim(_ index: Int, _ state: State) -> Bool {
    state.replicas.indices.allSatisfy { other in
      other == index || state.replicas[other].open == nil || state.replicas[other].condition == .isStopped
    }
  }

  private func isPollUseful(_ index: Int, _ state: State) -> Bool {
    let (replica, database) = (state.replicas[index], state.database)
    if isOwnerSilent(state) { return true }
    if replica.epoch != nil, database.owner != replica.instance || database.epoch != replica.epoch { return true }
    let isMine = database.owner == nil || database.owner == replica.instance
    return replica.isUnsent || isMine && database.rows.values.contains { $0.state == .arrived }
  }

  /// Whether no process has reported for the owner for 5 s.
  private func isOwnerSilent(_ state: State) -> Bool {
    guard let owner = state.database.owner else { return false }
    return !state.replicas.contains { $0.instance == owner && $0.condition == .runs }
  }

  package func next(_ state: State, _ action: Action, _ log: inout Log) -> State {
    var state = state
    state.met = []
    switch action {
    case .requestBegins(let index):
      state.left.pushes -= 1
      state.lastNumber += 1
      state.replicas[index].open = state.lastNumber
    case .requestIsOnDisk(let index):
      guard let number = state.replicas[index].open else { break }
      state.replicas[index].open = nil
      state.accepted.insert(number)
      if (state.accepted.max() ?? 0) > number { state.met.insert(.outOfOrder) }
      begin(index, isReturning: false, &state, &log)
      handle(.accepted(push(number)), index, &state, &log)
    case .nextJob(let index):
      let job = state.replicas[index].jobs.removeFirst()
      let (event, isReturning) = event(of: job, at: state.replicas[index])
      begin(index, isReturning: isReturning, &state, &log)
      if case .result(let number, let run, let isRefused) = job {
        // A reply to what was sent before this replica became the owner again.
        guard !scope.isOfFleet || state.replicas[index].epoch == run else { break }
        if !isRefused, state.replicas[index].epoch != nil { state.replicas[index].recorded.insert(number) }
      }
      handle(event, index, &state, &log)
    case .poll(let index):
      if isOwnerSilent(state) {
        state.database.owner = nil
        state.database.epoch += 1
      }
      begin(index, isReturning: false, &state, &log)
      guard [nil, state.replicas[index].instance].contains(state.database.owner) else { break }
      for number in state.database.rows.filter({ $0.value.state == .arrived }).keys.sorted() {
        let before = state.database.rows[number]
        handle(.accepted(push(number)), index, &state, &log)
        // `take` drops the row when it is not replaced.
        if state.database.rows[number] == before { state.database.rows[number] = nil }
      }
    case .timerFires(let index):
      begin(index, isReturning: false, &state, &log)
      handle(.timerFired, index, at: Self.now.addingTimeInterval(1), &state, &log)
    case .exits(let index):
      state.left.exits -= 1
      let instance = state.replicas[index].instance
      state.replicas[index] = Self.replica(instance + 2)
      move(from: index, &state)
    case .stops(let index):
      state.left.stops -= 1
      state.replicas[index].condition = .isStopped
    case .continues(let index):
      state.replicas[index].condition = .runs
      state.replicas[index].isConnected = true
    case .isDisconnected(let index):
      state.replicas[index].isConnected = false
      if scope.dropsOldReports {
        state.replicas[index].jobs.removeAll { if case .result = $0 { false } else { true } }
      }
      move(from: index, &state)
    case .reportArrives:
      state.isReportDue = false
      state.replicas[state.responsible].jobs.append(
        .reach(isOnline: state.device.isOnline, state.device.generation))
    case .networkChanges:
      if state.device.isOnline { state.left.networkChanges -= 1 }
      state.device.isOnline.toggle()
      state.isReportDue = true
    case .hostExits:
      state.left.hostExits -= 1
      state.device.generation += 1
      state.isReportDue = true
      for index in state.replicas.indices where state.replicas[index].isConnected {
        state.replicas[index].jobs.append(.presence(state.device.generation))
      }
    case .arrives:
      if let message = state.messages.first(where: { $0.arrival == action }) { arrives(message, &state) }
    }
    return state
  }

  /// The senders of a replica without a connection are mapped to the other one, and report again.
  private func move(from index: Int, _ state: inout State) {
    guard state.responsible == index else { return }
    if state.replicas[1 - index].isConnected { state.responsible = 1 - index }
    state.isReportDue = true
  }

  // MARK: A replica

  /// - Returns: what the job means for the state machine, and whether the device has returned to this replica
  ///   (`PushDeliveryService.returning`).
  private func event(of job: Job, at replica: Replica) -> (PushStateMachine.Event, isReturning: Bool) {
    switch job {
    case .reach(let isOnline, let generation):
      return (.reach(device: Self.device, isOnline: isOnline, isAwake: true, generation: generation), true)
    case .presence(let generation):
      return (
        .presence(device: Self.device, isPresent: true, generation: generation),
        replica.machine.hasReach(Self.device, generation: generation)
      )
    case .result(let number, _, let isRefused):
      let id = Self.id(number)
      return (
        isRefused ? .refused(id, of: Self.subject, why: "refused") : .acknowledged(id, of: Self.subject), false
      )
    }
  }

  /// `PushDeliveryService.open`: claims the route, or finds that another replica has, and loads what is kept.
  private func begin(_ index: Int, isReturning: Bool, _ state: inout State, _ log: inout Log) {
    if isReturning, state.replicas[index].epoch == nil { claim(index, &state, &log) }
    let (instance, epoch) = (state.replicas[index].instance, state.replicas[index].epoch)
    if let epoch, state.database.owner != instance || state.database.epoch != epoch {
      state.met.insert(.lost)
      state.replicas[index].epoch = nil
      if state.database.owner == nil || isReturning {
        claim(index, &state, &log)
      } else {
        log.add("forgets the device: \(state.database.owner.map { "instance \($0)" } ?? "no one") owns it")
        state.replicas[index].machine.forget(Self.connection)
        state.replicas[index].recorded = []
        state.replicas[index].isUnsent = false
      }
    }
    guard state.replicas[index].epoch != nil else { return }
    if state.replicas[index].machine.devices[Self.device] == nil {
      state.replicas[index].machine.load(Self.device, kept(in: [.sent, .stored], state))
    }
    guard state.replicas[index].isUnsent else { return }
    state.replicas[index].isUnsent = false
    handle(.restored(Self.device), index, &state, &log)
  }

  private func claim(_ index: Int, _ state: inout State, _ log: inout Log) {
    for other in state.replicas.indices where state.replicas[other].open != nil && other != index {
      // A stopped one: the database ends its transaction.
      state.met.insert(.terminated)
      state.replicas[other].open = nil
    }
    if state.database.owner.map({ $0 != state.replicas[index].instance }) ?? false { state.met.insert(.takenOver) }
    state.database.owner = state.replicas[index].instance
    state.database.epoch += 1
    state.replicas[index].epoch = state.database.epoch
    state.replicas[index].recorded = []
    log.add("claims  epoch \(state.database.epoch)")
    if !state.replicas[index].machine.claimed(Self.connection).isEmpty { state.replicas[index].isUnsent = true }
  }

  private func kept(in states: Set<Row.State>, _ state: State) -> [StoredPush] {
    state.database.rows.filter { states.contains($0.value.state) }.sorted { $0.key < $1.key }.map { number, row in
      var push = push(number)
      if row.isFromStorage { push = push.stored() }
      push.isHeld = row.state == .stored
      return push
    }
  }

  /// `PushDeliveryService.addShared`.
  private func handle(
    _ event: PushStateMachine.Event, _ index: Int, at now: Date = Self.now, _ state: inout State, _ log: inout Log
  ) {
    log.add("event   \(event)")
    if state.replicas[index].epoch != nil {
      return perform(state.replicas[index].machine.handle(event, now: now), index, &state, &log)
    }
    guard case .accepted(let push) = event else { return }
    if state.database.owner != nil {
      state.met.insert(.forwarded)
      state.database.rows[push.number] = Row(state: .arrived, isFromStorage: false)
      return
    }
    var stranger = PushStateMachine(settings: Self.settings)
    stranger.load(Self.device, kept(in: [.stored], state))
    perform(stranger.handle(event, now: now), index, &state, &log)
  }

  private func perform(
    _ actions: [PushStateMachine.Action], _ index: Int, _ state: inout State, _ log: inout Log
  ) {
    for action in actions {
      log.add("action  \(action)")
      switch action {
      case .keep(let push):
        let isFromStorage = push.notification.isFromStorage
        state.database.rows[push.number] = Row(state: isFromStorage ? .stored : .sent, isFromStorage: isFromStorage)
      case .drop(let push):
        if state.closed[push.number] == nil { state.objection = "a notification is dropped without a result" }
        state.database.rows[push.number] = nil
      case .send(let notification):
        let number = Int64(notification.uniqueID.uuid.15)
        guard let epoch = state.replicas[index].epoch else {
          state.objection = "a replica sends that is not the owner"
          return
        }
        if state.database.rows[number]?.state != .sent { state.objection = "a notification is sent that is not kept" }
        let message = Message(
          number: number, instance: state.replicas[index].instance, epoch: epoch,
          settled: scope.isOfFleet ? state.replicas[index].recorded : [])
        // One of the same id may be on its way, when its reply arrives after a claim. The device recognises the second.
        if !state.messages.contains(where: { $0.arrival == message.arrival }) { state.messages.insert(message) }
      case .step(let push, let name, _): step(push, name, &state)
      }
    }
    if state.database.rows.values.count(where: { $0.state == .stored }) > 1 {
      state.objection = "two notifications of a subject are stored"
    }
  }

  private func step(_ push: StoredPush, _ name: PushStep.Name, _ state: inout State) {
    switch name {
    case .delivered, .superseded, .collapsed, .expired, .notStored, .tokenUnregistered:
      if state.closed.updateValue(name, forKey: push.number) != nil {
        state.objection = "a notification has two results"
      }
      if name == .delivered {
        state.met.insert(.delivered)
        if !state.device.handled.contains(push.number) {
          state.objection = "a notification counts as delivered that the device does not have"
        }
      }
      if name == .superseded {
        state.met.insert(.superseded)
        if state.accepted.max() == push.number { state.objection = "the newest notification is superseded" }
      }
    case .sent: if push.notification.isFromStorage { state.database.rows[push.number]?.state = .sent }
    case .storedOffline, .storedPower, .accepted, .refused, .noContentChanged, .noWidget, .reloading, .budget,
      .reloaded, .reloadFailed, .supersededOnDevice, .handled, .discarded:
      break
    }
  }

  // MARK: The device

  /// `PushService.received`, and `FleetService.deliver`.
  private func arrives(_ message: Message, _ state: inout State) {
    let number = message.number
    state.messages.remove(message)
    var isRefused = false
    if scope.isOfFleet, scope.comparesEpochs, message.epoch < state.device.epoch {
      state.met.insert(.refused)
      isRefused = true
    } else {
      state.device.epoch = max(state.device.epoch, message.epoch)
      if state.device.known[number] != nil {
        state.met.insert(.recognised)
      } else if state.device.isOnline {
        if !state.device.handled.insert(number).inserted { state.objection = "a device handles a notification twice" }
        state.device.known[number] = message.epoch
      } else {
        isRefused = true
      }
      state.device.known = state.device.known.filter {
        !($0.value == message.epoch && message.settled.contains($0.key))
      }
    }
    guard let index = state.replicas.firstIndex(where: { $0.instance == message.instance }) else { return }
    state.replicas[index].jobs.append(.result(number, run: message.epoch, isRefused: isRefused))
  }

  private static func id(_ number: Int64) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
  }

  private func push(_ number: Int64) -> StoredPush {
    StoredPush(
      number: number,
      notification: PushedNotification(
        uniqueID: Self.id(number), apnsID: "", subject: Self.subject, type: .widgets, priority: 10, collapseID: nil,
        payload: "", acceptedAt: Self.now, expiration: nil, isFromStorage: false), token: "t")
  }

  // MARK: What must hold

  package var properties: [Property<State>] {
    var properties: [Property<State>] = [
      .always("a notification has one result, and the device handles it once") { $0.objection == nil },
      .always("every notification that has no result is kept") { state in
        state.accepted.allSatisfy { state.closed[$0] != nil || state.database.rows[$0] != nil }
      },
      .eventually("every notification has its result") { state in
        state.accepted.allSatisfy { state.closed[$0] != nil } && state.database.rows.isEmpty
      },
      .sometimes("a replica takes the device over") { $0.met.contains(.takenOver) },
      .sometimes("a former owner finds that it is none") { $0.met.contains(.lost) },
      .sometimes("a replica accepts a notification for the owner") { $0.met.contains(.forwarded) },
      .sometimes("a notification is delivered") { $0.met.contains(.delivered) },
      .sometimes("a notification is recognised that the device has") { $0.met.contains(.recognised) },
    ]
    if scope.pushes > 1 {
      properties.append(.sometimes("a later notification is on the disk first") { $0.met.contains(.outOfOrder) })
      properties.append(.sometimes("one replaces another") { $0.met.contains(.superseded) })
    }
    if scope.isOfFleet { properties.append(.sometimes("a former epoch is refused") { $0.met.contains(.refused) }) }
    if scope.stops > 0 {
      properties.append(.sometimes("the transaction of a stopped replica is ended") { $0.met.contains(.terminated) })
    }
    return properties
  }

  package func representative(of state: State) -> State {
    var state = state
    state.met = []
    return state
  }
}
