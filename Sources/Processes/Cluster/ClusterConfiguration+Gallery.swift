package import Archive

extension ClusterConfiguration {
  /// What the gallery and the screen do where Apple leaves it open, see Documentation/fidelity.md.
  package struct GallerySettings: Sendable, Hashable {
    /// One widget of each kind stands on a screen as soon as its extension says the kind.
    package var placesEachKind = true
    /// A widget without `supportedFamilies` has the accessory families too.
    package var defaultFamiliesIncludeAccessory = true
    /// The default content margin of the Home Screen and the Today View, points.
    package var contentMargin = 16
    /// `accented` for a tinted Home Screen.
    package var homeScreenRenderingMode = RenderingModeName.fullColor
    /// `vibrant` for StandBy in low light.
    package var standByRenderingMode = RenderingModeName.fullColor
    /// The person does not show sensitive content while the device is locked.
    package var hidesSensitiveContent = true
    /// Smart Rotate leaves a stack alone for so long after it was turned; 0 for no limit.
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
    guard (0...100).contains(own.contentMargin) else { throw reader.error("contentMargin", "is 0 to 100 points") }
    guard let homeMode = RenderingModeName(rawValue: home), homeMode != .vibrant else {
      throw reader.error("homeScreenRenderingMode", "is fullColor or accented")
    }
    guard let standByMode = RenderingModeName(rawValue: standBy), standByMode != .accented else {
      throw reader.error("standByRenderingMode", "is fullColor or vibrant")
    }
    own.homeScreenRenderingMode = homeMode
    own.standByRenderingMode = standByMode
    gallery = own
  }
}
