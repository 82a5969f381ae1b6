// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Cluster
import DeviceRules
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Stores
import Testing
import Timekeeping
import ZeroMQ

@testable import Device
@testable import HostSystem

private let phoneApp = Address.app("iphone", "com.example.App")
private let phoneHost = Address.host("iphone")

/// A device on an in-memory bus, with a user.
final class DeviceFixture: Sendable {
  let bus = InMemoryBus()
  private let yaml: String
  let folder = FileManager.default.temporaryDirectory.path + "/device-\(UUID().uuidString)"
  let database: DatabasePool
  let person: Connection

  init(
    _ yaml: String = """
    device: {name: iphone}
    apps:
      - {bundle: com.example.App, executable: app}
    """
  ) async throws {
    self.yaml = yaml
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    database = try DatabasePool(path: folder + "/host.sqlite")
    person = bus.connection(.operator("1"))
    _ = try await person.start()
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Starts a host process.
  func host() async throws -> Device {
    let connection = bus.connection(phoneHost)
    let device = try Device(
      ClusterConfiguration(yaml: yaml), instance: InstanceFolder(folder), database: database, bus: connection
    ) { Issue.record("the device failed: \($0)") }
    try await device.resume()
    _ = try await connection.start()
    await device.connected()
    return device
  }

  /// Ends the host process.
  func end(_ device: Device) async {
    await device.leave()
    await bus.disconnect(phoneHost)
  }

  @discardableResult
  func ask<R: Request>(_ request: R) async throws -> R.Reply {
    try await person.request(request, to: phoneHost, whenUnreachable: .wait)
  }

  /// Reports the app as ready and returns the network states that it receives.
  func launchedApp() async throws -> AsyncStream<NetworkState> {
    let connection = bus.connection(phoneApp)
    let (news, continuation) = AsyncStream.makeStream(of: NetworkState.self)
    connection.onNotice(NetworkChanged.self) { notice, _ in continuation.yield(notice.state) }
    _ = try await connection.start()
    _ = try await connection.request(
      ProcessReady(pid: 7, executable: "app", widgets: []), to: phoneHost, whenUnreachable: .wait)
    return news
  }
}

@Suite(.timeLimit(.minutes(1))) struct `User settings of a device` {
  @Test func `a held clock stays held across a host restart`() async throws {
    let fixture = try await DeviceFixture()
    let first = try await fixture.host()
    #expect(try await fixture.ask(SetClock(change: .ask)).isHeld == false)
    let held = try await fixture.ask(SetClock(change: .hold))
    let later = try await fixture.ask(SetClock(change: .advance(86_400)))
    #expect(abs(later.now.timeIntervalSince(held.now) - 86_400) < 0.001)
    await fixture.end(first)
    let second = try await fixture.host()
    let foundClock = try await fixture.ask(SetClock(change: .ask))
    #expect(foundClock.isHeld && abs(foundClock.now.timeIntervalSince(later.now)) < 0.001)
    let reset = try await fixture.ask(SetClock(change: .reset))
    #expect(!reset.isHeld && reset.offset == 0)
    await fixture.end(second)
    let changes = await fixture.bus.sentEnvelopes.filter { $0.header.kind == ClockChanged.kind }
    #expect(changes.count == 3)
  }

  @Test func `a clock keeps its set date and rate across a host restart`() async throws {
    let fixture = try await DeviceFixture()
    let first = try await fixture.host()
    try await fixture.ask(SetClock(change: .hold))
    try await fixture.ask(SetClock(change: .rate(3600)))
    let morning = Date(timeIntervalSince1970: 1_772_344_800)
    let set = try await fixture.ask(SetClock(change: .set(morning)))
    #expect(set.now == morning && set.isHeld && set.rate == 3600)
    await fixture.end(first)
    let second = try await fixture.host()
    let found = try await fixture.ask(SetClock(change: .ask))
    #expect(found.now == morning && found.isHeld && found.rate == 3600)
    try await fixture.ask(SetClock(change: .run))
    #expect(try await fixture.ask(SetClock(change: .ask)).isHeld == false)
    await fixture.end(second)
  }

  /// The next host repeats a change whose consequences it does not find.
  @Test func `a change of a setting is pending on the disk until its consequences are written`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    let store = try DeviceStore(fixture.database)
    func pending() throws -> Int? {
      try store.setting(DeviceSettingsStateMachine.Stored.self, named: DeviceStore.settings)?.pending.count
    }
    // In one job, so that no transaction is made in between.
    try await Task { @DeviceActor in
      _ = try device.change(.set(.textSize, "accessibility3"))
      #expect(try pending() == 1)
      device.transactions.commit()
      #expect(try pending() == 0)
    }.value
    await fixture.end(device)
  }

