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
