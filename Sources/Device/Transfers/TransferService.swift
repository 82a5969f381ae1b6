// SPDX-License-Identifier: Apache-2.0

import Foundation
package import GRDB
package import MessageBus
package import Messages
import OwnedTasks
package import ProcessActions
package import Stores
package import Timekeeping

/// The transfer service: the background transfer service of a device.
///
/// A task is on disk before `create` returns. It loads whether its owner or the bus is running or not, and continues
/// where its file ends after a restart of the host. Its events are delivered until they are acknowledged.
///
/// `TransferScheduler` loads the tasks and `EventDelivery` delivers their events. The service has no state: it passes
/// requests and events to them. One call changes both state machines.
@DeviceActor package final class TransferService {
  /// In order.
  package nonisolated let outputs: Outputs<TransferOutput>
  /// What the service needs from processes, in order.
  package nonisolated let processActions: Outputs<ProcessAction>
  let context: TransferContext
  let scheduler: TransferScheduler
  let delivery: EventDelivery

  /// Reads the state that the previous host wrote. Nothing is started before `begin()`.
  ///
  /// - Parameters:
  ///   - folder: where the part files are.
  ///   - families: which app an extension belongs to.
  ///   - underWay: a task that it sets aside fails with -1, and is not loaded or copied.
  ///   - isAwake: whether an owner runs now and can receive the progress of its tasks.
  ///   - container: the folder of an owner, in which its copies are placed.
  ///   - space: the space of the disk; `nil` for no limit.
  /// - Throws: database errors.
  package nonisolated init(
    folder: String, database: any DatabaseWriter, bus: any BusConnection, clock: any ControllableClock,
    settings: TransferSettings, families: AppFamilies = AppFamilies(), underWay: UnderWay = UnderWay(),
    isAwake: @escaping @Sendable (Address) async -> Bool = { _ in true },
    container: @escaping @Sendable (Address) -> String?, space: @escaping @Sendable () -> TransferSpace? = { nil },
    transactions: DeviceTransactions? = nil
  ) throws {
    context = try TransferContext(
      folder: folder, database: database, bus: bus, clock: clock, settings: settings, families: families,
      underWay: underWay, space: space, transactions: transactions)
    outputs = context.outputs
    processActions = context.processActions
    delivery = try EventDelivery(context, files: try OwnerFiles(store: context.store, container: container))
    let scheduler = try TransferScheduler(context, delivery: delivery, isAwake: isAwake)
    self.scheduler = scheduler
    context.commits.begin { [weak scheduler] in scheduler?.commit() }
  }

  /// Continues every task that has not ended, and requests the owners of pending events. Does not need the bus.
  ///
  /// - Parameters:
  ///   - network: the current network. Tasks that may not use it wait.
  ///   - suspended: the generations of the owners that are suspended.
  /// - Throws: database errors.
  package func begin(network: NetworkState = NetworkState(), suspended: [Address: UInt32] = [:]) throws {
    scheduler.failEndedTasksSetAside()
    // First: the owners become ready during the rest.
    delivery.begin(suspended: suspended)
    try context.removeOrphanedParts()
    try context.removePartsOfEarlierBoot()
    scheduler.failTasksSetAside()
    scheduler.begin(network: network)
  }

  /// Stops the loading tasks where they are and all deliveries, and returns when nothing runs any more. They continue
  /// after a restart. Must be the last call.
  package func leave() async {
    context.stop()
    delivery.tasks.cancel()
    await scheduler.leave()
    await delivery.leave()
  }

  // MARK: Events from the rest of the host

  /// The owner runs. `woken`: it was launched or resumed a moment ago.
  ///
  /// - Parameter because: the assertion for which it was wanted and keeps running, if it ran then.
  package func awake(_ owner: Address, generation: UInt32, woken: Bool, because: Assertion? = nil) {
    delivery.resume(owner, generation: generation)
    let actions = delivery.persist(.awake(owner, generation: generation, woken: woken, because: because))
    let delivers = actions.contains(where: \.isDelivery)
    // The limiter is raised before the handler is called (observed).
    if woken, delivers || scheduler.mustAsk(owner) { scheduler.handle(.woken(owner)) }
    delivery.perform(actions)
    scheduler.awake(owner, woken: woken)
  }

  /// An instance of the owner was suspended. It is woken when all tasks of a session have ended.
  package func suspended(_ owner: Address, generation: UInt32) {
    delivery.handle(.suspended(owner, generation: generation))
  }

  /// An instance of the owner has ended. Its tasks continue.
  package func ended(_ owner: Address, generation: UInt32) {
    delivery.instanceEnded(owner, generation: generation)
  }

  /// The app entered or left the foreground. Tasks that it creates in the foreground are not discretionary and do not
  /// wait for the resume rate limiter, which is reset.
  package func setFront(_ app: Address, _ isInFront: Bool) {
    scheduler.handle(.front(app, isInFront))
  }

  /// The network changed. Loading tasks are stopped where they are, and continue when the network permits.
  package func setNetwork(_ state: NetworkState) { scheduler.setNetwork(state) }

  /// The user force-quit the app: all tasks of its sessions end with -999 and reason 0 (documented), with resume data
  /// if there is any. No process is launched for it: the events are delivered when the sessions are opened again.
  ///
  /// - Throws: database errors.
  package func forceQuit(_ app: Address) async throws { try await end(markQuit(app)) }

  /// From now on no process is launched for the sessions that a force quit of the app ends.
  ///
  /// - Returns: their tasks, for `end`.
  package func markQuit(_ app: Address) -> [TaskKey] {
    scheduler.handle(.front(app, false))
    return mark(scheduler.sessions(quitWith: app))
  }

  /// The device has these products, and no others: the tasks of others end as those of an app that was force-quit.
  ///
  /// - Throws: database errors.
  package func keep(_ products: Set<Address>) async throws {
    try await end(mark(scheduler.configurations.keys.filter { !products.contains($0.owner) }))
  }

  private func mark(_ sessions: [SessionKey]) -> [TaskKey] {
    let keys = scheduler.stateMachine.keys(of: Set(sessions))
    for session in sessions { delivery.handle(.quit(session)) }
    return keys
  }

  /// Ends tasks of sessions that are marked.
  ///
  /// - Throws: database errors.
  package func end(_ keys: [TaskKey]) async throws {
    let failure = TransferFailure(code: -999, message: "cancelled", cancelledReason: 0)
    for key in keys { try await scheduler.stopAndEnd(key, with: failure, keepsPart: true) }
  }
}
