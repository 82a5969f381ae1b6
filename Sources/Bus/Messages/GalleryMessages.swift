// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

// Gallery and screen: what the user places, sees and taps.

/// The user opens the gallery.
package struct ListGallery: Request {
  package static let kind: Kind = "gallery.list"
  /// The location for which the gallery is opened; `nil`: all locations.
  package let location: WidgetLocationName?
  package init(location: WidgetLocationName?) { self.location = location }

  /// One widget in the gallery of one location.
  package struct Item: Codable, Hashable, Sendable {
    package enum Section: String, Codable, Hashable, Sendable {
      case main
      /// At the end, under *Other*: the author disfavours the location.
      case other
      /// Not in the gallery; `reason` explains it.
      case leftOut
    }
    package let bundle: String
    package let widgetKind: String
    package let displayName: String
    package let description: String
    package let location: WidgetLocationName
    /// The families offered in this section.
    package let families: [WidgetFamilyName]
    package let section: Section
    package let reason: String?
    package init(
      bundle: String, widgetKind: String, displayName: String, description: String, location: WidgetLocationName,
      families: [WidgetFamilyName], section: Section, reason: String? = nil
    ) {
      self.bundle = bundle
      self.widgetKind = widgetKind
      self.displayName = displayName
      self.description = description
      self.location = location
      self.families = families
      self.section = section
      self.reason = reason
    }
  }

  package struct Reply: Codable, Hashable, Sendable {
    package let items: [Item]
    /// Extensions whose widgets are unknown, since they could not be started.
    package var failures: [LaunchFailure]?
    package init(items: [Item]) { self.items = items }
  }
}

extension BusError.Code {
  /// The gallery does not offer this widget at the location. Definite.
  package static let notPlaceable = BusError.Code("not-placeable")
  /// No placement has this number. Definite.
  package static let noSuchPlacement = BusError.Code("no-such-placement")
  /// The widget's configuration does not accept a value. Definite.
  package static let badConfiguration = BusError.Code("bad-configuration")
}

/// A placement, with the gallery's findings when it was placed or edited.
package struct PlacementReport: Codable, Hashable, Sendable {
  package let placement: Placement
  package let displayName: String
  package let description: String
  /// What the user can configure; `nil` when nothing.
  package let configuration: IntentDeclaration?
  /// The system opens the configuration right after placing the widget.
  package let promptsForConfiguration: Bool
  package init(
    placement: Placement, displayName: String, description: String, configuration: IntentDeclaration?,
    promptsForConfiguration: Bool
  ) {
    self.placement = placement
    self.displayName = displayName
    self.description = description
    self.configuration = configuration
    self.promptsForConfiguration = promptsForConfiguration
  }
}

/// The user places a widget. The reply is sent when the placement is on disk; then its timeline is requested.
package struct AddPlacement: Request {
  package static let kind: Kind = "placement.add"
  package typealias Reply = PlacementReport
  /// `nil`: the only extension with this kind.
  package let bundle: String?
  package let widgetKind: String
  /// `nil`: the first family that the location offers.
  package let family: WidgetFamilyName?
  package let location: WidgetLocationName
  package let configuration: [String: ArchivedValue]
  /// The widget on which it is stacked, or any widget of that stack, which determines family and location.
  package let stack: Int?
  package init(
    bundle: String? = nil, widgetKind: String, family: WidgetFamilyName?, location: WidgetLocationName,
    configuration: [String: ArchivedValue] = [:], stack: Int? = nil
  ) {
    self.stack = stack
    self.bundle = bundle
    self.widgetKind = widgetKind
    self.family = family
    self.location = location
    self.configuration = configuration
  }
}

/// The user edits a widget: the given values change, the others stay.
package struct EditPlacement: Request {
  package static let kind: Kind = "placement.edit"
  package typealias Reply = PlacementReport
  package let placement: Int
  package let configuration: [String: ArchivedValue]
  package init(placement: Int, configuration: [String: ArchivedValue]) {
    self.placement = placement
    self.configuration = configuration
  }
}

/// The user removes a widget.
package struct RemovePlacement: Request {
  package static let kind: Kind = "placement.remove"
  package typealias Reply = Done
  package let placement: Int
  package init(placement: Int) { self.placement = placement }
}

