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

/// An extension's replies to the host's requests for entries.
@Suite(.timeLimit(.minutes(1))) struct `Timeline requests` {
  @Test(.rule("WIDGET-09")) func `a placeholder request returns one entry with the policy never`() async throws {
    let fixture = try await SDKFixture.serving { Counting().descriptions }
    let reply = try await fixture.ask("Counting", .placeholder)
    #expect(reply.entries.map(\.view.lines) == [["placeholder", "light"]])
    #expect(reply.policy == .never)
  }

  @Test(.rule("WIDGET-05")) func `each entry is archived in light and in dark appearance`() async throws {
    let fixture = try await SDKFixture.serving { Counting(entries: 2).descriptions }
    let reply = try await fixture.ask("Counting")
    #expect(reply.entries.map(\.view.lines) == [["0", "light"], ["1", "light"]])
    #expect(reply.entries.map(\.darkView?.lines) == [["0", "dark"], ["1", "dark"]])
    #expect(reply.entries.map(\.relevance) == [nil, .init(score: 2, duration: 60)])
  }

  @Test(.rule("WIDGET-05")) func `an entry that looks the same in dark appearance is archived once`() async throws {
    let fixture = try await SDKFixture.serving { Counting(isPlain: true).descriptions }
    let reply = try await fixture.ask("Counting")
    #expect(reply.entries.map(\.darkView) == [nil])
  }

  @Test(.rule("WIDGET-06")) func `entries over the limit are omitted and counted`() async throws {
    let fixture = try await SDKFixture.serving { Counting(entries: 100_000, isPlain: true).descriptions }
    let reply = try await fixture.ask("Counting", limits: ArchiveLimits(entries: 3))
    #expect(reply.entries.count == 3)
    #expect(reply.omitted == 99_997)
    let usual = try await fixture.ask("Counting")
    #expect(usual.omitted == 100_000 - 400)
  }

  @Test(.rule("WIDGET-07"), arguments: [(ArchiveLimits(bytes: 100), "`bytes`"), (ArchiveLimits(depth: 1), "`depth`")])
  func `an archive over the size or depth limit is refused with the limit's name`(limits: ArchiveLimits, name: String)
    async throws
  {
    #expect(
      ArchiveLimits() == ArchiveLimits(bytes: 4 * 1024 * 1024, depth: 256, imageArea: 2_121_055.2, entries: 400))
    let fixture = try await SDKFixture.serving { Counting(entries: 5).descriptions }
    let error = await #expect(throws: BusError.self) { try await fixture.ask("Counting", limits: limits) }
    #expect(error?.code == .archiveTooLarge)
    #expect(error?.message.contains(name) == true, "\(String(describing: error))")
  }

  @Test(.rule("WIDGET-07")) func `a view tree ten thousand levels deep is refused`() async throws {
    let fixture = try await SDKFixture.serving { Counting(depth: 10_000).descriptions }
    let error = await #expect(throws: BusError.self) { try await fixture.ask("Counting") }
    #expect(error?.code == .archiveTooLarge)
  }

  @Test(.rule("WIDGET-08")) func `a large timeline reply is a file in the extension's container`() async throws {
    let fixture = try await SDKFixture.serving {
      Counting(entries: 400, text: String(repeating: "x", count: 1000)).descriptions
    }
    let reply = try await fixture.ask("Counting")
    let file = try #require(reply.file)
    #expect(reply.entries.isEmpty)
    #expect(file.hasPrefix(fixture.process.container + "/Library/Caches/com.apple.chrono/"))
    let data = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(try BodyCoding.decode(TimelineFile.self, from: Array(data)).entries.count == 400)
  }

  @Test(.rule("WIDGET-08")) func `a timeline reply of 200 KiB has its entries, and one with a byte more is a file`()
    async throws
  {
    func reply(_ letters: Int) async throws -> RequestTimeline.Reply {
      let text = String(repeating: "x", count: letters)
      return try await SDKFixture.serving { Counting(text: text, isPlain: true).descriptions }.ask("Counting")
    }
    let entry = try #require(try await reply(1000).entries.first)
    let letters = 200 * 1024 - (try BodyCoding.data(entry).count - 1000)
    #expect(try await reply(letters).file == nil)
    #expect(try await reply(letters + 1).file != nil)
  }

  @Test(.rule("WIDGET-10"))
  func `a provider that completes twice is reported as a fault, and its first timeline counts`() async throws {
    let fixture = try await SDKFixture.serving { Counting(completions: 2).descriptions }
    #expect(try await fixture.ask("Counting").entries.count == 1)
    await fixture.waitFor(FaultNoticed.self) { $0.fault == .completedAgain && $0.subject == "CountingProvider" }
  }

  @Test(.rule("WIDGET-10")) func `a provider may complete on any thread`() async throws {
    let fixture = try await SDKFixture.serving { Counting(isElsewhere: true).descriptions }
    #expect(try await fixture.ask("Counting").entries.count == 1)
  }

  @Test(.rule("WIDGET-04"))
  func `of two widgets of one kind the last one answers, and a fault is reported`() async throws {
    let fixture = try await SDKFixture.serving {
      Counting(text: "first", isPlain: true).descriptions + Counting(text: "last", isPlain: true).descriptions
    }
    await fixture.waitFor(FaultNoticed.self) { $0.fault == .kindTwice && $0.subject == "Counting" }
    #expect(try await fixture.ask("Counting").entries.map(\.view.lines) == [["last"]])
  }

  @Test(.rule("WIDGET-11"), arguments: [16, 17, 26])
  func `a view without a container background is reported once for its kind, from iOS 17 on`(version: Int) async throws
  {
    let fixture = try await SDKFixture.serving { Counting(completions: 2).descriptions }
    _ = fixture.process.part(ViewFaults.self) { _ in ViewFaults(version: version) }
    for _ in 1...2 { _ = try await fixture.ask("Counting") }
    // The provider's other fault shows that the views were read.
    await fixture.waitFor(FaultNoticed.self) { $0.fault == .completedAgain }
    if version >= 17 {
      await fixture.waitFor(FaultNoticed.self) { $0.fault == .noContainerBackground && $0.subject == "Counting" }
    }
    let count = await fixture.sent(FaultNoticed.self).count { $0.fault == .noContainerBackground }
    #expect(count == (version < 17 ? 0 : 1))
  }

  @Test(.rule("WIDGET-12"))
  func `a provider's context has the family, size, preview flag and environment variants of the request`() async throws
  {
    let fixture = try await SDKFixture.serving { Counting().descriptions }
    _ = try await fixture.ask("Counting", family: .systemMedium, isPreview: true)
    let context = try #require(CountingProvider.contexts.withLock { $0[fixture.folder.path] })
    #expect(context == "systemMedium 155.0 true [\"light\", \"dark\"] [3.0]")
  }

  @Test(.rule("WIDGET-13")) func `a reload request names the provider method that requested it`() async throws {
    let fixture = try await SDKFixture.serving { Counting(reloads: true).descriptions }
    _ = try await fixture.ask("Counting")
    await fixture.process.settled()
    let asked = await fixture.bus.sentEnvelopes.filter { $0.header.kind == ReloadTimelines.kind }
    #expect(try asked.map { try BodyCoding.decode(ReloadTimelines.self, from: $0.body).within } == ["getTimeline"])
  }
}

