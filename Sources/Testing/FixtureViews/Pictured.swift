// SPDX-License-Identifier: Apache-2.0

import SwiftUI
import WidgetKit

// Widgets that show images and colours of the bundle, and an image of the group folder. Their names are those of the
// test's asset catalog.

struct PicturedView: View {
  private var shared: UIImage? {
    FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.Gallery")
      .flatMap { UIImage(contentsOfFile: $0.appendingPathComponent("shared.png").path) }
  }

  var body: some View {
    VStack(spacing: 2) {
      HStack {
        Image("Cup")
        Image("Cup").resizable().scaledToFit().frame(height: 40)
        Image("Food/Tea").foregroundStyle(.green)
      }
      if let shared { Image(uiImage: shared).resizable().frame(width: 25, height: 25) }
      Image("loose")
      Image("Broken")
      Image("Nowhere")
      Text("Brand").foregroundStyle(Color("Brand"))
    }
    .overlay(alignment: .bottomTrailing) {
      HStack(spacing: 4) {
        Image("Mark").font(.system(size: 20, weight: .heavy)).foregroundStyle(.red)
        Image("Badge")
      }
    }
    .containerBackground(Color("Paper"), for: .widget)
  }
}

struct Pictured: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Pictured", provider: Moments()) { _ in PicturedView() }
      .supportedFamilies([.systemSmall])
  }
}

/// Shows an image that is larger than a widget may have.
struct Huge: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Huge", provider: Moments()) { _ in
      Image("Huge").containerBackground(.background, for: .widget)
    }
    .supportedFamilies([.systemSmall])
  }
}
