// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import PushRules

/// What the push server's database has.
final class PushServerDisk {
  struct Logged {
    let number: Int64
    let subject: PushSubject
    let token: String
    var steps: [PushStep]
  }

  let identity: UUID
  var opening = 0
  var kept: [Int64: StoredPush] = [:]
  var log: [UUID: Logged] = [:]
  var logOrder: [UUID] = []
  var tokens: [PushSubject: DeviceToken] = [:]
  /// Tokens that the device has not acknowledged.
  var due: [PushSubject: String?] = [:]
  var lastNumber: Int64 = 0

  init(identity: UUID) { self.identity = identity }

  func number(of id: UUID) -> Int64 { log[id]?.number ?? 0 }

  func record(of id: UUID) -> PushRecord? {
    log[id].map { logged in
      PushRecord(
        number: logged.number, uniqueID: id, apnsID: id.uuidString, subject: logged.subject, token: logged.token,
        type: nil, status: 200, reason: nil, steps: logged.steps)
    }
  }

  /// `PushDatabase.page`.
  func page(_ request: ListPushes) throws(BusError) -> ListPushes.Reply {
    let (ids, count) = request.selection(from: logOrder, id: { $0 }, number: { self.number(of: $0) })
    return try request.reply(ids.compactMap { record(of: $0) }, count: count)
  }

  /// The numbers ascend. One that is in the log too late goes before later ones.
  func add(_ logged: Logged, _ id: UUID) {
    log[id] = logged
    var place = logOrder.count
    while place > 0, number(of: logOrder[place - 1]) > logged.number { place -= 1 }
    logOrder.insert(id, at: place)
    // The laws ask only about pushes without a result, which are newer.
    if logOrder.count > 4096 {
      for id in logOrder.prefix(2048) { log[id] = nil }
      logOrder.removeFirst(2048)
    }
  }
}

/// The push server: the real `PushStateMachine`, and what `PushDeliveryService` does around it. What follows from a batch
/// is done when its transaction is on the disk.
final class SimulatedPushServer {
  /// What waits for the next transaction, and what follows from it, in the order of `PushDeliveryService.announce`.
  private struct Batch {
    var changes: [(PushServerDisk) -> Void] = []
    var tokens: [DeviceToken] = []
    var thens: [() -> Void] = []
    var notices: [PushLogged] = []
    var sends: [PushedNotification] = []
    var due: [(PushSubject, String?)] = []
  }

  private unowned let cluster: SimulatedCluster
  let connection: SimulatedConnection
  private let disk: PushServerDisk
  private var machine = PushStateMachine(settings: settings)
  private var batch = Batch()
  private var isCommitPlanned = false
  private var alarm: Int64?
  private var lastNumber: Int64
  /// As the memory has them.
  private var tokens: [PushSubject: DeviceToken]

  private var time: VirtualTime { cluster.time }

  private static var settings: PushSettings {
    var settings = PushSettings()
    settings.opportunities.priority5Interval = 900
    return settings
  }

  init(_ cluster: SimulatedCluster) {
    self.cluster = cluster
    disk = cluster.pushServerDisk
    disk.opening += 1
    lastNumber = disk.lastNumber
    tokens = disk.tokens
    connection = SimulatedConnection(
      .pushServer, on: cluster.bus, pid: cluster.nextPid(), incarnation: cluster.time.dice.uuid(),
      store: (disk.identity, disk.opening))
    listen()
    cluster.bus.connect(connection)
    for (subject, token) in disk.due.sorted(by: { $0.key.use.rawValue < $1.key.use.rawValue }) {
      notifyDevice(subject, token)
    }
    for push in disk.kept.values.sorted(by: { $0.number < $1.number }) where push.notification.isFromStorage {
      planEnd(push)
    }
    handle(.timerFired)
  }

  func kill() { connection.kill() }

  // MARK: The state machine

  private func handle(_ event: PushStateMachine.Event) {
    if let device = machine.missing(for: event) {
      machine.load(device, disk.kept.values.sorted { $0.number < $1.number })
    }
    cluster.decisions += 1
    for action in machine.handle(event, now: time.date) { perform(action) }
    setAlarm()
  }

  private func perform(_ action: PushStateMachine.Action) {
    switch action {
    case .keep(let push):
      batch.changes.append { disk in
        var kept = push
        kept.isHeld = push.notification.isFromStorage
        disk.kept[push.number] = kept
      }
      if push.notification.isFromStorage { planEnd(push) }
    case .drop(let push): batch.changes.append { $0.kept[push.number] = nil }
    case .send(let notification): batch.sends.append(notification)
    case .step(let push, let name, let detail):
      let step = PushStep(name, at: time.date, detail: detail)
      batch.changes.append { disk in
        disk.log[push.id]?.steps.append(step)
        if name == .sent, push.notification.isFromStorage { disk.kept[push.number]?.isHeld = false }
      }
      note(step, push.id, push.notification.subject, push.notification.type.rawValue)
    }
    planCommit()
  }

