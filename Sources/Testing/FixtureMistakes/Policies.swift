// SPDX-License-Identifier: Apache-2.0

import Foundation
import WidgetKit

// Mistakes in the dates of entries and in reload policies.

/// Requests a reload every five minutes.
struct AsksEveryFiveMinutes: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let next = Calendar.current.date(byAdding: .minute, value: 5, to: Date()) ?? Date()
    completion(Timeline(entries: [Note(date: Date(), text: "every five minutes")], policy: .after(next)))
  }
}

struct AsksEveryHour: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let next = Calendar.current.date(byAdding: .hour, value: 1, to: Date()) ?? Date()
    completion(Timeline(entries: [Note(date: Date(), text: "every hour")], policy: .after(next)))
  }
}

/// An entry for each hour of the day that was measured, which is in the past.
struct CountsFromTheData: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let measured = Date().addingTimeInterval(-2 * 86_400)
    let entries = (0..<24).map { Note(date: measured.addingTimeInterval(Double($0) * 3600), text: "hour \($0)") }
    completion(Timeline(entries: entries, policy: .atEnd))
  }
}

struct CountsFromNow: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let now = Date()
    let entries = (0..<24).map { Note(date: now.addingTimeInterval(Double($0) * 3600), text: "hour \($0)") }
    completion(Timeline(entries: entries, policy: .atEnd))
  }
}

/// Reloads the widget from its own provider.
struct ReloadsWhatItGives: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    UserDefaults.standard.set("saved", forKey: "note")
    WidgetCenter.shared.reloadAllTimelines()
    completion(Timeline("saved"))
  }
}

struct SavesWhatItGives: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    UserDefaults.standard.set("saved", forKey: "note")
    completion(Timeline("saved"))
  }
}
