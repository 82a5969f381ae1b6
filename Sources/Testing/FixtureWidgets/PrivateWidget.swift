// SPDX-License-Identifier: Apache-2.0

import SwiftUI
import WidgetKit

// A widget that draws its own private form and its own placeholder.

struct BalanceView: View {
  @Environment(\.redactionReasons) private var reasons
  @Environment(\.colorScheme) private var scheme

  var body: some View {
    VStack {
      if reasons.contains(.placeholder) {
        Text(verbatim: "loading \(scheme)").unredacted()
      } else if reasons.contains(.privacy) {
        Text(verbatim: "balance hidden \(scheme)")
      } else {
        Text(verbatim: "balance 12 \(scheme)")
      }
      Text(verbatim: "of Anna").privacySensitive()
    }
    .containerBackground(.background, for: .widget)
  }
}

struct BalanceWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Balance", provider: MomentProvider()) { _ in BalanceView() }
      .supportedFamilies([.systemSmall])
  }
}

/// Written before iOS 17: no background for the widget.
struct BareWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Bare", provider: MomentProvider()) { _ in
      Button(intent: Drink(cups: 1)) { Text(verbatim: "bare") }
    }
    .supportedFamilies([.systemSmall])
  }
}

/// Declares that its background cannot be removed.
struct BareKeptWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "BareKept", provider: MomentProvider()) { _ in Text(verbatim: "not removable") }
      .supportedFamilies([.systemSmall])
      .containerBackgroundRemovable(false)
  }
}

struct BareWidgets: WidgetBundle {
  var body: some Widget {
    BareWidget()
    BareKeptWidget()
  }
}
