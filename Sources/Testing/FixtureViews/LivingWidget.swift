// SPDX-License-Identifier: Apache-2.0

import AppIntents
import SwiftUI
import WidgetKit

// A widget that changes on the screen between its timelines.

private var hasMilk: Bool { UserDefaults.standard.bool(forKey: "milk") }

struct ToggleMilk: AppIntent {
  static let title: LocalizedStringResource = "Toggle milk"

  func perform() async throws -> some IntentResult {
    UserDefaults.standard.set(!hasMilk, forKey: "milk")
    return .result()
  }
}

/// Its parameter has no value.
struct Count: AppIntent {
  static let title: LocalizedStringResource = "Count"
  @Parameter(title: "Cups") var cups: Int

  func perform() async throws -> some IntentResult {
    UserDefaults.standard.set(cups, forKey: "cups")
    return .result()
  }
}

struct Living: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Living", provider: Moments()) { entry in
      VStack {
        Text(entry.date, style: .relative)
        Toggle("with milk", isOn: hasMilk, intent: ToggleMilk())
        Button("Count", intent: Count())
      }
      .containerBackground(.background, for: .widget)
    }
    .supportedFamilies([.systemSmall])
  }
}
