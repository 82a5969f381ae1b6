// SPDX-License-Identifier: Apache-2.0

import Foundation

// Operators that Foundation declares here, and not on Apple's systems. A function of a file competes with a member of a
// type, and the compiler finds its use ambiguous. As a member, it comes before one of another module.

extension ConditionalSource {
  /// What makes a file's own order of numbers, `func < (_: NSNumber, _: NSNumber)`, a member of `NSNumber`, by place.
  ///
  /// Source: `NSNumber` is `Comparable` in Foundation for Linux. https://github.com/SwiftyJSON/SwiftyJSON/issues/1038
  var orderOfNumbersAsMember: [Range<Int>: String] {
    let code = String(decoding: text.code, as: UTF8.self)
    let declaration =
      /((?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?)(func\s*<)\s*\(\s*(?:_\s+)?\w+\s*:\s*NSNumber\s*,\s*(?:_\s+)?\w+\s*:\s*NSNumber\s*\)\s*->\s*Bool\s*\{/
    var result: [Range<Int>: String] = [:]
    for match in code.matches(of: declaration) {
      let start = code.utf8.distance(from: code.startIndex, to: match.range.lowerBound)
      let keyword = code.utf8.distance(from: code.startIndex, to: match.output.2.startIndex)
      let brace = code.utf8.distance(from: code.startIndex, to: match.range.upperBound)
      guard depth(at: start) == 0, let end = end(ofBlock: brace) else { continue }
      // A private member would not be visible in the rest of the file.
      let modifiers = match.output.1.replacing("private", with: "fileprivate").replacing("filefile", with: "file")
      result[start..<keyword] = "extension NSNumber { \(modifiers)static "
      result[end..<end] = " }"
    }
    return result
  }

  /// The number of blocks around a place.
  private func depth(at place: Int) -> Int {
    text.code[..<place].reduce(0) { $0 + Self.step($1) }
  }

  /// The place after the brace that closes a block.
  ///
  /// - Parameter start: after the brace that opens it.
  private func end(ofBlock start: Int) -> Int? {
    var depth = 1
    for index in start..<text.code.count {
      depth += Self.step(text.code[index])
      if depth == 0 { return index + 1 }
    }
    return nil
  }

  private static func step(_ byte: UInt8) -> Int {
    byte == UInt8(ascii: "{") ? 1 : byte == UInt8(ascii: "}") ? -1 : 0
  }
}
