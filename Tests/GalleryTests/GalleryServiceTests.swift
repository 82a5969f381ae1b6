// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import ClockTesting
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

  private func service() throws -> GalleryService {
    var options = WidgetDevice.Options()
    options.smartRotatePause = 1800
    return try GalleryService(
      device: GallerySamples.phone(18, options), apps: [GallerySamples.app], placesEachKind: false,
      database: try DatabaseQueue(), bus: InMemoryBus().connection(.host("phone")), clock: clock)
  }

  /// Returns a service with two widgets in a stack, the second one on top.
  private func stack() async throws -> GalleryService {
    let service = try service()
    try await service.launched(GallerySamples.app)
    _ = try await service.learned(GallerySamples.bundle, [GallerySamples.widget()])
    for base in [nil, 1] as [Int?] {
      let request = AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen, stack: base)
      _ = try await service.add(request, .none)
    }
    return service
  }

  @Test(.rule("GALLERY-25"))
  func `a stack turns to its most relevant widget as soon as the pause after its last turn is over`() async throws {
    let service = try await stack()
    var outputs = await service.outputs.stream().makeAsyncIterator()
    await service.set([1: GalleryStateMachine.Relevance(score: 2)])
    #expect(service.stateMachine.stack(of: 1)?.top == 2)
    clock.advance(by: 1800)
    #expect(await outputs.next() == .stackTurned)
    #expect(service.stateMachine.stack(of: 1)?.top == 1)
    await service.leave()
  }

  @Test(.rule("GALLERY-25")) func `the choice of the user stays until the relevance of a widget changes`() async throws
  {
    let service = try await stack()
    let relevance = GalleryStateMachine.Relevance(score: 2)
    clock.advance(by: 1800)
    await service.set([1: relevance])
    _ = try await service.turn(TurnStack(placement: 2), .none)
    #expect(service.stateMachine.stack(of: 1)?.top == 2)
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

  @Test func `an extension whose widgets are unknown is launched until it has reported them`() async throws {
    let service = try service()
    var outputs = await service.outputs.stream().makeAsyncIterator()
    var actions = await service.processActions.stream().makeAsyncIterator()
    let learned = Task { await service.learn([widget]) }
    #expect(await actions.next() == .want(widget, because: "gallery"))
    #expect(await outputs.next() == .awaitLaunch(widget, within: .seconds(10)))
    _ = try await service.learned(GallerySamples.bundle, [GallerySamples.widget()])
    await service.stopLearning(widget)
    #expect(await learned.value == [])
    #expect(await actions.next() == .release(widget, because: "gallery"))
    #expect(await service.learn([widget]) == [])
    await service.leave()
  }

  @Test(arguments: [true, false])
  func `an extension whose launch fails remains unknown, and a service that leaves waits for none`(leaves: Bool)
    async throws
  {
    let service = try service()
    var outputs = await service.outputs.stream().makeAsyncIterator()
    let learned = Task { await service.learn([widget]) }
    #expect(await outputs.next() == .awaitLaunch(widget, within: .seconds(10)))
    if leaves { await service.leave() } else { await service.launchFailed(widget) }
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
