// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Stores
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = Address.widgetExtension("phone", GallerySamples.bundle)

@Suite(.timeLimit(.minutes(1))) struct `Stacks and unknown extensions of the gallery service` {
  private let noon = Date(timeIntervalSince1970: 1_000_000_000)
  private let clock = ManualClock()

  private func service(
    _ timelines: TimelineStateMachine = TimelineStateMachine(extensions: []),
    _ outcome: @escaping @Sendable (Address, Duration) async -> BusError? = { _, _ in nil }
  ) async throws -> GalleryService {
    var options = WidgetDevice.Options()
    options.smartRotatePause = 1800
    return try await GalleryService.alone(
      DatabaseQueue(), GallerySamples.phone(18, options), placesEachKind: false, clock: clock, timelines: timelines,
      launchOutcome: outcome)
  }

  /// Returns a service with two widgets in a stack, the second one on top. The first one is relevant.
  private func stack() async throws -> GalleryService {
    var timelines = TimelineStateMachine(extensions: [])
    let placement = Placement(
      id: 1, bundle: GallerySamples.bundle, kind: "Weather", family: .systemSmall, location: .homeScreen)
    var placed = PlacementState(placement: placement, account: BudgetAccount(BudgetPolicy(), now: clock.now))
    placed.relevance.show(ArchivedEntry.Relevance(score: 2, duration: 0), of: clock.now)
    timelines.restore(placed, [])
    let service = try await service(timelines)
    await service.launched(GallerySamples.app)
    _ = try await service.learned(GallerySamples.bundle, [GallerySamples.widget()])
    for base in [nil, 1] as [Int?] {
      let request = AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen, stack: base)
      _ = try await service.add(request)
    }
    return service
  }

  @Test(.rule("GALLERY-25"))
  func `a stack turns to its most relevant widget as soon as the pause after its last turn is over`() async throws {
    let service = try await stack()
    let (turns, continuation) = AsyncStream.makeStream(of: Int.self)
    await service.core.observe { step in
      for case .gallery(.turned(let turn, _)) in step.actions { continuation.yield(turn.top) }
    }
    await service.core.handle(.gallery(.turnStacks))
    #expect(await service.stateMachine.stack(of: 1)?.top == 2)
    clock.advance(by: 1800)
    #expect(await turns.first { _ in true } == 1)
    #expect(await service.stateMachine.stack(of: 1)?.top == 1)
    await service.leave()
  }

  @Test(.rule("GALLERY-25")) func `the choice of the user stays until the relevance of a widget changes`() async throws
  {
    let service = try await stack()
    clock.advance(by: 1800)
    await service.core.handle(.gallery(.turnStacks))
    let _: TurnStack.Reply = try await service.core.ask(.gallery(.turn(to: 2, .none)))
    #expect(await service.stateMachine.stack(of: 1)?.top == 2)
    await service.leave()
  }

  @Test func `placements are stored that were added, changed and removed anywhere in the list`() throws {
    let store = try GalleryStore(DeviceTransactions(immediate: DatabaseQueue()))
    var state = GalleryStateMachine.State()
    func save(_ change: (inout GalleryStateMachine.State) -> Void) throws {
      let before = state
      change(&state)
      try store.save(state, since: before)
      #expect(try store.state().placements == state.placements)
    }
    for id in 1...4 {
      try save {
        $0.placements.append(
          Placement(
            id: id, bundle: GallerySamples.bundle, kind: "Weather", family: .systemSmall, location: .homeScreen))
      }
    }
    try save { $0.placements[1].configuration = ["city": "Paris"] }
    try save { $0.placements.remove(at: 0) }
    try save { $0.placements.removeLast() }
    try save {
      $0.placements[1].configuration = ["city": "Rome"]
      $0.placements.remove(at: 0)
    }
    #expect(state.placements.map(\.id) == [3])
  }

  @Test(.rule("GALLERY-13"))
  func `an extension whose widgets are unknown is launched until it has reported them`() async throws {
    let service = try await service()
    var actions = service.device.processes.makeAsyncIterator()
    let learned = Task { await service.learn([widget]) }
    #expect(await actions.next() == .want(widget, because: "gallery"))
    _ = try await service.learned(GallerySamples.bundle, [GallerySamples.widget()])
    #expect(await learned.value == [])
    #expect(await actions.next() == .release(widget, because: "gallery"))
    #expect(await service.learn([widget]) == [])
    await service.leave()
  }

  @Test(.rule("GALLERY-13"), arguments: [true, false])
  func `an extension whose launch fails remains unknown, and a service that leaves waits for none`(leaves: Bool)
    async throws
  {
    let (questions, continuation) = AsyncStream.makeStream(of: Duration.self)
    let service = try await service { _, limit in
      continuation.yield(limit)
      if leaves { try? await Task.sleep(for: .seconds(60)) }  // ended by the service
      return BusError(.failed, "it cannot be launched")
    }
    let learned = Task { await service.learn([widget]) }
    #expect(await questions.first { _ in true } == .seconds(10))
    if leaves { await service.leave() }
    #expect(await learned.value == [widget])
    await service.leave()
  }
}

@Suite(.timeLimit(.minutes(1))) struct `Intents of touched widgets` {
  @Test(arguments: [true, false])
  func `an intent is interrupted when its performer ends or the service leaves`(leaves: Bool) async throws {
    let service = IntentService()
    let bus = InMemoryBus()
    let connection = bus.connection(.host("phone"))
    _ = try await connection.start()
    let intent = Task {
      await service.perform(by: widget) { () async throws(BusError) in
        try await connection.deliver(AppActivation(isActive: true), to: .app("phone", "com.none"))
      }
    }
    _ = await bus.first { $0.header.kind == AppActivation.kind }
    if leaves { await service.leave() } else { await service.ended(widget) }
    guard case .interrupted = await intent.value else {
      Issue.record("the intent was not interrupted")
      return
    }
  }

  @Test func `a touched control shows its new state until its timeline has arrived`() async {
    let service = IntentService()
    let touch = await service.touch(3, of: 1)
    #expect(await service.touchedControl(of: 1) == 3)
    let (reloaded, continuation) = AsyncStream.makeStream(of: Never.self)
    await service.keep(touch, of: 1) { for await _ in reloaded {} }
    #expect(await service.touchedControl(of: 1) == 3)
    continuation.finish()
    await service.leave()
    #expect(await service.touchedControl(of: 1) == nil)
  }
}
