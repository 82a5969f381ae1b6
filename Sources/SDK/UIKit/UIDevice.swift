// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a process knows of its device, from its environment.
enum DeviceFacts {
  private static let environment = ProcessInfo.processInfo.environment

  /// Such as `iPhone 16`.
  static let model = environment["SIMULATOR_DEVICE_NAME"] ?? "iPhone"
  /// Such as `26.0`.
  static let systemVersion = environment["SIMULATOR_RUNTIME_VERSION"] ?? "26.0"
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
  /// Kept in the user defaults of the bundle, so an app and its extension have different ones. On a phone it is the same
  /// for all apps of a vendor.
  open var identifierForVendor: UUID? {
    let key = "UIDevice.identifierForVendor"
    if let known = UserDefaults.standard.string(forKey: key).flatMap(UUID.init(uuidString:)) { return known }
    let made = UUID()
    UserDefaults.standard.set(made.uuidString, forKey: key)
    return made
  }
  open var isBatteryMonitoringEnabled = false
  /// -1: the device has no battery.
  open var batteryLevel: Float { -1 }
  open var batteryState: BatteryState { .unknown }
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
