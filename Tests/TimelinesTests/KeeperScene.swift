import Archive
import Conversations
import Foundation
import GRDB
import MessageBus
import Testing
import Timekeeping

@testable import Timelines

/// A keeper on a bus in memory, with its extension and a person.
struct KeeperScene {
  let bus = InMemoryBus()
  let database: DatabaseQueue
  let clock = HeldClock(origin)
  let machine = HeldClock()
  var settings = TimelineSettings()
  var policy = BudgetPolicy()
  var container: String?

  init() throws { database = try DatabaseQueue() }

  /// A life of the host, in which the extension has said its kinds and one widget of each is placed. A later life has a
  /// clock of its own: the alarms of the earlier one died with it.
  func host(kinds: [String] = ["Coffee"], clock: HeldClock? = nil) async throws -> TimelineKeeper {
    let clock = clock ?? self.clock
    let connection = bus.connection(.host("iphone"))
    let container = container
    let keeper = try TimelineKeeper(
      extensions: [widget], database: database, bus: connection, clock: clock, machine: machine, settings: settings,
      policy: policy, environment: { WidgetEnvironment(family: $0.family, width: 155, height: 155) },
      container: { _ in container })
    connection.onEvent(ReloadTimelines.self) { event, from in try await keeper.reload(event, from) }
    _ = try await connection.start()
    await keeper.begin()
    if !kinds.isEmpty { try await learn(keeper, kinds) }
    return keeper
  }

  func learn(_ keeper: TimelineKeeper, _ kinds: [String] = ["Coffee"]) async throws {
    let widgets = kinds.map { WidgetDeclaration(kind: $0) }
    try await keeper.knows(widget, widgets)
    for (offset, kind) in kinds.enumerated() {
      try await keeper.placed(
        Placement(
          id: offset + 1, bundle: widget.bundleIdentifier ?? "", kind: kind, family: .systemSmall,
          location: .homeScreen))
    }
  }

  /// An extension that answers so; its placeholder has no text.
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

  /// An extension that gives one text now.
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

  /// The n-th notice of its kind, of the past or to come.
  func heard<N: Notice>(_ type: N.Type, _ number: Int = 1) async -> N? {
    var count = 0
    for await envelope in await bus.watch() where envelope.header.kind == N.kind {
      count += 1
      if count == number { return try? BodyCoding.decode(N.self, from: envelope.body) }
    }
    return nil
  }
}

/// One entry that shows a text.
func oneEntry(_ text: String, _ date: Date = origin) -> RequestTimeline.Reply {
  RequestTimeline.Reply(entries: [ArchivedEntry(date: date, view: .text(text))], policy: .never)
}
