// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

// Pictures: the views of widgets that are not placed.

/// The operator requests the views of a widget in an environment, for pictures. Nothing is stored.
package struct ArchiveWidget: Request {
  package static let kind: Kind = "widget.archive"

  /// Which entries are requested, and of which method of the provider.
  package enum Entries: String, Codable, Hashable, Sendable, CaseIterable {
    /// The entry of `getSnapshot`, as for the gallery.
    case snapshot
    /// The first entry of `getTimeline`.
    case first
    /// All entries of `getTimeline`.
    case all
  }

  package let widgetKind: String
  /// The extension; `nil` where only one has the kind.
  package let bundle: String?
  package let family: WidgetFamilyName
  /// `nil`: `vibrant` for an accessory family, which has no other, and `fullColor` for the others.
  package let renderingMode: RenderingModeName?
  /// `nil`: the device's.
  package let textSize: TextSizeName?
  /// The locale of the views; `nil`: the device's. The process keeps the device's.
  package let locale: String?
  package let entries: Entries
  package init(
    widgetKind: String, bundle: String? = nil, family: WidgetFamilyName, renderingMode: RenderingModeName? = nil,
    textSize: TextSizeName? = nil, locale: String? = nil, entries: Entries = .snapshot
  ) {
    self.widgetKind = widgetKind
    self.bundle = bundle
    self.family = family
    self.renderingMode = renderingMode
    self.textSize = textSize
    self.locale = locale
    self.entries = entries
  }

  /// An entry as a screen shows it in both colour schemes.
  package struct Entry: Codable, Hashable, Sendable {
    package let light: ShowScreen.Tile
    /// `nil`: as in the light colour scheme.
    package let dark: ShowScreen.Tile?
    package init(light: ShowScreen.Tile, dark: ShowScreen.Tile?) {
      self.light = light
      self.dark = dark
    }
  }

  package struct Reply: Codable, Hashable, Sendable {
    /// By date.
    package let entries: [Entry]
    /// The settings of the views.
    package let settings: DeviceSettings
    /// The colour that the widget's place gives to it; `nil`: none.
    package let tint: TintName?
    /// The bytes of the images that the views show, by SHA-256.
    package let images: [String: Data]
    package init(entries: [Entry], settings: DeviceSettings, tint: TintName?, images: [String: Data] = [:]) {
      self.entries = entries
      self.images = images
      self.settings = settings
      self.tint = tint
    }
  }
}
