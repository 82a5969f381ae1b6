// SPDX-License-Identifier: Apache-2.0

import Archive

/// `Text`: its lines for a proposal, truncated or smaller where they do not fit.
final class TextNode: ViewNode {
  private let runs: [TextRun]
  private let arguments: [String: ArchivedValue]
  private lazy var text = BrokenText(runs, context.measure.rules, isRightToLeft: context.isRightToLeft)
  private lazy var pieces = TextPieces(text, scale: 1, context.measure)
  private var last: (proposal: Proposal, text: FittedText)?

  init(_ arguments: [String: ArchivedValue], _ runs: [TextRun], _ style: ViewStyle, _ context: LayoutContext) {
    self.runs = runs
    self.arguments = arguments
    super.init(.leaf(.text), style, context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let text = fitted(proposal)
    var width = text.width
    // A text that counts seconds has room for longer ones.
    if arguments["isTimer"] == true, let proposed = proposal.width, proposed.isFinite { width = max(width, proposed) }
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
