// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// A widget with entries ten minutes apart, each of which declares another animation of the change to it.
struct AnimatedWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Animated", provider: AnimatedProvider()) { entry in
      VStack {
        Text(verbatim: "step \(entry.step)").modifier(Changing(entry: entry))
        if entry.step == 6 { Text(verbatim: "more").transition(.push(from: .bottom).animation(.linear(duration: 1))) }
      }
    }
  }
}

struct AnimatedEntry: TimelineEntry {
  let date: Date
  let step: Int
}

/// The same modifiers in each entry, with different arguments.
struct Changing: ViewModifier {
  let entry: AnimatedEntry

  private var animation: Animation? {
    switch entry.step {
    case 1: .easeInOut(duration: 0.7)
    case 2: .linear(duration: 5)
    case 3: nil
    default: .bouncy
    }
  }

  func body(content: Content) -> some View {
    content
      .contentTransition(entry.step == 5 ? .numericText() : .interpolate)
      // The value stays the same from the fourth entry on, so the system's animation applies.
      .animation(animation, value: min(entry.step, 3))
  }
}

struct AnimatedProvider: TimelineProvider {
  func placeholder(in context: Context) -> AnimatedEntry { AnimatedEntry(date: .now, step: -1) }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (AnimatedEntry) -> Void) {
    completion(AnimatedEntry(date: .now, step: 0))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<AnimatedEntry>) -> Void) {
    let now = Date()
    let entries = (0...7).map { AnimatedEntry(date: now + Double($0) * 600, step: $0) }
    completion(Timeline(entries: entries, policy: .never))
  }
}
