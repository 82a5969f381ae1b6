import Foundation
import MessageBus
import Messages
import Timekeeping

extension TransferService {
  /// Delivers events to one instance of the owner, until they are acknowledged or the instance ends.
  func handOver(_ delivery: DeliveryStateMachine.Delivery, _ attempt: DeliveryStateMachine.Attempt) {
    let former = handOvers[delivery.id]
    former?.cancel()
    let work = clock.beginWork()
    handOvers[delivery.id] = Task {
      defer { clock.endWork(work) }
      // Both attempts use the same message id: wait, so that the end of the previous one does not end this one.
      await former?.value
      var failures = 0
      while !Task.isCancelled {
        do {
          let outcomes = try await outcomes(of: delivery)
          guard !Task.isCancelled else {
            for copy in outcomes.compactMap(\.file) { unlink(copy) }
            return
          }
          let events = try message(delivery, attempt, outcomes)
          handle(.sent(delivery.id, generation: attempt.generation))
          return await send(events, of: delivery)
        } catch {
          failures += 1
          for task in delivery.tasks.prefix(1) {
            let key = TaskKey(session: delivery.session, identifier: task)
            TransferService.record(bus, key, .retrying, 0, "the file cannot be delivered: \(error)")
          }
          clock.endWork(work)
          try? await clock.sleep(until: clock.now.addingTimeInterval(min(60, Double(failures))))
        }
      }
    }
  }

  private func message(
    _ delivery: DeliveryStateMachine.Delivery, _ attempt: DeliveryStateMachine.Attempt, _ outcomes: [TaskOutcome]
  ) throws -> SessionEvents {
    func events(_ outcomes: [TaskOutcome], _ file: String? = nil) -> SessionEvents {
      SessionEvents(
        session: delivery.session.identifier, wakesHandler: attempt.wakesHandler,
        finishes: attempt.wakesHandler || settings.observedEventOrder && delivery.wakes,
        handlerComesLast: settings.observedEventOrder && attempt.wakesHandler, outcomes: outcomes, outcomesFile: file)
    }
    let file = try overflow(events([]), outcomes, for: delivery.session.owner, delivery.id)
    return events(file == nil ? outcomes : [], file)
  }

  /// Notifies the owner that the time for the completion handler is running out. If the message is lost, the eviction
  /// follows without it.
  func expire(_ id: UUID) {
    guard let delivery = stateMachine.deliveries[id] else { return }
    bus.notify(
      ExpireEvents(session: delivery.session.identifier, delivery: id), to: delivery.session.owner,
      context: MessageContext(cause: id, correlation: delivery.session.context.correlation))
  }

  /// Writes values that do not fit in an envelope to a file in the owner's container.
  ///
  /// - Parameters:
  ///   - body: the message without the values.
  ///   - delivery: the delivery that the file belongs to. Without a delivery of this id, the file is kept until the
  ///     host restarts.
  /// - Returns: `nil` when the values fit in the envelope.
  func overflow(
    _ body: some Encodable, _ values: [some Encodable], for owner: Address, _ delivery: UUID
  ) throws -> String? {
    let lines = try BodyCoding.lines(values)
    guard try BodyCoding.data(body).count + lines.count > Wire.bodyLimit else { return nil }
    let path = try "\(copiesFolder(of: owner))/\(UUID().uuidString).json"
    try store.addCopies([path], of: delivery)
    try lines.write(to: URL(fileURLWithPath: path))
    return path
  }

  /// The time to acknowledge is over. The acknowledgement may be delayed by an unreachable bus, and the owner is not
  /// evicted for that: first the bus must reply, then the owner, or fail to within 5 s. Messages that the owner sent
  /// before its reply arrive before it.
  func ask(_ id: UUID, _ generation: UInt32) {
    guard let owner = stateMachine.deliveries[id]?.session.owner else { return }
    questions[id]?.cancel()
    let work = clock.beginWork()
    questions[id] = Task {
      defer { clock.endWork(work) }
      do throws(BusError) {
        _ = try await bus.request(Ping(), to: .messageBus, within: .seconds(86_400), whenUnreachable: .wait)
        _ = try await bus.request(Ping(), to: owner, within: .seconds(5), whenUnreachable: .wait)
      } catch {
        guard error.code != .closed else { return }
      }
      guard !Task.isCancelled else { return }
      questions[id] = nil
      handle(.overdue(id, generation: generation))
    }
  }

