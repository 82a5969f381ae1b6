// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
public import Foundation
import Messages
import Synchronization

/// Source: `UIKit.UIUserInterfaceStyle`.
public enum UIUserInterfaceStyle: Int, Sendable {
  case unspecified = 0
  case light, dark
}

/// Source: `UIKit.UIUserInterfaceIdiom`.
public enum UIUserInterfaceIdiom: Int, Sendable {
  case unspecified = -1
  case phone = 0
  case pad, tv, carPlay
  case mac = 5
  case vision
}

/// Source: `UIKit.UIUserInterfaceSizeClass`.
public enum UIUserInterfaceSizeClass: Int, Sendable {
  case unspecified = 0
  case compact, regular
}

/// The text size of the user. Source: `UIKit.UIContentSizeCategory`.
public struct UIContentSizeCategory: Hashable, RawRepresentable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let unspecified = UIContentSizeCategory(rawValue: "_UICTContentSizeCategoryUnspecified")
  public static let extraSmall = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryXS")
  public static let small = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryS")
  public static let medium = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryM")
  public static let large = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryL")
  public static let extraLarge = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryXL")
  public static let extraExtraLarge = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryXXL")
  public static let extraExtraExtraLarge = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryXXXL")
  public static let accessibilityMedium = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryAccessibilityM")
  public static let accessibilityLarge = UIContentSizeCategory(rawValue: "UICTContentSizeCategoryAccessibilityL")
  public static let accessibilityExtraLarge = UIContentSizeCategory(
    rawValue: "UICTContentSizeCategoryAccessibilityXL")
  public static let accessibilityExtraExtraLarge = UIContentSizeCategory(
    rawValue: "UICTContentSizeCategoryAccessibilityXXL")
  public static let accessibilityExtraExtraExtraLarge = UIContentSizeCategory(
    rawValue: "UICTContentSizeCategoryAccessibilityXXXL")

  /// From the smallest.
  package static let all: [UIContentSizeCategory] = [
    .extraSmall, .small, .medium, .large, .extraLarge, .extraExtraLarge, .extraExtraExtraLarge, .accessibilityMedium,
    .accessibilityLarge, .accessibilityExtraLarge, .accessibilityExtraExtraLarge, .accessibilityExtraExtraExtraLarge,
  ]

  public var isAccessibilityCategory: Bool { rawValue.contains("Accessibility") }
}

/// What views are made for. Source: `UIKit.UITraitCollection`.
public final class UITraitCollection: NSObject, Sendable {
  public let userInterfaceStyle: UIUserInterfaceStyle
  public let preferredContentSizeCategory: UIContentSizeCategory

  private init(_ style: UIUserInterfaceStyle, _ category: UIContentSizeCategory) {
    userInterfaceStyle = style
    preferredContentSizeCategory = category
  }
  public convenience override init() { self.init(.unspecified, .unspecified) }
  public convenience init(userInterfaceStyle: UIUserInterfaceStyle) { self.init(userInterfaceStyle, .unspecified) }
  public convenience init(preferredContentSizeCategory: UIContentSizeCategory) {
    self.init(.unspecified, preferredContentSizeCategory)
  }
  package convenience init(isDark: Bool, textSize: Int) {
    self.init(isDark ? .dark : .light, UIContentSizeCategory.all[textSize])
  }

  public var userInterfaceIdiom: UIUserInterfaceIdiom { DeviceFacts.isPad ? .pad : .phone }
  public var displayScale: CGFloat { DeviceFacts.scale }
  public var horizontalSizeClass: UIUserInterfaceSizeClass { DeviceFacts.isPad ? .regular : .compact }
  public var verticalSizeClass: UIUserInterfaceSizeClass { .regular }

  private static let source = Mutex<@Sendable () -> UITraitCollection>({ UITraitCollection(.light, .large) })

  /// Those of the view that is being evaluated.
  public static var current: UITraitCollection { source.withLock { $0 }() }

  /// Sets what `current` returns. SwiftUI's environment has it.
  package static func setCurrent(_ current: @escaping @Sendable () -> UITraitCollection) {
    source.withLock { $0 = current }
  }
}

// The sizes of texts in the author's process, which has no fonts: estimates.

extension NSAttributedString.Key {
  /// A `UIFont`. Source: `UIKit.NSAttributedString.Key`.
  public static let font = NSAttributedString.Key(rawValue: "NSFont")
  /// A `UIColor`. Source: `UIKit.NSAttributedString.Key`.
  public static let foregroundColor = NSAttributedString.Key(rawValue: "NSColor")
}

extension NSString {
  /// The size of one line. The height is that of the system's font; the width is an estimate: each kind of character has
  /// the mean width of Inter's. Source: `UIKit.NSString`.
  public func size(withAttributes attributes: [NSAttributedString.Key: Any]? = nil) -> CGSize {
    // Without a font UIKit takes Helvetica of 12 points.
    let font = attributes?[.font] as? UIFont ?? .systemFont(ofSize: 12)
    let lines = String(describing: self).split(separator: "\n", omittingEmptySubsequences: false)
    let widths = lines.map { line in line.reduce(0) { $0 + Self.width(of: $1) } }
    return CGSize(
      width: (widths.max() ?? 0) * Double(font.pointSize), height: Double(lines.count) * Double(font.lineHeight))
  }

