// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Layout

/// What a picture of a widget depends on besides its views.
package struct PictureStyle: Hashable, Sendable {
  package var colorScheme: ColorSchemeName
  package var settings: DeviceSettings
  /// Whether the system is iOS 26 or later.
  package var usesIOS26Colors: Bool
  /// Of the widget, in points; 0 for a widget without a shape.
  package var cornerRadius: Double
  /// Whether a widget without a container background has the colour of one.
  package var showsBackground: Bool
  /// How the place colours the widget.
  package var mode: RenderingModeName
  /// The colour of the `widgetAccentable` views of an accented widget, or of all of a vibrant one; `nil`: the system's.
  package var tint: RGBA?

  package init(
    colorScheme: ColorSchemeName = .light, settings: DeviceSettings = DeviceSettings(), usesIOS26Colors: Bool = false,
    cornerRadius: Double = 22, showsBackground: Bool = true, mode: RenderingModeName = .fullColor, tint: RGBA? = nil
  ) {
    self.colorScheme = colorScheme
    self.settings = settings
    self.usesIOS26Colors = usesIOS26Colors
    self.cornerRadius = cornerRadius
    self.showsBackground = showsBackground
    self.mode = mode
    self.tint = tint
  }
}

extension ViewArchive {
  /// The picture of a widget: the display list of its views, clipped to the shape of the widget.
  ///
  /// - Parameter images: the bytes of the images in the views by their SHA-256.
  package func picture(
    in canvas: LayoutCanvas, _ style: PictureStyle = PictureStyle(), with glyphs: any GlyphSource,
    images: [String: Data] = [:]
  ) -> Picture {
    let inherited = ViewStyle(
      textSize: style.settings.textSize, colorScheme: style.viewScheme, isTextBold: style.settings.isTextBold)
    let layout = laidOut(in: canvas, style: inherited, measuring: glyphs)
    var builder = PictureBuilder(canvas: canvas, style, glyphs)
    builder.images = images
    let whole = Rect(origin: Point(x: 0, y: 0), size: canvas.size)
    var background = layout.background.flatMap { builder.drawings(of: $0) }
    if style.showsBackground, style.mode == .fullColor, !background.contains(where: { $0.covers(whole) }) {
      let paint = builder.paints.paint("background", inherited, in: whole)
      background.insert(.fill(Path(whole), paint, isEvenOdd: false), at: 0)
    }
    if style.mode == .fullColor { builder.background = background }
    if case .color(let accent) = builder.paints.paint("tint", inherited, in: whole) {
      builder.tones = style.tones(accent)
    }
    let content = layout.views.flatMap { builder.drawings(of: $0) }
    var group = Drawing.Group()
    group.clip = Path(
      roundedRect: whole, radii: Array(repeating: style.cornerRadius, count: 4), isContinuous: true)
    let notices = layout.notices.map(\.description) + builder.paints.unknown.map { "\($0) is not drawn as a style" }
    return Picture(
      size: canvas.size,
      drawings: [.group(group, style.rendered(background: background, content: content, in: whole))],
      notices: notices + builder.notices)
  }
}

extension Drawing {
  /// Whether nothing below the drawing is seen in a rectangle. A group counts as one that does not cover it.
  fileprivate func covers(_ rect: Rect) -> Bool {
    guard case .fill(Path(rect), let paint, _) = self else { return false }
    return switch paint {
    case .color(let color): color.opacity == 1
    case .linear(let stops, _, _), .radial(let stops, _, _, _), .elliptical(let stops, _, _, _, _),
      .angular(let stops, _, _):
      stops.allSatisfy { $0.color.opacity == 1 }
    }
  }
}

/// Makes the display list of placed views.
struct PictureBuilder {
  let canvas: LayoutCanvas
  let style: PictureStyle
  let glyphs: any GlyphSource
  var paints: Paints
  /// The bytes of images by their SHA-256.
  var images: [String: Data] = [:]
  /// Read at the first symbol.
  lazy var symbols = SymbolTable.bundled
  private(set) var notices: [String] = []
  /// What is below the content of a widget in full colour, and what a material blurs.
  var background: [Drawing] = []
  /// The materials that were drawn with a blur.
  var backdrops = 0
  /// The colours of an accented widget.
  var tones: AccentedTones?

