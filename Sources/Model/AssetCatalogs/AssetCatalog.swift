// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation

/// A folder `NAME.xcassets` as Xcode stores it. Sets are found when the catalog is opened; a set is read when it is
/// used. Nothing is written. Links are followed, and limits bound the time for a folder that contains itself.
package struct AssetCatalog: Sendable {
  /// The kinds of sets that can be used, by the extension of their folders.
  package enum Kind: String, Sendable {
    case image = "imageset"
    case color = "colorset"
    case symbol = "symbolset"
  }

  /// One file of an image set or a symbol set.
  package struct Image: Hashable, Sendable {
    package let file: URL
    /// Whether the file is the template of a custom symbol.
    package let isSymbol: Bool
    /// Pixels per point; `nil`: one file for all scales.
    package let scale: Double?
    /// Whether the set has another file for the other colour scheme, so that a picture depends on it.
    package let dependsOnScheme: Bool
    /// `template` or `original`; `nil`: not given.
    package let renderingIntent: String?

    package init(
      file: URL, isSymbol: Bool = false, scale: Double?, dependsOnScheme: Bool = false, renderingIntent: String? = nil
    ) {
      self.file = file
      self.isSymbol = isSymbol
      self.scale = scale
      self.dependsOnScheme = dependsOnScheme
      self.renderingIntent = renderingIntent
    }
  }

  /// The colours of a colour set, by scheme and contrast; a colour that the set does not have is that of the nearest one.
  package struct Color: Hashable, Sendable {
    package let light: AssetColor
    package let dark: AssetColor
    package let lightContrast: AssetColor
    package let darkContrast: AssetColor
  }

  /// The most folders of a catalog that are opened.
  private static let folders = 20_000
  private static let depth = 32

  private var sets: [Key: URL] = [:]
  /// Whether the catalog has more folders than are opened.
  package private(set) var isIncomplete = false

  private struct Key: Hashable {
    let kind: Kind
    let name: String
  }

  /// - Parameter folder: the folder of the catalog; a folder that cannot be read has no sets.
  package init(_ folder: URL) {
    var left: [(folder: URL, prefix: String, depth: Int)] = [(folder, "", 0)]
    var opened = 0
    while let (folder, prefix, depth) = left.popLast() {
      opened += 1
      guard opened <= Self.folders, depth <= Self.depth else {
        isIncomplete = true
        continue
      }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      for name in names.sorted(by: >) where !name.hasPrefix(".") {
        let path = folder.appendingPathComponent(name)
        let fileExtension = path.pathExtension
        if let kind = Kind(rawValue: fileExtension) {
          sets[Key(kind: kind, name: prefix + path.deletingPathExtension().lastPathComponent)] = path
        } else if fileExtension.isEmpty, Self.isFolder(path) {
          left.append((path, Self.hasNamespace(path) ? "\(prefix)\(name)/" : prefix, depth + 1))
        }
      }
    }
  }

  /// Whether it has a set.
  package func has(_ kind: Kind, _ name: String) -> Bool { sets[Key(kind: kind, name: name)] != nil }

  /// The file of an image set or a symbol set for a device.
  ///
  /// - Throws: `AssetFault`.
  package func image(
    _ name: String, _ kind: Kind = .image, for traits: AssetTraits
  ) throws(AssetFault) -> Image {
    let (folder, contents) = try contents(kind, name)
    guard let file = contents.files.best(for: traits, \.slot) else { throw .noVariant }
    var other = traits
    other.isDark.toggle()
    let counterpart = contents.files.best(for: other, \.slot)
    return Image(
      file: folder.appendingPathComponent(file.name), isSymbol: kind == .symbol, scale: file.slot.scale,
      dependsOnScheme: counterpart?.name != file.name, renderingIntent: contents.renderingIntent)
  }

  /// The colours of a colour set for a device.
  ///
  /// - Parameter traits: of which only the idiom counts.
  /// - Throws: `AssetFault`.
  package func color(_ name: String, for traits: AssetTraits = AssetTraits()) throws(AssetFault) -> Color {
    let (_, contents) = try contents(.color, name)
    func color(_ isDark: Bool, _ hasIncreasedContrast: Bool) throws(AssetFault) -> AssetColor {
      var traits = traits
      traits.isDark = isDark
      traits.hasIncreasedContrast = hasIncreasedContrast
      guard let variant = contents.colors.best(for: traits, \.slot) else { throw .noVariant }
      return variant.color
    }
    return Color(
      light: try color(false, false), dark: try color(true, false), lightContrast: try color(false, true),
      darkContrast: try color(true, true))
  }

  private func contents(_ kind: Kind, _ name: String) throws(AssetFault) -> (URL, SetContents) {
    guard let folder = sets[Key(kind: kind, name: name)] else { throw .missing }
    let data: Data
    do {
      data = try BoundedFile.read(folder.appendingPathComponent("Contents.json"), limit: SetContents.limit)
    } catch {
      throw .contents("\(error)")
    }
    return (folder, try SetContents(data))
  }

  private static func isFolder(_ path: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path.path, isDirectory: &isFolder) && isFolder.boolValue
  }

  /// Whether the names of a group's assets begin with that of the group. Source: "Asset Catalog Format Reference",
  /// Folders and Namespaces.
  private static func hasNamespace(_ folder: URL) -> Bool {
    let file = folder.appendingPathComponent("Contents.json")
    guard let data = try? BoundedFile.read(file, limit: SetContents.limit),
      let keys = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return false }
    return (keys["properties"] as? [String: Any])?["provides-namespace"] as? Bool ?? false
  }
}
