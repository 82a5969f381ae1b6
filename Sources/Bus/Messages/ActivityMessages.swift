// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

// Live Activities: what the app requests, what the host keeps and shows, and what the extension archives.

/// The content of a Live Activity. Source: `ActivityKit.ActivityContent`.
package struct ActivityContentRecord: Codable, Hashable, Sendable {
  /// JSON of the author's `ContentState`.
  package let state: String
  /// When the content becomes stale; `nil`: never.
  package let staleDate: Date?
  /// The most relevant activity is first.
  package let relevanceScore: Double
  package init(state: String, staleDate: Date? = nil, relevanceScore: Double = 0) {
    self.state = state
    self.staleDate = staleDate
    self.relevanceScore = relevanceScore
  }
}

/// A Live Activity as the host keeps it.
package struct ActivityRecord: Codable, Hashable, Sendable {
  /// Source: `ActivityKit.ActivityState`. A dismissed activity is kept no longer.
  package enum Phase: String, Codable, Hashable, Sendable {
    case active, stale, ended
  }
  /// Numbered from 1 on each device, and never reused. It is the number in the use of its device token.
  package let number: Int
  package let id: String
  /// The app's bundle identifier.
  package let app: String
  /// The name of the author's type of attributes.
  package let attributesType: String
  /// JSON of the author's attributes.
  package let attributes: String
  package var content: ActivityContentRecord
  package var phase: Phase
  package let startedAt: Date
  package var endedAt: Date?
  /// When an ended activity leaves the Lock Screen.
  package var dismissAt: Date?
  /// `ActivityStyle`: `standard` or `transient`.
  package let style: String
  /// Whether it was requested with `pushType: .token`.
  package let usesToken: Bool
  /// Whether it has no token until the user allows the activities of the app: a push started it.
  package var awaitsConsent: Bool
  /// Lower-case hexadecimal; `nil` while it has none.
  package var token: String?
  package init(
    number: Int, id: String, app: String, attributesType: String, attributes: String, content: ActivityContentRecord,
    phase: Phase = .active, startedAt: Date, style: String = "standard", usesToken: Bool = false,
    awaitsConsent: Bool = false
  ) {
    self.number = number
    self.id = id
    self.app = app
    self.attributesType = attributesType
    self.attributes = attributes
    self.content = content
    self.phase = phase
    self.startedAt = startedAt
    self.style = style
    self.usesToken = usesToken
    self.awaitsConsent = awaitsConsent
  }
}

/// The Live Activities of one app, as one of its processes sees them.
package struct AppActivities: Codable, Hashable, Sendable {
  /// Increases with each change on the device. A process ignores an older value.
  package var revision: Int
  /// Source: `ActivityAuthorizationInfo.areActivitiesEnabled`.
  package var areEnabled: Bool
  /// In the order of their start.
  package var activities: [ActivityRecord]
  /// The tokens by which a backend starts activities, lower-case hexadecimal, by the name of the type of attributes.
  package var startTokens: [String: String]
  package init(
    revision: Int = 0, areEnabled: Bool = true, activities: [ActivityRecord] = [], startTokens: [String: String] = [:]
  ) {
    self.revision = revision
    self.areEnabled = areEnabled
    self.activities = activities
    self.startTokens = startTokens
  }
}

extension BusError.Code {
  /// The user does not allow Live Activities of the app, or its `Info.plist` does not. Definite.
  package static let activitiesDenied = BusError.Code("activities-denied")
  /// Attributes and content together exceed 4 KB. Definite.
  package static let activityTooLarge = BusError.Code("activity-too-large")
  /// The app or the device has as many activities as it may. Definite.
  package static let tooManyActivities = BusError.Code("too-many-activities")
  /// The app is not in the foreground. Definite.
  package static let appNotVisible = BusError.Code("app-not-visible")
  /// No activity has this id. Definite.
  package static let noSuchActivity = BusError.Code("no-such-activity")
  /// The attributes or the content are not JSON of the author's type. Definite.
  package static let badActivityContent = BusError.Code("bad-activity-content")
}

