// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// A presentation of a Live Activity. Source: Human Interface Guidelines, *Live Activities*.
enum ActivityPresentation: String, CaseIterable, Sendable {
  case lockScreen, compact, minimal, expanded

  init(_ place: ShowScreen.LiveActivity.Place) {
    self =
      switch place {
      case .lockScreen: .lockScreen
      case .compact: .compact
      case .minimal: .minimal
      }
  }

  /// Its parts, in reading order.
  var parts: [ActivityViews.Part] {
    switch self {
    case .lockScreen: [.lockScreen]
    case .compact: [.compactLeading, .compactTrailing]
    case .minimal: [.minimal]
    case .expanded: [.expandedLeading, .expandedCenter, .expandedTrailing, .expandedBottom]
    }
  }

  /// As text for the user.
  var title: String { self == .lockScreen ? "Lock Screen" : "Dynamic Island, \(rawValue)" }
}

/// A Live Activity as text.
struct ActivityPrint {
  /// One JSON object of `widgetlab screen` and `widgetlab activity show`.
  struct Facts: Encodable {
    let number: Int
    let id: String
    let app: String
    let attributesType: String
    let phase: String
    let state: String
    let place: String?
    /// The texts of each part that the author's code has.
    let views: [String: [String]]
    let note: String?
  }

  let shown: ShowScreen.LiveActivity
  let appearance: ScreenAppearance
  private var activity: ActivityRecord { shown.activity }

  init(_ shown: ShowScreen.LiveActivity, _ appearance: ScreenAppearance) {
    self.shown = shown
    self.appearance = appearance
  }

  /// In its place on the screen.
  var lines: [String] { lines(of: shown.place.map { [ActivityPresentation($0)] } ?? []) }

  func lines(of presentations: [ActivityPresentation]) -> [String] {
    var lines = ["Live Activity \(activity.number)  \(activity.attributesType)  \(activity.phase.rawValue)"]
    for presentation in presentations {
      lines.append("   \(presentation.title)")
      guard shown.views != nil else {
        lines.append("      its extension has provided nothing yet")
        continue
      }
      for part in presentation.parts { lines += views(part).map { "      " + $0 } }
    }
    if let note = shown.note { lines.append("   ! \(note)") }
    return lines
  }

  private func views(_ part: ActivityViews.Part) -> [String] {
    guard let form = shown.views?[part] else { return [] }
    let text = form.view.indented(appearance).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return part == .lockScreen || part == .minimal ? text : ["\(part.place):"] + text.map { "   " + $0 }
  }

  var facts: Facts {
    let items = shown.views?.items ?? []
    return Facts(
      number: activity.number, id: activity.id, app: activity.app, attributesType: activity.attributesType,
      phase: activity.phase.rawValue, state: activity.content.state, place: shown.place?.rawValue,
      views: Dictionary(items.map { ($0.part.rawValue, $0.form.view.lines) }) { first, _ in first }, note: shown.note)
  }
}

extension ActivityViews.Part {
  /// Where it is in its presentation.
  fileprivate var place: String {
    switch self {
    case .compactLeading, .expandedLeading: "leading"
    case .compactTrailing, .expandedTrailing: "trailing"
    case .expandedCenter: "center"
    case .expandedBottom: "bottom"
    case .lockScreen, .minimal, .small: rawValue
    }
  }
}
