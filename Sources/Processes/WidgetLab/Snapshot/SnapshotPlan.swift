// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// The pictures that `widgetlab snapshot --output` draws: all combinations of its lists.
struct SnapshotPlan {
  /// By kind.
  var families: [String: [WidgetFamilyName]]
  /// `nil`: that of the family.
  var modes: [RenderingModeName?] = [nil]
  var schemes: [ColorSchemeName] = [.light]
  /// `nil`: the device's.
  var textSizes: [TextSizeName?] = [nil]
  /// `nil`: the device's.
  var locales: [String?] = [nil]
  var entries = ArchiveWidget.Entries.snapshot

  init(families: [String: [WidgetFamilyName]]) { self.families = families }

  /// The families of each kind that is no control, in the order of `WidgetFamilyName`.
  static func families(in items: [ListGallery.Item]) -> [String: [WidgetFamilyName]] {
    var found: [String: Set<WidgetFamilyName>] = [:]
    for item in items { found[item.widgetKind, default: []].formUnion(item.families) }
    return found.mapValues { families in WidgetFamilyName.allCases.filter { $0 != .control && families.contains($0) } }
      .filter { !$0.value.isEmpty }
  }

  /// The requests to the host in order. One archive has both colour schemes.
  var requests: [ArchiveWidget] {
    var requests: [ArchiveWidget] = []
    for (kind, families) in families.sorted(by: { $0.key < $1.key }) {
      for family in families {
        for mode in modes {
          for textSize in textSizes {
            for locale in locales {
              requests.append(
                ArchiveWidget(
                  widgetKind: kind, family: family, renderingMode: mode, textSize: textSize, locale: locale,
                  entries: entries))
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
    let name = kind.map { $0 == "/" || $0 == "\0" || $0 == "\n" ? "_" : $0 }
    let density = scale == scale.rounded() ? "\(Int(saturating: scale))" : "\(scale)"
    return "\(String(name)).\(caption)" + (format == .png ? "@\(density)x" : "") + ".\(format.rawValue)"
  }
}
