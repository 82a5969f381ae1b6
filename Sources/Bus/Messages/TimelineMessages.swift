// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

// Timelines: requests for reloads, and the provider's entries.

/// `WidgetCenter.reloadTimelines(ofKind:)` and `reloadAllTimelines()`, and the operator's `reload`.
package struct ReloadTimelines: Event {
  package static let kind: Kind = "timeline.reload"
  /// `nil`: all kinds of the requesting bundle; of all bundles, when the operator requests it.
  package let widgetKind: String?
  /// The provider's or delegate's method in which the author called it, such as `getTimeline`; `nil` elsewhere.
  package let within: String?
  /// Whether it was requested of `ControlCenter`, and concerns controls only. `nil`: widgets only, and both when the
  /// operator requests it.
  package let areControls: Bool?
  package init(widgetKind: String?, within: String? = nil, areControls: Bool = false) {
    self.widgetKind = widgetKind
    self.within = within
    self.areControls = areControls ? true : nil
  }
}

/// When the provider wants the next request.
package enum ReloadPolicy: Codable, Hashable, Sendable {
  case atEnd
  case after(Date)
  case never
}

/// Why a timeline is requested. Source of the list: "Reload cause" in Apple's *Keeping a widget up to date* and its
/// sessions.
package enum ReloadCause: String, Codable, Hashable, Sendable, CaseIterable {
  /// The user placed the widget.
  case added
  /// The user edited its configuration.
  case edited
  /// The timeline's own reload policy.
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
  /// A widget became visible whose timeline the system considers stale.
  case stale
  /// StandBy shows the widget, and the system reloads it on its own schedule.
  case standBy
  /// The device moved far, and a widget that uses the location is visible.
  case location
  /// `widgetlab reload`.
  case `operator`
  /// The gallery.
  case gallery
}

/// One timeline entry: the views as archived for its date.
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

  /// The conditions under which an entry has separate views.
  package enum FormName: String, Codable, Hashable, Sendable {
    /// The usual one.
    case shown
    /// A device that hides private content.
    case hidden
    /// The time between a tap and its timeline.
    case invalidated
  }

  /// The views under one condition.
  package struct Form: Codable, Hashable, Sendable {
    /// For the light colour scheme.
    package let view: ViewArchive
    /// For the dark colour scheme; `nil` when it is the same.
    package let darkView: ViewArchive?
    package init(view: ViewArchive, darkView: ViewArchive? = nil) {
      self.view = view
      self.darkView = darkView
    }
  }

  package let date: Date
  /// For the light colour scheme.
  package let view: ViewArchive
  /// For the dark colour scheme; `nil` when it is the same.
  package let darkView: ViewArchive?
  /// For a device that hides private content; `nil` when it is the same.
  package let privateForm: Form?
  /// For the time between a tap and its timeline; `nil` when it is the same.
  package let invalidatedForm: Form?
  package let relevance: Relevance?
  package init(
    date: Date, view: ViewArchive, darkView: ViewArchive? = nil, privateForm: Form? = nil,
    invalidatedForm: Form? = nil, relevance: Relevance? = nil
  ) {
    self.date = date
    self.view = view
    self.darkView = darkView
    self.privateForm = privateForm
    self.invalidatedForm = invalidatedForm
    self.relevance = relevance
  }
}

/// The host requests entries from the extension's provider.
package struct RequestTimeline: Request {
  package static let kind: Kind = "timeline.request"

  /// The provider's method to call.
  package enum Purpose: String, Codable, Sendable {
    /// `placeholder(in:)`: one entry, synchronously, without the user's data.
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
  /// The intent's parameters that the user chose.
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
    /// In the provider's order.
    package let entries: [ArchivedEntry]
    package let policy: ReloadPolicy
    /// The number of omitted entries over the limit.
    package let omitted: Int
    /// The file with the entries and images when they are too long for an envelope: JSON of `TimelineFile`, below the
    /// extension's container; the host removes it.
    package let file: String?
    /// The bytes of the images of all entries, each once, by their SHA-256; `nil` without images.
    package let images: [String: Data]?
    /// The number under which the extension has these views for `CallClosures`; `nil`: they have no closure that needs a
    /// size.
    package let closures: Int?
    package init(
      entries: [ArchivedEntry], policy: ReloadPolicy, omitted: Int = 0, file: String? = nil,
      images: [String: Data]? = nil, closures: Int? = nil
    ) {
      self.entries = entries
      self.policy = policy
      self.omitted = omitted
      self.file = file
      self.images = images
      self.closures = closures
    }
  }
}