  init(canvas: LayoutCanvas, _ style: PictureStyle, _ glyphs: any GlyphSource) {
    self.canvas = canvas
    self.style = style
    self.glyphs = glyphs
    paints = Paints(hasIncreasedContrast: style.settings.increasesContrast, usesIOS26Colors: style.usesIOS26Colors)
  }

  mutating func note(_ notice: String) {
    if !notices.contains(notice) { notices.append(notice) }
  }

  private var container: (rect: Rect, radius: Double) {
    (Rect(origin: Point(x: 0, y: 0), size: canvas.size), style.cornerRadius)
  }

  mutating func drawings(of view: PlacedView) -> [Drawing] {
    switch view.kind {
    case .layer(let name): return layered(view, name)
    case .effect(let name): return changed(view, name)
    case .color(let name): return colored(view, name)
    case .view(let name):
      guard let own = ownDrawings(of: view, name) else { return view.children.flatMap { drawings(of: $0) } }
      guard let tones = tones(for: view) else { return own }
      return name == .leaf(.image) ? tones.tonedImage(own) : tones.toned(own)
    }
  }

  /// The drawings of a view that draws; `nil` for one that only contains others.
  private mutating func ownDrawings(of view: PlacedView, _ name: ViewName) -> [Drawing]? {
    switch name {
    case .leaf(.text): return text(view)
    case .leaf(.image): return image(view)
    case .leaf(.divider):
      return [.fill(Path(view.frame), paints.paint("separator", view.style, in: view.frame), isEvenOdd: false)]
    case .shape: return Path(view, container: container).map { shape($0, view) }
    case .fill(.accessoryWidgetBackground): return [accessoryBackground(view)]
    case .fill(.color), .fill(.linearGradient), .fill(.radialGradient), .fill(.ellipticalGradient),
      .fill(.angularGradient):
      let value = view.arguments[.color] ?? view.arguments[.style] ?? "clear"
      return [.fill(Path(view.frame), paints.paint(value, view.style, in: view.frame), isEvenOdd: false)]
    case .leaf(.emptyView), .leaf(.spacer), .leaf(.unsupportedView), .container, .control, .chart, .mark, .unknown:
      return nil
    }
  }

  // MARK: Shapes

  /// A shape with its operations in order; filled in the foreground style, if none draws.
  private mutating func shape(_ outline: Path, _ view: PlacedView) -> [Drawing] {
    var path = outline
    var drawings: [Drawing] = []
    var stroke: Stroke?
    for operation in view.operations {
      guard case .shape(let name) = operation.name else { continue }
      let arguments = operation.arguments
      func number(_ label: ArgumentLabel) -> Double? {
        arguments[label]?.number.flatMap { $0.isFinite ? $0 : nil }
      }
      switch name {
      case .trim: path = path.trimmed(from: number(.from) ?? 0, to: number(.to) ?? 1)
      case .rotation:
        let anchor = (arguments[.anchor]?.string ?? "center").unitPoint(in: view.frame)
        path = path.rotated(
          degrees: number(.degrees) ?? 0, about: anchor ?? Point(x: view.frame.midX, y: view.frame.midY))
      case .scale:
        let (x, y, centre) = (number(.x) ?? 1, number(.y) ?? 1, Point(x: view.frame.midX, y: view.frame.midY))
        path = path.mapped { Point(x: centre.x + ($0.x - centre.x) * x, y: centre.y + ($0.y - centre.y) * y) }
      case .fill:
        let value = arguments[.style] ?? "foreground"
        let paint = paints.paint(value, view.style, in: view.frame)
        drawings += backdrop(of: value, within: stroke == nil ? path : nil)
        if let stroke {
          drawings.append(.stroke(path, paint, stroke))
        } else {
          drawings.append(.fill(path, paint, isEvenOdd: arguments[.eoFill] == true))
        }
      case .stroke where arguments[.style] == nil: stroke = Stroke(arguments)
      case .stroke, .strokeBorder:
        let line = Stroke(arguments)
        let value = arguments[.style] ?? "foreground"
        let paint = paints.paint(value, view.style, in: view.frame)
        drawings += backdrop(of: value, within: nil)
        drawings.append(.stroke(name == .stroke ? path : border(view, line.width) ?? path, paint, line))
      case .size, .resizable, .renderingMode, .interpolation, .antialiased, .chartPlotStyle:
        note("the shape operation \(name.rawValue) is not drawn")
      }
    }
    if !drawings.isEmpty { return drawings }
    let value = view.style.foreground.first ?? "primary"
    let paint = paints.paint(value, view.style, in: view.frame)
    let below = backdrop(of: value, within: stroke == nil ? path : nil)
    if let stroke { return below + [.stroke(path, paint, stroke)] }
    return below + [.fill(path, paint, isEvenOdd: false)]
  }