/// `Activity.request(attributes:content:pushType:style:)`. The same id again returns the activity that exists.
package struct RequestActivity: Request {
  package static let kind: Kind = "activity.request"
  package typealias Reply = AppActivities
  /// A UUID of the sender.
  package let id: String
  /// The app's bundle identifier; `nil`: that of the sender.
  package let app: String?
  package let attributesType: String
  package let attributes: String
  package let content: ActivityContentRecord
  package let usesToken: Bool
  package let style: String
  package init(
    id: String, app: String? = nil, attributesType: String, attributes: String, content: ActivityContentRecord,
    usesToken: Bool = false, style: String = "standard"
  ) {
    self.id = id
    self.app = app
    self.attributesType = attributesType
    self.attributes = attributes
    self.content = content
    self.usesToken = usesToken
    self.style = style
  }
}

/// `Activity.update(_:)`, `Activity.end(_:dismissalPolicy:)`, or the user removes an activity.
package struct ChangeActivity: Request {
  package static let kind: Kind = "activity.change"
  package typealias Reply = AppActivities
  /// Source: `ActivityUIDismissalPolicy`.
  package enum Dismissal: Codable, Hashable, Sendable {
    case standard
    case immediate
    case after(Date)
  }
  package enum Change: Codable, Hashable, Sendable {
    /// `alert`: the title of an `AlertConfiguration`. `timestamp`: a change older than the content is ignored.
    case update(ActivityContentRecord, alert: String? = nil, timestamp: Date? = nil)
    /// Without content, the last one stays.
    case end(ActivityContentRecord?, Dismissal, timestamp: Date? = nil)
    /// The user removes it from the Lock Screen.
    case dismiss
  }
  /// The activity's id; of the operator also its number.
  package let id: String
  package let change: Change
  package init(id: String, _ change: Change) {
    self.id = id
    self.change = change
  }
}

/// Requests the activities of the sender's app. A process of the app gets `activity.changed` from then on.
package struct ListActivities: Request {
  package static let kind: Kind = "activity.list"
  package typealias Reply = AppActivities
  /// Only the operator's: the app's bundle identifier; `nil`: all apps.
  package let app: String?
  package init(app: String? = nil) { self.app = app }
}

/// The user allows or forbids the Live Activities of an app. Forbidden ones end.
package struct AllowActivities: Request {
  package static let kind: Kind = "activity.allow"
  package typealias Reply = Done
  package let app: String
  package let isAllowed: Bool
  package init(app: String, isAllowed: Bool) {
    self.app = app
    self.isAllowed = isAllowed
  }
}

/// The user taps a Live Activity.
package struct TapActivity: Request {
  package static let kind: Kind = "activity.tap"
  package typealias Reply = TapWidget.Reply
  /// A presentation that is touched. The compact and the minimal one have no controls: a tap on them is one beside those
  /// of the expanded one. Source: *Adding interactivity to widgets and Live Activities*.
  package enum Presentation: String, Codable, Hashable, Sendable, CaseIterable {
    case lockScreen, expanded
  }
  /// The activity's id, or its number.
  package let id: String
  /// `nil`: the Lock Screen if it is visible or the only place, otherwise the Dynamic Island.
  package let presentation: Presentation?
  /// The number of a button or toggle of the presentation, from 1; the link's label; or `nil` for the activity itself.
  package let control: Int?
  package let link: String?
  package init(id: String, presentation: Presentation? = nil, control: Int? = nil, link: String? = nil) {
    self.id = id
    self.presentation = presentation
    self.control = control
    self.link = link
  }
}

/// The activities or the tokens of the receiver's app changed.
package struct ActivitiesChanged: Event {
  package static let kind: Kind = "activity.changed"
  package let activities: AppActivities
  package init(_ activities: AppActivities) { self.activities = activities }
}

/// The host requests the views of one content from the extension.
package struct ArchiveActivity: Request {
  package static let kind: Kind = "activity.archive"
  package typealias Reply = ActivityViews
  package let id: String
  package let attributesType: String
  package let attributes: String
  package let state: String
  package let isStale: Bool
  /// The size is the greatest of the Lock Screen presentation.
  package let environment: WidgetEnvironment
  package let limits: ArchiveLimits
  package init(
    id: String, attributesType: String, attributes: String, state: String, isStale: Bool,
    environment: WidgetEnvironment, limits: ArchiveLimits = ArchiveLimits(bytes: 200 << 10)
  ) {
    self.id = id
    self.attributesType = attributesType
    self.attributes = attributes
    self.state = state
    self.isStale = isStale
    self.environment = environment
    self.limits = limits
  }
}

