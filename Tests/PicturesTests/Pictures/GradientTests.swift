// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Gradients, blend modes and colour effects` {
  private let sample: PictureSample

  init() throws { sample = try PictureSample() }

  private func gradient(_ name: ArgumentLabel, _ geometry: ArchivedArguments) -> ViewArchive {
    let list: ArchivedValue = .list(["white", "black"])
    return ViewArchive(.fill(.color), [.color: .record(geometry.merging([name: list]))])
  }

  private func turn(from: Double, to: Double) throws -> (stops: [Paint.Stop], start: Double) {
    let view = gradient(.angularGradient, [.from: .number(from), .to: .number(to)])
    guard case .angular(let stops, let centre, let start) = try #require(sample.picture(view).paints.last) else {
      throw CancellationError()
    }
    #expect(centre == Point(x: 79, y: 79))
    return (stops, start)
  }

  private func luminances(_ stops: [Paint.Stop]) -> [[Double]] {
    stops.map { [$0.location, $0.color.red].map { ($0 * 1000).rounded() / 1000 } }
  }

  /// Whether a text is an SVG document with elements.
  private func isDocument(_ text: String) throws -> Bool { try elements(text).count > 1 }

  // MARK: Gradients

  @Test(.rule("PICTURE-42"))
  func `a text with a gradient is one outline, whose gradient has the coordinates of the picture`() throws {
    let style: ArchivedValue = .record([.linearGradient: .list(["red", "blue"]), .from: "leading", .to: "trailing"])
    let text = ViewArchive(.leaf(.text), [.text: "Wide"]).with(.style(.foregroundStyle), [.style: style])
    let svg = sample.svg(text)
    #expect(!svg.contains("<use") && svg.contains("<path role=\"img\" aria-label=\"Wide\" d=\"M"))
    // In pixels, too, the first letter is red and the last one blue.
    let pixels = try sample.picture(text).pixels(outlines: sample.font, scale: 1).pixels
    let inked = pixels.values.indices.filter { index in
      let pixel = pixels.values[index]
      let (red, blue) = (pixel >> 16 & 255, pixel & 255)
      return pixel >> 24 == 255 && (red > 200 || blue > 200) && pixel >> 8 & 255 < 120
    }.map { $0 % 158 }
    let (left, right) = (try #require(inked.min()), try #require(inked.max()))
    #expect(left < 75 && right > 83, "\(left) \(right)")
    let gradient = try #require(svg.firstMatch(of: /x1="([0-9.]+)" y1="[0-9.]+" x2="([0-9.]+)"/))
    let (from, to) = (try #require(Double(gradient.1)), try #require(Double(gradient.2)))
    #expect(abs(from - Double(left)) < 3 && abs(to - Double(right)) < 6, "\(from) \(to) \(left) \(right)")
  }

  @Test(.rule("PICTURE-42")) func `an elliptical gradient is a circle stretched to the rectangle`() {
    let view = gradient(.ellipticalGradient, [.from: 0.1, .to: 0.5]).with(
      .layout(.frame), [.width: 100, .height: 50])
    guard case .elliptical(_, let centre, let unit, 0.1, 0.5) = sample.picture(view).paints.last else {
      Issue.record("an elliptical gradient has its own paint")
      return
    }
    #expect(centre == Point(x: 79, y: 79) && unit == Size(width: 100, height: 50))
    #expect(sample.svg(view).contains("fr=\"0.1\" r=\"0.5\" gradientTransform=\"translate(79 79) scale(100 50)\">"))
    #expect(sample.picture(view).notices.isEmpty)
  }

  @Test(.rule("PICTURE-42")) func `a whole turn begins at its angle`() throws {
    let (stops, start) = try turn(from: 30, to: 390)
    #expect(start == 30)
    #expect(luminances(stops) == [[0, 1], [0, 1], [1, 0], [1, 0], [1, 0]])
  }

  @Test(.rule("PICTURE-42")) func `the colours of both ends share what a smaller angle leaves`() throws {
    let (stops, start) = try turn(from: 0, to: 180)
    #expect(start == 0)
    #expect(luminances(stops) == [[0, 1], [0, 1], [0.5, 0], [0.75, 0], [0.75, 1], [1, 1]])
    let (none, _) = try turn(from: 90, to: 90)
    #expect(Paints.color(of: none, at: 0.25).red == 0 && Paints.color(of: none, at: 0.75).red == 1)
  }

  @Test(.rule("PICTURE-42")) func `an angle backwards has the other order, and a large one its last turn`() throws {
    let (back, start) = try turn(from: 180, to: 0)
    #expect(start == 0 && luminances(back).prefix(3) == [[0, 0], [0, 0], [0.5, 1]])
    let (long, _) = try turn(from: 0, to: 720)
    #expect(luminances(long).first == [0, 0.5] && luminances(long).last == [1, 0])
  }

  @Test(.rule("PICTURE-42")) func `wedges fill the turn without a gap, each in the colour of its middle`() throws {
    let stops = [Paint.Stop(color: .white, location: 0), Paint.Stop(color: RGBA(0, 0, 0), location: 1)]
    let wedges = Wedges(stops: stops, centre: Point(x: 0, y: 0), start: 0, [Point(x: 10, y: 0)]).all
    #expect(wedges.count == 128)
    #expect(abs((wedges.first?.color.red ?? 0) - 1 + 0.5 / 128) < 0.0001)
    for (one, next) in zip(wedges, wedges.dropFirst() + wedges.prefix(1)) {
      let (end, begin) = (one.path.points[2], next.path.points[1])
      #expect(hypot(end.x - begin.x, end.y - begin.y) < 0.0001)
    }
    // Black and white alternate 8 times: 30 wedges of 1.5 degrees between two stops, and not 128.
    let stripes = (0...8).map { Paint.Stop(color: $0 % 2 == 0 ? .white : RGBA(0, 0, 0), location: Double($0) / 8) }
    let narrow = Wedges(stops: stripes, centre: Point(x: 0, y: 0), start: 0, [Point(x: 10, y: 0)]).all.count
    #expect(narrow == Int(saturating: 360 / 1.5))
    let plain = [Paint.Stop(color: .white, location: 0), Paint.Stop(color: .white, location: 1)]
    #expect(Wedges(stops: plain, centre: Point(x: 0, y: 0), start: 0, []).all.count == 8)
  }

  @Test(.rule("PICTURE-01", "PICTURE-42")) func `lines and texts show wedges through a mask`() throws {
    let paint = ArchivedValue.record([.angularGradient: .list(["red", "blue"]), .to: 360])
    let line = ViewArchive(.shape(.circle)).with(.shape(.stroke), [.style: paint, .lineWidth: 8])
    let text = ViewArchive.text("Turn").with(.style(.foregroundStyle), [.style: paint])
    let shape = ViewArchive(.shape(.circle)).with(.shape(.fill), [.style: paint])
    let styles = [line, text, shape].map { sample.svg($0) }
    #expect(styles[0].contains("<g mask=\"url(#mask2)\" shape-rendering=\"crispEdges\">"))
    #expect(styles[1].contains("role=\"img\" aria-label=\"Turn\" shape-rendering=\"crispEdges\">"))
    #expect(styles[2].contains("<g clip-path=\"url(#clip2)\" shape-rendering=\"crispEdges\">"))
    for style in styles { #expect(try elements(style).count > 50) }
    #expect(sample.svg(line) == styles[0])
  }

  @Test(.rule("PICTURE-42"), arguments: [Double.nan, .infinity, -.infinity, 1e300])
  func `numbers that are no angles and radii have a picture`(number: Double) throws {
    let value = ArchivedValue.number(number)
    for name in [ArgumentLabel.angularGradient, .ellipticalGradient, .radialGradient, .linearGradient] {
      for view in [
        gradient(name, [.from: value, .to: 90]), gradient(name, [.from: 0, .to: value]),
        gradient(name, [.from: value, .to: value, .center: .string("(\(number), \(number))")]),
      ] {
        #expect(try isDocument(sample.svg(view)))
      }
    }
    let stop = ArchivedValue.record([.color: "red", .location: value])
    let view = ViewArchive(
      .fill(.color), [.color: .record([.angularGradient: .list([stop, stop, "blue"]), .to: 360])])
    #expect(try isDocument(sample.svg(view)))
    for list in [[], [stop]] as [[ArchivedValue]] {
      for name in [ArgumentLabel.angularGradient, .ellipticalGradient] {
        #expect(try isDocument(sample.svg(ViewArchive(.fill(.color), [.color: .record([name: .list(list)])]))))
      }
    }
  }

  // MARK: Blend modes

  @Test(.rule("PICTURE-43")) func `a blend mode is that of the group around`() {
    for blend in Drawing.Blend.allCases where blend != .normal {
      let view = ViewArchive.red.with(.color(.blendMode), [.mode: .string(blend.rawValue)])
      #expect(sample.picture(view).groups.contains { $0.blend == blend })
      #expect(sample.picture(view).notices.isEmpty)
    }
    let burn = ViewArchive.red.with(.color(.blendMode), [.mode: "colorBurn"])
    #expect(sample.svg(burn).contains("<g style=\"mix-blend-mode:color-burn\">"))
    #expect(sample.svg(burn.with(.effect(.compositingGroup))).contains("<g style=\"isolation:isolate\">"))
  }

  @Test(.rule("PICTURE-43"), arguments: ["sourceAtop", "destinationOver", "destinationOut", "plusDarker", "other"])
  func `a blend mode that is not drawn is named`(mode: String) {
    let picture = sample.picture(ViewArchive.red.with(.color(.blendMode), [.mode: .string(mode)]))
    #expect(picture.notices == ["the blend mode \(mode) is drawn as normal"])
  }

  // MARK: Effects

  /// The colour that a map makes of another one.
  private func mapped(_ color: [Double], name: ColorModifier, arguments: ArchivedArguments) throws -> [Double] {
    let group = try #require(
      sample.picture(ViewArchive.red.with(.color(name), arguments)).groups.first { !$0.colors.isEmpty })
    guard case .matrix(let numbers) = try #require(group.colors.first) else { return [] }
    #expect(numbers.count == 20)
    return (0..<4).map { row in
      let sum = (0..<4).reduce(numbers[row * 5 + 4]) { $0 + numbers[row * 5 + $1] * color[$1] }
      return (min(max(sum, 0), 1) * 1000).rounded() / 1000
    }
  }

  @Test(.rule("PICTURE-44")) func `a colour effect is a matrix`() throws {
    let color = [0.2, 0.4, 0.6, 0.5]
    #expect(try mapped(color, name: .brightness, arguments: [.amount: 0.3]) == [0.5, 0.7, 0.9, 0.5])
    #expect(try mapped(color, name: .contrast, arguments: [.amount: 2]) == [0, 0.3, 0.7, 0.5])
    #expect(try mapped(color, name: .contrast, arguments: [.amount: 0]) == [0.5, 0.5, 0.5, 0.5])
    #expect(try mapped(color, name: .saturation, arguments: [.amount: 1]) == color)
    #expect(try mapped(color, name: .saturation, arguments: [.amount: 0]) == [0.372, 0.372, 0.372, 0.5])
    #expect(try mapped(color, name: .grayscale, arguments: [.amount: 1]) == [0.372, 0.372, 0.372, 0.5])
    #expect(try mapped(color, name: .grayscale, arguments: [.amount: 0]) == color)
    #expect(try mapped(color, name: .colorInvert, arguments: [:]) == [0.8, 0.6, 0.4, 0.5])
    let half = ArchivedValue.record([.color: "white", .opacity: 0.5])
    #expect(try mapped(color, name: .colorMultiply, arguments: [.color: half]) == [0.2, 0.4, 0.6, 0.25])
    #expect(try mapped(color, name: .luminanceToAlpha, arguments: [:]) == [0, 0, 0, 0.372])
    #expect(try mapped(color, name: .hueRotation, arguments: [.degrees: 0]) == color)
    #expect(try mapped(color, name: .hueRotation, arguments: [.degrees: 360]) == color)
    // A gray stays gray.
    #expect(try mapped([0.5, 0.5, 0.5, 1], name: .hueRotation, arguments: [.degrees: 77]) == [0.5, 0.5, 0.5, 1])
  }

  @Test(.rule("PICTURE-44"), arguments: [ColorModifier.brightness, .contrast, .saturation, .grayscale, .hueRotation])
  func `an amount that is no number has a picture`(name: ColorModifier) throws {
    for number in [Double.nan, .infinity, -.infinity, 1e300] {
      let label: ArgumentLabel = name == .hueRotation ? .degrees : .amount
      #expect(try isDocument(sample.svg(ViewArchive.red.with(.color(name), [label: .number(number)]))))
    }
    #expect(
      sample.svg(ViewArchive.red.with(.color(name))).contains("<feColorMatrix in=\"SourceGraphic\" type=\"matrix\""))
  }

  // MARK: Materials

  @Test(.rule("PICTURE-45")) func `a material blurs the widget's background below its colour`() {
    let fill = ArchivedValue.record([.linearGradient: .list(["red", "blue"]), .from: "top", .to: "bottom"])
    func picture(_ background: ArchivedValue, _ style: PictureStyle = PictureStyle()) -> Picture {
      sample.picture(
        ViewArchive.text("a").with(
          .layer(.background), [.style: "thinMaterial"], views: [ViewArchive(.shape(.capsule))]
        )
        .with(.layout(.containerBackground), [.placement: "widget", .style: background]), style)
    }
    let blurred = picture(fill)
    #expect(PictureBuilder.materialBlur == 24 && blurred.groups.contains { $0.blur == 24 })
    #expect(blurred.paints.contains(.color(RGBA(1, 1, 1, opacity: 0.5))) && blurred.notices.isEmpty)
    #expect(picture(fill, PictureStyle(colorScheme: .dark)).paints.contains(.color(RGBA(0, 0, 0, opacity: 0.5))))
    // Plain colour is the same when it is blurred.
    #expect(!picture("red").groups.contains { $0.blur > 0 })
  }

  @Test(
    .rule("PICTURE-45"),
    arguments: [
      ("ultraThin", 0.4), ("thin", 0.5), ("regular", 0.6), ("thick", 0.7), ("ultraThick", 0.85), ("bar", 0.85),
    ])
  func `a material has the opacity of its thickness`(name: String, opacity: Double) {
    for (scheme, level) in [(ColorSchemeName.light, 1.0), (.dark, 0)] {
      let view = ViewArchive(.shape(.capsule)).with(.shape(.fill), [.style: .string(name + "Material")])
      let paints = sample.picture(view, PictureStyle(colorScheme: scheme)).paints
      #expect(paints.contains(.color(RGBA(level, level, level, opacity: opacity))), "\(scheme)")
    }
  }

  @Test(.rule("PICTURE-45")) func `a material of a line or a text is only its colour, and is named`() {
    let line = ViewArchive(.shape(.circle)).with(.shape(.stroke), [.style: "thickMaterial"])
    #expect(sample.picture(line).notices == ["the blur of thickMaterial is not drawn in a line"])
    let text = ViewArchive.text("a").with(.style(.foregroundStyle), [.style: "thickMaterial"])
    #expect(sample.picture(text).notices == ["the blur of thickMaterial is not drawn as a style"])
    let many = (0..<10).map { _ in ViewArchive(.shape(.circle)).with(.shape(.fill), [.style: "barMaterial"]) }
    let stack = ViewArchive(.container(.zStack), children: many)
      .with(.layout(.containerBackground), [.placement: "widget", .style: .list(["red", "blue"])])
    #expect(sample.picture(stack).notices == ["only eight materials are drawn with a blur"])
  }

  @Test(.rule("PICTURE-48")) func `a turn in space is named`() {
    let view = ViewArchive.red.with(.effect(.rotation3DEffect), [.degrees: 40, .axis: .list([0, 1, 0])])
    #expect(sample.picture(view).notices == [".rotation3DEffect is not drawn"])
    #expect(sample.svg(view).contains("#ff3b30"))
  }
}
