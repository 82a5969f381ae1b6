// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import ClockTesting
import Foundation
import GRDB
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import Timelines

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
    let service = try TimelineService(
      extensions: [widget], database: database, bus: connection, clock: clock, machine: machine, settings: settings,
      policy: policy, environment: { WidgetEnvironment(family: $0.family, width: 155, height: 155) },
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

/// Returns a timeline with one entry that shows a text.
func oneEntry(_ text: String, _ date: Date = origin) -> RequestTimeline.Reply {
  RequestTimeline.Reply(entries: [ArchivedEntry(date: date, view: .text(text))], policy: .never)
}
