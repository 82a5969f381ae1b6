// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The values of user defaults as Foundation passes them, and as they are in the log.
enum DefaultsObject {
  /// A binary property list; `nil` when the object is none.
  static func propertyList(_ object: AnyObject) -> [UInt8]? {
    if let data = try? PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0) {
      return Array(data)
    }
    guard let plain = plain(object) else { return nil }
    return (try? PropertyListSerialization.data(fromPropertyList: plain, format: .binary, options: 0)).map(Array.init)
  }

  /// The object of a binary property list.
  static func object(_ bytes: [UInt8]) -> AnyObject? {
    guard let value = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil) else { return nil }
    // Without these calls the linker drops the conformances from a static executable.
    if let array = value as? [Any] { return array._bridgeToObjectiveC() }
    if let dictionary = value as? [String: Any] { return dictionary._bridgeToObjectiveC() }
    return value as AnyObject
  }

  /// The value without the types that UserDefaults permits and property lists on Linux do not have; `nil` if it has
  /// others.
  private static func plain(_ value: Any) -> AnyObject? {
    switch value {
    case let value as CGFloat: return NSNumber(value: Double(value))
    case let values as [Any]:
      let found = values.compactMap { plain($0) }
      return found.count == values.count ? (found as [Any])._bridgeToObjectiveC() : nil
    case let values as [String: Any]:
      let found = values.compactMapValues { plain($0) }
      return found.count == values.count ? (found as [String: Any])._bridgeToObjectiveC() : nil
    case is String, is Date, is Data, is NSNumber: return value as AnyObject
    default: return nil
    }
  }
}
