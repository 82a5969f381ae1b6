// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import Layout
import Messages
import Pictures

/// The picture of a presentation of a Live Activity.
///
/// Source of the sizes: Human Interface Guidelines, *Live Activities*; the corners of the Lock Screen presentation, and
/// the distances within the expanded one, are ours.
struct ActivityPicture {
  /// The height of the Dynamic Island, and the least width of the minimal presentation, in points.
  private static let islandHeight = 36.67
  private static let minimalWidth = 45.0
  /// The least height of the Lock Screen and of the expanded presentation, in points.
  private static let leastHeight = 84.0
  private static let expandedRadius = 44.0
  private static let lockScreenRadius = 24.0
  /// The width of the camera, in points.
  private static let camera = 125.0

  private let shown: ShowScreen.LiveActivity
  private let screen: ScreenPrint
  private let device: ClusterConfiguration.Device

  init(_ shown: ShowScreen.LiveActivity, screen: ScreenPrint, device: ClusterConfiguration.Device) {
    self.shown = shown
    self.screen = screen
    self.device = device
  }

  /// The width that each side of the compact presentation may have, in points.
  private var sideWidth: Double { device.screen.width >= 428 ? 62.33 : 52.33 }

  func picture(of presentation: ActivityPresentation, with font: InterFont) -> Picture {
    switch presentation {
    case .lockScreen: lockScreen(font)
    case .compact: compact(font)
    case .minimal: minimal(font)
    case .expanded: expanded(font)
    }
  }

  private func view(_ part: ActivityViews.Part, _ scheme: ColorSchemeName) -> ViewArchive? {
    guard let form = shown.views?[part] else { return nil }
    var appearance = screen.appearance
    // The Dynamic Island hides nothing: it is not shown on a locked device.
    appearance.hidesPrivate = appearance.hidesPrivate && part == .lockScreen
    return (scheme == .dark ? form.darkView ?? form.view : form.view).shown(appearance)
  }

  // MARK: Presentations

  private func lockScreen(_ font: InterFont) -> Picture {
    let scheme = screen.reply.state.colorScheme
    guard let archived = view(.lockScreen, scheme) else { return Picture(size: .zero, drawings: [], notices: []) }
    var view = archived.withoutActivityModifiers
    if let tint = archived.activityBackgroundTint {
      view.modifiers.append(
        ViewArchive.Modifier(.layout(.containerBackground), [.placement: "widget", .style: tint]))
    }
    let width = device.screen.activityWidth
    let height = fitting(view, width: width, scheme: scheme, font: font).height
    return drawn(
      view, size: Size(width: width, height: min(max(height, Self.leastHeight), DeviceModel.activityHeight)),
      scheme: scheme, font: font,
      radius: Self.lockScreenRadius, showsBackground: true)
  }

  private func compact(_ font: InterFont) -> Picture {
    let sides = [ActivityViews.Part.compactLeading, .compactTrailing].map { part -> Picture in
      guard let view = view(part, .dark)?.withoutActivityModifiers else {
        return Picture(size: Size(width: 0, height: Self.islandHeight), drawings: [], notices: [])
      }
      let width = min(fitting(view, width: nil, scheme: .dark, font: font).width, sideWidth)
      return drawn(view, size: Size(width: max(width, 1), height: Self.islandHeight), scheme: .dark, font: font)
    }
    // The island is as wide on both sides of the camera.
    let side = min(sides.map(\.size.width).max() ?? 0, sideWidth) + 8
    let size = Size(width: Self.camera + 2 * side, height: Self.islandHeight)
    return island(
      size, radius: Self.islandHeight / 2,
      [
        (sides[0], Point(x: 8, y: 0)),
        (sides[1], Point(x: size.width - 8 - sides[1].size.width, y: 0)),
      ])
  }

  private func minimal(_ font: InterFont) -> Picture {
    guard let view = view(.minimal, .dark)?.withoutActivityModifiers else {
      return island(Size(width: Self.islandHeight, height: Self.islandHeight), radius: Self.islandHeight / 2, [])
    }
    let width = min(
      max(fitting(view, width: nil, scheme: .dark, font: font).width + 8, Self.islandHeight), Self.minimalWidth)
    let size = Size(width: width, height: Self.islandHeight)
    return island(
      size, radius: Self.islandHeight / 2, [(drawn(view, size: size, scheme: .dark, font: font), Point(x: 0, y: 0))])
  }

