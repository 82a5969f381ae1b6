import Archive
import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing

@testable import AuthoredProcess
@testable import SwiftUI
@testable import WidgetKit

/// How an extension answers the host that asks it for entries.
@Suite(.timeLimit(.minutes(1))) struct `A request for a timeline` {
  @Test func `a placeholder is asked for at once and has no policy`() async throws {
    let stage = try await Stage.serving { Counting().descriptions }
    let reply = try await stage.ask("Counting", .placeholder)
    #expect(reply.entries.map(\.view.lines) == [["placeholder", "light"]])
    #expect(reply.policy == .never)
  }

  @Test func `each entry is archived in light and in dark`() async throws {
    let stage = try await Stage.serving { Counting(entries: 2).descriptions }
    let reply = try await stage.ask("Counting")
    #expect(reply.entries.map(\.view.lines) == [["0", "light"], ["1", "light"]])
    #expect(reply.entries.map(\.darkView?.lines) == [["0", "dark"], ["1", "dark"]])
    #expect(reply.entries.map(\.relevance) == [nil, .init(score: 2, duration: 60)])
  }

  @Test func `what is the same in dark is archived once`() async throws {
    let stage = try await Stage.serving { Counting(isPlain: true).descriptions }
    let reply = try await stage.ask("Counting")
    #expect(reply.entries.map(\.darkView) == [nil])
  }

  @Test func `entries over the limit are counted and left out`() async throws {
    let stage = try await Stage.serving { Counting(entries: 100_000, isPlain: true).descriptions }
    let reply = try await stage.ask("Counting", limits: ArchiveLimits(entries: 3))
    #expect(reply.entries.count == 3)
    #expect(reply.omitted == 99_997)
  }

  @Test(arguments: [(ArchiveLimits(bytes: 100), "`bytes`"), (ArchiveLimits(depth: 1), "`depth`")])
  func `an archive over a limit is refused with the limit's name`(limits: ArchiveLimits, name: String) async throws {
    let stage = try await Stage.serving { Counting(entries: 5).descriptions }
    let error = await #expect(throws: BusError.self) { try await stage.ask("Counting", limits: limits) }
    #expect(error?.code == .archiveTooLarge)
    #expect(error?.message.contains(name) == true, "\(String(describing: error))")
  }

  @Test func `a view tree ten thousand deep is refused`() async throws {
    let stage = try await Stage.serving { Counting(depth: 10_000).descriptions }
    let error = await #expect(throws: BusError.self) { try await stage.ask("Counting") }
    #expect(error?.code == .archiveTooLarge)
  }

  @Test func `a long answer is a file in the container`() async throws {
    let stage = try await Stage.serving {
      Counting(entries: 400, text: String(repeating: "x", count: 1000)).descriptions
    }
    let reply = try await stage.ask("Counting")
    let file = try #require(reply.file)
    #expect(reply.entries.isEmpty)
    #expect(file.hasPrefix(stage.process.container + "/Library/Caches/com.apple.chrono/"))
    let data = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(try BodyCoding.decode([ArchivedEntry].self, from: Array(data)).count == 400)
  }

  @Test func `a provider that completes again is noticed, and its first timeline counts`() async throws {
    let stage = try await Stage.serving { Counting(completions: 2).descriptions }
    #expect(try await stage.ask("Counting").entries.count == 1)
    await stage.record(FaultNoticed.self) { $0.fault == .completedAgain && $0.subject == "CountingProvider" }
  }

  @Test func `a completion counts from any thread`() async throws {
    let stage = try await Stage.serving { Counting(isElsewhere: true).descriptions }
    #expect(try await stage.ask("Counting").entries.count == 1)
  }

  @Test func `two widgets of one kind are noticed`() async throws {
    let stage = try await Stage.serving { Counting().descriptions + Counting().descriptions }
    await stage.record(FaultNoticed.self) { $0.fault == .kindTwice && $0.subject == "Counting" }
  }

  @Test func `a view without a container background is noticed once for a kind`() async throws {
    let stage = try await Stage.serving { Counting().descriptions }
    for _ in 1...2 { _ = try await stage.ask("Counting") }
    await stage.record(FaultNoticed.self) { $0.fault == .noContainerBackground && $0.subject == "Counting" }
    #expect(await stage.records(FaultNoticed.self).count == 1)
  }

  @Test func `a provider knows what its views will read`() async throws {
    let stage = try await Stage.serving { Counting().descriptions }
    _ = try await stage.ask("Counting", family: .systemMedium, isPreview: true)
    let context = try #require(CountingProvider.contexts.withLock { $0[stage.folder.path] })
    #expect(context == "systemMedium 155.0 true [\"light\", \"dark\"] [3.0]")
  }

  @Test func `a reload says which method it was asked for in`() async throws {
    let stage = try await Stage.serving { Counting(reloads: true).descriptions }
    _ = try await stage.ask("Counting")
    await stage.process.settled()
    let asked = await stage.bus.said.filter { $0.header.kind == ReloadTimelines.kind }
    #expect(try asked.map { try BodyCoding.decode(ReloadTimelines.self, from: $0.body).within } == ["getTimeline"])
  }
}

private struct CountingEntry: TimelineEntry {
  let date: Date
  let text: String
  var relevance: TimelineEntryRelevance?
}

private struct CountingProvider: TimelineProvider {
  /// By container.
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
    // Read, and nothing else, by both threads.
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