/// The entries of a timeline that are too long for an envelope.
package struct TimelineFile: Codable, Hashable, Sendable {
  package let entries: [ArchivedEntry]
  /// As in `RequestTimeline.Reply`.
  package let images: [String: Data]?
  package init(entries: [ArchivedEntry], images: [String: Data]? = nil) {
    self.entries = entries
    self.images = images
  }
}

extension BusError.Code {
  /// The extension has no widget of this kind. Definite.
  package static let unknownWidgetKind = BusError.Code("unknown-widget-kind")
  /// The provider's result exceeds a limit, which the message names. Definite.
  package static let archiveTooLarge = BusError.Code("archive-too-large")
}

/// The user looks at a widget in the gallery: the host requests a snapshot from its extension.
package struct TakeSnapshot: Request {
  package static let kind: Kind = "snapshot.take"
  package let widgetKind: String
  /// The extension; `nil` where only one has the kind.
  package let bundle: String?
  /// `nil`: the widget's first family.
  package let family: WidgetFamilyName?
  package init(widgetKind: String, bundle: String? = nil, family: WidgetFamilyName? = nil) {
    self.widgetKind = widgetKind
    self.bundle = bundle
    self.family = family
  }

  package struct Reply: Codable, Hashable, Sendable {
    /// The texts of the entry, line by line.
    package let text: [String]
    package init(text: [String]) { self.text = text }
  }
}

/// Journal: a timeline was stored; `text` is that of its first entry.
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
  /// The size of the archive.
  package let bytes: Int
  /// SHA-256 of the views without their dates, the first 16 hexadecimal digits: equal for equal content.
  package let digest: String
  /// The texts, line by line, of the entry that is shown.
  package let text: [String]
  /// What was omitted, and why.
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

/// The system's animation of the change from one entry to the next. Source: *Animating data updates in widgets and Live
/// Activities*.
package struct EntryAnimation: Codable, Hashable, Sendable {
  /// SwiftUI's name, such as `spring` or `easeInOut`.
  package let curve: String
  /// At most 2.
  package let seconds: Double
  /// The author's content transition or view transition, such as `numericText`; `nil` where none is set.
  package let transition: String?
  package init(curve: String, seconds: Double, transition: String? = nil) {
    self.curve = curve
    self.seconds = seconds
    self.transition = transition
  }
}

