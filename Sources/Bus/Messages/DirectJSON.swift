// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A value that is written and read without `JSONEncoder` and `JSONDecoder`, which take a multiple of the time, most of
/// all in a process that has just been launched. The bytes are the same.
///
/// The properties are written and read in the order of the bytes of their names.
package protocol DirectJSON: Codable {
  func write(to json: inout JSONWriter)
  init(reading json: inout JSONReader) throws(JSONReader.Unusual)
}

extension String: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.string() }
}

extension Bool: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(boolean: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.boolean() }
}

extension DirectJSON where Self: FixedWidthInteger {
  package func write(to json: inout JSONWriter) { json.write(integer: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.integer() }
}

extension Int: DirectJSON {}
extension Int32: DirectJSON {}
extension Int64: DirectJSON {}
extension UInt32: DirectJSON {}

extension DirectJSON where Self: BinaryFloatingPoint & LosslessStringConvertible {
  package func write(to json: inout JSONWriter) { json.write(number: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.number() }
}

extension Double: DirectJSON {}
extension Float: DirectJSON {}

extension Array: DirectJSON where Element: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(elements: self) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) { self = try json.elements() }
}

/// Seconds since 1970.
extension Date: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(number: timeIntervalSince1970) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self.init(timeIntervalSince1970: try json.number())
  }
}

/// Base64.
extension Data: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: base64EncodedString()) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self = try Data(base64Encoded: json.string()).usual()
  }
}

extension UUID: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: upperCaseText) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self = try UUID(uuidString: json.string()).usual()
  }
}

/// An enumeration of strings needs only the conformance.
extension DirectJSON where Self: RawRepresentable, RawValue == String {
  package func write(to json: inout JSONWriter) { json.write(string: rawValue) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self = try Self(rawValue: json.string()).usual()
  }
}

extension Address: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: text) }
  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    self = try Address(json.string()).usual()
  }
}

extension Optional {
  /// The value. `JSONDecoder` reports why it is missing.
  fileprivate func usual() throws(JSONReader.Unusual) -> Wrapped {
    guard let self else { throw JSONReader.Unusual() }
    return self
  }
}
