// SPDX-License-Identifier: Apache-2.0

package import Archive
import Layout

extension RGBA {
  static let white = RGBA(1, 1, 1)

  /// The colour of a tint. Ours: Apple publishes no number for StandBy in low light.
  package init(_ tint: TintName) {
    switch tint {
    case .red: self = RGBA(bytes: 255, 59, 48)
    }
  }

  func faded(_ opacity: Double) -> RGBA { RGBA(red, green, blue, opacity: self.opacity * opacity) }
}

/// The colours of an accented picture.
struct AccentedTones {
  /// Of the `widgetAccentable` views.
  let accent: RGBA
  /// Of all other views.
  let standard: RGBA
  /// Whether the views are within a `widgetAccentable`.
  var isAccent = false
  /// The `widgetAccentedRenderingMode` of an image.
  var imageMode: String?
  /// A factor of the opacity.
  var opacity = 1.0

  init(accent: RGBA, standard: RGBA = .white) {
    self.accent = accent
    self.standard = standard
  }

  /// The colour of the current group.
  var color: RGBA { (isAccent ? accent : standard).faded(opacity) }

  /// The drawings of a view in the colour of its group.
  func toned(_ drawings: [Drawing]) -> [Drawing] { drawings.map { $0.toned(color) } }

  /// The drawings of an image, by its own mode. Source: `WidgetAccentedRenderingMode`.
  func tonedImage(_ drawings: [Drawing]) -> [Drawing] {
    var group = Drawing.Group()
    switch imageMode {
    case "fullColor": return drawings
    case "accented": return drawings.map { $0.toned(accent) }
    case "accentedDesaturated": group.colors = [.luminance(accent)]
    case "desaturated": group.colors = [.luminance(standard)]
    default: return toned(drawings)
    }
    return [.group(group, drawings)]
  }
}

extension Drawing {
  /// The drawing in one colour, with the opacity that each pixel has.
  func toned(_ tone: RGBA) -> Drawing {
    switch self {
    case .fill(let path, let paint, let isEvenOdd): return .fill(path, paint.toned(tone), isEvenOdd: isEvenOdd)
    case .stroke(let path, let paint, let stroke): return .stroke(path, paint.toned(tone), stroke)
    case .text(let text, let glyphs, let paint): return .text(text, glyphs, paint.toned(tone))
    case .group(var group, let drawings) where group.colors.isEmpty:
      if let shadow = group.shadow { group.shadow?.color = tone.faded(shadow.color.opacity) }
      return .group(group, drawings.map { $0.toned(tone) })
    case .image, .group:
      var group = Group()
      group.colors = [.replacement(tone)]
      return .group(group, [self])
    }
  }
}

extension Paint {
  /// The paint in one colour, with its own opacities.
  fileprivate func toned(_ tone: RGBA) -> Paint {
    func toned(_ stops: [Stop]) -> [Stop] {
      stops.map { Stop(color: tone.faded($0.color.opacity), location: $0.location) }
    }
    switch self {
    case .color(let color): return .color(tone.faded(color.opacity))
    case .linear(let stops, let from, let to): return .linear(toned(stops), from: from, to: to)
    case .radial(let stops, let centre, let from, let to):
      return .radial(toned(stops), centre: centre, from: from, to: to)
    case .elliptical(let stops, let centre, let unit, let from, let to):
      return .elliptical(toned(stops), centre: centre, unit: unit, from: from, to: to)
    case .angular(let stops, let centre, let start): return .angular(toned(stops), centre: centre, start: start)
    }
  }
}

extension PictureStyle {
  /// The scheme of the views: a tinted and a vibrant place are dark. Ours, as the Lock Screen's environment is.
  var viewScheme: ColorSchemeName { mode == .fullColor ? colorScheme : .dark }

  /// The colours of an accented picture; `nil` for another mode.
  func tones(_ accent: RGBA) -> AccentedTones? {
    mode == .accented ? AccentedTones(accent: tint ?? accent) : nil
  }

  /// The background and the content of a widget as its mode shows them.
  ///
  /// - Parameters:
  ///   - background: the author's, in full colour; empty if the place removed it.
  ///   - content: the views, in the colours of their groups where the mode is accented.
  func rendered(background: [Drawing], content: [Drawing], in whole: Rect) -> [Drawing] {
    switch mode {
    case .fullColor: return background + content
    case .accented:
      // Where the place keeps the author's background, it is faded in the default tone.
      var kept = Drawing.Group()
      kept.colors = [.luminance(RGBA.white)]
      kept.opacity = 0.3
      let panel = Drawing.fill(Path(whole), .color(RGBA(0, 0, 0, opacity: 0.5)), isEvenOdd: false)
      let below = background.isEmpty ? [] : [Drawing.group(kept, background)]
      return (showsBackground ? [panel] : []) + below + content
    case .vibrant:
      var group = Drawing.Group()
      group.colors = [.luminance(tint ?? .white)]
      // The transparent rectangle gives the group the size of the widget.
      let space = Drawing.fill(Path(whole), .color(RGBA(0, 0, 0, opacity: 0)), isEvenOdd: false)
      return [.group(group, [space] + background + content)]
    }
  }
}
