// SPDX-License-Identifier: Apache-2.0

import SwiftData
import SwiftUI
import WidgetKit

// A widget with SwiftData: each timeline stores one more sample, and shows their number.

struct ReadingEntry: TimelineEntry {
  var date = Date()
  var text = ""
}

struct ReadingProvider: TimelineProvider {
  /// The store of the first app group, without a configuration.
  private let container = Result { try ModelContainer(for: Reading.self, Sample.self) }

  func placeholder(in context: Context) -> ReadingEntry { ReadingEntry() }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (ReadingEntry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<ReadingEntry>) -> Void) {
    let container = container
    Task {
      do {
        let count = try await ReadingStore(modelContainer: container.get()).addSample(at: "Bern")
        completion(Timeline(entries: [ReadingEntry(text: "\(count) samples")], policy: .never))
      } catch {
        completion(Timeline(entries: [ReadingEntry(text: "\(error)")], policy: .never))
      }
    }
  }
}

struct ReadingView: View {
  @Query(sort: \Reading.place) private var readings: [Reading]
  let text: String

  var body: some View {
    Text(verbatim: "\(text), \(readings.map(\.place).joined(separator: " "))")
      .containerBackground(.background, for: .widget)
  }
}

struct ReadingWidget: Widget {
  private let container = Result { try ModelContainer(for: Reading.self) }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Readings", provider: ReadingProvider()) { entry in
      if let container = try? container.get() {
        ReadingView(text: entry.text).modelContainer(container)
      } else {
        Text("no container").containerBackground(.background, for: .widget)
      }
    }
  }
}

// The models of the widget: what it counted, in the store of its app group.

@Model
final class Reading {
  // Several readings of one place become one.
  @Attribute(.unique)
  var place: String
  var count: Int = 0
  /// The newest first.
  @Relationship(deleteRule: .cascade, inverse: \Sample.reading)
  var samples: [Sample] = []

  init(place: String) { self.place = place }
}

@Model
final class Sample {
  var number: Int
  var reading: Reading?

  init(number: Int) { self.number = number }
}

@ModelActor
actor ReadingStore {
  /// Adds a sample, and returns how many there are.
  func addSample(at place: String) throws -> Int {
    let wanted = #Predicate<Reading> { $0.place == place }
    let foundModel = try modelContext.fetch(FetchDescriptor(predicate: wanted)).first
    let reading = foundModel ?? Reading(place: place)
    if foundModel == nil { modelContext.insert(reading) }
    reading.samples.append(Sample(number: reading.count))
    reading.count += 1
    try modelContext.save()
    return reading.samples.count
  }
}
