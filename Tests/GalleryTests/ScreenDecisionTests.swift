import Archive
import Conversations
import Foundation
import GRDB
import MessageBus
import Testing

@testable import Gallery

@Suite struct `the screen` {
  @Test func `is that of the app in front, and another one leaves it`() throws {
    var screen = ScreenDecision(device: Shelf.phone())
    #expect(screen.state.seen == .homeScreen)
    #expect(try screen.open("a").isEmpty)
    #expect(screen.state.frontApp == "a")
    #expect(screen.state.seen == nil)
    #expect(try screen.open("b") == [.background(app: "a")])
    #expect(try screen.take(.background(app: "b")) == [.background(app: "b")])
    #expect(screen.state == DeviceScreen())
    #expect(throws: BusError.self) { try screen.take(.background(app: "b")) }
    _ = try screen.open("a")
    screen.ended("a")
    #expect(screen.state == DeviceScreen())
  }

  @Test func `is locked with its app in the background, and shows no Home Screen then`() throws {
    var screen = ScreenDecision(device: Shelf.phone())
    _ = try screen.open("a")
    #expect(try screen.take(.lock) == [.background(app: "a")])
    #expect(screen.state == DeviceScreen(isLocked: true, seen: nil))
    #expect(screen.current == .lockScreen)
    #expect(throws: BusError.self) { try screen.take(.look(.homeScreen)) }
    #expect(throws: BusError.self) { try screen.open("a") }
    _ = try screen.take(.look(.lockScreen))
    #expect(screen.state.seen == .lockScreen)
    _ = try screen.take(.unlock)
    #expect(screen.state == DeviceScreen())
  }

  @Test func `is Always-On where the model has it, while it is locked, until something else is seen`() throws {
    var plain = ScreenDecision(device: Shelf.phone(), state: DeviceScreen(isLocked: true, seen: nil))
    #expect(throws: BusError.self) { try plain.take(.alwaysOn) }
    var device = Shelf.phone()
    device.hasAlwaysOn = true
    var screen = ScreenDecision(device: device)
    #expect(throws: BusError.self) { try screen.take(.alwaysOn) }
    for change in [ChangeScreen.Change.lock, .unlock, .restart, .look(.lockScreen), .darken] {
      _ = try screen.take(.lock)
      _ = try screen.take(.alwaysOn)
      #expect(screen.state.isLuminanceReduced && screen.state.seen == .lockScreen)
      _ = try screen.take(.colorScheme(.dark))
      #expect(screen.state.isLuminanceReduced)
      _ = try screen.take(change)
      #expect(!screen.state.isLuminanceReduced)
    }
  }

  @Test func `was not unlocked when the device was started anew`() throws {
    var screen = ScreenDecision(device: Shelf.phone())
    _ = try screen.open("a")
    #expect(try screen.take(.restart) == [.background(app: "a"), .restarted])
    #expect(screen.state == DeviceScreen(isLocked: true, wasUnlocked: false, seen: nil))
    _ = try screen.take(.unlock)
    #expect(screen.state == DeviceScreen())
  }

  @Test func `knows what an app does behind the front, until it says otherwise or ends`() throws {
    var screen = ScreenDecision(device: Shelf.phone())
    _ = try screen.open("a")
    _ = try screen.take(.activity(app: "a", .audio))
    _ = try screen.take(.lock)
    #expect(screen.state.activities == ["a": .audio])
    _ = try screen.take(.activity(app: "a", nil))
    #expect(screen.state.activities.isEmpty)
    _ = try screen.take(.activity(app: "a", .navigation))
    screen.ended("a")
    #expect(screen.state.activities.isEmpty)
  }

