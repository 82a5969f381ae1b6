// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Symbols` {
  private let table: SymbolTable
  private let font: InterFont

  init() throws {
    table = try SymbolTable.bundled.get()
    font = try InterFont()
  }

  private func builder(isRightToLeft: Bool = false) -> PictureBuilder {
    let canvas = LayoutCanvas(size: Size(width: 100, height: 100), isRightToLeft: isRightToLeft)
    return PictureBuilder(canvas: canvas, PictureStyle(), font)
  }

  private let frame = Rect(x: 10, y: 20, width: 16, height: 16)

  private func form(_ name: String) -> SymbolForm? { table.match(name)?.form }

  private func svg(_ name: String, _ modifiers: [ViewArchive.Modifier] = []) -> String {
    let view = ViewArchive(.leaf(.image), [.systemName: .string(name)], modifiers: modifiers)
    return view.picture(in: LayoutCanvas(size: Size(width: 40, height: 40)), with: font).svg(outlines: font)
  }

  private func notices(_ name: String, _ modifiers: [ViewArchive.Modifier] = []) -> [String] {
    let view = ViewArchive(.leaf(.image), [.systemName: .string(name)], modifiers: modifiers)
    return view.picture(in: LayoutCanvas(size: Size(width: 40, height: 40)), with: font).notices
  }

  // MARK: The table

  @Test(.rule("PICTURE-06", "PICTURE-30")) func `more than 800 names are drawn without a notice`() {
    var builder = builder()
    let names = table.forms.keys.sorted()
    #expect(names.count > 800)
    for name in names {
      let drawings = builder.symbol([.systemName: .string(name)], frame: frame, style: ViewStyle())
      #expect(!drawings.isEmpty, "\(name)")
    }
    #expect(builder.notices == [])
  }

  /// The names in the public widgets of the reference list, as far as icons are like them.
  @Test(
    .rule("PICTURE-30"),
    arguments: [
      "timer", "calendar", "app.badge.fill", "bell.badge.fill", "bell.fill", "book.fill", "calendar.badge.checkmark",
      "checkmark.circle.fill", "clock", "cloud.bolt.rain", "cloud.fog", "cloud.heavyrain", "cloud.rain", "cloud.sun",
      "exclamationmark.circle.fill", "exclamationmark.triangle.fill", "fork.knife", "heart.fill", "leaf.fill", "moon",
      "moon.stars.fill", "photo.fill", "quote.closing", "quote.opening", "star.fill", "sun.horizon.fill", "sun.max",
      "sun.max.fill", "sun.min", "sun.min.fill", "sunrise.fill", "sunset.fill", "video.fill", "person.crop.circle",
      "figure.walk", "bed.double.fill", "pills.fill", "tram.fill", "car.fill", "battery.25", "chevron.right",
      "gearshape.fill", "person.slash", "cup.and.saucer.fill", "heart.circle.fill", "31.circle.fill", "wifi.slash",
    ])
  func `the usual names of widgets are drawn`(name: String) {
    #expect(table.match(name)?.name == name)
    #expect(notices(name) == [])
  }

  @Test(.rule("PICTURE-30")) func `each outline can be read, and lies in its box`() throws {
    for (name, data) in table.outlines.sorted(by: { $0.key < $1.key }) {
      let points = try SVGPathReader.path(data).lines.flatMap { [$0.from, $0.to] }
      let (xs, ys) = (points.map(\.x), points.map(\.y))
      let (low, high) = (min(xs.min() ?? -1, ys.min() ?? -1), max(xs.max() ?? 17, ys.max() ?? 17))
      // Two icons are a little larger than their box.
      #expect(low > -0.1 && high < (name.hasPrefix("bell-slash") ? 17.01 : 16.2), "\(name): \(low) to \(high)")
      #expect(high - low > 4, "\(name) is too small: \(low) to \(high)")
    }
  }

  @Test(.rule("PICTURE-30")) func `each line of the table and what compositions draw have outlines`() {
    let drawn = [SymbolForm](table.forms.values).flatMap(\.icons) + SymbolTable.signs.values.flatMap(\.icons)
    let frames = SymbolFrame.allCases.flatMap { [$0.icon, $0.filledIcon] }
    #expect(Set(drawn + frames).subtracting(table.outlines.keys) == [])
  }

  @Test(.rule("PICTURE-30")) func `a line has precedence over a filled form, and that over a composition`() {
    #expect(form("checkmark.circle") == .icon("check-circle"))
    #expect(form("person.crop.circle.fill") == .within(.icon("person-fill"), .circle, isFilled: true))
    #expect(form("checkmark.circle.fill") == .icon("check-circle-fill"))
    #expect(form("bell.slash.fill") == .icon("bell-slash-fill"))
    #expect(form("airplane.circle") == .within(.turned(.icon("airplane-fill"), degrees: 90), .circle, isFilled: false))
  }

  @Test(.rule("PICTURE-30")) func `a name without a filled form is drawn without its fill, and is named`() {
    #expect(table.match("truck.box.fill")?.name == "truck.box")
    #expect(notices("truck.box.fill") == ["the symbol \"truck.box.fill\" is drawn as \"truck.box\""])
  }

  @Test(
    .rule("PICTURE-30"),
    arguments: [
      ("heart", "`name = icon` is expected, not `heart`"), ("heart = ", "`name = icon` is expected"),
      ("heart heart-fill x", "`name = icon` is expected"), ("ok = square\nok = square", "line 3: the symbol ok is"),
      ("a = hart", "line 2: the icon hart has no outline"), ("a = square turn", "`square turn` is no icon"),
      ("a = square turn nan", "is no icon"), ("a = square scale 9", "is no icon"), ("a = square in box", "is no icon"),
      ("a = square in", "is no icon"), ("a = square in circle-fill-fill", "is no icon"), ("a = square x", "is no icon"),
      ("a = square badge y", "the icon y has no outline"), ("a = square in -", "is no icon"),
    ])
  func `a wrong line of the table is refused with its number and the reason`(line: String, reason: String) {
    let failure = #expect(throws: SymbolFailure.self) {
      try SymbolTable(table: "# a comment\n\(line)\n", outlines: "square\tM0 0h16v16z\ncircle\tM0 0h1v1z\n")
    }
    #expect(failure?.code == .table)
    #expect(failure?.description.hasPrefix("symbol-table.txt, line ") == true)
    #expect(failure?.description.contains(reason) == true, "\(String(describing: failure))")
  }

  @Test func `wrong outlines and missing files are refused, and the picture names the cause`() {
    let failure = #expect(throws: SymbolFailure.self) { try SymbolTable(table: "", outlines: "square M0 0h1v1z") }
    #expect(failure?.code == .outline && failure?.description.contains("symbol-outlines.txt, line 1") == true)
    let missing = #expect(throws: SymbolFailure.self) { try SymbolTable(folder: URL(filePath: "/none")) }
    #expect(missing?.description == "the symbol file is missing or no text: /none/symbol-table.txt")
    var builder = builder()
    if let missing { builder.symbols = .failure(missing) }
    #expect(builder.symbol([.systemName: "star"], frame: frame, style: ViewStyle()).count == 1)
    #expect(builder.notices.first == "symbols are drawn as letters: \(missing?.description ?? "")")
  }

  // MARK: Compositions

  @Test(.rule("PICTURE-31")) func `shapes, lines and badges are composed from the name`() {
    #expect(form("heart.circle") == .within(.icon("heart-fill"), .circle, isFilled: false))
    #expect(form("heart.circle.fill") == .within(.icon("heart-fill"), .circle, isFilled: true))
    #expect(form("bolt.square.fill") == .within(.icon("lightning-fill"), .square, isFilled: true))
    #expect(form("flag.slash") == .slashed(.icon("flag")))
    #expect(form("flag.slash.fill") == .slashed(.icon("flag-fill")))
    #expect(form("video.badge.plus") == .badged(.icon("camera-video"), .icon("plus-circle-fill")))
    #expect(form("video.fill.badge.plus") == .badged(.icon("camera-video-fill"), .icon("plus-circle-fill")))
    #expect(form("message.badge.fill") == .badged(.icon("chat-fill"), nil))
    #expect(form("calendar.badge.clock") == .badged(.icon("calendar3"), .icon("clock-fill")))
    #expect(form("50.circle") == .within(.letters("50"), .circle, isFilled: false))
    #expect(form("31.square") == .within(.letters("31"), .square, isFilled: false))
    #expect(form("b.circle.fill") == .within(.letters("B"), .circle, isFilled: true))
    for name in ["51.circle", "none.circle", "heart.", ".heart", "", "circle.badge.none", "heart.ellipse", "slash"] {
      #expect(table.match(name) == nil, "\(name)")
    }
    #expect(table.match(Array(repeating: "circle", count: 1000).joined(separator: ".")) == nil)
  }

  @Test(.rule("PICTURE-31"), arguments: ["heart.circle.fill", "14.circle.fill", "music.note.square.fill"])
  func `a sign in a filled shape is a hole`(name: String) throws {
    var shaper = SymbolShaper(table: table)
    shaper.letters = builder().letters
    let whole = try #require(form(name))
    let layers = try #require(shaper.layers(of: whole))
    let layer = try #require(layers.first)
    #expect(layers.count == 1)
    /// Whether the layer has ink at a point.
    let outlines = ([layer.path] + layer.clips).map(\.lines)
    func hasInk(_ point: Point) -> Bool { outlines.allSatisfy { $0.winds(around: point) } }
    var (holes, inks) = (0, 0)
    shaper.isLayered = true
    let sign = try #require(shaper.layers(of: whole)?.last).path.lines
    for row in 0..<32 {
      for column in 0..<32 {
        let point = Point(x: Double(column) / 2 + 0.261, y: Double(row) / 2 + 0.243)
        if sign.winds(around: point) {
          holes += 1
          #expect(!hasInk(point), "\(point)")
        } else if hasInk(point) {
          inks += 1
        }
      }
    }
    #expect(holes > 15 && inks > 400, "\(holes) and \(inks) of 1024")
  }

  @Test(
    .rule("PICTURE-31"),
    arguments: [
      ("circle", 0.52, 8), ("octagon", 0.52, 8), ("square", 0.58, 8), ("app", 0.58, 8), ("hexagon", 0.5, 8),
      ("diamond", 0.42, 8), ("triangle", 0.48, 9.7), ("shield", 0.46, 7.6),
    ] as [(String, Double, Double)])
  func `each shape has its sign at its part of the size and at its place`(name: String, scale: Double, y: Double) throws
  {
    let frame = try #require(SymbolFrame(rawValue: name))
    #expect(table.match("heart.\(name)")?.form == .within(.icon("heart-fill"), frame, isFilled: false))
    let layers = try #require(
      SymbolShaper(table: table).layers(of: .within(.icon("square-fill"), frame, isFilled: false)))
    let bounds = try #require(layers.last?.path.bounds)
    #expect(layers.map(\.level) == [1, 0])
    #expect(abs(bounds.size.width - 16 * scale) < 0.01 && abs(bounds.size.height - 16 * scale) < 0.01)
    #expect(abs(bounds.minX + 8 * scale - 8) < 0.01 && abs(bounds.minY + 8 * scale - y) < 0.01)
    // A symbol of lines is larger in its shape.
    let lines = SymbolForm.icon("square")
    let alone = try #require(SymbolShaper(table: table).layers(of: lines)?.last?.path.bounds)
    let within = SymbolShaper(table: table).layers(of: .within(lines, frame, isFilled: false))
    let width = try #require(within?.last?.path.bounds).size.width
    #expect(abs(width - alone.size.width * scale * 1.2) < 0.01)
  }

  @Test(.rule("PICTURE-31")) func `a line and a badge are drawn with a gap to what is behind them`() throws {
    let shaper = SymbolShaper(table: table)
    let slashed = try #require(shaper.layers(of: .slashed(.icon("square-fill"))))
    #expect(slashed.map(\.level) == [1, 0])
    let middle = Point(x: 8.01, y: 8.02)
    #expect(slashed[1].path.winds(around: middle) && !slashed[0].clips[0].winds(around: middle))
    // From the upper left to the lower right.
    for (x, y, isInside) in [(2.0, 2.0, true), (14, 14, true), (14, 2, false), (2, 14, false)] {
      #expect(slashed[1].path.winds(around: Point(x: x, y: y)) == isInside, "\(x), \(y)")
    }
    // Beside the line, on both sides, by less than the gap and by more.
    for (x, y) in [(8.9, 7.1), (7.1, 8.9)] { #expect(!slashed[0].clips[0].winds(around: Point(x: x, y: y))) }
    #expect(slashed[0].clips[0].winds(around: Point(x: 6, y: 10)))
    #expect(slashed[0].clips[0].winds(around: Point(x: 10, y: 6)))
    let badged = try #require(shaper.layers(of: .badged(.icon("square-fill"), .icon("plus-circle-fill"))))
    #expect(!badged[0].clips[0].winds(around: Point(x: 12.2, y: 12.2)))
    #expect(badged[1].path.winds(around: Point(x: 14, y: 14)))
    #expect(!badged[1].path.winds(around: Point(x: 12.21, y: 12.2)))
    let dotted = try #require(shaper.layers(of: .badged(.icon("square-fill"), nil)))
    let dot = try #require(dotted.last?.path.bounds)
    #expect(abs(dot.minX - 10.4) < 0.01 && abs(dot.minY) < 0.01 && abs(dot.size.width - 5.6) < 0.01)
    #expect(dotted[1].path.winds(around: Point(x: 13.2, y: 2.8)))
    #expect(!dotted[0].clips[0].winds(around: Point(x: 10, y: 2.8)), "the gap around the dot")
    #expect(dotted[0].clips[0].winds(around: Point(x: 9, y: 2.8)))
  }

  @Test(.rule("PICTURE-31")) func `variants are added to a name in its order, where the symbol has them`() {
    func name(_ name: String, _ variants: String...) -> String { SymbolTable.name(name, variants: variants) }
    #expect(name("heart", "fill") == "heart.fill")
    #expect(name("heart", "circle fill") == "heart.circle.fill")
    #expect(name("heart", "fill", "circle") == "heart.circle.fill")
    #expect(name("heart.fill", "circle") == "heart.circle.fill")
    #expect(name("bell", "slash fill") == "bell.slash.fill")
    #expect(name("bell.slash", "fill") == "bell.slash.fill")
    #expect(name("circle", "fill") == "circle.fill")
    #expect(name("heart", "none") == "heart")
    let fill = ViewArchive.Modifier(.style(.symbolVariant), [.variant: "fill"])
    #expect(svg("heart", [fill]) == svg("heart.fill").replacing("heart.fill", with: "heart"))
    #expect(notices("list.bullet", [fill]) == [])
    #expect(svg("list.bullet", [fill]) == svg("list.bullet"))
  }

  @Test(.rule("PICTURE-30")) func `forward is to the left in a language that is written from right to left`() {
    var (left, right) = (builder(isRightToLeft: true), builder())
    func drawings(_ builder: inout PictureBuilder, _ name: String) -> [Drawing] {
      builder.symbol([.systemName: .string(name)], frame: frame, style: ViewStyle()).flatMap { drawing -> [Drawing] in
        if case .group(_, let inner) = drawing { inner } else { [] }
      }
    }
    #expect(drawings(&left, "chevron.forward") == drawings(&right, "chevron.left"))
    #expect(drawings(&left, "chevron.right") == drawings(&right, "chevron.right"))
    #expect(drawings(&left, "forward.fill") == drawings(&right, "forward.fill"))
  }

  // MARK: Drawing

  @Test(.rule("PICTURE-32")) func `the parts of a symbol have their levels or their styles`() {
    func mode(_ name: String) -> ViewArchive.Modifier { .init(.style(.symbolRenderingMode), [.mode: .string(name)]) }
    let red = ViewArchive.Modifier(.style(.foregroundStyle), [.style: "red"])
    let both = ViewArchive.Modifier(.style(.foregroundStyle), [.style: "white", .secondary: "blue"])
    #expect(!svg("heart.circle.fill", [red]).contains("fill-opacity"))
    let hierarchical = svg("heart.circle.fill", [mode("hierarchical"), red])
    #expect(hierarchical.contains("fill=\"#ff3b30\" fill-opacity=\"0.5\"/>\n<path"))
    // A slash before what is in a shape before the shape: three levels.
    let three = svg("heart.circle.slash", [mode("hierarchical"), red])
    #expect(three.contains("fill-opacity=\"0.5\"") && three.contains("fill-opacity=\"0.25\""))
    #expect(svg("checkmark.circle.fill", [mode("hierarchical"), red]).contains("fill-opacity=\"0.5\""))
    #expect(svg("checkmark.circle.fill", [mode("hierarchical")]).contains("fill=\"#3c3c43\" fill-opacity=\"0.6\""))
    let palette = svg("checkmark.circle.fill", [mode("palette"), both])
    let (blue, white) = (palette.range(of: "#007aff"), palette.range(of: "#ffffff", options: .backwards))
    #expect((blue?.lowerBound).flatMap { first in white.map { first < $0.lowerBound } } == true, "the circle is behind")
    #expect(svg("checkmark.circle.fill", [both]) == palette, "several styles are a palette")
    #expect(svg("star.fill", [mode("hierarchical"), red]) == svg("star.fill", [red]), "a symbol with one part")
    #expect(notices("star.fill", [mode("palette"), both]) == [])
    #expect(notices("sun.max", [mode("multicolor")]) == ["the symbol \"sun.max\" is drawn in one colour"])
    #expect(
      notices("sun.max", [.init(.shape(.renderingMode), [.mode: "original"])])
        == ["the symbol \"sun.max\" is drawn in one colour"])
  }

  @Test(.rule("PICTURE-32")) func `a heavier font adds a line along the outline of lines`() {
    func weight(_ name: String) -> ViewArchive.Modifier { .init(.style(.fontWeight), [.weight: .string(name)]) }
    let weights: [FontDescription.Weight] = [.regular, .medium, .semibold, .bold, .heavy, .black]
    #expect(weights.map(\.symbolStroke) == [0, 0.2, 0.45, 0.75, 1, 1.3], "sixteenths of the side")
    #expect(!svg("chevron.right").contains("stroke"))
    let bold = svg("chevron.right", [weight("bold")])
    #expect(bold.contains("stroke-linejoin=\"round\""))
    #expect(bold != svg("chevron.right", [weight("semibold")]))
    #expect(!svg("star.fill", [weight("black")]).contains("stroke"), "a filled form stays as it is")
    let translucent = svg("chevron.right", [weight("bold"), .init(.style(.foregroundStyle), [.style: "secondary"])])
    #expect(translucent.contains("<g opacity=\"0.6\">") && !translucent.contains("-opacity"), "no double edge")
    #expect(notices("chevron.right", [weight("light")]) == ["symbols in a weight below regular are drawn as regular"])
  }

  @Test(.rule("PICTURE-32")) func `a symbol fills the largest square in the middle of its frame`() throws {
    var builder = builder()
    let (wide, high) = (Rect(x: 0, y: 0, width: 32, height: 16), Rect(x: 5, y: 5, width: 16, height: 80))
    for (frame, x, y) in [(wide, 8.0, 0.0), (high, 5, 37)] {
      let foundDrawing = builder.symbol([.systemName: "circle.fill"], frame: frame, style: ViewStyle()).first
      guard case .group(let group, let drawings) = foundDrawing, case .fill(let path, _, false) = drawings.first else {
        throw SymbolFailure(code: .outline, description: "no circle")
      }
      #expect(group.label == "circle.fill")
      let box = try #require(path.bounds)
      #expect(abs(box.minX - x) < 0.01 && abs(box.minY - y) < 0.01 && abs(box.size.width - 16) < 0.01, "\(box)")
    }
    for side in [0, -1, .nan, .infinity] as [Double] {
      let frame = Rect(x: 0, y: 0, width: side, height: side)
      #expect(builder.symbol([.systemName: "star"], frame: frame, style: ViewStyle()) == [])
    }
  }

  @Test(.rule("PICTURE-33"), arguments: ["brain", "hand.raised", "my.own", "", "日本"])
  func `a symbol that is not in the table is a sign with a letter, and is named`(name: String) throws {
    #expect(notices(name) == ["the symbol \"\(name)\" is drawn as its first letter"])
    let found = try elements(svg(name))
    #expect(found.contains { $0.attributes["aria-label"] == name })
    #expect(found.contains { $0.attributes["stroke-width"] != nil }, "a rounded square")
  }

  @Test(.rule("PICTURE-33")) func `a variable value is named`() {
    let view = ViewArchive(.leaf(.image), [.systemName: "wifi", .variableValue: 0.5])
    let canvas = LayoutCanvas(size: Size(width: 40, height: 40))
    #expect(view.picture(in: canvas, with: font).notices == ["the variable value of the symbol \"wifi\" is not drawn"])
  }

  @Test(.rule("PICTURE-01", "PICTURE-30")) func `the same symbols have the same bytes, also within a text`() throws {
    let star = ViewArchive(.leaf(.image), [.systemName: "star.fill"])
    let view = ViewArchive(.leaf(.text), children: [.text("Rated "), star, .text(" best")])
    let canvas = LayoutCanvas(size: Size(width: 158, height: 158))
    let text = view.picture(in: canvas, with: font).svg(outlines: font)
    #expect(try text == view.picture(in: canvas, with: InterFont()).svg(outlines: InterFont()))
    let labels = try elements(text).compactMap { $0.attributes["aria-label"] }
    #expect(labels == ["Rated ", "star.fill", " best"])
    #expect(view.picture(in: canvas, with: font).notices == [])
    #expect(svg("star.fill").count < 3000)
  }
}

