package import Archive
package import Foundation

// Timelines: reloads asked for, and what a provider gave.

/// `WidgetCenter.reloadTimelines(ofKind:)` and `reloadAllTimelines()`, and the operator's `reload`.
package struct ReloadTimelines: Event {
  package static let kind: Kind = "timeline.reload"
  /// `nil`: all kinds of the asking bundle; of all bundles, when the operator asks.
  package let widgetKind: String?
  /// The provider's method or the delegate's that the author called it in, such as `getTimeline`; `nil` elsewhere.
  package let within: String?
  package init(widgetKind: String?, within: String? = nil) {
    self.widgetKind = widgetKind
    self.within = within
  }
}

/// When the provider wants to be asked again.
package enum ReloadPolicy: Codable, Hashable, Sendable {
  case atEnd
  case after(Date)
  case never
}

/// Why a provider is asked. Source of the list: "Reload cause" in Apple's *Keeping a widget up to date* and its sessions.
package enum ReloadCause: String, Codable, Hashable, Sendable, CaseIterable {
  /// A person placed the widget.
  case added
  /// A person chose something else for it.
  case edited
  /// The timeline's own policy.
  case policy
  /// `WidgetCenter`, in the app.
  case app
  /// `WidgetCenter`, in the extension.
  case `extension`
  /// An intent of the widget's own button or toggle.
  case interaction
  /// A widget push.
  case push
  /// Language, region, text size, accessibility, account, significant time change.
  case system
  /// A widget was looked at whose timeline the system thinks old.
  case stale
  /// StandBy shows the widget, and the system asks by itself.
  case standBy
  /// The device moved far, and a widget that wants the location is seen.
  case location
  /// `widgetlab reload`.
  case `operator`
  /// The gallery, or who looks at it.
  case gallery
}

/// One entry of a timeline: the views as they were archived for its date.
package struct ArchivedEntry: Codable, Hashable, Sendable {
  /// Source: `TimelineEntryRelevance`.
  package struct Relevance: Codable, Hashable, Sendable {
    package let score: Double
    /// Seconds.
    package let duration: Double
    package init(score: Double, duration: Double) {
      self.score = score
      self.duration = duration
    }
  }

  package let date: Date
  /// In light colours.
  package let view: ViewArchive
  /// In dark colours; `nil` when it is the same.
  package let darkView: ViewArchive?
  package let relevance: Relevance?
  package init(date: Date, view: ViewArchive, darkView: ViewArchive? = nil, relevance: Relevance? = nil) {
    self.date = date
    self.view = view
    self.darkView = darkView
    self.relevance = relevance
  }
}

/// The host asks the extension's provider for entries.
package struct RequestTimeline: Request {
  package static let kind: Kind = "timeline.request"

  /// Which of the provider's methods is called.
  package enum Purpose: String, Codable, Sendable {
    /// `placeholder(in:)`: one entry, at once, without a person's data.
    case placeholder
    /// `getSnapshot` or `snapshot`: one entry.
    case snapshot
    case timeline
  }

  package let purpose: Purpose
  package let widgetKind: String
  /// `nil` in the gallery.
  package let placement: Int?
  package let because: ReloadCause
  package let environment: WidgetEnvironment
  /// The intent's parameters that a person chose.
  package let configuration: [String: ArchivedValue]
  package let limits: ArchiveLimits
  package init(
    _ purpose: Purpose = .timeline, widgetKind: String, placement: Int? = nil, because: ReloadCause,
    environment: WidgetEnvironment, configuration: [String: ArchivedValue] = [:],
    limits: ArchiveLimits = ArchiveLimits()
  ) {
    self.purpose = purpose
    self.widgetKind = widgetKind
    self.placement = placement
    self.because = because
    self.environment = environment
    self.configuration = configuration
    self.limits = limits
  }

  package struct Reply: Codable, Hashable, Sendable {
    /// As the provider gave them, in its order.
    package let entries: [ArchivedEntry]
    package let policy: ReloadPolicy
    /// Entries over the limit that are not among them.
    package let omitted: Int
    /// Where the entries are when they are too long for an envelope: JSON of `[ArchivedEntry]`, in a file below the
    /// extension's container, which the host removes.
    package let file: String?
    package init(entries: [ArchivedEntry], policy: ReloadPolicy, omitted: Int = 0, file: String? = nil) {
      self.entries = entries
      self.policy = policy
      self.omitted = omitted
      self.file = file
    }
  }
}

extension BusError.Code {
  /// The extension has no widget of this kind. Definite.
  package static let unknownWidgetKind = BusError.Code("unknown-widget-kind")
  /// What the provider gave is over a limit, which the message names. Definite.
  package static let archiveTooLarge = BusError.Code("archive-too-large")
  /// A view that the archive has no word for, or the author's type did what cannot be archived. Definite.
  package static let notArchivable = BusError.Code("not-archivable")
}

