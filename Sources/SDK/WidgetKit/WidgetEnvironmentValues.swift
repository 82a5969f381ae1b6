// SPDX-License-Identifier: Apache-2.0

import Archive
public import SwiftUI
import URLSessionAPI

private struct FamilyKey: EnvironmentKey {
  static var defaultValue: WidgetFamily { .systemSmall }
}

private struct RenderingModeKey: EnvironmentKey {
  static var defaultValue: WidgetRenderingMode { .fullColor }
}

private struct ContentMarginsKey: EnvironmentKey {
  static var defaultValue: EdgeInsets { EdgeInsets() }
}

private struct ShowsBackgroundKey: EnvironmentKey {
  static var defaultValue: Bool { true }
}

private struct ShowsLabelKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

private struct LevelOfDetailKey: EnvironmentKey {
  static var defaultValue: LevelOfDetail { .default }
}

// Source of all: `WidgetKit` of the iOS 18 SDK; `levelOfDetail`: the macOS 27 SDK.
extension EnvironmentValues {
  /// The widget's family.
  public internal(set) var widgetFamily: WidgetFamily {
    get { self[FamilyKey.self] }
    set { self[FamilyKey.self] = newValue }
  }
  /// How the widget is rendered.
  public var widgetRenderingMode: WidgetRenderingMode {
    get { self[RenderingModeKey.self] }
    set { self[RenderingModeKey.self] = newValue }
  }
  /// The content margins that the system adds, in points. When the widget disabled them, the margins that it would add.
  public internal(set) var widgetContentMargins: EdgeInsets {
    get { self[ContentMarginsKey.self] }
    set { self[ContentMarginsKey.self] = newValue }
  }
  /// Whether the view's container background is shown.
  public internal(set) var showsWidgetContainerBackground: Bool {
    get { self[ShowsBackgroundKey.self] }
    set { self[ShowsBackgroundKey.self] = newValue }
  }
  /// Whether a label is displayed beside the view: only on watch faces.
  public var showsWidgetLabel: Bool {
    get { self[ShowsLabelKey.self] }
    set { self[ShowsLabelKey.self] = newValue }
  }
  /// The level of detail for the viewing distance.
  public var levelOfDetail: LevelOfDetail {
    get { self[LevelOfDetailKey.self] }
    set { self[LevelOfDetailKey.self] = newValue }
  }
}

extension EnvironmentValues {
  /// The environment of a request.
  init(_ environment: WidgetEnvironment, _ scheme: ColorSchemeName) {
    self.init(language: Locale(identifier: environment.settings.locale))
    widgetFamily = WidgetFamily(environment.family)
    widgetRenderingMode = WidgetRenderingMode(name: environment.renderingMode)
    let margins = environment.contentMargins
    widgetContentMargins = EdgeInsets(
      top: margins.top, leading: margins.leading, bottom: margins.bottom, trailing: margins.trailing)
    showsWidgetContainerBackground = environment.showsBackground
    let applied = environment.appliedMargins
    proposedSize = CGSize(
      width: max(0, environment.width - applied.leading - applied.trailing),
      height: max(0, environment.height - applied.top - applied.bottom))
    displayScale = environment.displayScale
    colorScheme = scheme == .dark ? .dark : .light
    apply(environment.settings)
  }

  /// The settings of the device, except its language.
  private mutating func apply(_ settings: DeviceSettings) {
    layoutDirection = settings.isRightToLeft ? .rightToLeft : .leftToRight
    timeZone = TimeZone(identifier: settings.timeZone) ?? .current
    calendar = locale.calendar
    calendar.timeZone = timeZone
    dynamicTypeSize = DynamicTypeSize.allCases.first { "\($0)" == settings.textSize.rawValue } ?? .large
    legibilityWeight = settings.isTextBold ? .bold : .regular
    colorSchemeContrast = settings.increasesContrast ? .increased : .standard
    accessibilityReduceMotion = settings.reducesMotion
    accessibilityReduceTransparency = settings.reducesTransparency
    accessibilityDifferentiateWithoutColor = settings.differentiatesWithoutColor
    accessibilityVoiceOverEnabled = settings.isVoiceOverOn
  }

