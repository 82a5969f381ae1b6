// SPDX-License-Identifier: Apache-2.0

import Foundation
package import MessageBus
package import Messages
import OwnedTasks
package import ProcessActions
package import Timekeeping

/// The lifecycle of the device's apps: the user opens, force quits and updates them.
///
/// An update is recorded before it begins, and the next host completes it if this one exits.
@DeviceActor package final class AppLifecycleService {
  /// The containers of the products, which an update moves. The calls are short.
  package struct ContainerMoves: Sendable {
    /// Returns the bundle identifiers of the products whose move is recorded and not complete.
    let pending: @Sendable () -> [String]
    /// Records that containers are to be moved.
    let begin: @Sendable ([String]) throws -> Void
    /// Moves the containers. None of the products may run.
    let complete: @Sendable ([String]) throws -> Void

    package init(
      pending: @escaping @Sendable () -> [String], begin: @escaping @Sendable ([String]) throws -> Void,
      complete: @escaping @Sendable ([String]) throws -> Void
    ) {
      self.pending = pending
      self.begin = begin
      self.complete = complete
    }
  }

  /// In order.
  package nonisolated let outputs: Outputs<AppLifecycleOutput>
  /// What the service needs from processes, in order.
  package nonisolated let processActions: Outputs<ProcessAction>
  private let bus: any BusConnection
  private let containers: ContainerMoves
  private var stateMachine: AppLifecycleStateMachine
  /// The last notification of each app.
  private var notifications: [Address: Task<Void, Never>] = [:]
  /// Callers that wait for the end of an update, by app.
  private var waiting: [Address: [CheckedContinuation<Result<Void, BusError>, Never>]] = [:]
  private var hasLeft = false
  private let tasks: TaskOwner

  /// - Parameter clock: the device's clock. An advance waits until the outputs have been handled.
  package nonisolated init(
    apps: [InstalledApp], containers: ContainerMoves, bus: any BusConnection, clock: any ControllableClock
  ) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.stateMachine = AppLifecycleStateMachine(apps: apps)
    self.containers = containers
    self.bus = bus
    self.outputs = Outputs(clock)
    self.processActions = Outputs(clock)
  }

  /// Resumes after a host restart: completes updates and force quits that the exit of the host interrupted.
  ///
  /// - Parameter quit: the apps that the user force-quit and has not opened since.
  package func begin(quit: [Address]) { handle(.began(moving: containers.pending(), quit: quit)) }

  /// Stops the notifications that are under way. Callers that wait for an update get `closed`; the next host completes
  /// it. Must be the last call.
  package func leave() async {
    hasLeft = true
    for continuations in waiting.values {
      for continuation in continuations { continuation.resume(returning: .failure(Self.closed)) }
    }
    waiting = [:]
    notifications = [:]
    await tasks.end()
  }

  private static var closed: BusError { BusError(.closed, "the device is shutting down", isDefinite: false) }

  // MARK: User actions

  /// The address of an app.
  ///
  /// - Throws: `no-such-app`, definite.
  package func address(of bundle: String) throws(BusError) -> Address { try stateMachine.app(bundle).address }

  /// The user opens the app, and the screen shows it.
  package func open(_ app: Address) { handle(.opened(app)) }

  /// The user force quits the app: it is not notified of an earlier opening.
  package func forceQuit(_ app: Address) { handle(.forceQuit(app)) }

  /// `app.update`. Ends the app and its extensions, moves their containers to another path, and permits their launch
  /// again. The update is complete when this returns.
  ///
  /// - Throws: `no-such-app` (definite); `closed` (indefinite); `failed`, and errors of the database.
  package func update(_ bundle: String) async throws {
    let app = try stateMachine.app(bundle)
    guard !hasLeft else { throw Self.closed }
    try containers.begin(app.products.compactMap(\.bundleIdentifier))
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, BusError>, Never>) in
      guard !hasLeft else { return continuation.resume(returning: .failure(Self.closed)) }
      waiting[app.address, default: []].append(continuation)
      handle(.updateRequested(app.address))
    }
    try result.get()
  }

  // MARK: Input from other services

  /// The app runs and can receive messages.
  package func awake(_ app: Address) { handle(.awake(app)) }

  /// The app left the foreground.
  package func leftForeground(_ app: Address) { handle(.leftForeground(app)) }

  /// An instance of the app has ended.
  ///
  /// - Parameter isQuit: whether the user force-quit the app and has not opened it since.
  package func ended(_ app: Address, isQuit: Bool) { handle(.instanceEnded(app, isQuit: isQuit)) }

  /// The process does not run, and is not launched before `allowLaunches`.
  package func launchesPrevented(_ product: Address) { handle(.launchesPrevented(product)) }

  // MARK: Actions

  private func handle(_ event: AppLifecycleStateMachine.Event) {
    guard !hasLeft else { return }
    for action in stateMachine.handle(event) { perform(action) }
  }

  private func perform(_ action: AppLifecycleStateMachine.Action) {
    switch action {
    case .output(let output): outputs.yield(output)
    case .process(let action): processActions.yield(action)
    case .notify(let app, let isActive): notify(app, isActive)
    case .stopNotifying(let app): notifications.removeValue(forKey: app)?.cancel()
    case .move(let app, let products): move(app, products)
    case .updateEnded(let app, let error): updateEnded(app, error)
    }
  }

  private func notify(_ app: Address, _ isActive: Bool) {
    notifications[app]?.cancel()
    notifications[app] = tasks.start { [bus] in
      do throws(BusError) {
        try await bus.deliver(AppActivation(isActive: isActive), to: app)
      } catch {
        // The app has exited or refuses the event: the user sees that it is not in the foreground.
      }
    }
  }

  private func move(_ app: Address, _ products: [Address]) {
    var failure: BusError?
    do {
      try containers.complete(products.compactMap(\.bundleIdentifier))
    } catch {
      failure = error as? BusError ?? BusError(.failed, "\(error)", isDefinite: false)
    }
    handle(.moved(app: app, failure))
  }

  private func updateEnded(_ app: Address, _ error: BusError?) {
    let continuations = waiting.removeValue(forKey: app) ?? []
    if let error, continuations.isEmpty {
      return outputs.yield(.broken("an update cannot be completed: \(error)"))
    }
    for continuation in continuations { continuation.resume(returning: error.map { .failure($0) } ?? .success(())) }
  }
}
