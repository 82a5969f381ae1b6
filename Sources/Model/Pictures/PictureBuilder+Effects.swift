// SPDX-License-Identifier: Apache-2.0

import Archive
import Layout

extension PictureBuilder {
  // MARK: Colours

  /// The drawings within a modifier that changes their colours.
  mutating func colored(_ view: PlacedView, _ name: ColorModifier) -> [Drawing] {
    let inner = innerDrawings(of: view)
    guard let effect = colorEffect(view, name) else { return inner }
    return tones.map { inAccent(effect, of: view, inner, $0) } ?? [.group(effect, inner)]
  }

  /// The group of a modifier that changes colours; `nil`, with a notice, for one that is not drawn.
  private mutating func colorEffect(_ view: PlacedView, _ name: ColorModifier) -> Drawing.Group? {
    var group = Drawing.Group()
    if name == .blendMode {
      let mode = view.arguments["mode"]?.string ?? "normal"
      guard let blend = Drawing.Blend(rawValue: mode) else {
        note("the blend mode \(mode) is drawn as normal")
        return nil
      }
      group.blend = blend
      return group
    }
    var color: RGBA?
    if let value = view.arguments["color"], case .color(let found) = paints.paint(value, view.style, in: view.frame) {
      color = found
    }
    let amount = view.arguments["amount"]?.number ?? view.arguments["degrees"]?.number
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
    _ effect: Drawing.Group, of view: PlacedView, _ inner: [Drawing], _ tones: AccentedTones
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
  mutating func innerDrawings(of view: PlacedView) -> [Drawing] {
    let outer = tones
    if view.kind == .effect(.widgetAccentable), view.arguments["accentable"] != false { tones?.isAccent = true }
    if view.kind == .effect(.widgetAccentedRenderingMode) { tones?.imageMode = view.arguments["mode"]?.string }
    defer { tones = outer }
    return view.children.flatMap { drawings(of: $0) }
  }

  /// The colours of an accented view; `nil` in another mode. The filled part of a control is faded, so that its label
  /// can be read in the same colour.
  func tones(for view: PlacedView) -> AccentedTones? {
    guard var tones else { return nil }
    if view.arguments["isFilledControl"] == true { tones.opacity = 0.3 }
    return tones
  }

  // MARK: Backgrounds

  /// What a material shows of the widget's background: blurred, below the colour of the material. Empty for another
  /// style.
  ///
  /// - Parameter path: the outline that is filled; `nil` for a line, which has only the colour.
  mutating func backdrop(of value: ArchivedValue, within path: Path?) -> [Drawing] {
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
  mutating func accessoryBackground(_ view: PlacedView) -> Drawing {
    let (frame, side) = (view.frame, min(view.frame.size.width, view.frame.size.height))
    let isRound =
      switch canvas.family {
      case .accessoryCircular, .accessoryCorner: true
      case .accessoryRectangular: false
      default: frame.size.width < frame.size.height * 1.2 && frame.size.height < frame.size.width * 1.2
      }
    let path =
      isRound
      ? Path(ellipseIn: Rect(x: frame.midX - side / 2, y: frame.midY - side / 2, width: side, height: side))
      : Path(roundedRect: frame, radii: Array(repeating: 12, count: 4), isContinuous: true)
    return .fill(path, paints.paint("primary", view.style, in: frame).faded(0.15), isEvenOdd: false)
  }
}
