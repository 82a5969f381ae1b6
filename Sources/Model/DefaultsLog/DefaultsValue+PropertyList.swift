// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

extension DefaultsValue {
  /// Reads a binary property list; `nil` when it is none.
  package init?(propertyList bytes: [UInt8]) {
    guard let list = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil),
      let value = DefaultsValue(list)
    else { return nil }
    self = value
  }

  private init?(_ value: Any) {
    // Foundation decodes true and false as Bool, and all other numbers as NSNumber.
    if type(of: value) == Bool.self, let value = value as? Bool {
      self = .bool(value)
      return
    }
    switch value {
    case let value as NSNumber where ["f", "d"].contains(String(cString: value.objCType)):
      self = .real(value.doubleValue)
    case let value as NSNumber: self = .integer(value.int64Value)
    case let value as String: self = .string(value)
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as [Any]: self = .array(value.compactMap { DefaultsValue($0) })
    case let value as [String: Any]: self = .dictionary(value.compactMapValues { DefaultsValue($0) })
    default: return nil
    }
  }

  /// The value as a binary property list.
  ///
  /// - Throws: an error of `PropertyListSerialization`.
  package func propertyList() throws -> [UInt8] {
    Array(try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0))
  }

  private var object: Any {
    switch self {
    case .string(let value): NSString(string: value)
    case .integer(let value): NSNumber(value: value)
    case .real(let value): NSNumber(value: value)
    case .bool(let value): NSNumber(value: value)
    case .date(let value): NSDate(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
    case .data(let value): NSData(data: value)
    case .array(let values): values.map(\.object)._bridgeToObjectiveC()
    case .dictionary(let values): values.mapValues(\.object)._bridgeToObjectiveC()
    }
  }
}
