// SPDX-License-Identifier: Apache-2.0

package import Cluster
import Foundation
import Glibc

/// The bundles of a device's products, which the agent makes before it starts a process: a folder with the `Info.plist`
/// and links to the executable and to its resources.
///
/// ```text
/// bundles/com.example.Weather/WeatherApp.app/
///   Info.plist  WeatherApp  Weather_WeatherApp.resources  icon.png
///   PlugIns/WeatherWidget.appex/
/// ```
package struct BundleFolder: Sendable {
  /// The environment variable with the path of the executable in its bundle. `CAuthorProcess` reads it.
  static let variable = "WIDGETLAB_BUNDLE"

  private let configuration: ClusterConfiguration
  private let device: DeviceFolder
  private var made: [String: MadeBundle] = [:]

  package init(_ configuration: ClusterConfiguration, in device: DeviceFolder) {
    self.configuration = configuration
    self.device = device
  }

  /// Makes the bundle of a product, or brings it up to date. An extension's bundle is inside its app's bundle. Does nothing
  /// while no file that it depends on has changed, because a launch waits for it.
  ///
  /// - Parameter executable: the path of the product's executable.
  /// - Returns: the path of the executable in the bundle; `nil` for a product that the configuration does not have.
  /// - Throws: `configuration` or `instance-folder`.
  mutating func make(_ bundle: String, executable: String) throws(ClusterError) -> String? {
    guard let product = configuration.product(bundle) else { return nil }
    if let known = made[bundle], known.executable == executable, known.isCurrent { return known.path }
    let app = product.isExtension ? configuration.app(ofExtension: bundle) : product
    let resources = try product.bundleResources()
    let ownFolders = Self.resourceFolders(beside: executable)
    // The states of what is read, before it is read.
    let sources =
      ([URL(fileURLWithPath: executable).deletingLastPathComponent().path] + ownFolders + resources.values
      + [app?.infoPlist, product.infoPlist].compactMap { $0 }).map(FileState.init)

    var folder = device.bundle(of: app?.bundle ?? bundle)
    var folders: [String] = []
    if let app {
      folder += "/\(app.name).app"
      folders.append(folder)
      try write(app, to: folder)
    }
    if product.isExtension {
      folder += "\(app == nil ? "" : "/PlugIns")/\(product.name).appex"
      folders.append(folder)
      try write(product, to: folder)
    }
    try link(Self.contents(executable, of: product.name, folders: ownFolders, resources: resources), in: folder)
    let path = "\(folder)/\(product.name)"
    let results = folders.flatMap { [$0, $0 + "/Info.plist"] }.map(FileState.init)
    made[bundle] = MadeBundle(executable: executable, path: path, files: sources + results)
    return path
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

  /// The folders `<package>_<target>.resources` beside an executable, where SwiftPM puts the resources of each target.
  private static func resourceFolders(beside executable: String) -> [String] {
    let folder = URL(fileURLWithPath: executable).deletingLastPathComponent().path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".resources") }.sorted().map { "\(folder)/\($0)" }
  }

  /// What a bundle links to, by name: the folders of resources, where `Bundle.module` finds them, and the contents of
  /// those of the product's target, which Xcode puts into the bundle itself.
  ///
  /// - Parameter resources: those of `widgetlab.yaml`, which replace others of the same name.
  private static func contents(
    _ executable: String, of name: String, folders: [String], resources: [String: String]
  ) -> [String: String] {
    var contents: [String: String] = [:]
    for folder in folders where folder.hasSuffix("_\(name).resources") {
      for item in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        contents[item] = "\(folder)/\(item)"
      }
    }
    for folder in folders { contents[URL(fileURLWithPath: folder).lastPathComponent] = folder }
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

/// A bundle that was made, and the files that it depends on or consists of.
private struct MadeBundle {
  let executable: String
  /// The path of the executable in the bundle.
  let path: String
  let files: [FileState]

  var isCurrent: Bool { files.allSatisfy { $0 == FileState($0.path) } }
}

/// What a change of a file or a folder's list changes.
struct FileState: Hashable, Sendable {
  let path: String
  private var inode: UInt64 = 0
  private var size: Int64 = 0
  private var seconds = 0
  private var nanoseconds = 0

  /// The state now; all zero for a file that cannot be read.
  init(_ path: String) {
    self.path = path
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
