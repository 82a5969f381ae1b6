// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
package import MessageBus
package import Messages
import OwnedTasks
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
  /// What the previous host wrote.
  package struct Stored: Sendable {
    package let loading: LoadingStateMachine
    package let delivery: DeliveryStateMachine
    let store: TransferStore
    let settings: TransferSettings
    let families: AppFamilies
    let underWay: UnderWay
    fileprivate let configurations: [SessionKey: SessionConfiguration]

    /// - Parameters:
    ///   - families: which app an extension belongs to.
    ///   - underWay: a task that it sets aside fails with -1, and is not loaded or copied.
    /// - Throws: database errors.
    package init(
      _ transactions: DeviceTransactions, settings: TransferSettings, families: AppFamilies = AppFamilies(),
      underWay: UnderWay = UnderWay()
    ) throws {
      store = try TransferStore(transactions)
      self.settings = settings
      self.families = families
      self.underWay = underWay
      configurations = try store.configurations()
      let unended = try store.unendedTasks()
      loading = LoadingStateMachine(
        sessions: configurations.mapValues(LoadingStateMachine.SessionPolicy.init), transfers: unended.map(\.transfer),
        limiters: try store.limiters(), settings: settings, families: families,
        suspects: underWay.suspects(among: unended))
      delivery = try store.stateMachine(settings)
    }
  }

  nonisolated let context: TransferContext
  let scheduler: TransferScheduler
  let delivery: EventDelivery

  /// Nothing is started before `begin()`.
  ///
  /// - Parameters:
  ///   - folder: where the part files are.
  ///   - isAwake: whether an owner runs now and can receive the progress of its tasks.
  ///   - container: the folder of an owner, in which its copies are placed.
  ///   - space: the space of the disk; `nil` for no limit.
  /// - Throws: database errors.
  package nonisolated init(
    _ stored: Stored, core: DeviceCore, folder: String, bus: any BusConnection, clock: any ControllableClock,
    isAwake: @escaping @Sendable (Address) async -> Bool = { _ in true },
    container: @escaping @Sendable (Address) -> String?, space: @escaping @Sendable () -> TransferSpace? = { nil }
  ) throws {
    context = TransferContext(stored, core: core, folder: folder, bus: bus, clock: clock, space: space)
    delivery = EventDelivery(
      context, stored.delivery, files: try OwnerFiles(store: stored.store, container: container))
    let scheduler = TransferScheduler(
      context, configurations: stored.configurations, delivery: delivery, isAwake: isAwake)
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
    context.core.stop()
    delivery.tasks.cancel()
    await scheduler.leave()
    await delivery.leave()
  }

  /// The user force-quit the app: all tasks of its sessions end with -999 and reason 0 (documented), with resume data
  /// if there is any. No process is launched for it: the events are delivered when the sessions are opened again.
  ///
  /// - Throws: database errors.
  package func forceQuit(_ app: Address) async throws {
    let sessions = scheduler.stateMachine.sessions(quitWith: app)
    let tasks = scheduler.stateMachine.keys(of: Set(sessions))
    context.core.handle(.quit(app: app, sessions))
    try await end(tasks)
  }

  /// The device has these products, and no others: the tasks of others end as those of an app that was force-quit.
  ///
  /// - Throws: database errors.
  package func keep(_ products: Set<Address>) async throws {
    let sessions = scheduler.configurations.keys.filter { !products.contains($0.owner) }
    let tasks = scheduler.stateMachine.keys(of: Set(sessions))
    for session in sessions.sorted() { delivery.handle(.quit(session)) }
    try await end(tasks)
  }

  /// Ends tasks of an app that was force-quit. An advance of the clock waits for it.
  func end(_ tasks: [TaskKey], of app: Address) {
    scheduler.tasks.start(holding: context.clock) { [self] in
      do {
        try await end(tasks)
      } catch {
        await context.core.fail("the transfers of \(app) cannot be cancelled: \(error)")
      }
    }
  }

  private func end(_ tasks: [TaskKey]) async throws {
    let failure = TransferFailure(code: -999, message: "cancelled", cancelledReason: 0)
    for key in tasks { try await scheduler.stopAndEnd(key, with: failure, keepsPart: true) }
  }
}
