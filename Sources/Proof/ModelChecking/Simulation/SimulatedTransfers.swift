// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import Messages

// The transfers of the host: `TransferScheduler`, `TransferAttempt` with a server, and `EventDelivery`.

extension SimulatedHost {
  // MARK: Loading

  func perform(_ action: LoadingStateMachine.Action) {
    switch action {
    case .load(let key): load(key)
    case .stop(let key):
      guard attempts.removeValue(forKey: key) != nil else { return }
      connection.after(time.span(50, 500), "an attempt to load stops") { [self] in handle(.loading(.stopped(key))) }
    case .waits(let key, let wait): progress(key, .waiting, bytes: disk.parts[key] ?? 0, "waits for \(wait)")
    case .expire(let key, let reason):
      let failure = TransferFailure(code: -1001, message: "the request timed out", networkUnavailableReason: reason)
      end(key, failure: failure)
    case .limiter(_, let limiter, let reason):
      record(
        LimiterChanged(
          owner: limiter.owner, delay: limiter.delay, until: limiter.delay > 0 ? limiter.until : nil, reason: reason))
    case .ask: break
    }
  }

  func progress(
    _ key: TaskKey, _ step: TransferProgress.Step, bytes: Int64, _ detail: String? = nil, sha256: String? = nil
  ) {
    record(
      TransferProgress(
        owner: key.session.owner, session: key.session.identifier, taskIdentifier: key.identifier, step: step,
        bytes: bytes, sha256: sha256, detail: detail), key.session.context)
  }

  /// One attempt: the server responds, and the body ends, breaks off, or is refused.
  private func load(_ key: TaskKey) {
    lastAttempt += 1
    let attempt = lastAttempt
    attempts[key] = attempt
    func after(_ span: Int64, _ what: String, _ act: @escaping () -> Void) {
      connection.after(span, what) { [self] in
        if attempts[key] == attempt { act() }
      }
    }
    let start = disk.parts[key] ?? 0
    after(time.span(5_000, 120_000), "a server responds") { [self] in
      if time.dice.isOne(in: 12) {
        attempts[key] = nil
        return failed(key, progressed: false, "could not connect to the server")
      }
      progress(key, start > 0 ? .resumed : .started, bytes: start)
      after(time.span(20_000, time.dice.isOne(in: 4) ? 240_000_000 : 3_000_000), "a body ends") { [self] in
        attempts[key] = nil
        let received = start + 1 + Int64(time.dice.below(200_000))
        switch time.dice.below(16) {
        case 0:
          disk.parts[key] = received
          failed(key, progressed: true, "the network connection was lost")
        case 1: end(key, failure: TransferFailure(code: -1011, message: "bad server response"))
        default: end(key, failure: nil, bytes: received)
        }
      }
    }
  }

  private func failed(_ key: TaskKey, progressed: Bool, _ reason: String) {
    handle(.loading(.failed(key, progressed: progressed)))
    progress(key, .retrying, bytes: disk.parts[key] ?? 0, reason)
  }

  /// `TransferScheduler.addEnd`: recorded with the next transaction that waits for the disk.
  func end(_ key: TaskKey, failure: TransferFailure?, bytes: Int64? = nil) {
    guard machine.loading.transfers[key] != nil else { return }
    attempts[key] = nil
    ends.append(
      HostDisk.End(
        key: key, failure: failure, bytes: bytes ?? disk.parts[key] ?? 0,
        sha256: failure == nil ? time.dice.hexadecimal(4) : nil, transfer: machine.loading.transfers[key]))
    plan(.lasting)
    handle(.delivery(.ending(key)))
    handle(.loading(.ended(key)))
  }

  /// The end of a task is on the disk.
  func report(_ end: HostDisk.End) {
    let step: TransferProgress.Step = end.failure.map { $0.code == -999 ? .cancelled : .failed } ?? .finished
    for _ in 0..<(cluster.mistake == .endReportedTwice ? 2 : 1) {
      connection.notify(
        TransferProgress(
          owner: end.key.session.owner, session: end.key.session.identifier, taskIdentifier: end.key.identifier,
          step: step, bytes: end.bytes, sha256: end.sha256, detail: end.failure?.message ?? "HTTP 200"),
        to: .journal, end.key.session.context)
    }
  }

