// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

extension SearchReport {
  /// One line: the result, and the length of the shortest counterexample.
  package var summary: String {
    let shortest = counterexamples.min { $0.steps.count < $1.steps.count }
    let unmet = properties.first { $0.verdict == .unknown }.map { ", never: \($0.name)" }
    let example = shortest.map { example in
      let count = example.steps.count
      return ", \(count) \(count == 1 ? "step" : "steps"): \(example.property)"
    }
    return "\(name): \(verdict)\(example ?? unmet ?? ""), \(states) states, \(duration.formatted)"
  }

  /// What `scripts/prove` prints.
  package var text: String {
    let rate = Int(saturating: Double(states) / max(duration / .seconds(1), 0.001))
    var lines = [
      "\(name): \(verdict): \(states) states, depth \(depth), \(transitions) transitions, \(duration.formatted) "
        + "(\(rate) states/s)",
      "  \(about)",
    ]
    for (kind, name, verdict) in properties {
      let result =
        switch verdict {
        case .holds: "holds"
        case .bounded: "holds so far"
        case .reached(let depth): "reached at step \(depth)"
        case .violated: "VIOLATED"
        case .unknown: "NOT REACHED"
        }
      let what = "  \(kind.padding(toLength: 11, withPad: " ", startingAt: 0)) \(name)"
      lines.append(what.padding(toLength: max(what.count, 88), withPad: " ", startingAt: 0) + "  " + result)
    }
    return (lines + counterexamples.map(\.text)).joined(separator: "\n")
  }
}

extension Counterexample {
  /// The steps, a line each, with what was decided.
  package var text: String {
    var lines = ["  counterexample to: \(property), \(steps.count) steps"]
    for (number, step) in zip(1..., steps) {
      lines.append("  \(String(number).padding(toLength: 3, withPad: " ", startingAt: 0)) \(step.action)")
      for line in step.lines { lines.append("        \(line)") }
    }
    return lines.joined(separator: "\n")
  }
}

extension Duration {
  /// Seconds with one decimal.
  package var formatted: String { String(format: "%.1f s", self / .seconds(1)) }
}
