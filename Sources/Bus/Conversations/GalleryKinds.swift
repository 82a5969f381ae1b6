package import Archive
package import Foundation

// Gallery and screen: what a person places, sees and touches.

/// A person opens the gallery.
package struct ListGallery: Request {
  package static let kind: Kind = "gallery.list"
  /// Where a widget is to be placed; everywhere when `nil`.
  package let location: WidgetLocationName?
  package init(location: WidgetLocationName?) { self.location = location }

  /// One widget in one place's gallery.
  package struct Item: Codable, Hashable, Sendable {
    package enum Shelf: String, Codable, Hashable, Sendable {
      case main
      /// At the end, under *Other*: the author disfavours the place.
      case other
      /// Not in the gallery; `reason` says why.
      case leftOut
    }
    package let bundle: String
    package let widgetKind: String
    package let displayName: String
    package let description: String
    package let location: WidgetLocationName
    /// Families on this shelf.
    package let families: [WidgetFamilyName]
    package let shelf: Shelf
    package let reason: String?
    package init(
      bundle: String, widgetKind: String, displayName: String, description: String, location: WidgetLocationName,
      families: [WidgetFamilyName], shelf: Shelf, reason: String? = nil
    ) {
      self.bundle = bundle
      self.widgetKind = widgetKind
      self.displayName = displayName
      self.description = description
      self.location = location
      self.families = families
      self.shelf = shelf
      self.reason = reason
    }
  }

  package struct Reply: Codable, Hashable, Sendable {
    package let items: [Item]
    /// Extensions whose widgets are not known, since they could not be started.
    package var failures: [LaunchFailure]?
    package init(items: [Item]) { self.items = items }
  }
}

extension BusError.Code {
  /// The gallery does not offer this there. Definite.
  package static let notPlaceable = BusError.Code("not-placeable")
  /// There is no such placement. Definite.
  package static let noSuchPlacement = BusError.Code("no-such-placement")
  /// A value that the widget's configuration does not take. Definite.
  package static let badConfiguration = BusError.Code("bad-configuration")
}

