// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The elements of a plot, as SVG.
package enum ReportPlots {
  package static let width = 860.0
  /// The width of the names at the left.
  package static let left = 120.0
  /// The height of a row.
  package static let row = 26.0

  package static func svg(_ height: Double, _ title: String, _ parts: [String]) -> String {
    "<svg viewBox='0 0 \(Int(exactly: width.rounded()) ?? 0) \(Int(exactly: height.rounded(.up)) ?? 0)' role='img' aria-label='\(title)'>\n"
      + parts.joined(separator: "\n") + "\n</svg>"
  }

  package static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ name: String) -> String {
    "<line class='\(name)' x1='\(short(x1))' y1='\(short(y1))' x2='\(short(x2))' y2='\(short(y2))'/>"
  }

  /// - Parameter anchor: `start`, `middle` or `end`.
  package static func text(_ x: Double, _ y: Double, _ text: String, _ anchor: String) -> String {
    "<text x='\(short(x))' y='\(short(y))' text-anchor='\(anchor)'>\(text)</text>"
  }

  /// A number with one decimal place.
  package static func short(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

/// Maps values to places by their logarithm.
package struct LogarithmicScale {
  private let first: Double
  private let last: Double
  private let left: Double
  private let right: Double

  /// - Parameters:
  ///   - first: the value at `left`.
  ///   - last: the value at `right`.
  package init(from first: Double, to last: Double, left: Double, right: Double) {
    self.first = first
    self.last = last
    self.left = left
    self.right = right
  }

  /// The place of a value; that of the nearest end for one beyond the scale.
  package func x(_ value: Double) -> Double {
    let share = log(min(max(value, first), last) / first) / log(last / first)
    return left + share * (right - left)
  }

  /// 10, 30, 100, 300 …
  package var ticks: [Double] {
    var ticks: [Double] = []
    var value = first
    while value <= last {
      ticks.append(value)
      if value * 3 <= last { ticks.append(value * 3) }
      value *= 10
    }
    return ticks
  }
}
