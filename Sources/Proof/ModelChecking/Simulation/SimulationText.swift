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
    let kills = result.doneKills
    let head =
      "seed \(plan.seed)\(planted): \(Amount.text(seconds: result.seconds)) of the device, \(result.steps) steps, "
      + "\(Self.kills(kills, of: result.plannedKills)), \(result.checker.envelopes) envelopes, "
      + "digest \(result.digest.prefix(16))"
    let isRight = LawVerdict.answer(result.verdicts) == .holds
    if isBrief, isRight || result.next != nil, !result.isInterrupted { return [head] }
    var lines = [head]
    if result.isInterrupted { lines.append("interrupted: work that is not done is not judged") }
    if isBrief, result.isInterrupted { return lines }
    if !isBrief {
      lines += Self.others(than: kills, of: result.plannedKills, missed: result.missedKills)
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

  /// How many of the planned kills happened.
  static func kills(_ done: Int, of planned: Int) -> String {
    done == planned ? "\(done) kills" : "\(done) of \(planned) kills"
  }

  /// Why the other kills did not happen: a line, or none.
  ///
  /// - Parameter missed: those that had no running victim.
  static func others(than done: Int, of planned: Int, missed: Int) -> [String] {
    let reasons = [
      (missed, "had no running victim"), (planned - done - missed, "were not due before the end"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return reasons.isEmpty ? [] : ["kills that did not happen: \(reasons.joined(separator: ", "))"]
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
    var options =
      plan.campaign.map { ["--failure \($0.file)", "--seed \(plan.seed)"] }
      ?? ["--seed \(plan.seed)", "--hours \(plan.hours)", "--kills \(plan.kills)"]
    if let only = plan.only {
      options.append("--only \(only.isEmpty ? "none" : only.map(String.init).joined(separator: ","))")
    }
    if let mistake = plan.mistake { options.append("--plant \(mistake.rawValue)") }
    if breach.step == nil, let until = plan.until { options.append("--until \(until)") }
    let again = "\(command) \(options.joined(separator: " "))"
    let kills = breach.kills.count == 1 ? "1 kill" : "\(breach.kills.count) kills"
    let place = breach.step.map { "at step \($0)" } ?? "at the end, which this law judges"
    return [
      "broken \(breach.law): \(breach.finding.what)",
      "  \(place), after \(Amount.text(seconds: breach.seconds)) and \(kills)",
    ] + breach.finding.evidence.map { "    \("#\($0.sequence)".padded(8)) \($0.text)" } + ["  again:  \(again)"]
      + (breach.step.map { ["  before: \(again) --until \($0)"] } ?? [])
  }
}
