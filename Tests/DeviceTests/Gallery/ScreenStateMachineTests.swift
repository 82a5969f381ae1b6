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

@Suite struct `Device screen` {
  @Test(.rule("GALLERY-33")) func `an app that leaves the screen or is replaced on it goes to the background`() throws {
    var screen = ScreenStateMachine(device: GallerySamples.phone())
    #expect(screen.state.seen == .homeScreen)
    #expect(try screen.open("a").isEmpty)
    #expect(screen.state.frontApp == "a")
    #expect(screen.state.seen == nil)
    #expect(try screen.open("b") == [.background(app: "a")])
    #expect(try screen.handle(.background(app: "b")) == [.background(app: "b")])
    #expect(screen.state == DeviceScreen())
    #expect(throws: BusError.self) { try screen.handle(.background(app: "b")) }
    _ = try screen.open("a")
    screen.ended("a")
    #expect(screen.state == DeviceScreen())
  }

  @Test(.rule("GALLERY-33")) func `showing another place or turning the display off sends the app to the background`()
    throws
  {
    for change in [ChangeScreen.Change.look(.homeScreen), .look(.lockScreen), .look(.standBy), .darken] {
      var screen = ScreenStateMachine(device: GallerySamples.phone())
      _ = try screen.open("a")
      #expect(try screen.handle(change) == [.background(app: "a")], "\(change)")
      #expect(screen.state.frontApp == nil, "\(change)")
    }
  }

  @Test(.rule("GALLERY-33")) func `locking the device sends its app to the background and hides the Home Screen`()
    throws
  {
    var screen = ScreenStateMachine(device: GallerySamples.phone())
    _ = try screen.open("a")
    #expect(try screen.handle(.lock) == [.background(app: "a")])
    #expect(screen.state == DeviceScreen(isLocked: true, seen: nil))
    #expect(screen.current == .lockScreen)
    #expect(throws: BusError.self) { try screen.handle(.look(.homeScreen)) }
    #expect(throws: BusError.self) { try screen.open("a") }
    _ = try screen.handle(.look(.lockScreen))
    #expect(screen.state.seen == .lockScreen)
    _ = try screen.handle(.unlock)
    #expect(screen.state == DeviceScreen())
  }

  @Test(.rule("TIMELINE-10", "GALLERY-32"))
  func `Always-On requires a supporting model and a locked device, and ends when anything else is shown`() throws {
    var plain = ScreenStateMachine(device: GallerySamples.phone(), state: DeviceScreen(isLocked: true, seen: nil))
    #expect(throws: BusError.self) { try plain.handle(.alwaysOn) }
    var device = GallerySamples.phone()
    device.hasAlwaysOn = true
    var screen = ScreenStateMachine(device: device)
    #expect(throws: BusError.self) { try screen.handle(.alwaysOn) }
    for change in [ChangeScreen.Change.lock, .unlock, .restart, .look(.lockScreen), .darken] {
      _ = try screen.handle(.lock)
      _ = try screen.handle(.alwaysOn)
      #expect(screen.state.isLuminanceReduced && screen.state.seen == .lockScreen)
      _ = try screen.handle(.colorScheme(.dark))
      #expect(screen.state.isLuminanceReduced)
      _ = try screen.handle(change)
      #expect(!screen.state.isLuminanceReduced)
    }
  }

  @Test func `a restarted device is locked and has not been unlocked yet`() throws {
    var screen = ScreenStateMachine(device: GallerySamples.phone())
    _ = try screen.open("a")
    #expect(try screen.handle(.restart) == [.background(app: "a"), .restarted])
    #expect(screen.state == DeviceScreen(isLocked: true, wasUnlocked: false, seen: nil))
    _ = try screen.handle(.unlock)
    #expect(screen.state == DeviceScreen())
  }

  @Test func `the screen keeps the background activity of an app until the app ends it or exits`() throws {
    var screen = ScreenStateMachine(device: GallerySamples.phone())
    _ = try screen.open("a")
    _ = try screen.handle(.activity(app: "a", .audio))
    _ = try screen.handle(.lock)
    #expect(screen.state.activities == ["a": .audio])
    _ = try screen.handle(.activity(app: "a", nil))
    #expect(screen.state.activities.isEmpty)
    _ = try screen.handle(.activity(app: "a", .navigation))
    screen.ended("a")
    #expect(screen.state.activities.isEmpty)
  }

