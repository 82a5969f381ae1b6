// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Why a file is no XML document that is read. Definite.
package struct XMLFault: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// Reads the tags of an XML document in order. It keeps no tree: time and memory depend on the length of the
/// document only. Nothing outside of the document is read, and a document that declares entities is refused. Source:
/// Extensible Markup Language 1.0, fifth edition.
package struct XMLScanner {
  /// The longest document, in bytes.
  package static let longest = 1 << 20
  /// The most elements within each other.
  package static let depth = 64
  /// The most elements.
  package static let elements = 10_000
  /// The most attributes of an element.
  private static let attributes = 100

  /// A start tag.
  package struct Tag {
    /// Without the prefix `svg:`.
    package var name: String
    /// Names without the prefix `xlink:`; values as they are in the document.
    package var attributes: [(name: String, value: Range<Int>)] = []
  }

  package enum Token {
    case start(Tag)
    case end
    /// Characters between tags, as they are in the document.
    case characters(Range<Int>)
  }

  private let bytes: [UInt8]
  private var index = 0
  private var open: [String] = []
  private var count = 0
  /// Whether the next token is the end of an element that has no content.
  private var endsEmpty = false

  /// - Throws: `XMLFault` for a document that is too long or not in UTF-8.
  package init(_ data: Data) throws(XMLFault) {
    guard data.count <= Self.longest else { throw XMLFault(description: "it is longer than \(Self.longest) bytes") }
    bytes = Array(data)
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) || bytes.prefix(100).contains(0) {
      throw XMLFault(description: "it is not in UTF-8")
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
  }

  /// The next tag or text; `nil` at the end.
  ///
  /// - Throws: `XMLFault` where the document is not well-formed, or larger than the limits.
  package mutating func next() throws(XMLFault) -> Token? {
    if endsEmpty {
      endsEmpty = false
      open.removeLast()
      return .end
    }
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "<") else {
        let end = find(UInt8(ascii: "<"), from: index) ?? bytes.count
        let text = index..<end
        index = end
        if open.isEmpty || text.allSatisfy({ bytes[$0].isSpace }) { continue }
        return .characters(text)
      }
      if starts(with: "<!--") {
        try skip(to: "-->")
      } else if starts(with: "<![CDATA[") {
        let first = index + 9
        try skip(to: "]]>")
        if !open.isEmpty { return .characters(first..<index - 3) }
      } else if starts(with: "<?") {
        try skip(to: "?>")
      } else if starts(with: "<!") {
        try skipDeclaration()
      } else {
        return starts(with: "</") ? try endTag() : try startTag()
      }
    }
    guard open.isEmpty else { throw XMLFault(description: "it is cut off") }
    guard count > 0 else { throw XMLFault(description: "it has no element") }
    return nil
  }

  /// Characters of the document, with references to characters replaced.
  package func text(_ range: Range<Int>) -> String {
    let text = String(decoding: bytes[range], as: UTF8.self)
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    var result = ""
    var rest = text[...]
    while let mark = rest.firstIndex(of: "&") {
      result += rest[..<mark]
      rest = rest[mark...]
      guard let end = rest.prefix(12).firstIndex(of: ";"),
        let character = Self.character(rest[rest.index(after: mark)..<end])
      else {
        result += "&"
        rest = rest.dropFirst()
        continue
      }
      result.unicodeScalars.append(character)
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func character(_ name: Substring) -> Unicode.Scalar? {
    switch name {
    case "amp": "&"
    case "lt": "<"
    case "gt": ">"
    case "quot": "\""
    case "apos": "'"
    case _ where name.hasPrefix("#x"): UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
    case _ where name.hasPrefix("#"): UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init)
    default: nil
    }
  }

  // MARK: Tags

  private mutating func startTag() throws(XMLFault) -> Token {
    index += 1
    var tag = Tag(name: Self.name(try name(), without: "svg:"))
    while true {
      skipSpace()
      guard index < bytes.count else { throw XMLFault(description: "it is cut off") }
      if bytes[index] == UInt8(ascii: ">") {
        index += 1
        break
      }
      if starts(with: "/>") {
        index += 2
        endsEmpty = true
        break
      }
      guard tag.attributes.count < Self.attributes else {
        throw XMLFault(description: "an element has more than \(Self.attributes) attributes")
      }
      let name = Self.name(try name(), without: "xlink:")
      skipSpace()
      guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { throw fault("= is expected") }
      index += 1
      skipSpace()
      guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'") else {
        throw fault("a quotation mark is expected")
      }
      guard let end = find(bytes[index], from: index + 1) else { throw XMLFault(description: "it is cut off") }
      tag.attributes.append((name, index + 1..<end))
      index = end + 1
    }
    if open.isEmpty, count > 0 { throw fault("it has a second root element") }
    count += 1
    guard count <= Self.elements else { throw XMLFault(description: "it has more than \(Self.elements) elements") }
    open.append(tag.name)
    guard open.count <= Self.depth else {
      throw XMLFault(description: "its elements are nested deeper than \(Self.depth) levels")
    }
    return .start(tag)
  }

  private mutating func endTag() throws(XMLFault) -> Token {
    index += 2
    let name = Self.name(try name(), without: "svg:")
    skipSpace()
    guard index < bytes.count else { throw XMLFault(description: "it is cut off") }
    guard open.last == name, bytes[index] == UInt8(ascii: ">") else {
      throw fault("</\(name.prefix(20))> ends no open element")
    }
    index += 1
    open.removeLast()
    return .end
  }

  /// A document type without own declarations is skipped: what it names is never read.
  private mutating func skipDeclaration() throws(XMLFault) {
    guard starts(with: "<!DOCTYPE"), count == 0 else { throw fault("a declaration is not read") }
    guard let end = find(UInt8(ascii: ">"), from: index) else { throw XMLFault(description: "it is cut off") }
    guard !bytes[index..<end].contains(UInt8(ascii: "[")) else {
      throw XMLFault(description: "it declares entities, which are not read")
    }
    index = end + 1
  }

  // MARK: Characters

  private func fault(_ reason: String) -> XMLFault { XMLFault(description: "\(reason) at byte \(index)") }

  private static func name(_ name: String, without prefix: String) -> String {
    name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }

  private mutating func name() throws(XMLFault) -> String {
    let first = index
    while index < bytes.count, bytes[index].isNamePart { index += 1 }
    guard index > first, index - first <= 100 else { throw fault("a name is expected") }
    return String(decoding: bytes[first..<index], as: UTF8.self)
  }

  private mutating func skipSpace() {
    while index < bytes.count, bytes[index].isSpace { index += 1 }
  }

  private func starts(with text: StaticString) -> Bool {
    has(text, at: index)
  }

  private func has(_ text: StaticString, at start: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    guard start + count <= bytes.count else { return false }
    for offset in 0..<count where bytes[start + offset] != text.utf8Start[offset] { return false }
    return true
  }

  private func find(_ byte: UInt8, from start: Int) -> Int? {
    bytes.withUnsafeBytes { all in
      guard start < all.count, let base = all.baseAddress,
        let found = memchr(base.advanced(by: start), Int32(byte), all.count - start)
      else { return nil }
      return base.distance(to: UnsafeRawPointer(found))
    }
  }

  /// Goes behind the next occurrence of a text.
  private mutating func skip(to text: StaticString) throws(XMLFault) {
    let last = text.utf8Start[text.utf8CodeUnitCount - 1]
    var place = index
    while let foundIndex = find(last, from: place) {
      place = foundIndex + 1
      let start = place - text.utf8CodeUnitCount
      guard start > index else { continue }
      if has(text, at: start) {
        index = place
        return
      }
    }
    throw XMLFault(description: "it is cut off")
  }
}

extension UInt8 {
  fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
  /// Whether the byte can be in a name. Bytes of other characters than ASCII count as letters.
  fileprivate var isNamePart: Bool {
    switch self {
    case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }
}
