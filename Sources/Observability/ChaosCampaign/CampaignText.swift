// SPDX-License-Identifier: Apache-2.0

import Archive
import JournalAnalysis

/// Formats a report for the terminal.
package enum CampaignText {
  /// All lines.
  package static func lines(_ report: CampaignReport, isColored: Bool) -> [String] {
    head(report) + [""] + victims(report) + [""] + faults(report) + [""] + laws(report, isColored: isColored)
      + [""] + verdict(report, isColored: isColored)
  }

  /// One line about one campaign of several.
  package static func line(_ report: CampaignReport) -> String {
    "\(subject(report)): \(sentence(report.answer)); \(count(report.kills, "kill")) in \(duration(report.seconds))"
  }

  private static func head(_ report: CampaignReport) -> [String] {
    let work = report.work
    return [
      "\(count(report.kills, "kill")) in \(duration(report.seconds)), \(report.killsPerHour) an hour; "
        + quiet(report.runs),
      "\(work.accepted) tasks accepted; \(work.acknowledged) deliveries acknowledged, \(work.redelivered) sent again; "
        + "the delegate called again for \(work.repeated) tasks; \(work.pushesAccepted) pushes accepted, "
        + "\(work.pushesDelivered) delivered; \(work.shown) timeline entries shown",
    ]
  }

  static func quiet(_ runs: [CampaignReport.Run]) -> String {
    let late = runs.filter { $0.quietAfter == nil }
    guard late.isEmpty else {
      let left = late[0].left ?? []
      guard runs.count > 1 else { return (["not quiet at the end"] + left).joined(separator: "; ") }
      return "\(late.count) of \(runs.count) runs not quiet at the end"
    }
    return "quiet \(String.seconds(runs.compactMap(\.quietAfter).max() ?? 0)) after the last fault"
  }

  private static func victims(_ report: CampaignReport) -> [String] {
    let rows = report.victims.map { figures in
      [figures.victim.rawValue, "\(figures.kills)", "\(figures.states.count)"]
        + [0.5, 0.99, 1].map { figures.recovery($0).map { "\(Int(saturating: $0.rounded())) ms" } ?? "-" }
    }
    return table(["victim", "kills", "states", "back p50", "p99", "max"], rows)
  }

  private static func faults(_ report: CampaignReport) -> [String] {
    let rows = FaultKind.allCases.filter { report.asked[$0] != nil }.map { kind in
      [kind.rawValue, "\(report.asked[kind] ?? 0)", "\(report.effective[kind] ?? 0)"]
    }
    return table(["fault", "asked", "took effect"], rows)
  }

  private static func laws(_ report: CampaignReport, isColored: Bool) -> [String] {
    let laws = report.laws.flatMap { law in
      let findings = law.broken > 0 ? law.breaches : law.doubts
      return [
        row(
          law.answer, name: law.code, text: law.checks == 0 ? "nothing to check" : count(law.checks, "check"),
          isColored: isColored)
      ] + findings.prefix(4).flatMap(finding)
    }
    let checks = report.checks.map {
      row($0.holds ? .holds : .broken, name: $0.name, text: $0.text, isColored: isColored)
    }
    return laws + checks
  }

  private static func finding(_ finding: LawFinding) -> [String] {
    ["  \(finding.what)"] + finding.evidence.map { "    \("#\($0.sequence)".padded(8)) \($0.text)" }
  }

  private static func row(_ answer: LawVerdict.Answer, name: String, text: String, isColored: Bool) -> String {
    let word = answer.rawValue.padded(8)
    let colored: String =
      switch answer {
      case .holds: TerminalColor.green(word, if: isColored)
      case .broken: TerminalColor.red(word, if: isColored)
      case .unknown: TerminalColor.yellow(word, if: isColored)
      }
    return "\(colored) \(name.padded(30)) \(text)"
  }

  private static func verdict(_ report: CampaignReport, isColored: Bool) -> [String] {
    let failures = report.runs.compactMap { run in
      run.failure.map { "seed \(run.seed): \($0); run it again with `widgetlab chaos replay \($0)`" }
    }
    let interrupted = report.runs.contains(where: \.wasInterrupted) ? ", interrupted" : ""
    return failures + [
      TerminalColor.bold("\(subject(report))\(interrupted): \(sentence(report.answer))", if: isColored)
    ]
  }

  /// `1 kill`, `2 kills`.
  package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  static func subject(_ report: CampaignReport) -> String {
    report.runs.count == 1 ? "seed \(report.runs[0].seed)" : "\(report.runs.count) seeds"
  }

  static func sentence(_ answer: LawVerdict.Answer) -> String {
    switch answer {
    case .holds: "all laws hold"
    case .broken: "a law is broken"
    case .unknown: "nothing is broken, and something could not be judged"
    }
  }

  /// `1.5 s`.
  package static func seconds(_ value: Double) -> String { String.seconds(value) }

  /// `1:05` for 65 s, `2:00:01` for more than an hour.
  package static func duration(_ seconds: Double) -> String {
    let whole = Int(saturating: seconds.rounded())
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    let short = "\(rest < 10 ? "0" : "")\(rest)"
    return hours > 0 ? "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(short)" : "\(minutes):\(short)"
  }

  private static func table(_ headings: [String], _ rows: [[String]]) -> [String] {
    var table = TextTable(headings: headings)
    table.rows = rows
    return table.lines
  }
}

extension String {
  /// Seconds with one digit after the point.
  static func seconds(_ value: Double) -> String { "\((value * 10).rounded() / 10) s" }
}

/// Formats a report as Markdown.
package enum CampaignMarkdown {
  /// States of a victim that the table lists; the others are counted together.
  static let statesShown = 12

  /// The whole page.
  package static func page(_ report: CampaignReport) -> String {
    let parts = [
      ["# Chaos: \(CampaignText.subject(report)): \(CampaignText.sentence(report.answer))"], facts(report),
      laws(report),
      findings(report), victims(report), states(report), faults(report), work(report), runs(report),
      ["## What is not tested", ""] + CampaignScope.untested.map { "- \($0)" },
    ]
    return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
  }

  private static func facts(_ report: CampaignReport) -> [String] {
    let machine = report.machine
    return [
      "    \(report.command)", "",
      "- \(report.kills) kills in \(CampaignText.duration(report.seconds)), \(report.killsPerHour) an hour; "
        + "\(CampaignText.quiet(report.runs))",
      "- widgetlab \(report.version), begun at \(report.date)",
      "- \(machine.processor), \(machine.cores) cores, \(machine.memory) MiB, \(machine.system); load "
        + "\(machine.loadBefore) before, \(machine.loadAfter) after",
    ]
  }

  private static func laws(_ report: CampaignReport) -> [String] {
    let laws = report.laws.map {
      ["`\($0.code)`", $0.answer.rawValue, "\($0.checks)", "\($0.broken)", "\($0.unknown)"]
    }
    let checks = report.checks.map { [$0.name, $0.holds ? "holds" : "broken", $0.text, "", ""] }
    return ["## Laws", ""]
      + ReportMarkdown.table(["law", "answer", "checks with something to judge", "broken", "unknown"], laws + checks)
  }

  private static func findings(_ report: CampaignReport) -> [String] {
    let laws = report.laws.filter { $0.broken + $0.unknown > 0 }
    guard !laws.isEmpty else { return [] }
    return ["## Findings"]
      + laws.flatMap { law in
        ["", "### `\(law.code)`", ""]
          + (law.broken > 0 ? law.breaches : law.doubts).flatMap { finding in
            ["- \(ReportMarkdown.escaped(finding.what))"]
              + finding.evidence.map { "  - #\($0.sequence) \(ReportMarkdown.escaped($0.text))" }
          }
      }
  }

  private static func victims(_ report: CampaignReport) -> [String] {
    let rows = report.victims.map { figures in
      [figures.victim.rawValue, "\(figures.kills)", "\(figures.states.count)", "\(figures.recoveries.count)"]
        + [0.5, 0.99, 1].map { figures.recovery($0).map { "\(Int(saturating: $0.rounded()))" } ?? "-" }
    }
    return [
      "## Victims", "",
      "From the kill until the process is ready again, in milliseconds. A process that is killed again before "
        + "has no time. The device launches app and extension when something needs them.", "",
    ] + ReportMarkdown.table(["victim", "kills", "states", "came back", "p50", "p99", "max"], rows)
  }

  private static func states(_ report: CampaignReport) -> [String] {
    let rows = report.victims.flatMap { figures in
      let shown = figures.states.prefix(statesShown).map { [figures.victim.rawValue, $0.state, "\($0.kills)"] }
      let rest = figures.states.dropFirst(statesShown)
      let others = [figures.victim.rawValue, "\(rest.count) others", "\(rest.reduce(0) { $0 + $1.kills })"]
      return shown + (rest.isEmpty ? [] : [others])
    }
    return ["## Kills by state", "", CampaignScope.stateSentence, ""]
      + ReportMarkdown.table(["victim", "state", "kills"], rows)
  }

  private static func faults(_ report: CampaignReport) -> [String] {
    let rows = FaultKind.allCases.filter { report.asked[$0] != nil }.map { kind in
      ["`\(kind.rawValue)`", "\(report.asked[kind] ?? 0)", "\(report.effective[kind] ?? 0)", kind.sentence]
    }
    return ["## Faults", ""] + ReportMarkdown.table(["fault", "asked", "took effect", ""], rows)
  }

  private static func work(_ report: CampaignReport) -> [String] {
    ["## Work", ""]
      + ReportMarkdown.table(["what", "how often"], CampaignScope.rows(report.work).map { [$0.0, "\($0.1)"] })
  }

  private static func runs(_ report: CampaignReport) -> [String] {
    guard report.runs.count > 1 else { return [] }
    let rows = report.runs.map { run in
      [
        "\(run.seed)", run.answer.rawValue, "\(run.kills)", CampaignText.duration(run.seconds),
        run.quietAfter.map(String.seconds) ?? "no", "\(run.envelopes)", run.failure.map { "`\($0)`" } ?? "",
      ]
    }
    return ["## Seeds", ""]
      + ReportMarkdown.table(["seed", "answer", "kills", "time", "quiet after", "envelopes", "failure file"], rows)
  }
}

/// What each report states about campaigns in general.
enum CampaignScope {
  static let untested = [
    "Loss of power: SIGKILL keeps what the kernel has buffered. The journal's damage is what an interrupted write leaves; "
      + "only the faults tail and store take back whole writes.",
    "A machine that crashes, a network between machines, the machine's own clock.",
    "The author's code beyond the sample's app and extension, whose work is repeatable after each kill.",
    "What the laws do not judge; `widgetlab check --list` states it for each.",
  ]

  static let stateSentence =
    "What the process was doing when it was killed: the last message that the journal has from it or to it, or idle when "
    + "that was more than 50 ms before. The provider is not on the bus."

  static func rows(_ work: CampaignWork) -> [(String, Int)] {
    [
      ("background tasks accepted", work.accepted), ("deliveries of events acknowledged", work.acknowledged),
      ("deliveries sent again", work.redelivered), ("tasks whose delegate was called again", work.repeated),
      ("files compared with those of the provider", work.compared), ("pushes accepted", work.pushesAccepted),
      ("pushes delivered", work.pushesDelivered), ("timeline entries shown", work.shown),
    ]
  }
}