  /// The outline of a shape by half a line within it.
  private func border(_ view: PlacedView, _ width: Double) -> Path? {
    var inner = view
    inner.arguments[.inset] = .number((view.arguments[.inset]?.number ?? 0) + width / 2)
    return Path(inner, container: container)
  }

  // MARK: Modifiers

  private mutating func layered(_ view: PlacedView, _ name: LayerModifier) -> [Drawing] {
    let inner = innerDrawings(of: view)
    var group = Drawing.Group()
    switch name {
    case .background, .overlay, .containerShape: return inner
    case .clipShape:
      guard let shape = view.mask.first, let path = Path(shape, container: container) else { return inner }
      group.clip = path
    case .mask: group.mask = view.mask.flatMap { drawings(of: $0) }
    }
    return [.group(group, inner)]
  }

  private mutating func changed(_ view: PlacedView, _ name: EffectModifier) -> [Drawing] {
    let inner = innerDrawings(of: view)
    var group = Drawing.Group()
    let arguments = view.arguments
    func number(_ label: ArgumentLabel) -> Double? { arguments[label]?.number.flatMap { $0.isFinite ? $0 : nil } }
    let anchor =
      (arguments[.anchor]?.string ?? "center").unitPoint(in: view.frame)
      ?? Point(x: view.frame.midX, y: view.frame.midY)
    switch name {
    case .widgetAccentable, .widgetAccentedRenderingMode, .drawn: return inner
    case .compositingGroup, .drawingGroup: group.isIsolated = true
    case .hidden: return []
    case .opacity: group.opacity = min(max(number(.opacity) ?? 1, 0), 1)
    case .blur: group.blur = max(0, number(.radius) ?? 0)
    case .clipped: group.clip = Path(view.frame)
    case .cornerRadius:
      group.clip = Path(
        roundedRect: view.frame, radii: Array(repeating: number(.radius) ?? 0, count: 4), isContinuous: false)
    case .rotationEffect: group.rotation = Drawing.Rotation(degrees: number(.degrees) ?? 0, about: anchor)
    case .rotation3DEffect:
      note(".rotation3DEffect is not drawn")
      return inner
    case .scaleEffect:
      let factor = number(.scale) ?? 1
      group.scale = Drawing.Scaling(x: number(.x) ?? factor, y: number(.y) ?? factor, about: anchor)
    case .shadow:
      var color = RGBA(0, 0, 0, opacity: 0.33)
      if let own = arguments[.color], case .color(let found) = paints.paint(own, view.style, in: view.frame) {
        color = found
      }
      color = tones.map { $0.color.faded(color.opacity) } ?? color
      group.shadow = Drawing.Shadow(
        color: color, radius: max(0, number(.radius) ?? 0), x: number(.x) ?? 0, y: number(.y) ?? 0)
    case .border:
      let width = max(0, number(.width) ?? 1)
      let paint = paints.paint(arguments[.style] ?? "foreground", view.style, in: view.frame)
      let border = [Drawing.stroke(Path(view.frame.inset(Insets(width / 2))), paint, Stroke(width: width))]
      return inner + (tones?.toned(border) ?? border)
    }
    return [.group(group, inner)]
  }
}