  /// The environment for texts: a language and the author's translations.
  init(language locale: Locale) {
    self.init()
    self.locale = locale
    localize = { lookup in
      StringTables.shared.translation(
        of: lookup.key, table: lookup.table ?? "Localizable", bundle: lookup.bundle, locale: lookup.locale,
        count: lookup.count)
    }
  }
}

/// How the system renders a widget. Source: `WidgetKit.WidgetRenderingMode`.
public struct WidgetRenderingMode: Equatable, Sendable, CustomStringConvertible {
  let name: RenderingModeName

  /// In the author's colours.
  public static let fullColor = WidgetRenderingMode(name: .fullColor)
  /// In two groups, each in one colour.
  public static let accented = WidgetRenderingMode(name: .accented)
  /// By brightness, in the colours of the background.
  public static let vibrant = WidgetRenderingMode(name: .vibrant)

  public var description: String { name.rawValue }
}

/// How an image is rendered in an accented widget. Source: `WidgetKit.WidgetAccentedRenderingMode`.
public struct WidgetAccentedRenderingMode: Hashable, Sendable {
  let name: String
  /// In the colour of the accented group.
  public static let accented = WidgetAccentedRenderingMode(name: "accented")
  /// Without colours.
  public static let desaturated = WidgetAccentedRenderingMode(name: "desaturated")
  /// Without colours, then in the colour of the accented group.
  public static let accentedDesaturated = WidgetAccentedRenderingMode(name: "accentedDesaturated")
  /// In its own colours.
  public static let fullColor = WidgetAccentedRenderingMode(name: "fullColor")
}

/// The level of detail for a viewing distance. Source: `WidgetKit.LevelOfDetail`; always the default outside visionOS.
public struct LevelOfDetail: Equatable, Sendable {
  let name: String
  /// For near viewing.
  public static let `default` = LevelOfDetail(name: "default")
  /// For distant viewing.
  public static let simplified = LevelOfDetail(name: "simplified")
}

/// The size and shape of a widget. Source: `WidgetKit.WidgetFamily` of the iOS 18 SDK. Its raw values are not public,
/// so these are ours.
@preconcurrency public enum WidgetFamily: Int, CustomStringConvertible, CustomDebugStringConvertible, Sendable, Hashable
{
  /// Small, on the Home Screen and similar places.
  case systemSmall
  case systemMedium
  case systemLarge
  /// Extra large, on iPad and Mac.
  case systemExtraLarge
  /// In a corner of a watch face.
  case accessoryCorner
  /// A circle on the Lock Screen.
  case accessoryCircular
  /// A rectangle on the Lock Screen.
  case accessoryRectangular
  /// A line above the clock.
  case accessoryInline
  /// Extra large, portrait.
  case systemExtraLargePortrait

  /// The case's name.
  public var description: String { name.rawValue }
  /// The case's name.
  public var debugDescription: String { name.rawValue }

  /// The family in messages.
  var name: WidgetFamilyName {
    switch self {
    case .systemSmall: .systemSmall
    case .systemMedium: .systemMedium
    case .systemLarge: .systemLarge
    case .systemExtraLarge: .systemExtraLarge
    case .accessoryCorner: .accessoryCorner
    case .accessoryCircular: .accessoryCircular
    case .accessoryRectangular: .accessoryRectangular
    case .accessoryInline: .accessoryInline
    case .systemExtraLargePortrait: .systemExtraLargePortrait
    }
  }

  init(_ name: WidgetFamilyName) {
    switch name {
    case .systemSmall: self = .systemSmall
    case .systemMedium: self = .systemMedium
    case .systemLarge: self = .systemLarge
    case .systemExtraLarge: self = .systemExtraLarge
    case .accessoryCorner: self = .accessoryCorner
    case .accessoryCircular: self = .accessoryCircular
    case .accessoryRectangular: self = .accessoryRectangular
    case .accessoryInline: self = .accessoryInline
    case .systemExtraLargePortrait: self = .systemExtraLargePortrait
    // A control has no family, and nothing of an author's reads this one.
    case .control: self = .systemSmall
    }
  }
}
