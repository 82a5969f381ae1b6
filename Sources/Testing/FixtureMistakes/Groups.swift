// SPDX-License-Identifier: Apache-2.0

import Foundation
import WidgetKit

// An app group that is in the code, and not in the entitlements.

/// Shows what it saved in an app group that it has not joined.
struct SavesInAGroup: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    completion(saved(in: "group.com.example.Forgotten"))
  }
}

/// Shows what it saved in its app group, and in its own defaults.
struct SavesInItsGroup: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    UserDefaults.standard.set("own", forKey: "text")
    UserDefaults(suiteName: "settings")?.set("own", forKey: "text")
    completion(saved(in: FixtureMistakes.environment["TRIAL_GROUP"] ?? ""))
  }
}

private func saved(in group: String) -> Timeline<Note> {
  let defaults = UserDefaults(suiteName: group)
  defaults?.set("saved", forKey: "text")
  return Timeline(entries: [Note(date: Date(), text: defaults?.string(forKey: "text") ?? "nothing")], policy: .never)
}