extension Stroke {
  /// The stroke style in an operation on a shape.
  init(_ arguments: ArchivedArguments) {
    func number(_ label: ArgumentLabel, _ usual: Double) -> Double {
      arguments[label]?.number.flatMap { $0.isFinite ? $0 : nil } ?? usual
    }
    self.init(width: max(0, number(.lineWidth, 1)))
    cap = arguments[.lineCap]?.string ?? cap
    join = arguments[.lineJoin]?.string ?? join
    if case .list(let lengths) = arguments[.dash] {
      dash = lengths.compactMap(\.number).filter { $0.isFinite && $0 >= 0 }
    }
    dashPhase = number(.dashPhase, 0)
  }
}

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
        if let image = fragment.image, image[.systemName] == nil {
          note("\(named(image)) in a text is not drawn")
        } else if let image = fragment.image {
          let side = fragment.width
          let place = Rect(x: origin.x, y: origin.y - metrics.capHeight / 2 - side / 2, width: side, height: side)
          drawings += symbol(image, frame: place, style: fragment.style)
        } else if !fragment.text.isEmpty, fragment.text.allSatisfy({ $0 == "▒" || $0 == " " || $0 == "…" }) {
          drawings.append(bar(origin, width: fragment.width, height: metrics.capHeight, paint: paint))
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

  private func bar(_ origin: Point, width: Double, height: Double, paint: Paint) -> Drawing {
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

extension PictureBuilder {
  /// The name of an image in notices.
  func named(_ arguments: ArchivedArguments) -> String {
    arguments[.name]?.string.map { "the image \"\($0)\"" } ?? "an image"
  }

  /// The drawings of an image: its file, in the foreground style if it is a template; a symbol of the system or of the
  /// author; or, for a hidden image, a rounded rectangle. An image that cannot be drawn has a notice.
  mutating func image(_ view: PlacedView) -> [Drawing] {
    let arguments = view.arguments
    if arguments[.systemName] != nil {
      return symbol(arguments, frame: view.frame, style: view.style, operations: view.operations)
    }
    if arguments[.text] != nil {
      let radius = min(view.frame.size.width, view.frame.size.height) / 4
      return [
        .fill(
          Path(roundedRect: view.frame, radii: Array(repeating: radius, count: 4), isContinuous: false),
          paints.foreground(view.style, in: view.frame).faded(0.2), isEvenOdd: false)
      ]
    }
    guard let digest = arguments[.image]?.string else {
      note("\(named(arguments)) is not drawn: \(arguments[.problem]?.string ?? "its pixels are not known")")
      return []
    }
    guard let data = images[digest] else {
      note("\(named(arguments)) is not drawn: its bytes are missing")
      return []
    }
    do throws(ImageFault) {
      noteModifiers(of: view)
      if let variant = SymbolVariant(arguments[.symbol], view.style) {
        return try symbol(data, variant: variant, view: view)
      }
      var drawings: [Drawing]
      if VectorFile.isLikely(data) {
        let image = try VectorImage(data, in: view.frame)
        note(image.missing, of: view)
        drawings = image.drawings
      } else {
        let file = try ImageFile(checking: data)
        drawings = [.image(mediaType: file.format.mediaType, base64: data.base64EncodedString(), view.frame)]
      }
      return isTemplate(view) ? [template(drawings, view)] : drawings
    } catch {
      note("\(named(arguments)) is not drawn: \(error)")
      return []
    }
  }

  /// The author's mode, the last one first, or else that of the asset catalog.
  private func isTemplate(_ view: PlacedView) -> Bool {
    let own = view.operations.last { $0.name == .shape(.renderingMode) && $0.arguments[.mode] != nil }
    return (own?.arguments[.mode] ?? view.arguments[.intent]) == "template"
  }

  /// The foreground style with the opacity of the image.
  private mutating func template(_ drawings: [Drawing], _ view: PlacedView) -> Drawing {
    var group = Drawing.Group()
    group.mask = drawings
    let paint = paints.foreground(view.style, in: view.frame)
    return .group(group, [.fill(Path(view.frame), paint, isEvenOdd: false)])
  }

  /// A custom symbol: its shapes in the foreground style, whatever their own colours are.
  private mutating func symbol(
    _ data: Data, variant: SymbolVariant, view: PlacedView
  ) throws(ImageFault) -> [Drawing] {
    let name = named(view.arguments)
    let mode = view.style.symbolRenderingMode ?? (view.style.foreground.count > 1 ? "palette" : "monochrome")
    if mode == "multicolor" { note("\(name) is drawn in one colour") }
    if view.arguments[.variableValue] != nil { note("the variable value of \(name) is not drawn") }
    let levels = ["hierarchical", "palette"].contains(mode) ? 0..<3 : 0..<1
    let paints = levels.map { paint($0, style: view.style, frame: view.frame) }
    let image = try VectorImage(symbol: data, variant, in: view.frame, paints)
    note(image.missing, of: view)
    var group = Drawing.Group()
    group.label = view.arguments[.name]?.string ?? "symbol"
    return [.group(group, image.drawings)]
  }

  private mutating func note(_ missing: [String], of view: PlacedView) {
    for name in missing { note("\(named(view.arguments)) is drawn without \(name)") }
  }

  /// Names the modifiers that a picture does not obey.
  private mutating func noteModifiers(of view: PlacedView) {
    for operation in view.operations {
      guard case .shape(let name) = operation.name else { continue }
      switch name {
      case .resizable:
        for label in [ArgumentLabel.capInsets, .resizingMode] where operation.arguments[label] != nil {
          note("\(named(view.arguments)) is stretched: \(label.rawValue) of resizable has no effect")
        }
      case .interpolation where operation.arguments[.interpolation] == "none":
        note("\(named(view.arguments)) is drawn smooth: interpolation(.none) has no effect")
      case .interpolation, .renderingMode, .antialiased, .fill, .stroke, .strokeBorder, .trim, .rotation, .scale, .size,
        .chartPlotStyle:
        break
      }
    }
  }
}

extension PictureBuilder {
  /// The drawings of a symbol in the largest square in the middle of its frame. A symbol that is not in the table is a
  /// sign with a letter, and has a notice.
  ///
  /// - Parameter arguments: those of the image.
  mutating func symbol(
    _ arguments: ArchivedArguments, frame: Rect, style: ViewStyle,
    operations: [ViewArchive.Modifier] = []
  ) -> [Drawing] {
    let name = arguments[.systemName]?.string ?? "image"
    let side = min(frame.size.width, frame.size.height)
    guard side > 0, side.isFinite else { return [] }
    let square = Rect(x: frame.midX - side / 2, y: frame.midY - side / 2, width: side, height: side)
    let isOriginal = operations.contains { $0.name == .shape(.renderingMode) && $0.arguments[.mode] == "original" }
    // Several styles without a mode are a palette.
    let mode = style.symbolRenderingMode ?? (style.foreground.count > 1 ? "palette" : "monochrome")
    let isLayered = !isOriginal && ["hierarchical", "palette"].contains(mode)
    guard let layers = layers(name, style, isLayered: isLayered) else {
      note("the symbol \"\(name)\" is drawn as its first letter")
      return placeholder(name, square: square, style: style)
    }
    if isOriginal || mode == "multicolor" { note("the symbol \"\(name)\" is drawn in one colour") }
    if arguments[.variableValue] != nil { note("the variable value of the symbol \"\(name)\" is not drawn") }
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
          drawings(
            of: layer, square: square, paint: paint(isLayered ? layer.level : 0, style: style, frame: frame),
            weight: weight)
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
  mutating func paint(_ level: Int, style: ViewStyle, frame: Rect) -> Paint {
    guard level > 0 else { return paints.foreground(style, in: frame) }
    var style = style
    let level = min(level, 2)
    if style.foreground.count > 1 {
      style.foreground = [style.foreground[min(level, style.foreground.count - 1)]]
    } else {
      let rank = ArchivedValue.string(["primary", "secondary", "tertiary"][level])
      style.foreground = [style.foreground.first.map { .record([.style: $0, .rank: rank]) } ?? rank]
    }
    return paints.foreground(style, in: frame)
  }

  private func drawings(
    of layer: SymbolLayer, square: Rect, paint: Paint, weight: FontDescription.Weight
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
  private mutating func placeholder(_ name: String, square: Rect, style: ViewStyle) -> [Drawing] {
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
  var symbolStroke: Double {
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

extension PictureBuilder {
  // MARK: Colours

  /// The drawings within a modifier that changes their colours.
  mutating func colored(_ view: PlacedView, _ name: ColorModifier) -> [Drawing] {
    let inner = innerDrawings(of: view)
    guard let effect = colorEffect(view, name) else { return inner }
    return tones.map { inAccent(effect, of: view, inner: inner, tones: $0) } ?? [.group(effect, inner)]
  }

  /// The group of a modifier that changes colours; `nil`, with a notice, for one that is not drawn.
  private mutating func colorEffect(_ view: PlacedView, _ name: ColorModifier) -> Drawing.Group? {
    var group = Drawing.Group()
    if name == .blendMode {
      let mode = view.arguments[.mode]?.string ?? "normal"
      guard let blend = Drawing.Blend(rawValue: mode) else {
        note("the blend mode \(mode) is drawn as normal")
        return nil
      }
      group.blend = blend
      return group
    }
    var color: RGBA?
    if let value = view.arguments[.color], case .color(let found) = paints.paint(value, view.style, in: view.frame) {
      color = found
    }
    let amount = view.arguments[.amount]?.number ?? view.arguments[.degrees]?.number
    guard let map = Drawing.ColorMap(name, amount: amount, color: color) else {
      note(".\(name.rawValue) is not drawn")
      return nil
    }
    group.colors = [map]
    return group
  }

  // MARK: Rendering modes

  /// The same in an accented widget, where only a change of the opacity is seen.
  private func inAccent(
    _ effect: Drawing.Group, of view: PlacedView, inner: [Drawing], tones: AccentedTones
  ) -> [Drawing] {
    guard case .matrix(let numbers)? = effect.colors.first else { return inner }
    if view.kind == .color(.luminanceToAlpha) {
      var builder = self
      builder.tones = nil
      let colored = Drawing.group(effect, builder.innerDrawings(of: view))
      return tones.toned([colored])
    }
    var group = Drawing.Group()
    group.opacity = numbers[18]
    return group.opacity == 1 ? inner : [.group(group, inner)]
  }

  /// The drawings within a modifier, in the group of colours to which it adds them.
  private mutating func innerDrawings(of view: PlacedView) -> [Drawing] {
    let outer = tones
    if view.kind == .effect(.widgetAccentable), view.arguments[.accentable] != false { tones?.isAccent = true }
    if view.kind == .effect(.widgetAccentedRenderingMode) { tones?.imageMode = view.arguments[.mode]?.string }
    defer { tones = outer }
    return view.children.flatMap { drawings(of: $0) }
  }

  /// The colours of an accented view; `nil` in another mode. The filled part of a control is faded, so that its label
  /// can be read in the same colour.
  func tones(for view: PlacedView) -> AccentedTones? {
    guard var tones else { return nil }
    if view.arguments[.isFilledControl] == true { tones.opacity = 0.3 }
    return tones
  }

  // MARK: Backgrounds

  /// What a material shows of the widget's background: blurred, below the colour of the material. Empty for another
  /// style.
  ///
  /// - Parameter path: the outline that is filled; `nil` for a line, which has only the colour.
  private mutating func backdrop(of value: ArchivedValue, within path: Path?) -> [Drawing] {
    guard let material = value.material else { return [] }
    guard let path else {
      note("the blur of \(material) is not drawn in a line")
      return []
    }
    // Plain colour stays as it is.
    if background.isEmpty { return [] }
    if background.count == 1, case .fill(_, .color, _) = background[0] { return [] }
    // Each blur has its own copy of the background.
    guard backdrops < 8 else {
      note("only eight materials are drawn with a blur")
      return []
    }
    backdrops += 1
    var (clip, blur) = (Drawing.Group(), Drawing.Group())
    clip.clip = path
    blur.blur = Self.materialBlur
    return [.group(clip, [.group(blur, background)])]
  }

  /// The blur of a material in points. Ours: Apple publishes no number.
  static let materialBlur = 24.0

  /// `AccessoryWidgetBackground`: a translucent circle, or a rounded rectangle. Ours: Apple publishes no colour.
  private mutating func accessoryBackground(_ view: PlacedView) -> Drawing {
    let (frame, side) = (view.frame, min(view.frame.size.width, view.frame.size.height))
    let isRound =
      switch canvas.family {
      case .accessoryCircular, .accessoryCorner: true
      case .accessoryRectangular: false
      case .systemSmall, .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait, .accessoryInline,
        .control, .none:
        frame.size.width < frame.size.height * 1.2 && frame.size.height < frame.size.width * 1.2
      }
    let path =
      isRound
      ? Path(ellipseIn: Rect(x: frame.midX - side / 2, y: frame.midY - side / 2, width: side, height: side))
      : Path(roundedRect: frame, radii: Array(repeating: 12, count: 4), isContinuous: true)
    return .fill(path, paints.paint("primary", view.style, in: frame).faded(0.15), isEvenOdd: false)
  }
}
