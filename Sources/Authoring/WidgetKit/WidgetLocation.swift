import Archive

/// A place where a person can put a widget. Source: `WidgetKit.WidgetLocation`.
public struct WidgetLocation: Sendable, Hashable {
  let name: WidgetLocationName

  /// The Home Screen.
  public static let homeScreen = WidgetLocation(name: .homeScreen)
  /// The Lock Screen.
  public static let lockScreen = WidgetLocation(name: .lockScreen)
  /// A phone that stands and charges.
  public static let standBy = WidgetLocation(name: .standBy)
  /// A Mac that shows the phone's widgets.
  public static let iPhoneWidgetsOnMac = WidgetLocation(name: .iPhoneWidgetsOnMac)
  /// A car's display.
  public static let carPlay = WidgetLocation(name: .carPlay)
  /// A watch face.
  public static let watchFace = WidgetLocation(name: .watchFace)
  /// A watch's stack of widgets.
  public static let smartStack = WidgetLocation(name: .smartStack)
}

/// How a widget hangs on a wall. Source: `WidgetKit.WidgetMountingStyle`.
public struct WidgetMountingStyle: Sendable, Hashable {
  let name: String
  /// Before the wall.
  public static let elevated = WidgetMountingStyle(name: "elevated")
  /// In the wall.
  public static let recessed = WidgetMountingStyle(name: "recessed")
}

/// What a widget on a wall is made of. Source: `WidgetKit.WidgetTexture`.
public struct WidgetTexture: Sendable, Hashable {
  let name: String
  /// Glass.
  public static let glass = WidgetTexture(name: "glass")
  /// Paper.
  public static let paper = WidgetTexture(name: "paper")
}

/// The size of a Live Activity. Source: `WidgetKit.ActivityFamily`.
public enum ActivityFamily: Int, Sendable, Hashable, CustomStringConvertible {
  /// As on a watch.
  case small
  /// As on a Lock Screen.
  case medium

  /// The case's name.
  public var description: String {
    switch self {
    case .small: "small"
    case .medium: "medium"
    }
  }
}
