// SPDX-License-Identifier: Apache-2.0

/// A phone or tablet model, with its screen size, by the name used in `widgetlab.yaml`.
package struct DeviceModel: Sendable, Hashable {
  package let name: String
  /// Points, in portrait.
  package let width: Double
  /// Points, in portrait.
  package let height: Double
  /// Pixels per point.
  package let scale: Double
  package var isPad: Bool { name.hasPrefix("iPad") }
  /// Source: the technical specifications of each model, "Always-On display".
  package var hasAlwaysOn: Bool {
    name.hasPrefix("iPhone 17")
      || ["iPhone 14 Pro", "iPhone 15 Pro", "iPhone 16 Pro"].contains { name == $0 || name == "\($0) Max" }
  }

  /// Source: the technical specifications of each model, "Dynamic Island".
  package var hasDynamicIsland: Bool {
    ["iPhone 14 Pro", "iPhone 15", "iPhone 16", "iPhone 17"].contains { name.hasPrefix($0) } && name != "iPhone 16e"
  }
  /// The width of a Live Activity on the Lock Screen, in points. Source: Human Interface Guidelines, *Live Activities*:
  /// 371 of 393 and 408 of 430 points; other screens have the same margins (ours).
  package var activityWidth: Double { isPad ? 425 : width - 22 }
  /// The greatest height of a Live Activity, in points. Source: the same.
  package static let activityHeight = 160.0

  /// Returns the model with a name, spelt as Apple spells it; `nil` for an unknown one.
  package static func named(_ name: String) -> DeviceModel? { all.first { $0.name == name } }

  /// Every known model, phones first.
  package static let all: [DeviceModel] = screens.flatMap { screen in
    screen.names.map {
      DeviceModel(name: $0, width: screen.width, height: screen.height, scale: screen.scale)
    }
  }

  private typealias Screen = (width: Double, height: Double, scale: Double, names: [String])

  // Source: the table of screen sizes of the Human Interface Guidelines, "Layout".
  private static let screens: [Screen] = [
    (320, 568, 2, ["iPhone SE"]),
    (375, 667, 2, ["iPhone 8", "iPhone SE (2nd generation)", "iPhone SE (3rd generation)"]),
    (414, 736, 3, ["iPhone 8 Plus"]),
    (375, 812, 3, ["iPhone X", "iPhone XS", "iPhone 11 Pro", "iPhone 12 mini", "iPhone 13 mini"]),
    (414, 896, 2, ["iPhone XR", "iPhone 11"]),
    (414, 896, 3, ["iPhone XS Max", "iPhone 11 Pro Max"]),
    (390, 844, 3, ["iPhone 12", "iPhone 12 Pro", "iPhone 13", "iPhone 13 Pro", "iPhone 14", "iPhone 16e"]),
    (393, 852, 3, ["iPhone 14 Pro", "iPhone 15", "iPhone 15 Pro", "iPhone 16"]),
    (402, 874, 3, ["iPhone 16 Pro", "iPhone 17", "iPhone 17 Pro"]),
    (428, 926, 3, ["iPhone 12 Pro Max", "iPhone 13 Pro Max", "iPhone 14 Plus"]),
    (430, 932, 3, ["iPhone 14 Pro Max", "iPhone 15 Plus", "iPhone 15 Pro Max", "iPhone 16 Plus"]),
    (440, 956, 3, ["iPhone 16 Pro Max", "iPhone 17 Pro Max"]),
    (744, 1133, 2, ["iPad mini"]),
    (768, 1024, 2, ["iPad (6th generation)"]),
    (810, 1080, 2, ["iPad (9th generation)"]),
    (820, 1180, 2, ["iPad", "iPad Air", "iPad Air 11-inch"]),
    (834, 1112, 2, ["iPad Air (3rd generation)"]),
    (834, 1194, 2, ["iPad Pro 11-inch"]),
    (1024, 1366, 2, ["iPad Pro 12.9-inch", "iPad Pro 13-inch", "iPad Air 13-inch"]),
  ]
}

extension ClusterConfiguration.Device {
  /// Whether the device is a tablet, according to its model.
  package var isPad: Bool { screen.isPad }
}