/// A person looks at a widget in the gallery: the host has its extension make a snapshot.
package struct TakeSnapshot: Request {
  package static let kind: Kind = "snapshot.take"
  package let widgetKind: String
  /// The widget's first when `nil`.
  package let family: WidgetFamilyName?
  package init(widgetKind: String, family: WidgetFamilyName? = nil) {
    self.widgetKind = widgetKind
    self.family = family
  }

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
  package let placement: Int
  package let family: WidgetFamilyName
  package let because: ReloadCause
  package let entries: Int
  /// The dates of the first and of the last entry.
  package let first: Date
  package let last: Date
  package let policy: ReloadPolicy
  /// Of the archive.
  package let bytes: Int
  /// SHA-256 of the views without their dates, the first 16 hexadecimal digits: the same for the same content.
  package let digest: String
  /// The texts, line by line, of the entry that is shown.
  package let text: [String]
  /// What was left out of it, and why.
  package let note: String?
  package init(
    bundle: String, widgetKind: String, placement: Int, family: WidgetFamilyName, because: ReloadCause, entries: Int,
    first: Date, last: Date, policy: ReloadPolicy, bytes: Int, digest: String, text: [String], note: String? = nil
  ) {
    self.bundle = bundle
    self.widgetKind = widgetKind
    self.placement = placement
    self.family = family
    self.because = because
    self.entries = entries
    self.first = first
    self.last = last
    self.policy = policy
    self.bytes = bytes
    self.digest = digest
    self.text = text
    self.note = note
  }
}

/// How the system animates the change from one entry to the next. Source: *Animating data updates in widgets and Live
/// Activities*.
package struct EntryAnimation: Codable, Hashable, Sendable {
  /// By SwiftUI's name, such as `spring` or `easeInOut`.
  package let curve: String
  /// At most 2.
  package let seconds: Double
  /// The author's content transition, or how a view comes or goes, such as `numericText`; `nil` where none is named.
  package let transition: String?
  package init(curve: String, seconds: Double, transition: String? = nil) {
    self.curve = curve
    self.seconds = seconds
    self.transition = transition
  }
}

/// Journal: an entry of a timeline is on the screen from now on.
package struct EntryShown: Notice, Hashable {
  package static let kind: Kind = "timeline.shown"
  package let bundle: String
  package let widgetKind: String
  package let placement: Int
  /// The entry's own; it may be shown later.
  package let date: Date
  package let text: [String]
  /// Of the change from the entry before; `nil` when it is not animated: the first entry, an equal one, one out of sight or on
  /// an Always-On display.
  package let animation: EntryAnimation?
  package init(
    bundle: String, widgetKind: String, placement: Int, date: Date, text: [String], animation: EntryAnimation? = nil
  ) {
    self.bundle = bundle
    self.widgetKind = widgetKind
    self.placement = placement
    self.date = date
    self.text = text
    self.animation = animation
  }
}

/// Journal: a reload came to nothing; the last timeline stays.
package struct ReloadFailed: Notice {
  package static let kind: Kind = "timeline.failed"

  /// What it came to nothing for.
  package enum Failure: String, Codable, Hashable, Sendable {
    /// The extension ended while it was asked.
    case died
    /// The provider had not answered when its time was over.
    case overran
    /// The archive is over a limit.
    case tooLarge
    /// No entry.
    case empty
    /// There is no such kind, or nothing of it is placed.
    case unknownKind
    /// Else.
    case failed
  }

  package let bundle: String
  package let widgetKind: String
  package let placement: Int?
  package let because: ReloadCause?
  package let failure: Failure
  package let reason: String
  /// When the provider is asked again; `nil` when it is not before something asks for it.
  package let nextTry: Date?
  package init(
    bundle: String, widgetKind: String, placement: Int? = nil, because: ReloadCause? = nil,
    failure: Failure = .failed, reason: String, nextTry: Date? = nil
  ) {
    self.bundle = bundle
    self.widgetKind = widgetKind
    self.placement = placement
    self.because = because
    self.failure = failure
    self.reason = reason
    self.nextTry = nextTry
  }
}

/// What only an author's process can see of a fault in the author's code. Journal; `widgetlab diagnose` names it.
package struct FaultNoticed: Notice, Hashable {
  package static let kind: Kind = "fault.noticed"

  package enum Fault: String, Codable, Hashable, Sendable, CaseIterable {
    /// A provider called its completion more than once.
    case completedAgain = "completed-again"
    /// A session without `sharedContainerIdentifier` in an extension.
    case noSharedContainer = "no-shared-container"
    /// The file that was handed to `didFinishDownloadingTo` was where it had been when the method had returned.
    case fileLeftBehind = "file-left-behind"
    /// Two widgets of one extension have the same kind.
    case kindTwice = "kind-twice"
    /// A widget's view has no `containerBackground(for: .widget)`.
    case noContainerBackground = "no-container-background"
    /// A view that widgets cannot show, which is left out.
    case unsupportedView = "unsupported-view"
  }

  package let fault: Fault
  /// The author's type, or the session's identifier.
  package let subject: String
  package let details: String
  package init(_ fault: Fault, subject: String, details: String) {
    self.fault = fault
    self.subject = subject
    self.details = details
  }
}
