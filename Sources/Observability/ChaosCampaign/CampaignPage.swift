// SPDX-License-Identifier: Apache-2.0

import JournalAnalysis

/// Formats a report as one HTML page that loads nothing.
package enum CampaignPage {
  /// The whole page.
  package static func page(_ report: CampaignReport) -> String {
    let title = "Chaos: \(CampaignText.subject(report)): \(CampaignText.sentence(report.answer))"
    let timeline = CampaignPlots.timeline(report).map { section("Faults over time", $0) } ?? ""
    return """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <title>\(CampaignPlots.escaped(title))</title>
      <style>\(style)</style>
      <main>
      <h1>\(CampaignPlots.escaped(title))</h1>
      \(facts(report))
      \(section("Laws", laws(report)))
      \(findings(report))
      \(section("Recovery", recovery(report)))
      \(timeline)
      \(section("Kills by state", "<p>\(CampaignScope.stateSentence)</p>" + CampaignPlots.states(report)))
      \(section("Faults", faults(report)))
      \(section("Work", table(["what", "how often"], CampaignScope.rows(report.work).map { [$0.0, "\($0.1)"] })))
      \(runs(report))
      \(section("What is not tested", list(CampaignScope.untested)))
      </main>
      </html>

      """
  }

  private static let style = """
    :root { color-scheme: light dark; --ink: light-dark(#1d1d1f, #f0f0f2); --soft: light-dark(#6b6b70, #9a9aa0);
      --line: light-dark(#e0e0e4, #3a3a3e); --page: light-dark(#fff, #161618); --mark: light-dark(#0a60c2, #64a8ff);
      --bad: light-dark(#c02020, #ff7b72); --good: light-dark(#12752c, #5cd17a); --warn: light-dark(#8a5a00, #e5b350); }
    body { background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 0; }
    main { max-width: 900px; margin: 0 auto; padding: 24px 20px 60px; }
    h1 { font-size: 24px; } h2 { font-size: 18px; margin-top: 36px; }
    code { font: 13px ui-monospace, monospace; }
    table { border-collapse: collapse; width: 100%; }
    th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
    th { color: var(--soft); font-weight: 500; }
    td.number { font-variant-numeric: tabular-nums; }
    .holds { color: var(--good); } .broken { color: var(--bad); } .unknown { color: var(--warn); }
    .scroll { overflow-x: auto; }
    svg { width: 100%; min-width: 640px; height: auto; display: block; }
    svg text { font-size: 11px; fill: var(--soft); } svg text.name { fill: var(--ink); font-weight: 600; }
    svg circle { fill: var(--mark); fill-opacity: .3; } svg rect { fill: var(--mark); fill-opacity: .75; }
    svg line { stroke-width: 1.5; } svg line.grid { stroke: var(--line); stroke-width: 1; }
    svg line.mark { stroke: var(--ink); stroke-width: 2; } svg line.kill { stroke: var(--bad); }
    svg line.other { stroke: var(--warn); } svg line.back { stroke: var(--mark); stroke-opacity: .5; stroke-width: 4; }
    """

  private static func facts(_ report: CampaignReport) -> String {
    let machine = report.machine
    return "<p><code>\(CampaignPlots.escaped(report.command))</code></p>"
      + list([
        "\(report.kills) kills in \(CampaignText.duration(report.seconds)), \(report.killsPerHour) an hour; "
          + CampaignText.quiet(report.runs),
        "widgetlab \(report.version), begun at \(report.date)",
        CampaignPlots.escaped(
          "\(machine.processor), \(machine.cores) cores, \(machine.memory) MiB, \(machine.system); load "
            + "\(machine.loadBefore) before, \(machine.loadAfter) after"),
      ])
  }

  private static func laws(_ report: CampaignReport) -> String {
    let laws = report.laws.map { law in
      ["<code>\(law.code)</code>", answer(law.answer.rawValue), "\(law.checks) checks with something to judge"]
    }
    let checks = report.checks.map { check in
      [check.name, answer(check.holds ? "holds" : "broken"), CampaignPlots.escaped(check.text)]
    }
    return table(["law", "answer", ""], laws + checks)
  }

  private static func answer(_ word: String) -> String { "<b class=\"\(word)\">\(word)</b>" }

  private static func findings(_ report: CampaignReport) -> String {
    let laws = report.laws.filter { $0.broken + $0.unknown > 0 }
    guard !laws.isEmpty else { return "" }
    let items = laws.flatMap { law in
      (law.broken > 0 ? law.breaches : law.doubts).map { finding in
        "<code>\(law.code)</code>: \(CampaignPlots.escaped(finding.what))"
          + list(finding.evidence.map { "<code>#\($0.sequence) \(CampaignPlots.escaped($0.text))</code>" })
      }
    }
    return section("Findings", list(items))
  }

  private static func recovery(_ report: CampaignReport) -> String {
    let rows = report.victims.map { figures in
      [figures.victim.rawValue, "\(figures.kills)", "\(figures.states.count)", "\(figures.recoveries.count)"]
        + [0.5, 0.99, 1].map { figures.recovery($0).map { "\(Int($0.rounded())) ms" } ?? "-" }
    }
    let sentence =
      "From the kill until the process is ready again. A process that is killed again before has no time. The device "
      + "launches app and extension when something needs them. The marks are the median and the 99th percentile."
    return "<p>\(sentence)</p>" + table(["victim", "kills", "states", "came back", "p50", "p99", "max"], rows)
      + CampaignPlots.recoveries(report)
  }

  private static func faults(_ report: CampaignReport) -> String {
    let rows = FaultKind.allCases.filter { report.asked[$0] != nil }.map { kind in
      [
        "<code>\(kind.rawValue)</code>", "\(report.asked[kind] ?? 0)", "\(report.effective[kind] ?? 0)", kind.sentence,
      ]
    }
    return table(["fault", "asked", "took effect", ""], rows)
  }

  private static func runs(_ report: CampaignReport) -> String {
    guard report.runs.count > 1 else { return "" }
    let rows = report.runs.map { run in
      [
        "\(run.seed)", answer(run.answer.rawValue), "\(run.kills)", CampaignText.duration(run.seconds),
        run.quietAfter.map(String.seconds) ?? "no", "\(run.envelopes)",
        "<code>\(CampaignPlots.escaped(run.failure ?? ""))</code>",
      ]
    }
    return section(
      "Seeds", table(["seed", "answer", "kills", "time", "quiet after", "envelopes", "failure file"], rows))
  }

  private static func section(_ title: String, _ content: String) -> String {
    "<section>\n<h2>\(title)</h2>\n<div class=\"scroll\">\(content)</div>\n</section>"
  }

  private static func list(_ items: [String]) -> String {
    "<ul>\(items.map { "<li>\($0)</li>" }.joined())</ul>"
  }

  private static func table(_ headings: [String], _ rows: [[String]]) -> String {
    let head = headings.map { "<th scope=\"col\">\($0)</th>" }.joined()
    let body = rows.map { row in
      "<tr>\(row.map { "<td\($0.allSatisfy(\.isNumber) ? " class=\"number\"" : "")>\($0)</td>" }.joined())</tr>"
    }
    return "<table><thead><tr>\(head)</tr></thead><tbody>\(body.joined(separator: "\n"))</tbody></table>"
  }
}
