/// The families that WidgetKit names, as both sides of the bus write them.
/// Source: `WidgetFamily` of the iOS 18 SDK.
package enum WidgetFamilyName: String, Codable, Hashable, Sendable, CaseIterable {
  case systemSmall, systemMedium, systemLarge, systemExtraLarge
  case accessoryCorner, accessoryCircular, accessoryRectangular, accessoryInline
}