  @Test(.rule("PROCESS-27")) func `an app in front is not ended for a task that is overdue, and one behind is`()
    async throws
  {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    let app = fixture.bus.connection(phoneApp)
    _ = try await app.start()
    let instance = ProcessInstance(generation: 1, pid: 7)
    try await Task { @DeviceActor in
      try device.open("com.example.App", .none)
      try device.core.record(.launching(.spawned(phoneApp, instance)))
      try device.core.record(.launching(.ready(phoneApp, generation: 1)))
    }.value
    func process() async -> LaunchStateMachine.Process? { await device.core.state.launching.processes[phoneApp] }
    try await app.deliver(HoldProcess(.begun, names: ["sync"]), to: phoneHost)
    try await app.deliver(HoldProcess(.overdue, names: ["sync"]), to: phoneHost)
    #expect(await process()?.state == .running)
    #expect(await process()?.assertions.contains(.backgroundTask) == true)
    try await Task { @DeviceActor in
      try device.core.record(.launching(.process(.release(phoneApp, because: .foreground))))
    }.value
    try await app.deliver(HoldProcess(.overdue, names: ["sync"]), to: phoneHost)
    #expect(await process()?.state == .dying)
    #expect(await process()?.why.contains("sync") == true)
    // It is being ended: the task would launch the next instance.
    try await app.deliver(HoldProcess(.begun, names: ["sync"]), to: phoneHost)
    #expect(await process()?.assertions.contains(.backgroundTask) == false)
    await fixture.end(device)
  }

  @Test func `an app that is opened right after its end is in front`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    try await Task { @DeviceActor in
      try device.open("com.example.App", .none)
      try device.launcher.exited(ProcessExited(address: phoneApp, generation: 1, pid: 7, ending: .exited(code: 1)))
      try device.open("com.example.App", .none)
      #expect(device.core.state.screen.state.frontApp == "com.example.App")
      #expect(device.core.state.launching.isInFront(phoneApp))
    }.value
    await fixture.end(device)
  }

  @Test(arguments: [SetClock.Change.rate(0), .rate(1e6), .set(.distantPast), .set(Date(timeIntervalSince1970: 1e10))])
  func `a clock refuses a rate or a date out of range`(change: SetClock.Change) async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    await #expect(throws: BusError.self) { try await fixture.ask(SetClock(change: change)) }
    await fixture.end(device)
  }

  @Test func `a clock refuses to be advanced backwards`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    await #expect(throws: BusError.self) { try await fixture.ask(SetClock(change: .advance(-1))) }
    await fixture.end(device)
  }

  @Test(.rule("PROCESS-13"))
  func `a process receives the network state before the reply to its ready message, and a restart keeps it`()
    async throws
  {
    let fixture = try await DeviceFixture()
    let first = try await fixture.host()
    let slow = NetworkState(path: .cellular, rate: 1000)
    #expect(try await fixture.ask(SetNetwork(state: slow)) == slow)
    let news = try await fixture.launchedApp()
    #expect(await news.first { _ in true } == slow)
    await fixture.end(first)
    let second = try await fixture.host()
    #expect(try await fixture.ask(ListSessions()).network == slow)
    await fixture.end(second)
    let sent = await fixture.bus.sentEnvelopes
    let received = sent.firstIndex { $0.header.kind == NetworkChanged.kind && $0.header.destination == phoneApp }
    let answered = sent.firstIndex { $0.header.kind == ProcessReady.kind.answered(.ok) }
    #expect(try #require(received) < #require(answered))
  }

  @Test(.rule("SETTING-01", "SETTING-06"))
  func `a setting survives a host restart, and a process receives it before the reply to its ready message`()
    async throws
  {
    let fixture = try await DeviceFixture()
    let first = try await fixture.host()
    #expect(try await fixture.ask(ChangeSetting(.ask)).changed.isEmpty)
    let reply = try await fixture.ask(ChangeSetting(.set(.timeZone, "Asia/Tokyo")))
    #expect(reply.settings.timeZone == "Asia/Tokyo" && reply.changed == [.timeZone] && reply.appearance == .light)
    await fixture.end(first)
    let second = try await fixture.host()
    #expect(try await fixture.ask(ChangeSetting(.ask)) == reply)
    _ = try await fixture.launchedApp()
    await fixture.end(second)
    let sent = await fixture.bus.sentEnvelopes
    let received = try #require(
      sent.firstIndex { $0.header.kind == SettingChanged.kind && $0.header.destination == phoneApp })
    #expect(try received < #require(sent.firstIndex { $0.header.kind == ProcessReady.kind.answered(.ok) }))
    let notice = try BodyCoding.decode(SettingChanged.self, from: sent[received].body)
    #expect(notice.settings == reply.settings)
  }

  @Test func `a value that a setting does not have is refused`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    let error = await #expect(throws: BusError.self) {
      try await fixture.ask(ChangeSetting(.set(.locale, "nowhere")))
    }
    #expect(error?.code == .malformed && error?.isDefinite == true)
    await fixture.end(device)
  }

  @Test func `a network rate of zero bytes per second is refused`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    await #expect(throws: BusError.self) { try await fixture.ask(SetNetwork(state: NetworkState(rate: 0))) }
    await fixture.end(device)
  }

  @Test func `force quit and update are refused for an app that the device does not have`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    let quit = await #expect(throws: BusError.self) { try await fixture.ask(ForceQuitApp(bundle: "com.example.None")) }
    #expect(quit?.code == .noSuchApp && quit?.message.contains("com.example.App") == true)
    let update = await #expect(throws: BusError.self) { try await fixture.ask(UpdateApp(bundle: "com.example.None")) }
    #expect(update?.code == .noSuchApp)
    await fixture.end(device)
  }
}