/// Journal: a widget was placed, edited or removed.
package struct PlacementChanged: Notice, Hashable {
  package static let kind: Kind = "placement.changed"
  package enum Change: String, Codable, Hashable, Sendable { case added, edited, removed }
  package let change: Change
  package let placement: Placement
  package init(_ change: Change, _ placement: Placement) {
    self.change = change
    self.placement = placement
  }
}

/// Requests one of the device's screens.
package struct ShowScreen: Request {
  package static let kind: Kind = "screen.show"
  /// `nil`: the screen that is visible now.
  package let location: WidgetLocationName?
  package init(location: WidgetLocationName? = nil) { self.location = location }

  /// One widget as shown.
  package struct Tile: Codable, Hashable, Sendable {
    /// What is shown for the widget.
    package enum Content: String, Codable, Hashable, Sendable {
      case entry
      /// The provider's placeholder, redacted: there is no entry yet, or it must not be shown.
      case placeholder
      /// The extension has not provided anything yet.
      case skeleton
    }
    /// How the view's container background is shown at the location.
    package enum Background: String, Codable, Hashable, Sendable {
      case shown, removed
      /// It is not removable: kept, dimmed or without colour.
      case kept, faded, desaturated
    }
    /// A size in points.
    package struct Size: Codable, Hashable, Sendable {
      package let width: Double
      package let height: Double
      package init(width: Double, height: Double) {
        self.width = width
        self.height = height
      }
    }
    package let placement: Placement
    package let content: Content
    package let background: Background
    package let renderingMode: RenderingModeName
    /// The entry's date.
    package let date: Date?
    /// In the device's colour scheme.
    package var view: ViewArchive
    /// Why it is not newer: the reason of the last failure.
    package var note: String?
    /// The widgets below it in its stack, in rotation order.
    package var covers: [Covered] = []
    /// Of the widget; on an iPad that of the canvas in which its view is laid out.
    package var size: Size?
    package init(
      placement: Placement, content: Content, background: Background, renderingMode: RenderingModeName, date: Date?,
      view: ViewArchive, note: String?
    ) {
      self.placement = placement
      self.content = content
      self.background = background
      self.renderingMode = renderingMode
      self.date = date
      self.view = view
      self.note = note
    }
  }

  package struct Reply: Codable, Hashable, Sendable {
    package let state: DeviceScreen
    package let location: WidgetLocationName
    /// The colour of all widgets at the location; `nil` where they keep their own.
    package let tint: TintName?
    package var tiles: [Tile]
    /// Extensions whose last launch failed.
    package var failures: [LaunchFailure]?
    package var settings = DeviceSettings()
    /// The settings that the user changed.
    package var changedSettings: [SettingName] = []
    /// The Live Activities of the device, the most relevant first; `nil` for none.
    package var activities: [LiveActivity]?
    package init(state: DeviceScreen, location: WidgetLocationName, tint: TintName? = nil, tiles: [Tile]) {
      self.state = state
      self.location = location
      self.tint = tint
      self.tiles = tiles
    }
  }
}

/// An activity that lets an app continue in the background. Source: *Keeping a widget up to date*, `WidgetCenter`.
package enum AppActivity: String, Codable, Hashable, Sendable, CaseIterable {
  /// An active audio or media session.
  case audio
  /// An active navigation session.
  case navigation
  /// Use of the standard location service.
  case location
}

/// The state of the device as the user sees it.
package struct DeviceScreen: Codable, Hashable, Sendable {
  package var isLocked: Bool
  /// Whether it was unlocked since it started.
  package var wasUnlocked: Bool
  /// The visible screen of widgets; `nil` when an app is in the foreground or the display is off.
  package var seen: WidgetLocationName?
  /// The app in the foreground.
  package var frontApp: String?
  package var colorScheme: ColorSchemeName
  /// The activities of running apps, by bundle identifier.
  package var activities: [String: AppActivity]
  /// The Lock Screen is shown on an Always-On display.
  package var isLuminanceReduced = false
  package init(
    isLocked: Bool = false, wasUnlocked: Bool = true, seen: WidgetLocationName? = .homeScreen, frontApp: String? = nil,
    colorScheme: ColorSchemeName = .light, activities: [String: AppActivity] = [:]
  ) {
    self.isLocked = isLocked
    self.wasUnlocked = wasUnlocked
    self.seen = seen
    self.frontApp = frontApp
    self.colorScheme = colorScheme
    self.activities = activities
  }
}

