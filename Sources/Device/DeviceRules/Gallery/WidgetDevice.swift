// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation

/// The properties of a device that concern widgets: locations, sizes, colours. A value of tables.
package struct WidgetDevice: Sendable, Hashable {
  /// What Apple leaves undefined, see Documentation/fidelity/gallery.md.
  package struct Options: Sendable, Hashable {
    /// Whether a widget without `supportedFamilies` has the accessory families too.
    package var defaultFamiliesIncludeAccessory = true
    /// The default content margin of the Home Screen and the Today View, points.
    package var contentMargin = 16.0
    package var homeScreen = RenderingModeName.fullColor
    package var standBy = RenderingModeName.fullColor
    /// Whether the user hides sensitive content while the device is locked.
    package var hidesSensitiveContent = true
    /// How long Smart Rotate waits after a stack was turned, seconds; 0 for no limit, as in developer mode.
    package var smartRotatePause = 1800.0
    package init() {}
  }

  /// An iPhone with iOS 26.
  package static let phone = WidgetDevice(isPad: false, version: 26, width: 393, height: 852, scale: 3)

  package let isPad: Bool
  /// Such as 18.
  package let version: Int
  package let sizes: FamilySizes
  /// Pixels per point.
  package let scale: Double
  package internal(set) var options: Options
  /// Whether its display can show the dimmed Lock Screen.
  package var hasAlwaysOn = false

  /// - Parameters:
  ///   - width: of the screen in portrait orientation, points.
  ///   - height: of the screen in portrait orientation, points.
  package init(
    isPad: Bool, version: Int, width: Double, height: Double, scale: Double, options: Options = Options()
  ) {
    self.isPad = isPad
    self.version = version
    self.sizes = FamilySizes(isPad: isPad, width: width, height: height)
    self.scale = scale
    self.options = options
  }

  /// `iOS 17`.
  package var system: String { "\(isPad ? "iPadOS" : "iOS") \(version)" }

  // MARK: Locations

  /// The first system version in which such a device has a location for widgets; `nil` if no version has. Source: the
  /// availability of `WidgetLocation`, and "Families per platform" of the Human Interface Guidelines.
  private func firstVersion(of location: WidgetLocationName) -> Int? {
    switch location {
    case .homeScreen, .todayView: 14
    case .lockScreen: isPad ? 17 : 16
    case .standBy: isPad ? nil : 17
    case .carPlay: isPad ? nil : 26
    case .iPhoneWidgetsOnMac, .watchFace, .smartStack: nil
    case .controlCenter: 18
    }
  }

  private func firstVersion(of family: WidgetFamilyName) -> Int? {
    switch family {
    case .systemSmall, .systemMedium, .systemLarge: 14
    case .systemExtraLarge: isPad ? 15 : nil
    case .systemExtraLargePortrait: 27
    case .accessoryCircular, .accessoryRectangular, .accessoryInline: isPad ? 17 : 16
    case .accessoryCorner: nil
    case .control: 18
    }
  }

  /// The locations for widgets on this device.
  var locations: [WidgetLocationName] { WidgetLocationName.allCases.filter { refusal(of: $0) == nil } }

  /// Why this device does not have a location; `nil` if it does.
  package func refusal(of location: WidgetLocationName) -> String? {
    guard let first = firstVersion(of: location) else {
      return "\(isPad ? "an iPad" : "an iPhone") has no \(location.rawValue)"
    }
    return version >= first ? nil : "\(location.rawValue) supports widgets from \(isPad ? "iPadOS" : "iOS") \(first) on"
  }

  /// The families of a location, in any version.
  private func families(at location: WidgetLocationName) -> [WidgetFamilyName] {
    switch location {
    case .homeScreen:
      [.systemSmall, .systemMedium, .systemLarge, .systemExtraLarge] + (isPad ? [] : [.systemExtraLargePortrait])
    case .todayView: [.systemSmall, .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait]
    case .lockScreen:
      (isPad ? [.systemSmall] : []) + [.accessoryCircular, .accessoryRectangular, .accessoryInline]
    case .standBy, .carPlay: [.systemSmall]
    case .iPhoneWidgetsOnMac, .watchFace, .smartStack: []
    case .controlCenter: [.control]
    }
  }

  /// Why a family cannot be placed at a location of this device; `nil` if it can.
  package func refusal(of family: WidgetFamilyName, at location: WidgetLocationName) -> String? {
    if let refusal = refusal(of: location) { return refusal }
    guard let first = firstVersion(of: family) else {
      return "\(isPad ? "an iPad" : "an iPhone") has no \(family.rawValue)"
    }
    guard families(at: location).contains(family) else { return "\(location.rawValue) excludes \(family.rawValue)" }
    return version >= first ? nil : "\(family.rawValue) is available from \(isPad ? "iPadOS" : "iOS") \(first) on"
  }

  /// The families that a widget declares, or the default ones if it declares none.
  package func families(of declaration: WidgetDeclaration) -> [WidgetFamilyName] {
    if declaration.isControl { return [.control] }
    return declaration.families
      ?? WidgetFamilyName.allCases.filter {
        $0 != .control && (!$0.isAccessory || options.defaultFamiliesIncludeAccessory)
      }
  }

  // MARK: Appearance

  package func renderingMode(at location: WidgetLocationName) -> RenderingModeName {
    switch location {
    case .lockScreen: .vibrant
    case .standBy: options.standBy
    // The tinted Home Screen is available from iOS 18 on.
    case .homeScreen, .todayView: version >= 18 ? options.homeScreen : .fullColor
    case .carPlay, .iPhoneWidgetsOnMac, .watchFace, .smartStack, .controlCenter: .fullColor
    }
  }

  /// The colour that a location gives its widgets. Source: Human Interface Guidelines: StandBy in low light (vibrant).
  package func tint(at location: WidgetLocationName) -> TintName? {
    location == .standBy && renderingMode(at: location) == .vibrant ? .red : nil
  }

  /// Whether a location shows widgets without their background. Source: "Displaying the right widget background".
  /// Before iOS 17 every background is shown.
  func removesBackground(at location: WidgetLocationName) -> Bool {
    guard version >= 17 else { return false }
    return switch location {
    case .homeScreen, .todayView: renderingMode(at: location) == .accented
    case .lockScreen, .standBy, .carPlay: true
    case .iPhoneWidgetsOnMac, .watchFace, .smartStack, .controlCenter: false
    }
  }

  /// Whether a widget with a non-removable background cannot be placed there. Source:
  /// `containerBackgroundRemovable(_:)`, "Displaying the right widget background": the Lock Screen of an iPad, and
  /// StandBy.
  func requiresRemoval(at location: WidgetLocationName, _ family: WidgetFamilyName) -> Bool {
    version >= 17 && !family.isAccessory && (location == .standBy || location == .lockScreen && isPad)
  }

  /// Default content margins. Source: none before iOS 17; 16 points as in the Human Interface Guidelines; the others
  /// are ours.
  package func contentMargins(at location: WidgetLocationName, _ family: WidgetFamilyName) -> WidgetEnvironment.Insets {
    guard version >= 17 else { return WidgetEnvironment.Insets(0) }
    return switch location {
    case .homeScreen, .todayView: WidgetEnvironment.Insets(options.contentMargin)
    case .lockScreen where family.isAccessory: WidgetEnvironment.Insets(0)
    case .controlCenter: WidgetEnvironment.Insets(0)
    case .lockScreen, .standBy, .carPlay, .iPhoneWidgetsOnMac, .watchFace, .smartStack:
      WidgetEnvironment.Insets(min(11, options.contentMargin))
    }
  }

  /// The environment for which a placement's views are archived, with the usual settings.
  ///
  /// - Parameters:
  ///   - isBackgroundRemovable: as the widget declared it; `true` for an unknown widget.
  ///   - hasMargins: whether the widget did not disable the content margins.
  package func environment(
    of placement: Placement, isBackgroundRemovable: Bool = true, hasMargins: Bool = true
  ) -> WidgetEnvironment {
    let size = sizes.size(of: placement.family)
    let margins = contentMargins(at: placement.location, placement.family)
    return WidgetEnvironment(
      family: placement.family, width: size.width, height: size.height, contentMargins: margins,
      appliedMargins: hasMargins ? margins : WidgetEnvironment.Insets(0),
      renderingMode: renderingMode(at: placement.location),
      showsBackground: !(removesBackground(at: placement.location) && isBackgroundRemovable), displayScale: scale)
  }
}

