// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// The keys that WidgetLab itself reads from a product's `Info.plist`. The author's file is never changed.
package struct InfoPlist: Sendable, Hashable {
  /// The extension point of WidgetKit. Source: the `Info.plist` of Xcode's widget extension template.
  package static let widgetExtensionPoint = "com.apple.widgetkit-extension"

  /// `NSWidgetWantsLocation`: the widgets receive the device's location.
  package let wantsLocation: Bool
  /// `NSSupportsLiveActivities`: the app may have Live Activities.
  package let supportsLiveActivities: Bool

  /// Reads a property list in XML or in binary form.
  ///
  /// - Parameter isExtension: whether it is an extension's and not an app's.
  /// - Throws: `configuration`, with the file and the key, when it is not a property list or not one of a widget
  ///   extension.
  package init(file: String, isExtension: Bool = true) throws(ClusterError) {
    try self.init(keys: try InfoPlist.read(file), file: file, isExtension: isExtension)
  }

  init(keys: [String: Any], file: String, isExtension: Bool) throws(ClusterError) {
    if isExtension { try InfoPlist.check(keys["NSExtension"], file) }
    let wants = keys["NSWidgetWantsLocation"]
    guard wants == nil || wants is Bool else {
      throw ClusterError(.configuration, "\(file): NSWidgetWantsLocation: expected true or false")
    }
    wantsLocation = wants as? Bool ?? false
    let supports = keys["NSSupportsLiveActivities"]
    guard supports == nil || supports is Bool else {
      throw ClusterError(.configuration, "\(file): NSSupportsLiveActivities: expected true or false")
    }
    supportsLiveActivities = supports as? Bool ?? false
  }

  /// The longest file, in bytes.
  static let longest = 1 << 20

  /// The keys of a property list in XML or in binary form.
  ///
  /// - Throws: `configuration`, with the file.
  static func read(_ file: String) throws(ClusterError) -> [String: Any] {
    let data: Data
    do {
      data = try BoundedFile.read(URL(fileURLWithPath: file), limit: longest)
    } catch {
      throw ClusterError(.configuration, "\(file) cannot be read: \(error)")
    }
    return try keys(in: data, of: file)
  }

  /// Same, for the content of a file.
  static func keys(in data: Data, of file: String) throws(ClusterError) -> [String: Any] {
    var format = PropertyListSerialization.PropertyListFormat.xml
    let list: Any
    do {
      if BinaryPropertyList.isLikely(data) { try BinaryPropertyList.check(Array(data)) }
      list = try PropertyListSerialization.propertyList(from: data, format: &format)
    } catch let flaw as BinaryPropertyList.Flaw {
      throw ClusterError(.configuration, "\(file) is not a property list that can be read: \(flaw.text)")
    } catch {
      throw ClusterError(.configuration, "\(file) is not a property list (XML or binary)")
    }
    // Foundation also reads the text form of NeXTSTEP.
    guard format != .openStep else {
      throw ClusterError(.configuration, "\(file) is not a property list (XML or binary)")
    }
    guard let keys = list as? [String: Any] else {
      throw ClusterError(.configuration, "\(file) is a property list, but not a dictionary")
    }
    guard isUsual(keys, depth: 0) else {
      throw ClusterError(
        .configuration,
        "\(file) has values that an Info.plist does not have, or nested deeper than \(BinaryPropertyList.depth) levels")
    }
    return keys
  }

  /// Whether a value can be written into a bundle, and read from there. Foundation also reads references of archives
  /// (`CF$UID`).
  private static func isUsual(_ value: Any, depth: Int) -> Bool {
    guard depth <= BinaryPropertyList.depth else { return false }
    switch value {
    case let list as [Any]: return list.allSatisfy { isUsual($0, depth: depth + 1) }
    case let keys as [String: Any]: return keys.values.allSatisfy { isUsual($0, depth: depth + 1) }
    // After the lists, because the cast to a class of Foundation copies a list with all that is in it.
    case is String, is NSNumber, is Date, is Data: return true
    default: return false
    }
  }

  private static func check(_ value: Any?, _ file: String) throws(ClusterError) {
    let key = "NSExtension/NSExtensionPointIdentifier"
    guard let value else {
      throw ClusterError(.configuration, "\(file): NSExtension is missing: this is not the Info.plist of an extension")
    }
    guard let point = (value as? [String: Any])?["NSExtensionPointIdentifier"] as? String else {
      throw ClusterError(.configuration, "\(file): \(key) is missing or not a string")
    }
    guard point == widgetExtensionPoint else {
      throw ClusterError(
        .configuration, "\(file): \(key) is \(point), not \(widgetExtensionPoint): not a widget extension")
    }
  }
}

extension ClusterConfiguration.Product {
  /// Reads its `Info.plist`; `nil` when `widgetlab.yaml` does not name one.
  ///
  /// - Throws: `configuration`, with the file and the key.
  package func readInfoPlist() throws(ClusterError) -> InfoPlist? {
    guard let infoPlist else { return nil }
    return try InfoPlist(file: infoPlist, isExtension: isExtension)
  }
}

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
    let ownKeys = [
      "CURRENT_PROJECT_VERSION": product.description.build, "DEVELOPMENT_LANGUAGE": "en",
      "EXECUTABLE_NAME": product.name, "MARKETING_VERSION": product.description.version,
      "PRODUCT_BUNDLE_IDENTIFIER": product.bundle, "PRODUCT_BUNDLE_PACKAGE_TYPE": product.packageType,
      "PRODUCT_MODULE_NAME": product.name, "PRODUCT_NAME": product.name, "TARGET_NAME": product.name,
    ]
    values = ownKeys.merging(product.description.buildSettings) { $1 }
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
    /// Characters that do not occur in the rest, so that it is searched once for each.
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

