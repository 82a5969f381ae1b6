// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What `widgetlab.yaml` says about a product's bundle. Its `Info.plist` has precedence, except where that refers to a
/// build setting.
package struct BundleDescription: Sendable, Hashable {
  /// `CFBundleDisplayName`; `nil` for the name of the executable.
  package var displayName: String?
  /// `CFBundleShortVersionString`, and Xcode's build setting `MARKETING_VERSION`.
  package var version = "1.0"
  /// `CFBundleVersion`, and Xcode's build setting `CURRENT_PROJECT_VERSION`.
  package var build = "1"
  /// Values of further build settings that the `Info.plist` refers to.
  package var buildSettings: [String: String] = [:]
}

extension BundleDescription {
  init(reading reader: inout ConfigurationReader) throws(ClusterError) {
    displayName = try reader.string("displayName")
    version = try reader.string("version") ?? version
    build = try reader.string("build") ?? build
    buildSettings = try reader.dictionary("buildSettings")
  }
}

extension ClusterConfiguration.Product {
  /// The name of the executable without its folder: `CFBundleExecutable`, and `CFBundleName` unless the `Info.plist` has
  /// another.
  package var name: String { URL(fileURLWithPath: executable).lastPathComponent }

  /// The property list of its bundle: the keys of its `Info.plist`, with the values of build settings inserted, and
  /// for the keys that Xcode adds those of `widgetlab.yaml`.
  ///
  /// - Throws: `configuration`, with the file and the key.
  package func bundleInformation() throws(ClusterError) -> [String: Any] {
    var keys: [String: Any] = [
      "CFBundleDevelopmentRegion": "en", "CFBundleDisplayName": description.displayName ?? name,
      "CFBundleExecutable": name, "CFBundleIdentifier": bundle, "CFBundleInfoDictionaryVersion": "6.0",
      "CFBundleName": name, "CFBundlePackageType": packageType, "CFBundleShortVersionString": description.version,
      "CFBundleSupportedPlatforms": ["iPhoneOS"], "CFBundleVersion": description.build,
    ]
    if isExtension { keys["NSExtension"] = ["NSExtensionPointIdentifier": InfoPlist.widgetExtensionPoint] }
    guard let infoPlist else { return keys }
    var settings = BuildSettings(of: self)
    for (key, value) in try InfoPlist.read(infoPlist) {
      do {
        keys[key] = try settings.insert(into: value)
      } catch {
        let reason =
          switch error {
          case .missing(let name): "there is no build setting \(name): add it to buildSettings of \(bundle)"
          case .tooLong: "with the values of build settings, the file is longer than \(InfoPlist.longest) bytes"
          }
        throw ClusterError(.configuration, "\(infoPlist): \(key): \(reason)")
      }
    }
    // Whatever the file says, the executable is this one.
    keys["CFBundleExecutable"] = name
    guard keys["CFBundleIdentifier"] as? String == bundle else {
      throw ClusterError(
        .configuration,
        "\(infoPlist): CFBundleIdentifier is \(keys["CFBundleIdentifier"] ?? ""), and `bundle:` is \(bundle)")
    }
    return keys
  }

  /// The resources that `widgetlab.yaml` names, by the name that they have in the bundle.
  ///
  /// - Throws: `configuration`, with the path of one that does not exist, or whose name another one has.
  package func bundleResources() throws(ClusterError) -> [String: String] {
    var named: [String: String] = [:]
    for path in resources {
      let name = URL(fileURLWithPath: path).lastPathComponent
      guard FileManager.default.fileExists(atPath: path) else {
        throw ClusterError(.configuration, "resources of \(bundle): \(path) does not exist")
      }
      guard named.updateValue(path, forKey: name) == nil else {
        throw ClusterError(.configuration, "resources of \(bundle): two are named \(name)")
      }
    }
    return named
  }

  /// Source: `CFBundlePackageType` of Xcode's templates.
  fileprivate var packageType: String { isExtension ? "XPC!" : "APPL" }
}

/// The build settings that an `Info.plist` can refer to, as `$(NAME)` or `${NAME}`. Xcode inserts their values.
struct BuildSettings {
  enum Fault: Error, Hashable {
    case missing(String)
    /// The values are longer than an `Info.plist` may be.
    case tooLong
  }

  private let values: [String: String]
  /// How many bytes may be inserted.
  private var room = InfoPlist.longest

  init(of product: ClusterConfiguration.Product) {
    let own = [
      "CURRENT_PROJECT_VERSION": product.description.build, "DEVELOPMENT_LANGUAGE": "en",
      "EXECUTABLE_NAME": product.name, "MARKETING_VERSION": product.description.version,
      "PRODUCT_BUNDLE_IDENTIFIER": product.bundle, "PRODUCT_BUNDLE_PACKAGE_TYPE": product.packageType,
      "PRODUCT_MODULE_NAME": product.name, "PRODUCT_NAME": product.name, "TARGET_NAME": product.name,
    ]
    values = own.merging(product.description.buildSettings) { $1 }
  }

  /// Inserts values into all texts of a property list.
  mutating func insert(into value: Any) throws(Fault) -> Any {
    switch value {
    case let text as String: return try insert(into: text)
    case let list as [Any]:
      var result: [Any] = []
      for element in list { result.append(try insert(into: element)) }
      return result
    case let keys as [String: Any]:
      var result: [String: Any] = [:]
      for (key, element) in keys { result[key] = try insert(into: element) }
      return result
    default: return value
    }
  }

  private mutating func insert(into text: String) throws(Fault) -> String {
    var result = ""
    var rest = text[...]
    /// Those that do not occur in the rest, so that it is searched once.
    var absent: Set<Character> = []
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[dollar...]
      let closing: Character? =
        switch rest.dropFirst().first {
        case "(": ")"
        case "{": "}"
        default: nil
        }
      guard let closing, !absent.contains(closing), let end = rest.firstIndex(of: closing) else {
        if let closing { absent.insert(closing) }
        result.append(rest.removeFirst())
        continue
      }
      let value = try value(of: rest[rest.index(dollar, offsetBy: 2)..<end])
      room -= value.utf8.count
      guard room >= 0 else { throw .tooLong }
      result += value
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  /// - Parameter reference: a name, with Xcode's operators after colons.
  private func value(of reference: Substring) throws(Fault) -> String {
    let parts = reference.split(separator: ":", omittingEmptySubsequences: false)
    let name = String(parts[0])
    // Each operator makes a new text.
    guard parts.count <= 8 else { throw .missing("\(name) with more than 7 operators") }
    guard var value = values[name] else { throw .missing(name) }
    for part in parts.dropFirst() {
      switch part {
      case "rfc1034identifier", "c99extidentifier":
        let replacement: Character = part == "rfc1034identifier" ? "-" : "_"
        value = String(value.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : replacement })
      case "lower": value = value.lowercased()
      case "upper": value = value.uppercased()
      default: throw .missing(String(reference))
      }
    }
    return value
  }
}