/// The size of each family on a screen. Source: the tables of the Human Interface Guidelines, "Widgets". On an iPad it
/// is the canvas in which a view is laid out.
package struct FamilySizes: Sendable, Hashable {
  /// A size in points.
  package struct Size: Sendable, Hashable {
    package let width: Double
    package let height: Double
  }

  private let system: [Size]
  private let accessory: [Size]

  /// Selects the sizes of the listed screen that is nearest, since Apple does not list every screen.
  package init(isPad: Bool, width: Double, height: Double) {
    func distance(_ other: (Double, Double)) -> Double { abs(other.0 - width) + abs(other.1 - height) }
    let screens = isPad ? FamilySizes.pads : FamilySizes.phones
    let nearest = screens.min { a, b in (a.screens.map(distance).min() ?? 0) < (b.screens.map(distance).min() ?? 0) }
    let row = nearest ?? screens[0]
    system = row.system.map { Size(width: $0.0, height: $0.1) }
    accessory = row.accessory.map { Size(width: $0.0, height: $0.1) }
  }

  package func size(of family: WidgetFamilyName) -> Size {
    switch family {
    case .systemSmall: system[0]
    case .systemMedium: system[1]
    case .systemLarge: system[2]
    case .systemExtraLarge: system.count > 3 ? system[3] : system[2]
    case .systemExtraLargePortrait: Size(width: 338, height: 450)
    case .accessoryCircular, .accessoryCorner: accessory[0]
    case .accessoryRectangular: accessory[1]
    case .accessoryInline: accessory[2]
    // Apple publishes no size of a control.
    case .control: Size(width: 72, height: 72)
    }
  }

  private struct Row {
    let screens: [(Double, Double)]
    /// Small, medium, large, extra large.
    let system: [(Double, Double)]
    /// Circular, rectangular, inline.
    let accessory: [(Double, Double)]
  }

  private static let phones = [
    Row(
      screens: [(430, 932), (428, 926)], system: [(170, 170), (364, 170), (364, 382)],
      accessory: [(76, 76), (172, 76), (257, 26)]),
    Row(
      screens: [(414, 896)], system: [(169, 169), (360, 169), (360, 379)], accessory: [(76, 76), (160, 72), (248, 26)]),
    Row(
      screens: [(414, 736)], system: [(159, 159), (348, 157), (348, 357)], accessory: [(76, 76), (170, 76), (248, 26)]),
    Row(
      screens: [(393, 852), (390, 844)], system: [(158, 158), (338, 158), (338, 354)],
      accessory: [(72, 72), (160, 72), (234, 26)]),
    Row(
      screens: [(375, 812), (360, 780)], system: [(155, 155), (329, 155), (329, 345)],
      accessory: [(72, 72), (157, 72), (225, 26)]),
    Row(
      screens: [(375, 667)], system: [(148, 148), (321, 148), (321, 324)], accessory: [(68, 68), (153, 68), (225, 26)]),
    // No system with accessory families runs on this screen: the sizes are those of the next larger one.
    Row(
      screens: [(320, 568)], system: [(141, 141), (292, 141), (292, 311)], accessory: [(68, 68), (153, 68), (225, 26)]),
  ]

  // Apple lists no sizes of the accessory families on an iPad: these are those of a 6.1-inch phone (ours).
  private static let pads = [
    pad([(768, 1024), (744, 1133)], (141, 141), (305.5, 141), (305.5, 305.5), (634.5, 305.5)),
    pad([(810, 1080)], (146, 146), (320.5, 146), (320.5, 320.5), (669, 320.5)),
    pad([(820, 1180), (834, 1194)], (155, 155), (342, 155), (342, 342), (715.5, 342)),
    pad([(834, 1112)], (150, 150), (327.5, 150), (327.5, 327.5), (682, 327.5)),
    pad([(954, 1373), (970, 1389)], (162, 162), (350, 162), (350, 350), (726, 350)),
    pad([(1024, 1366)], (170, 170), (378.5, 170), (378.5, 378.5), (795, 378.5)),
    pad([(1192, 1590)], (188, 188), (412, 188), (412, 412), (860, 412)),
  ]

  private static func pad(_ screens: [(Double, Double)], _ system: (Double, Double)...) -> Row {
    Row(screens: screens, system: system, accessory: [(72, 72), (160, 72), (234, 26)])
  }
}
