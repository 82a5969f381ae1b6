// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
