// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

/// Pictures of 20 points at a scale of 1, whose pixels are compared.
struct PixelSample {
  let font: InterFont

  init() throws { font = try InterFont() }

  func pixels(_ drawings: [Drawing], scale: Double = 1) throws -> Pixels {
    try Picture(size: Size(width: 20, height: 20), drawings: drawings, notices: [])
      .pixels(outlines: font, scale: scale).pixels
  }
}

extension Pixels {
  /// Red, green, blue and opacity of a pixel; the colours are multiplied by the opacity.
  func at(_ x: Int, _ y: Int) -> [Int] {
    let value = values[y * width + x]
    return [16, 8, 0, 24].map { Int(value >> $0 & 0xFF) }
  }
}

/// Whether components differ by at most a step, or by another number.
func near(_ one: [Int], _ two: [Int], by limit: Int = 1) -> Bool {
  one.count == two.count && zip(one, two).allSatisfy { abs($0 - $1) <= limit }
}

extension Drawing {
  static let all = Path(Rect(x: 0, y: 0, width: 20, height: 20))
  static let left = Path(Rect(x: 0, y: 0, width: 10, height: 20))
  static let red = RGBA(1, 0, 0)
  static let green = RGBA(0, 1, 0)
  static let blue = RGBA(0, 0, 1)

  static func fill(_ path: Path, _ color: RGBA) -> Drawing { .fill(path, .color(color), isEvenOdd: false) }
  static func fill(_ color: RGBA) -> Drawing { .fill(all, .color(color), isEvenOdd: false) }
  static func fill(_ paint: Paint) -> Drawing { .fill(all, paint, isEvenOdd: false) }

  static func group(_ drawings: [Drawing], _ change: (inout Group) -> Void) -> Drawing {
    var group = Group()
    change(&group)
    return .group(group, drawings)
  }
}

