// SPDX-License-Identifier: Apache-2.0

package import Cluster
import Foundation

/// The bundles of a device's products, which the agent makes before it starts a process: a folder with the `Info.plist`
/// and links to the executable and to its resources.
///
/// ```text
/// bundles/com.example.Weather/WeatherApp.app/
///   Info.plist  WeatherApp  Weather_WeatherApp.resources  icon.png
///   PlugIns/WeatherWidget.appex/
/// ```
package struct BundleFolder: Sendable {
  /// The environment variable with the path of the executable in its bundle. `CBundle` reads it.
  static let variable = "WIDGETLAB_BUNDLE"

  private let configuration: ClusterConfiguration
  private let device: DeviceFolder

  package init(_ configuration: ClusterConfiguration, in device: DeviceFolder) {
    self.configuration = configuration
    self.device = device
  }

  /// Makes the bundle of a product, or brings it up to date. That of an extension is in its app's.
  ///
  /// - Parameter executable: the path of the product's executable.
  /// - Returns: the path of the executable in the bundle; `nil` for a product that the configuration does not have.
  /// - Throws: `configuration` or `instance-folder`.
  func make(_ bundle: String, executable: String) throws(ClusterError) -> String? {
    guard let product = configuration.product(bundle) else { return nil }
    let app = product.isExtension ? configuration.app(ofExtension: bundle) : product
    var folder = device.bundle(of: app?.bundle ?? bundle)
    if let app {
      folder += "/\(app.name).app"
      try write(app, to: folder)
    }
    if product.isExtension {
      folder += "\(app == nil ? "" : "/PlugIns")/\(product.name).appex"
      try write(product, to: folder)
    }
    let resources = try product.bundleResources()
    try link(Self.contents(beside: executable, of: product.name, resources), in: folder)
    return "\(folder)/\(product.name)"
  }

  /// Writes the `Info.plist`, unless it is the same.
  private func write(_ product: ClusterConfiguration.Product, to folder: String) throws(ClusterError) {
    let path = folder + "/Info.plist"
    let keys = try product.bundleInformation()
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let data = try PropertyListSerialization.data(fromPropertyList: keys, format: .xml, options: 0)
      guard FileManager.default.contents(atPath: path) != data else { return }
      try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw ClusterError(.folder, "\(path) cannot be written: \(error.localizedDescription)")
    }
  }

  /// What a bundle links to, by name. SwiftPM puts the resources of a target into a folder `<package>_<target>.resources`
  /// beside the executable, where `Bundle.module` finds them; Xcode puts them into the bundle itself.
  ///
  /// - Parameter resources: those of `widgetlab.yaml`, which replace others of the same name.
  private static func contents(
    beside executable: String, of name: String, _ resources: [String: String]
  ) -> [String: String] {
    let folder = URL(fileURLWithPath: executable).deletingLastPathComponent().path
    let files = FileManager.default
    let folders = ((try? files.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".resources") }
    let own = folders.filter { $0.hasSuffix("_\(name).resources") }
    var contents: [String: String] = [:]
    for bundle in own.sorted() {
      for item in (try? files.contentsOfDirectory(atPath: "\(folder)/\(bundle)")) ?? [] {
        contents[item] = "\(folder)/\(bundle)/\(item)"
      }
    }
    for bundle in folders { contents[bundle] = "\(folder)/\(bundle)" }
    contents.merge(resources) { $1 }
    contents[name] = executable
    contents["Info.plist"] = nil
    contents["PlugIns"] = nil
    return contents
  }

  /// Makes the links that are missing or that are out of date, and removes those that are no longer wanted.
  private func link(_ contents: [String: String], in folder: String) throws(ClusterError) {
    let files = FileManager.default
    var wanted = contents
    for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] {
      guard let target = try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(name)") else { continue }
      if wanted[name] == target { wanted[name] = nil } else { unlink("\(folder)/\(name)") }
    }
    for (name, target) in wanted where symlink(target, "\(folder)/\(name)") != 0 && errno != EEXIST {
      throw ClusterError(.folder, "\(folder)/\(name) cannot be linked: \(String(cString: strerror(errno)))")
    }
  }
}
