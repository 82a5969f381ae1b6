// SPDX-License-Identifier: Apache-2.0

package import Archive

/// Where marks at the same place start and end along the axis of their lengths.
package enum ChartStacking {
  /// The length of one mark, and the others that it is stacked with.
  package struct Piece: Hashable, Sendable {
    /// The marks of one stack have the same.
    package var stack: Stack
    package var length: Double
    /// By the name of Apple's method: `standard`, `normalized`, `center` or `unstacked`.
    package var method: String

    package init(stack: Stack, length: Double, method: String = "standard") {
      self.stack = stack
      self.length = length
      self.method = method
    }
  }

  /// What the marks of one stack have in common.
  package struct Stack: Hashable, Sendable {
    package var kind: MarkView
    package var place: ChartValue?
    package var category: String?

    package init(kind: MarkView, place: ChartValue?, category: String? = nil) {
      self.kind = kind
      self.place = place
      self.category = category
    }
  }

  /// The start and the end of each piece, in the same order. Negative lengths are stacked below zero.
  package static func extents(of pieces: [Piece]) -> [ClosedExtent] {
    var (above, below, totals): ([Stack: Double], [Stack: Double], [Stack: Double]) = ([:], [:], [:])
    for piece in pieces where piece.method != "unstacked" { totals[piece.stack, default: 0] += abs(piece.length) }
    return pieces.map { piece in
      guard piece.method != "unstacked" else { return ClosedExtent(start: 0, end: piece.length) }
      let total = totals[piece.stack] ?? 0
      var length = piece.length
      if piece.method == "normalized" { length = total > 0 ? length / total : 0 }
      if piece.method == "center" {
        let start = above[piece.stack] ?? -total / 2
        above[piece.stack] = start + abs(length)
        return ClosedExtent(start: start, end: start + abs(length))
      }
      let start = (length < 0 ? below[piece.stack] : above[piece.stack]) ?? 0
      if length < 0 { below[piece.stack] = start + length } else { above[piece.stack] = start + length }
      return ClosedExtent(start: start, end: start + length)
    }
  }
}

/// A start and an end on an axis; the end may be the smaller one.
package struct ClosedExtent: Hashable, Sendable {
  package var start: Double
  package var end: Double

  package init(start: Double, end: Double) {
    self.start = start
    self.end = end
  }
}