/// Journal: an entry of a timeline was put on the screen.
package struct EntryShown: Notice, Hashable {
  package static let kind: Kind = "timeline.shown"
  package let bundle: String
  package let widgetKind: String
  package let placement: Int
  /// The entry's own date; it may be shown later.
  package let date: Date
  package let text: [String]
  /// The animation of the change; `nil` without one: the first entry, an equal one, one that is not visible or on an
  /// Always-On display.
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

/// Journal: a reload failed; the last timeline stays.
package struct ReloadFailed: Notice {
  package static let kind: Kind = "timeline.failed"

  /// Why it failed.
  package enum Failure: String, Codable, Hashable, Sendable {
    /// The extension exited during the request.
    case exited
    /// The provider exceeded its time.
    case overran
    /// The archive exceeds a limit.
    case tooLarge
    /// The timeline has no entry.
    case empty
    /// The kind is unknown, or no widget of it is placed.
    case unknownKind
    /// Another error.
    case failed
  }

  package let bundle: String
  package let widgetKind: String
  package let placement: Int?
  package let because: ReloadCause?
  package let failure: Failure
  package let reason: String
  /// When the next request is due; `nil` when nothing is scheduled.
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

/// A fault in the author's code that only the author's process can detect, or stored work that the host sets aside.
/// Journal; `widgetlab diagnose` reports it.
package struct FaultNoticed: Notice, Hashable {
  package static let kind: Kind = "fault.noticed"
  /// Only the fault that each file of a session can have.
  package var maySendLater: Bool { fault == .fileLeftBehind }

  package enum Fault: String, Codable, Hashable, Sendable, CaseIterable {
    /// A provider called its completion more than once.
    case completedAgain = "completed-again"
    /// A session without `sharedContainerIdentifier` in an extension.
    case noSharedContainer = "no-shared-container"
    /// The file passed to `didFinishDownloadingTo` was still in place when the method had returned.
    case fileLeftBehind = "file-left-behind"
    /// Two widgets of one extension have the same kind.
    case kindTwice = "kind-twice"
    /// A widget's view has no `containerBackground(for: .widget)`.
    case noContainerBackground = "no-container-background"
    /// A view that widgets cannot show was omitted.
    case unsupportedView = "unsupported-view"
    /// An image or a colour of the bundle that is missing or cannot be used.
    case assetNotUsable = "asset-not-usable"
    /// A view of a widget starts work, whose result it cannot show.
    case loaderInView = "loader-in-view"
    /// A suite of user defaults with the name of an app group of which the process is no member.
    case foreignAppGroup = "foreign-app-group"
    /// A file of another product's container, which cannot be opened.
    case foreignContainer = "foreign-container"
    /// A declaration that has an effect on a phone and none here.
    case notSimulated = "not-simulated"
    /// A URL of the network was loaded synchronously.
    case blockingLoad = "blocking-load"
    /// The host ended twice in a row by a trap while it handled this.
    case setAside = "set-aside"
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

// Pictures: the views of widgets that are not placed.

/// The operator requests the views of a widget in an environment, for pictures. Nothing is stored.
package struct ArchiveWidget: Request {
  package static let kind: Kind = "widget.archive"

  /// Which entries are requested, and of which method of the provider.
  package enum Entries: String, Codable, Hashable, Sendable, CaseIterable {
    /// The entry of `getSnapshot`, as for the gallery.
    case snapshot
    /// The first entry of `getTimeline`.
    case first
    /// All entries of `getTimeline`.
    case all
  }

  package let widgetKind: String
  /// The extension; `nil` where only one has the kind.
  package let bundle: String?
  package let family: WidgetFamilyName
  /// `nil`: `vibrant` for an accessory family, which has no other, and `fullColor` for the others.
  package let renderingMode: RenderingModeName?
  /// `nil`: the device's.
  package let textSize: TextSizeName?
  /// The locale of the views; `nil`: the device's. The process keeps the device's.
  package let locale: String?
  package let entries: Entries
  package init(
    widgetKind: String, bundle: String? = nil, family: WidgetFamilyName, renderingMode: RenderingModeName? = nil,
    textSize: TextSizeName? = nil, locale: String? = nil, entries: Entries = .snapshot
  ) {
    self.widgetKind = widgetKind
    self.bundle = bundle
    self.family = family
    self.renderingMode = renderingMode
    self.textSize = textSize
    self.locale = locale
    self.entries = entries
  }

  /// An entry as a screen shows it in both colour schemes.
  package struct Entry: Codable, Hashable, Sendable {
    package let light: ShowScreen.Tile
    /// `nil`: as in the light colour scheme.
    package let dark: ShowScreen.Tile?
    package init(light: ShowScreen.Tile, dark: ShowScreen.Tile?) {
      self.light = light
      self.dark = dark
    }
  }

  package struct Reply: Codable, Hashable, Sendable {
    /// By date.
    package let entries: [Entry]
    /// The settings of the views.
    package let settings: DeviceSettings
    /// The colour that the widget's place gives to it; `nil`: none.
    package let tint: TintName?
    /// The bytes of the images that the views show, by SHA-256.
    package let images: [String: Data]
    package init(entries: [Entry], settings: DeviceSettings, tint: TintName?, images: [String: Data] = [:]) {
      self.entries = entries
      self.images = images
      self.settings = settings
      self.tint = tint
    }
  }
}

// Closures that need a size, such as the content of `GeometryReader`. The extension calls them with a guess, the host
// lays out the views, and the extension calls them again with the sizes of the layout.

/// The sizes of closures in one form of an entry's views.
package struct ClosureSizes: Codable, Hashable, Sendable {
  /// In points.
  package struct Size: Codable, Hashable, Sendable {
    package let width: Double
    package let height: Double
    package init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  package let form: ArchivedEntry.FormName
  package let scheme: ColorSchemeName
  /// By the identifiers of the closures: the argument `closure` of a view or a modifier.
  package let sizes: [String: Size]
  package init(form: ArchivedEntry.FormName, scheme: ColorSchemeName, sizes: [String: Size]) {
    self.form = form
    self.scheme = scheme
    self.sizes = sizes
  }
}

/// The host laid out the entries of a reply to `timeline.request`, and closures have other sizes than those with which
/// they were called.
package struct CallClosures: Request {
  package static let kind: Kind = "timeline.closures"

  /// An entry whose closures are called again.
  package struct Entry: Codable, Hashable, Sendable {
    /// Its place in the reply, from 0.
    package let index: Int
    /// Sizes that were sent before stay valid.
    package let closures: [ClosureSizes]
    package init(index: Int, closures: [ClosureSizes]) {
      self.index = index
      self.closures = closures
    }
  }

  /// From `RequestTimeline.Reply.closures`.
  package let number: Int
  package let entries: [Entry]
  package init(number: Int, entries: [Entry]) {
    self.number = number
    self.entries = entries
  }

  /// The requested entries in the requested order.
  package typealias Reply = RequestTimeline.Reply
}

extension BusError.Code {
  /// The extension no longer has the views whose closures are to be called. Definite.
  package static let viewsReleased = BusError.Code("views-released")
}