/// The archived views of a Live Activity.
package struct ActivityViews: Codable, Hashable, Sendable {
  /// A part of a presentation.
  package enum Part: String, Codable, Hashable, Sendable, CaseIterable {
    case lockScreen, compactLeading, compactTrailing, minimal, expandedLeading, expandedTrailing, expandedCenter,
      expandedBottom
    /// The Lock Screen presentation in the activity family `small`, of a configuration that supports it.
    case small
  }
  package struct Item: Codable, Hashable, Sendable {
    package let part: Part
    package let form: ArchivedEntry.Form
    package init(_ part: Part, _ form: ArchivedEntry.Form) {
      self.part = part
      self.form = form
    }
  }
  package var items: [Item]
  /// Source: `DynamicIsland.keylineTint(_:)`.
  package var keylineTint: ArchivedValue?
  /// Source: `DynamicIsland.widgetURL(_:)`.
  package var islandURL: String?
  /// Source: `DynamicIsland.contentMargins(_:_:for:)`, in points, by the mode, such as `expanded`.
  package var margins: [String: WidgetEnvironment.Insets]?
  /// The bytes of the images by their SHA-256; `nil` without images.
  package var images: [String: Data]?
  package init(items: [Item] = []) { self.items = items }

  /// The views of a part; `nil` if it has none.
  package subscript(part: Part) -> ArchivedEntry.Form? { items.first { $0.part == part }?.form }
}

/// Journal: a Live Activity started, changed, became stale, ended or left the Lock Screen.
package struct ActivityMoved: Notice, Hashable {
  package static let kind: Kind = "activity.moved"
  package enum Change: String, Codable, Hashable, Sendable {
    case started, updated, stale, ended, dismissed
    /// Its views were archived.
    case archived
    /// Its views could not be archived; the former ones stay.
    case notArchived = "not-archived"
    /// It has a device token, or another one.
    case token
  }
  /// Who caused it.
  package enum Cause: String, Codable, Hashable, Sendable {
    case app, `extension`, push, user, system
  }
  package let change: Change
  package let because: Cause
  package let activity: ActivityRecord
  /// The texts of its Lock Screen presentation, line by line, or why it could not be archived.
  package let text: [String]
  package init(_ change: Change, because: Cause, _ activity: ActivityRecord, text: [String] = []) {
    self.change = change
    self.because = because
    self.activity = activity
    self.text = text
  }
}

extension ShowScreen {
  /// A Live Activity on the screen.
  package struct LiveActivity: Codable, Hashable, Sendable {
    /// Where it is shown. Source: Human Interface Guidelines, *Live Activities*.
    package enum Place: String, Codable, Hashable, Sendable, CaseIterable {
      case lockScreen
      /// The Dynamic Island, of the only or the most relevant activity.
      case compact
      /// The Dynamic Island, when several activities are shown.
      case minimal
    }
    package let activity: ActivityRecord
    /// `nil`: it has no place on this screen.
    package var place: Place?
    /// Without the bytes of its images; `nil` until the extension has archived them.
    package var views: ActivityViews?
    /// Why its views are not newer.
    package var note: String?
    package init(activity: ActivityRecord, place: Place?, views: ActivityViews?, note: String?) {
      self.activity = activity
      self.place = place
      self.views = views
      self.note = note
    }
  }
}

/// A type of attributes for which an extension has an `ActivityConfiguration`.
package struct ActivityDeclaration: Codable, Hashable, Sendable {
  package let attributesType: String
  /// Source: `supplementalActivityFamilies(_:)`.
  package var supplementalFamilies: [String]
  package init(attributesType: String, supplementalFamilies: [String] = []) {
    self.attributesType = attributesType
    self.supplementalFamilies = supplementalFamilies
  }
}
