// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The values of user defaults as Foundation passes them, and as they stand in the log.
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

  /// The value without the types that UserDefaults permits and property lists on Linux do not have.
  private static func plain(_ value: Any) -> AnyObject? {
    switch value {
    case let value as CGFloat: NSNumber(value: Double(value))
    case let values as [Any]:
      values.map { plain($0) }.reduce([] as [Any]?) { found, value in value.flatMap { value in found.map { $0 + [value] } } }?
        ._bridgeToObjectiveC()
    case let values as [String: Any]: values.compactMapValues { plain($0) as Any? }._bridgeToObjectiveC()
    case is String, is Date, is Data, is NSNumber: value as AnyObject
    default: nil
    }
  }
}
