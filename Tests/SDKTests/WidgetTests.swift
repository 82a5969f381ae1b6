// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import SwiftUI
@testable import WidgetKit

/// Declaration of an author's widgets, and their replies to the host's requests.
@Suite(.timeLimit(.minutes(1))) struct `An extension's widgets` {
  @Test @MainActor func `a bundle's widgets are described by their modifiers, in the bundle's order`() {
    let descriptions = Trio().body.descriptions
    #expect(descriptions.map(\.declaration?.kind) == ["Static", "Literal", "Plain"])
    #expect(descriptions.map(\.declaration?.displayName) == ["from a string", "from a key", "from a text"])
    #expect(descriptions.map(\.declaration?.description) == ["3 words", nil, nil])
    #expect(descriptions.map(\.declaration?.families) == [[.systemSmall, .accessoryInline], nil, nil])
    #expect(
      descriptions.map { $0.handlers.map { ["a", "b"].map($0.matches) } } == [
        [[true, false]], [[true, true]], [[false, true], [true, true]],
      ])
  }

  @Test func `a timeline request returns the provider's entries with archived views and its policy`() async throws {
    let fixture = try await served { OneWidget(provider: Provider(calls: 1)).descriptions }
    let reply = try await fixture.host.connection.request(
      question("One", family: .systemMedium, width: 338, height: 158), to: SDKFixture.widget
    )
    #expect(reply.entries.map { $0.date.timeIntervalSince1970 } == [10, 20])
    #expect(
      reply.entries.map(\.view.lines) == [
        ["systemMedium", "338 points", "10"], ["systemMedium", "338 points", "even"],
      ])
    #expect(reply.policy == .after(Date(timeIntervalSince1970: 30)))
  }

  @Test func `a snapshot request returns one entry for the gallery`() async throws {
    let fixture = try await served { OneWidget(provider: Provider(calls: 1)).descriptions }
    let reply = try await fixture.host.connection.request(
      question("One", family: .systemSmall, width: 155, height: 155, purpose: .snapshot),
      to: SDKFixture.widget)
    #expect(reply.entries.map(\.view.lines) == [["systemSmall", "155 points", "5"]])
    #expect(reply.policy == .never)
  }

  @Test func `a provider that completes with two timelines returns the first one`() async throws {
    let fixture = try await served { OneWidget(provider: Provider(calls: 2)).descriptions }
    let reply = try await fixture.host.connection.request(
      question("One", family: .systemSmall, width: 1, height: 1), to: SDKFixture.widget)
    #expect(reply.entries.count == 2)
  }

  @Test func `a timeline request for an undeclared kind fails with unknownWidgetKind`() async throws {
    let fixture = try await served { OneWidget(provider: Provider(calls: 1)).descriptions }
    let error = await #expect(throws: BusError.self) {
      _ = try await fixture.host.connection.request(
        question("Two", family: .systemSmall, width: 1, height: 1), to: SDKFixture.widget)
    }
    #expect(error?.code == .unknownWidgetKind)
  }

  @Test(.rule("TIMELINE-01"))
  func `WidgetCenter sends reloads of one kind and of all kinds to the host`() async throws {
    let fixture = try await served { OneWidget(provider: Provider(calls: 1)).descriptions }
    fixture.process.asCurrent {
      WidgetCenter.shared.reloadTimelines(ofKind: "One")
      WidgetCenter.shared.reloadAllTimelines()
    }
    await fixture.process.settled()
    let asked = await fixture.bus.sentEnvelopes.filter { $0.header.kind == ReloadTimelines.kind }
    #expect(
      Set(try asked.map { try BodyCoding.decode(ReloadTimelines.self, from: $0.body).widgetKind }) == ["One", nil])
  }

  private func served(_ descriptions: @MainActor () -> [WidgetDescription]) async throws -> SDKFixture {
    let fixture = try SDKFixture()
    try await fixture.host.start()
    await MainActor.run { serve(descriptions(), in: fixture.process) }
    try await fixture.announce()
    return fixture
  }
}

private func question(
  _ kind: String, family: WidgetFamilyName, width: Double, height: Double,
  purpose: RequestTimeline.Purpose = .timeline
) -> RequestTimeline {
  RequestTimeline(
    purpose, widgetKind: kind, because: .operator,
    environment: WidgetEnvironment(family: family, width: width, height: height, isPreview: purpose == .snapshot))
}

private struct Entry: TimelineEntry {
  let date: Date
  let family: WidgetFamily
  let width: Double
}

private struct Provider: TimelineProvider {
  var calls = 0

  func placeholder(in context: Context) -> Entry { Entry(date: Date(), family: context.family, width: 0) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void) {
    let date = Date(timeIntervalSince1970: context.isPreview ? 5 : 0)
    completion(Entry(date: date, family: context.family, width: context.displaySize.width))
  }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void) {
    let entries = [10.0, 20].map {
      Entry(date: Date(timeIntervalSince1970: $0), family: context.family, width: context.displaySize.width)
    }
    for call in 0..<calls {
      completion(
        Timeline(entries: call == 0 ? entries : [], policy: .after(Date(timeIntervalSince1970: 30))))
    }
  }
}

private struct EntryView: View {
  let entry: Entry

  var body: some View {
    Group {
      Text(verbatim: entry.family.description)
      VStack(alignment: .leading, spacing: 4) {
        Text("\(Int(entry.width)) points")
        if entry.date.timeIntervalSince1970 == 20 {
          Text("even")
        } else {
          Text(String(Int(entry.date.timeIntervalSince1970)))
        }
      }
      if entry.width < 0 { Text("never") }
      EmptyView()
    }
  }
}

private struct OneWidget: Widget {
  var provider = Provider()

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "One", provider: provider) { entry in EntryView(entry: entry) }
  }
}

private struct StaticWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Static", provider: Provider()) { EntryView(entry: $0) }
      .configurationDisplayName(String("from a string"))
      .description("\(3) words")
      .supportedFamilies([.systemSmall, .accessoryInline])
      .onBackgroundURLSessionEvents(matching: "a") { _, completion in completion() }
  }
}

private struct LiteralWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Literal", provider: Provider()) { EntryView(entry: $0) }
      .configurationDisplayName("from a key")
      .onBackgroundURLSessionEvents(matching: nil) { _, completion in completion() }
  }
}

private struct PlainWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Plain", provider: Provider()) { EntryView(entry: $0) }
      .configurationDisplayName(Text("from a text"))
      .onBackgroundURLSessionEvents(matching: { $0 == "b" }) { _, completion in completion() }
      .onBackgroundURLSessionEvents { _, completion in completion() }
  }
}

private struct Trio: WidgetBundle {
  var body: some Widget {
    StaticWidget()
    LiteralWidget()
    PlainWidget()
  }
}
