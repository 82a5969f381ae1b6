// SPDX-License-Identifier: Apache-2.0
/// The locations of a widget, as both sides of the bus encode them. Source: `WidgetLocation`. `todayView` and
/// `controlCenter`, the place of controls, are screens of the device but not locations that an author can name.
package enum WidgetLocationName: String, Codable, Hashable, Sendable, CaseIterable {
  case homeScreen, todayView, lockScreen, standBy, carPlay, iPhoneWidgetsOnMac, watchFace, smartStack, controlCenter
}

/// How a widget is coloured. Source: `WidgetRenderingMode`.
package enum RenderingModeName: String, Codable, Hashable, Sendable, CaseIterable {
  case fullColor, accented, vibrant
}

/// The colour in which a location shows all its widgets. Source: Human Interface Guidelines, StandBy in low light.
package enum TintName: String, Codable, Hashable, Sendable {
  case red
}

/// Source: `SwiftUI.ColorScheme`.
package enum ColorSchemeName: String, Codable, Hashable, Sendable, CaseIterable {
  case light, dark
}

/// The environment for which a widget's views are archived; the views get it as environment values.
package struct WidgetEnvironment: Codable, Hashable, Sendable {
  /// Points.
  package struct Insets: Codable, Hashable, Sendable {
    package var top: Double
    package var leading: Double
    package var bottom: Double
    package var trailing: Double
    package init(top: Double, leading: Double, bottom: Double, trailing: Double) {
      self.top = top
      self.leading = leading
      self.bottom = bottom
      self.trailing = trailing
    }
    /// The same inset on all four sides.
    package init(_ inset: Double) { self.init(top: inset, leading: inset, bottom: inset, trailing: inset) }
  }

  package var family: WidgetFamilyName
  /// Points.
  package var width: Double
  /// Points.
  package var height: Double
  /// The default margins; the author reads them where the widget disabled them.
  package var contentMargins: Insets
  /// The margins that the system adds around the content: `contentMargins`, or none where the widget disabled them.
  package var appliedMargins: Insets
  package var renderingMode: RenderingModeName
  /// `showsWidgetContainerBackground`.
  package var showsBackground: Bool
  /// Pixels per point.
  package var displayScale: Double
  /// The settings of the device, as they apply to the extension.
  package var settings: DeviceSettings
  /// Whether the views are made for the gallery. Source: `TimelineProviderContext.isPreview`.
  package var isPreview: Bool

  package init(
    family: WidgetFamilyName, width: Double, height: Double, contentMargins: Insets = Insets(16),
    appliedMargins: Insets = Insets(0), renderingMode: RenderingModeName = .fullColor, showsBackground: Bool = true,
    displayScale: Double = 3,
    settings: DeviceSettings = DeviceSettings(), isPreview: Bool = false
  ) {
    self.family = family
    self.width = width
    self.height = height
    self.contentMargins = contentMargins
    self.appliedMargins = appliedMargins
    self.renderingMode = renderingMode
    self.showsBackground = showsBackground
    self.displayScale = displayScale
    self.settings = settings
    self.isPreview = isPreview
  }
}

/// The limits of an archive. An extension that exceeds one gets an error with the limit's name.
package struct ArchiveLimits: Codable, Hashable, Sendable {
  /// Of all entries together, as JSON.
  package var bytes: Int
  /// Nesting depth of views.
  package var depth: Int
  /// Pixels of one image.
  package var imageArea: Double
  /// Entries that are archived; later ones are omitted.
  package var entries: Int
  package init(bytes: Int = 4 << 20, depth: Int = 256, imageArea: Double = 2_121_055.2, entries: Int = 400) {
    self.bytes = bytes
    self.depth = depth
    self.imageArea = imageArea
    self.entries = entries
  }
}

/// The families of WidgetKit, as both sides of the bus encode them. Source: `WidgetFamily` of the iOS 18 SDK, and of
/// the macOS 27 SDK for the last. `control` is for controls, which have no family in Apple's SDK.
package enum WidgetFamilyName: String, Codable, Hashable, Sendable, CaseIterable {
  case systemSmall, systemMedium, systemLarge, systemExtraLarge
  case accessoryCorner, accessoryCircular, accessoryRectangular, accessoryInline
  case systemExtraLargePortrait
  case control

  /// Whether it is a family of the Lock Screen or a watch face.
  package var isAccessory: Bool {
    switch self {
    case .accessoryCorner, .accessoryCircular, .accessoryRectangular, .accessoryInline: true
    case .systemSmall, .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait, .control: false
    }
  }
}
