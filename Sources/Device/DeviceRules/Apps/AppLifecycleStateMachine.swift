// SPDX-License-Identifier: Apache-2.0

package import Messages

/// An app of the device, and its extensions.
package struct InstalledApp: Sendable, Hashable {
  package let address: Address
  package let extensions: [Address]
  /// Whether its `Info.plist` permits Live Activities.
  package let supportsActivities: Bool
  /// Whether its entitlements have `aps-environment`.
  let hasPushEntitlement: Bool

  package init(
    address: Address, extensions: [Address], supportsActivities: Bool = true, hasPushEntitlement: Bool = true
  ) {
    self.address = address
    self.extensions = extensions
    self.supportsActivities = supportsActivities
    self.hasPushEntitlement = hasPushEntitlement
  }

  var bundle: String { address.bundleIdentifier ?? "" }
  /// The app and its extensions.
  package var products: [Address] { [address] + extensions }
}

/// The state machine of the apps: which the user opens, force quits or updates. A plain value without clock or I/O.
package struct AppLifecycleStateMachine: Sendable, Hashable {
  package enum Event: Sendable {
    /// The host starts. The containers of these products are to be moved for updates that are not complete, the user
    /// force-quit these apps, and these are in the foreground.
    case began(moving: [String], quit: [Address], inFront: [Address])
    /// The user opened the app.
    case opened(Address)
    /// The app is in the foreground, runs and can receive messages.
    case awake(Address)
    /// Another app, or none, is in the foreground now.
    case leftForeground(Address)
    /// - Parameter isQuit: whether the user force-quit the app and has not opened it since.
    case instanceEnded(Address, isQuit: Bool)
    case forceQuit(Address)
    /// An update of the app is requested, and it is recorded that its containers are to be moved.
    case updateRequested(Address)
    /// The process does not run, and is not launched before `allowLaunches`.
    case launchesPrevented(Address)
    /// The containers of an update are moved, or could not be.
    case moved(app: Address, BusError?)
  }

  package enum Action: Sendable, Equatable {
    case asks(DeviceRequest)
    /// Notify the app that it entered or left the foreground. The notification replaces an earlier one.
    case notify(Address, isActive: Bool)
    case stopNotifying(Address)
    /// Move the containers of these products, then send `moved`.
    case move(app: Address, [Address])
    /// Reply to the callers that requested the update.
    case updateEnded(Address, BusError?)
  }

  private struct Update: Sendable, Hashable {
    let products: [Address]
    /// The products that may still run.
    var running: Set<Address>
  }

  private let apps: [InstalledApp]
  /// Apps that the user opened and that have not been notified yet, or only by an earlier host. A process ignores a second
  /// notification.
  private var opening: Set<Address> = []
  /// Updates in progress, by app.
  private var updates: [Address: Update] = [:]

  package init(apps: [InstalledApp]) { self.apps = apps }

  package func contains(_ app: Address) -> Bool { apps.contains { $0.address == app } }

  /// The app with a bundle identifier.
  ///
  /// - Throws: `no-such-app`, definite.
  package func app(_ bundle: String) throws(BusError) -> InstalledApp {
    if let app = apps.first(where: { $0.address.bundleIdentifier == bundle }) { return app }
    let bundles = apps.compactMap(\.address.bundleIdentifier).joined(separator: ", ")
    throw BusError(.noSuchApp, "the device has no app \(bundle); it has: \(bundles.isEmpty ? "none" : bundles)")
  }

  /// Handles one event.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .began(let moving, let quit, let inFront):
      opening.formUnion(inFront)
      let updates = apps.flatMap { app in
        update(app.address, app.products.filter { moving.contains($0.bundleIdentifier ?? "") })
      }
      return updates + quit.map { .asks(.cancelTransfers($0)) }
    case .opened(let app):
      opening.insert(app)
      return [.asks(.process(.want(app, because: .foreground)))]
    case .awake(let app): return opening.remove(app) == nil ? [] : [.notify(app, isActive: true)]
    case .leftForeground(let app):
      opening.remove(app)
      return [.notify(app, isActive: false), .asks(.process(.release(app, because: .foreground)))]
    case .instanceEnded(let app, let isQuit):
      // It may have begun transfers after they were cancelled and before the signal arrived.
      return [.stopNotifying(app)] + (isQuit ? [.asks(.cancelTransfers(app))] : [])
    case .forceQuit(let app):
      opening.remove(app)
      return []
    case .updateRequested(let app):
      guard updates[app] == nil, let installed = apps.first(where: { $0.address == app }) else { return [] }
      return update(app, installed.products)
    case .launchesPrevented(let product): return launchesPrevented(product)
    case .moved(let app, let error):
      guard let update = updates.removeValue(forKey: app) else { return [] }
      return [.asks(.allowLaunches(update.products)), .updateEnded(app, error)]
    }
  }

  private mutating func update(_ app: Address, _ products: [Address]) -> [Action] {
    guard !products.isEmpty else { return [] }
    updates[app] = Update(products: products, running: Set(products))
    return [.asks(.preventLaunches(products, why: "updated"))]
  }

  private mutating func launchesPrevented(_ product: Address) -> [Action] {
    for app in apps.map(\.address) {
      guard var update = updates[app], update.running.remove(product) != nil else { continue }
      updates[app] = update
      return update.running.isEmpty ? [.move(app: app, update.products)] : []
    }
    return []
  }
}

extension BusError.Code {
  /// The device has no app with this bundle identifier.
  package static let noSuchApp = BusError.Code("no-such-app")
}