/// The user locks or unlocks the device, shows another screen, sends the app to the background, or changes a setting;
/// or an app begins or ends an activity that lets it continue in the background.
package struct ChangeScreen: Request {
  /// Changes without a value for which the system reloads all widgets. Source: *Keeping a widget up to date*.
  package static let systemSettings = ["account", "time"]

  package static let kind: Kind = "screen.change"
  package typealias Reply = DeviceScreen
  package enum Change: Codable, Hashable, Sendable {
    case lock
    case unlock
    /// The device restarts: locked, and not unlocked since.
    case restart
    case look(WidgetLocationName)
    /// The display is off.
    case darken
    /// The Lock Screen is dimmed on a locked device with an Always-On display.
    case alwaysOn
    case background(app: String)
    /// `nil`: the activity ended.
    case activity(app: String, AppActivity?)
    case colorScheme(ColorSchemeName)
    /// Something changed after which all widgets are reloaded, and which has no value: `account`, or `time` (a
    /// significant time change). Settings with values: `ChangeSetting`.
    case system(String)
  }
  package let change: Change
  package init(_ change: Change) { self.change = change }
}

/// Journal: the device was locked, unlocked or looked at.
package struct ScreenChanged: Notice, Hashable {
  package static let kind: Kind = "screen.changed"
  package let state: DeviceScreen
  package init(state: DeviceScreen) { self.state = state }
}

/// The user taps a widget.
package struct TapWidget: Request {
  package static let kind: Kind = "widget.tap"
  package let placement: Int
  /// The number of a button or toggle of the widget, from 1; the link's label, or `nil` for the widget itself.
  package let control: Int?
  package let link: String?
  package init(placement: Int, control: Int? = nil, link: String? = nil) {
    self.placement = placement
    self.control = control
    self.link = link
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// The result, as text for the user.
    package let outcome: String
    /// Whether an intent failed, or had no reply.
    package let hasFailed: Bool
    package init(outcome: String, hasFailed: Bool = false) {
      self.outcome = outcome
      self.hasFailed = hasFailed
    }
  }
}

/// The user configures a widget: requests the current options from the author's queries and options providers.
package struct DescribeIntent: Request {
  package static let kind: Kind = "intent.describe"
  package typealias Reply = IntentDeclaration
  package let widgetKind: String
  /// The user's search text by parameter: matching values are added to the options.
  package let searches: [String: String]
  /// The values of the other parameters so far, on which options can depend.
  package let chosen: [String: ArchivedValue]
  package init(widgetKind: String, searches: [String: String] = [:], chosen: [String: ArchivedValue] = [:]) {
    self.widgetKind = widgetKind
    self.searches = searches
    self.chosen = chosen
  }
}

/// Performs an intent in the extension, or in the app if the intent opens it.
package struct PerformIntent: Request {
  package static let kind: Kind = "intent.perform"
  /// The author's intent type.
  package let intent: String
  package let values: [String: ArchivedValue]
  /// `nil`: a Live Activity was touched.
  package let placement: Int?
  package init(intent: String, values: [String: ArchivedValue], placement: Int?) {
    self.intent = intent
    self.values = values
    self.placement = placement
  }

  /// What the result of an intent opens.
  package enum Opening: Codable, Hashable, Sendable {
    /// The app, with a URL.
    case url(String)
    /// Another intent, which is performed.
    case intent(String, values: [String: ArchivedValue], opensApp: Bool, runsInApp: Bool)

    /// A URL that a phone does not open. Source: `OpenURLIntent`, which opens universal links.
    package var ignoredURL: String? {
      guard case .url(let url) = self else { return nil }
      let scheme = url.prefix { $0 != ":" }.lowercased()
      return ["https", "http"].contains(scheme) ? nil : url
    }
  }

  package struct Reply: Codable, Hashable, Sendable {
    /// `nil` for nothing.
    package let opens: Opening?
    package init(opens: Opening? = nil) { self.opens = opens }
  }
}

