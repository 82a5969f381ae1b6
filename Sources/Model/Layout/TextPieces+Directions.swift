// SPDX-License-Identifier: Apache-2.0

extension TextPieces {
  /// The parts of a line in the order of the text, with their places from the left edge of the line. Source: Unicode
  /// Standard Annex 9, rules L1 and L2.
  func fragments(_ line: FittedText.Line, _ directions: TextDirections) -> [PlacedText.Fragment] {
    let start = line.pieces.lazy.compactMap(\.offset).first ?? 0
    let usual = directions.paragraphLevel(at: start)
    // Spaces at the end of the line are not drawn.
    var pieces = line.pieces
    while let last = pieces.last, last.text.allSatisfy({ $0 == " " }), text.runs[last.run].image == nil {
      pieces.removeLast()
    }
    var fragments: [PlacedText.Fragment] = []
    var levels: [Int] = []
    var run = -1
    for (index, piece) in pieces.enumerated() {
      let isLast = index == pieces.count - 1
      for part in parts(piece, directions, usual, isLast: isLast) {
        if piece.run == run, levels.last == part.level, let last = fragments.indices.last {
          fragments[last].text += part.text
          fragments[last].width += part.width
        } else {
          run = piece.run
          levels.append(part.level)
          var fragment = fragment(part.text, run: run, x: 0, part.width)
          fragment.isRightToLeft = part.level % 2 == 1
          fragments.append(fragment)
        }
      }
    }
    var x = 0.0
    for index in TextDirections.visualOrder(levels) {
      fragments[index].x = x
      x += fragments[index].width
    }
    return fragments
  }

  /// The parts of a piece with one level each.
  ///
  /// - Parameters:
  ///   - usual: the level of the paragraph.
  ///   - isLast: without the spaces at the end of the line.
  private func parts(
    _ piece: Piece, _ directions: TextDirections, _ usual: Int, isLast: Bool
  ) -> [(text: Substring, level: Int, width: Double)] {
    let visible = isLast ? piece.text.trimmingSpaces : piece.text
    let width = isLast ? piece.visibleWidth : piece.width
    guard let offset = piece.offset else { return [(visible, usual, width)] }
    // An image is one character of three bytes.
    let length = text.runs[piece.run].image == nil ? visible.utf8.count : 3
    let found = directions.parts(in: offset..<(offset + length))
    guard found.count > 1 else { return [(visible, found.first?.level ?? usual, width)] }
    return found.map { range, level in
      let first = visible.utf8.index(visible.startIndex, offsetBy: range.lowerBound - offset)
      let end = visible.utf8.index(first, offsetBy: range.count)
      let text = visible[first..<end]
      return (text, level, measure.width(of: text, in: fonts[piece.run]))
    }
  }
}
