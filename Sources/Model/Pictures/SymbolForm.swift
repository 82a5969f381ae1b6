// SPDX-License-Identifier: Apache-2.0

import Layout

/// How a symbol is made from icons, in a box of 16 by 16 units.
indirect enum SymbolForm: Hashable, Sendable {
  /// The icon with this name.
  case icon(String)
  /// One or two letters or digits.
  case letters(String)
  /// Clockwise about the centre of the box.
  case turned(SymbolForm, degrees: Double)
  /// With left and right exchanged.
  case mirrored(SymbolForm)
  /// Larger or smaller about the centre of the box.
  case scaled(SymbolForm, Double)
  /// A sign within a shape. In a filled shape the sign is a hole.
  case within(SymbolForm, SymbolFrame, isFilled: Bool)
  /// With a line from the upper left to the lower right.
  case slashed(SymbolForm)
  /// With a sign at the lower right; `nil`: a dot at the upper right.
  case badged(SymbolForm, SymbolForm?)

  /// The form with each icon replaced; `nil` where an icon has no replacement.
  func mappedIcons(_ change: (String) -> String?) -> SymbolForm? {
    switch self {
    case .icon(let name): change(name).map { .icon($0) }
    case .letters: nil
    case .turned(let form, let degrees): form.mappedIcons(change).map { .turned($0, degrees: degrees) }
    case .mirrored(let form): form.mappedIcons(change).map { .mirrored($0) }
    case .scaled(let form, let factor): form.mappedIcons(change).map { .scaled($0, factor) }
    // The sign and the badge stay as they are.
    case .within, .slashed, .badged: nil
    }
  }

  /// The names of the icons.
  var icons: [String] {
    switch self {
    case .icon(let name): [name]
    case .letters: []
    case .turned(let form, _), .scaled(let form, _), .mirrored(let form), .slashed(let form): form.icons
    case .within(let form, let frame, let isFilled): form.icons + [isFilled ? frame.filledIcon : frame.icon]
    case .badged(let form, let sign): form.icons + (sign?.icons ?? [])
    }
  }
}

/// A shape around a sign, such as `circle` in `heart.circle.fill`.
enum SymbolFrame: String, CaseIterable, Sendable {
  case circle
  case square
  case app
  case triangle
  case diamond
  case octagon
  case hexagon
  case shield

  var icon: String { rawValue }
  var filledIcon: String { rawValue + "-fill" }

  /// The size of the sign as a part of the shape, and its centre in the box. Ours: Apple publishes no numbers.
  var place: (scale: Double, centre: Point) {
    switch self {
    case .circle, .octagon: (0.52, Point(x: 8, y: 8))
    case .square, .app: (0.58, Point(x: 8, y: 8))
    case .hexagon: (0.5, Point(x: 8, y: 8))
    case .diamond: (0.42, Point(x: 8, y: 8))
    case .triangle: (0.48, Point(x: 8, y: 9.7))
    case .shield: (0.46, Point(x: 8, y: 7.6))
    }
  }
}

/// A part of a symbol in a box of 16 by 16 units, which has one style.
struct SymbolLayer: Hashable, Sendable {
  /// Filled by the rule `nonzero`; ink has the winding number 1.
  var path: Path
  /// The level of the hierarchy: 0 is the first.
  var level = 0
  /// Outlines that limit the layer, all together.
  var clips: [Path] = []
  /// Whether the layer consists of lines, which are thicker in a heavier font.
  var hasLines: Bool
  /// The width of a line along the outline in a regular font, in units.
  var stroke = 0.0

  func mapped(_ change: (Point) -> Point) -> SymbolLayer {
    var layer = self
    layer.path = path.mapped(change)
    layer.clips = clips.map { $0.mapped(change) }
    return layer
  }

  /// A rectangle that is larger than each symbol, so that only holes in it limit a layer.
  static let all = Path(Rect(x: -16, y: -16, width: 48, height: 48))

  /// The layer behind a sign: a level lower, and with a hole around the sign.
  func behind(_ sign: Path) -> SymbolLayer {
    var layer = self
    layer.level += 1
    layer.clips.append(Self.all.joined(sign.reversed))
    return layer
  }
}

extension Path {
  func joined(_ other: Path) -> Path {
    var path = self
    path.elements += other.elements
    return path
  }

  /// The path in the opposite direction, so that it is a hole in a path around it.
  var reversed: Path {
    var result = Path()
    for subpath in elements.split(whereSeparator: { $0 == .close }) {
      // A subpath without its closing element: a start, and its segments.
      var rest = Array(subpath)
      while let index = rest.lastIndex(where: { if case .move = $0 { true } else { false } }) {
        result.elements += Self.reversed(rest[index...])
        rest.removeSubrange(index...)
      }
    }
    return result
  }

  private static func reversed(_ subpath: ArraySlice<Element>) -> [Element] {
    let ends = subpath.compactMap { element -> Point? in
      switch element {
      case .move(let point), .line(let point), .quad(let point, _), .curve(let point, _, _): point
      case .close: nil
      }
    }
    guard let last = ends.last else { return [] }
    var result: [Element] = [.move(last)]
    for (element, end) in zip(subpath.dropFirst(), ends).reversed() {
      switch element {
      case .quad(_, let control): result.append(.quad(end, control: control))
      case .curve(_, let one, let two): result.append(.curve(end, control1: two, control2: one))
      case .move, .line, .close: result.append(.line(end))
      }
    }
    return result + [.close]
  }
}