  /// In parts of the font's size.
  private static func width(of character: Character) -> Double {
    guard character.isASCII else {
      let isWide = character.unicodeScalars.first.map { $0.value >= 0x1100 } ?? false
      return isWide ? 1 : 0.58
    }
    if character.isNumber { return 0.62 }
    if character.isUppercase { return 0.68 }
    return character.isLetter ? 0.56 : 0.3
  }
}

/// What a process knows of its device, from its environment.
enum DeviceFacts {
  private static let environment = ProcessInfo.processInfo.environment

  /// Such as `iPhone 16`.
  static let model = environment["SIMULATOR_DEVICE_NAME"] ?? "iPhone"
  /// Such as `26.0`.
  static let systemVersion = environment["SIMULATOR_RUNTIME_VERSION"] ?? "26.0"
  /// The device keeps it: Documentation/fidelity/processes.md. Without a device it is one of the process.
  static let vendor = environment[LaunchVariables.vendor].flatMap { UUID(uuidString: $0) } ?? UUID()
  static let isPad = model.hasPrefix("iPad")
  /// Pixels per point.
  static let scale = number("SCALE") ?? 3
  /// In points.
  static let size = CGSize(width: (number("WIDTH") ?? 1179) / scale, height: (number("HEIGHT") ?? 2556) / scale)

  private static func number(_ name: String) -> CGFloat? {
    environment["SIMULATOR_MAINSCREEN_\(name)"].flatMap(Double.init).flatMap { $0 > 0 ? CGFloat($0) : nil }
  }
}

/// The device. Source: `UIKit.UIDevice`.
@MainActor open class UIDevice: NSObject {
  /// Source: `UIKit.UIDevice.BatteryState`.
  public enum BatteryState: Int, Sendable {
    case unknown = 0
    case unplugged, charging, full
  }

  public static let current = UIDevice()

  /// The same on all devices, as iOS gives it to apps without an entitlement.
  open var name: String { model }
  open var model: String { DeviceFacts.isPad ? "iPad" : "iPhone" }
  open var localizedModel: String { model }
  open var systemName: String { DeviceFacts.isPad ? "iPadOS" : "iOS" }
  open var systemVersion: String { DeviceFacts.systemVersion }
  open var userInterfaceIdiom: UIUserInterfaceIdiom { DeviceFacts.isPad ? .pad : .phone }
  /// The same for all apps of a vendor and their extensions, also after an update; another one when the vendor had no app
  /// on the device. One for each process that no device has started.
  open var identifierForVendor: UUID? { DeviceFacts.vendor }
  /// While it is set, the level and the state of the battery are known, and changes are posted.
  open var isBatteryMonitoringEnabled = false {
    didSet {
      guard isBatteryMonitoringEnabled, let power = HostedProcess.current.map(DevicePower.of), observed !== power
      else { return }
      observed = power
      power.observe { former, new in
        DispatchQueue.main.async { UIDevice.current.post(former.battery, new.battery) }
      }
    }
  }
  private weak var observed: DevicePower?

  private var battery: DeviceBattery? {
    isBatteryMonitoringEnabled ? HostedProcess.current.map { DevicePower.of($0).state.battery } : nil
  }
  /// From 0 to 1, and -1 unless `isBatteryMonitoringEnabled` is set. The user's choice: `widgetlab setting battery`.
  open var batteryLevel: Float { battery.map { Float($0.percent) / 100 } ?? -1 }
  /// Unknown unless `isBatteryMonitoringEnabled` is set.
  open var batteryState: BatteryState {
    switch battery?.state {
    case .unplugged: .unplugged
    case .charging: .charging
    case .full: .full
    case nil: .unknown
    }
  }

  private func post(_ former: DeviceBattery, _ new: DeviceBattery) {
    guard isBatteryMonitoringEnabled else { return }
    if former.percent != new.percent {
      NotificationCenter.default.post(name: Self.batteryLevelDidChangeNotification, object: self)
    }
    if former.state != new.state {
      NotificationCenter.default.post(name: Self.batteryStateDidChangeNotification, object: self)
    }
  }

  public nonisolated static let batteryLevelDidChangeNotification = Notification.Name(
    "UIDeviceBatteryLevelDidChangeNotification")
  public nonisolated static let batteryStateDidChangeNotification = Notification.Name(
    "UIDeviceBatteryStateDidChangeNotification")
}

/// The screen. Source: `UIKit.UIScreen`.
@MainActor open class UIScreen: NSObject {
  public static let main = UIScreen()

  /// In points, in portrait.
  open var bounds: CGRect { CGRect(origin: .zero, size: DeviceFacts.size) }
  /// In pixels.
  open var nativeBounds: CGRect {
    CGRect(x: 0, y: 0, width: DeviceFacts.size.width * scale, height: DeviceFacts.size.height * scale)
  }
  /// Pixels per point.
  open var scale: CGFloat { DeviceFacts.scale }
  open var nativeScale: CGFloat { DeviceFacts.scale }
  open var brightness: CGFloat = 0.5
  open var traitCollection: UITraitCollection { .current }
}
