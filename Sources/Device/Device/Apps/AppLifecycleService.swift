// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
package import MessageBus
package import Messages
package import Timekeeping

/// The containers of the products, which an update moves. The calls are short.
package protocol ContainerMoves: Sendable {
  /// The bundle identifiers of the products whose move is recorded and not complete.
  var moving: [String] { get }
  /// Records that containers are to be moved.
  func beginMove(of bundles: [String]) throws
  /// Moves the containers. None of the products may run.
  func endMove(of bundles: [String]) throws
}

/// The lifecycle of the device's apps: the user opens, force quits and updates them.
///
/// An update is recorded before it begins, and the next host completes it if this one exits.
@DeviceActor package final class AppLifecycleService: DevicePart {
  package nonisolated let concerns: Set<DeviceConcern> = [.apps]
  nonisolated let core: DeviceCore
  private let bus: any BusConnection
  private let containers: any ContainerMoves
  /// The last notification of each app.
  private var notifications: [Address: Task<Void, Never>] = [:]
  /// Callers that wait for the end of an update, by app.
  private var waitingRequests: [Address: [CheckedContinuation<Result<Void, BusError>, Never>]] = [:]
  private let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)

  package nonisolated init(core: DeviceCore, containers: any ContainerMoves, bus: any BusConnection) {
    self.core = core
    self.containers = containers
    self.bus = bus
  }

  private var stateMachine: AppLifecycleStateMachine { core.state.apps }

  /// Resumes after a host restart: completes updates, force quits and openings that the exit of the host interrupted.
  ///
  /// - Parameters:
  ///   - quit: the apps that the user force-quit and has not opened since.
  ///   - inFront: the apps in the foreground.
  package func begin(quit: [Address], inFront: [Address]) {
    handle(.began(moving: containers.moving, quit: quit, inFront: inFront))
  }

  /// Stops the notifications that are under way. Callers that wait for an update get `closed`; the next host completes
  /// it. Must be the last call.
  package func leave() async {
    core.stop()
    for continuations in waitingRequests.values {
      for continuation in continuations { continuation.resume(returning: .failure(DeviceCore.closed)) }
    }
    waitingRequests = [:]
    notifications = [:]
    await tasks.end()
  }

  // MARK: User actions

  /// `app.update`. Ends the app and its extensions, moves their containers to another path, and permits their launch
  /// again. The update is complete when this returns.
  ///
  /// - Throws: `no-such-app` (definite); `closed` (indefinite); `failed`, and errors of the database.
  package func update(_ bundle: String) async throws {
    let app = try stateMachine.app(bundle)
    if let failure = core.failure { throw failure }
    try containers.beginMove(of: app.products.compactMap(\.bundleIdentifier))
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, BusError>, Never>) in
      if let failure = core.failure { return continuation.resume(returning: .failure(failure)) }
      waitingRequests[app.address, default: []].append(continuation)
      handle(.updateRequested(app.address))
    }
    try result.get()
  }

  // MARK: Actions

  private func handle(_ event: AppLifecycleStateMachine.Event) { core.handle(.apps(event)) }

  package func perform(_ action: DeviceAction) {
    guard case .apps(let action) = action else { return }
    switch action {
    case .asks: break
    case .notify(let app, let isActive): notify(app, isActive: isActive)
    case .stopNotifying(let app): notifications.removeValue(forKey: app)?.cancel()
    case .move(let app, let products): move(app, products)
    case .updateEnded(let app, let error): updateEnded(app, error)
    }
  }

  private func notify(_ app: Address, isActive: Bool) {
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
      try containers.endMove(of: products.compactMap(\.bundleIdentifier))
    } catch {
      failure = error as? BusError ?? BusError(.failed, "\(error)", isDefinite: false)
    }
    handle(.moved(app: app, failure))
  }

  private func updateEnded(_ app: Address, _ error: BusError?) {
    let continuations = waitingRequests.removeValue(forKey: app) ?? []
    if let error, continuations.isEmpty {
      return core.fail("an update cannot be completed: \(error)")
    }
    for continuation in continuations { continuation.resume(returning: error.map { .failure($0) } ?? .success(())) }
  }
}
