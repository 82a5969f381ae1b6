// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import SwiftUI
@testable import WidgetKit

/// A provider whose session uses a second network path.
struct UsesSecondPath: NoteProvider {
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Note>) -> Void) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.multipathServiceType = .handover
    URLSession(configuration: configuration).invalidateAndCancel()
    completion(Timeline(entries: [Note(date: Date(), text: "a note")], policy: .never))
  }
}

struct DimmedNote: View {
  @Environment(\.isLuminanceReduced) private var isLuminanceReduced
  let text: String

  var body: some View {
    Text(verbatim: isLuminanceReduced ? "…" : text).containerBackground(.background, for: .widget)
  }
}

/// Its view has a form for an Always-On display.
struct DimmedWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: UsesSecondPath()) { DimmedNote(text: $0.text) }
  }
}
