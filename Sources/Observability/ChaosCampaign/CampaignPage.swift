// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import JournalAnalysis

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

/// The plots of a report's page, as SVG.
enum CampaignPlots {
  // MARK: Recovery times

  /// A point for each recovery, on a logarithmic scale, with marks at the median and at the 99th percentile.
  static func recoveries(_ report: CampaignReport) -> String {
    let victims = report.victims.filter { !$0.recoveries.isEmpty }
    let longest = max(victims.compactMap(\.recoveries.last).max() ?? 0, 1000)
    let scale = LogarithmicScale(from: 10, to: longest * 1.2, left: ReportPlots.left, right: ReportPlots.width - 20)
    let height = ReportPlots.row * Double(victims.count) + 36
    let grid = scale.ticks.map { value in
      let x = scale.x(value)
      return ReportPlots.line(x1: x, y1: 8, x2: x, y2: height - 26, name: "grid")
        + ReportPlots.text(
          x: x, y: height - 8, value < 1000 ? "\(Int(saturating: value)) ms" : "\(Int(saturating: value / 1000)) s",
          anchor: "middle")
    }
    let rows = victims.enumerated().map { index, figures in
      let y = 8 + ReportPlots.row * (Double(index) + 0.5)
      let points = figures.recoveries.map {
        "<circle cx='\(ReportPlots.short(scale.x($0)))' cy='\(ReportPlots.short(y))' r='3'/>"
      }
      let marks = [(0.5, "p50"), (0.99, "p99")].compactMap { share, name -> String? in
        figures.recovery(share).map { value in
          let x = scale.x(value)
          let line = ReportPlots.line(x1: x, y1: y - 10, x2: x, y2: y + 10, name: "mark")
          return "<g class='mark'><title>\(name) \(Int(saturating: value)) ms</title>\(line)</g>"
        }
      }
      return ReportPlots.text(x: ReportPlots.left - 10, y: y + 4, figures.victim.rawValue, anchor: "end")
        + points.joined()
        + marks.joined()
    }
    return ReportPlots.svg(height, title: "Recovery times of each victim", parts: grid + rows)
  }

  // MARK: Kills by state

  /// A bar for each state of each victim.
  static func states(_ report: CampaignReport) -> String {
    let most = Double(report.victims.flatMap { $0.states.map(\.kills) }.max() ?? 1)
    var y = 8.0
    var parts: [String] = []
    for figures in report.victims {
      parts.append(
        "<text x='8' y='\(ReportPlots.short(y + 14))' class='name'>\(figures.victim): \(figures.kills)</text>")
      y += 20
      for (state, kills) in figures.states.prefix(CampaignMarkdown.statesShown) {
        let length = max(2, Double(kills) / most * (ReportPlots.width - 320))
        parts.append(ReportPlots.text(x: 250, y: y + 12, ReportPage.escaped(state), anchor: "end"))
        parts.append(
          "<rect x='258' y='\(ReportPlots.short(y + 2))' width='\(ReportPlots.short(length))' height='12' rx='2'/>")
        parts.append(ReportPlots.text(x: 264 + length, y: y + 12, "\(kills)", anchor: "start"))
        y += 17
      }
      let rest = figures.states.dropFirst(CampaignMarkdown.statesShown)
      if !rest.isEmpty {
        parts.append(
          ReportPlots.text(
            x: 250, y: y + 12, "\(rest.count) other states: \(rest.reduce(0) { $0 + $1.kills })", anchor: "end"))
        y += 17
      }
      y += 10
    }
    return ReportPlots.svg(y + 4, title: "Kills by victim and state", parts: parts)
  }

  // MARK: Timeline

  /// A mark for each fault, and a line from each kill to the recovery. Only of a single run.
  static func timeline(_ report: CampaignReport) -> String? {
    guard report.runs.count == 1, let end = report.events.map(\.time).max(), end > 0 else { return nil }
    let victims = report.victims.map(\.victim)
    let lanes = victims.map(\.rawValue) + ["other faults"]
    let height = ReportPlots.row * Double(lanes.count) + 36
    let x = { (time: Double) in ReportPlots.left + time / end * (ReportPlots.width - ReportPlots.left - 20) }
    let labels = lanes.enumerated().map {
      ReportPlots.text(x: ReportPlots.left - 10, y: 8 + ReportPlots.row * (Double($0) + 0.5) + 4, $1, anchor: "end")
    }
    let ticks = stride(from: 0, through: 5, by: 1).map { tick in
      let time = end * Double(tick) / 5
      return ReportPlots.line(x1: x(time), y1: 8, x2: x(time), y2: height - 26, name: "grid")
        + ReportPlots.text(x: x(time), y: height - 8, CampaignText.duration(time), anchor: "middle")
    }
    let marks = report.events.map { event -> String in
      let title =
        "<title>\(CampaignText.duration(event.time)) step \(event.step): \(ReportPage.escaped(event.text))</title>"
      let lanesHit: [(Int, Double?)] =
        event.kills.isEmpty
        ? [(victims.count, nil)]
        : event.kills.compactMap { kill in victims.firstIndex(of: kill.victim).map { ($0, kill.recovery) } }
      return "<g>\(title)"
        + lanesHit.map { lane, recovery in
          let y = 8 + ReportPlots.row * (Double(lane) + 0.5)
          let back =
            recovery.map {
              ReportPlots.line(x1: x(event.time), y1: y, x2: x(min(end, event.time + $0 / 1000)), y2: y, name: "back")
            } ?? ""
          return back
            + ReportPlots.line(
              x1: x(event.time), y1: y - 8, x2: x(event.time), y2: y + 8, name: event.kills.isEmpty ? "other" : "kill")
        }.joined() + "</g>"
    }
    return ReportPlots.svg(height, title: "Faults over time", parts: ticks + labels + marks)
  }
}
