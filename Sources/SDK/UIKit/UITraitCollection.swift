// SPDX-License-Identifier: Apache-2.0

public import Foundation
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
