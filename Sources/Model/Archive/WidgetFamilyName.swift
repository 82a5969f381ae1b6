// SPDX-License-Identifier: Apache-2.0

/// The families of WidgetKit, as both sides of the bus encode them. Source: `WidgetFamily` of the iOS 18 SDK, and of
/// the macOS 27 SDK for the last. `control` is that of a control, which has no family in Apple's SDK.
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
