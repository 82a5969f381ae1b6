// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import Foundation
package import MessageBus
package import Messages
import OwnedTasks
package import Stores
import Synchronization
package import Timekeeping

/// The gallery service: declared widgets, placements, and the state of the screen. Changes are persisted before they
/// are acknowledged.
@DeviceActor package final class GalleryService: DevicePart {
  /// What the previous host wrote.
  package struct Stored: Sendable {
    package let gallery: GalleryStateMachine
    package let screen: ScreenStateMachine
    fileprivate let store: GalleryStore

    /// - Parameters:
    ///   - apps: the bundle identifiers of the device's apps.
    ///   - placesEachKind: whether one widget of each kind is placed as soon as its extension reports the kind.
    /// - Throws: errors of the database.
    package init(
      _ transactions: DeviceTransactions, device: WidgetDevice, apps: [String], placesEachKind: Bool = true
    ) throws {
      store = try GalleryStore(transactions)
      gallery = GalleryStateMachine(
        device: device, apps: apps, placesEachKind: placesEachKind, state: try store.state())
      screen = ScreenStateMachine(device: device, state: try store.screen() ?? DeviceScreen())
    }
  }

  nonisolated let concerns: Set<DeviceConcern> = [.gallery, .screen]
  nonisolated let core: DeviceCore
  private let store: GalleryStore
  private let bus: any BusConnection
  /// As the device and the database have it, for any thread.
  private nonisolated let stored: Mutex<GalleryStateMachine>
  private var storedScreen: DeviceScreen
  /// Extensions that were replaced and did not run since. A new host asks the extensions at a reload of all widgets.
  var outdated: Set<Address> = []
  /// Callers that wait for the widgets of an extension that never ran.
  var learning: [Address: [UUID: CheckedContinuation<Void, Never>]] = [:]
  /// Returns why a launch failed within a time.
  let launchOutcome: @Sendable (Address, Duration) async -> BusError?
  nonisolated let tasks: TaskOwner

  /// - Parameter launchOutcome: waits for the outcome of a launch for a time, and returns why it failed.
  package nonisolated init(
    _ stored: Stored, core: DeviceCore, bus: any BusConnection,
    launchOutcome: @escaping @Sendable (Address, Duration) async -> BusError?
  ) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.core = core
    self.store = stored.store
    self.bus = bus
    self.stored = Mutex(stored.gallery)
    storedScreen = stored.screen.state
    self.launchOutcome = launchOutcome
  }

  /// A copy of the current state. Any thread.
  package nonisolated var stateMachine: GalleryStateMachine { stored.withLock { $0 } }

  /// Resumes the callers that wait for widgets. Nothing of the service runs when this returns.
  /// Later calls fail with an indefinite `closed`.
  package func leave() async {
    core.stop()
    for address in learning.keys { stopLearning(address) }
    await tasks.end()
  }

  // MARK: Steps

  func save(_ step: DeviceStep) throws {
    let (gallery, screen) = (core.state.gallery, core.state.screen.state)
    if step.changed.contains(.gallery) {
      try store.save(gallery.state, since: stored.withLock(\.state))
      stored.withLock { $0 = gallery }
    }
    if screen != storedScreen {
      try store.save(screen)
      storedScreen = screen
    }
  }

  func perform(_ action: GalleryAction) {
    switch action {
    case .placement(let notice, let context): bus.record(notice, context: context)
    case .turned(let notice, let context): bus.record(notice, context: context)
    case .screen(let notice, let context): bus.record(notice, context: context)
    case .learned(let address):
      outdated.remove(address)
      stopLearning(address)
    }
  }

  // MARK: Requests

  /// `gallery.list`
  package func list(_ request: ListGallery) -> ListGallery.Reply { stateMachine.list(request) }

  /// An extension is ready and reported these widgets. Persisted when this returns.
  ///
  /// - Returns: the new placements.
  /// - Throws: `failed` when it cannot be recorded.
  @discardableResult package func learned(
    _ address: Address, _ widgets: [WidgetDeclaration], _ context: MessageContext = .none
  ) throws(BusError) -> [Placement] {
    guard case .placements(let added) = try core.ask(.gallery(.learned(address, widgets, context))) else { return [] }
    return added
  }

  /// `placement.add`
  ///
  /// - Throws: `not-placeable`, `bad-configuration` (definite), `failed`.
  package func add(
    _ request: AddPlacement, offer: IntentDeclaration? = nil, _ context: MessageContext
  ) throws(BusError) -> PlacementReport { try report(.add(request, offer: offer, context)) }

  /// `placement.edit`
  ///
  /// - Throws: `no-such-placement`, `bad-configuration` (definite), `failed`.
  package func edit(
    _ request: EditPlacement, offer: IntentDeclaration? = nil, _ context: MessageContext
  ) throws(BusError) -> PlacementReport { try report(.edit(request, offer: offer, context)) }

  private func report(_ event: GalleryEvent) throws(BusError) -> PlacementReport {
    guard case .placed(let report) = try core.ask(.gallery(event)) else { throw DeviceCore.noReply }
    return report
  }

  /// `placement.remove`
  ///
  /// - Throws: `no-such-placement` (definite), `failed`.
  package func remove(_ request: RemovePlacement, _ context: MessageContext) throws(BusError) {
    _ = try core.ask(.gallery(.remove(request.placement, context)))
  }

  /// `stack.turn`
  ///
  /// - Throws: `no-such-placement`, `not-now` (definite), `failed`.
  package func turn(_ request: TurnStack, _ context: MessageContext) throws(BusError) -> TurnStack.Reply {
    guard case .turned(let reply) = try core.ask(.gallery(.turn(to: request.placement, context))) else {
      throw DeviceCore.noReply
    }
    return reply
  }

  // MARK: Screen

  package var state: DeviceScreen { core.state.screen.state }
  /// The screen that is meant if the user names none.
  package var current: WidgetLocationName { core.state.screen.current }

  /// `screen.change`
  ///
  /// - Throws: `not-now` (definite), `failed`.
  @discardableResult package func change(
    _ change: ChangeScreen.Change, _ context: MessageContext = .none
  ) throws(BusError) -> DeviceScreen {
    _ = try core.ask(.gallery(.screen(change, context)))
    return state
  }

  /// Brings an app to the foreground.
  ///
  /// - Throws: `not-now` if the device is locked (definite), `failed`.
  package func open(_ app: String, _ context: MessageContext = .none) throws(BusError) {
    _ = try core.ask(.gallery(.open(app: app, context)))
  }
}
