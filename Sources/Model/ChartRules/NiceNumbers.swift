// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// Round numbers for an axis: multiples of 1, 2 or 5 times a power of ten.
package enum NiceNumbers {
  /// The round step that divides a span into about `count` parts. Infinite for a span that is not positive.
  package static func step(over span: Double, count: Int) -> Double {
    guard span > 0, span.isFinite else { return .infinity }
    let raw = span / Double(max(count, 1))
    let power = pow(10, log10(raw).rounded(.down))
    // The limits between the steps are the geometric means of their neighbours.
    let error = raw / power
    return power
      * (error >= 50.0.squareRoot() ? 10 : error >= 10.0.squareRoot() ? 5 : error >= 2.0.squareRoot() ? 2 : 1)
  }

  /// The multiples of a step within a range, in ascending order; at most 1,000.
  package static func multiples(of step: Double, in range: ClosedRange<Double>) -> [Double] {
    guard step > 0, step.isFinite else { return [] }
    // A number that is a multiple apart from the error of a calculation counts as one.
    let error = 1e-9 * min(1, (range.upperBound - range.lowerBound) / step)
    let first = (range.lowerBound / step - error).rounded(.up)
    let last = (range.upperBound / step + error).rounded(.down)
    guard first <= last, last - first < 1000, abs(first) < 1e15, abs(last) < 1e15 else { return [] }
    // Division by a power of ten gives the number that a person writes; a product may differ in the last digit.
    let inverse = (1 / step).rounded()
    return (0...Int(saturating: last - first)).map { index in
      let multiple = first + Double(index)
      return step < 1 && abs(inverse * step - 1) < 1e-9 ? multiple / inverse : multiple * step
    }
  }

  /// About `count` round numbers within a range.
  package static func ticks(in range: ClosedRange<Double>, count: Int) -> [Double] {
    multiples(of: step(over: range.upperBound - range.lowerBound, count: count), in: range)
  }

  /// The range with its ends moved to round numbers.
  package static func extended(_ range: ClosedRange<Double>, count: Int) -> ClosedRange<Double> {
    let step = step(over: range.upperBound - range.lowerBound, count: count)
    guard step.isFinite else { return range }
    let lower = (range.lowerBound / step + 1e-9).rounded(.down) * step
    let upper = (range.upperBound / step - 1e-9).rounded(.up) * step
    return min(lower, range.lowerBound)...max(upper, range.upperBound)
  }
}
