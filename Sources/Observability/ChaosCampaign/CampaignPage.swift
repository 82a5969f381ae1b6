// SPDX-License-Identifier: Apache-2.0

import Archive
import JournalAnalysis
import ReportPages

/// Formats a report as one HTML page that loads nothing.
package enum CampaignPage {
  /// The whole page.
  package static func page(_ report: CampaignReport) -> String {
    let title = "Chaos: \(CampaignText.subject(report)): \(CampaignText.sentence(report.answer))"
    let timeline = CampaignPlots.timeline(report).map { ReportPage.section("Faults over time", $0) } ?? ""
    let content = [
      facts(report), ReportPage.section("Laws", laws(report)), findings(report),
      ReportPage.section("Recovery", recovery(report)), timeline,
      ReportPage.section("Kills by state", "<p>\(CampaignScope.stateSentence)</p>" + CampaignPlots.states(report)),
      ReportPage.section("Faults", faults(report)),
      ReportPage.section(
        "Work", ReportPage.table(["what", "how often"], CampaignScope.rows(report.work).map { [$0.0, "\($0.1)"] })),
      runs(report), ReportPage.section("What is not tested", ReportPage.list(CampaignScope.untested)),
    ]
    return ReportPage.page(title, content)
  }

  private static func facts(_ report: CampaignReport) -> String {
    let machine = report.machine
    return "<p><code>\(ReportPage.escaped(report.command))</code></p>"
      + ReportPage.list([
        "\(report.kills) kills in \(CampaignText.duration(report.seconds)), \(report.killsPerHour) an hour; "
          + CampaignText.quiet(report.runs),
        "widgetlab \(report.version), begun at \(report.date)",
        ReportPage.escaped(
          "\(machine.processor), \(machine.cores) cores, \(machine.memory) MiB, \(machine.system); load "
            + "\(machine.loadBefore) before, \(machine.loadAfter) after"),
      ])
  }

  private static func laws(_ report: CampaignReport) -> String {
    let laws = report.laws.map { law in
      [
        "<code>\(law.code)</code>", ReportPage.answer(law.answer.rawValue),
        "\(law.checks) checks with something to judge",
      ]
    }
    let checks = report.checks.map { check in
      [check.name, ReportPage.answer(check.holds ? "holds" : "broken"), ReportPage.escaped(check.text)]
    }
    return ReportPage.table(["law", "answer", ""], laws + checks)
  }

  private static func findings(_ report: CampaignReport) -> String {
    let laws = report.laws.filter { $0.broken + $0.unknown > 0 }
    guard !laws.isEmpty else { return "" }
    let items = laws.flatMap { law in
      (law.broken > 0 ? law.breaches : law.doubts).map { finding in
        "<code>\(law.code)</code>: \(ReportPage.escaped(finding.what))"
          + ReportPage.list(finding.evidence.map { "<code>#\($0.sequence) \(ReportPage.escaped($0.text))</code>" })
      }
    }
    return ReportPage.section("Findings", ReportPage.list(items))
  }

  private static func recovery(_ report: CampaignReport) -> String {
    let rows = report.victims.map { figures in
      [figures.victim.rawValue, "\(figures.kills)", "\(figures.states.count)", "\(figures.recoveries.count)"]
        + [0.5, 0.99, 1].map { figures.recovery($0).map { "\(Int(saturating: $0.rounded())) ms" } ?? "-" }
    }
    let sentence =
      "From the kill until the process is ready again. A process that is killed again before has no time. The device "
      + "launches app and extension when something needs them. The marks are the median and the 99th percentile."
    return "<p>\(sentence)</p>"
      + ReportPage.table(["victim", "kills", "states", "came back", "p50", "p99", "max"], rows)
      + CampaignPlots.recoveries(report)
  }

  private static func faults(_ report: CampaignReport) -> String {
    let rows = FaultKind.allCases.filter { report.asked[$0] != nil }.map { kind in
      [
        "<code>\(kind.rawValue)</code>", "\(report.asked[kind] ?? 0)", "\(report.effective[kind] ?? 0)", kind.sentence,
      ]
    }
    return ReportPage.table(["fault", "asked", "took effect", ""], rows)
  }

  private static func runs(_ report: CampaignReport) -> String {
    guard report.runs.count > 1 else { return "" }
    let rows = report.runs.map { run in
      [
        "\(run.seed)", ReportPage.answer(run.answer.rawValue), "\(run.kills)", CampaignText.duration(run.seconds),
        run.quietAfter.map(String.seconds) ?? "no", "\(run.envelopes)",
        "<code>\(ReportPage.escaped(run.failure ?? ""))</code>",
      ]
    }
    return ReportPage.section(
      "Seeds", ReportPage.table(["seed", "answer", "kills", "time", "quiet after", "envelopes", "failure file"], rows))
  }
}