  @Test func `may read and write an extension's files unless they are protected, and none before it was unlocked once`()
  {
    #expect(DeviceScreen().withholding(isProtected: true) == nil)
    #expect(DeviceScreen(isLocked: true).withholding(isProtected: true) == .locked)
    #expect(DeviceScreen(isLocked: true).withholding(isProtected: false) == nil)
    for isProtected in [true, false] {
      let started = DeviceScreen(isLocked: true, wasUnlocked: false)
      #expect(started.withholding(isProtected: isProtected) == .notUnlockedYet)
    }
  }

  @Test func `is read from what an earlier host wrote of it`() throws {
    let text = #"{"isLocked":true,"wasUnlocked":true,"colorScheme":"dark"}"#
    let read = try BodyCoding.decode(DeviceScreen.self, from: Array(text.utf8))
    #expect(read == DeviceScreen(isLocked: true, seen: nil, colorScheme: .dark))
  }

  @Test func `is dark, or looked at elsewhere, or off`() throws {
    var screen = ScreenDecision(device: Shelf.phone())
    _ = try screen.take(.colorScheme(.dark))
    _ = try screen.take(.look(.standBy))
    #expect(screen.state == DeviceScreen(seen: .standBy, colorScheme: .dark))
    _ = try screen.take(.darken)
    #expect(screen.state.seen == nil)
    #expect(throws: BusError.self) { try screen.take(.look(.carPlay)) }
    #expect(try screen.take(.system("locale")) == [.systemChanged("locale")])
    #expect(throws: BusError.self) { try screen.take(.system("weather")) }
  }
}

@Suite(.timeLimit(.minutes(1))) struct `the gallery's keeper` {
  private func keeper(_ database: any DatabaseWriter) throws -> GalleryKeeper {
    let bus = InMemoryBus().connection(.host("phone"))
    return try GalleryKeeper(device: Shelf.phone(), apps: [Shelf.app], database: database, bus: bus)
  }

  @Test func `has all of it again after the host's death, and gives no number twice`() async throws {
    let database = try DatabaseQueue()
    let first = try keeper(database)
    let widget = Shelf.widget { $0.configuration = Shelf.city }
    try await first.launched(Shelf.app)
    #expect(try await first.learned(Shelf.bundle, [widget]).map(\.id) == [1])
    let request = AddPlacement(
      widgetKind: "Weather", family: nil, location: .homeScreen, configuration: ["city": "Paris"])
    _ = try await first.add(request, .none)
    try await first.remove(RemovePlacement(placement: 2), .none)
    _ = try await first.edit(EditPlacement(placement: 1, configuration: ["days": "4"]), .none)
    _ = try await first.change(.lock)
    let second = try keeper(database)
    #expect(second.decision.state == first.decision.state)
    #expect(await second.state.isLocked)
    #expect(try await second.add(request, .none).placement.id == 3)
    #expect(try await second.learned(Shelf.bundle, [widget]).isEmpty)
  }

  @Test func `says what follows from a change of the screen, in order`() async throws {
    let keeper = try keeper(DatabaseQueue())
    try await keeper.open("a")
    _ = try await keeper.change(.lock)
    var seen: [GalleryIntent] = []
    for await intent in keeper.intents {
      seen.append(intent)
      if seen.count == 3 { break }
    }
    let start = DeviceScreen()
    let open = DeviceScreen(seen: nil, frontApp: "a")
    let locked = DeviceScreen(isLocked: true, seen: nil)
    #expect(
      seen == [
        .screen(open, before: start), .screen(locked, before: open), .background(app: "a"),
      ])
  }

  @Test func `does nothing any longer when the disk takes nothing`() async throws {
    let database = try DatabaseQueue()
    let keeper = try keeper(database)
    try await database.write { try $0.execute(sql: "DROP TABLE declarations") }
    await #expect(throws: BusError.self) { try await keeper.learned(Shelf.bundle, [Shelf.widget()]) }
    #expect(keeper.decision.state.declarations.isEmpty)
    var intents = keeper.intents.makeAsyncIterator()
    guard case .broken? = await intents.next() else {
      Issue.record("the host is not told")
      return
    }
  }
}
