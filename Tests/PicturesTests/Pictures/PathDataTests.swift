// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Path data` {
  private func points(_ text: String) throws -> [Point] {
    try SVGPathReader.path(text).elements.compactMap { element in
      switch element {
      case .move(let point), .line(let point), .quad(let point, _), .curve(let point, _, _): point
      case .close: nil
      }
    }
  }

  private func path(_ elements: Path.Element...) -> Path {
    var path = Path()
    path.elements = elements
    return path
  }

  private func point(_ x: Double, _ y: Double) -> Point { Point(x: x, y: y) }

  @Test(
    .rule("PICTURE-30"),
    arguments: [
      ("M1 2L3 4H5V6Z", "m1,2l2,2h2v2z"), ("M1 2 3 4 5 6", "m1 2 2 2 2 2"),
      ("M1 1C2 2 3 3 4 4S6 6 7 7", "m1 1c1 1 2 2 3 3s2 2 3 3"), ("M1 1Q2 3 4 1T7 1", "m1 1q1 2 3 0t3 0"),
      ("M1.5.5L-1-.5", "m1.5.5l-2.5-1"), ("M0 0L1e1 -1E-1", "M0 0L10-.1"), ("M1 1h1zl1 1", "M1 1h1zM1 1l1 1"),
      ("M8 0A8 8 0 0 1 16 8", "M8 0a8 8 0 018 8"), ("M1 1h2m1 1h2", "M1 1h2M4 2h2"),
    ])
  func `relative commands, repeated commands and short forms are read`(one: String, other: String) throws {
    let (first, second) = (try points(one), try points(other))
    #expect(first.count == second.count)
    for (one, other) in zip(first, second) { #expect(abs(one.x - other.x) + abs(one.y - other.y) < 1e-9) }
  }

  @Test func `controls of smooth curves mirror those before them`() throws {
    let smooth = try SVGPathReader.path("M0 0C0 1 1 2 2 2S4 1 4 0")
    #expect(
      smooth
        == path(
          .move(point(0, 0)), .curve(point(2, 2), control1: point(0, 1), control2: point(1, 2)),
          .curve(point(4, 0), control1: point(3, 2), control2: point(4, 1))))
    #expect(
      try SVGPathReader.path("M0 0Q1 2 2 0T4 0")
        == path(
          .move(point(0, 0)), .quad(point(2, 0), control: point(1, 2)), .quad(point(4, 0), control: point(3, -2))))
    #expect(
      try SVGPathReader.path("M0 0L1 1S3 3 4 0")
        == path(
          .move(point(0, 0)), .line(point(1, 1)), .curve(point(4, 0), control1: point(1, 1), control2: point(3, 3))))
  }

  /// The points of curves, in 16 steps each.
  private func samples(_ path: Path) -> [Point] {
    var (now, foundPoints) = (Point(x: 0, y: 0), [Point]())
    for element in path.elements {
      switch element {
      case .move(let point), .line(let point), .quad(let point, _): now = point
      case .curve(let end, let one, let two):
        for step in 1...16 {
          let (t, u) = (Double(step) / 16, 1 - Double(step) / 16)
          func part(_ axis: KeyPath<Point, Double>) -> Double {
            u * u * u * now[keyPath: axis] + 3 * u * u * t * one[keyPath: axis] + 3 * u * t * t * two[keyPath: axis]
              + t * t * t * end[keyPath: axis]
          }
          foundPoints.append(Point(x: part(\.x), y: part(\.y)))
        }
        now = end
      case .close: break
      }
    }
    return foundPoints
  }

  @Test func `a circle of arcs is round, in each direction and each part`() throws {
    for text in [
      "M16 8A8 8 0 1 1 0 8A8 8 0 0 1 16 8z", "M16 8A8 8 0 1 1 12.8 1.6", "M16 8a8 8 0 0 0-16 0", "M8 0A8 8 0 0 0 0 8",
      "M8 16A8 8 0 1 0 0 8", "M8 16A8 8 45 0 1 0 8",
    ] {
      let found = samples(try SVGPathReader.path(text))
      #expect(found.count >= 16)
      for point in found {
        let (x, y) = (point.x - 8, point.y - 8)
        #expect(abs((x * x + y * y).squareRoot() - 8) < 0.01, "\(text): \(point)")
      }
    }
    #expect(samples(try SVGPathReader.path("M8 16A8 8 0 1 0 0 8")).count == 64, "the large arc")
    #expect(samples(try SVGPathReader.path("M8 0A8 8 0 0 1 16 8")).contains { $0.x > 13 && $0.y < 3 }, "clockwise")
    #expect(samples(try SVGPathReader.path("M8 0A8 8 0 0 0 16 8")).contains { $0.x < 11 && $0.y > 4 }, "the other way")
  }

  @Test func `an ellipse is turned, and radii that are too small grow`() throws {
    for point in samples(try SVGPathReader.path("M2 0A2 1 0 1 1-2 0A2 1 0 1 1 2 0")) {
      #expect(abs(point.x * point.x / 4 + point.y * point.y - 1) < 0.01)
    }
    for point in samples(try SVGPathReader.path("M0 2A2 1 90 1 1 0-2A2 1 90 1 1 0 2")) {
      #expect(abs(point.y * point.y / 4 + point.x * point.x - 1) < 0.01)
    }
    for point in samples(try SVGPathReader.path("M0 0A1 1 0 0 1 4 0")) {
      #expect(abs((point.x - 2) * (point.x - 2) + point.y * point.y - 4) < 0.02)
    }
    #expect(try points("M0 0A0 1 0 0 1 4 0") == [point(0, 0), point(4, 0)], "a line")
    #expect(try points("M1 1A1 1 0 0 1 1 1") == [point(1, 1)], "nothing")
  }

  @Test(arguments: [
    "1 2", "L1 2", "M1", "M1 2X", "M1 2L", "M1 2 3", "M1 2z 3 4", "M1 2A1 1 0 2 0 3 3", "M1 2A1 1 0 1", "Mnan 1",
    "M1e999 1", "M1 --2", "M1 2L.", "M1 2C1 2 3 4 5", "M1 2Lé 1", "M1 2h1e", "M1e7 1", "z",
  ])
  func `data that is no path is refused with the place`(text: String) {
    let failure = #expect(throws: PathDataFailure.self) { try SVGPathReader.path(text) }
    #expect(failure.map { (0...text.utf8.count).contains($0.offset) } == true)
  }

  @Test func `long data is read without a limit of depth, and an empty text is an empty path`() throws {
    #expect(try SVGPathReader.path(" \n").elements.isEmpty)
    #expect(try points("M0 0" + String(repeating: "l1 1", count: 20_000)).last == point(20_000, 20_000))
    #expect(try points("M0 0" + String(repeating: "a1e5 1e-5 33 1 0 .1 9", count: 2_000)).allSatisfy { $0.x.isFinite })
  }

  @Test func `a reversed path has the same points in the opposite order`() throws {
    let square = try SVGPathReader.path("M0 0h2v2h-2zM5 5Q6 5 6 6")
    #expect(
      square.reversed
        == path(
          .move(point(0, 2)), .line(point(2, 2)), .line(point(2, 0)), .line(point(0, 0)), .close, .move(point(6, 6)),
          .quad(point(5, 5), control: point(6, 5)), .close))
    #expect(Path().reversed == Path())
  }
}