extension Path {
  /// Whether the rule `nonzero` fills a point.
  fileprivate func winds(around place: Point) -> Bool { lines.winds(around: place) }

  /// The lines of the polygons that are near to the closed subpaths.
  fileprivate var lines: [OutlineLine] {
    guard case .move(let first) = elements.first else { return [] }
    var (foundLines, start, now) = ([OutlineLine](), first, first)
    func line(to end: Point) {
      foundLines.append(OutlineLine(from: now, to: end))
      now = end
    }
    func curve(_ points: [Point]) {
      for step in 1...16 {
        var rest = points
        while rest.count > 1 {
          rest = zip(rest, rest.dropFirst()).map { one, other in
            let t = Double(step) / 16
            return Point(x: one.x + (other.x - one.x) * t, y: one.y + (other.y - one.y) * t)
          }
        }
        line(to: rest[0])
      }
    }
    for element in elements {
      switch element {
      case .move(let point):
        line(to: start)
        (start, now) = (point, point)
      case .line(let point): line(to: point)
      case .quad(let point, let control): curve([now, control, point])
      case .curve(let point, let one, let two): curve([now, one, two, point])
      case .close: line(to: start)
      }
    }
    line(to: start)
    return foundLines
  }
}

private struct OutlineLine {
  var from: Point
  var to: Point
}

extension [OutlineLine] {
  /// Whether the rule `nonzero` fills a point.
  fileprivate func winds(around place: Point) -> Bool {
    var number = 0
    for line in self where (line.from.y <= place.y) != (line.to.y <= place.y) {
      let share = (place.y - line.from.y) / (line.to.y - line.from.y)
      if line.from.x + (line.to.x - line.from.x) * share < place.x { number += line.to.y < line.from.y ? 1 : -1 }
    }
    return number != 0
  }
}