@Suite(.timeLimit(.minutes(1))) struct `The screen of a device` {
  @Test(arguments: [100_000, 300_000])
  func `views of a Live Activity are left out with a note only if the screen does not fit in a message`(
    size: Int
  ) async throws {
    let fixture = try await DeviceFixture()
    var activities = ActivityStateMachine(apps: [InstalledApp(address: phoneApp, extensions: [])])
    let request = RequestActivity(
      id: "a", attributesType: "Ride", attributes: "{}", content: ActivityContentRecord(state: "{}"))
    try activities.request(request, app: "com.example.App", because: .app, now: Date())
    activities.archived(1, version: 1, note: nil, text: [])
    let store = try ActivityStore(DeviceTransactions(immediate: fixture.database))
    try store.save(activities.state)
    let form = ArchivedEntry.Form(view: .text(String(repeating: "x", count: size)))
    let views = ActivityViews(items: [ActivityViews.Item(.lockScreen, form)])
    try store.save(ActivityStore.Views(version: 1, views: views), of: 1)
    let device = try await fixture.host()
    let reply = try await fixture.ask(ShowScreen(location: .lockScreen))
    let shown = try #require(reply.activities?.first)
    #expect(shown.place == .lockScreen && (shown.views == nil) == (size == 300_000))
    #expect(shown.note == (size == 300_000 ? "its views are too large to show here" : nil))
    await fixture.end(device)
  }
}

@Suite(.timeLimit(.minutes(1))) struct `An update of an app` {
  private let widget = Address.widgetExtension("iphone", "com.example.App.Widget")

  private func learned(_ kind: String) -> DeviceEvent {
    .gallery(.learned(widget, [WidgetDeclaration(kind: kind)], .none))
  }

  @Test func `the widgets of an instance that is ready as soon as it may be launched are known after the update`()
    async throws
  {
    let fixture = try await DeviceFixture(
      """
      device: {name: iphone}
      apps:
        - {bundle: com.example.App, executable: app}
      extensions:
        - {bundle: com.example.App.Widget, executable: widget}
      settings: {placesEachKind: false}
      """)
    let device = try await fixture.host()
    let agent = fixture.bus.connection(try #require(await device.launcher.silentAgents.first))
    let incarnation = UUID()
    agent.onRequest(ListProcesses.self) { _, _ in ListProcesses.Reply(incarnation: incarnation, children: []) }
    _ = try await agent.start()
    while await !device.launcher.silentAgents.isEmpty {
      try Task.checkCancellation()
      await Task.yield()
    }
    let next = learned("Next")
    await device.core.handle(learned("Former"))
    await device.core.observe { [core = device.core] step in
      for case .allowLaunches in step.requests { core.handle(next) }
    }
    try await fixture.ask(UpdateApp(bundle: "com.example.App"))
    #expect(await device.core.state.timelines.kinds[widget]?.keys.sorted() == ["Next"])
    await fixture.end(device)
  }
}

extension Device {
  /// Returns whether the device runs on the thread of the loop.
  fileprivate func works(on loop: Loop) -> Bool { loop.isCurrent }
}

@Suite(.timeLimit(.minutes(1))) struct `Executor of the device` {
  @Test func `a device that leaves while it launches an app and advances its clock ends with no task`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    // No agent replies, so the launch lasts, and with it the advance.
    try await fixture.ask(OpenApp(bundle: "com.example.App"))
    async let advance = fixture.ask(SetClock(change: .advance(60)))
    await device.leave()
    #expect(await device.tasks.count == 0)
    await fixture.bus.disconnect(phoneHost)
    await fixture.person.leave()
    _ = try? await advance
  }

  @Test func `an opened app is in the foreground when the request is answered`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    try await fixture.ask(OpenApp(bundle: "com.example.App"))
    #expect(await device.core.state.launching.isInFront(phoneApp))
    await fixture.end(device)
  }

  @Test func `the device does not run on the bus thread of the handler that calls it`() async throws {
    let fixture = try await DeviceFixture()
    let device = try await fixture.host()
    let loop = fixture.bus.loop
    await loop.task { #expect(await !device.works(on: loop)) }.value
    await fixture.end(device)
  }
}
