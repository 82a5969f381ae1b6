// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import Archive

@Suite struct `Lines through points of a chart` {
  private typealias Place = ChartCurve.Place

  private let points = [(0.0, 0.0), (1, 5), (2, 5), (3, 1), (7, 8)].map { ChartCurve.Place($0.0, $0.1) }

  /// Points of the line between its parts.
  private func samples(_ parts: [ChartCurve.Part], from start: Place) -> [[Place]] {
    var from = start
    return parts.map { part in
      defer { from = part.end }
      return (0...20).map { index in
        let t = Double(index) / 20
        switch part {
        case .line(let to): return Place(from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t)
        case .curve(let one, let other, let to):
          func value(_ path: KeyPath<Place, Double>) -> Double {
            let u = 1 - t
            return u * u * u * from[keyPath: path] + 3 * u * u * t * one[keyPath: path]
              + 3 * u * t * t * other[keyPath: path] + t * t * t * to[keyPath: path]
          }
          return Place(value(\.x), value(\.y))
        }
      }
    }
  }

  @Test(.rule("CHART-09"), arguments: ["linear", "monotone", "catmullRom", "cardinal"])
  func `a line has one part between two points, and ends at each`(method: String) {
    let parts = ChartCurve.parts(through: points, method: method)
    #expect(parts.map(\.end) == Array(points.dropFirst()))
    #expect(ChartCurve.parts(through: [points[0]], method: method).isEmpty)
    #expect(ChartCurve.parts(through: [], method: method).isEmpty)
    #expect(ChartCurve.parts(through: Array(points.prefix(2)), method: method).count == 1)
  }

  @Test(.rule("CHART-09")) func `a monotone line is never above or below two neighbours between them`() {
    let parts = ChartCurve.parts(through: points, method: "monotone")
    for (index, samples) in samples(parts, from: points[0]).enumerated() {
      let (start, end) = (points[index], points[index + 1])
      #expect(samples.allSatisfy { (min(start.y, end.y) - 1e-9...max(start.y, end.y) + 1e-9).contains($0.y) })
      #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.x < $1.x })
    }
    // The other curves are, so that the rule is not trivial.
    let cardinal = samples(ChartCurve.parts(through: points, method: "cardinal"), from: points[0])
    #expect(cardinal.joined().contains { $0.y > 8.001 || $0.y < -0.001 || ($0.x > 1 && $0.x < 2 && $0.y > 5.001) })
  }

  @Test(.rule("CHART-09"), arguments: [("stepStart", 0.0), ("stepCenter", 2), ("stepEnd", 4)])
  func `a step is at the start, in the middle or at the end`(method: String, x: Double) {
    let parts = ChartCurve.parts(through: [Place(0, 1), Place(4, 3)], method: method)
    #expect(parts == [.line(Place(x, 1)), .line(Place(x, 3)), .line(Place(4, 3))])
  }

  @Test(.rule("CHART-09")) func `a tension of 1 makes a cardinal line straight, and equal points are no fault`() {
    let straight = ChartCurve.parts(through: points, method: "cardinal", tension: 1)
    for (index, part) in straight.enumerated() {
      #expect(part == .curve(points[index], points[index + 1], points[index + 1]))
    }
    let equal = Array(repeating: Place(1, 1), count: 3)
    for method in ["monotone", "catmullRom", "cardinal"] {
      let places = samples(ChartCurve.parts(through: equal, method: method), from: equal[0]).joined()
      #expect(places.allSatisfy { abs($0.x - 1) < 1e-9 && abs($0.y - 1) < 1e-9 } && places.count == 42)
    }
  }
}
