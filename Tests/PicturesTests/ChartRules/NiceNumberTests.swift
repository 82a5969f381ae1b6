// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import Archive

@Suite struct `Round numbers of an axis` {
  @Test(
    .rule("CHART-05"),
    arguments: [
      (87.0, 5, 20.0), (10, 5, 2), (1, 5, 0.2), (12_345, 4, 2000), (0.003, 3, 0.001), (0, 5, .infinity),
      (-1, 5, .infinity), (.nan, 5, .infinity), (7, 0, 5),
    ])
  func `a step is 1, 2 or 5 times a power of ten`(span: Double, count: Int, step: Double) {
    #expect(abs(NiceNumbers.step(over: span, count: count) - step) < 1e-12 || step == .infinity)
    #expect(NiceNumbers.step(over: span, count: count).isFinite == step.isFinite)
  }

  @Test(.rule("CHART-05")) func `the numbers of an axis are written as a person writes them`() {
    #expect(NiceNumbers.ticks(in: 0...1, count: 5) == [0, 0.2, 0.4, 0.6, 0.8, 1])
    #expect(NiceNumbers.ticks(in: 0...0.3, count: 3) == [0, 0.1, 0.2, 0.3])
    #expect(NiceNumbers.ticks(in: -7...12, count: 4) == [-5, 0, 5, 10])
    #expect(NiceNumbers.ticks(in: 5...5, count: 4) == [])
    #expect(NiceNumbers.multiples(of: 25, in: 0...100) == [0, 25, 50, 75, 100])
  }

  @Test(
    .rule("CHART-05"), arguments: [(0.0...87.0, 0.0...100.0), (-3...9, -4...10), (0...100, 0...100), (5...5, 5...5)])
  func `a domain ends at round numbers`(range: ClosedRange<Double>, wanted: ClosedRange<Double>) {
    #expect(NiceNumbers.extended(range, count: 5) == wanted)
  }

  @Test(.rule("CHART-05"), arguments: [1e-300, 1e300, .infinity, -.infinity, .nan, 0])
  func `a step without a meaning has no numbers`(step: Double) {
    #expect(NiceNumbers.multiples(of: step, in: 1...1e9).isEmpty)
  }
}