  // MARK: Delivery

  func perform(_ action: DeliveryStateMachine.Action) {
    switch action {
    case .asks: break
    case .deliver(let id, let attempt):
      guard let delivery = machine.delivery.deliveries[id] else { return }
      start(delivery, attempt)
    case .stop(let id): stop(id)
    case .expire(let id):
      guard let session = machine.delivery.deliveries[id]?.session else { return }
      afterCommit { [self] in
        connection.notify(
          ExpireEvents(session: session.identifier, delivery: id), to: session.owner,
          MessageContext(cause: id, correlation: session.context.correlation))
      }
    case .ask(let id, let generation): check(id, generation)
    case .forget(let delivery):
      stop(delivery.id)
      acknowledged.append(delivery)
      plan(.lasting)
    }
  }

  private func stop(_ id: UUID) {
    deliveries[id] = nil
    connection.forget(id)
  }

  /// Copies the files, then sends the events until the owner acknowledges them.
  private func start(_ delivery: DeliveryStateMachine.Delivery, _ attempt: DeliveryStateMachine.Attempt) {
    stop(delivery.id)
    lastDelivery += 1
    let number = lastDelivery
    deliveries[delivery.id] = number
    connection.after(time.span(200, 900) + Int64(delivery.tasks.count) * 100, "copies of files are complete") {
      [self] in
      guard deliveries[delivery.id] == number else { return }
      let events = SessionEvents(
        session: delivery.session.identifier, wakesHandler: attempt.wakesHandler,
        outcomes: delivery.tasks.map { outcome(TaskKey(session: delivery.session, identifier: $0), delivery.id) })
      handle(.delivery(.sent(delivery.id, generation: attempt.generation)))
      // Before the owner gets the events.
      plan(.soon)
      afterCommit { [self] in
        guard deliveries[delivery.id] == number else { return }
        send(events, of: delivery, number)
      }
    }
  }

  private func outcome(_ key: TaskKey, _ delivery: UUID) -> TaskOutcome {
    let end = disk.outcomes[key]
    var file: String?
    if let end, end.failure == nil, let sha256 = end.sha256 {
      let name = "CFNetworkDownload_\(time.dice.hexadecimal(1).prefix(6)).tmp"
      cluster.files[name] =
        cluster.mistake == .truncatedCopy
        ? (end.bytes - 1, time.dice.hexadecimal(4)) : (end.bytes, sha256)
      cluster.copies[delivery, default: []].append(name)
      file = name
    }
    return TaskOutcome(
      task: snapshot(key, bytes: end?.bytes ?? 0),
      response: end?.failure == nil
        ? TransferResponse(url: url(of: key), status: 200, headers: [], expectedLength: end?.bytes ?? -1) : nil,
      file: file, failure: end?.failure)
  }

  private func url(of key: TaskKey) -> String { "https://example.com/drinks/\(key.identifier)" }

  func snapshot(_ key: TaskKey, bytes: Int64) -> TaskSnapshot {
    TaskSnapshot(
      taskIdentifier: key.identifier, request: TransferRequest(url: url(of: key)), taskDescription: nil,
      bytesReceived: bytes, bytesExpected: bytes)
  }

  private func send(_ events: SessionEvents, of delivery: DeliveryStateMachine.Delivery, _ number: Int) {
    let owner = delivery.session.owner
    let receiver = cluster.mistake == .misrouted && owner.role == .widgetExtension ? SimulatedCluster.app : owner
    connection.deliver(events, to: receiver, id: delivery.id, delivery.session.context) { [self] error in
      guard deliveries[delivery.id] == number else { return }
      deliveries[delivery.id] = nil
      guard let error else {
        handle(.delivery(.acknowledged(delivery.id, of: delivery.tasks)))
        guard cluster.mistake == .deliveredTwice else { return }
        return connection.after(100_000, "sends acknowledged events once more") { [self] in
          connection.deliver(events, to: owner, id: time.dice.uuid(), delivery.session.context)
        }
      }
      record(
        SessionUnclaimed(
          owner: owner, session: delivery.session.identifier, delivery: delivery.id, reason: "\(error)"),
        MessageContext(cause: delivery.id, correlation: delivery.session.context.correlation))
      handle(.delivery(.refused(delivery.id)))
    }
    if cluster.mistake == .deletedWhenSent { handle(.delivery(.acknowledged(delivery.id, of: delivery.tasks))) }
  }

