// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Pixels of groups` {
  private let sample: PixelSample
  private let white = Drawing.fill(RGBA(1, 1, 1))

  init() throws { sample = try PixelSample() }

  private func square(_ x: Double, _ y: Double, side: Double) -> Path {
    Path(Rect(x: x, y: y, width: side, height: side))
  }

  @Test(.rule("PICTURE-21")) func `an opacity applies to the finished group`() throws {
    let two = [Drawing.fill(Drawing.red), Drawing.fill(Drawing.left, Drawing.blue)]
    let pixels = try sample.pixels([.group(two) { $0.opacity = 0.5 }])
    #expect(near(pixels.at(3, 3), [0, 0, 128, 128]) && near(pixels.at(15, 3), [128, 0, 0, 128]))
    #expect(try sample.pixels([.group(two) { $0.opacity = 0 }]).at(3, 3) == [0, 0, 0, 0])
  }

  @Test(.rule("PICTURE-21")) func `a clip and a mask leave a part`() throws {
    let fill = [Drawing.fill(Drawing.red)]
    let clipped = try sample.pixels([.group(fill) { $0.clip = square(5, 5, side: 10) }])
    #expect(clipped.at(7, 7) == [255, 0, 0, 255] && clipped.at(3, 7) == [0, 0, 0, 0])
    let masked = try sample.pixels([
      .group(fill) { $0.mask = [.fill(Drawing.left, RGBA(0, 1, 0, opacity: 0.5))] }
    ])
    #expect(near(masked.at(3, 3), [128, 0, 0, 128]) && masked.at(15, 3) == [0, 0, 0, 0])
  }

  @Test(.rule("PICTURE-21")) func `a group is moved, turned clockwise or scaled, with its clip and its mask`() throws {
    let bar = [Drawing.fill(Path(Rect(x: 10, y: 8, width: 10, height: 4)), Drawing.red)]
    let centre = Point(x: 10, y: 10)
    let moved = try sample.pixels([.group(bar) { $0.offset = Point(x: -8, y: 3) }])
    #expect(moved.at(4, 12) == [255, 0, 0, 255] && moved.at(15, 9) == [0, 0, 0, 0])
    let turned = try sample.pixels([.group(bar) { $0.rotation = Drawing.Rotation(degrees: 90, about: centre) }])
    #expect(near(turned.at(10, 18), [255, 0, 0, 255]) && turned.at(17, 10) == [0, 0, 0, 0])
    let scaled = try sample.pixels([.group(bar) { $0.scale = Drawing.Scaling(x: -1, y: 2, about: centre) }])
    #expect(scaled.at(2, 7) == [255, 0, 0, 255] && scaled.at(15, 10) == [0, 0, 0, 0])
    let clipped = try sample.pixels([
      .group([.fill(Drawing.red)]) {
        ($0.offset, $0.clip, $0.mask) = (
          Point(x: 10, y: 0), square(0, 0, side: 8), [.fill(square(0, 0, side: 4), Drawing.blue)]
        )
      }
    ])
    #expect(clipped.at(12, 2) == [255, 0, 0, 255])
    #expect(clipped.at(16, 2) == [0, 0, 0, 0] && clipped.at(2, 2) == [0, 0, 0, 0])
  }

  @Test(.rule("PICTURE-22")) func `a matrix maps the colours of the finished group`() throws {
    let color = RGBA(0.2, 0.4, 0.6, opacity: 0.5)
    func mapped(_ maps: Drawing.ColorMap...) throws -> [Int] {
      try sample.pixels([.group([.fill(color)]) { $0.colors = maps }]).at(10, 10)
    }
    // The expected numbers are those of the colours, multiplied by their opacity.
    #expect(near(try mapped(.scale([-1, -1, -1], plus: 1)), [102, 77, 51, 128]))
    #expect(near(try mapped(.scale([1, 1, 1], plus: 0.3)), [64, 89, 115, 128]))
    #expect(near(try mapped(.saturation(0)), [48, 48, 48, 128]))
    #expect(near(try mapped(.replacement(Drawing.red)), [128, 0, 0, 128]))
    #expect(
      near(try mapped(.replacement(RGBA(1, 0, 0, opacity: 0.5)), .scale([1, 0, 0], opacity: 0.5)), [32, 0, 0, 32]))
    let sum = Drawing.ColorMap.matrix([Double](repeating: 0, count: 19) + [1])
    #expect(try sample.pixels([.group([]) { $0.colors = [sum] }]).at(3, 3) == [0, 0, 0, 255])
  }

  @Test(.rule("PICTURE-22")) func `a luminance becomes the strength of a colour`() throws {
    let color = RGBA(0.2, 0.4, 0.6, opacity: 0.5)
    let pixels = try sample.pixels([.group([.fill(color)]) { $0.colors = [.luminance(RGBA(1, 1, 1))] }])
    // 0.5 × (0.2126 × 0.2 + 0.7152 × 0.4 + 0.0722 × 0.6) = 0.186
    #expect(near(pixels.at(10, 10), [47, 47, 47, 47]))
  }

  @Test(.rule("PICTURE-23")) func `a blur spreads a group over three deviations, and keeps its sum`() throws {
    let dot = Drawing.fill(square(8, 8, side: 4), RGBA(1, 1, 1))
    let sharp = try sample.pixels([dot])
    let blurred = try sample.pixels([.group([dot]) { $0.blur = 2 }])
    #expect(blurred.at(10, 10)[3] < 160 && blurred.at(10, 10)[3] > 80 && blurred.at(5, 10)[3] > 10)
    #expect(blurred.at(10, 7) == blurred.at(7, 10) && blurred.at(7, 7) == blurred.at(12, 12))
    func sum(_ pixels: Pixels) -> Int { pixels.values.reduce(0) { $0 + Int($1 >> 24) } }
    #expect(abs(sum(blurred) - sum(sharp)) < sum(sharp) / 20)
    #expect(try sample.pixels([.group([dot]) { $0.blur = 0.1 }]) == sharp)
  }

  @Test(.rule("PICTURE-23"), arguments: [0.8, 1, 1.5, 2, 3, 7.5]) func `three boxes have the deviation of the blur`(
    deviation: Double
  ) throws {
    let boxes = try #require(BoxBlur(deviation: deviation))
    let variance = boxes.passes.reduce(0.0) { $0 + Double($1.size * $1.size - 1) / 12 }
    #expect(abs(variance.squareRoot() - deviation) < 0.4)
    let shift = boxes.passes.reduce(0.0) { $0 + Double($1.size - 1) / 2 - Double($1.before) }
    #expect(shift == 0, "the boxes are centred together")
  }

  @Test(.rule("PICTURE-23")) func `what is outside the picture is blurred into it`() throws {
    let outside = Drawing.fill(Path(Rect(x: -10, y: 0, width: 10, height: 20)), Drawing.red)
    let pixels = try sample.pixels([.group([outside]) { $0.blur = 3 }])
    #expect(pixels.at(0, 10)[3] > 80 && pixels.at(15, 10)[3] == 0)
  }

  @Test(.rule("PICTURE-24")) func `a shadow has its colour and its place, below the group`() throws {
    let square = Drawing.fill(square(4, 4, side: 6), Drawing.red)
    let shadow = Drawing.Shadow(color: RGBA(0, 0, 1, opacity: 0.5), radius: 0, x: 5, y: 5)
    let pixels = try sample.pixels([.group([square]) { $0.shadow = shadow }])
    #expect(pixels.at(5, 5) == [255, 0, 0, 255] && pixels.at(9, 9) == [255, 0, 0, 255])
    #expect(near(pixels.at(12, 12), [0, 0, 128, 128]) && pixels.at(16, 16) == [0, 0, 0, 0])
    var soft = shadow
    soft.radius = 4
    let blurred = try sample.pixels([.group([square]) { $0.shadow = soft }])
    #expect(blurred.at(16, 12)[3] > 5 && blurred.at(12, 12)[3] < 128)
    // A turned group has a turned shadow.
    let turned = try sample.pixels([
      .group([square]) {
        ($0.shadow, $0.rotation) = (shadow, Drawing.Rotation(degrees: 90, about: Point(x: 10, y: 10)))
      }
    ])
    #expect(near(turned.at(7, 12), [0, 0, 128, 128]))
  }

  @Test(.rule("PICTURE-25"), arguments: Drawing.Blend.allCases) func `a blend mode has the formula of the W3C`(
    blend: Drawing.Blend
  ) throws {
    let (below, above) = ([0.2, 0.6, 0.9], [0.7, 0.4, 0.1])
    let pixels = try sample.pixels([
      .fill(RGBA(below[0], below[1], below[2])),
      .group([.fill(RGBA(above[0], above[1], above[2]))]) { $0.blend = blend },
    ])
    let expected = BlendFormula.mixed(below, above: above, blend: blend).map { Int(($0 * 255).rounded()) }
    #expect(near(pixels.at(10, 10), expected + [255], by: 2), "\(blend): \(pixels.at(10, 10)), not \(expected)")
  }

  @Test(.rule("PICTURE-25")) func `a blend mode ends at an isolated group, and not at another one`() throws {
    let multiplied = Drawing.group([.fill(Drawing.red)]) { $0.blend = .multiply }
    let blue = Drawing.fill(Drawing.blue)
    #expect(try sample.pixels([blue, multiplied]).at(3, 3) == [0, 0, 0, 255])
    #expect(try sample.pixels([blue, .group([multiplied]) { _ in }]).at(3, 3) == [0, 0, 0, 255])
    let isolated = Drawing.group([multiplied]) { $0.isIsolated = true }
    #expect(try sample.pixels([blue, isolated]).at(3, 3) == [255, 0, 0, 255])
    let clipped = Drawing.group([multiplied]) { $0.clip = Drawing.all }
    #expect(try sample.pixels([blue, clipped]).at(3, 3) == [255, 0, 0, 255])
  }

  @Test(.rule("PICTURE-21")) func `the parts of a group apply in their order`() throws {
    // Mapped to red, then clipped and faded, then multiplied.
    let group = Drawing.group([.fill(Drawing.green)]) {
      ($0.colors, $0.clip, $0.opacity, $0.blend) = ([.replacement(Drawing.red)], Drawing.left, 0.5, .multiply)
    }
    let pixels = try sample.pixels([white, group])
    #expect(near(pixels.at(3, 3), [255, 128, 128, 255]) && pixels.at(15, 3) == [255, 255, 255, 255])
  }
}

