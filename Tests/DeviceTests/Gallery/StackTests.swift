// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

@Suite(.timeLimit(.minutes(1))) struct `Widget stacks` {
  private typealias Relevance = CurrentRelevance
  private let noon = Date(timeIntervalSince1970: 1_000_000_000)

  /// Returns a gallery with widgets 1 to `count` in one stack, created at noon, the last one on top.
  private func stack(
    of count: Int, pause: Double = 1800, _ families: [WidgetFamilyName] = [.systemSmall, .systemMedium]
  ) throws -> GalleryStateMachine {
    var options = WidgetDevice.Options()
    options.smartRotatePause = pause
    var gallery = GallerySamples.gallery(
      GallerySamples.phone(18, options), [GallerySamples.widget("W", families: families)])
    for number in 1...count { try add(&gallery, on: number == 1 ? nil : 1) }
    return gallery
  }

  private func add(
    _ gallery: inout GalleryStateMachine, on base: Int?, _ family: WidgetFamilyName? = nil
  ) throws {
    let request = AddPlacement(widgetKind: "W", family: family, location: .homeScreen, stack: base)
    _ = try gallery.add(request, now: noon)
  }

  @Test(.rule("GALLERY-24"))
  func `a stack has at most ten widgets of one family in one place, with the newest on top`() throws {
    var gallery = try stack(of: 9)
    #expect(gallery.stack(of: 4)?.members == Array(1...9))
    #expect(gallery.state.placements.filter { gallery.isOnTop($0.id) }.map(\.id) == [9])
    #expect(gallery.covered(by: 9).map(\.placement) == Array(1...8))
    let other = #expect(throws: BusError.self) { try add(&gallery, on: 9, .systemMedium) }
    #expect(other?.code == .notPlaceable && other?.message.contains("systemSmall") == true, "\(other?.message ?? "")")
    try add(&gallery, on: 9)
    let full = #expect(throws: BusError.self) { try add(&gallery, on: 3) }
    #expect(full?.message.contains("at most 10 widgets") == true, "\(full?.message ?? "")")
    #expect(throws: BusError.self) { try add(&gallery, on: 77) }
    #expect(gallery.state.placements.count == 10)
  }

  @Test(.rule("GALLERY-24"))
  func `a stack refuses a widget without its family, and the Lock Screen has no stacks`() throws {
    var gallery = try stack(of: 1)
    _ = gallery.learned("com.example.App.Other", [GallerySamples.widget("Large", families: [.systemLarge])])
    #expect(throws: BusError.self) {
      try gallery.add(AddPlacement(widgetKind: "Large", family: nil, location: .homeScreen, stack: 1))
    }
    _ = gallery.learned("com.example.App.Round", [GallerySamples.widget("Round", families: [.accessoryCircular])])
    let round = try gallery.add(AddPlacement(widgetKind: "Round", family: nil, location: .lockScreen)).placement.id
    let refused = #expect(throws: BusError.self) {
      try gallery.add(AddPlacement(widgetKind: "Round", family: nil, location: .lockScreen, stack: round))
    }
    #expect(refused?.message.contains("a Lock Screen has no stacks") == true, "\(refused?.message ?? "")")
  }

  @Test(.rule("GALLERY-24")) func `the user can turn a stack, and a covered widget cannot be tapped`() throws {
    var gallery = try stack(of: 3)
    #expect(try gallery.turn(to: 2, now: noon).members == [1, 2, 3])
    #expect(gallery.covered(by: 2).map(\.placement) == [3, 1])
    let error = #expect(throws: BusError.self) { try gallery.requireOnTop(1) }
    #expect(error?.message == "1 is under 2 in its stack: run `widgetlab turn 1` first")
    try gallery.requireOnTop(2)
    try add(&gallery, on: nil)
    #expect(throws: BusError.self) { try gallery.turn(to: 4, now: noon) }
    #expect(throws: BusError.self) { try gallery.turn(to: 77, now: noon) }
    try gallery.requireOnTop(4)
  }

  @Test(.rule("GALLERY-24"))
  func `removing the top widget shows the next one, and a stack of one widget is dissolved`() throws {
    var gallery = try stack(of: 3)
    let before = gallery.state
    _ = try gallery.remove(3, now: noon)
    #expect(gallery.stack(of: 1)?.top == 1)
    #expect(
      GalleryStateMachine.turned(from: before, to: gallery.state, because: .removed)
        == [StackTurned(members: [1, 2], top: 1, because: .removed, date: noon)])
    _ = try gallery.remove(2)
    #expect(gallery.state.stacks.isEmpty && gallery.isOnTop(1))
  }

  @Test(.rule("GALLERY-25"))
  func `Smart Rotate turns a stack to its most relevant widget, but not before the pause is over`() throws {
    var gallery = try stack(of: 3, pause: 1800)
    let relevance = [1: Relevance(score: 2), 2: Relevance(score: 5, until: noon + 3600), 3: Relevance(score: 1)]
    let early = gallery.smartRotate(relevance, now: noon + 1799)
    #expect(early.turned.isEmpty && early.next == noon + 1800)
    let late = gallery.smartRotate(relevance, now: noon + 1800)
    #expect(
      late.turned == [
        StackTurned(
          members: [1, 2, 3], top: 2, because: .relevance, date: noon + 1800, score: 5, formerScore: 1)
      ])
    // When its relevance ends, another widget is the most relevant.
    #expect(late.next == noon + 3600)
    #expect(gallery.smartRotate(relevance, now: noon + 3600).turned.map(\.top) == [1])
    #expect(gallery.smartRotate(relevance, now: noon + 9000).turned.isEmpty)
  }

  @Test(.rule("GALLERY-25"))
  func `without a pause Smart Rotate turns at once, but keeps the choice of the user until something changes`()
    throws
  {
    var gallery = try stack(of: 2, pause: 0)
    let relevance = [1: Relevance(score: 2)]
    #expect(gallery.smartRotate(relevance, now: noon).turned.map(\.top) == [1])
    _ = try gallery.turn(to: 2, now: noon)
    let looked = gallery.smartRotate(relevance, mayTurn: false, now: noon)
    #expect(looked.turned.isEmpty && looked.next == nil)
    #expect(gallery.smartRotate(relevance, now: noon).turned.map(\.top) == [1])
  }

  @Test(.rule("GALLERY-25"))
  func `among equally relevant widgets Smart Rotate keeps the one on top, or else takes the first`() throws {
    var gallery = try stack(of: 3, pause: 0)
    #expect(gallery.smartRotate([:], now: noon).turned.isEmpty)
    let two = [1: Relevance(score: 4), 2: Relevance(score: 4)]
    #expect(gallery.smartRotate(two, now: noon).turned.map(\.top) == [1])
    #expect(gallery.smartRotate([1: two[1], 2: two[1], 3: two[1]].compactMapValues(\.self), now: noon).turned.isEmpty)
  }

  @Test(.rule("GALLERY-24")) func `a stack is restored after a host restart`() async throws {
    let database = try DatabaseQueue()
    let clock = ManualClock(noon)
    func service() async throws -> GalleryService {
      try await GalleryService.alone(database, placesEachKind: false, clock: clock)
    }
    let first = try await service()
    await first.launched(GallerySamples.app)
    _ = try await first.learned(GallerySamples.bundle, [GallerySamples.widget()])
    for base in [nil, 1, 1] as [Int?] {
      let request = AddPlacement(widgetKind: "Weather", family: nil, location: .homeScreen, stack: base)
      _ = try await first.add(request)
    }
    clock.advance(by: 60)
    _ = try await first.turn(TurnStack(placement: 2))
    let second = try await service()
    let restored = await second.stateMachine
    #expect(await restored.state == first.stateMachine.state)
    #expect(restored.stack(of: 1)?.top == 2)
    #expect(restored.stack(of: 1)?.turned == noon + 60)
  }
}
