import Foundation
import SwiftUI
import WidgetKit

struct TrialEntry: TimelineEntry {
  let date: Date
  let text: String
}

/// Shows how much came. Its first timeline begins the downloads; each later one makes the session only where the test
/// asks for it, with a file `open`.
struct TrialProvider: TimelineProvider {
  func placeholder(in context: Context) -> TrialEntry { TrialEntry(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (TrialEntry) -> Void) {
    guard Form.current == .halted, isThere("answered") else {
      return completion(TrialEntry(date: Date(), text: "snapshot"))
    }
    Task { await neverAnswer() }
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<TrialEntry>) -> Void) {
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

  private func timeline(_ text: String) -> Timeline<TrialEntry> {
    Timeline(entries: [TrialEntry(date: Date(), text: text)], policy: .never)
  }

  /// A request that takes longer than the system gives, and an author who waits for it.
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

  /// Whether this is the first time, in all lives.
  private func isFirst(_ name: String) -> Bool {
    guard let folder = Batch.folder, !isThere(name) else { return false }
    return FileManager.default.createFile(atPath: folder.appendingPathComponent(name).path, contents: nil)
  }
}

extension WidgetCenter {
  /// Asks for new timelines, in an extension.
  static func reloadWhereThereAreWidgets() {
    guard Form.current != .app else { return }
    shared.reloadTimelines(ofKind: "Trial")
  }
}
