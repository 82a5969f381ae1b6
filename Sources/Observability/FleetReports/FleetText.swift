// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
package import Messages

/// Formats the figures of a fleet.
package enum FleetText {
  /// `12 ms`, `1.25 s`; `-` for none.
  package static func milliseconds(_ value: Double?) -> String {
    guard let value else { return "-" }
    if value < 10 { return "\((value * 10).rounded() / 10) ms" }
    if value < 10_000 { return "\(Int(saturating: value.rounded())) ms" }
    return "\((value / 100).rounded() / 10) s"
  }

  /// `1,234,567`.
  package static func number(_ value: Int) -> String {
    let digits = String(value.magnitude)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return value < 0 ? "-" + text : text
  }

  /// `delivered 3, expired 1`; `-` for none.
  package static func counts(_ counts: [String: Int]) -> String {
    let shown = counts.filter { $0.value != 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return shown.isEmpty ? "-" : shown.map { "\($0.key) \(number($0.value))" }.joined(separator: ", ")
  }

  /// `p50 3 ms, p99 12 ms, max 40 ms`.
  package static func latency(_ latency: LatencyHistogram) -> String {
    [("p50", 0.5), ("p99", 0.99), ("max", 1.0)].map { "\($0) \(milliseconds(latency.percentile($1)))" }
      .joined(separator: ", ")
  }

  /// The lines of `widgetlab fleet status`.
  package static func lines(_ state: FleetState) -> [String] {
    let tokens = state.tokens
    let total = state.total
    var lines = [
      "\(state.name): \(number(state.devices)) devices, \(number(state.online)) online, \(number(state.asleep)) asleep, "
        + "\(number(state.devices - state.installed)) without the app" + (state.isCutOff ? "; the network is off" : ""),
      "  day       \(state.time.formatted(.iso8601)) at speed \(state.speed); seed \(state.seed), \(state.profile); "
        + "\(number(state.events)) events",
      "  tokens    \(number(tokens.all)): \(number(tokens.registered)) registered, \(number(tokens.issued)) issued, "
        + "\(number(tokens.wanted)) wanted; \(number(tokens.ending)) ending"
        + (state.readyAfter.map { "; ready after \(($0 * 10).rounded() / 10) s" } ?? ""),
    ]
    let registration = state.registration
    if registration.succeeded + registration.refused.count + registration.retried.count > 0 {
      lines.append(
        "  backend   \(number(registration.succeeded)) registered, \(latency(registration.latency)); repeated: "
          + "\(counts(registration.retried)); refused: \(counts(registration.refused))")
      if let error = registration.lastError { lines.append("            last error: \(error)") }
    }
    lines.append(
      "  delivered \(number(total.delivered)), \(latency(total.latency)); \(rate(state)); again \(number(total.repeated)); "
        + "refused: \(counts(total.refused))")
    for (type, received) in state.received.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "    \(type.padding(toLength: 14, withPad: " ", startingAt: 0)) \(number(received.delivered)), "
          + "\(latency(received.latency)); \(counts(received.outcomes))")
    }
    if state.activities > 0 || !state.liveActivities.isEmpty {
      lines.append("  Live Activities \(number(state.activities)); \(counts(state.liveActivities))")
    }
    return lines
  }

  /// The rate of the last ten whole seconds.
  package static func rate(_ state: FleetState) -> String {
    let now = state.seconds.last?.at ?? 0
    let last = state.seconds.filter { now - 10 <= $0.at && $0.at < now }
    let delivered = last.reduce(0) { $0 + $1.delivered }
    return "\(number(delivered / 10))/s"
  }

  /// One line for a second that has passed.
  package static func line(_ second: FleetState.Second) -> String {
    let time = Date(timeIntervalSince1970: Double(second.at)).formatted(.iso8601)
    return "\(time) \(number(second.online)) online, \(number(second.delivered)) delivered"
      + (second.delivered > 0 ? " (slowest \(milliseconds(second.slowest)))" : "")
      + (second.registered > 0 ? ", \(number(second.registered)) registered" : "")
  }
}
