package import Archive
package import Conversations
package import Foundation
package import GRDB
package import MessageBus
import Synchronization

/// The keeper of Gallery: what extensions declared, what a person placed, and what the person sees of the device. On disk
/// before it is answered.
package actor GalleryKeeper {
  /// In order; one reader.
  package nonisolated let intents: AsyncStream<GalleryIntent>
  private let outlet: AsyncStream<GalleryIntent>.Continuation
  private let store: GalleryStore
  private let bus: any BusConnection
  private let known: Mutex<GalleryDecision>
  private var screen: ScreenDecision
  /// Why the database cannot be written: from then on nothing is acknowledged and nothing is done.
  private var failure: BusError?

  /// Reads what the last life of the host knew.
  ///
  /// - Parameters:
  ///   - apps: the bundle identifiers of the device's apps.
  ///   - placesEachKind: one widget of each kind is placed as soon as its extension says the kind.
  /// - Throws: what the database says.
  package init(
    device: WidgetDevice, apps: [String], placesEachKind: Bool = true, database: any DatabaseWriter,
    bus: any BusConnection
  ) throws {
    self.store = try GalleryStore(database)
    self.bus = bus
    self.known = Mutex(
      GalleryDecision(device: device, apps: apps, placesEachKind: placesEachKind, state: try store.state()))
    self.screen = ScreenDecision(device: device, state: try store.screen() ?? DeviceScreen())
    (self.intents, self.outlet) = AsyncStream.makeStream(of: GalleryIntent.self)
  }

  /// As it stands. Any thread.
  package nonisolated var decision: GalleryDecision { known.withLock { $0 } }

  // MARK: Widgets

  /// An extension is ready and has these widgets. On disk when this returns.
  ///
  /// - Returns: the placements that follow from it.
  /// - Throws: `failed` when it cannot be recorded.
  package func learned(
    _ bundle: String, _ widgets: [WidgetDeclaration], _ story: Story = .none
  ) throws(BusError) -> [Placement] {
    let added = try alter { decision throws(BusError) in decision.learned(bundle, widgets) }
    for placement in added { bus.record(PlacementChanged(.added, placement), story: story) }
    return added
  }

  /// An app was launched.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func launched(_ app: String) throws(BusError) {
    try alter { decision throws(BusError) in decision.launched(app) }
  }

  /// `gallery.list`
  package func list(_ request: ListGallery) -> ListGallery.Reply { decision.list(request) }

  /// `placement.add`
  ///
  /// - Throws: `not-placeable`, `bad-configuration` (definite), `failed`.
  package func add(
    _ request: AddPlacement, offer: IntentDeclaration? = nil, now: Date = .distantPast, _ story: Story
  ) throws(BusError) -> PlacementReport {
    let before = decision.state
    let report = try alter { decision throws(BusError) in try decision.add(request, offer: offer, now: now) }
    bus.record(PlacementChanged(.added, report.placement), story: story)
    recordTurns(since: before, .added, story)
    return report
  }

  /// `placement.edit`
  ///
  /// - Throws: `no-such-placement`, `bad-configuration` (definite), `failed`.
  package func edit(
    _ request: EditPlacement, offer: IntentDeclaration? = nil, _ story: Story
  ) throws(BusError) -> PlacementReport {
    let report = try alter { decision throws(BusError) in try decision.edit(request, offer: offer) }
    bus.record(PlacementChanged(.edited, report.placement), story: story)
    return report
  }

  /// `placement.remove`
  ///
  /// - Throws: `no-such-placement` (definite), `failed`.
  package func remove(
    _ request: RemovePlacement, now: Date = .distantPast, _ story: Story
  ) throws(BusError) {
    let before = decision.state
    let placement = try alter { decision throws(BusError) in try decision.remove(request.placement, now: now) }
    bus.record(PlacementChanged(.removed, placement), story: story)
    recordTurns(since: before, .removed, story)
  }

  // MARK: Stacks

  /// `stack.turn`
  ///
  /// - Throws: `no-such-placement`, `not-now` (definite), `failed`.
  package func turn(_ request: TurnStack, now: Date, _ story: Story) throws(BusError) -> TurnStack.Reply {
    let before = decision.state
    let reply = try alter { decision throws(BusError) in try decision.turn(to: request.placement, now: now) }
    recordTurns(since: before, .person, story)
    return reply
  }

  /// Stacks turn to the most relevant of their widgets, if they may.
  ///
  /// - Returns: whether one did, and when to look again.
  /// - Throws: `failed` when it cannot be recorded.
  package func smartRotate(
    _ relevance: [Int: GalleryDecision.Relevance], mayTurn: Bool = true, now: Date
  ) throws(BusError) -> (hasTurned: Bool, next: Date?) {
    let (turned, next) = try alter { decision throws(BusError) in
      decision.smartRotate(relevance, mayTurn: mayTurn, now: now)
    }
    for turn in turned { bus.record(turn, story: .none) }
    return (!turned.isEmpty, next)
  }

  private func recordTurns(since before: GalleryDecision.State, _ cause: StackTurned.Cause, _ story: Story) {
    for turn in GalleryDecision.turned(from: before, to: decision.state, because: cause) {
      bus.record(turn, story: story)
    }
  }

  /// On disk first; what cannot be written has not happened.
  private func alter<R: Sendable>(
    _ body: (inout GalleryDecision) throws(BusError) -> R
  ) throws(BusError) -> R {
    if let failure { throw failure }
    let before = decision
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
    outlet.yield(.broken(reason))
    return failed
  }

  // MARK: Screen

  package var state: DeviceScreen { screen.state }
  /// The screen that is meant when a person names none.
  package var current: WidgetLocationName { screen.current }

  /// `screen.change`
  ///
  /// - Throws: `not-now` (definite), `failed`.
  package func change(_ change: ChangeScreen.Change, _ story: Story = .none) throws(BusError) -> DeviceScreen {
    try changeScreen(story) { screen throws(BusError) in try screen.take(change) }
    return screen.state
  }

  /// An app comes to the front.
  ///
  /// - Throws: `not-now` when the device is locked (definite), `failed`.
  package func open(_ app: String, _ story: Story = .none) throws(BusError) {
    try changeScreen(story) { screen throws(BusError) in try screen.open(app) }
  }

  /// The app's process is over.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func ended(_ app: String) throws(BusError) {
    try changeScreen(.none) { screen throws(BusError) in
      screen.ended(app)
      return []
    }
  }

  private func changeScreen(
    _ story: Story, _ body: (inout ScreenDecision) throws(BusError) -> [ScreenDecision.Effect]
  ) throws(BusError) {
    if let failure { throw failure }
    let before = screen.state
    var now = screen
    let effects = try body(&now)
    if now.state != before {
      do {
        try store.save(now.state)
      } catch {
        throw fail(error)
      }
      screen = now
      bus.record(ScreenChanged(state: now.state), story: story)
      outlet.yield(.screen(now.state, before: before))
    }
    for effect in effects { outlet.yield(GalleryIntent(effect)) }
  }
}

extension GalleryIntent {
  fileprivate init(_ effect: ScreenDecision.Effect) {
    self =
      switch effect {
      case .background(let app): .background(app: app)
      case .systemChanged(let setting): .systemChanged(setting)
      case .restarted: .restarted
      }
  }
}
