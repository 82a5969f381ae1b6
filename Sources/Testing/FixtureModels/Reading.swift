// SPDX-License-Identifier: Apache-2.0

// The models of the widget: what it counted, in the store of its app group.

import SwiftData

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
    let found = try modelContext.fetch(FetchDescriptor(predicate: wanted)).first
    let reading = found ?? Reading(place: place)
    if found == nil { modelContext.insert(reading) }
    reading.samples.append(Sample(number: reading.count))
    reading.count += 1
    try modelContext.save()
    return reading.samples.count
  }
}
