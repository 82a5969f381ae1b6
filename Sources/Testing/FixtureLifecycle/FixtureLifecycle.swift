// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// An extension for tests that does, when it is asked for a timeline, what the file `instruction` in the folder of its
/// app group says.
@main struct FixtureLifecycle: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: LifecycleProvider()) { entry in Text(verbatim: entry.text) }
  }
}

/// The folder of the app group.
let groupFolder: URL = {
  let group = ProcessInfo.processInfo.environment["TRIAL_GROUP"] ?? ""
  guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
    fatalError("there is no folder of the app group '\(group)'")
  }
  return folder
}()

struct LifecycleEntry: TimelineEntry {
  let date: Date
  let text: String
}

struct LifecycleProvider: TimelineProvider {
  func placeholder(in context: Context) -> LifecycleEntry { LifecycleEntry(date: .now, text: "none") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (LifecycleEntry) -> Void) {
    completion(placeholder(in: context))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<LifecycleEntry>) -> Void) {
    let text: String
    do {
      let instruction = try String(contentsOf: groupFolder.appending(path: "instruction"), encoding: .utf8)
      if instruction.hasPrefix("meet "), let calls = Int(instruction.dropFirst(5)) {
        print("call \(Meeting.wait(for: calls)) of \(calls)")
        text = "met"
      } else {
        text = try Locks.shared.get().hold(instruction)
      }
    } catch {
      text = "\(error)"
    }
    completion(Timeline(entries: [LifecycleEntry(date: .now, text: text)], policy: .never))
  }
}