extension BusError.Code {
  /// The executable has no intent type with that name. Definite.
  package static let unknownIntent = BusError.Code("unknown-intent")
  /// The author's `perform()` threw, or a parameter does not accept the value. Definite.
  package static let intentFailed = BusError.Code("intent-failed")
}

/// The app was opened from a widget.
package struct OpenFromWidget: Event {
  package static let kind: Kind = "app.open-from-widget"
  /// The URL of the `widgetURL` or the link; `nil` for a user activity that names the widget.
  package let url: String?
  package let widgetKind: String
  package let family: WidgetFamilyName
  package let configuration: [String: ArchivedValue]
  /// The type of the configuration's intent; `nil` without one.
  package let intent: String?
  package init(
    url: String?, widgetKind: String, family: WidgetFamilyName, configuration: [String: ArchivedValue],
    intent: String? = nil
  ) {
    self.url = url
    self.widgetKind = widgetKind
    self.family = family
    self.configuration = configuration
    self.intent = intent
  }
}

/// `WidgetCenter.currentConfigurations()`: the placements of the requesting app, or of the extension's app.
package struct ListPlacements: Request {
  package static let kind: Kind = "placement.list"
  package init() {}
  package struct Reply: Codable, Hashable, Sendable {
    package let placements: [Placement]
    package init(placements: [Placement]) { self.placements = placements }
  }
}

// Stacks: widgets of one size at one location, of which one is on top.

/// The user rotates a stack until one of its widgets is on top. The reply is sent when the change is on disk.
package struct TurnStack: Request {
  package static let kind: Kind = "stack.turn"
  package let placement: Int
  package init(placement: Int) { self.placement = placement }

  package struct Reply: Codable, Hashable, Sendable {
    /// The stack's widgets, in rotation order.
    package let members: [Int]
    package init(members: [Int]) { self.members = members }
  }
}

/// Journal: another widget of a stack is on top.
package struct StackTurned: Notice, Hashable {
  package static let kind: Kind = "stack.turned"
  package enum Cause: String, Codable, Hashable, Sendable {
    case person
    /// A widget was added to the stack.
    case added
    /// The top widget was removed.
    case removed
    /// Smart Rotate: the widget is now the most relevant one.
    case relevance
  }
  package let members: [Int]
  package let top: Int
  package let because: Cause
  /// By the device's clock.
  package let date: Date
  /// The relevance score of the new top and of the previous one; for `relevance`.
  package let score: Double?
  package let formerScore: Double?
  package init(
    members: [Int], top: Int, because: Cause, date: Date, score: Double? = nil, formerScore: Double? = nil
  ) {
    self.members = members
    self.top = top
    self.because = because
    self.date = date
    self.score = score
    self.formerScore = formerScore
  }
}

extension ShowScreen {
  /// A widget of a stack that is not on top.
  package struct Covered: Codable, Hashable, Sendable {
    package let placement: Int
    package let widgetKind: String
    package init(placement: Int, widgetKind: String) {
      self.placement = placement
      self.widgetKind = widgetKind
    }
  }
}

/// Reads the bytes of an image of a stored timeline, which are too many for the message with the views.
package struct ReadImage: Request {
  package static let kind: Kind = "image.read"
  /// The most bytes of one reply.
  package static let pieceLimit = 128 << 10

  /// The SHA-256 of the bytes in hexadecimal digits, as the archived views have it.
  package let digest: String
  /// The first byte of the piece.
  package let offset: Int
  package init(digest: String, offset: Int = 0) {
    self.digest = digest
    self.offset = offset
  }

  package struct Reply: Codable, Hashable, Sendable {
    package let piece: Data
    /// Bytes of the whole image.
    package let count: Int
    package init(piece: Data, count: Int) {
      self.piece = piece
      self.count = count
    }
  }
}

extension BusError.Code {
  /// No stored timeline has an image with these bytes; it was replaced by a newer timeline. Definite.
  package static let noSuchImage = BusError.Code("no-such-image")
}
