// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// The pictures that `widgetlab snapshot --output` draws: all combinations of its lists.
struct SnapshotPlan {
  /// A kind of widget or control of one extension.
  struct Kind: Hashable, Comparable {
    let kind: String
    let bundle: String
    /// Whether another extension has the same kind.
    var isShared = false

    static func < (one: Kind, other: Kind) -> Bool { (one.kind, one.bundle) < (other.kind, other.bundle) }
  }

  var families: [Kind: [WidgetFamilyName]]
  /// `nil`: that of the family.
  var modes: [RenderingModeName?] = [nil]
  var schemes: [ColorSchemeName] = [.light]
  /// `nil`: the device's.
  var textSizes: [TextSizeName?] = [nil]
  /// `nil`: the device's.
  var locales: [String?] = [nil]
  var entries = ArchiveWidget.Entries.snapshot

  init(families: [Kind: [WidgetFamilyName]]) { self.families = families }

  /// The families of each kind, in the order of `WidgetFamilyName`.
  static func families(in items: [ListGallery.Item]) -> [Kind: [WidgetFamilyName]] {
    let bundles = Dictionary(grouping: items, by: \.widgetKind).mapValues { Set($0.map(\.bundle)) }
    var foundFamilies: [Kind: Set<WidgetFamilyName>] = [:]
    for item in items {
      let isShared = bundles[item.widgetKind, default: []].count > 1
      let kind = Kind(kind: item.widgetKind, bundle: item.bundle, isShared: isShared)
      foundFamilies[kind, default: []].formUnion(item.families)
    }
    return foundFamilies.mapValues { families in WidgetFamilyName.allCases.filter(families.contains) }
      .filter { !$0.value.isEmpty }
  }

  /// Draws these families instead of all that a kind supports. Controls have one family, and widgets do not have it.
  mutating func choose(_ chosen: [WidgetFamilyName]) {
    families = families.mapValues { own in chosen.filter { ($0 == .control) == (own == [.control]) } }
      .filter { !$0.value.isEmpty }
  }

  /// The requests to the host in order. One archive has both colour schemes.
  var requests: [(kind: Kind, request: ArchiveWidget)] {
    var requests: [(kind: Kind, request: ArchiveWidget)] = []
    for (kind, families) in families.sorted(by: { $0.key < $1.key }) {
      for family in families {
        for mode in modes {
          for textSize in textSizes {
            for locale in locales {
              requests.append(
                (
                  kind,
                  ArchiveWidget(
                    widgetKind: kind.kind, bundle: kind.bundle, family: family, renderingMode: mode,
                    textSize: textSize, locale: locale, entries: entries)
                ))
            }
          }
        }
      }
    }
    return requests
  }
}

/// The name of a picture's file.
struct SnapshotName: Hashable {
  let kind: String
  /// The extension, if another one has the same kind.
  var bundle: String?
  let family: WidgetFamilyName
  let mode: RenderingModeName
  let scheme: ColorSchemeName
  let textSize: TextSizeName
  /// `nil`: the device's.
  let locale: String?
  /// From 1; `nil`: the only one.
  let entry: Int?

  /// What distinguishes the pictures of one widget.
  var caption: String {
    let parts = [family.rawValue, mode.rawValue, scheme.rawValue, textSize.rawValue, locale, entry.map { "\($0)" }]
    return parts.compactMap(\.self).joined(separator: "-")
  }

  /// Such as `Coffee.systemSmall-fullColor-light-large@2x.png`. Of a kind, characters that file names do not have are
  /// replaced by `_`.
  func file(_ format: PictureFormat, scale: Double) -> String {
    let name = ((bundle.map { "\($0)." } ?? "") + kind).map { $0 == "/" || $0 == "\0" || $0 == "\n" ? "_" : $0 }
    let density = scale == scale.rounded() ? "\(Int(saturating: scale))" : "\(scale)"
    return "\(String(name)).\(caption)" + (format == .png ? "@\(density)x" : "") + ".\(format.rawValue)"
  }
}
