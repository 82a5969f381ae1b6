// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// Written before iOS 17: the view fills the widget and declares no container background.
struct ToEdges: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: CountsFromNow()) { entry in
      ZStack {
        Color.blue
        Text(verbatim: entry.text)
      }
    }
  }
}

struct OnBackground: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: FixtureMistakes.kind, provider: CountsFromNow()) { entry in
      Text(verbatim: entry.text).containerBackground(for: .widget) { Color.blue }
    }
  }
}
