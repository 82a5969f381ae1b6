// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

@Suite struct `Hostile SVG` {
  private func result(_ content: String) -> Result<VectorImage, ImageFault> {
    Result { () throws(ImageFault) in
      try VectorImage(
        Data("<svg width=\"10\" height=\"10\">\(content)</svg>".utf8), in: Rect(x: 0, y: 0, width: 10, height: 10))
    }
  }

  private func reason(_ content: String) -> String? {
    if case .failure(let fault) = result(content) { return "\(fault)" }
    return nil
  }

  @Test(.rule("PICTURE-79")) func `elements that use each other are not followed forever`() {
    let loop = ##"<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>"##
    #expect(reason(loop)?.hasSuffix("its elements use each other too often") == true)
    #expect(reason(##"<clipPath id="a"><use href="#a"/></clipPath><path d="M0 0h1v1" clip-path="url(#a)"/>"##) == nil)
    let mask = ##"<mask id="a"><path d="M0 0h1v1" mask="url(#a)"/></mask><path d="M0 0h1v1" mask="url(#a)"/>"##
    #expect(reason(mask)?.hasSuffix("its elements use each other too often") == true)
    let gradient =
      ##"<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/><path d="M0 0h1v1" fill="url(#a)"/>"##
    #expect(reason(gradient) == nil)
  }

  @Test(.rule("PICTURE-79")) func `a document that repeats itself exponentially is refused`() {
    var content = #"<g id="a0"><path d="M0 0h1v1"/></g>"#
    for level in 1...12 {
      content += "<g id=\"a\(level)\">" + String(repeating: "<use href=\"#a\(level - 1)\"/>", count: 10) + "</g>"
    }
    #expect(reason(content)?.hasSuffix("it draws more than 10000 elements") == true)
  }

  @Test(.rule("PICTURE-79")) func `segments, groups and dashes are limited`() {
    let long = "<path id=\"a\" d=\"M0 0\(String(repeating: "h1", count: 99_998))\"/>"
    #expect(reason(long) == nil)
    #expect(reason(long + ##"<use href="#a"/>"##)?.hasSuffix("its outlines have more than 100000 segments") == true)
    let groups = String(repeating: #"<g opacity=".5"><path d="M0 0h1v1"/><path d="M0 0h1v1"/></g>"#, count: 101)
    #expect(
      reason(groups)?.hasSuffix("it has more than 100 groups with an opacity, a clip or a mask") == true)
    guard
      case .success(let image) = result(
        #"<path d="M1 5H9" stroke="red" stroke-dasharray="0.0001" fill="none"/>"#),
      case .stroke(_, _, let line)? = image.drawings.first
    else {
      Issue.record("no line")
      return
    }
    #expect(line.dash.isEmpty && image.missing == ["a line with more than 20000 dashes"])
  }

  @Test(.rule("PICTURE-79")) func `numbers that are not finite or very large draw nothing, and pixels are bounded`()
    throws
  {
    let huge = """
      <path d="M0 0L999999 999999" stroke="red" stroke-width="999999" transform="scale(100000)"/>
      <rect width="1e300" height="nan"/><path d="M0 0h1v1" transform="scale(1e9)"/><circle r="inf"/>
      <path d="M0 0h1v1" transform="scale(0)" fill="url(#g)"/><radialGradient id="g"><stop/><stop offset="1"/></radialGradient>
      """
    guard case .success(let image) = result(huge) else {
      Issue.record("\(result(huge))")
      return
    }
    let picture = Picture(size: Size(width: 10, height: 10), drawings: image.drawings, notices: [])
    #expect(!picture.svg(outlines: try InterFont()).contains("nan"))
    _ = try picture.pixels(outlines: try InterFont(), scale: 2)
  }

  @Test(.rule("PICTURE-79")) func `many style rules and stops are read in bounded time`() {
    let rules = (0..<20_000).map { ".a\($0 % 7){fill:red}" }.joined()
    let shapes = String(repeating: #"<path class="a1 a2 a3 a4 a5" d="M0 0h1v1"/>"#, count: 5_000)
    #expect(reason("<style>\(rules)</style>\(shapes)") == nil)
    let stops = String(repeating: "<stop offset=\"1\"/>", count: 9_000)
    #expect(reason("<linearGradient id=\"g\">\(stops)</linearGradient><path d=\"M0 0h1v1\" fill=\"url(#g)\"/>") == nil)
    #expect(reason("<style>\(String(repeating: "a{", count: 100_000))</style>") == nil)
  }
}
