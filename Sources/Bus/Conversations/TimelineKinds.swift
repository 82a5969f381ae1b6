package import Archive
package import Foundation

// Timelines: reloads asked for, and what a provider gave.

/// `WidgetCenter.reloadTimelines(ofKind:)` and `reloadAllTimelines()`, and the operator's `reload`.
package struct ReloadTimelines: Event {
  package static let kind: Kind = "timeline.reload"
  /// `nil`: all kinds of the asking bundle; of all bundles, when the operator asks.
  package let widgetKind: String?
  package init(widgetKind: String?) { self.widgetKind = widgetKind }
}

/// When the provider wants to be asked again.
package enum ReloadPolicy: Codable, Hashable, Sendable {
  case atEnd
  case after(Date)
  case never
}

/// One entry of a timeline: the view as it was archived for its date.
package struct ArchivedEntry: Codable, Hashable, Sendable {
  package let date: Date
  package let view: ViewArchive
  package init(date: Date, view: ViewArchive) {
    self.date = date
    self.view = view
  }
}

/// The host asks the extension's provider for entries.
package struct RequestTimeline: Request {
  package static let kind: Kind = "timeline.request"

  /// Which of the provider's methods is called.
  package enum Purpose: String, Codable, Sendable {
    case timeline
    /// One entry, for the gallery: `isPreview`.
    case snapshot
  }

  package let purpose: Purpose
  package let widgetKind: String
  package let family: WidgetFamilyName
  /// Points.
  package let displayWidth: Double
  /// Points.
  package let displayHeight: Double
  package init(
    _ purpose: Purpose = .timeline, widgetKind: String, family: WidgetFamilyName, displayWidth: Double,
    displayHeight: Double
  ) {
    self.purpose = purpose
    self.widgetKind = widgetKind
    self.family = family
    self.displayWidth = displayWidth
    self.displayHeight = displayHeight
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let entries: [ArchivedEntry]
    package let policy: ReloadPolicy
    package init(entries: [ArchivedEntry], policy: ReloadPolicy) {
      self.entries = entries
      self.policy = policy
    }
  }
}

/// A person looks at a widget in the gallery: the host has its extension make a snapshot.
package struct TakeSnapshot: Request {
  package static let kind: Kind = "snapshot.take"
  package let widgetKind: String
  package init(widgetKind: String) { self.widgetKind = widgetKind }

  package struct Reply: Codable, Hashable, Sendable {
    /// The entry's texts, line by line.
    package let text: [String]
    package init(text: [String]) { self.text = text }
  }
}

/// Journal: a timeline is stored, and its first entry shows this.
package struct TimelineStored: Notice, Hashable {
  package static let kind: Kind = "timeline.stored"
  package let bundle: String
  package let widgetKind: String
  package let entries: Int
  /// The first entry's texts, line by line.
  package let text: [String]
  /// What the host does not do with it, and says so.
  package let note: String?
  package init(bundle: String, widgetKind: String, entries: Int, text: [String], note: String? = nil) {
    self.bundle = bundle
    self.widgetKind = widgetKind
    self.entries = entries
    self.text = text
    self.note = note
  }
}

/// Journal: a reload came to nothing; the last timeline stays.
package struct ReloadFailed: Notice {
  package static let kind: Kind = "timeline.failed"
  package let bundle: String
  package let widgetKind: String
  package let reason: String
  package init(bundle: String, widgetKind: String, reason: String) {
    self.bundle = bundle
    self.widgetKind = widgetKind
    self.reason = reason
  }
}