private struct CountingEntry: TimelineEntry {
  let date: Date
  let text: String
  var relevance: TimelineEntryRelevance?
}

private struct CountingProvider: TimelineProvider {
  /// The last context of each container.
  static let contexts = Mutex<[String: String]>([:])
  let widget: Counting

  func placeholder(in context: Context) -> CountingEntry { CountingEntry(date: Date(), text: "placeholder") }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (CountingEntry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<CountingEntry>) -> Void) {
    let variants = context.environmentVariants
    let words = [
      "\(context.family)", "\(context.displaySize.width)", "\(context.isPreview)",
      "\(variants.colorScheme?.map { "\($0)" } ?? [])",
      "\(variants.displayScale ?? [])",
    ]
    let container = HostedProcess.current?.container ?? ""
    CountingProvider.contexts.withLock { $0[container] = words.joined(separator: " ") }
    if widget.reloads { WidgetCenter.shared.reloadTimelines(ofKind: "Counting") }
    let entries = (0..<widget.entries).map { index in
      CountingEntry(
        date: Date(timeIntervalSince1970: Double(index)), text: widget.text ?? "\(index)",
        relevance: index == 1 ? TimelineEntryRelevance(score: 2, duration: 60) : nil)
    }
    // Both threads only read it.
    nonisolated(unsafe) let timeline = Timeline(entries: entries, policy: .atEnd)
    for _ in 0..<widget.completions {
      if widget.isElsewhere { Thread { completion(timeline) }.start() } else { completion(timeline) }
    }
  }
}

private struct Counting: Widget {
  var entries = 1
  var completions = 1
  var depth = 0
  var text: String?
  var isPlain = false
  var isElsewhere = false
  var reloads = false

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Counting", provider: CountingProvider(widget: self)) { [self] entry in
      VStack {
        Text(verbatim: entry.text)
        if !isPlain { Scheme() }
        if depth > 0 { nested(depth) }
      }
    }
  }

  private func nested(_ depth: Int) -> AnyView {
    var view = AnyView(EmptyView())
    for _ in 0..<depth { view = AnyView(VStack { view }) }
    return view
  }
}

private struct Scheme: View {
  @Environment(\.colorScheme) private var scheme
  var body: some View { Text(verbatim: "\(scheme)") }
}
