// SPDX-License-Identifier: Apache-2.0

/// The measured segments of a text, at one scale of its fonts.
struct TextPieces {
  struct Piece {
    var text: Substring
    /// The index of the run that contains it.
    var run: Int
    /// The place in the UTF-8 of the whole text; `nil` for an ellipsis.
    var offset: Int?
    /// With the spaces at the end, in points.
    var width: Double
    /// Without them.
    var visibleWidth: Double
    /// Whether a line may end after it.
    var mayEndLine = true
    var isNewLine = false
  }

  private(set) var pieces: [Piece] = []
  /// The fonts of the runs.
  let fonts: [FontDescription]
  /// Of the lines in these fonts.
  let metrics: [LineMetrics]
  /// The factor of all font sizes.
  let scale: Double
  let text: BrokenText
  let measure: any TextMeasure

  init(_ text: BrokenText, scale: Double, _ measure: any TextMeasure) {
    fonts = text.runs.map { $0.style.resolvedFont.scaled(scale) }
    metrics = fonts.map(measure.metrics)
    (self.text, self.scale, self.measure) = (text, scale, measure)
    pieces.reserveCapacity(text.segments.count)
    for segment in text.segments {
      let run = segment.run
      var piece: Piece
      if text.runs[run].image != nil {
        let width = ImageNode.symbolSide(metrics[run], text.runs[run].style.imageScale)
        piece = Piece(text: "", run: run, width: width, visibleWidth: width)
      } else if segment.isNewLine {
        piece = Piece(text: segment.text, run: run, width: 0, visibleWidth: 0, isNewLine: true)
      } else {
        piece = self.piece(segment.text, run: run)
      }
      piece.offset = segment.offset
      piece.mayEndLine = segment.mayEndLine
      pieces.append(piece)
    }
  }

  /// Of the tallest font.
  var tallest: LineMetrics {
    metrics.max { $0.height < $1.height } ?? LineMetrics(ascent: 0, descent: 0, leading: 0, capHeight: 0)
  }

  /// - Parameter offset: the place of the text in the UTF-8 of the whole text.
  private func piece(_ text: Substring, run: Int, offset: Int? = nil) -> Piece {
    let width = measure.width(of: text, in: fonts[run])
    let visible = text.trimmingSpaces
    return Piece(
      text: text, run: run, offset: offset, width: width,
      visibleWidth: visible.endIndex == text.endIndex ? width : measure.width(of: visible, in: fonts[run]))
  }

  /// The same piece with another end, or with another start.
  private func part(_ text: Substring, of piece: Piece) -> Piece {
    let skipped = piece.text.utf8.distance(from: piece.text.startIndex, to: text.startIndex)
    var part = self.piece(text, run: piece.run, offset: piece.offset.map { $0 + skipped })
    part.mayEndLine = piece.mayEndLine
    return part
  }

  /// Splits a piece where it exceeds a width.
  ///
  /// - Parameter isForced: the head has at least one character.
  /// - Returns: `nil` if no character fits.
  func split(_ piece: Piece, at limit: Double, isForced: Bool) -> (head: Piece, tail: Piece?)? {
    let text = piece.text
    guard !text.isEmpty, text.index(after: text.startIndex) < text.endIndex else {
      return isForced || piece.visibleWidth <= limit ? (piece, nil) : nil
    }
    if limit < 0.1 {
      if !isForced { return nil }
      // Each stack asks each text for its least width: a line for each character, whose rest is not measured.
      let (first, rest) = (text.prefix(1), text.dropFirst())
      let isLast = rest.index(after: rest.startIndex) == rest.endIndex
      let tail = Piece(
        text: rest, run: piece.run, offset: piece.offset.map { $0 + first.utf8.count }, width: .infinity,
        visibleWidth: .infinity, mayEndLine: piece.mayEndLine)
      return (part(first, of: piece), isLast ? part(rest, of: piece) : tail)
    }
    let ends = Array(text.indices.dropFirst()) + [text.endIndex]
    func fits(_ index: Int) -> Bool { measure.width(of: text[..<ends[index]], in: fonts[piece.run]) <= limit }
    // The widths of prefixes ascend.
    var (fitting, tooLong) = (0, ends.count - 1)
    while fitting < tooLong {
      let middle = (fitting + tooLong + 1) / 2
      if fits(middle) { fitting = middle } else { tooLong = middle - 1 }
    }
    if fitting == 0, !isForced, !fits(0) { return nil }
    if ends[fitting] == text.endIndex { return (piece, nil) }
    return (part(text[..<ends[fitting]], of: piece), part(text[ends[fitting]...], of: piece))
  }

  /// The line of a text that does not fit, with an ellipsis at its end, at its start or in its middle.
  func truncated(_ pieces: [Piece], to limit: Double, _ mode: String) -> [Piece] {
    let pieces = pieces.prefix { !$0.isNewLine }
    guard let model = (mode == "head" ? pieces.last : pieces.first) else { return [] }
    let ellipsis = piece("…", run: model.run)
    // The text that is kept at the start, and at the end.
    let left = limit - ellipsis.width
    let head = mode == "head" ? [] : kept(pieces, mode == "middle" ? left / 2 : left, fromEnd: false)
    let tail = mode == "tail" ? [] : kept(pieces, left - head.reduce(0) { $0 + $1.width }, fromEnd: true)
    return head + [ellipsis] + tail
  }

  /// The pieces, and the part of a piece, that fit a width at the start or at the end.
  private func kept(_ pieces: ArraySlice<Piece>, _ limit: Double, fromEnd: Bool) -> [Piece] {
    var (kept, rest) = ([Piece](), limit)
    for piece in fromEnd ? pieces.reversed() : Array(pieces) {
      if piece.width <= rest {
        kept.append(piece)
        rest -= piece.width
        continue
      }
      var text = piece.text
      while !text.isEmpty, measure.width(of: text, in: fonts[piece.run]) > rest {
        if fromEnd { text.removeFirst() } else { text.removeLast() }
      }
      if !text.isEmpty { kept.append(part(text, of: piece)) }
      break
    }
    if fromEnd { return kept.reversed() }
    // No space precedes the ellipsis.
    if let last = kept.last, text.runs[last.run].image == nil {
      kept[kept.count - 1] = part(last.text.trimmingSpaces, of: last)
    }
    return kept
  }

  // MARK: Placing

  /// The parts of a line in the order of the text, one for each run and direction.
  func fragments(_ line: FittedText.Line) -> [PlacedText.Fragment] {
    if let directions = text.directions { return fragments(line, directions) }
    var fragments: [PlacedText.Fragment] = []
    var (x, run) = (0.0, -1)
    for (index, piece) in line.pieces.enumerated() {
      let width = index == line.pieces.count - 1 ? piece.visibleWidth : piece.width
      if piece.run == run, let last = fragments.indices.last {
        fragments[last].text += piece.text
        fragments[last].width += width
      } else {
        run = piece.run
        fragments.append(fragment(piece.text, run: run, x: x, width))
      }
      x += width
    }
    return fragments
  }

  func fragment(_ text: Substring, run: Int, x: Double, _ width: Double) -> PlacedText.Fragment {
    PlacedText.Fragment(
      text: String(text), font: fonts[run], style: self.text.runs[run].style, image: self.text.runs[run].image, x: x,
      width: width)
  }
}
