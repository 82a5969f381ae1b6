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
      let value = view.arguments["color"] ?? view.arguments["style"] ?? "clear"
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
      func number(_ label: String) -> Double? {
        arguments[label]?.number.flatMap { $0.isFinite ? $0 : nil }
      }
      switch name {
      case .trim: path = path.trimmed(from: number("from") ?? 0, to: number("to") ?? 1)
      case .rotation:
        let anchor = (arguments["anchor"]?.string ?? "center").unitPoint(in: view.frame)
        path = path.rotated(
          degrees: number("degrees") ?? 0, about: anchor ?? Point(x: view.frame.midX, y: view.frame.midY))
      case .scale:
        let (x, y, centre) = (number("x") ?? 1, number("y") ?? 1, Point(x: view.frame.midX, y: view.frame.midY))
        path = path.mapped { Point(x: centre.x + ($0.x - centre.x) * x, y: centre.y + ($0.y - centre.y) * y) }
      case .fill:
        let value = arguments["style"] ?? "foreground"
        let paint = paints.paint(value, view.style, in: view.frame)
        drawings += backdrop(of: value, within: stroke == nil ? path : nil)
        if let stroke {
          drawings.append(.stroke(path, paint, stroke))
        } else {
          drawings.append(.fill(path, paint, isEvenOdd: arguments["eoFill"] == true))
        }
      case .stroke where arguments["style"] == nil: stroke = Stroke(arguments)
      case .stroke, .strokeBorder:
        let line = Stroke(arguments)
        let value = arguments["style"] ?? "foreground"
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
    inner.arguments["inset"] = .number((view.arguments["inset"]?.number ?? 0) + width / 2)
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
    func number(_ label: String) -> Double? { arguments[label]?.number.flatMap { $0.isFinite ? $0 : nil } }
    let anchor =
      (arguments["anchor"]?.string ?? "center").unitPoint(in: view.frame)
      ?? Point(x: view.frame.midX, y: view.frame.midY)
    switch name {
    case .widgetAccentable, .widgetAccentedRenderingMode, .drawn: return inner
    case .compositingGroup, .drawingGroup: group.isIsolated = true
    case .hidden: return []
    case .opacity: group.opacity = min(max(number("opacity") ?? 1, 0), 1)
    case .blur: group.blur = max(0, number("radius") ?? 0)
    case .clipped: group.clip = Path(view.frame)
    case .cornerRadius:
      group.clip = Path(
        roundedRect: view.frame, radii: Array(repeating: number("radius") ?? 0, count: 4), isContinuous: false)
    case .rotationEffect: group.rotation = Drawing.Rotation(degrees: number("degrees") ?? 0, about: anchor)
    case .rotation3DEffect:
      note(".rotation3DEffect is not drawn")
      return inner
    case .scaleEffect:
      let factor = number("scale") ?? 1
      group.scale = Drawing.Scaling(x: number("x") ?? factor, y: number("y") ?? factor, about: anchor)
    case .shadow:
      var color = RGBA(0, 0, 0, opacity: 0.33)
      if let own = arguments["color"], case .color(let found) = paints.paint(own, view.style, in: view.frame) {
        color = found
      }
      color = tones.map { $0.color.faded(color.opacity) } ?? color
      group.shadow = Drawing.Shadow(
        color: color, radius: max(0, number("radius") ?? 0), x: number("x") ?? 0, y: number("y") ?? 0)
    case .border:
      let width = max(0, number("width") ?? 1)
      let paint = paints.paint(arguments["style"] ?? "foreground", view.style, in: view.frame)
      let border = [Drawing.stroke(Path(view.frame.inset(Insets(width / 2))), paint, Stroke(width: width))]
      return inner + (tones?.toned(border) ?? border)
    }
    return [.group(group, inner)]
  }
}

extension Stroke {
  /// The stroke style in an operation on a shape.
  init(_ arguments: [String: ArchivedValue]) {
    func number(_ label: String, _ usual: Double) -> Double {
      arguments[label]?.number.flatMap { $0.isFinite ? $0 : nil } ?? usual
    }
    self.init(width: max(0, number("lineWidth", 1)))
    cap = arguments["lineCap"]?.string ?? cap
    join = arguments["lineJoin"]?.string ?? join
    if case .list(let lengths) = arguments["dash"] {
      dash = lengths.compactMap(\.number).filter { $0.isFinite && $0 >= 0 }
    }
    dashPhase = number("dashPhase", 0)
  }
}
