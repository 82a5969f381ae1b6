// SPDX-License-Identifier: Apache-2.0

import Archive
import Layout

extension PictureBuilder {
  /// The drawings of a symbol in the largest square in the middle of its frame. A symbol that is not in the table is a
  /// sign with a letter, and has a notice.
  ///
  /// - Parameter arguments: those of the image.
  mutating func symbol(
    _ arguments: [String: ArchivedValue], _ frame: Rect, _ style: ViewStyle,
    operations: [ViewArchive.Modifier] = []
  ) -> [Drawing] {
    let name = arguments["systemName"]?.string ?? "image"
    let side = min(frame.size.width, frame.size.height)
    guard side > 0, side.isFinite else { return [] }
    let square = Rect(x: frame.midX - side / 2, y: frame.midY - side / 2, width: side, height: side)
    let isOriginal = operations.contains { $0.name == .shape(.renderingMode) && $0.arguments["mode"] == "original" }
    // Several styles without a mode are a palette.
    let mode = style.symbolRenderingMode ?? (style.foreground.count > 1 ? "palette" : "monochrome")
    let isLayered = !isOriginal && ["hierarchical", "palette"].contains(mode)
    guard let layers = layers(name, style, isLayered: isLayered) else {
      note("the symbol \"\(name)\" is drawn as its first letter")
      return placeholder(name, square, style)
    }
    if isOriginal || mode == "multicolor" { note("the symbol \"\(name)\" is drawn in one colour") }
    if arguments["variableValue"] != nil { note("the variable value of the symbol \"\(name)\" is not drawn") }
    let weight = style.resolvedFont.weight
    if weight.rawValue < FontDescription.Weight.regular.rawValue {
      note("symbols in a weight below regular are drawn as regular")
    }
    var group = Drawing.Group()
    group.label = name
    return [
      .group(
        group,
        layers.flatMap { layer in
          drawings(of: layer, square, paint(isLayered ? layer.level : 0, style, frame), weight)
        })
    ]
  }

  /// The layers of a symbol by its name; `nil`, if the table has none.
  private mutating func layers(_ name: String, _ style: ViewStyle, isLayered: Bool) -> [SymbolLayer]? {
    let table: SymbolTable
    switch symbols {
    case .success(let found): table = found
    case .failure(let failure):
      note("symbols are drawn as letters: \(failure)")
      return nil
    }
    let plain = canvas.isRightToLeft ? SymbolTable.turned(name) : name
    let varied = SymbolTable.name(plain, variants: style.symbolVariants)
    // A symbol without the variant stays as it is.
    var match = table.match(varied, isLayered: isLayered)
    if match?.name != varied { match = table.match(plain, isLayered: isLayered) }
    let shaper = SymbolShaper(table: table, isLayered: isLayered, letters: letters)
    guard let match, let layers = shaper.layers(of: match.form) else { return nil }
    if match.name != plain, match.name != varied { note("the symbol \"\(name)\" is drawn as \"\(match.name)\"") }
    return layers
  }

  /// The outline of letters in the box of a symbol, at most 13 units high and 15 wide.
  func letters(_ text: String) -> Path? {
    var font = FontDescription(size: 17, weight: .semibold)
    let (width, height) = (glyphs.width(of: text[...], in: font), glyphs.metrics(of: font).capHeight)
    guard width > 0, height > 0 else { return nil }
    font.size *= min(13 / height, 15 / width)
    let origin = Point(
      x: (SymbolTable.side - glyphs.width(of: text[...], in: font)) / 2,
      y: (SymbolTable.side + glyphs.metrics(of: font).capHeight) / 2)
    var path = Path()
    for glyph in glyphs.glyphs(of: text, in: font, at: origin).glyphs {
      path = path.joined(
        glyphs.outline(of: glyph.key).mapped {
          Point(x: glyph.origin.x + $0.x * glyph.scale, y: glyph.origin.y + $0.y * glyph.scale)
        })
    }
    return path.elements.isEmpty ? nil : path
  }

  /// The paint of a level: the style that the author gives for it, or else the first style at a lower opacity.
  mutating func paint(_ level: Int, _ style: ViewStyle, _ frame: Rect) -> Paint {
    guard level > 0 else { return paints.foreground(style, in: frame) }
    var style = style
    let level = min(level, 2)
    if style.foreground.count > 1 {
      style.foreground = [style.foreground[min(level, style.foreground.count - 1)]]
    } else {
      let rank = ArchivedValue.string(["primary", "secondary", "tertiary"][level])
      style.foreground = [style.foreground.first.map { .record(["style": $0, "rank": rank]) } ?? rank]
    }
    return paints.foreground(style, in: frame)
  }

  private func drawings(
    of layer: SymbolLayer, _ square: Rect, _ paint: Paint, _ weight: FontDescription.Weight
  ) -> [Drawing] {
    let unit = square.size.width / SymbolTable.side
    let placed = layer.mapped { Point(x: square.minX + $0.x * unit, y: square.minY + $0.y * unit) }
    let width = ((layer.hasLines ? weight.symbolStroke : 0) + layer.stroke) * unit
    var drawings: [Drawing] = [.fill(placed.path, paint, isEvenOdd: false)]
    if width > 0 {
      let stroke = Stroke(width: width, join: "round")
      if case .color(var color) = paint, color.opacity < 1 {
        // Fill and stroke overlap, and are translucent together.
        var group = Drawing.Group()
        group.opacity = color.opacity
        color.opacity = 1
        drawings = [
          .group(
            group,
            [.fill(placed.path, .color(color), isEvenOdd: false), .stroke(placed.path, .color(color), stroke)])
        ]
      } else {
        drawings.append(.stroke(placed.path, paint, stroke))
      }
    }
    return placed.clips.reduce(drawings) { drawings, clip in
      var group = Drawing.Group()
      group.clip = clip
      return [.group(group, drawings)]
    }
  }

  /// A sign in place of a symbol: a rounded square with the first letter of its name.
  private mutating func placeholder(_ name: String, _ square: Rect, _ style: ViewStyle) -> [Drawing] {
    let paint = paints.foreground(style, in: square)
    let side = square.size.width
    let width = side / 12
    let outline = Path(
      roundedRect: square.inset(Insets(width / 2)), radii: Array(repeating: side / 4, count: 4), isContinuous: false)
    let font = FontDescription(size: side * 0.6, weight: .semibold)
    let letter = name.prefix(1).uppercased()
    let origin = Point(
      x: square.midX - glyphs.width(of: letter[...], in: font) / 2,
      y: square.midY + glyphs.metrics(of: font).capHeight / 2)
    var group = Drawing.Group()
    group.label = name
    let placed = glyphs.glyphs(of: letter, in: font, at: origin).glyphs
    return [.group(group, [.stroke(outline, paint, Stroke(width: width)), .text(letter, placed, paint)])]
  }
}

extension FontDescription.Weight {
  /// The width of the line along the outline of a symbol, in units of its box. Ours: Apple publishes no numbers.
  fileprivate var symbolStroke: Double {
    switch rawValue {
    case ...400: 0
    case ...500: 0.2
    case ...600: 0.45
    case ...700: 0.75
    case ...800: 1
    default: 1.3
    }
  }
}
