// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@Suite struct `An SVG file` {
  private static func size(_ text: String) throws -> [Double] {
    let file = try VectorFile(checking: Data(text.utf8))
    return [file.width, file.height]
  }

  private static func reason(_ text: String) -> String? {
    do throws(ImageFault) {
      _ = try VectorFile(checking: Data(text.utf8))
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test(
    .rule("PICTURE-77"),
    arguments: [
      (#"<svg width="24" height="12"/>"#, [24, 12]),
      (#"<svg width="24px" height="9pt" viewBox="0 0 1 1"/>"#, [24, 12]),
      (#"<svg viewBox="0 0 30 15"/>"#, [30, 15]),
      (#"<svg width="100%" height="50%" viewBox="0 0 30 15"/>"#, [30, 7.5]),
      (#"<svg width="60" viewBox="0 0 30 15"/>"#, [60, 30]), (#"<svg height='60' viewBox='0,0,30,15'/>"#, [120, 60]),
      (
        """
        \u{FEFF}<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "file:///etc/passwd">
        <!-- < > --><svg:svg width="8" height="8"><g><![CDATA[</svg>]]></g></svg:svg> \n
        """, [8, 8]
      ),
    ])
  func `its size is that of the root element, or else of its view box`(text: String, size: [Double]) throws {
    #expect(try Self.size(text) == size)
  }

  @Test(
    .rule("PICTURE-79"),
    arguments: [
      ("", "it has no element"), ("<svg/>", "it has no size"), ("<html/>", "its root element is not svg"),
      (#"<svg width="8" height="8">"#, "it is cut off"), (#"<svg width="8" height="8"#, "it is cut off"),
      (#"<svg width="8" height="8"></g>"#, "</g> ends no open element at byte 29"),
      (#"<svg width="8" height="8"/><svg/>"#, "it has a second root element at byte 33"),
      (#"<svg width=8/>"#, "a quotation mark is expected at byte 11"),
      (#"<svg width="0" height="8"/>"#, "its size is not between 0 and 10000 points"),
      (#"<svg width="nan" height="inf"/>"#, "it has no size"),
      (#"<svg width="20000" height="8"/>"#, "its size is not between 0 and 10000 points"),
      ("<!DOCTYPE svg [<!ENTITY a \"b\">]><svg/>", "it declares entities, which are not read"),
      (#"<svg width="8" height="8"><!ELEMENT a></svg>"#, "a declaration is not read at byte 26"),
      (#"<svg width="8" height="8"><!-- never ends"#, "it is cut off"), ("<?xml", "it is cut off"),
      ("s\0v\0g", "it is not in UTF-8"),
    ])
  func `a document that is not read is refused with the reason`(text: String, reason: String) {
    #expect(Self.reason(text) == "the SVG document is not read: \(reason)")
  }

  @Test(.rule("PICTURE-79")) func `a document that is cut off anywhere is refused`() {
    let text = #"<svg width="8" height="8"><g id="a"><path d="M0 0L1 1"/></g><!-- a --></svg>"#
    for length in 0..<text.utf8.count {
      #expect(Self.reason(String(text.prefix(length))) != nil, "\(length)")
    }
    #expect(Self.reason(text) == nil)
  }

  @Test(.rule("PICTURE-79")) func `the length, the depth and the number of elements and attributes are limited`() {
    func svg(_ content: String) -> String { "<svg width=\"8\" height=\"8\">\(content)</svg>" }
    func nested(_ count: Int) -> String {
      String(repeating: "<g>", count: count) + String(repeating: "</g>", count: count)
    }
    #expect(Self.reason(svg(nested(63))) == nil)
    #expect(Self.reason(svg(nested(64)))?.hasSuffix("its elements are nested deeper than 64 levels") == true)
    #expect(Self.reason(svg(nested(100_000)))?.hasSuffix("nested deeper than 64 levels") == true)
    #expect(Self.reason(svg(String(repeating: "<g/>", count: 9_999))) == nil)
    #expect(
      Self.reason(svg(String(repeating: "<g/>", count: 10_000)))?.hasSuffix("it has more than 10000 elements") == true)
    let many = (0...100).map { "a\($0)=\"\"" }.joined(separator: " ")
    #expect(Self.reason(svg("<g \(many)/>"))?.hasSuffix("an element has more than 100 attributes") == true)
    #expect(Self.reason(svg(String(repeating: "-", count: 1 << 20)))?.hasSuffix("longer than 1048576 bytes") == true)
  }

  @Test(.rule("PICTURE-79")) func `any other byte is refused or read, and never a trap`() {
    let text = Data(#"<svg width="8" height="8"><a b='&#x41;'/><!--c--><![CDATA[d]]><?e f?></svg>"#.utf8)
    for index in text.indices {
      for byte in [0, 0x20, 0x22, 0x26, 0x2F, 0x3C, 0x3E, 0x3D, 0x5D, 0xFF] as [UInt8] {
        var changed = text
        changed[index] = byte
        _ = try? VectorFile(checking: changed)
        _ = try? SymbolTemplate(changed)
      }
    }
  }

  @Test(.rule("PICTURE-79")) func `references to characters are replaced, and no others`() throws {
    var scanner = try XMLScanner(
      Data(##"<svg a="&lt;&amp;amp;&#65;&#x42;&nbsp;&#xFFFFFFFF;&" xlink:href="#b"/>"##.utf8))
    guard case .start(let tag) = try scanner.next() else {
      Issue.record("no start tag")
      return
    }
    #expect(tag.attributes.map(\.name) == ["a", "href"])
    #expect(scanner.text(tag.attributes[0].value) == "<&amp;AB&nbsp;&#xFFFFFFFF;&")
  }

  @Test(
    .rule("PICTURE-77"),
    arguments: [
      ("1 2,3", [1, 2, 3]), ("1-2.5.5", [1, -2.5, 0.5]), ("1e-2 -1", [0.01, -1]), ("", []), ("1 a", nil), ("nan", nil),
      ("1e9", nil), ("1 2 -", nil),
    ] as [(String, [Double]?)])
  func `a list of numbers is separated by spaces, commas, signs and points`(text: String, numbers: [Double]?) {
    #expect(VectorNumbers.list(text) == numbers)
  }
}

@Suite struct `The template of a symbol` {
  static func template(_ guides: String, _ symbols: String) -> Data {
    Data(
      """
      <svg width="3300" height="2200"><g id="Guides">
      <line id="Baseline-S" x1="0" x2="9" y1="696" y2="696"/><line id="Capline-S" x1="0" x2="9" y1="626" y2="626"/>
      <path id="Baseline-M" d="M18,1126 l500,0"/><path id="Capline-M" d="M18,1056 l500,0"/>
      \(guides)</g><g id="Symbols">\(symbols)</g></svg>
      """.utf8)
  }

  private static let margins =
    #"<line id="left-margin-Regular-M" x1="100" x2="100" y1="0" y2="9"/>"#
    + #"<g transform="translate(10 0) scale(2)"><line id="right-margin-Regular-M" x1="80" x2="80" y1="0" y2="9"/></g>"#

  private static func variant(_ id: String) throws -> SymbolTemplate.Variant {
    try #require(SymbolTemplate.Variant(id: id))
  }

  @Test(.rule("PICTURE-78")) func `a variant is as wide as its margins, in heights of its capital letters`() throws {
    let template = try SymbolTemplate(
      Self.template(
        Self.margins + #"<rect id="left-margin-Bold-S" x="10" y="0" width="5"/>"#
          + #"<rect id="right-margin-Bold-S" x="40" y="0" width="5"/>"#,
        #"<g id="Regular-M"/><g id="Bold-S"/><g id="Black-S"/><g id="Regular-L"/><g id="Notes"/>"#))
    #expect(
      template.variants == [try Self.variant("Regular-M"), try Self.variant("Bold-S"), try Self.variant("Black-S")])
    #expect(template.width(of: try Self.variant("Regular-M")) == 1)
    #expect(template.width(of: try Self.variant("Bold-S")) == 0.5)
    #expect(template.width(of: try Self.variant("Black-S")) == 0.5, "of the nearest weight")
    #expect(template.width(of: try Self.variant("Regular-L")) == nil, "without the lines of its scale")
  }

  @Test(.rule("PICTURE-78")) func `a first template has one pair of margins`() throws {
    let guides = #"<rect id="left-margin" x="0" y="0" width="5"/><rect id="right-margin" x="30" y="0" width="5"/>"#
    let template = try SymbolTemplate(Self.template(guides, #"<g id="Regular-M"/><g id="Bold-M"/>"#))
    #expect(template.width(of: try Self.variant("Bold-M")) == 0.5)
  }

  @Test(
    .rule("PICTURE-78", "PICTURE-79"),
    arguments: [
      (margins, "", "it has no group such as Regular-M with its lines Baseline-M and Capline-M"),
      ("", #"<g id="Regular-M"/>"#, "it has no guides such as left-margin-Regular-M and right-margin-Regular-M"),
      (margins, #"<g id="Regular-M">"#, "</svg> ends no open element"),
    ])
  func `a template without its parts is refused with the reason`(guides: String, symbols: String, reason: String) {
    let error = #expect(throws: ImageFault.self) { try SymbolTemplate(Self.template(guides, symbols)) }
    #expect(error.map { "\($0)" }?.contains(reason) == true || reason.hasPrefix("</"), "\(String(describing: error))")
  }
}
