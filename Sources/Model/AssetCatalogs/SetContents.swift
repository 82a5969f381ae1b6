// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The `Contents.json` of an image set, a colour set or a symbol set. Source: "Asset Catalog Format Reference".
package struct SetContents: Sendable {
  /// One file of an image set or a symbol set.
  struct File: Sendable {
    var name: String
    var slot: AssetSlot
  }

  /// One colour of a colour set.
  struct Variant: Sendable {
    var color: AssetColor
    var slot: AssetSlot
  }

  /// `template` or `original`: `template-rendering-intent`.
  package private(set) var renderingIntent: String?
  private(set) var files: [File] = []
  private(set) var colors: [Variant] = []

  /// The longest file that is read, in bytes.
  static let limit = 1 << 20
  /// The most entries that are read.
  private static let entries = 1000

  /// - Throws: `AssetFault.contents`.
  package init(_ data: Data) throws(AssetFault) {
    guard let json = try? JSONSerialization.jsonObject(with: data), let keys = json as? [String: Any] else {
      throw .contents("it is not a JSON object")
    }
    renderingIntent = (keys["properties"] as? [String: Any])?["template-rendering-intent"] as? String
    // An entry without a file or a colour is an empty place of Xcode's editor.
    for entry in (keys["images"] as? [Any] ?? keys["symbols"] as? [Any] ?? []).prefix(Self.entries) {
      guard let entry = entry as? [String: Any] else { throw .contents("an entry is not an object") }
      guard let name = entry["filename"] as? String, !name.isEmpty else { continue }
      guard !name.contains("/"), name != "..", name != ".", !name.contains("\0") else {
        throw .contents("\"\(name.prefix(80))\" is not the name of a file")
      }
      files.append(File(name: name, slot: try AssetSlot(entry)))
    }
    for entry in (keys["colors"] as? [Any] ?? []).prefix(Self.entries) {
      guard let entry = entry as? [String: Any] else { throw .contents("an entry is not an object") }
      guard let color = entry["color"] as? [String: Any] else { continue }
      colors.append(Variant(color: try AssetColor(color), slot: try AssetSlot(entry)))
    }
  }
}

extension AssetSlot {
  /// - Throws: `AssetFault.contents`.
  fileprivate init(_ entry: [String: Any]) throws(AssetFault) {
    idiom = entry["idiom"] as? String ?? idiom
    if let text = entry["scale"] as? String {
      guard text.hasSuffix("x"), let number = Double(text.dropLast()), number >= 1, number <= 10 else {
        throw .contents("\"\(text.prefix(20))\" is not a scale")
      }
      scale = number
    }
    direction = entry["language-direction"] as? String
    isWideGamut = (entry["display-gamut"] as? String)?.lowercased() == "display-p3"
    for appearance in entry["appearances"] as? [[String: Any]] ?? [] {
      let value = appearance["value"] as? String
      switch appearance["appearance"] as? String {
      case "luminosity": luminosity = value
      case "contrast": isHighContrast = value == "high"
      default: throw .contents("the appearance \(appearance["appearance"] ?? "") is not known")
      }
    }
  }
}
