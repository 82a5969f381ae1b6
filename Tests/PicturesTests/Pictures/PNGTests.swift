// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `PNG files and their comparison` {
  private let sample: PixelSample

  init() throws { sample = try PixelSample() }

  private func pixels(_ values: UInt32...) -> Pixels { Pixels(width: values.count, height: 1, values: values) }

  private func comparison(
    _ one: Pixels, _ two: Pixels, share: Double = 1, perceptual: Double = 1
  ) -> PixelComparison {
    PixelComparison(one, other: two, precision: PixelPrecision(share: share, perceptual: perceptual))
  }

  // MARK: Files

  @Test(.rule("PICTURE-20")) func `the same picture has the same bytes, which are read as the same pixels`() throws {
    let drawings: [Drawing] = [
      .group([.fill(Path(ellipseIn: Rect(x: 2, y: 2, width: 15, height: 15)), RGBA(1, 0.5, 0.2))]) {
        ($0.opacity, $0.blur) = (0.4, 1)
      }
    ]
    let pixels = try sample.pixels(drawings)
    let file = try pixels.png()
    #expect(try file == sample.pixels(drawings).png())
    let read = try Pixels(png: file)
    #expect(read == pixels)
    #expect(read.producer?.hasPrefix("WidgetLab with Cairo 1.") == true)
  }

  @Test(.rule("PICTURE-20")) func `an opacity and a colour survive the file for each combination`() throws {
    var values: [UInt32] = []
    for alpha in 0...255 as ClosedRange<UInt32> {
      for part in 0...alpha {
        let (red, green, blue) = (part << 16, (alpha - part) << 8, part / 2)
        values.append(alpha << 24 | red | green | blue)
      }
    }
    let pixels = Pixels(width: 257, height: 128, values: values)
    #expect(try Pixels(png: pixels.png()).values == values)
  }

  @Test(arguments: [[], [0x89, 0x50], Array("no picture at all".utf8)] as [[UInt8]])
  func `a file that is no PNG file is refused`(file: [UInt8]) {
    #expect(throws: PixelFailure.self) { try Pixels(png: file) }
  }

  @Test func `a file that was cut is refused`() throws {
    let file = try sample.pixels([.fill(Drawing.red)]).png()
    #expect(throws: PixelFailure.self) { try Pixels(png: Array(file.prefix(file.count / 2))) }
  }

  @Test(.rule("PICTURE-20"), arguments: [1.0, 2, 3])
  func `the pixels have the size of the SVG document, by the scale`(scale: Double) throws {
    let canvas = LayoutCanvas(size: Size(width: 158, height: 158), margins: Insets(16))
    let picture = ViewArchive.text("Size").picture(in: canvas, with: sample.font)
    let root = try #require(try elements(picture.svg(outlines: sample.font)).first { $0.name == "svg" })
    let pixels = try picture.pixels(outlines: sample.font, scale: scale).pixels
    #expect(Double(root.attributes["width"] ?? "").map { $0 * scale } == Double(pixels.width))
    #expect(Double(root.attributes["height"] ?? "").map { $0 * scale } == Double(pixels.height))
    // Black letters on a white widget, whose corner is cut.
    #expect(pixels.at(0, 0)[3] == 0 && pixels.at(pixels.width / 2, 4)[0] == 255)
    #expect(pixels.values.contains(0xFF00_0000))
  }

  @Test func `a picture that is too large is refused`() {
    let picture = Picture(size: Size(width: 40_000, height: 10), drawings: [], notices: [])
    #expect(throws: PixelFailure.self) { try picture.pixels(outlines: sample.font, scale: 1) }
  }

  // MARK: Comparison

  @Test(.rule("PICTURE-26")) func `equal pictures match`() {
    let one = pixels(0xFF10_2030, 0)
    #expect(comparison(one, one).difference == nil && comparison(one, one).image == nil)
  }

  @Test(.rule("PICTURE-26")) func `another size never matches`() {
    let found = comparison(pixels(1, 2), pixels(1, 2, 3), share: 0, perceptual: 0)
    #expect(found.difference == "it has 3 × 1 pixels, the reference has 2 × 1")
  }

  @Test(.rule("PICTURE-26")) func `precision alone counts bytes`() {
    let (one, two) = (pixels(0xFF00_0000, 0xFF00_0000), pixels(0xFF00_0000, 0xFF00_0101))
    #expect(
      comparison(one, two).difference
        == "1 of 2 pixels differ; 0.7500 of the bytes match, and 1 have to")
    #expect(comparison(one, two, share: 0.76).difference != nil)
    #expect(comparison(one, two, share: 0.75).difference == nil)
    #expect(comparison(one, two).image?.values == [0xFFBF_BFBF, 0xFFFF_0000])
  }

  @Test(.rule("PICTURE-26")) func `perceptual precision counts pixels that are seen as different`() {
    let gray = pixels(0xFF80_8080, 0xFF80_8080, 0xFF80_8080, 0xFF80_8080)
    let near = pixels(0xFF80_8080, 0xFF81_8080, 0xFF81_8180, 0xFF81_8181)
    #expect(comparison(gray, near).difference != nil)
    #expect(comparison(gray, near, perceptual: 0.98).difference == nil)
    #expect(comparison(gray, near, perceptual: 0.9999).difference != nil)
    let far = pixels(0xFF80_8080, 0xFF80_8080, 0xFF80_8080, 0xFFFF_0000)
    #expect(comparison(gray, far, share: 0.75, perceptual: 0.98).difference == nil)
    #expect(
      comparison(gray, far, share: 0.8, perceptual: 0.98).difference?.hasPrefix(
        "0.7500 of the pixels match, and 0.8000 have to") == true)
  }

  @Test(.rule("PICTURE-26")) func `a distance is that of CIE 1994, on white and on black`() {
    // The published colours of red and green in L*a*b* are (53.24, 80.09, 67.20) and (87.73, -86.18, 83.18).
    #expect(abs(PixelComparison.distance(0xFFFF_0000, 0xFF00_FF00) - 73.43) < 0.05)
    #expect(abs(PixelComparison.distance(0xFF00_0000, 0xFFFF_FFFF) - 100) < 0.01)
    #expect(PixelComparison.distance(0xFF12_3456, 0xFF12_3456) == 0)
    // Both are black on black; on white one is white.
    #expect(abs(PixelComparison.distance(0, 0xFF00_0000) - 100) < 0.01)
  }

  @Test(.rule("PICTURE-26")) func `a reference of another version of Cairo is named`() throws {
    var file = try sample.pixels([.fill(Drawing.red)]).png()
    let version = try #require(file.indices.first { file[$0...].starts(with: Array("Cairo 1.".utf8)) })
    file[version + 6] = UInt8(ascii: "0")
    let reference = try Pixels(png: file)
    let found = try PixelComparison(reference, other: sample.pixels([.fill(Drawing.blue)]), precision: .exact)
    let difference = try #require(found.difference)
    #expect(difference.contains("; the reference was made by WidgetLab with Cairo 0."))
    #expect(difference.contains(", and this by WidgetLab with Cairo 1."))
  }
}
