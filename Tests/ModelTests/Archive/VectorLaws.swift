// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Archive

/// The laws that hold for any bytes of an SVG document. The tests check the corpus against them, and `scripts/fuzz` a
/// million more inputs.
enum VectorLaws {
  /// The law that the bytes break, or `nil`. The fuzzer finds traps.
  static func broken(by bytes: [UInt8]) -> String? {
    let data = Data(bytes)
    let isWhole = isWellFormed(data)
    if let file = try? VectorFile(checking: data) {
      guard isWhole else { return "a document that is not read to its end has a size" }
      guard 0 < file.width, file.width <= 10_000, 0 < file.height, file.height <= 10_000 else {
        return "a size is \(file.width) × \(file.height)"
      }
    }
    guard let symbol = try? SymbolTemplate(data) else { return nil }
    guard isWhole else { return "a document that is not read to its end is a symbol" }
    for (scale, lines) in symbol.lines where !(lines.capHeight > 0) || !lines.capHeight.isFinite {
      return "the capital letters of \(scale) have no height"
    }
    for variant in symbol.variants {
      guard let width = symbol.width(of: variant), width > 0, width.isFinite else {
        return "\(variant.id) has no width"
      }
    }
    return nil
  }

  /// The tags are balanced, and their text is within the document.
  private static func isWellFormed(_ data: Data) -> Bool {
    guard var scanner = try? XMLScanner(data) else { return false }
    var depth = 0
    do throws(XMLFault) {
      while let token = try scanner.next() {
        switch token {
        case .start(let tag):
          depth += 1
          for attribute in tag.attributes { _ = scanner.text(attribute.value) }
        case .end: depth -= 1
        case .characters(let range): _ = scanner.text(range)
        }
      }
    } catch {
      return false
    }
    return depth == 0
  }
}