@Suite(.timeLimit(.minutes(1))) struct `Pixels of paints and outlines` {
  private let sample: PixelSample
  private let stops = [Paint.Stop(color: RGBA(1, 0, 0), location: 0), Paint.Stop(color: RGBA(0, 0, 1), location: 1)]

  init() throws { sample = try PixelSample() }

  private func center(_ width: Double, _ height: Double) -> Rect {
    Rect(x: 10 - width / 2, y: 10 - height / 2, width: width, height: height)
  }

  @Test(.rule("PICTURE-20")) func `a colour fills an outline, and its edge is mixed`() throws {
    let pixels = try sample.pixels([
      .fill(Path(Rect(x: 0, y: 0, width: 10.5, height: 20)), RGBA(0.2, 0.4, 0.6, opacity: 0.5))
    ])
    #expect(near(pixels.at(3, 3), [26, 51, 77, 128]))
    #expect(near(pixels.at(10, 3), [13, 26, 38, 64]))
    #expect(pixels.at(11, 3) == [0, 0, 0, 0])
    #expect((pixels.width, pixels.height) == (20, 20))
  }

  @Test(.rule("PICTURE-20")) func `the holes of an outline follow its rule`() throws {
    var path = Drawing.all
    path.elements += Path(center(10, 10)).elements
    let winding = try sample.pixels([.fill(path, .color(Drawing.red), isEvenOdd: false)])
    let evenOdd = try sample.pixels([.fill(path, .color(Drawing.red), isEvenOdd: true)])
    #expect(winding.at(10, 10) == [255, 0, 0, 255] && evenOdd.at(10, 10) == [0, 0, 0, 0])
    #expect(evenOdd.at(2, 2) == [255, 0, 0, 255])
  }

  @Test(.rule("PICTURE-20")) func `a quadratic curve is drawn`() throws {
    var path = Path()
    path.elements = [
      .move(Point(x: 0, y: 20)), .quad(Point(x: 20, y: 20), control: Point(x: 10, y: -20)), .close,
    ]
    let pixels = try sample.pixels([.fill(path, Drawing.red)])
    // The curve's top is half-way between its ends and its control point: y = 0.
    #expect(pixels.at(10, 1) == [255, 0, 0, 255] && pixels.at(1, 1) == [0, 0, 0, 0])
  }

  @Test(.rule("PICTURE-20")) func `a line has its width, its ends and its dashes`() throws {
    var line = Path()
    line.elements = [.move(Point(x: 5, y: 10)), .line(Point(x: 15, y: 10))]
    func drawn(_ change: (inout Stroke) -> Void) throws -> Pixels {
      var stroke = Stroke(width: 4)
      change(&stroke)
      return try sample.pixels([.stroke(line, .color(Drawing.red), stroke)])
    }
    let butt = try drawn { _ in }
    #expect(butt.at(10, 9) == [255, 0, 0, 255] && butt.at(10, 12) == [0, 0, 0, 0] && butt.at(4, 10) == [0, 0, 0, 0])
    let square = try drawn { $0.cap = "square" }
    #expect(square.at(3, 8) == [255, 0, 0, 255])
    let round = try drawn { $0.cap = "round" }
    #expect(round.at(4, 10)[3] > 200 && round.at(3, 8)[3] < 100)
    let dashed = try drawn { ($0.dash, $0.dashPhase) = ([2, 3], 1) }
    #expect(dashed.at(5, 10) == [255, 0, 0, 255] && dashed.at(7, 10) == [0, 0, 0, 0] && dashed.at(9, 10)[3] == 255)
    #expect(try drawn { $0.dash = [0, 0] } == butt)
    #expect(try drawn { $0.width = 0 }.at(10, 10) == [0, 0, 0, 0])
  }

  @Test(.rule("PICTURE-20")) func `the corner of a line has its join`() throws {
    var corner = Path()
    corner.elements = [.move(Point(x: 4, y: 18)), .line(Point(x: 4, y: 4)), .line(Point(x: 18, y: 4))]
    let found = try ["miter", "round", "bevel"].map { join in
      var stroke = Stroke(width: 6)
      stroke.join = join
      return try sample.pixels([.stroke(corner, .color(Drawing.red), stroke)]).at(1, 2)[3]
    }
    #expect(found[0] == 255 && found[1] > 30 && found[1] < 255 && found[2] == 0)
  }

  @Test(.rule("PICTURE-20")) func `a linear gradient mixes its stops, and goes on beyond its ends`() throws {
    let pixels = try sample.pixels([
      .fill(.linear(stops, from: Point(x: 5, y: 0), to: Point(x: 15, y: 0)))
    ])
    #expect(pixels.at(2, 3) == [255, 0, 0, 255] && pixels.at(18, 3) == [0, 0, 255, 255])
    #expect(near(pixels.at(7, 3), [191, 0, 64, 255], by: 2))
    let none = try sample.pixels([.fill(.linear(stops, from: Point(x: 5, y: 0), to: Point(x: 5, y: 0)))])
    #expect(none.at(2, 3) == [0, 0, 255, 255])
  }

  @Test(.rule("PICTURE-20")) func `a gradient mixes colours that are not multiplied by their opacity`() throws {
    let stops = [
      Paint.Stop(color: RGBA(1, 1, 1, opacity: 0), location: 0), Paint.Stop(color: RGBA(0, 0, 0), location: 1),
    ]
    let pixels = try sample.pixels([.fill(.linear(stops, from: Point(x: 0, y: 0), to: Point(x: 20, y: 0)))])
    // In the middle gray at one half.
    #expect(near(pixels.at(10, 10), [64, 64, 64, 134], by: 4))
  }

  @Test(.rule("PICTURE-20")) func `a radial gradient has an inner and an outer radius`() throws {
    let pixels = try sample.pixels([.fill(.radial(stops, centre: Point(x: 10, y: 10), from: 2, to: 8))])
    #expect(pixels.at(10, 10) == [255, 0, 0, 255] && pixels.at(0, 10) == [0, 0, 255, 255])
    #expect(near(pixels.at(14, 10), [155, 0, 100, 255], by: 8))
    let none = try sample.pixels([.fill(.radial(stops, centre: Point(x: 10, y: 10), from: 5, to: 5))])
    #expect(none.at(10, 10) == [0, 0, 255, 255])
  }

  @Test(.rule("PICTURE-20")) func `an elliptical gradient is stretched`() throws {
    let pixels = try sample.pixels([
      .fill(.elliptical(stops, centre: Point(x: 10, y: 10), unit: Size(width: 20, height: 10), from: 0, to: 0.5))
    ])
    // Half-way to the right, and half-way down.
    #expect(near(pixels.at(15, 9), pixels.at(9, 12), by: 16))
    #expect(near(pixels.at(15, 10), [115, 0, 140, 255], by: 10))
    #expect(pixels.at(10, 16) == [0, 0, 255, 255] && pixels.at(18, 10) != [0, 0, 255, 255])
  }

  @Test(.rule("PICTURE-20", "PICTURE-42")) func `an angular gradient turns clockwise in fills, lines and texts`() throws
  {
    let turn = Paint.angular(
      [
        Paint.Stop(color: Drawing.red, location: 0), Paint.Stop(color: Drawing.red, location: 0.5),
        Paint.Stop(color: Drawing.blue, location: 0.5), Paint.Stop(color: Drawing.blue, location: 1),
      ], centre: Point(x: 10, y: 10), start: 0)
    let fill = try sample.pixels([.fill(turn)])
    #expect(fill.at(10, 15) == [255, 0, 0, 255] && fill.at(10, 4) == [0, 0, 255, 255])
    #expect(fill.values.allSatisfy { $0 >> 24 == 255 }, "the wedges have no gap")
    let line = try sample.pixels([.stroke(Path(ellipseIn: center(14, 14)), turn, Stroke(width: 2))])
    #expect(near(line.at(10, 16), [255, 0, 0, 255], by: 40) && near(line.at(10, 3), [0, 0, 255, 255], by: 40))
    #expect(line.at(10, 10) == [0, 0, 0, 0])
    let font = FontDescription(size: 24, weight: .black)
    let glyphs = sample.font.glyphs(of: "I", in: font, at: Point(x: 6, y: 19)).glyphs
    let text = try sample.pixels([.text("I", glyphs, turn)])
    #expect(text.values.contains(0xFFFF_0000) && text.values.contains(0xFF00_00FF))
  }

  @Test(.rule("PICTURE-20")) func `a text is its outlines`() throws {
    let font = FontDescription(size: 20, weight: .bold)
    let glyphs = sample.font.glyphs(of: "H", in: font, at: Point(x: 2, y: 17)).glyphs
    let pixels = try sample.pixels([.text("H", glyphs, .color(Drawing.red))])
    // The bar of the letter, and the space below it.
    let column = (0..<20).filter { pixels.at(9, $0)[3] > 200 }
    #expect(!column.isEmpty && column.count < 6)
    #expect((5..<16).allSatisfy { y in (0..<20).contains { pixels.at($0, y)[3] == 255 } })
  }

  @Test(.rule("PICTURE-20")) func `a PNG image fills its rectangle, and another one is named`() throws {
    let image = Pixels(width: 2, height: 1, values: [0xFFFF_0000, 0xFF00_00FF])
    let file = Data(try image.png()).base64EncodedString()
    let rect = Rect(x: 0, y: 0, width: 20, height: 10)
    let pixels = try sample.pixels([.image(mediaType: "image/png", base64: file, rect)])
    #expect(pixels.at(0, 0) == [255, 0, 0, 255] && pixels.at(19, 9) == [0, 0, 255, 255])
    #expect(pixels.at(10, 12) == [0, 0, 0, 0])
    func notices(_ mediaType: String, _ base64: String) throws -> [String] {
      let drawing = Drawing.image(mediaType: mediaType, base64: base64, rect)
      return try Picture(size: Size(width: 20, height: 20), drawings: [drawing, drawing], notices: [])
        .pixels(outlines: sample.font, scale: 1).notices
    }
    #expect(try notices("image/jpeg", "/9j/AAAA") == ["an image is no complete JPEG file, and is not drawn"])
    #expect(try notices("image/png", "iVBORw0KGgoAAA==") == ["an image is no complete PNG file, and is not drawn"])
  }

  @Test(.rule("PICTURE-20")) func `a JPEG image in CMYK colours is named as such`() throws {
    // The header of 16 by 8 pixels with four components, and the start of a scan.
    var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 20, 8, 0, 8, 0, 16, 4]
    bytes += [1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0]
    bytes += [0xFF, 0xDA, 0, 14, 4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0, 0xFF, 0xD9]
    let image = Drawing.image(
      mediaType: "image/jpeg", base64: Data(bytes).base64EncodedString(), Rect(x: 0, y: 0, width: 9, height: 9))
    let picture = Picture(size: Size(width: 20, height: 20), drawings: [image], notices: [])
    #expect(
      try picture.pixels(outlines: sample.font, scale: 1).notices
        == ["a JPEG image has CMYK colours, and is not drawn: export it in RGB, or write .svg"])
  }

  @Test(.rule("PICTURE-20")) func `a JPEG image fills its rectangle`() throws {
    let rect = Rect(x: 0, y: 0, width: 20, height: 10)
    let pixels = try sample.pixels([.image(mediaType: "image/jpeg", base64: redAndBlue, rect)])
    func isNear(_ foundColor: [Int], _ color: [Int]) -> Bool { zip(foundColor, color).allSatisfy { abs($0 - $1) < 4 } }
    #expect(isNear(pixels.at(1, 1), [255, 0, 0, 255]), "\(pixels.at(1, 1))")
    #expect(isNear(pixels.at(18, 8), [0, 0, 255, 255]), "\(pixels.at(18, 8))")
    #expect(pixels.at(10, 12) == [0, 0, 0, 0])
  }

  @Test(.rule("PICTURE-20")) func `numbers that are not finite and sizes without an area are drawn`() throws {
    var path = Path()
    path.elements = [.move(Point(x: .nan, y: 0)), .line(Point(x: .infinity, y: 1e300)), .line(Point(x: 0, y: 20))]
    var drawings: [Drawing] = [.fill(path, Drawing.red), .stroke(path, .color(Drawing.red), Stroke(width: 1e300))]
    drawings.append(.group([.fill(Drawing.red)]) { $0.scale = Drawing.Scaling(x: 0, y: 1, about: Point(x: 0, y: 0)) })
    drawings.append(.group([.fill(Drawing.red)]) { $0.blur = 1e300 })
    drawings.append(.group([.fill(Drawing.red)]) { $0.clip = Path() })
    #expect(try sample.pixels(drawings).values.count == 400)
  }
}

/// A JPEG file of 16 × 8 pixels: the left half is red, the right half is blue.
private let redAndBlue =
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsICQoKCgoKBggLDA"
  + "sKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgr/wAARCAAI"
  + "ABADAREAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhBy"
  + "JxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
  + "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAA"
  + "AAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRom"
  + "JygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExc"
  + "bHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwD4vr+Uz/fw+Q6/6qD/AJrz/9k="
