/// The families that WidgetKit names, as both sides of the bus write them.
/// Source: `WidgetFamily` of the iOS 18 SDK, and of the macOS 27 one for the last.
package enum WidgetFamilyName: String, Codable, Hashable, Sendable, CaseIterable {
  case systemSmall, systemMedium, systemLarge, systemExtraLarge
  case accessoryCorner, accessoryCircular, accessoryRectangular, accessoryInline
  case systemExtraLargePortrait

  /// Whether it is one of the families of Lock Screen and watch face.
  package var isAccessory: Bool {
    switch self {
    case .accessoryCorner, .accessoryCircular, .accessoryRectangular, .accessoryInline: true
    case .systemSmall, .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait: false
    }
  }
}
