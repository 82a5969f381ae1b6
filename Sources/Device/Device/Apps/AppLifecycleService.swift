// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
package import MessageBus
package import Messages
import OwnedTasks
package import Timekeeping

/// The lifecycle of the device's apps: the user opens, force quits and updates them.
///
/// An update is recorded before it begins, and the next host completes it if this one exits.
@DeviceActor package final class AppLifecycleService: DevicePart {
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

  nonisolated let concerns: Set<DeviceConcern> = [.apps]
  nonisolated let core: DeviceCore
  private let bus: any BusConnection
  private let containers: ContainerMoves
  /// The last notification of each app.
  private var notifications: [Address: Task<Void, Never>] = [:]
  /// Callers that wait for the end of an update, by app.
  private var waiting: [Address: [CheckedContinuation<Result<Void, BusError>, Never>]] = [:]
  private let tasks: TaskOwner

  package nonisolated init(core: DeviceCore, containers: ContainerMoves, bus: any BusConnection) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.core = core
    self.containers = containers
    self.bus = bus
  }

  private var stateMachine: AppLifecycleStateMachine { core.state.apps }

  /// Resumes after a host restart: completes updates and force quits that the exit of the host interrupted.
  ///
  /// - Parameter quit: the apps that the user force-quit and has not opened since.
  package func begin(quit: [Address]) { handle(.began(moving: containers.pending(), quit: quit)) }

  /// Stops the notifications that are under way. Callers that wait for an update get `closed`; the next host completes
  /// it. Must be the last call.
  package func leave() async {
    core.stop()
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
    if let failure = core.failure { throw failure }
    try containers.begin(app.products.compactMap(\.bundleIdentifier))
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, BusError>, Never>) in
      if let failure = core.failure { return continuation.resume(returning: .failure(failure)) }
      waiting[app.address, default: []].append(continuation)
      handle(.updateRequested(app.address))
    }
    try result.get()
  }

  // MARK: Actions

  private func handle(_ event: AppLifecycleStateMachine.Event) { core.handle(.apps(event)) }

  func perform(_ action: AppLifecycleStateMachine.Action) {
    switch action {
    case .output, .process: break
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
      return core.fail("an update cannot be completed: \(error)")
    }
    for continuation in continuations { continuation.resume(returning: error.map { .failure($0) } ?? .success(())) }
  }
}
