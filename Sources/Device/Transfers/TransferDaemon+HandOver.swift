import Conversations
import Foundation
import MessageBus
import Timekeeping

extension TransferDaemon {
  /// Hands the events of a delivery to one life of the owner, until they are acknowledged or the life is over.
  func handOver(_ delivery: DeliveryDecision.Delivery, _ attempt: DeliveryDecision.Attempt) {
    handOvers[delivery.id]?.cancel()
    handOvers[delivery.id] = Task {
      var failures = 0
      while !Task.isCancelled {
        do {
          let outcomes = try await outcomes(of: delivery)
          guard !Task.isCancelled else {
            for copy in outcomes.compactMap(\.file) { unlink(copy) }
            return
          }
          let events = SessionEvents(
            session: delivery.session.identifier, wakesHandler: attempt.wakesHandler, outcomes: outcomes)
          return await send(events, of: delivery)
        } catch {
          failures += 1
          for task in delivery.tasks.prefix(1) {
            let key = TaskKey(session: delivery.session, identifier: task)
            TransferDaemon.record(bus, key, .retrying, 0, "the file cannot be handed over: \(error)")
          }
          try? await clock.sleep(until: clock.now.addingTimeInterval(min(60, Double(failures))))
        }
      }
    }
  }

  private func send(_ events: SessionEvents, of delivery: DeliveryDecision.Delivery) async {
    let destination = deliverTo(delivery.session.owner)
    do throws(BusError) {
      try await bus.deliver(events, to: destination, id: delivery.id, story: delivery.session.story)
    } catch {
      // Cancelled, or this host leaves the bus: what follows is said by whoever did it.
      guard error.code != .closed, !Task.isCancelled else { return }
      let key = TaskKey(session: delivery.session, identifier: delivery.tasks.first ?? 0)
      TransferDaemon.record(
        bus, key, .retrying, 0, "the events are held until a process creates the session: \(error)")
      return take(.refused(delivery.id))
    }
    take(.acknowledged(delivery.id))
  }

  /// What became of each task, with a copy of its file for this hand-over alone: whatever an earlier life did with
  /// its own, this one is whole.
  private func outcomes(of delivery: DeliveryDecision.Delivery) async throws -> [TaskOutcome] {
    try removeCopies(of: delivery.id)
    let tasks = try store.tasks(of: delivery.session)
    var outcomes: [TaskOutcome] = []
    for identifier in delivery.tasks {
      guard let task = tasks.first(where: { $0.key.identifier == identifier }) else { continue }
      let file = path(task.key)
      let bytes = WholeFile.size(file)
      let snapshot = TaskSnapshot(
        taskIdentifier: identifier, request: task.request, taskDescription: task.description, bytesReceived: bytes,
        bytesExpected: task.response?.expectedLength ?? -1)
      let copy = task.failure == nil ? try await self.copy(file, for: delivery) : nil
      outcomes.append(TaskOutcome(task: snapshot, response: task.response, file: copy, failure: task.failure))
    }
    return outcomes
  }

  /// A copy where a device has it (observed): in the owner's container, below `Library/Caches`.
  private func copy(_ file: String, for delivery: DeliveryDecision.Delivery) async throws -> String {
    let owner = delivery.session.owner
    guard let container = container(owner), let bundle = owner.bundleIdentifier else { throw NoContainer(owner: owner) }
    let folder = "\(container)/Library/Caches/com.apple.nsurlsessiond/Downloads/\(bundle)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    let name = String((0..<6).compactMap { _ in letters.randomElement() })
    let path = "\(folder)/CFNetworkDownload_\(name).tmp"
    try store.addCopy(path, of: delivery.id)
    try await WholeFile.copy(file, to: path)
    return path
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
    let known = Set(try store.tasks().map { path($0.key) })
    for file in partFiles() where !known.contains(file) { unlink(file) }
  }
}

/// An owner that no configuration names any longer.
struct NoContainer: Error, CustomStringConvertible {
  let owner: Address
  var description: String { "\(owner) has no folder on this device" }
}
