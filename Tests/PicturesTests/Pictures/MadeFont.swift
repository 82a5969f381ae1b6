// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A font file that a test makes: each character is a rectangle with its own width. The em has 1,000 units.
struct MadeFont {
  var weight: UInt16 = 400
  /// Whether the font has a table of coloured layers, and no outlines.
  var hasColors = false
  /// The widths of the characters.
  var characters: [Unicode.Scalar: UInt16]

  /// The numbers of the glyphs; 0 is the box.
  func glyph(of character: Unicode.Scalar) -> UInt32 {
    UInt32((sorted.firstIndex { $0.character == character } ?? -1) + 1)
  }

  private var sorted: [(character: Unicode.Scalar, width: UInt16)] {
    characters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The widths of all glyphs.
  private var widths: [UInt16] { [500] + sorted.map(\.width) }

  var data: Data {
    var tables: [(String, [UInt8])] = [
      ("OS/2", os2), ("cmap", cmap), ("glyf", outlines), ("head", head), ("hhea", hhea),
      ("hmtx", widths.flatMap { bytes($0) + bytes(UInt16(0)) }), ("loca", loca),
      ("maxp", bytes(UInt32(0x5000)) + bytes(UInt16(widths.count))),
    ]
    if hasColors { tables.insert(("COLR", Array(repeating: 0, count: 14)), at: 0) }
    var file = bytes(UInt32(0x10000)) + bytes(UInt16(tables.count)) + Array(repeating: 0, count: 6)
    var offset = file.count + 16 * tables.count
    var content: [UInt8] = []
    for (name, table) in tables {
      file += Array(name.utf8) + bytes(UInt32(0)) + bytes(UInt32(offset)) + bytes(UInt32(table.count))
      let padded = table + Array(repeating: 0, count: (4 - table.count % 4) % 4)
      content += padded
      offset += padded.count
    }
    return Data(file + content)
  }

  private func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  private var os2: [UInt8] {
    bytes(UInt16(0)) + bytes(UInt16(500)) + bytes(weight) + Array(repeating: 0, count: 72)
  }

  /// Format 12: one group for each character.
  private var cmap: [UInt8] {
    let groups = sorted.enumerated().flatMap { index, entry in
      bytes(entry.character.value) + bytes(entry.character.value) + bytes(UInt32(index + 1))
    }
    let head = bytes(UInt16(0)) + bytes(UInt16(1)) + bytes(UInt16(3)) + bytes(UInt16(10)) + bytes(UInt32(12))
    let table = bytes(UInt16(12)) + bytes(UInt16(0)) + bytes(UInt32(16 + groups.count)) + bytes(UInt32(0))
    return head + table + bytes(UInt32(sorted.count)) + groups
  }

  /// A rectangle that is 700 units high.
  private func outline(_ width: UInt16) -> [UInt8] {
    if hasColors { return [] }
    let box = bytes(Int16(1)) + [0, 0, 0, 0].flatMap { bytes(Int16($0)) }
    let x = [0, 0, Int16(width), 0].flatMap { bytes($0) }
    let y = [0, 700, 0, -700].flatMap { bytes(Int16($0)) }
    let flags: [UInt8] = [1, 1, 1, 1]
    return box + bytes(UInt16(3)) + bytes(UInt16(0)) + flags + x + y + [0, 0]
  }

  private var outlines: [UInt8] { widths.flatMap(outline) }

  private var loca: [UInt8] {
    var (table, offset) = (bytes(UInt32(0)), 0)
    for width in widths {
      offset += outline(width).count
      table += bytes(UInt32(offset))
    }
    return table
  }

  private var head: [UInt8] {
    bytes(UInt32(0x10000)) + bytes(UInt32(0)) + bytes(UInt32(0)) + bytes(UInt32(0x5F0F_3CF5)) + bytes(UInt16(0))
      + bytes(UInt16(1000)) + Array(repeating: 0, count: 30) + bytes(UInt16(1)) + bytes(UInt16(0))
  }

  private var hhea: [UInt8] {
    bytes(UInt32(0x10000)) + bytes(UInt16(900)) + Array(repeating: 0, count: 28) + bytes(UInt16(widths.count))
  }
}

/// A folder that is removed with the value.
final class FontFolder {
  let url: URL

  init(_ files: [String: Data]) throws {
    url = FileManager.default.temporaryDirectory.appending(path: "fonts-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    for (name, data) in files { try data.write(to: url.appending(path: name)) }
  }

  convenience init(_ fonts: [String: MadeFont]) throws { try self.init(fonts.mapValues(\.data)) }

  deinit { try? FileManager.default.removeItem(at: url) }
}
