// SPDX-License-Identifier: Apache-2.0

/// The lines of a text for a width and a height. A text without characters has no size.
struct FittedText {
  /// A line before it is aligned.
  struct Line {
    var pieces: [TextPieces.Piece]
    /// Without the spaces at the end.
    var width: Double
  }

  let pieces: TextPieces
  private(set) var lines: [Line] = []
  /// From the top edge, one for each line.
  private(set) var baselines: [Double] = []
  private(set) var width = 0.0
  private(set) var height = 0.0
  private(set) var isTruncated = false

  /// - Parameters:
  ///   - width: the proposal in points; `nil`: lines end only where the text has a new line.
  ///   - height: the proposal in points; `nil`: any number of lines.
  init(_ pieces: TextPieces, width limit: Double?, height most: Double?, lines rules: ViewStyle.Lines) {
    self.pieces = pieces
    if pieces.pieces.isEmpty { return }
    let tallest = pieces.tallest
    var room = rules.limit ?? .max
    if let most, most.isFinite {
      let fitting = (most + rules.spacing + 0.01) / (max(tallest.height, 0.01) + rules.spacing)
      room = min(room, Int(fitting.rounded(.down).clamped(1, 1_000_000)))
    }
    fill((limit ?? .infinity) + 0.01, room: room, rules.truncation)
    place(spacing: rules.spacing, reserved: rules.reserved, tallest)
  }

  /// Fills the lines with pieces, as many on each as fit.
  private mutating func fill(_ limit: Double, room: Int, _ truncation: String) {
    var rest = pieces.pieces[...]
    repeat {
      var line: [TextPieces.Piece] = []
      var width = 0.0
      var isParagraph = false
      while let piece = rest.first {
        if piece.isNewLine {
          rest.removeFirst()
          isParagraph = true
          break
        }
        if width + piece.visibleWidth <= limit {
          line.append(piece)
          width += piece.width
          rest.removeFirst()
          continue
        }
        guard line.isEmpty else { break }
        // A word that is longer than the line is broken within.
        let (head, tail) = pieces.split(piece, at: limit)
        line.append(head)
        if let tail { rest[rest.startIndex] = tail } else { rest.removeFirst() }
        break
      }
      if lines.count == room - 1, !rest.isEmpty {
        isTruncated = true
        return append(pieces.truncated(isParagraph ? line : line + rest, to: limit, truncation))
      }
      append(line)
    } while !rest.isEmpty
  }

  private mutating func append(_ pieces: [TextPieces.Piece]) {
    let width = pieces.dropLast().reduce(0) { $0 + $1.width } + (pieces.last?.visibleWidth ?? 0)
    lines.append(Line(pieces: pieces, width: width))
  }

  private mutating func place(spacing: Double, reserved: Int, _ usual: LineMetrics) {
    var top = 0.0
    for line in lines {
      var (ascent, descent) = (usual.ascent, usual.descent)
      if pieces.metrics.count > 1, let first = line.pieces.first {
        (ascent, descent) = (pieces.metrics[first.run].ascent, pieces.metrics[first.run].descent)
        for piece in line.pieces.dropFirst() {
          ascent = max(ascent, pieces.metrics[piece.run].ascent)
          descent = max(descent, pieces.metrics[piece.run].descent)
        }
      }
      baselines.append(top + ascent)
      top += ascent + descent + spacing
      width = max(width, line.width)
    }
    let missing = Double(max(0, reserved - lines.count))
    height = top - spacing + missing * (usual.height + spacing)
  }
}
