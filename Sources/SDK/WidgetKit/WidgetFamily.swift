// SPDX-License-Identifier: Apache-2.0

import Archive

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
