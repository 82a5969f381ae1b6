// SPDX-License-Identifier: Apache-2.0

package import Archive
import AssetCatalogs
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
  /// The bytes of the file if it is a PNG file.
  public func pngData() -> Data? { file.format == .png && !data.isEmpty ? data : nil }
  /// The bytes of the file if it is a JPEG file.
  public func jpegData(compressionQuality: CGFloat) -> Data? { file.format == .jpeg ? data : nil }

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