  private func note(_ step: PushStep, _ id: UUID, _ subject: PushSubject?, _ type: String?) {
    let count = cluster.mistake == .loggedTwice && step.name == .delivered ? 2 : 1
    for _ in 0..<count {
      batch.notices.append(PushLogged(uniqueID: id, subject: subject, type: type, step: step))
    }
  }

  private func setAlarm() {
    guard let instant = machine.nextInstant.map({ max($0.microseconds, time.now) + 1 }), alarm != instant else {
      return
    }
    alarm = instant
    time.at(instant, "push-server", "a date of the push server is reached") { [self] in
      guard connection.isAlive, alarm == instant else { return }
      alarm = nil
      handle(.timerFired)
    }
  }

  private func planEnd(_ push: StoredPush) {
    let end = push.end(Self.settings).microseconds + 2_000
    time.at(end, "push-server", "a stored push ends") { [self] in
      if connection.isAlive { handle(.ended(push.notification.subject)) }
    }
  }

  // MARK: Transactions

  private func planCommit() {
    guard !isCommitPlanned else { return }
    isCommitPlanned = true
    connection.after(time.span(300, 1_500), "a transaction is on the disk") { [self] in commit() }
  }

  private func commit() {
    isCommitPlanned = false
    cluster.commits += 1
    let batch = batch
    self.batch = Batch()
    for change in batch.changes { change(disk) }
    disk.tokens = tokens
    disk.lastNumber = lastNumber
    for token in batch.tokens { connection.notify(TokenChanged(token: token)) }
    for then in batch.thens { then() }
    for notice in batch.notices {
      connection.notify(notice, to: .journal, MessageContext(correlation: notice.uniqueID))
    }
    for notification in batch.sends { send(notification) }
    for (subject, token) in batch.due { notifyDevice(subject, token) }
    // A device without unacknowledged notifications is removed from memory when there are many.
    if time.dice.isOne(in: 8), machine.isIdle(SimulatedCluster.device), self.batch.changes.isEmpty {
      machine.unload([SimulatedCluster.device])
    }
  }

  private func afterCommit(_ act: @escaping () -> Void) {
    batch.thens.append(act)
    planCommit()
  }

  // MARK: Devices

  private func send(_ notification: PushedNotification) {
    let (id, subject) = (notification.uniqueID, notification.subject)
    let name = cluster.mistake == .pushToAnotherDevice ? subject.device + "-2" : subject.device
    let push = DeliverPush(notification: notification)
    let context = MessageContext(correlation: id)
    if cluster.mistake == .deliveredWhenSent {
      connection.deliver(push, to: .host(name), id: id, context)
      return handle(.acknowledged(id, of: subject))
    }
    connection.deliver(push, to: .host(name), id: id, context) { [self] error in
      guard let error else {
        if cluster.mistake == .sentAgain {
          connection.after(100_000, "sends an acknowledged push once more") { [self] in
            connection.deliver(push, to: .host(name), id: id, context)
          }
        }
        return handle(.acknowledged(id, of: subject))
      }
      handle(.refused(id, of: subject, why: error.message))
    }
  }

  private func notifyDevice(_ subject: PushSubject, _ token: String?) {
    connection.deliver(
      TokenReplaced(bundle: subject.bundle, use: subject.use, token: token), to: .host(subject.device)
    ) { [self] error in
      guard error == nil else { return }
      batch.changes.append { disk in
        if disk.due[subject] == token { disk.due[subject] = nil }
      }
      planCommit()
    }
  }

