// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AppIntents
@testable import SwiftUI
@testable import WidgetKit

/// Runs the compiler plugin behind `#Preview` with the compiler's messages. The previews at the end of this file are
/// compiled with it, in every form that Documentation/authors.md promises.
@Suite(.timeLimit(.minutes(1))) struct `The compiler plugin of #Preview` {
  @Test func `the preview plugin reports its capability and expands #Preview to nothing`() async throws {
    let run = try await PluginRun([
      #"{"getCapability":{"capability":{"protocolVersion":7}}}"#,
      #"{"expandFreestandingMacro":{"macro":{"name":"PreviewMacro"},"syntax":{"source":"previewed"}}}"#,
    ])
    #expect(run.status == 0, "\(run.errors)")
    try #require(run.replies.count == 2)
    let capability = run.replies[0]["getCapabilityResult"] as? [String: [String: Int]]
    #expect(capability == ["capability": ["protocolVersion": 7]])
    let expansion = run.replies[1]["expandMacroResult"] as? [String: Any]
    #expect(expansion?["expandedSource"] as? String == "")
  }

  @Test func `the preview plugin exits without an error at the compiler's last, empty message`() async throws {
    let run = try await PluginRun([#"{"getCapability":{}}"#, ""])
    #expect(run.status == 0)
    #expect(run.errors == "")
    #expect(run.replies.count == 1)
  }

  @Test func `the preview plugin fails at an unknown message and prints its name`() async throws {
    let run = try await PluginRun([#"{"expandAttachedMacro":{"macro":{"name":"PreviewMacro"}}}"#])
    #expect(run.status == 1)
    #expect(run.replies.isEmpty)
    #expect(run.errors.contains("'expandAttachedMacro'"), "\(run.errors)")
  }

  @Test func `the preview plugin fails when its input ends within a message`() async throws {
    let run = try await PluginRun([], more: Data([9, 0, 0, 0, 0, 0, 0, 0, 1]))
    #expect(run.status == 1)
    #expect(run.errors.contains("within a message"), "\(run.errors)")
  }
}

/// One run of the plugin's executable, with its replies to these messages.
private struct PluginRun {
  var status: Int32
  var replies: [[String: Any]] = []
  var errors: String

  init(_ messages: [String], more: Data = Data()) async throws {
    let process = Process()
    process.executableURL = try Self.executable()
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
    try process.run()
    for message in messages {
      try input.fileHandleForWriting.write(
        contentsOf: withUnsafeBytes(of: UInt64(message.utf8.count).littleEndian) { Data($0) })
      try input.fileHandleForWriting.write(contentsOf: Data(message.utf8))
    }
    try input.fileHandleForWriting.write(contentsOf: more)
    try input.fileHandleForWriting.close()
    var data = try output.fileHandleForReading.readToEnd() ?? Data()
    self.errors = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
    while data.count >= 8 {
      let count = data.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
      let reply = try JSONSerialization.jsonObject(with: data.dropFirst(8).prefix(count))
      replies.append(try #require(reply as? [String: Any]))
      data = Data(data.dropFirst(8 + count))
    }
  }

  /// SwiftPM puts the plugin beside the test bundle.
  private static func executable() throws -> URL {
    var folder = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let arguments = CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
    if let bundle = arguments.first { folder = bundle }
    let tool = URL(filePath: folder).deletingLastPathComponent().appending(path: "AuthorMacros-tool")
    try #require(FileManager.default.isExecutableFile(atPath: tool.path), "\(tool.path) is missing")
    return tool
  }
}

// MARK: Every form of a preview

private struct Clock: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Clock", provider: ClockProvider()) { Text($0.date, style: .time) }
  }
}

private struct ClockEntry: TimelineEntry { let date: Date }

private struct ClockProvider: TimelineProvider {
  func placeholder(in context: Context) -> ClockEntry { ClockEntry(date: .now) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (ClockEntry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<ClockEntry>) -> Void) {
    completion(Timeline(entries: [placeholder(in: context)], policy: .never))
  }
}

private struct ChooseZone: WidgetConfigurationIntent {
  static let title: LocalizedStringResource = "Choose a time zone"
}

private struct ZoneProvider: AppIntentTimelineProvider {
  func placeholder(in context: Context) -> ClockEntry { ClockEntry(date: .now) }
  func snapshot(for configuration: ChooseZone, in context: Context) async -> ClockEntry { placeholder(in: context) }
  func timeline(for configuration: ChooseZone, in context: Context) async -> Timeline<ClockEntry> {
    Timeline(entries: [placeholder(in: context)], policy: .never)
  }
}

private struct ZoneClock: Widget {
  var body: some WidgetConfiguration {
    AppIntentConfiguration(kind: "Zone", intent: ChooseZone.self, provider: ZoneProvider()) {
      Text($0.date, style: .time)
    }
  }
}

private struct ClockPreviews: PreviewProvider {
  static var previews: some View {
    Text("seen").previewContext(WidgetPreviewContext(family: .systemSmall)).previewDisplayName("a view")
  }
}

#Preview("a widget with entries", as: .systemSmall) {
  Clock()
} timeline: {
  ClockEntry(date: .now)
  for hours in 1...3 { ClockEntry(date: Date(timeIntervalSinceNow: Double(hours) * 3600)) }
}

#Preview(as: .accessoryCircular) {
  Clock()
} timeline: {
  ClockEntry(date: .now)
}

#Preview("a widget with a provider", as: .systemMedium) {
  Clock()
} timelineProvider: {
  ClockProvider()
}

#Preview("a widget with a configuration", as: .systemLarge, using: ChooseZone()) {
  ZoneClock()
} timelineProvider: {
  ZoneProvider()
}

#Preview { Text("a view without a name") }

#Preview("a view") { Text("seen") }

#Preview("a view with traits", traits: .sizeThatFitsLayout, .landscapeLeft) { Text("seen") }

#Preview(traits: .fixedLayout(width: 100, height: 50)) { Text("seen") }
