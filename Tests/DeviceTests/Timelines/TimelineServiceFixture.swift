// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Foundation
import GRDB
import MessageBus
import Messages
import Stores
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget
private let origin = TimelineSamples.origin

/// A timeline service on an in-memory bus, with its extension and a user.
struct TimelineServiceFixture {
  let bus = InMemoryBus()
  let database: DatabaseQueue
  let clock = ManualClock(origin)
  let machine = ManualClock()
  var settings = TimelineSettings()
  var policy = BudgetPolicy()
  var container: String?
  var closureSizes: @Sendable (ArchivedEntry, WidgetEnvironment) async -> [ClosureSizes] = { _, _ in [] }

  init() throws { database = try DatabaseQueue() }

  /// Starts a host process in which the extension has declared its kinds and one widget of each is placed. A later host
  /// process has its own clock, because the alarms of the earlier process are gone.
  func host(kinds: [String] = ["Coffee"], clock: ManualClock? = nil) async throws -> TimelineService {
    let clock = clock ?? self.clock
    let connection = bus.connection(.host("iphone"))
    let container = container
    let service = try await TimelineService.alone(
      [widget], database: database, bus: connection, clock: clock, machine: machine, settings: settings, policy: policy,
      environment: { WidgetEnvironment(family: $0.family, width: 155, height: 155) },
      container: { _ in container }, closureSizes: closureSizes)
    connection.onEvent(ReloadTimelines.self) { event, from in try await service.reload(event, from) }
    _ = try await connection.start()
    await service.begin()
    if !kinds.isEmpty { try await learn(service, kinds) }
    return service
  }

  func learn(_ service: TimelineService, _ kinds: [String] = ["Coffee"]) async throws {
    let widgets = kinds.map { WidgetDeclaration(kind: $0) }
    try await service.setKinds(widget, widgets)
    for (offset, kind) in kinds.enumerated() {
      try await service.placed(
        Placement(
          id: offset + 1, bundle: widget.bundleIdentifier ?? "", kind: kind, family: .systemSmall,
          location: .homeScreen))
    }
  }

  /// Starts an extension that replies with `give`. Its placeholder has no text.
  func startExtension(
    _ give: @escaping @Sendable (RequestTimeline) async throws -> RequestTimeline.Reply
  ) async throws -> Connection {
    let connection = bus.connection(widget)
    connection.onRequest(RequestTimeline.self) { request, _ in
      guard request.purpose != .placeholder else {
        return RequestTimeline.Reply(entries: [ArchivedEntry(date: origin, view: .empty)], policy: .never)
      }
      return try await give(request)
    }
    _ = try await connection.start()
    return connection
  }

  /// Starts an extension whose timeline has one entry with a text at the current date.
  func startExtension(_ text: String, _ policy: ReloadPolicy = .never) async throws -> Connection {
    try await startExtension { [clock] request in
      let entry = ArchivedEntry(date: clock.now, view: .text("\(request.widgetKind): \(text)"))
      return RequestTimeline.Reply(entries: [entry], policy: policy)
    }
  }

  func reload(_ kind: String?) async throws {
    let person = bus.connection(.operator("1"))
    _ = try await person.start()
    try await person.deliver(ReloadTimelines(widgetKind: kind), to: .host("iphone"))
    await person.leave()
  }

  /// Waits for the n-th notice of a type and returns it. Past notices count.
  func received<N: Notice>(_ type: N.Type, _ number: Int = 1) async -> N? {
    var count = 0
    for await envelope in await bus.watch() where envelope.header.kind == N.kind {
      count += 1
      if count == number { return try? BodyCoding.decode(N.self, from: envelope.body) }
    }
    return nil
  }
}

extension TimelineService {
  /// A service on a device without other concerns.
  static func alone(
    _ extensions: [Address], database: any DatabaseWriter, bus: any BusConnection, clock: any ControllableClock,
    machine: any ControllableClock, settings: TimelineSettings = TimelineSettings(),
    policy: BudgetPolicy = BudgetPolicy(), environment: @escaping @Sendable (Placement) -> WidgetEnvironment,
    container: @escaping @Sendable (Address) -> String? = { _ in nil },
    closureSizes: @escaping @Sendable (ArchivedEntry, WidgetEnvironment) async -> [ClosureSizes] = { _, _ in [] }
  ) async throws -> TimelineService {
    let storedState = try Stored(
      DeviceTransactions(immediate: database), extensions: extensions, settings: settings, policy: policy)
    let device = await LoneDevice(DeviceStateMachine { $0.timelines = storedState.stateMachine }, clock: clock)
    let service = TimelineService(
      storedState, core: device.core, bus: bus, clock: clock, machine: machine, environment: environment,
      container: container, closureSizes: closureSizes)
    device.core.connect(service)
    return service
  }

  nonisolated var device: LoneDevice { LoneDevice.of(core) }

  func setKinds(_ address: Address, _ widgets: [WidgetDeclaration]) throws(BusError) {
    let families = widgets.map { ($0.kind, $0.isControl ? .control : $0.families?.first ?? .systemSmall) }
    try record(.kindsReported(address, Dictionary(families) { first, _ in first }))
  }

  func placed(_ placement: Placement) throws(BusError) { try record(.placed(placement, .none)) }

  func removed(_ id: Int) throws(BusError) { try record(.removed(id)) }

  func systemChanged(_ setting: String) throws(BusError) { try record(.systemChanged(setting, .none)) }

  func seen(_ ids: Set<Int>, isStandBy: Bool) { handle(.seen(ids, isStandBy: isStandBy)) }

  func withheld(_ extensions: [Address: Withholding]) { handle(.withheld(extensions)) }

  func awake(_ address: Address) { core.handle(.timelines(.awake(address))) }

  func ended(_ address: Address) { core.handle(.timelines(.instanceEnded(address))) }

  func appIsInFront(_ app: Address, isInFront: Bool) { core.handle(.timelines(.inFront(app: app, isInFront))) }

  func set(timeZone: TimeZone) { core.handle(.timelines(.timeZone(timeZone))) }
}

/// Returns a timeline with one entry that shows a text.
func oneEntry(_ text: String, _ date: Date = TimelineSamples.origin) -> RequestTimeline.Reply {
  RequestTimeline.Reply(entries: [ArchivedEntry(date: date, view: .text(text))], policy: .never)
}
