import Conversations
import Foundation
import MessageBus
import Timekeeping

extension TransferDaemon {
  /// Hands the events of a delivery to one life of the owner, until they are acknowledged or the life is over.
  func handOver(_ delivery: DeliveryDecision.Delivery, _ attempt: DeliveryDecision.Attempt) {
    let former = handOvers[delivery.id]
    former?.cancel()
    let work = clock.beginWork()
    handOvers[delivery.id] = Task {
      defer { clock.endWork(work) }
      // Both say the same id on the bus: the end of the former must not end this one.
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
          take(.sent(delivery.id, generation: attempt.generation))
          return await send(events, of: delivery)
        } catch {
          failures += 1
          for task in delivery.tasks.prefix(1) {
            let key = TaskKey(session: delivery.session, identifier: task)
            TransferDaemon.record(bus, key, .retrying, 0, "the file cannot be handed over: \(error)")
          }
          clock.endWork(work)
          try? await clock.sleep(until: clock.now.addingTimeInterval(min(60, Double(failures))))
        }
      }
    }
  }

  private func message(
    _ delivery: DeliveryDecision.Delivery, _ attempt: DeliveryDecision.Attempt, _ outcomes: [TaskOutcome]
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

  /// The time for the completion is running out: the owner is told. It may be lost: then the eviction comes without it.
  func expire(_ id: UUID) {
    guard let delivery = decision.deliveries[id] else { return }
    bus.notify(
      ExpireEvents(session: delivery.session.identifier, delivery: id), to: delivery.session.owner,
      story: Story(cause: id, correlation: delivery.session.story.correlation))
  }

  /// Where values are too many for an envelope: a file with them in the owner's container.
  ///
  /// - Parameters:
  ///   - body: what they are a part of, without them.
  ///   - delivery: with which the file goes; with the host's life when there is none of this id.
  /// - Returns: `nil` when they are not too many.
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

  /// The time to acknowledge is over. An owner whose acknowledgement may be on its way through a bus that is away is
  /// not evicted for that: first the bus must answer, then the owner, or not within 5 s, with what it has to say in
  /// front of it.
  func ask(_ id: UUID, _ generation: UInt32) {
    guard let owner = decision.deliveries[id]?.session.owner else { return }
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
      take(.overdue(id, generation: generation))
    }
  }

  private func send(_ events: SessionEvents, of delivery: DeliveryDecision.Delivery) async {
    let destination = deliverTo(delivery.session.owner)
    do throws(BusError) {
      try await bus.deliver(events, to: destination, id: delivery.id, story: delivery.session.story)
    } catch {
      // Cancelled, or this host leaves the bus: what follows is said by whoever did it.
      guard error.code != .closed, !Task.isCancelled else { return }
      let notice = SessionUnclaimed(
        owner: delivery.session.owner, session: delivery.session.identifier, delivery: delivery.id, reason: "\(error)")
      bus.record(notice, story: Story(cause: delivery.id, correlation: delivery.session.story.correlation))
      return take(.refused(delivery.id))
    }
    take(.acknowledged(delivery.id))
  }

  /// What became of each task, with a copy of its file for this hand-over alone: whatever the owner did with an earlier one,
  /// this one is whole. The earlier stay as long as the life that has them: it may be at work on what another life of the
  /// host handed over, and then does not look at this.
  private func outcomes(of delivery: DeliveryDecision.Delivery) async throws -> [TaskOutcome] {
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

  /// New files where a device has them (observed): in the owner's container, below `Library/Caches`.
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

  /// Removes what a life of an owner that is over was handed.
  func removeCopies(of owner: Address, _ generation: UInt32) {
    do {
      if let list = lists.removeValue(forKey: owner) { try removeCopies(of: list) }
      for delivery in decision.deliveries.values
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

  /// The rows are gone; now the host's own files and what is left of the copies.
  func removeFiles(of delivery: DeliveryDecision.Delivery) {
    for task in delivery.tasks { unlink(path(TaskKey(session: delivery.session, identifier: task))) }
    do {
      try removeCopies(of: delivery.id)
    } catch {
      broken(error)
    }
  }

  /// Removes files whose rows an earlier life of the host removed just before it died.
  func removeOrphans() throws {
    let copies = try store.orphanedCopies()
    for copy in copies { unlink(copy) }
    try store.forgetCopies(copies)
    let known = Set(try store.taskKeys().map { path($0.key) })
    for file in partFiles() where !known.contains(file) { unlink(file) }
  }
}

/// An owner that no configuration names any longer.
struct NoContainer: Error, CustomStringConvertible {
  let owner: Address
  var description: String { "\(owner) has no folder on this device" }
}