  /// Its removal is on the disk.
  func forgotten(_ delivery: DeliveryStateMachine.Delivery) {
    for name in cluster.copies.removeValue(forKey: delivery.id) ?? [] { cluster.files[name] = nil }
    connection.notify(
      SessionAcknowledged(
        owner: delivery.session.owner, session: delivery.session.identifier, delivery: delivery.id,
        tasks: TaskNumbers(delivery.tasks)), to: .journal,
      MessageContext(cause: delivery.id, correlation: delivery.session.context.correlation))
  }

  /// First the bus must reply, then the owner, or fail to within 5 s.
  private func check(_ id: UUID, _ generation: UInt32) {
    guard let owner = machine.delivery.deliveries[id]?.session.owner else { return }
    afterCommit { [self] in
      connection.request(Ping(), to: .messageBus, within: 24 * Span.hour) { [self] _ in
        connection.request(Ping(), to: owner, within: 5 * Span.second) { [self] _ in
          guard machine.delivery.deliveries[id] != nil else { return }
          handle(.delivery(.overdue(id, generation: generation)))
        }
      }
    }
  }

  // MARK: Requests of owners

  func open(_ request: OpenSession, _ envelope: Envelope) {
    let header = envelope.header
    let key = SessionKey(owner: header.source, identifier: request.identifier)
    if let other = machine.delivery.otherProcess(with: key, SimulatedCluster.families) {
      return afterCommit { [self] in
        connection.fail(envelope, BusError(.sessionInUse, "\(other) has the session \(key.identifier) open"))
      }
    }
    plan(.lasting)
    handle(.loading(.opened(key, request.configuration)))
    handle(.resumed(header.source, generation: header.sourceGeneration))
    handle(.delivery(.opened(key, sendsLaunchEvents: true, generation: header.sourceGeneration)))
    let session = machine.delivery.sessions[key]
    let tasks = (session?.creators.keys.sorted() ?? []).map { number in
      let task = TaskKey(session: key, identifier: number)
      return snapshot(task, bytes: disk.outcomes[task]?.bytes ?? disk.parts[task] ?? 0)
    }
    let reply = OpenSession.Reply(nextTaskIdentifier: session?.nextTaskIdentifier ?? 1, tasks: tasks)
    afterCommit { [self] in connection.reply(envelope, to: OpenSession.self, reply) }
  }

  func create(_ request: CreateTransfer, _ envelope: Envelope) {
    let header = envelope.header
    let key = TaskKey(
      session: SessionKey(owner: header.source, identifier: request.session), identifier: request.taskIdentifier)
    guard machine.loading.sessions[key.session] != nil else {
      return afterCommit { [self] in
        connection.fail(envelope, BusError(.noSuchSession, "\(header.source) has not created the session"))
      }
    }
    if cluster.mistake == .acceptedBeforeSaved {
      connection.reply(envelope, to: CreateTransfer.self, Done())
      return connection.after(2 * Span.second, "stores a task too late") { [self] in store(key, header) }
    }
    store(key, header)
    afterCommit { [self] in connection.reply(envelope, to: CreateTransfer.self, Done()) }
  }

  private func store(_ key: TaskKey, _ header: EnvelopeHeader) {
    guard machine.delivery.isNew(key, by: header.sourceGeneration) else { return }
    plan(.lasting)
    handle(.delivery(.created(key, by: header.sourceGeneration)))
    handle(
      .loading(
        .created(
          LoadingStateMachine.Transfer(
            key: key, host: "https://example.com:443", created: time.date,
            isInBackground: !machine.loading.isInFront(header.source)))))
  }
}

extension BusError.Code {
  /// Source: `TransferService`.
  static let noSuchSession = BusError.Code("no-such-session")
}
