// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import FaultPoints
import Foundation
import Glibc
import MessageBus
import Messages
import OwnedTasks
import Stores
import Timekeeping

// One attempt of a delivery: the copies of the files, then the message, until the owner acknowledges it or the attempt
// is stopped.

extension EventDelivery {
  /// Starts to deliver events to one instance of the owner. An advance of the clock waits for it.
  func startDelivery(of delivery: DeliveryStateMachine.Delivery, _ attempt: DeliveryStateMachine.Attempt) {
    let former = running[delivery.id]
    former?.cancel()
    let work = context.clock.beginWork()
    let task = tasks.start {
      // Both attempts use the same message id: wait, so that the end of the previous one does not end this one.
      await former?.value
      await self.deliver(delivery, attempt, work)
    }
    if task == nil { context.clock.endWork(work) }
    running[delivery.id] = task
  }

  /// - Parameter first: the work that the clock waits for. It ends with the attempt.
  private func deliver(
    _ delivery: DeliveryStateMachine.Delivery, _ attempt: DeliveryStateMachine.Attempt, _ first: ClockWork
  ) async {
    var work = first
    defer { context.clock.endWork(work) }
    var failures = 0
    while !Task.isCancelled {
      do {
        let events = try message(delivery, attempt, try await outcomes(of: delivery))
        handle(.sent(delivery.id, generation: attempt.generation))
        // Before the owner gets the events.
        guard writePostponed() else { return }
        return await send(events, of: delivery)
      } catch {
        guard !Task.isCancelled else { return }
        failures += 1
        for task in delivery.tasks.prefix(1) {
          let key = TaskKey(session: delivery.session, identifier: task)
          context.record(key, .retrying, 0, "the file cannot be delivered: \(error)")
        }
        context.clock.endWork(work)
        let retry = context.clock.now.addingTimeInterval(min(60, Double(failures)))
        guard let next = try? await context.clock.wait(until: retry) else { return }
        work = next
      }
    }
  }

  private func send(_ events: SessionEvents, of delivery: DeliveryStateMachine.Delivery) async {
    let owner = delivery.session.owner
    do throws(BusError) {
      try await context.bus.deliver(events, to: owner, id: delivery.id, context: delivery.session.context)
    } catch {
      // Cancelled, or this host leaves the bus: the caller of that handles the rest.
      guard error.code != .closed, !Task.isCancelled else { return }
      let notice = SessionUnclaimed(
        owner: owner, session: delivery.session.identifier, delivery: delivery.id, reason: "\(error)")
      context.bus.record(notice, context: delivery.context)
      return handle(.refused(delivery.id))
    }
    handle(.acknowledged(delivery.id, of: delivery.tasks))
  }

  private func message(
    _ delivery: DeliveryStateMachine.Delivery, _ attempt: DeliveryStateMachine.Attempt, _ outcomes: [TaskOutcome]
  ) throws -> SessionEvents {
    let isObserved = context.settings.observedEventOrder
    func events(_ outcomes: [TaskOutcome], _ file: String? = nil) -> SessionEvents {
      SessionEvents(
        session: delivery.session.identifier, wakesHandler: attempt.wakesHandler,
        finishes: attempt.wakesHandler || isObserved && delivery.wakes,
        handlerComesLast: isObserved && attempt.wakesHandler, outcomes: outcomes, outcomesFile: file,
        fileTasks: file == nil ? nil : TaskNumbers(delivery.tasks))
    }
    let file = try files.overflow(events([]), outcomes, for: delivery.session.owner, delivery.id)
    return events(file == nil ? outcomes : [], file)
  }

