// SPDX-License-Identifier: Apache-2.0

import Archive

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
    var (keptPieces, rest) = ([Piece](), limit)
    for piece in fromEnd ? pieces.reversed() : Array(pieces) {
      if piece.width <= rest {
        keptPieces.append(piece)
        rest -= piece.width
        continue
      }
      var text = piece.text
      while !text.isEmpty, measure.width(of: text, in: fonts[piece.run]) > rest {
        if fromEnd { text.removeFirst() } else { text.removeLast() }
      }
      if !text.isEmpty { keptPieces.append(part(text, of: piece)) }
      break
    }
    if fromEnd { return keptPieces.reversed() }
    // No space precedes the ellipsis.
    if let last = keptPieces.last, text.runs[last.run].image == nil {
      keptPieces[keptPieces.count - 1] = part(last.text.trimmingSpaces, of: last)
    }
    return keptPieces
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

  private func fragment(_ text: Substring, run: Int, x: Double, _ width: Double) -> PlacedText.Fragment {
    PlacedText.Fragment(
      text: String(text), font: fonts[run], style: self.text.runs[run].style, image: self.text.runs[run].image, x: x,
      width: width)
  }
}

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
      for part in parts(piece, directions: directions, usual: usual, isLast: isLast) {
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
    _ piece: Piece, directions: TextDirections, usual: Int, isLast: Bool
  ) -> [(text: Substring, level: Int, width: Double)] {
    let visible = isLast ? piece.text.trimmingSpaces : piece.text
    let width = isLast ? piece.visibleWidth : piece.width
    guard let offset = piece.offset else { return [(visible, usual, width)] }
    // An image is one character of three bytes.
    let length = text.runs[piece.run].image == nil ? visible.utf8.count : 3
    let foundParts = directions.parts(in: offset..<(offset + length))
    guard foundParts.count > 1 else { return [(visible, foundParts.first?.level ?? usual, width)] }
    return foundParts.map { range, level in
      let first = visible.utf8.index(visible.startIndex, offsetBy: range.lowerBound - offset)
      let end = visible.utf8.index(first, offsetBy: range.count)
      let text = visible[first..<end]
      return (text, level, measure.width(of: text, in: fonts[piece.run]))
    }
  }
}

/// A part of a text with one style.
struct TextRun {
  var text: String
  var style: ViewStyle
  /// The arguments of an image within the text.
  var image: ArchivedArguments?
}

/// A text in segments: words with the spaces after them, single ideographs, images, and parts of very long words. It does
/// not depend on the fonts.
struct BrokenText {
  struct Segment {
    var text: Substring
    /// The index of the run that contains it.
    var run: Int
    /// Its place in the UTF-8 of the whole text.
    var offset: Int
    /// Whether a line may end after it.
    var mayEndLine: Bool
    var isNewLine = false
  }

  let runs: [TextRun]
  /// `nil`: the whole text is from left to right.
  let directions: TextDirections?
  private(set) var segments: [Segment] = []

  /// A longer word has several segments, so that a part of it is measured quickly.
  private static let mostCharacters = 100
  /// An image in the text as a character: a line may end before and after it.
  private static let image = "\u{FFFC}"

  /// - Parameter isRightToLeft: the direction of a paragraph without letters.
  init(_ runs: [TextRun], _ rules: any TextRules, isRightToLeft: Bool) {
    self.runs = runs
    let texts = runs.map { $0.image == nil ? $0.text : Self.image }
    // One text for all runs, since a word may have several styles.
    let whole = texts.count == 1 ? texts[0] : texts.joined()
    directions = whole.isEmpty ? nil : rules.directions(of: whole, isRightToLeft: isRightToLeft)
    if whole.isEmpty { return }
    let ends = rules.lineEnds(of: whole)
    var (next, offset) = (0, 0)
    for (run, text) in texts.enumerated() {
      let limit = offset + text.utf8.count
      var start = text.startIndex
      while offset < limit {
        while next < ends.count, ends[next] <= offset { next += 1 }
        let end = next < ends.count ? min(ends[next], limit) : limit
        let index = text.utf8.index(start, offsetBy: end - offset)
        let isEnd = next < ends.count ? ends[next] == end : true
        append(text[start..<index], run: run, offset, mayEndLine: isEnd, isImage: runs[run].image != nil)
        (start, offset) = (index, end)
      }
    }
  }

  private mutating func append(_ text: Substring, run: Int, _ offset: Int, mayEndLine: Bool, isImage: Bool) {
    if isImage {
      segments.append(Segment(text: "", run: run, offset: offset, mayEndLine: mayEndLine))
      return
    }
    let end = text.endsWithNewLine ? text.index(before: text.endIndex) : text.endIndex
    var (words, offset) = (text[..<end], offset)
    while words.utf8.count > Self.mostCharacters,
      let middle = words.index(words.startIndex, offsetBy: Self.mostCharacters, limitedBy: words.endIndex),
      middle < words.endIndex
    {
      segments.append(Segment(text: words[..<middle], run: run, offset: offset, mayEndLine: false))
      offset += words[..<middle].utf8.count
      words = words[middle...]
    }
    if !words.isEmpty {
      segments.append(Segment(text: words, run: run, offset: offset, mayEndLine: mayEndLine))
    }
    if end < text.endIndex {
      offset += words.utf8.count
      segments.append(Segment(text: text[end...], run: run, offset: offset, mayEndLine: true, isNewLine: true))
    }
  }
}

extension Substring {
  /// The text without the spaces at its end.
  var trimmingSpaces: Substring {
    var bytes = utf8
    while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
    return bytes.count == utf8.count ? self : Substring(bytes)
  }

  /// Whether the last character is a new line. Its last byte excludes nearly all others.
  fileprivate var endsWithNewLine: Bool {
    guard let byte = utf8.last, (0x0A...0x0D).contains(byte) || [0x85, 0xA8, 0xA9].contains(byte) else { return false }
    return last?.isNewline == true
  }
}
