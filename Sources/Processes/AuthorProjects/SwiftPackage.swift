// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A Swift package, as its manifest describes it. All paths of targets are relative to the package.
///
/// Source: the output of `swift package dump-package`, and SwiftPM's `PackageDescription`.
package struct SwiftPackage: Sendable, Hashable {
  /// What a target depends on.
  enum Dependency: Sendable, Hashable {
    case target(String)
    /// A target of this package, or else a product of another one.
    case byName(String)
    /// - Parameter package: the name or the identity of the package; `nil` for any.
    case product(String, package: String?)
  }

  struct Resource: Sendable, Hashable {
    let path: String
    /// Whether a folder keeps its structure.
    let isCopied: Bool
  }

  /// A dependency of a target, with the platforms to which it is restricted, in the manifest's words; empty for all.
  struct Link: Sendable, Hashable {
    let dependency: Dependency
    let platforms: [String]
  }

  struct Target: Sendable, Hashable {
    let name: String
    /// `regular`, `executable`, `test`, `macro`, `plugin`, `binary` or `system`.
    let kind: String
    let path: String?
    let sources: [String]?
    let exclude: [String]
    let resources: [Resource]
    let dependencies: [Link]
    let settings: [SwiftPackageSetting]
    /// The names of the plugins that run in its build.
    let plugins: [String]
  }

  /// The folder of the package, absolute.
  let folder: String
  let name: String
  /// The targets of each product, by the product's name.
  let products: [String: [String]]
  let targets: [String: Target]
  /// The packages on which it depends.
  let dependencies: [PackageProduct.Place]
  /// The language mode of a target that does not set one.
  let languageMode: Int

  /// - Parameters:
  ///   - json: the output of `swift package dump-package`.
  ///   - folder: absolute.
  /// - Returns: `nil` when it is not the description of a package.
  package init?(_ json: Data, folder: String) {
    guard let keys = (try? JSONSerialization.jsonObject(with: json)) as? [String: Any],
      let name = keys["name"] as? String, let targets = keys["targets"] as? [[String: Any]]
    else { return nil }
    self.folder = folder
    self.name = name
    var products: [String: [String]] = [:]
    for product in keys["products"] as? [[String: Any]] ?? [] {
      if let name = product["name"] as? String { products[name] = product["targets"] as? [String] ?? [] }
    }
    self.products = products
    let all = targets.compactMap(Target.init)
    self.targets = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    dependencies = (keys["dependencies"] as? [[String: Any]] ?? []).compactMap { Self.place($0, in: folder) }
    let modes = (keys["swiftLanguageVersions"] as? [String] ?? []).compactMap { Int($0.prefix { $0 != "." }) }
    let tools = ((keys["toolsVersion"] as? [String: Any])?["_version"] as? String ?? "").prefix { $0 != "." }
    let standard = (Int(tools) ?? 5) >= 6 ? 6 : 5
    languageMode = modes.filter { $0 <= 6 }.max().map { $0 >= 6 ? 6 : 5 } ?? standard
  }

  private static func place(_ keys: [String: Any], in folder: String) -> PackageProduct.Place? {
    if let local = (keys["fileSystem"] as? [[String: Any]])?.first, let path = local["path"] as? String {
      return .local(FilePath.absolute(path, in: folder))
    }
    guard let remote = (keys["sourceControl"] as? [[String: Any]])?.first,
      let location = remote["location"] as? [String: Any]
    else { return nil }
    if let path = (location["local"] as? [String])?.first { return .local(FilePath.absolute(path, in: folder)) }
    guard let url = (location["remote"] as? [[String: Any]])?.first?["urlString"] as? String else { return nil }
    return .remote(url: url, requirement: requirement(remote["requirement"] as? [String: Any] ?? [:]))
  }

  private static func requirement(_ keys: [String: Any]) -> String {
    for kind in ["exact", "branch", "revision"] {
      if let value = (keys[kind] as? [String])?.first { return "\(kind): \(PackageManifest.literal(value))" }
    }
    let range = (keys["range"] as? [[String: String]])?.first ?? [:]
    let (lower, upper) = (range["lowerBound"] ?? "0.0.0", range["upperBound"] ?? "")
    let major = Int(lower.prefix { $0 != "." }) ?? 0
    return upper == "\(major + 1).0.0" || upper.isEmpty
      ? "from: \(PackageManifest.literal(lower))"
      : "\(PackageManifest.literal(lower))..<\(PackageManifest.literal(upper))"
  }
}

extension SwiftPackage.Target {
  fileprivate init?(_ keys: [String: Any]) {
    guard let name = keys["name"] as? String else { return nil }
    self.name = name
    kind = keys["type"] as? String ?? "regular"
    path = keys["path"] as? String
    sources = keys["sources"] as? [String]
    exclude = keys["exclude"] as? [String] ?? []
    resources = (keys["resources"] as? [[String: Any]] ?? []).compactMap { resource in
      guard let path = resource["path"] as? String else { return nil }
      let rule = resource["rule"] as? [String: Any]
      return SwiftPackage.Resource(path: path, isCopied: rule?["copy"] != nil)
    }
    dependencies = (keys["dependencies"] as? [[String: Any]] ?? []).compactMap(Self.dependency)
    settings = (keys["settings"] as? [[String: Any]] ?? []).compactMap(SwiftPackageSetting.init)
    plugins = (keys["pluginUsages"] as? [[String: Any]] ?? []).compactMap { usage in
      (usage["plugin"] as? [Any])?.first as? String
    }
  }

  private static func dependency(_ keys: [String: Any]) -> SwiftPackage.Link? {
    guard let (kind, value) = keys.first, let parts = value as? [Any], let name = parts.first as? String else {
      return nil
    }
    let condition = parts.last as? [String: Any]
    let platforms = condition?["platformNames"] as? [String] ?? []
    let dependency: SwiftPackage.Dependency =
      switch kind {
      case "target": .target(name)
      case "product": .product(name, package: parts.count > 1 ? parts[1] as? String : nil)
      default: .byName(name)
      }
    return SwiftPackage.Link(dependency: dependency, platforms: platforms)
  }
}

/// A build setting of a target of a Swift package, such as `define` with `DEMO`.
struct SwiftPackageSetting: Sendable, Hashable {
  /// `swift`, `c`, `cxx` or `linker`.
  let tool: String
  /// The name of the setting in the manifest.
  let kind: String
  let values: [String]
  /// The platforms to which it is restricted, in the manifest's words; empty for all.
  let platforms: [String]
  /// `debug` or `release`; `nil` for both.
  let configuration: String?

  init?(_ keys: [String: Any]) {
    guard let (kind, value) = (keys["kind"] as? [String: Any])?.first else { return nil }
    self.kind = kind
    tool = keys["tool"] as? String ?? ""
    let argument = (value as? [String: Any])?["_0"]
    values = argument as? [String] ?? (argument as? String).map { [$0] } ?? []
    let condition = keys["condition"] as? [String: Any]
    platforms = condition?["platformNames"] as? [String] ?? []
    configuration = condition?["config"] as? String
  }

  func applies(to platform: String) -> Bool {
    (platforms.isEmpty || platforms.contains(platform.lowercased())) && configuration != "release"
  }
}