  @Test(.rule("GALLERY-30"))
  func `a locked device withholds protected files, and before its first unlock all files`() {
    #expect(DeviceScreen().withholding(isProtected: true) == nil)
    #expect(DeviceScreen(isLocked: true).withholding(isProtected: true) == .locked)
    #expect(DeviceScreen(isLocked: true).withholding(isProtected: false) == nil)
    for isProtected in [true, false] {
      let started = DeviceScreen(isLocked: true, wasUnlocked: false)
      #expect(started.withholding(isProtected: isProtected) == .notUnlockedYet)
    }
  }

  @Test func `the screen can be dark, show another place or be off`() throws {
    var screen = ScreenStateMachine(device: GallerySamples.phone())
    _ = try screen.handle(.colorScheme(.dark))
    _ = try screen.handle(.look(.standBy))
    #expect(screen.state == DeviceScreen(seen: .standBy, colorScheme: .dark))
    _ = try screen.handle(.darken)
    #expect(screen.state.seen == nil)
    #expect(throws: BusError.self) { try screen.handle(.look(.carPlay)) }
    #expect(try screen.handle(.system("account")) == [.systemChanged("account")])
    #expect(throws: BusError.self) { try screen.handle(.system("locale")) }
  }
}

@Suite(.timeLimit(.minutes(1))) struct `Gallery service` {
  private func service(_ database: any DatabaseWriter) async throws -> GalleryService {
    try await GalleryService.alone(database, clock: ManualClock())
  }

  @Test(.rule("GALLERY-10"))
  func `the gallery is restored after a host restart, and no placement number is reused`() async throws {
    let database = try DatabaseQueue()
    let first = try await service(database)
    let widget = GallerySamples.widget { $0.configuration = GallerySamples.city }
    await first.launched(GallerySamples.app)
    #expect(try await first.learned(GallerySamples.bundle, [widget]).map(\.id) == [1])
    let request = AddPlacement(
      widgetKind: "Weather", family: nil, location: .homeScreen, configuration: ["city": "Paris"])
    _ = try await first.add(request)
    let _: Done = try await first.core.ask(.gallery(.remove(2, .none)))
    let edit = EditPlacement(placement: 1, configuration: ["days": "4"])
    let _: PlacementReport = try await first.core.ask(.gallery(.edit(edit, offer: nil, .none)))
    _ = try await first.change(.lock)
    let second = try await service(database)
    #expect(await second.stateMachine.state == first.stateMachine.state)
    #expect(await second.screen.isLocked)
    #expect(try await second.add(request).placement.id == 3)
    #expect(try await second.learned(GallerySamples.bundle, [widget]).isEmpty)
  }

  @Test func `the gallery service reports the results of a screen change in order`() async throws {
    let service = try await service(DatabaseQueue())
    let (screens, continuation) = AsyncStream.makeStream(of: DeviceScreen.self)
    await service.core.observe { step in
      for case .gallery(.screen(let notice, _)) in step.actions { continuation.yield(notice.state) }
    }
    _ = try await service.open("a")
    _ = try await service.change(.lock)
    var seen = screens.makeAsyncIterator()
    #expect(await seen.next() == DeviceScreen(seen: nil, frontApp: "a"))
    #expect(await seen.next() == DeviceScreen(isLocked: true, seen: nil))
  }

  @Test func `the gallery service reports a failed database write, and changes nothing after it`() async throws {
    let database = try DatabaseQueue()
    let service = try await service(database)
    try await database.write { try $0.execute(sql: "DROP TABLE declarations") }
    await #expect(throws: BusError.self) { try await service.learned(GallerySamples.bundle, [GallerySamples.widget()]) }
    await #expect(throws: BusError.self) { try await service.change(.lock) }
    #expect(await service.screen == DeviceScreen())
    #expect(await service.device.failures.first { _ in true } != nil)
  }
}
