// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Layout

/// A colour in sRGB. All components are from 0 to 1.
package struct RGBA: Hashable, Sendable {
  package var red: Double
  package var green: Double
  package var blue: Double
  package var opacity: Double

  /// All from 0 to 1.
  package init(_ red: Double, _ green: Double, _ blue: Double, opacity: Double = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.opacity = opacity
  }

  /// Components from 0 to 255.
  init(bytes red: Double, _ green: Double, _ blue: Double, opacity: Double = 1) {
    self.init(red / 255, green / 255, blue / 255, opacity: opacity)
  }
}

/// What an outline is filled with.
package enum Paint: Hashable, Sendable {
  package struct Stop: Hashable, Sendable {
    package var color: RGBA
    /// From 0 to 1.
    package var location: Double
  }

  case color(RGBA)
  case linear([Stop], from: Point, to: Point)
  /// Radii in points.
  case radial([Stop], centre: Point, from: Double, to: Double)
  /// A radial gradient that is stretched. A radius r is an ellipse with the half axes r × `unit.width` and
  /// r × `unit.height`, in points; `from` and `to` are such radii, without a unit.
  case elliptical([Stop], centre: Point, unit: Size, from: Double, to: Double)
  /// A whole turn about a point, clockwise. The location 0 is at `start`, in degrees; 0 degrees are to the right. The
  /// locations ascend from 0 to 1. Two stops at one location are an edge.
  case angular([Stop], centre: Point, start: Double)

  func faded(_ opacity: Double) -> Paint {
    func faded(_ stops: [Stop]) -> [Stop] {
      stops.map { stop in
        var stop = stop
        stop.color.opacity *= opacity
        return stop
      }
    }
    switch self {
    case .color(var color):
      color.opacity *= opacity
      return .color(color)
    case .linear(let stops, let from, let to): return .linear(faded(stops), from: from, to: to)
    case .radial(let stops, let centre, let from, let to):
      return .radial(faded(stops), centre: centre, from: from, to: to)
    case .elliptical(let stops, let centre, let unit, let from, let to):
      return .elliptical(faded(stops), centre: centre, unit: unit, from: from, to: to)
    case .angular(let stops, let centre, let start): return .angular(faded(stops), centre: centre, start: start)
    }
  }
}

/// How a line is drawn along an outline. Lengths in points.
package struct Stroke: Hashable, Sendable {
  package var width: Double
  /// `butt`, `round` or `square`.
  package var cap = "butt"
  /// `miter`, `round` or `bevel`.
  package var join = "miter"
  package var dash: [Double] = []
  package var dashPhase = 0.0
}

/// One operation of a display list.
package indirect enum Drawing: Hashable, Sendable {
  case fill(Path, Paint, isEvenOdd: Bool)
  case stroke(Path, Paint, Stroke)
  /// The glyphs of a line of text, which is also given as characters.
  case text(String, [PlacedGlyph], Paint)
  /// An image file in a rectangle.
  case image(mediaType: String, base64: String, Rect)
  case group(Group, [Drawing])

  /// What applies to several operations together, in this order: the operations are drawn, their colours are mapped,
  /// the result is blurred, gets a shadow, is masked, clipped and faded, and is blended with what is below.
  package struct Group: Hashable, Sendable {
    /// What the group shows, for people and tests.
    package var label: String?
    /// Applied to the colours of the finished group, in order.
    package var colors: [ColorMap] = []
    /// How the finished group is mixed with what was drawn before it in the group around.
    package var blend = Blend.normal
    /// Whether the blend modes of the operations within end at this group. A group with an opacity, a clip, a mask, a
    /// colour map, a blur or a shadow is isolated in any case.
    package var isIsolated = false
    package var opacity = 1.0
    package var clip: Path?
    package var mask: [Drawing]?
    /// In points.
    package var blur = 0.0
    package var shadow: Shadow?
    /// In points to the right and down.
    package var offset: Point?
    package var rotation: Rotation?
    package var scale: Scaling?

    package init() {}
  }

  /// A function of the colour of each pixel. The components are from 0 to 1, in sRGB, and not multiplied by the
  /// opacity; results are limited to 0 to 1.
  package enum ColorMap: Hashable, Sendable {
    /// Four rows for red, green, blue and opacity. Each has four factors, of red, green, blue and opacity, and a sum.
    case matrix([Double])
    /// The pixel becomes this colour. Its opacity is multiplied by the luminance that the pixel had:
    /// .2126 red + .7152 green + .0722 blue.
    case luminance(RGBA)
  }

  /// How two colours are mixed, by SwiftUI's names. Source of the formulas: W3C, "Compositing and Blending Level 1".
  package enum Blend: String, Hashable, Sendable, CaseIterable {
    case normal, multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, softLight, hardLight, difference
    case exclusion, hue, saturation, color, luminosity, plusLighter
  }

  package struct Rotation: Hashable, Sendable {
    /// Clockwise.
    package var degrees: Double
    package var about: Point
  }

  package struct Scaling: Hashable, Sendable {
    package var x: Double
    package var y: Double
    package var about: Point
  }

  package struct Shadow: Hashable, Sendable {
    package var color: RGBA
    /// In points.
    package var radius: Double
    package var x: Double
    package var y: Double
  }
}

/// A picture: a size in points, and what is drawn, in order.
package struct Picture: Hashable, Sendable {
  package var size: Size
  package var drawings: [Drawing]
  /// What is not drawn as a device would, each once.
  package var notices: [String]

  package init(size: Size, drawings: [Drawing], notices: [String]) {
    self.size = size
    self.drawings = drawings
    self.notices = notices
  }
}

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
      var keptGroup = Drawing.Group()
      keptGroup.colors = [.luminance(RGBA.white)]
      keptGroup.opacity = 0.3
      let panel = Drawing.fill(Path(whole), .color(RGBA(0, 0, 0, opacity: 0.5)), isEvenOdd: false)
      let below = background.isEmpty ? [] : [Drawing.group(keptGroup, background)]
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
