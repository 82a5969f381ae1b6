// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
package import MessageBus
package import Messages
package import Stores
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

  package nonisolated let concerns: Set<DeviceConcern> = [.gallery, .screen]
  nonisolated let core: DeviceCore
  private let store: GalleryStore
  private let bus: any BusConnection
  /// As the database has them.
  private var storedGallery: GalleryStateMachine.State
  private var storedScreen: DeviceScreen
  /// Extensions that were replaced and did not run since. A new host asks the extensions at a reload of all widgets.
  private var outdated: Set<Address> = []
  /// How many callers wait for the widgets of an extension.
  private var learners: [Address: Int] = [:]
  /// Callers that wait for the widgets of an extension that never ran.
  private let learning = Waiters<Address>()
  /// Returns why a launch failed within a time.
  private let launchOutcome: @Sendable (Address, Duration) async -> BusError?
  private let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)

  /// - Parameter launchOutcome: waits for the outcome of a launch for a time, and returns why it failed.
  package nonisolated init(
    _ storedState: Stored, core: DeviceCore, bus: any BusConnection,
    launchOutcome: @escaping @Sendable (Address, Duration) async -> BusError?
  ) {
    self.core = core
    self.store = storedState.store
    self.bus = bus
    self.storedGallery = storedState.gallery.state
    storedScreen = storedState.screen.state
    self.launchOutcome = launchOutcome
  }

  private var stateMachine: GalleryStateMachine { core.state.gallery }

  /// Resumes the callers that wait for widgets. Nothing of the service runs when this returns.
  /// Later calls fail with an indefinite `closed`.
  package func leave() async {
    core.stop()
    learning.resume()
    await tasks.end()
  }

  // MARK: Steps

  package func save(_ step: DeviceStep) throws {
    if step.changed.contains(.gallery) {
      try store.save(stateMachine.state, since: storedGallery)
      storedGallery = stateMachine.state
    }
    let screen = core.state.screen.state
    if screen != storedScreen {
      try store.save(screen)
      storedScreen = screen
    }
  }

  package func perform(_ action: DeviceAction) {
    if case .instanceEnded(let address, _) = action { stopLearning(address) }
    guard case .gallery(let action) = action else { return }
    switch action {
    case .placement(let notice, let context): bus.record(notice, context: context)
    case .turned(let notice, let context): bus.record(notice, context: context)
    case .screen(let notice, let context): bus.record(notice, context: context)
    case .learned(let address):
      outdated.remove(address)
      stopLearning(address)
    }
  }
}

// iOS reads the widgets of an installed app without running it. Here they are declared in the extension's code, so an
// extension that never ran is launched once.

extension GalleryService {
  private static var assertion: Assertion { "gallery" }

  /// Launches each extension whose widgets are not known, and waits until it has reported them, cannot be launched or
  /// has ended, for at most ten seconds.
  ///
  /// - Returns: the extensions whose widgets are still unknown.
  package func learn(_ extensions: [Address]) async -> [Address] {
    for address in extensions where !isKnown(address) {
      learners[address, default: 0] += 1
      core.handle(.asked(.process(.want(address, because: Self.assertion))))
      await awaitWidgets(of: address)
      let left = learners.removeValue(forKey: address).map { $0 - 1 } ?? 0
      if left > 0 {
        learners[address] = left
      } else {
        core.handle(.asked(.process(.release(address, because: Self.assertion))))
      }
    }
    return extensions.filter { !isKnown($0) }
  }

  /// These extensions were replaced: they may have other widgets.
  package func outdate(_ extensions: [Address]) { outdated.formUnion(extensions) }

  /// The extension has reported its widgets and they are placed, or it has ended.
  private func stopLearning(_ address: Address) { learning.resume { $0 == address } }

  private func awaitWidgets(of address: Address) async {
    // It may have reported them since.
    guard !isKnown(address) else { return }
    // In machine time, because author's code runs: the gallery must not wait forever.
    let limit = Duration.seconds(10)
    let learned = learning.stream(until: address, within: limit)
    let launch = tasks.start { [self] in
      if await launchOutcome(address, limit) != nil { await stopLearning(address) }
    }
    // Without the task the service has left.
    if launch != nil { for await _ in learned {} }
  }

  /// Whether the extension has reported its widgets.
  private func isKnown(_ address: Address) -> Bool {
    stateMachine.state.declarations[address.bundleIdentifier ?? ""] != nil && !outdated.contains(address)
  }
}
