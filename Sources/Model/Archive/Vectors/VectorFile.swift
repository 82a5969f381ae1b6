// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// What the root element of an SVG document says about it. The document is read to its end, so that a file that is cut
/// off is known; nothing is drawn. Source: Scalable Vector Graphics 1.1, chapter 7.
package struct VectorFile: Hashable, Sendable {
  /// In points. A pixel of CSS is a point.
  package let width: Double
  package let height: Double

  /// The longest side, in points.
  private static let longest = 10_000.0

  /// Whether the bytes seem to be an SVG document.
  package static func isLikely(_ data: Data) -> Bool {
    // Behind a byte order mark and spaces.
    let start = data.prefix(100).drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return start.first == UInt8(ascii: "<")
  }

  /// Reads the whole document.
  ///
  /// - Throws: `ImageFault`.
  package init(checking data: Data) throws(ImageFault) {
    do throws(XMLFault) {
      var scanner = try XMLScanner(data)
      var size: (width: Double, height: Double)?
      while let token = try scanner.next() {
        guard size == nil, case .start(let root) = token else { continue }
        guard root.name == "svg" else { throw XMLFault(description: "its root element is not svg") }
        size = try Self.size(of: root, scanner)
      }
      guard let size else { throw XMLFault(description: "it has no size") }
      (width, height) = size
    } catch {
      throw .vector(error.description)
    }
  }

  /// The lengths of the root element, or else those of its view box.
  private static func size(
    of root: XMLScanner.Tag, _ scanner: XMLScanner
  ) throws(XMLFault) -> (width: Double, height: Double) {
    func text(_ name: String) -> String? {
      root.attributes.first { $0.name == name }.map { scanner.text($0.value) }
    }
    let box = text("viewBox").flatMap { VectorNumbers.list($0) }.flatMap { $0.count == 4 ? $0 : nil }
    let width = text("width").flatMap { VectorNumbers.length($0, of: box?[2]) }
    let height = text("height").flatMap { VectorNumbers.length($0, of: box?[3]) }
    let size: (Double, Double)
    switch (width, height, box) {
    case (let width?, let height?, _): size = (width, height)
    // One length keeps the ratio of the view box.
    case (let width?, nil, let box?): size = (width, box[2] > 0 ? width * box[3] / box[2] : 0)
    case (nil, let height?, let box?): size = (box[3] > 0 ? height * box[2] / box[3] : 0, height)
    case (nil, nil, let box?): size = (box[2], box[3])
    default: throw XMLFault(description: "it has no size")
    }
    guard size.0 > 0, size.1 > 0, size.0 <= longest, size.1 <= longest else {
      throw XMLFault(description: "its size is not between 0 and \(Int(longest)) points")
    }
    return size
  }
}
