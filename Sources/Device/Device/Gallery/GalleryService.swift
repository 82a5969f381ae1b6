// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import Foundation
package import GRDB
package import MessageBus
package import Messages
import OwnedTasks
package import Stores
import Synchronization
package import Timekeeping

/// The gallery service: declared widgets, placements, and the state of the screen. Changes are persisted before they
/// are acknowledged.
@DeviceActor package final class GalleryService {
  /// In order.
  package nonisolated let outputs: Outputs<GalleryOutput>
  /// What the service needs from processes, in order.
  package nonisolated let processActions: Outputs<ProcessAction>
  private let store: GalleryStore
  let bus: any BusConnection
  let clock: any ControllableClock
  private let known: Mutex<GalleryStateMachine>
  private var screen: ScreenStateMachine
  /// Why the database cannot be written, or that the service has ended. Once it is set, nothing is acknowledged and no
  /// action is performed.
  private var failure: BusError?
  /// The relevance of each placement that has one.
  var relevances: [Int: GalleryStateMachine.Relevance] = [:]
  /// When the stacks are checked again.
  var stackAlarm = StateMachineAlarm()
  /// Extensions that were replaced and did not run since. A new host asks the extensions at a reload of all widgets.
  var outdated: Set<Address> = []
  /// Callers that wait for the widgets of an extension that never ran.
  var learning: [Address: [UUID: CheckedContinuation<Void, Never>]] = [:]
  nonisolated let tasks: TaskOwner

  /// Reads the persistent state.
  ///
  /// - Parameters:
  ///   - apps: the bundle identifiers of the device's apps.
  ///   - placesEachKind: whether one widget of each kind is placed as soon as its extension reports the kind.
  ///   - clock: the device's clock. An advance waits until the outputs have been handled.
  /// - Throws: errors of the database.
  package nonisolated init(
    device: WidgetDevice, apps: [String], placesEachKind: Bool = true, database: any DatabaseWriter,
    bus: any BusConnection, clock: any ControllableClock, transactions: DeviceTransactions? = nil
  ) throws {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.store = try GalleryStore(transactions ?? DeviceTransactions(immediate: database))
    self.bus = bus
    self.clock = clock
    self.known = Mutex(
      GalleryStateMachine(device: device, apps: apps, placesEachKind: placesEachKind, state: try store.state()))
    self.screen = ScreenStateMachine(device: device, state: try store.screen() ?? DeviceScreen())
    self.outputs = Outputs(clock)
    self.processActions = Outputs(clock)
  }

  /// A copy of the current state. Any thread.
  package nonisolated var stateMachine: GalleryStateMachine { known.withLock { $0 } }

  /// Cancels the alarm, and resumes the callers that wait for widgets. Nothing of the service runs when this returns.
  /// Later calls fail with an indefinite `closed`.
  package func leave() async {
    if failure == nil { failure = BusError(.closed, "the gallery service has ended", isDefinite: false) }
    for address in learning.keys { stopLearning(address) }
    let alarm = stackAlarm.take()
    await alarm?.end()
    await tasks.end()
  }

  // MARK: Widgets

  /// An extension is ready and reported these widgets. Persisted when this returns.
  ///
  /// - Returns: the new placements.
  /// - Throws: `failed` when it cannot be recorded.
  package func learned(
    _ bundle: String, _ widgets: [WidgetDeclaration], _ context: MessageContext = .none
  ) throws(BusError) -> [Placement] {
    let added = try alter { stateMachine throws(BusError) in stateMachine.learned(bundle, widgets) }
    outdated = outdated.filter { $0.bundleIdentifier != bundle }
    for placement in added { bus.record(PlacementChanged(.added, placement), context: context) }
    return added
  }

  /// The device has these extensions and apps, and no others: what belongs to another one is removed, as by an update of
  /// its app without it. Persisted when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func keep(extensions: Set<String>, apps: Set<String>) throws(BusError) {
    let (before, now) = (stateMachine.state, clock.now)
    let gone = try alter { stateMachine throws(BusError) in
      stateMachine.keep(extensions: extensions, apps: apps, now: now)
    }
    for placement in gone { bus.record(PlacementChanged(.removed, placement), context: .none) }
    recordTurns(since: before, .removed, .none)
    let shown = Set(screen.state.activities.keys).union([screen.state.frontApp].compactMap(\.self))
    for app in shown.subtracting(apps).sorted() { try ended(app) }
  }

  /// An app was launched.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func launched(_ app: String) throws(BusError) {
    try alter { stateMachine throws(BusError) in stateMachine.launched(app) }
  }

  /// `gallery.list`
  package func list(_ request: ListGallery) -> ListGallery.Reply { stateMachine.list(request) }

  /// `placement.add`
  ///
  /// - Throws: `not-placeable`, `bad-configuration` (definite), `failed`.
  package func add(
    _ request: AddPlacement, offer: IntentDeclaration? = nil, _ context: MessageContext
  ) throws(BusError) -> PlacementReport {
    let (before, now) = (stateMachine.state, clock.now)
    let report = try alter { stateMachine throws(BusError) in try stateMachine.add(request, offer: offer, now: now) }
    bus.record(PlacementChanged(.added, report.placement), context: context)
    recordTurns(since: before, .added, context)
    turnStacks(mayTurn: false)
    return report
  }

  /// `placement.edit`
  ///
  /// - Throws: `no-such-placement`, `bad-configuration` (definite), `failed`.
  package func edit(
    _ request: EditPlacement, offer: IntentDeclaration? = nil, _ context: MessageContext
  ) throws(BusError) -> PlacementReport {
    let report = try alter { stateMachine throws(BusError) in try stateMachine.edit(request, offer: offer) }
    bus.record(PlacementChanged(.edited, report.placement), context: context)
    return report
  }

  /// `placement.remove`
  ///
  /// - Throws: `no-such-placement` (definite), `failed`.
  package func remove(_ request: RemovePlacement, _ context: MessageContext) throws(BusError) {
    let (before, now) = (stateMachine.state, clock.now)
    let placement = try alter { stateMachine throws(BusError) in try stateMachine.remove(request.placement, now: now) }
    bus.record(PlacementChanged(.removed, placement), context: context)
    recordTurns(since: before, .removed, context)
    turnStacks(mayTurn: false)
  }

  func recordTurns(
    since before: GalleryStateMachine.State, _ cause: StackTurned.Cause, _ context: MessageContext
  ) {
    for turn in GalleryStateMachine.turned(from: before, to: stateMachine.state, because: cause) {
      bus.record(turn, context: context)
    }
  }

  /// Persists a change. One that cannot be written ends the host, and nothing that follows from it is sent.
  func alter<R: Sendable>(
    _ body: (inout GalleryStateMachine) throws(BusError) -> R
  ) throws(BusError) -> R {
    if let failure { throw failure }
    let before = stateMachine
    var now = before
    let result = try body(&now)
    do {
      try store.save(now.state, since: before.state)
    } catch {
      throw fail(error)
    }
    let changed = now
    known.withLock { $0 = changed }
    return result
  }

  private func fail(_ error: any Error) -> BusError {
    let reason = "the placements cannot be written: \(error)"
    let failed = BusError(.failed, reason, isDefinite: false)
    failure = failed
    outputs.yield(.broken(reason))
    return failed
  }

  // MARK: Screen

  package var state: DeviceScreen { screen.state }
  /// The screen that is meant if the user names none.
  package var current: WidgetLocationName { screen.current }

  /// `screen.change`
  ///
  /// - Throws: `not-now` (definite), `failed`.
  package func change(_ change: ChangeScreen.Change, _ context: MessageContext = .none) throws(BusError) -> DeviceScreen
  {
    try changeScreen(context) { screen throws(BusError) in try screen.handle(change) }
    return screen.state
  }

  /// Brings an app to the foreground.
  ///
  /// - Throws: `not-now` if the device is locked (definite), `failed`.
  package func open(_ app: String, _ context: MessageContext = .none) throws(BusError) {
    try changeScreen(context) { screen throws(BusError) in try screen.open(app) }
  }

  /// The app's process exited.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func ended(_ app: String) throws(BusError) {
    try changeScreen(.none) { screen throws(BusError) in
      screen.ended(app)
      return []
    }
  }

  private func changeScreen(
    _ context: MessageContext, _ body: (inout ScreenStateMachine) throws(BusError) -> [ScreenStateMachine.Action]
  ) throws(BusError) {
    if let failure { throw failure }
    let before = screen.state
    var now = screen
    let actions = try body(&now)
    if now.state != before {
      do {
        try store.save(now.state)
      } catch {
        throw fail(error)
      }
      screen = now
      bus.record(ScreenChanged(state: now.state), context: context)
      outputs.yield(.screen(now.state, before: before))
    }
    for action in actions { outputs.yield(GalleryOutput(action)) }
  }
}

extension GalleryOutput {
  fileprivate init(_ action: ScreenStateMachine.Action) {
    self =
      switch action {
      case .background(let app): .background(app: app)
      case .systemChanged(let setting): .systemChanged(setting)
      case .restarted: .restarted
      }
  }
}
