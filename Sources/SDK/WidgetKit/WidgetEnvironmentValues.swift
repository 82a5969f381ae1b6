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
