package import Archive
import Foundation

/// What a device is to widgets: which of them stand where on it, how large, in which colours. A value of tables.
package struct WidgetDevice: Sendable, Hashable {
  /// What Apple leaves open, see Documentation/fidelity.md.
  package struct Taste: Sendable, Hashable {
    /// A widget without `supportedFamilies` has the accessory families too.
    package var defaultFamiliesIncludeAccessory = true
    /// The default content margin of the Home Screen and the Today View, points.
    package var contentMargin = 16.0
    package var homeScreen = RenderingModeName.fullColor
    package var standBy = RenderingModeName.fullColor
    /// The person does not show sensitive content while the device is locked.
    package var hidesSensitiveContent = true
    /// Smart Rotate leaves a stack alone for so long after it was turned, seconds; 0 for no limit, as in developer mode.
    package var smartRotatePause = 1800.0
    package init() {}
  }

  package let isPad: Bool
  /// Such as 18.
  package let version: Int
  package let sizes: FamilySizes
  /// Pixels a point.
  package let scale: Double
  /// Such as `en_US`.
  package let locale: String
  package let taste: Taste
  /// Its display may show the Lock Screen with less light.
  package var hasAlwaysOn = false

  /// - Parameters:
  ///   - width: the screen's, upright, points.
  ///   - height: the screen's, upright, points.
  package init(
    isPad: Bool, version: Int, width: Double, height: Double, scale: Double, locale: String = "en_US",
    taste: Taste = Taste()
  ) {
    self.isPad = isPad
    self.version = version
    self.sizes = FamilySizes(isPad: isPad, width: width, height: height)
    self.scale = scale
    self.locale = locale
    self.taste = taste
  }

  /// `iOS 17`.
  package var system: String { "\(isPad ? "iPadOS" : "iOS") \(version)" }

  // MARK: Where

  /// Since when a device like this has a place for widgets; `nil` for never. Source: the availability of `WidgetLocation`,
  /// and "Families per platform" of the Human Interface Guidelines.
  private func firstVersion(of location: WidgetLocationName) -> Int? {
    switch location {
    case .homeScreen, .todayView: 14
    case .lockScreen: isPad ? 17 : 16
    case .standBy: isPad ? nil : 17
    case .carPlay: isPad ? nil : 26
    case .iPhoneWidgetsOnMac, .watchFace, .smartStack: nil
    }
  }

  private func firstVersion(of family: WidgetFamilyName) -> Int? {
    switch family {
    case .systemSmall, .systemMedium, .systemLarge: 14
    case .systemExtraLarge: isPad ? 15 : nil
    case .systemExtraLargePortrait: 27
    case .accessoryCircular, .accessoryRectangular, .accessoryInline: isPad ? 17 : 16
    case .accessoryCorner: nil
    }
  }

  /// The places that this device has for widgets.
  package var locations: [WidgetLocationName] { WidgetLocationName.allCases.filter { refusal(of: $0) == nil } }

  /// Why this device has no such place; `nil` when it has.
  package func refusal(of location: WidgetLocationName) -> String? {
    guard let first = firstVersion(of: location) else {
      return "\(isPad ? "an iPad" : "an iPhone") has no \(location.rawValue)"
    }
    return version >= first ? nil : "\(location.rawValue) takes widgets from \(isPad ? "iPadOS" : "iOS") \(first) on"
  }

  /// The families that stand in a place, whatever the version.
  private func families(at location: WidgetLocationName) -> [WidgetFamilyName] {
    switch location {
    case .homeScreen:
      [.systemSmall, .systemMedium, .systemLarge, .systemExtraLarge] + (isPad ? [] : [.systemExtraLargePortrait])
    case .todayView: [.systemSmall, .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait]
    case .lockScreen:
      (isPad ? [.systemSmall] : []) + [.accessoryCircular, .accessoryRectangular, .accessoryInline]
    case .standBy, .carPlay: [.systemSmall]
    case .iPhoneWidgetsOnMac, .watchFace, .smartStack: []
    }
  }

  /// Why a family does not stand in a place of this device; `nil` when it does.
  package func refusal(of family: WidgetFamilyName, at location: WidgetLocationName) -> String? {
    if let refusal = refusal(of: location) { return refusal }
    guard let first = firstVersion(of: family) else {
      return "\(isPad ? "an iPad" : "an iPhone") has no \(family.rawValue)"
    }
    guard families(at: location).contains(family) else { return "\(location.rawValue) takes no \(family.rawValue)" }
    return version >= first ? nil : "\(family.rawValue) is there from \(isPad ? "iPadOS" : "iOS") \(first) on"
  }

  /// The families that a widget says it has, or those that it has when it says nothing.
  package func families(of declaration: WidgetDeclaration) -> [WidgetFamilyName] {
    declaration.families
      ?? WidgetFamilyName.allCases.filter { !$0.isAccessory || taste.defaultFamiliesIncludeAccessory }
  }

  // MARK: How it looks

  package func renderingMode(at location: WidgetLocationName) -> RenderingModeName {
    switch location {
    case .lockScreen: .vibrant
    case .standBy: taste.standBy
    // A tinted Home Screen came with iOS 18.
    case .homeScreen, .todayView: version >= 18 ? taste.homeScreen : .fullColor
    case .carPlay, .iPhoneWidgetsOnMac, .watchFace, .smartStack: .fullColor
    }
  }

  /// The colour that a place gives its widgets. Source: Human Interface Guidelines: StandBy in low light, where they are vibrant.
  package func tint(at location: WidgetLocationName) -> TintName? {
    location == .standBy && renderingMode(at: location) == .vibrant ? .red : nil
  }

  /// Whether a place has widgets without their background. Source: "Displaying the right widget background". Before iOS 17
  /// every background is shown.
  package func removesBackground(at location: WidgetLocationName) -> Bool {
    guard version >= 17 else { return false }
    return switch location {
    case .homeScreen, .todayView: renderingMode(at: location) == .accented
    case .lockScreen, .standBy, .carPlay: true
    case .iPhoneWidgetsOnMac, .watchFace, .smartStack: false
    }
  }

  /// Whether a widget whose background must be shown has no place there. Source: `containerBackgroundRemovable(_:)`,
  /// "Displaying the right widget background": the Lock Screen of an iPad, and StandBy.
  package func requiresRemoval(at location: WidgetLocationName, _ family: WidgetFamilyName) -> Bool {
    version >= 17 && !family.isAccessory && (location == .standBy || location == .lockScreen && isPad)
  }

  /// Default content margins. Source: there are none before iOS 17; 16 points as in the Human Interface Guidelines; the
  /// others are ours.
  package func contentMargins(at location: WidgetLocationName, _ family: WidgetFamilyName) -> WidgetEnvironment.Insets {
    guard version >= 17 else { return WidgetEnvironment.Insets(0) }
    return switch location {
    case .homeScreen, .todayView: WidgetEnvironment.Insets(taste.contentMargin)
    case .lockScreen where family.isAccessory: WidgetEnvironment.Insets(0)
    default: WidgetEnvironment.Insets(min(11, taste.contentMargin))
    }
  }

  /// What a placement's views are archived for.
  ///
  /// - Parameter isBackgroundRemovable: as the widget declared it; `true` for one that is not known.
  package func environment(of placement: Placement, isBackgroundRemovable: Bool = true) -> WidgetEnvironment {
    let size = sizes.size(of: placement.family)
    return WidgetEnvironment(
      family: placement.family, width: size.width, height: size.height,
      contentMargins: contentMargins(at: placement.location, placement.family),
      renderingMode: renderingMode(at: placement.location),
      showsBackground: !(removesBackground(at: placement.location) && isBackgroundRemovable), displayScale: scale,
      locale: locale)
  }
}