/// A placement with what the gallery said of it when it was placed or edited.
package struct PlacementReport: Codable, Hashable, Sendable {
  package let placement: Placement
  package let displayName: String
  package let description: String
  /// What a person can choose; `nil` when nothing.
  package let configuration: IntentDeclaration?
  /// The system opens the configuration right after the widget was placed.
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

/// A person places a widget. Answered when the placement is on disk; its timeline is asked for then.
package struct AddPlacement: Request {
  package static let kind: Kind = "placement.add"
  package typealias Reply = PlacementReport
  /// The only extension that has the kind when `nil`.
  package let bundle: String?
  package let widgetKind: String
  /// The first that the place offers when `nil`.
  package let family: WidgetFamilyName?
  package let location: WidgetLocationName
  package let configuration: [String: ArchivedValue]
  /// The widget that it is put on, or a widget of that stack: family and location are that one's.
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

/// A person edits a widget: what is named changes, the rest stays.
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

/// A person removes a widget.
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

/// What stands on one of the device's screens.
package struct ShowScreen: Request {
  package static let kind: Kind = "screen.show"
  /// The one that a person sees now when `nil`.
  package let location: WidgetLocationName?
  package init(location: WidgetLocationName? = nil) { self.location = location }

  /// One widget as it is seen.
  package struct Tile: Codable, Hashable, Sendable {
    /// What stands in its place.
    package enum Content: String, Codable, Hashable, Sendable {
      case entry
      /// The provider's placeholder, redacted: there was no entry yet, or it may not be shown.
      case placeholder
      /// Nothing came of its extension yet.
      case skeleton
    }
    /// What becomes of the view's container background there.
    package enum Background: String, Codable, Hashable, Sendable {
      case shown, removed
      /// It is not removable: kept, dimmed or without colour.
      case kept, faded, desaturated
    }
    package let placement: Placement
    package let content: Content
    package let background: Background
    package let renderingMode: RenderingModeName
    /// The entry's date.
    package let date: Date?
    /// In the device's colour scheme.
    package let view: ViewArchive
    /// Why it is no newer: the reason of the last failure.
    package let note: String?
    /// What it covers in its stack, in the order in which that is turned.
    package var covers: [Covered] = []
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
    /// The colour of all that stands there; `nil` where it has its own.
    package let tint: TintName?
    package let tiles: [Tile]
    /// Extensions whose last launch failed.
    package var failures: [LaunchFailure]?
    package init(state: DeviceScreen, location: WidgetLocationName, tint: TintName? = nil, tiles: [Tile]) {
      self.state = state
      self.location = location
      self.tint = tint
      self.tiles = tiles
    }
  }
}

/// What an app does that lets it go on behind the front. Source: *Keeping a widget up to date*, `WidgetCenter`.
package enum AppActivity: String, Codable, Hashable, Sendable, CaseIterable {
  /// It has an active audio or media session.
  case audio
  /// It has an active navigation session.
  case navigation
  /// It uses the standard location service.
  case location
}

/// What a person sees of the device.
package struct DeviceScreen: Codable, Hashable, Sendable {
  package var isLocked: Bool
  /// Whether it was unlocked since it was started.
  package var wasUnlocked: Bool
  /// The screen of widgets that is seen; `nil` when an app is in front, or the display is off.
  package var seen: WidgetLocationName?
  /// The app in front.
  package var frontApp: String?
  package var colorScheme: ColorSchemeName
  /// By the bundle identifiers of apps that run.
  package var activities: [String: AppActivity]
  /// The Lock Screen is seen on an Always-On display.
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

extension DeviceScreen {
  /// One that an earlier host wrote has no activities.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      isLocked: try container.decode(Bool.self, forKey: .isLocked),
      wasUnlocked: try container.decode(Bool.self, forKey: .wasUnlocked),
      seen: try container.decodeIfPresent(WidgetLocationName.self, forKey: .seen),
      frontApp: try container.decodeIfPresent(String.self, forKey: .frontApp),
      colorScheme: try container.decode(ColorSchemeName.self, forKey: .colorScheme),
      activities: try container.decodeIfPresent([String: AppActivity].self, forKey: .activities) ?? [:])
    isLuminanceReduced = try container.decodeIfPresent(Bool.self, forKey: .isLuminanceReduced) ?? false
  }
}

/// A person locks or unlocks the device, looks at another screen, sends the app to the background, changes a setting; or an
/// app begins or ends what lets it go on behind the front.
package struct ChangeScreen: Request {
  package static let kind: Kind = "screen.change"
  package typealias Reply = DeviceScreen
  package enum Change: Codable, Hashable, Sendable {
    case lock
    case unlock
    /// It is started anew: locked, and not unlocked since.
    case restart
    case look(WidgetLocationName)
    /// The display is off.
    case darken
    /// The Lock Screen is shown with less light, on a device that is locked and has an Always-On display.
    case alwaysOn
    case background(app: String)
    /// `nil`: it is over.
    case activity(app: String, AppActivity?)
    case colorScheme(ColorSchemeName)
    /// A setting of the system changed for which it asks all widgets anew: `locale`, `text-size`, `accessibility`,
    /// `account`, `time`.
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

/// A person touches a widget.
package struct TapWidget: Request {
  package static let kind: Kind = "widget.tap"
  package let placement: Int
  /// A button's or toggle's number on it, from 1; the link's label, or `nil` for the widget itself.
  package let control: Int?
  package let link: String?
  package init(placement: Int, control: Int? = nil, link: String? = nil) {
    self.placement = placement
    self.control = control
    self.link = link
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// What came of it, as a person reads it.
    package let outcome: String
    package init(outcome: String) { self.outcome = outcome }
  }
}

/// A person configures a widget: the author's queries and options providers are asked what there is to choose now.
package struct DescribeIntent: Request {
  package static let kind: Kind = "intent.describe"
  package typealias Reply = IntentDeclaration
  package let widgetKind: String
  /// What the person looks for, by the parameter: what fits is among the options too.
  package let searches: [String: String]
  package init(widgetKind: String, searches: [String: String] = [:]) {
    self.widgetKind = widgetKind
    self.searches = searches
  }
}

/// The host has an intent performed: in the extension, or in the app where the intent opens it.
package struct PerformIntent: Request {
  package static let kind: Kind = "intent.perform"
  package typealias Reply = Done
  /// The author's type.
  package let intent: String
  package let values: [String: ArchivedValue]
  package let placement: Int
  package init(intent: String, values: [String: ArchivedValue], placement: Int) {
    self.intent = intent
    self.values = values
    self.placement = placement
  }
}

/// The app was opened from a widget.
package struct OpenFromWidget: Event {
  package static let kind: Kind = "app.open-from-widget"
  /// The `widgetURL`'s or the link's; `nil` for a user activity that names the widget.
  package let url: String?
  package let widgetKind: String
  package let family: WidgetFamilyName
  package let configuration: [String: ArchivedValue]
  package init(
    url: String?, widgetKind: String, family: WidgetFamilyName, configuration: [String: ArchivedValue]
  ) {
    self.url = url
    self.widgetKind = widgetKind
    self.family = family
    self.configuration = configuration
  }
}

/// `WidgetCenter.currentConfigurations()`: the placements of the app that asks, or of the extension's app.
package struct ListPlacements: Request {
  package static let kind: Kind = "placement.list"
  package init() {}
  package struct Reply: Codable, Hashable, Sendable {
    package let placements: [Placement]
    package init(placements: [Placement]) { self.placements = placements }
  }
}
