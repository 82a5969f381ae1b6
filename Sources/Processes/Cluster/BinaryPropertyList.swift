// SPDX-License-Identifier: Apache-2.0

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