/// The formulas of W3C, "Compositing and Blending Level 1", for opaque colours.
private enum BlendFormula {
  static func mixed(_ below: [Double], above: [Double], blend: Drawing.Blend) -> [Double] {
    switch blend {
    case .hue: return lit(saturated(above, saturation(below)), luminosity(below))
    case .saturation: return lit(saturated(below, saturation(above)), luminosity(below))
    case .color: return lit(above, luminosity(below))
    case .luminosity: return lit(below, luminosity(above))
    default: return zip(below, above).map { part($0, above: $1, blend: blend) }
    }
  }

  private static func part(_ below: Double, above: Double, blend: Drawing.Blend) -> Double {
    switch blend {
    case .multiply: below * above
    case .screen: below + above - below * above
    case .overlay: part(above, above: below, blend: .hardLight)
    case .darken: min(below, above)
    case .lighten: max(below, above)
    case .colorDodge: min(1, below / (1 - above))
    case .colorBurn: 1 - min(1, (1 - below) / above)
    case .hardLight: above <= 0.5 ? below * 2 * above : part(below, above: 2 * above - 1, blend: .screen)
    case .softLight:
      above <= 0.5
        ? below - (1 - 2 * above) * below * (1 - below)
        : below + (2 * above - 1)
          * ((below <= 0.25 ? ((16 * below - 12) * below + 4) * below : below.squareRoot()) - below)
    case .difference: abs(below - above)
    case .exclusion: below + above - 2 * below * above
    case .plusLighter: min(1, below + above)
    default: above
    }
  }

  private static func luminosity(_ color: [Double]) -> Double { 0.3 * color[0] + 0.59 * color[1] + 0.11 * color[2] }

  private static func saturation(_ color: [Double]) -> Double { (color.max() ?? 0) - (color.min() ?? 0) }

  private static func lit(_ color: [Double], _ luminosity: Double) -> [Double] {
    let moved = color.map { $0 + luminosity - Self.luminosity(color) }
    let (low, high) = (moved.min() ?? 0, moved.max() ?? 0)
    return moved.map { part in
      if low < 0 { return luminosity + (part - luminosity) * luminosity / (luminosity - low) }
      if high > 1 { return luminosity + (part - luminosity) * (1 - luminosity) / (high - luminosity) }
      return part
    }
  }

  private static func saturated(_ color: [Double], _ saturation: Double) -> [Double] {
    let (low, high) = (color.min() ?? 0, color.max() ?? 0)
    return color.map { high > low ? ($0 - low) * saturation / (high - low) : 0 }
  }
}