  /// The regions leading, center and trailing in a row, and the region bottom below it.
  private func expanded(_ font: InterFont) -> Picture {
    func region(_ part: ActivityViews.Part) -> [ViewArchive] {
      view(part, .dark).map { [$0.withoutActivityModifiers] } ?? []
    }
    let spacer = ViewArchive(.leaf(.spacer), [.minLength: 0])
    let row = ViewArchive(
      .container(.hStack), [.spacing: 8],
      children: region(.expandedLeading) + [spacer] + region(.expandedCenter) + [spacer] + region(.expandedTrailing))
    let whole = ViewArchive(.container(.vStack), [.spacing: 8], children: [row] + region(.expandedBottom))
    let margins = shown.views?.margins?["expanded"] ?? Insets(16)
    let width = device.screen.activityWidth
    let height =
      fitting(whole, width: width - margins.leading - margins.trailing, scheme: .dark, font: font).height + margins.top
      + margins.bottom
    let size = Size(width: width, height: min(max(height, Self.leastHeight), DeviceModel.activityHeight))
    return island(
      size, radius: Self.expandedRadius,
      [(drawn(whole, size: size, scheme: .dark, font: font, margins: margins), Point(x: 0, y: 0))])
  }

  // MARK: Drawing

  /// The black shape with what is in it.
  private func island(_ size: Size, radius: Double, _ parts: [(Picture, Point)]) -> Picture {
    let shape = Path(
      roundedRect: Rect(origin: Point(x: 0, y: 0), size: size), radii: Array(repeating: radius, count: 4),
      isContinuous: radius * 2 < size.height)
    let content = parts.map { picture, origin in
      var group = Drawing.Group()
      group.offset = origin
      return Drawing.group(group, picture.drawings)
    }
    return Picture(
      size: size, drawings: [.fill(shape, .color(RGBA(0, 0, 0)), isEvenOdd: false)] + content,
      notices: parts.flatMap(\.0.notices))
  }

  private func fitting(_ view: ViewArchive, width: Double?, scheme: ColorSchemeName, font: InterFont) -> Size {
    let settings = screen.reply.settings
    let style = ViewStyle(textSize: settings.textSize, colorScheme: scheme, isTextBold: settings.isTextBold)
    return view.size(
      proposedWidth: width, style: style, isRightToLeft: settings.isRightToLeft, scale: device.screen.scale,
      measuring: font)
  }

  private func drawn(
    _ view: ViewArchive, size: Size, scheme: ColorSchemeName, font: InterFont, margins: Insets = Insets(0),
    radius: Double = 0, showsBackground: Bool = false
  ) -> Picture {
    let settings = screen.reply.settings
    let canvas = LayoutCanvas(
      size: size, margins: margins, scale: device.screen.scale, isRightToLeft: settings.isRightToLeft,
      family: .systemMedium)
    let style = PictureStyle(
      colorScheme: scheme, settings: settings, usesIOS26Colors: device.majorVersion >= 26, cornerRadius: radius,
      showsBackground: showsBackground)
    return view.picture(in: canvas, style, with: font, images: screen.images)
  }
}

extension ViewArchive {
  /// The colour of the outermost `activityBackgroundTint(_:)`.
  fileprivate var activityBackgroundTint: ArchivedValue? {
    all { view in view.modifiers.contains { $0.name == .undrawn(.activityBackgroundTint) } }.first?
      .modifiers.last { $0.name == .undrawn(.activityBackgroundTint) }?.arguments[.color]
  }

  /// The view without the modifiers that only the system reads.
  fileprivate var withoutActivityModifiers: ViewArchive {
    var view = self
    let names: Set<ModifierName> = [
      .undrawn(.activityBackgroundTint), .undrawn(.activitySystemActionForegroundColor), .undrawn(.dynamicIsland),
    ]
    view.modifiers = view.modifiers.filter { !names.contains($0.name) }
    view.children = view.children.map(\.withoutActivityModifiers)
    return view
  }
}

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
    if activity.awaitsConsent, activity.phase != .ended {
      lines.append("   Allow Live Activities of \(activity.app)? `widgetlab activity allow yes`, or `no`")
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
