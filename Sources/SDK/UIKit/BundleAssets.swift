// SPDX-License-Identifier: Apache-2.0

import Archive
package import AssetCatalogs
package import Foundation
import Synchronization

/// The asset catalogs and the image files of bundles. Each catalog is opened once in a process. Any thread.
package final class BundleAssets: Sendable {
  package static let shared = BundleAssets()

  /// The longest image file that is read, in bytes. Ours: it is four times what a timeline may have in all.
  package static let fileLimit = 16 << 20

  /// The name of an asset, with the folder of its bundle.
  package struct Name: Hashable, Sendable {
    package let name: String
    package let folder: URL

    /// - Parameter bundle: `nil` for the main bundle.
    package init(_ name: String, in bundle: Bundle?) {
      let bundle = bundle ?? Bundle.main
      self.name = name
      folder = (bundle.resourceURL ?? bundle.bundleURL).standardizedFileURL
    }
  }

  private let opened = Mutex<[URL: [AssetCatalog]]>([:])

  package init() {}

  /// The file of an image: that of an image set, or else of a symbol set, or else an image file of the bundle.
  ///
  /// - Throws: `AssetFault`.
  package func image(_ name: Name, for traits: AssetTraits) throws(AssetFault) -> AssetCatalog.Image {
    let catalogs = catalogs(in: name.folder)
    for kind in [AssetCatalog.Kind.image, .symbol] {
      if let catalog = catalogs.first(where: { $0.has(kind, name.name) }) {
        return try catalog.image(name.name, kind, for: traits)
      }
    }
    return try looseFile(name, for: traits)
  }

  /// The colours of a colour set.
  ///
  /// - Throws: `AssetFault`.
  package func color(_ name: Name, for traits: AssetTraits) throws(AssetFault) -> AssetCatalog.Color {
    guard let catalog = catalogs(in: name.folder).first(where: { $0.has(.color, name.name) }) else {
      throw .missing
    }
    return try catalog.color(name.name, for: traits)
  }

  private func catalogs(in folder: URL) -> [AssetCatalog] {
    opened.withLock { opened in
      if let known = opened[folder] { return known }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      let found = names.filter { $0.hasSuffix(".xcassets") }.sorted()
        .map { AssetCatalog(folder.appendingPathComponent($0)) }
      opened[folder] = found
      return found
    }
  }

  /// An image file by its name, in the device's scale, or else the next smaller one. Source: `UIImage.init(named:)`.
  private func looseFile(_ name: Name, for traits: AssetTraits) throws(AssetFault) -> AssetCatalog.Image {
    let given = URL(fileURLWithPath: name.name).pathExtension.lowercased()
    let extensions = ["png", "jpg", "jpeg"]
    let stem = extensions.contains(given) ? String(name.name.dropLast(given.count + 1)) : name.name
    for scale in [traits.scale, 3, 2, 1] {
      let suffix = scale == 1 ? "" : "@\(Int(saturating: scale))x"
      for fileExtension in extensions.contains(given) ? [given] : extensions {
        let file = name.folder.appendingPathComponent("\(stem)\(suffix).\(fileExtension)")
        guard FileManager.default.fileExists(atPath: file.path) else { continue }
        return AssetCatalog.Image(file: file, scale: scale)
      }
    }
    throw .missing
  }

  /// The scale that the name of an image file has: 3 for `cup@3x.png`, 1 without one.
  static func scale(ofFile name: String) -> Double {
    let stem = URL(fileURLWithPath: name).deletingPathExtension().lastPathComponent
    guard stem.hasSuffix("x"), let at = stem.lastIndex(of: "@"),
      let scale = Double(stem[stem.index(after: at)...].dropLast()), (1...10).contains(scale)
    else { return 1 }
    return scale
  }
}
