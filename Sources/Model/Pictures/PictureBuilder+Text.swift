// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

extension PictureBuilder {
  // MARK: Texts

  /// The glyphs of the lines. Hidden text, which the archive has as `▒`, is a rounded bar.
  mutating func text(_ view: PlacedView) -> [Drawing] {
    var drawings: [Drawing] = []
    for line in view.text?.lines ?? [] {
      for fragment in line.fragments {
        let origin = Point(
          x: view.frame.minX + line.x + fragment.x,
          y: view.frame.minY + line.baseline - fragment.style.baselineOffset)
        let paint = paints.foreground(fragment.style, in: view.frame)
        let metrics = glyphs.metrics(of: fragment.font)
        if let image = fragment.image, image["systemName"] == nil {
          note("\(named(image)) in a text is not drawn")
        } else if let image = fragment.image {
          let side = fragment.width
          let place = Rect(x: origin.x, y: origin.y - metrics.capHeight / 2 - side / 2, width: side, height: side)
          drawings += symbol(image, place, fragment.style)
        } else if !fragment.text.isEmpty, fragment.text.allSatisfy({ $0 == "▒" || $0 == " " || $0 == "…" }) {
          drawings.append(bar(origin, fragment.width, metrics.capHeight, paint))
        } else {
          drawings += written(fragment, at: origin, paint)
        }
        drawings += lines(of: fragment, from: origin, metrics, paint, in: view.frame)
      }
    }
    return drawings
  }

  private mutating func written(_ fragment: PlacedText.Fragment, at origin: Point, _ paint: Paint) -> [Drawing] {
    let (placed, missing) = glyphs.glyphs(
      of: fragment.text, in: fragment.font, at: origin, isRightToLeft: fragment.isRightToLeft)
    for notice in glyphs.notices(missing: missing) { note(notice) }
    if fragment.font.design != "default" { note("the font design \(fragment.font.design) is drawn as the default") }
    if fragment.font.isItalic { note("italic text is drawn upright") }
    if fragment.font.width != 0 { note("the font width is drawn as the standard") }
    return [.text(fragment.text, placed, paint)]
  }

  private func bar(_ origin: Point, _ width: Double, _ height: Double, _ paint: Paint) -> Drawing {
    let rect = Rect(x: origin.x, y: origin.y - height, width: width, height: height)
    return .fill(
      Path(roundedRect: rect, radii: Array(repeating: height / 4, count: 4), isContinuous: false), paint.faded(0.2),
      isEvenOdd: false)
  }

  /// A line below and a line through a text.
  private mutating func lines(
    of fragment: PlacedText.Fragment, from origin: Point, _ metrics: LineMetrics, _ paint: Paint, in rect: Rect
  ) -> [Drawing] {
    let thickness = fragment.font.size / 16
    return [(fragment.style.underline, 1.5 * thickness), (fragment.style.strikethrough, -metrics.capHeight / 2)]
      .compactMap { color, distance in
        guard let color else { return nil }
        let own = color == .record([:]) ? paint : paints.paint(color, fragment.style, in: rect)
        return .fill(
          Path(
            Rect(x: origin.x, y: origin.y + distance - thickness / 2, width: fragment.width, height: thickness)), own,
          isEvenOdd: false)
      }
  }
}
