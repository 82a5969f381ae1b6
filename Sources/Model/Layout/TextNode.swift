// SPDX-License-Identifier: Apache-2.0

import Archive

/// `Text`: its lines for a proposal, truncated or smaller where they do not fit.
final class TextNode: ViewNode {
  private let runs: [TextRun]
  private let arguments: ArchivedArguments
  private lazy var text = BrokenText(runs, context.measure.rules, isRightToLeft: context.isRightToLeft)
  private lazy var pieces = TextPieces(text, scale: 1, context.measure)
  private var last: (proposal: Proposal, text: FittedText)?

  init(_ arguments: ArchivedArguments, runs: [TextRun], style: ViewStyle, context: LayoutContext) {
    self.runs = runs
    self.arguments = arguments
    super.init(.leaf(.text), style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let text = fitted(proposal)
    var width = text.width
    // A text that counts seconds has room for longer ones.
    if arguments[.isTimer] == true, let proposed = proposal.width, proposed.isFinite { width = max(width, proposed) }
    return Size(
      width: width.roundedUp(toPixelsOf: context.scale), height: text.height.roundedUp(toPixelsOf: context.scale))
  }

  override func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    let text = fitted(proposal)
    return guide == .firstTextBaseline ? text.baselines.first : text.baselines.last
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let (text, size) = (fitted(proposal), size(proposal))
    var view = placed(arguments, at: origin, size)
    let lines = zip(text.lines, text.baselines).map { line, baseline in
      let rest = size.width - line.width
      let x = style.lines.alignment == "trailing" ? rest : style.lines.alignment == "center" ? rest / 2 : 0
      return PlacedText.Line(
        x: x, baseline: baseline, width: line.width, fragments: text.pieces.fragments(line))
    }
    view.text = PlacedText(lines: lines, isTruncated: text.isTruncated, scale: text.pieces.scale)
    return [view]
  }

  /// By the tallest font of the text.
  override func preferredSpacing() -> Spacing {
    .text(runs.isEmpty ? context.measure.metrics(of: style.resolvedFont) : pieces.tallest, scale: context.scale)
  }

  /// The lines for a proposal: at full size if they fit, or else smaller, or else truncated.
  private func fitted(_ proposal: Proposal) -> FittedText {
    if let last, last.proposal == proposal { return last.text }
    func found(_ scale: Double) -> FittedText {
      FittedText(
        scale == 1 ? pieces : TextPieces(text, scale: scale, context.measure), width: proposal.width,
        height: proposal.height, lines: style.lines)
    }
    var best = found(1)
    let least = style.lines.minimumScale
    if best.isTruncated, least < 1 {
      best = found(least)
      if !best.isTruncated {
        // Bisection: in 6 steps to 1/64 of the range.
        var (lower, upper) = (least, 1.0)
        for _ in 0..<6 {
          let middle = (lower + upper) / 2
          let smaller = found(middle)
          if smaller.isTruncated { upper = middle } else { (lower, best) = (middle, smaller) }
        }
      }
    }
    last = (proposal, best)
    return best
  }
}

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
    var count = rules.limit ?? .max
    if let most, most.isFinite {
      let fitting = (most + rules.spacing + 0.01) / (max(tallest.height, 0.01) + rules.spacing)
      count = min(count, Int(saturating: fitting.rounded(.down).clamped(1, 1_000_000)))
    }
    fill((limit ?? .infinity) + 0.01, most: count, rules.truncation)
    place(spacing: rules.spacing, reserved: rules.reserved, tallest)
  }

  /// Fills the lines with pieces, as many on each as fit.
  private mutating func fill(_ limit: Double, most: Int, _ truncation: String) {
    var all = pieces.pieces
    var next = 0
    repeat {
      let first = next
      var line: [TextPieces.Piece] = []
      var width = 0.0
      var isParagraph = false
      while next < all.count {
        let piece = all[next]
        if piece.isNewLine {
          next += 1
          isParagraph = true
          break
        }
        if width + piece.visibleWidth <= limit {
          line.append(piece)
          width += piece.width
          next += 1
          continue
        }
        if let end = line.lastIndex(where: \.mayEndLine) {
          line.removeSubrange((end + 1)...)
          next = first + end + 1
          break
        }
        // A word that is longer than the line is broken within.
        if let (head, tail) = pieces.split(piece, at: limit - width, isForced: line.isEmpty) {
          line.append(head)
          if let tail { all[next] = tail } else { next += 1 }
        }
        break
      }
      if lines.count == most - 1, next < all.count {
        isTruncated = true
        return append(pieces.truncated(isParagraph ? line : line + all[next...], to: limit, truncation))
      }
      append(line)
    } while next < all.count
  }

  /// Spaces at the end have no width.
  private mutating func append(_ pieces: [TextPieces.Piece]) {
    var (width, isEnd) = (0.0, true)
    for piece in pieces.reversed() {
      width += isEnd ? piece.visibleWidth : piece.width
      if piece.visibleWidth > 0 { isEnd = false }
    }
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
