// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

struct FixtureEntry: TimelineEntry {
  let date: Date
  let text: String
}

/// Shows the number of bytes received. The first timeline starts the downloads; a later one creates the session only if
/// the test created a file `open`.
struct FixtureProvider: TimelineProvider {
  func placeholder(in context: Context) -> FixtureEntry { FixtureEntry(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (FixtureEntry) -> Void) {
    guard Form.current == .halted, isThere("answered") else {
      return completion(FixtureEntry(date: Date(), text: "snapshot"))
    }
    Task { await neverAnswer() }
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<FixtureEntry>) -> Void) {
    Task {
      if let bytes = Batch.result.flatMap({ try? Data(contentsOf: $0).count }) {
        return completion(timeline("\(bytes) bytes"))
      }
      if isThere("open") { Batch.shared.makeSession() }
      if Form.current == .halted, isFirst("answered") { return completion(timeline("a good entry")) }
      if isFirst("began") { await Batch.shared.start() }
      guard Form.current != .halted else { return await neverAnswer() }
      completion(timeline("nothing yet"))
    }
  }

  private func timeline(_ text: String) -> Timeline<FixtureEntry> {
    Timeline(entries: [FixtureEntry(date: Date(), text: text)], policy: .never)
  }

  /// Awaits a request that takes longer than the system allows.
  private func neverAnswer() async {
    if let url = ProcessInfo.processInfo.environment["TRIAL_INLINE_URL"].flatMap({ URL(string: $0) }) {
      _ = try? await URLSession.shared.data(from: url)
    }
    let (never, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    continuation.finish()
  }

  private func isThere(_ name: String) -> Bool {
    Batch.folder.map { FileManager.default.fileExists(atPath: $0.appendingPathComponent(name).path) } ?? false
  }

  /// Whether this is the first call in any run of the process.
  private func isFirst(_ name: String) -> Bool {
    guard let folder = Batch.folder, !isThere(name) else { return false }
    return FileManager.default.createFile(atPath: folder.appendingPathComponent(name).path, contents: nil)
  }
}

extension WidgetCenter {
  /// Reloads the timelines, in an extension only.
  static func reloadWhereThereAreWidgets() {
    guard Form.current != .app else { return }
    shared.reloadTimelines(ofKind: "Trial")
  }
}