  private func send(_ events: SessionEvents, of delivery: DeliveryStateMachine.Delivery) async {
    let destination = deliverTo(delivery.session.owner)
    do throws(BusError) {
      try await bus.deliver(events, to: destination, id: delivery.id, context: delivery.session.context)
    } catch {
      // Cancelled, or this host leaves the bus: the caller of that handles the rest.
      guard error.code != .closed, !Task.isCancelled else { return }
      let notice = SessionUnclaimed(
        owner: delivery.session.owner, session: delivery.session.identifier, delivery: delivery.id, reason: "\(error)")
      bus.record(notice, context: MessageContext(cause: delivery.id, correlation: delivery.session.context.correlation))
      return handle(.refused(delivery.id))
    }
    handle(.acknowledged(delivery.id))
  }

  /// The outcome of each task, with a new copy of its file, so that this attempt has the original content whatever the
  /// owner did with an earlier copy. Earlier copies stay until the instance that has them ends: it may still handle the
  /// delivery of an earlier host, and then ignores this one.
  private func outcomes(of delivery: DeliveryStateMachine.Delivery) async throws -> [TaskOutcome] {
    let tasks = try store.tasks(delivery.tasks, of: delivery.session)
    let whole = tasks.filter { $0.failure == nil }
    let copies = try copyNames(whole.count, for: delivery.session.owner)
    try store.addCopies(copies, of: delivery.id)
    try await WholeFile.copy(zip(whole, copies).map { (path($0.key), $1) })
    var rest = copies[...]
    return tasks.map { task in
      TaskOutcome(
        task: task.snapshot(bytes: WholeFile.size(path(task.key))), response: task.response,
        file: task.failure == nil ? rest.popFirst() : nil, failure: task.failure, metrics: task.metrics)
    }
  }

  /// New file names like those of a device (observed): in the owner's container, below `Library/Caches`.
  private func copyNames(_ count: Int, for owner: Address) throws -> [String] {
    guard count > 0 else { return [] }
    let folder = try copiesFolder(of: owner)
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    return (0..<count).map { _ in
      "\(folder)/CFNetworkDownload_\(String((0..<6).compactMap { _ in letters.randomElement() })).tmp"
    }
  }

  private func copiesFolder(of owner: Address) throws -> String {
    guard let container = container(owner), let bundle = owner.bundleIdentifier else { throw NoContainer(owner: owner) }
    let folder = "\(container)/Library/Caches/com.apple.nsurlsessiond/Downloads/\(bundle)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Removes the copies of an instance that has ended.
  func removeCopies(of owner: Address, _ generation: UInt32) {
    do {
      if let list = lists.removeValue(forKey: owner) { try removeCopies(of: list) }
      for delivery in stateMachine.deliveries.values
      where delivery.session.owner == owner && delivery.last?.generation == generation {
        try removeCopies(of: delivery.id)
      }
    } catch {
      broken(error)
    }
  }

  private func removeCopies(of delivery: UUID) throws {
    let copies = try store.copies(of: delivery)
    for copy in copies { unlink(copy) }
    try store.forgetCopies(copies)
  }

  /// Removes the host's files and the remaining copies of a delivery. Its rows are removed already.
  func removeFiles(of delivery: DeliveryStateMachine.Delivery) {
    for task in delivery.tasks { unlink(path(TaskKey(session: delivery.session, identifier: task))) }
    do {
      try removeCopies(of: delivery.id)
    } catch {
      broken(error)
    }
  }

  /// Removes files whose rows an earlier host deleted just before it exited.
  func removeOrphans() throws {
    let copies = try store.orphanedCopies()
    for copy in copies { unlink(copy) }
    try store.forgetCopies(copies)
    let known = Set(try store.taskKeys().map { path($0.key) })
    for file in partFiles() where !known.contains(file) { unlink(file) }
  }
}

/// The owner is no longer in the configuration.
struct NoContainer: Error, CustomStringConvertible {
  let owner: Address
  var description: String { "\(owner) has no folder on this device" }
}
