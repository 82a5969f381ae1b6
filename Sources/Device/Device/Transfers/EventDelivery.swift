// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Timekeeping

/// Delivers the events of sessions to their owners until they are acknowledged, as `DeliveryStateMachine` decides.
///
/// Each change of the state machine is in the database before its owner gets the events of it. An acknowledgement is on
/// the disk before files are removed.
@DeviceActor final class EventDelivery: DevicePart {
  nonisolated let concerns: Set<DeviceConcern> = [.delivery]
  let context: TransferContext
  /// Owns the running attempts and the checks.
  let tasks: TaskOwner
  var files: OwnerFiles
  /// The folder of an owner.
  nonisolated let container: @Sendable (Address) -> String?
  private var stored: StoredDeliveries
  /// The last attempt of each delivery.
  var running: [UUID: Task<Void, Never>] = [:]
  /// For each delivery whose time is over, the check whether it may still be acknowledged.
  var checks: [UUID: Task<Void, Never>] = [:]
  /// Acknowledged deliveries whose removal is not on the disk yet, with the work that the clock waits for.
  private var acknowledged: [(delivery: DeliveryStateMachine.Delivery, work: ClockWork)] = []
  /// For each owner, the id under which the files with its task lists are stored. No delivery has this id.
  private var lists: [Address: UUID] = [:]

  nonisolated init(_ context: TransferContext, _ stateMachine: DeliveryStateMachine, files: OwnerFiles) {
    self.context = context
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.files = files
    container = files.container
    stored = StoredDeliveries(stateMachine)
  }

  var stateMachine: DeliveryStateMachine { context.core.state.delivery }

  /// Resumes after a host restart.
  ///
  /// - Parameter suspended: the generations of the owners that are suspended.
  func begin(suspended: [Address: UInt32]) {
    context.core.changeDelivery { $0.suspendedInstances = suspended }
    handle(.began)
    files.removeOrphans(of: Set(stateMachine.sessions.keys.map(\.owner)))
  }

  /// Cancels the attempts and checks, and returns when the last one has ended.
  func leave() async {
    await tasks.end()
    _ = writePostponed()
  }

  // MARK: The state machine

  func handle(_ event: DeliveryStateMachine.Event) { context.core.handle(.delivery(event)) }

  /// Writes or postpones the new state. While a file's row is in the database, the file must exist.
  func save(_ step: DeviceStep) throws { try context.core.changeDelivery { try context.store.save(&$0, &stored) } }

  /// Writes what waits for a transaction.
  ///
  /// - Returns: `false` when it cannot be written: the host exits.
  func writePostponed() -> Bool {
    do {
      try context.store.writePostponed()
      return true
    } catch {
      context.broken(error)
      return false
    }
  }

  /// Whether the next transaction that waits for the disk must be soon.
  var waitsForCommit: Bool { !acknowledged.isEmpty }

  /// The disk has everything that was postponed: removes the files of acknowledged deliveries.
  func committed() {
    let acknowledged = acknowledged
    self.acknowledged = []
    for (delivery, work) in acknowledged {
      removeFiles(of: delivery)
      let notice = SessionAcknowledged(
        owner: delivery.session.owner, session: delivery.session.identifier, delivery: delivery.id,
        tasks: TaskNumbers(delivery.tasks))
      context.bus.record(notice, context: delivery.context)
      context.clock.endWork(work)
    }
  }

  func perform(_ action: DeliveryStateMachine.Action) {
    switch action {
    case .process: break
    case .deliver(let id, let attempt):
      guard let delivery = stateMachine.deliveries[id] else { return }
      startDelivery(of: delivery, attempt)
    case .expire(let id): notifyOfExpiry(id)
    case .ask(let id, let generation): startCheck(of: id, generation)
    case .stop(let id):
      running[id]?.cancel()
      checks.removeValue(forKey: id)?.cancel()
    case .forget(let delivery):
      // Not necessarily the attempt that was acknowledged: the acknowledgement of an older instance may arrive last.
      running.removeValue(forKey: delivery.id)?.cancel()
      checks.removeValue(forKey: delivery.id)?.cancel()
      acknowledged.append((delivery, context.clock.beginWork()))
      context.commits.request()
    }
  }

  // MARK: Sessions

  /// The tasks of a session for its owner, in the reply or in a file.
  ///
  /// - Throws: database and file system errors.
  func taskList(of key: SessionKey) throws -> OpenSession.Reply {
    let listed = try context.store.tasks(of: key).filter { context.settings.listsEndedTasks || !$0.hasEnded }
    let tasks = listed.map { $0.snapshot(bytes: context.bytes(of: $0)) }
    let next = stateMachine.sessions[key]?.nextTaskIdentifier ?? 1
    let list = lists[key.owner] ?? UUID()
    lists[key.owner] = list
    let file = try files.overflow(OpenSession.Reply(nextTaskIdentifier: next, tasks: []), tasks, for: key.owner, list)
    return OpenSession.Reply(nextTaskIdentifier: next, tasks: file == nil ? tasks : [], tasksFile: file)
  }

  /// An instance of the owner has ended: removes its copies.
  func removeCopies(of owner: Address, _ deliveries: [UUID]) {
    if let list = lists.removeValue(forKey: owner) { files.remove(of: list) }
    for delivery in deliveries { files.remove(of: delivery) }
  }

  /// Another process has connected to a session of the owner.
  func tell(_ taken: SessionTaken, _ session: SessionKey) {
    context.bus.submit(taken, to: session.owner, id: .random(), context: session.context) { _ in }
  }

  /// Removes the host's files and the remaining copies of a delivery. Its rows are removed already.
  private func removeFiles(of delivery: DeliveryStateMachine.Delivery) {
    for task in delivery.tasks { unlink(context.path(TaskKey(session: delivery.session, identifier: task))) }
    files.remove(of: delivery.id)
  }
}

extension DeliveryStateMachine.Delivery {
  /// The context of messages about the delivery.
  var context: MessageContext { MessageContext(cause: id, correlation: session.context.correlation) }
}
