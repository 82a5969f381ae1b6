// SPDX-License-Identifier: Apache-2.0

import Archive

/// A place for a widget. Source: `WidgetKit.WidgetLocation`.
public struct WidgetLocation: Sendable, Hashable {
  let name: WidgetLocationName

  public static let homeScreen = WidgetLocation(name: .homeScreen)
  public static let lockScreen = WidgetLocation(name: .lockScreen)
  /// A phone in landscape that is charging.
  public static let standBy = WidgetLocation(name: .standBy)
  /// A Mac that displays the phone's widgets.
  public static let iPhoneWidgetsOnMac = WidgetLocation(name: .iPhoneWidgetsOnMac)
  public static let carPlay = WidgetLocation(name: .carPlay)
  public static let watchFace = WidgetLocation(name: .watchFace)
  /// The Smart Stack of a watch.
  public static let smartStack = WidgetLocation(name: .smartStack)
}

/// How a widget is mounted on a wall. Source: `WidgetKit.WidgetMountingStyle`.
public struct WidgetMountingStyle: Sendable, Hashable {
  let name: String
  /// In front of the wall.
  public static let elevated = WidgetMountingStyle(name: "elevated")
  /// Recessed into the wall.
  public static let recessed = WidgetMountingStyle(name: "recessed")
}

/// The material of a widget on a wall. Source: `WidgetKit.WidgetTexture`.
public struct WidgetTexture: Sendable, Hashable {
  let name: String
  public static let glass = WidgetTexture(name: "glass")
  public static let paper = WidgetTexture(name: "paper")
}

/// The size of a Live Activity. Source: `WidgetKit.ActivityFamily`.
public enum ActivityFamily: Int, Sendable, Hashable, CustomStringConvertible {
  /// For a watch.
  case small
  /// For a Lock Screen.
  case medium

  public var description: String {
    switch self {
    case .small: "small"
    case .medium: "medium"
    }
  }
}