  private func listen() {
    connection.onPresence = { [unowned self] presence in
      guard presence.address.role == .host, let device = presence.address.device else { return }
      handle(.presence(device: device, isPresent: presence.isPresent, generation: presence.generation))
    }
    connection.onEvent(DeviceReach.self) { [unowned self] event, envelope in
      guard let device = envelope.header.source.device else { return }
      handle(
        .reach(
          device: device, isOnline: event.isOnline, isAwake: event.isAwake,
          generation: envelope.header.sourceGeneration))
      afterCommit { [self] in connection.acknowledge(envelope) }
    }
    connection.onEvent(PushProgress.self) { [unowned self] event, envelope in
      batch.changes.append { $0.log[event.uniqueID]?.steps.append(event.step) }
      afterCommit { [self] in connection.acknowledge(envelope) }
    }
    connection.onRequest(IssueToken.self) { [unowned self] request, envelope in
      let token = issue(
        PushSubject(device: SimulatedCluster.device, bundle: request.bundle, use: request.use), request.environment)
      afterCommit { [self] in
        connection.reply(envelope, to: IssueToken.self, IssueToken.Reply(token: token.token))
      }
    }
    connection.onRequest(ReleaseToken.self) { [unowned self] request, envelope in
      end(PushSubject(device: SimulatedCluster.device, bundle: request.bundle, use: request.use), .unregistered)
      afterCommit { [self] in connection.reply(envelope, to: ReleaseToken.self, Done()) }
    }
    connection.onRequest(ChangeToken.self) { [unowned self] request, envelope in
      rotate(request.subject)
      afterCommit { [self] in
        connection.reply(
          envelope, to: ChangeToken.self,
          ChangeToken.Reply(tokens: [tokens[request.subject]].compactMap(\.self)))
      }
    }
    connection.onRequest(SendPush.self) { [unowned self] request, envelope in
      guard let token = request.token else { return }
      accept(token, request.payload, request.headers) { [self] status, id in
        connection.reply(
          envelope, to: SendPush.self,
          SendPush.Reply(
            status: status, reason: status == 200 ? nil : "Unregistered", explanation: nil, apnsID: id.uuidString,
            uniqueID: id))
      }
    }
    connection.onRequest(ListPushes.self) { [unowned self] request, envelope in
      afterCommit { [self] in
        do throws(BusError) {
          connection.reply(envelope, to: ListPushes.self, try disk.page(request))
        } catch {
          connection.fail(envelope, error)
        }
      }
    }
  }

  // MARK: Tokens

  private func changed(_ token: DeviceToken) {
    batch.tokens.append(token)
    if token.state != .active { handle(.tokenEnded(token.token, of: token.subject)) }
    planCommit()
  }

  private func issue(_ subject: PushSubject, _ environment: PushEnvironment) -> DeviceToken {
    if let token = tokens[subject], token.state == .active, token.environment == environment { return token }
    let token = DeviceToken(
      token: time.dice.hexadecimal(4), subject: subject, environment: environment, state: .active, since: time.date)
    tokens[subject] = token
    changed(token)
    return token
  }

  private func end(_ subject: PushSubject, _ state: DeviceToken.State) {
    guard let token = tokens[subject], token.state == .active else { return }
    let ended = DeviceToken(
      token: token.token, subject: subject, environment: token.environment, state: state, since: time.date)
    tokens[subject] = ended
    changed(ended)
  }

  private func rotate(_ subject: PushSubject) {
    guard let environment = tokens[subject]?.environment, tokens[subject]?.state == .active else { return }
    end(subject, .expired)
    let token = issue(subject, environment)
    batch.changes.append { $0.due[subject] = .some(token.token) }
    batch.due.append((subject, token.token))
  }

  // MARK: Providers

  /// A provider's request, by HTTP or of an operator.
  ///
  /// - Parameter then: receives the status and the unique id, when the notification is on the disk or is refused.
  func accept(_ token: String, _ payload: String, _ headers: [String: String], then: @escaping (Int, UUID) -> Void) {
    let id = time.dice.uuid()
    guard let active = tokens.values.first(where: { $0.token == token && $0.state == .active }) else {
      note(PushStep(.refused, at: time.date, detail: "Unregistered: the token is not active"), id, nil, nil)
      return afterCommit { then(410, id) }
    }
    lastNumber += 1
    let (number, subject) = (lastNumber, active.subject)
    let type: PushType = subject.use == .widgets ? .widgets : .background
    let notification = PushedNotification(
      uniqueID: id, apnsID: id.uuidString, subject: subject, type: type,
      priority: headers["apns-priority"].flatMap(Int.init) ?? 10, collapseID: headers["apns-collapse-id"],
      payload: payload, acceptedAt: time.date,
      expiration: headers["apns-expiration"].flatMap(Double.init).map { Date(timeIntervalSince1970: $0) },
      isFromStorage: false)
    let step = PushStep(.accepted, at: time.date)
    let logged = PushServerDisk.Logged(number: number, subject: subject, token: token, steps: [step])
    if cluster.mistake == .answeredBeforeSaved {
      connection.after(200_000, "a push is in the log too late") { [self] in disk.add(logged, id) }
    } else {
      batch.changes.append { $0.add(logged, id) }
    }
    note(step, id, subject, type.rawValue)
    if !notification.isForOnce { batch.thens.append { then(200, id) } }
    handle(.accepted(StoredPush(number: number, notification: notification, token: token)))
    planCommit()
    if notification.isForOnce { then(200, id) }
  }
}