  /// The outcome of each task, with a new copy of its file, so that this attempt has the original content whatever the
  /// owner did with an earlier copy. Earlier copies stay until the instance that has them ends: it may still handle the
  /// delivery of an earlier host, and then ignores this one.
  ///
  /// - Throws: `CancellationError`, database and file system errors. No new copy is left then.
  private func outcomes(of delivery: DeliveryStateMachine.Delivery) async throws -> [TaskOutcome] {
    var tasks = try context.store.tasks(delivery.tasks, of: delivery.session)
    for index in tasks.indices where isLost(tasks[index]) { tasks[index].failure = Self.lostFile }
    let whole = tasks.filter { $0.failure == nil }
    let copies = try files.copyNames(whole.count, for: delivery.session.owner, delivery.id)
    do {
      FaultPoint.hostBeforeFilesCopied.reached()
      try await EventDelivery.copy(whole, to: copies, context)
      FaultPoint.hostAfterFilesCopied.reached()
      try Task.checkCancellation()
    } catch {
      for copy in copies { unlink(copy) }
      throw error
    }
    var rest = copies[...]
    return tasks.map { task in
      TaskOutcome(
        task: task.snapshot(bytes: context.bytes(of: task)), response: task.response,
        file: task.failure == nil ? rest.popFirst() : nil, failure: task.failure, metrics: task.metrics)
    }
  }

  /// The file of a download may be gone: an older copy of the database was put back, or someone removed it. It does not
  /// come back, so the task ends with -3001 instead of waiting for it.
  private nonisolated static let lostFile = TransferFailure(
    code: URLError.cannotOpenFile.rawValue, message: "the downloaded file is not on this device any more")

  private func isLost(_ task: StoredTask) -> Bool {
    task.failure == nil && task.contentLength == nil && access(context.path(task.key), F_OK) != 0 && errno == ENOENT
  }

  /// Copies the bodies of tasks in order, and yields to transfers between two of them. A file, which may be long, is copied
  /// on another thread.
  ///
  /// - Throws: `CancellationError`, database and file system errors. The bodies before the failed one have been copied.
  private nonisolated static func copy(
    _ tasks: [StoredTask], to copies: [String], _ context: TransferContext
  ) async throws {
    for (index, (task, copy)) in zip(tasks, copies).enumerated() {
      if index > 0 { await Task.yield() }
      try Task.checkCancellation()
      context.underWay.begin(task.key.work)
      defer { context.underWay.end(task.key.work) }
      if task.contentLength != nil, let content = try context.store.content(of: task.key) {
        try WholeFile.create(copy, content)
      } else {
        try context.space()?.require(context.bytes(task.key))
        try await WholeFile.copy(context.path(task.key), to: copy)
      }
    }
  }

  // MARK: The deadline

  /// Notifies the owner that the time for the completion handler is running out. If the message is lost, the eviction
  /// follows without it.
  func notifyOfExpiry(_ id: UUID) {
    guard let delivery = stateMachine.deliveries[id] else { return }
    context.bus.notify(
      ExpireEvents(session: delivery.session.identifier, delivery: id), to: delivery.session.owner,
      context: delivery.context)
  }

  /// The time to acknowledge is over. The acknowledgement may be delayed by an unreachable bus, and the owner is not
  /// evicted for that: first the bus must reply, then the owner, or fail to within 5 s. Messages that the owner sent
  /// before its reply arrive before it.
  func startCheck(of id: UUID, _ generation: UInt32) {
    guard let owner = stateMachine.deliveries[id]?.session.owner else { return }
    checks[id]?.cancel()
    checks[id] = tasks.start(holding: context.clock) { await self.check(id, generation, owner) }
  }

  private func check(_ id: UUID, _ generation: UInt32, _ owner: Address) async {
    do throws(BusError) {
      _ = try await context.bus.request(Ping(), to: .messageBus, within: .seconds(86_400), whenUnreachable: .wait)
      _ = try await context.bus.request(Ping(), to: owner, within: .seconds(5), whenUnreachable: .wait)
    } catch {
      guard error.code != .closed else { return }
    }
    guard !Task.isCancelled else { return }
    checks[id] = nil
    handle(.overdue(id, generation: generation))
  }
}
