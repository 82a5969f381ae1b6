// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation
import Synchronization

/// An image. Source: `UIKit.UIImage`; only what widgets use. Only the header of the file is read, not the pixels.
public final class UIImage: Sendable, _ExpressibleByImageLiteral {
  /// The bytes of the file.
  package let data: Data
  /// Of the file, in pixels.
  package let file: ImageFile
  /// Pixels per point.
  public let scale: CGFloat
  /// The name of an asset, with the folder of its bundle; `nil` for an image of another source.
  package let asset: BundleAssets.Name?
  private let checked = Mutex<Check?>(nil)

  /// An image without pixels, which has no size and shows nothing.
  public convenience init() { self.init(Data(), .empty, scale: 1, asset: nil) }
  /// An image from the bytes of a PNG or JPEG file; `nil` for other formats.
  public convenience init?(data: Data) { self.init(data: data, scale: 1) }
  /// An image from the bytes of a PNG or JPEG file; `nil` for other formats.
  public convenience init?(data: Data, scale: CGFloat) { self.init(data, scale: scale, asset: nil) }

  private convenience init?(_ data: Data, scale: CGFloat, asset: BundleAssets.Name?) {
    guard let file = try? ImageFile(header: data) else { return nil }
    self.init(data, file, scale: scale, asset: asset)
  }

  private init(_ data: Data, _ file: ImageFile, scale: CGFloat, asset: BundleAssets.Name?) {
    self.data = data
    self.file = file
    self.scale = scale > 0 ? scale : 1
    self.asset = asset
  }

  convenience init(_ image: UIImage) { self.init(image.data, image.file, scale: image.scale, asset: image.asset) }

  /// `nil` also for a file of more than 16 MiB. The scale is that of the name, such as 2 for `cup@2x.png`.
  public convenience init?(contentsOfFile path: String) {
    let url = URL(fileURLWithPath: path)
    guard let data = try? BoundedFile.read(url, limit: BundleAssets.fileLimit) else { return nil }
    self.init(data: data, scale: CGFloat(BundleAssets.scale(ofFile: url.lastPathComponent)))
  }
  /// An image of an asset catalog or an image file of the main bundle.
  public convenience init?(named name: String) { self.init(named: name, in: nil, with: nil) }
  /// An image of an asset catalog or an image file of a bundle.
  ///
  /// - Parameter configuration: has no effect.
  public convenience init?(named name: String, in bundle: Bundle?, with configuration: Configuration?) {
    self.init(BundleAssets.Name(name, in: bundle))
  }

  convenience init?(_ name: BundleAssets.Name) {
    guard let image = try? BundleAssets.shared.image(name, for: .init()),
      let data = try? BoundedFile.read(image.file, limit: BundleAssets.fileLimit)
    else { return nil }
    self.init(data, scale: CGFloat(image.scale ?? 1), asset: name)
  }

  /// The image of `#imageLiteral`. Ends the process, as on a phone, if no image has this name.
  public convenience init(imageLiteralResourceName name: String) {
    guard let image = UIImage(named: name) else {
      fatalError("#imageLiteral: the bundle has no image named \(name) that can be drawn")
    }
    self.init(image.data, image.file, scale: image.scale, asset: image.asset)
  }

  /// Source: `UIKit.UIImage.Configuration`.
  public final class Configuration: Sendable {}

  /// How the pixels are turned. Source: `UIKit.UIImage.Orientation`.
  public enum Orientation: Int, Sendable {
    case up, down, left, right, upMirrored, downMirrored, leftMirrored, rightMirrored
  }

  /// Always `up`: an image is drawn as its pixels are in the file, whatever the file says about their orientation.
  public var imageOrientation: Orientation { .up }
  /// In points.
  public var size: CGSize { CGSize(width: CGFloat(file.width) / scale, height: CGFloat(file.height) / scale) }

  /// What reading all bytes shows.
  package struct Check: Sendable {
    /// SHA-256.
    package let digest: String
    /// Why they cannot be drawn; `nil` for a whole file.
    package let damage: ImageFault?
  }

  /// Reads all bytes at the first use.
  package var check: Check {
    checked.withLock { known in
      let check = known ?? Check(digest: ContentDigest.hexadecimal(of: data), damage: file.damage(in: data))
      known = check
      return check
    }
  }
}

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
    let givenExtension = URL(fileURLWithPath: name.name).pathExtension.lowercased()
    let extensions = ["png", "jpg", "jpeg"]
    let stem = extensions.contains(givenExtension) ? String(name.name.dropLast(givenExtension.count + 1)) : name.name
    for scale in [traits.scale, 3, 2, 1] {
      let suffix = scale == 1 ? "" : "@\(Int(saturating: scale))x"
      for fileExtension in extensions.contains(givenExtension) ? [givenExtension] : extensions {
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

/// A colour of an asset catalog, for which Xcode generates a symbol. Source: `DeveloperToolsSupport.ColorResource`.
public struct ColorResource: Hashable, Sendable {
  package let asset: BundleAssets.Name
  public init(name: String, bundle: Bundle) { asset = BundleAssets.Name(name, in: bundle) }
}

/// An image of an asset catalog, for which Xcode generates a symbol. Source: `DeveloperToolsSupport.ImageResource`.
public struct ImageResource: Hashable, Sendable {
  package let asset: BundleAssets.Name
  public init(name: String, bundle: Bundle) { asset = BundleAssets.Name(name, in: bundle) }
}

extension UIColor {
  public convenience init(resource: ColorResource) { self.init(.asset(resource.asset)) }
}

extension UIImage {
  /// Ends the process, as on a phone, if the catalog does not have the image.
  public convenience init(resource: ImageResource) {
    guard let image = UIImage(resource.asset) else { fatalError("there is no image named \(resource.asset.name)") }
    self.init(image)
  }
}
