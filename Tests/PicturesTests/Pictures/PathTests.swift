// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout
@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Outlines` {
  private let square = Rect(x: 0, y: 0, width: 100, height: 100)

  private func points(_ path: Path) -> [Point] {
    path.elements.compactMap { element in
      switch element {
      case .move(let point), .line(let point), .quad(let point, _), .curve(let point, _, _): point
      case .close: nil
      }
    }
  }

  private func isNear(_ one: Point?, x: Double, y: Double) -> Bool {
    guard let one else { return false }
    return abs(one.x - x) < 0.05 && abs(one.y - y) < 0.05
  }

  @Test func `a part of a circle begins at its right and goes clockwise`() {
    let circle = Path(ellipseIn: square)
    let quarter = points(circle.trimmed(from: 0, to: 0.25))
    #expect(isNear(quarter.first, x: 100, y: 50) && isNear(quarter.last, x: 50, y: 100))
    let half = points(circle.trimmed(from: 0.25, to: 0.75))
    #expect(isNear(half.first, x: 50, y: 100) && isNear(half.last, x: 50, y: 0))
    let eighth = points(circle.trimmed(from: 0, to: 0.125))
    #expect(isNear(eighth.last, x: 50 + 50 * 0.7071, y: 50 + 50 * 0.7071))
    #expect(circle.trimmed(from: 0.5, to: 0.5).elements.isEmpty)
    #expect(points(circle.trimmed(from: -1, to: 2)).count == 5)
  }

  @Test(.rule("PICTURE-05")) func `a continuous corner begins before a circular one`() {
    let radii = Array(repeating: 20.0, count: 4)
    let continuous = Path(roundedRect: square, radii: radii, isContinuous: true)
    let circular = Path(roundedRect: square, radii: radii, isContinuous: false)
    // Where the last straight edge begins: before the corner at the top leading.
    #expect(isNear(points(continuous).first, x: 0, y: 20 * 1.528665))
    #expect(isNear(points(circular).first, x: 0, y: 20))
    #expect(points(continuous).allSatisfy { (0...100).contains($0.x) && (0...100).contains($0.y) })
    #expect(PictureStyle().cornerRadius == 22)
    // A radius is limited, so that two corners fit on a side.
    let large = Path(roundedRect: square, radii: Array(repeating: 90, count: 4), isContinuous: true)
    #expect(isNear(points(large).first, x: 0, y: 50))
  }

  @Test func `a rotated path keeps its centre`() {
    let turned = Path(square).rotated(degrees: 90, about: Point(x: 50, y: 50))
    #expect(points(turned) == [Point(x: 100, y: 0), Point(x: 100, y: 100), Point(x: 0, y: 100), Point(x: 0, y: 0)])
  }

  @Test func `an archived path is drawn in its frame`() throws {
    let elements: [ArchivedValue] = [
      .list(["move", 0, 0]), .list(["line", 10, 0]), .list(["arc", 50, 50, 50, 0, 90, false]), .list(["close"]),
      .list(["rect", 0, 0, .number(.nan), 10]), .list([]), .string("x"),
    ]
    let view = ViewArchive(.shape(.path), [.type: "Wave", .path: .list(elements)])
    let canvas = LayoutCanvas(size: Size(width: 100, height: 100))
    let placed = try #require(view.laidOut(in: canvas, measuring: try InterFont()).views.first)
    let path = try #require(Path(placed, container: (square, 0)))
    let found = points(path)
    #expect(isNear(found[2], x: 100, y: 50) && isNear(found[3], x: 50, y: 100))
  }

  @Test func `the area of a stroke has the width, the corners and the ends of its style`() {
    /// The smallest rectangle around the area of a line from (10, 10) to (30, 10) and (30, 40).
    func box(_ style: ArchivedArguments) -> [Double] {
      var path = Path()
      path.elements = [.move(Point(x: 10, y: 10)), .line(Point(x: 30, y: 10)), .line(Point(x: 30, y: 40))]
      let points = points(path.outlined(.init(style)))
      let (xs, ys) = (points.map(\.x), points.map(\.y))
      return [xs.min(), ys.min(), xs.max(), ys.max()].map { ($0 ?? 0).rounded() }
    }
    #expect(box([.lineWidth: 4]) == [10, 8, 32, 40])
    #expect(box([.lineWidth: 4, .lineCap: "square", .lineJoin: "bevel"]) == [8, 8, 32, 42])
    #expect(box([.lineWidth: 4, .lineCap: "round", .lineJoin: "round"]) == [8, 8, 32, 42])
    #expect(box([.lineWidth: 4, .dash: .list([5, 100])]) == [10, 8, 15, 12])
    let closed = Path(square).outlined(.init([.lineWidth: 2]))
    #expect(points(closed).map(\.x).max() == 101 && closed.elements.filter { $0 == .close }.count == 8)
    #expect(Path().outlined(.init([:])).elements.isEmpty)
  }
}
