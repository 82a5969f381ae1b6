import Cluster
import Conversations
import Foundation
import GRDB
import MessageBus
import Testing

@testable import HostSystem

private let app = Address.app("iphone", "com.example.App")
private let host = Address.host("iphone")

/// A device on a bus in memory, with an agent that holds the app and a person.
private final class Scene: Sendable {
  let bus = InMemoryBus()
  let folder = FileManager.default.temporaryDirectory.path + "/device-\(UUID().uuidString)"
  let database: DatabasePool
  let person: Connection

  init() async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    database = try DatabasePool(path: folder + "/host.sqlite")
    person = bus.connection(.operator("1"))
    _ = try await person.start()
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// A life of the host.
  func host() async throws -> Device {
    let configuration = try ClusterConfiguration(
      yaml: """
        device: {name: iphone}
        apps:
          - {bundle: com.example.App, executable: app}
        """)
    let connection = bus.connection(HostSystemTests.host)
    let device = try Device(
      configuration, instance: InstanceFolder(folder), database: database, bus: connection
    ) { Issue.record("the device is broken: \($0)") }
    try await device.resume()
    _ = try await connection.start()
    await device.connected()
    return device
  }

  /// The host dies.
  func end(_ device: Device) async {
    await device.leave()
    await bus.disconnect(HostSystemTests.host)
  }

  @discardableResult
  func ask<R: Request>(_ request: R) async throws -> R.Reply {
    try await person.request(request, to: HostSystemTests.host, whenUnreachable: .wait)
  }

  /// The app says that it is ready, and returns what it hears of the network.
  func launchedApp() async throws -> AsyncStream<NetworkState> {
    let connection = bus.connection(app)
    let (news, continuation) = AsyncStream.makeStream(of: NetworkState.self)
    connection.onNotice(NetworkChanged.self) { notice, _ in continuation.yield(notice.state) }
    _ = try await connection.start()
    _ = try await connection.request(
      ProcessReady(pid: 7, executable: "app", widgets: []), to: HostSystemTests.host, whenUnreachable: .wait)
    return news
  }
}

@Suite(.timeLimit(.minutes(1))) struct `what a person sets on the device` {
  @Test func `a clock that is held is held in the next life of the host`() async throws {
    let scene = try await Scene()
    let first = try await scene.host()
    #expect(try await scene.ask(SetClock(change: .ask)).isHeld == false)
    let held = try await scene.ask(SetClock(change: .hold))
    let later = try await scene.ask(SetClock(change: .advance(86_400)))
    #expect(abs(later.now.timeIntervalSince(held.now) - 86_400) < 0.001)
    await scene.end(first)
    let second = try await scene.host()
    let found = try await scene.ask(SetClock(change: .ask))
    #expect(found.isHeld && abs(found.now.timeIntervalSince(later.now)) < 0.001)
    let reset = try await scene.ask(SetClock(change: .reset))
    #expect(!reset.isHeld && reset.offset == 0)
    await scene.end(second)
    let changes = await scene.bus.said.filter { $0.header.kind == ClockChanged.kind }
    #expect(changes.count == 3)
  }

  @Test func `a clock that was set and has a rate has them in the next life of the host`() async throws {
    let scene = try await Scene()
    let first = try await scene.host()
    try await scene.ask(SetClock(change: .hold))
    try await scene.ask(SetClock(change: .rate(3600)))
    let morning = Date(timeIntervalSince1970: 1_772_344_800)
    let set = try await scene.ask(SetClock(change: .set(morning)))
    #expect(set.now == morning && set.isHeld && set.rate == 3600)
    await scene.end(first)
    let second = try await scene.host()
    let found = try await scene.ask(SetClock(change: .ask))
    #expect(found.now == morning && found.isHeld && found.rate == 3600)
    try await scene.ask(SetClock(change: .run))
    #expect(try await scene.ask(SetClock(change: .ask)).isHeld == false)
    await scene.end(second)
  }

  @Test(arguments: [SetClock.Change.rate(0), .rate(1e6), .set(.distantPast), .set(Date(timeIntervalSince1970: 1e10))])
  func `a clock is not set to a time of another age, nor to stand by a rate`(change: SetClock.Change) async throws {
    let scene = try await Scene()
    let device = try await scene.host()
    await #expect(throws: BusError.self) { try await scene.ask(SetClock(change: change)) }
    await scene.end(device)
  }

  @Test func `a clock is not advanced backwards`() async throws {
    let scene = try await Scene()
    let device = try await scene.host()
    await #expect(throws: BusError.self) { try await scene.ask(SetClock(change: .advance(-1))) }
    await scene.end(device)
  }

  @Test func `a process is told of the network when it is ready and when it changes`() async throws {
    let scene = try await Scene()
    let first = try await scene.host()
    let slow = NetworkState(path: .cellular, rate: 1000)
    #expect(try await scene.ask(SetNetwork(state: slow)) == slow)
    let news = try await scene.launchedApp()
    #expect(await news.first { _ in true } == slow)
    await scene.end(first)
    let second = try await scene.host()
    #expect(try await scene.ask(ListSessions()).network == slow)
    await scene.end(second)
    let said = await scene.bus.said
    let told = said.firstIndex { $0.header.kind == NetworkChanged.kind && $0.header.destination == app }
    let answered = said.firstIndex { $0.header.kind == ProcessReady.kind.answered(.ok) }
    #expect(try #require(told) < #require(answered))
  }

  @Test func `a network without a byte a second is refused`() async throws {
    let scene = try await Scene()
    let device = try await scene.host()
    await #expect(throws: BusError.self) { try await scene.ask(SetNetwork(state: NetworkState(rate: 0))) }
    await scene.end(device)
  }

  @Test func `an app that the device does not have cannot be ended or updated`() async throws {
    let scene = try await Scene()
    let device = try await scene.host()
    let quit = await #expect(throws: BusError.self) { try await scene.ask(ForceQuitApp(bundle: "com.example.None")) }
    #expect(quit?.code == .noSuchApp && quit?.message.contains("com.example.App") == true)
    let update = await #expect(throws: BusError.self) { try await scene.ask(UpdateApp(bundle: "com.example.None")) }
    #expect(update?.code == .noSuchApp)
    await scene.end(device)
  }
}
