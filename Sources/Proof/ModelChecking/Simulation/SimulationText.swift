// SPDX-License-Identifier: Apache-2.0

import Archive
import JournalAnalysis
import Messages

/// The results of simulations for a terminal.
package enum SimulationText {
  /// The result of one simulation.
  ///
  /// - Parameters:
  ///   - duration: the machine's time that it took.
  ///   - isBrief: only the first line, and what is not right.
  package static func lines(_ result: SimulationResult, _ duration: Duration, isBrief: Bool, isColored: Bool)
    -> [String]
  {
    let plan = result.plan
    let planted = plan.mistake.map { ", planted: \($0.rawValue)" } ?? ""
    let kills = result.kills.values.reduce(0, +)
    let head =
      "seed \(plan.seed)\(planted): \(Amount.text(seconds: result.seconds)) of the device, \(result.steps) steps, "
      + "\(kills) kills, \(result.checker.envelopes) envelopes, digest \(result.digest.prefix(16))"
    let isRight = LawVerdict.answer(result.verdicts) == .holds
    if isBrief, isRight || result.next != nil { return [head] }
    var lines = [head]
    if !isBrief {
      let victims = SimulatedVictim.allCases.compactMap { victim in
        result.kills[victim].map { "\(victim.rawValue) \($0)" }
      }
      lines.append("kills: \(victims.isEmpty ? "none" : victims.joined(separator: ", "))")
      lines.append("decisions of the state machines: \(result.decisions)")
    }
    lines += LawText.lines(result.verdicts, of: result.checker, isColored: isColored)
    let silent = result.verdicts.filter { $0.findings.checks == 0 }.map(\.law.code)
    if !silent.isEmpty { lines.append("judged nothing: \(silent.joined(separator: ", "))") }
    if !isBrief {
      lines.append("speed: \(speed(result.seconds / 3600, kills, duration))")
      lines.append("SHA-256 of the journal: \(result.digest)")
    }
    return lines
  }

  /// Device hours for each hour of the machine, and kills for each second.
  package static func speed(_ hours: Double, _ kills: Int, _ duration: Duration) -> String {
    let seconds = max(Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18, 1e-3)
    let text = "\(Int(saturating: hours / seconds * 3600)) device hours for each hour of the machine"
    return text + ", \(Int(saturating: Double(kills) / seconds)) kills in a second"
  }

  /// A broken law, and how to see it again.
  ///
  /// - Parameter command: the command without its options.
  package static func lines(_ breach: SimulatedBreach, of result: SimulationResult, command: String) -> [String] {
    let plan = result.plan
    var options = ["--seed \(plan.seed)", "--hours \(plan.hours)", "--kills \(plan.kills)"]
    if let only = plan.only {
      options.append("--only \(only.isEmpty ? "none" : only.map(String.init).joined(separator: ","))")
    }
    if let mistake = plan.mistake { options.append("--plant \(mistake.rawValue)") }
    let kills = breach.kills.count == 1 ? "1 kill" : "\(breach.kills.count) kills"
    return [
      "broken \(breach.law): \(breach.finding.what)",
      "  at step \(breach.step), after \(Amount.text(seconds: breach.seconds)) and \(kills)",
    ] + breach.finding.evidence.map { "    \("#\($0.sequence)".padded(8)) \($0.text)" } + [
      "  again:  \(command) \(options.joined(separator: " "))",
      "  before: \(command) \(options.joined(separator: " ")) --until \(breach.step)",
    ]
  }
}
