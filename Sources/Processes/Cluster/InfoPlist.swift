import Foundation

/// What WidgetLab reads of an extension's `Info.plist`. The author's file stays as it is.
package struct InfoPlist: Sendable, Hashable {
  /// What makes an extension one of WidgetKit's. Source: the `Info.plist` of Xcode's widget extension template.
  package static let widgetExtensionPoint = "com.apple.widgetkit-extension"

  /// `NSWidgetWantsLocation`: its widgets know where the device is.
  package let wantsLocation: Bool

  /// Reads a property list in XML or in binary form.
  ///
  /// - Throws: `configuration`, with the file and the key, when it is none, or not that of a widget extension.
  package init(file: String) throws(ClusterError) {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw ClusterError(.configuration, "\(file) cannot be read")
    }
    let list: Any
    do {
      list = try PropertyListSerialization.propertyList(from: data, format: nil)
    } catch {
      throw ClusterError(.configuration, "\(file) is no property list, neither XML nor binary")
    }
    guard let keys = list as? [String: Any] else {
      throw ClusterError(.configuration, "\(file) is a property list, but no dictionary of keys")
    }
    try InfoPlist.check(keys["NSExtension"], file)
    let wants = keys["NSWidgetWantsLocation"]
    guard wants == nil || wants is Bool else {
      throw ClusterError(.configuration, "\(file): NSWidgetWantsLocation: true or false is expected")
    }
    wantsLocation = wants as? Bool ?? false
  }

  private static func check(_ value: Any?, _ file: String) throws(ClusterError) {
    let key = "NSExtension/NSExtensionPointIdentifier"
    guard let value else {
      throw ClusterError(.configuration, "\(file): NSExtension is missing: this is no extension's Info.plist")
    }
    guard let point = (value as? [String: Any])?["NSExtensionPointIdentifier"] as? String else {
      throw ClusterError(.configuration, "\(file): \(key) is missing, or no text")
    }
    guard point == widgetExtensionPoint else {
      throw ClusterError(
        .configuration, "\(file): \(key) is \(point), so this is no widget extension; one has \(widgetExtensionPoint)")
    }
  }
}

extension ClusterConfiguration.Product {
  /// What its `Info.plist` says; `nil` where `widgetlab.yaml` names none.
  ///
  /// - Throws: `configuration`, with the file and the key.
  package func readInfoPlist() throws(ClusterError) -> InfoPlist? {
    guard let infoPlist else { return nil }
    return try InfoPlist(file: infoPlist)
  }
}
