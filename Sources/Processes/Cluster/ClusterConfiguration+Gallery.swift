// SPDX-License-Identifier: Apache-2.0

package import Archive

extension ClusterConfiguration {
  /// Settings of the gallery and the screen that Apple does not document, see Documentation/fidelity/gallery.md.
  package struct GallerySettings: Sendable, Hashable {
    /// One widget of each kind is placed on a screen as soon as its extension announces the kind.
    package var placesEachKind = true
    /// A widget without `supportedFamilies` also supports the accessory families.
    package var defaultFamiliesIncludeAccessory = true
    /// Default content margin of the Home Screen and the Today View, in points.
    package var contentMargin = 16
    /// `accented` for a tinted Home Screen.
    package var homeScreenRenderingMode = RenderingModeName.fullColor
    /// `vibrant` for StandBy in low light.
    package var standByRenderingMode = RenderingModeName.fullColor
    /// Sensitive content is hidden while the device is locked.
    package var hidesSensitiveContent = true
    /// Smart Rotate does not turn a stack for this long after the user turned it; 0 for no limit.
    package var smartRotatePause: Duration = .seconds(1800)

    package init() {}
  }
}

extension ClusterConfiguration.Settings {
  mutating func readGallery(_ reader: inout ConfigurationReader) throws(ClusterError) {
    var own = gallery
    own.placesEachKind = try reader.boolean("placesEachKind") ?? own.placesEachKind
    own.defaultFamiliesIncludeAccessory =
      try reader.boolean("defaultFamiliesIncludeAccessory") ?? own.defaultFamiliesIncludeAccessory
    own.contentMargin = try reader.integer("contentMargin") ?? own.contentMargin
    own.hidesSensitiveContent = try reader.boolean("hidesSensitiveContent") ?? own.hidesSensitiveContent
    own.smartRotatePause = try reader.seconds("smartRotatePause") ?? own.smartRotatePause
    let home = try reader.string("homeScreenRenderingMode") ?? own.homeScreenRenderingMode.rawValue
    let standBy = try reader.string("standByRenderingMode") ?? own.standByRenderingMode.rawValue
    guard (0...100).contains(own.contentMargin) else { throw reader.error("contentMargin", "must be 0 to 100 points") }
    guard let homeMode = RenderingModeName(rawValue: home), homeMode != .vibrant else {
      throw reader.error("homeScreenRenderingMode", "must be fullColor or accented")
    }
    guard let standByMode = RenderingModeName(rawValue: standBy), standByMode != .accented else {
      throw reader.error("standByRenderingMode", "must be fullColor or vibrant")
    }
    own.homeScreenRenderingMode = homeMode
    own.standByRenderingMode = standByMode
    gallery = own
  }
}