/// Checks a property list in binary form before Foundation reads it. Foundation ends the process at a set, and needs
/// time exponential in the number of arrays when each contains the next one twice. Source: CFBinaryPList.c.
struct BinaryPropertyList {
  /// Why a list is not read.
  struct Flaw: Error {
    let text: String
  }

  /// The most values, where one that is contained twice counts twice.
  static let values = 10_000
  /// The most arrays and dictionaries within each other.
  static let depth = 64
  private static let trailer = 32

  private let bytes: [UInt8]
  private var offsetLength = 0
  private var referenceLength = 0
  private var table = 0
  private var count = 0
  /// The size and the height of the values that were checked.
  private var measured: [Int: (size: Int, height: Int)] = [:]

  /// Whether the bytes begin as such a list does.
  static func isLikely(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: "bplist".utf8) }

  /// Checks a list.
  static func check(_ bytes: [UInt8]) throws(Flaw) {
    var list = BinaryPropertyList(bytes)
    try list.readTrailer()
  }

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  private mutating func readTrailer() throws(Flaw) {
    let start = bytes.count - Self.trailer
    guard start >= 8 else { throw Flaw(text: "it is cut off") }
    (offsetLength, referenceLength) = (Int(bytes[start + 6]), Int(bytes[start + 7]))
    guard 1...8 ~= offsetLength, 1...8 ~= referenceLength else { throw Flaw(text: "its trailer is damaged") }
    let top = try number(at: start + 16, 8)
    count = try number(at: start + 8, 8)
    table = try number(at: start + 24, 8)
    guard table <= start, count <= (start - table) / offsetLength else { throw Flaw(text: "its trailer is damaged") }
    _ = try measure(top, depth: 0)
  }

  /// The number of values that a value consists of, and how deep they are nested.
  private mutating func measure(_ object: Int, depth: Int) throws(Flaw) -> (size: Int, height: Int) {
    if let known = measured[object] {
      guard depth + known.height <= Self.depth else { throw tooDeep }
      return known
    }
    // A value that contains itself ends here too.
    guard depth <= Self.depth else { throw tooDeep }
    let place = try offset(of: object)
    var (size, height) = (1, 0)
    for child in try children(at: place) {
      let own = try measure(child, depth: depth + 1)
      (size, height) = (size + own.size, max(height, own.height + 1))
      guard size <= Self.values else { throw Flaw(text: "it has more than \(Self.values) values") }
    }
    measured[object] = (size, height)
    return (size, height)
  }

  private var tooDeep: Flaw { Flaw(text: "its values are nested deeper than \(Self.depth) levels") }

  /// The objects that an array or a dictionary contains.
  private func children(at place: Int) throws(Flaw) -> [Int] {
    let kind = bytes[place] >> 4
    switch (kind, bytes[place]) {
    case (0x0, 0x08), (0x0, 0x09), (0x1, 0x10...0x14), (0x2, 0x22...0x23), (0x3, 0x33), (0x4...0x6, _): return []
    case (0xA, _), (0xD, _): break
    default: throw Flaw(text: "it has a value that is not of an Info.plist")
    }
    var (count, start) = (Int(bytes[place] & 0xF), place + 1)
    if count == 0xF {
      guard start < bytes.count, bytes[start] & 0xF0 == 0x10, bytes[start] & 0xF <= 3 else {
        throw Flaw(text: "a length is damaged")
      }
      let length = 1 << Int(bytes[start] & 0xF)
      count = try number(at: start + 1, length)
      start += 1 + length
    }
    let isDictionary = kind == 0xD
    guard count <= (bytes.count - start) / referenceLength / (isDictionary ? 2 : 1) else {
      throw Flaw(text: "a length is damaged")
    }
    var children: [Int] = []
    for index in 0..<count * (isDictionary ? 2 : 1) {
      let child = try number(at: start + index * referenceLength, referenceLength)
      children.append(child)
      guard isDictionary, index < count else { continue }
      guard 0x5...0x6 ~= bytes[try offset(of: child)] >> 4 else { throw Flaw(text: "a key is not a text") }
    }
    return children
  }

  private func offset(of object: Int) throws(Flaw) -> Int {
    guard object < count else { throw Flaw(text: "it refers to a value that it does not have") }
    let place = try number(at: table + object * offsetLength, offsetLength)
    guard place < table else { throw Flaw(text: "it refers to a value that it does not have") }
    return place
  }

  private func number(at place: Int, _ length: Int) throws(Flaw) -> Int {
    guard place >= 0, place <= bytes.count - length else { throw Flaw(text: "it is cut off") }
    var value: UInt64 = 0
    for byte in bytes[place..<place + length] { value = value << 8 | UInt64(byte) }
    guard value <= UInt32.max else { throw Flaw(text: "a length is damaged") }
    return Int(value)
  }
}
