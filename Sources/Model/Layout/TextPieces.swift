// SPDX-License-Identifier: Apache-2.0

import Archive

/// A part of a text with one style.
struct TextRun {
  var text: String
  var style: ViewStyle
  /// The arguments of an image within the text.
  var image: [String: ArchivedValue]?
}

/// A text in pieces that a line break may follow: words with the spaces after them, single ideographs, and parts of very
/// long words.
struct TextPieces {
  struct Piece {
    var text: Substring
    /// The index of the run that contains it.
    var run: Int
    /// With the spaces at the end, in points.
    var width: Double
    /// Without them.
    var visibleWidth: Double
    var isNewLine = false
  }

  private(set) var pieces: [Piece] = []
  /// The fonts of the runs.
  let fonts: [FontDescription]
  /// Of the lines in these fonts.
  let metrics: [LineMetrics]
  /// The factor of all font sizes.
  let scale: Double
  private let runs: [TextRun]
  private let measure: any TextMeasure

  init(_ runs: [TextRun], scale: Double, _ measure: any TextMeasure) {
    fonts = runs.map { $0.style.resolvedFont.scaled(scale) }
    metrics = fonts.map(measure.metrics)
    (self.runs, self.scale, self.measure) = (runs, scale, measure)
    for (index, run) in runs.enumerated() {
      if run.image != nil {
        let width = ImageNode.symbolSide(metrics[index], run.style.imageScale)
        pieces.append(Piece(text: "", run: index, width: width, visibleWidth: width))
        continue
      }
      for (text, isNewLine) in run.text.lineBreakPieces {
        pieces.append(
          isNewLine
            ? Piece(text: text, run: index, width: 0, visibleWidth: 0, isNewLine: true) : piece(text, run: index))
      }
    }
  }

  /// Of the tallest font.
  var tallest: LineMetrics {
    metrics.max { $0.height < $1.height } ?? LineMetrics(ascent: 0, descent: 0, leading: 0, capHeight: 0)
  }

  private func piece(_ text: Substring, run: Int) -> Piece {
    let width = measure.width(of: text, in: fonts[run])
    let visible = text.trimmingSpaces
    return Piece(
      text: text, run: run, width: width,
      visibleWidth: visible.endIndex == text.endIndex ? width : measure.width(of: visible, in: fonts[run]))
  }

  /// Splits a piece where it exceeds a width. The head has at least one character.
  func split(_ piece: Piece, at limit: Double) -> (head: Piece, tail: Piece?) {
    let text = piece.text
    guard text.count > 1 else { return (piece, nil) }
    if limit < 0.1 {
      // Each stack asks each text for its least width: a line for each character, whose rest is not measured.
      let (first, rest) = (text.prefix(1), text.dropFirst())
      let isLast = rest.index(after: rest.startIndex) == rest.endIndex
      let tail = Piece(text: rest, run: piece.run, width: .infinity, visibleWidth: .infinity)
      return (self.piece(first, run: piece.run), isLast ? self.piece(rest, run: piece.run) : tail)
    }
    let ends = Array(text.indices.dropFirst()) + [text.endIndex]
    // The widths of prefixes ascend.
    var (fitting, tooLong) = (0, ends.count - 1)
    while fitting < tooLong {
      let middle = (fitting + tooLong + 1) / 2
      if measure.width(of: text[..<ends[middle]], in: fonts[piece.run]) <= limit {
        fitting = middle
      } else {
        tooLong = middle - 1
      }
    }
    if ends[fitting] == text.endIndex { return (piece, nil) }
    return (self.piece(text[..<ends[fitting]], run: piece.run), self.piece(text[ends[fitting]...], run: piece.run))
  }

  /// The line of a text that does not fit, with an ellipsis at its end, at its start or in its middle.
  func truncated(_ pieces: [Piece], to limit: Double, _ mode: String) -> [Piece] {
    let pieces = pieces.prefix { !$0.isNewLine }
    guard let model = (mode == "head" ? pieces.last : pieces.first) else { return [] }
    let ellipsis = piece("…", run: model.run)
    // The text that is kept at the start, and at the end.
    let room = limit - ellipsis.width
    let head = mode == "head" ? [] : kept(pieces, mode == "middle" ? room / 2 : room, fromEnd: false)
    let tail = mode == "tail" ? [] : kept(pieces, room - head.reduce(0) { $0 + $1.width }, fromEnd: true)
    return head + [ellipsis] + tail
  }

  /// The pieces, and the part of a piece, that fit a width at the start or at the end.
  private func kept(_ pieces: ArraySlice<Piece>, _ room: Double, fromEnd: Bool) -> [Piece] {
    var (kept, rest) = ([Piece](), room)
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
      if !text.isEmpty { kept.append(self.piece(text, run: piece.run)) }
      break
    }
    if fromEnd { return kept.reversed() }
    // No space precedes the ellipsis.
    if let last = kept.last, runs[last.run].image == nil {
      kept[kept.count - 1] = piece(last.text.trimmingSpaces, run: last.run)
    }
    return kept
  }

  /// The parts of a line, one for each run.
  func fragments(_ line: FittedText.Line) -> [PlacedText.Fragment] {
    var fragments: [PlacedText.Fragment] = []
    var (x, run) = (0.0, -1)
    for (index, piece) in line.pieces.enumerated() {
      let width = index == line.pieces.count - 1 ? piece.visibleWidth : piece.width
      if piece.run == run, let last = fragments.indices.last {
        fragments[last].text += piece.text
        fragments[last].width += width
      } else {
        run = piece.run
        fragments.append(
          PlacedText.Fragment(
            text: String(piece.text), font: fonts[run], style: runs[run].style, image: runs[run].image, x: x,
            width: width))
      }
      x += width
    }
    return fragments
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    guard let last = lastIndex(where: { $0 != " " }) else { return prefix(0) }
    return self[...last]
  }
}

extension String {
  /// The text in pieces that a line break may follow. Ours: the rules of Unicode (UAX 14) have more cases.
  fileprivate var lineBreakPieces: [(text: Substring, isNewLine: Bool)] {
    var pieces: [(Substring, Bool)] = []
    var start = startIndex
    var index = startIndex
    var length = 0
    while index < endIndex {
      let character = self[index]
      let next = self.index(after: index)
      length += 1
      if character.isNewline {
        if start < index { pieces.append((self[start..<index], false)) }
        pieces.append((self[index..<next], true))
        (start, length) = (next, 0)
      } else if next < endIndex, length >= 100 || Self.mayBreak(after: character, before: self[next]) {
        pieces.append((self[start..<next], false))
        (start, length) = (next, 0)
      }
      index = next
    }
    if start < endIndex { pieces.append((self[start...], false)) }
    return pieces
  }

  private static func mayBreak(after character: Character, before next: Character) -> Bool {
    if next == " " || next.isNewline { return false }
    if character == " " || character == "\t" || character == "\u{200B}" { return true }
    if "-–—/".contains(character) { return next.isLetter }
    if character.isASCII, next.isASCII { return false }
    return (character.isIdeograph && !next.isPunctuation) || (next.isIdeograph && !character.isPunctuation)
  }
}

extension Character {
  /// Whether lines may be broken on both sides: ideographs, kana and hangul.
  fileprivate var isIdeograph: Bool {
    guard let scalar = unicodeScalars.first?.value else { return false }
    return (0x2E80...0x9FFF).contains(scalar) || (0xAC00...0xD7AF).contains(scalar)
      || (0xF900...0xFAFF).contains(scalar) || (0x20000...0x3FFFF).contains(scalar)
  }
}
