// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages
import ReportPages

extension FleetReport {
  /// `Fleet load: 100,000 devices: all laws hold`.
  private var title: String {
    let sentence =
      switch answer {
      case .holds: "all laws hold"
      case .broken: "a law is broken"
      case .unknown: "not all laws can be judged"
      }
    return "Fleet \(fleet.name): \(FleetText.number(fleet.devices)) devices: \(sentence)"
  }

  private var facts: [String] {
    let memory = memory.map { ", \(Int(saturating: $0.rounded())) MiB of anonymous memory" } ?? ""
    let ready = fleet.readyAfter.map { "; ready after \(($0 * 10).rounded() / 10) s" } ?? ""
    return [
      "\(FleetText.number(fleet.devices)) devices in one process\(memory); seed \(fleet.seed), \(fleet.profile), speed "
        + "\(fleet.speed)\(ready)",
      "\(FleetText.number(fleet.online)) online, \(FleetText.number(fleet.asleep)) asleep, "
        + "\(FleetText.number(fleet.devices - fleet.installed)) without the app; \(FleetText.number(fleet.events)) events of "
        + "their days; \(FleetText.number(fleet.activities)) Live Activities (\(FleetText.counts(fleet.liveActivities)))",
      "registration: \(FleetText.number(fleet.registration.succeeded)) since the process started, "
        + "\(FleetText.latency(fleet.registration.latency)); repeated: \(FleetText.counts(fleet.registration.retried)); "
        + "refused: \(FleetText.counts(fleet.registration.refused))",
      "widgetlab \(version), at \(date)",
      "\(machine.processor), \(machine.cores) cores, \(machine.memory) MiB, \(machine.system); load \(machine.loadAfter)",
    ]
  }

  private static let headings = [
    "type", "accepted", "delivered", "superseded", "collapsed", "expired", "other ends", "open", "p50", "p99", "max",
    "again",
  ]

  private var rows: [[String]] {
    types.map { type in
      let named = ["delivered", "superseded", "collapsed", "expired"]
      let others = type.ends.filter { !named.contains($0.key) }
      return [type.type.isEmpty ? "none" : type.type, FleetText.number(type.accepted)]
        + named.map { FleetText.number(type.ends[$0] ?? 0) }
        + [FleetText.counts(others), FleetText.number(type.open)]
        + [0.5, 0.99, 1].map { FleetText.milliseconds(type.latency.percentile($0)) }
        + [FleetText.number(type.repeated)]
    }
  }

  private var refusals: [[String]] {
    let known = types.flatMap { type in
      type.refused.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
        [type.type, $0.key, FleetText.number($0.value)]
      }
    }
    return known
      + unknownTokens.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
        ["unknown token", $0.key, FleetText.number($0.value)]
      }
  }

  private var outcomes: [[String]] {
    types.filter { !$0.outcomes.isEmpty }.map { [$0.type, FleetText.counts($0.outcomes)] }
  }

  private var tokenRows: [[String]] {
    tokens.sorted { $0.key < $1.key }.map { [$0.key, FleetText.number($0.value)] }
  }

  /// The report as Markdown.
  package var markdown: String {
    let parts: [[String]] = [
      ["# \(title)"], ["    \(command)", ""] + facts.map { "- \($0)" },
      ["## Laws", ""]
        + ReportMarkdown.table(
          ["law", "answer", ""], verdicts.map { [$0.law, $0.answer.rawValue, ReportMarkdown.escaped($0.text)] }),
      [
        "## Pushes", "", "Accepted is status 200. The times are from the acceptance to the disk of the device.", "",
      ] + ReportMarkdown.table(Self.headings, rows),
      refusals.isEmpty
        ? [] : ["## Refused", ""] + ReportMarkdown.table(["type", "reason", "requests"], refusals),
      outcomes.isEmpty
        ? [] : ["## What the devices did", ""] + ReportMarkdown.table(["type", ""], outcomes),
      ["## Tokens", ""] + ReportMarkdown.table(["use", "active"], tokenRows),
      ["## Limits", ""] + Self.limits.map { "- \($0)" },
    ]
    return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
  }

  /// The report as one HTML page that loads nothing.
  package var page: String {
    let laws = verdicts.map {
      [ReportPage.escaped($0.law), ReportPage.answer($0.answer.rawValue), ReportPage.escaped($0.text)]
    }
    func escaped(_ rows: [[String]]) -> [[String]] { rows.map { $0.map(ReportPage.escaped) } }
    return ReportPage.page(
      title,
      [
        "<p><code>\(ReportPage.escaped(command))</code></p>" + ReportPage.list(facts.map(ReportPage.escaped)),
        ReportPage.section("Laws", ReportPage.table(["law", "answer", ""], laws)),
        ReportPage.section(
          "Pushes",
          "<p>Accepted is status 200. The times are from the acceptance to the disk of the device.</p>"
            + ReportPage.table(Self.headings, escaped(rows))),
        ReportPage.section("Latency", FleetPlots.latencies(self)),
        ReportPage.section("Deliveries over time", FleetPlots.seconds(self)),
        refusals.isEmpty
          ? "" : ReportPage.section("Refused", ReportPage.table(["type", "reason", "requests"], escaped(refusals))),
        outcomes.isEmpty
          ? "" : ReportPage.section("What the devices did", ReportPage.table(["type", ""], escaped(outcomes))),
        ReportPage.section("Tokens", ReportPage.table(["use", "active"], escaped(tokenRows))),
        ReportPage.section("Limits", ReportPage.list(Self.limits.map(ReportPage.escaped))),
      ])
  }

  /// The lines for a terminal.
  package var lines: [String] {
    var lines = FleetText.lines(fleet)
    for type in types {
      lines.append(
        "  \(type.type.isEmpty ? "none" : type.type): accepted \(FleetText.number(type.accepted)); \(FleetText.counts(type.ends)); "
          + "open \(FleetText.number(type.open)); refused: \(FleetText.counts(type.refused))")
    }
    if !unknownTokens.isEmpty { lines.append("  unknown tokens: \(FleetText.counts(unknownTokens))") }
    return lines + verdicts.map { "\($0.answer.rawValue): \($0.law): \($0.text)" }
  }
}

/// The plots of a fleet's page.
enum FleetPlots {
  /// A histogram for each push type, on a logarithmic scale, with marks at the median and at the 99th percentile.
  static func latencies(_ report: FleetReport) -> String {
    let types = report.types.filter { $0.latency.count > 0 }
    guard !types.isEmpty else { return "<p>Nothing was delivered.</p>" }
    let longest = max(types.map(\.latency.longest).max() ?? 0, 100)
    let scale = LogarithmicScale(
      from: 0.1, to: longest * 1.2, left: ReportPlots.left, right: ReportPlots.width - 20)
    let row = 46.0
    let height = row * Double(types.count) + 36
    let grid = scale.ticks.map { value in
      let x = scale.x(value)
      return ReportPlots.line(x, 8, x, height - 26, "grid")
        + ReportPlots.text(x, height - 8, FleetText.milliseconds(value), "middle")
    }
    let rows = types.enumerated().map { index, type in
      let bottom = 8 + row * Double(index + 1) - 6
      let most = Double(type.latency.counts.max() ?? 1)
      let bars = type.latency.counts.enumerated().filter { $0.element > 0 }.map { place, count in
        let right = scale.x(type.latency.bound(ofClass: place))
        let start = place == 0 ? ReportPlots.left : scale.x(type.latency.bound(ofClass: place - 1))
        let length = max(1.5, Double(count) / most * (row - 12))
        return "<rect x='\(ReportPlots.short(start))' y='\(ReportPlots.short(bottom - length))' "
          + "width='\(ReportPlots.short(max(1, right - start - 1)))' height='\(ReportPlots.short(length))'>"
          + "<title>\(count) up to \(FleetText.milliseconds(type.latency.bound(ofClass: place)))</title></rect>"
      }
      let marks = [(0.5, "p50"), (0.99, "p99")].compactMap { share, name -> String? in
        type.latency.percentile(share).map { value in
          let x = scale.x(value)
          return "<g class='mark'><title>\(name) \(FleetText.milliseconds(value))</title>"
            + ReportPlots.line(x, bottom - row + 10, x, bottom, "mark") + "</g>"
        }
      }
      return ReportPlots.text(ReportPlots.left - 10, bottom - 4, ReportPage.escaped(type.type), "end") + bars.joined()
        + marks.joined()
    }
    return ReportPlots.svg(height, "Time from acceptance to the device", grid + rows)
  }

  /// A bar for each second, and a line of the devices that are online.
  static func seconds(_ report: FleetReport) -> String {
    let seconds = report.fleet.seconds
    guard let first = seconds.first?.at, let last = seconds.last?.at, last > first else {
      return "<p>The process has just started.</p>"
    }
    let height = 220.0
    let (top, bottom) = (14.0, height - 28)
    let width = ReportPlots.width - ReportPlots.left - 70
    let most = Double(max(1, seconds.map(\.delivered).max() ?? 1))
    let x = { (at: Int) in ReportPlots.left + Double(at - first) / Double(last - first) * width }
    let y = { (share: Double) in bottom - share * (bottom - top) }
    let bars = seconds.filter { $0.delivered > 0 }.map { second in
      let place = y(Double(second.delivered) / most)
      return "<rect x='\(ReportPlots.short(x(second.at)))' y='\(ReportPlots.short(place))' "
        + "width='\(ReportPlots.short(max(1, width / Double(last - first + 1) - 0.5)))' "
        + "height='\(ReportPlots.short(bottom - place))'><title>\(FleetText.line(second))</title></rect>"
    }
    let devices = Double(max(1, report.fleet.devices))
    let online = zip(seconds, seconds.dropFirst()).map { one, next in
      ReportPlots.line(
        x(one.at), y(Double(one.online) / devices), x(next.at), y(Double(next.online) / devices), "other")
    }
    let axes = [0.0, 0.5, 1].map { share in
      ReportPlots.line(ReportPlots.left, y(share), ReportPlots.left + width, y(share), "grid")
        + ReportPlots.text(
          ReportPlots.left - 10, y(share) + 4, "\(FleetText.number(Int(saturating: most * share)))/s", "end")
        + ReportPlots.text(
          ReportPlots.left + width + 8, y(share) + 4, FleetText.number(Int(saturating: devices * share)), "start")
    }
    let ticks = stride(from: 0, through: 4, by: 1).map { tick in
      let at = first + (last - first) * tick / 4
      return ReportPlots.text(x(at), height - 8, "\(at - last) s", "middle")
    }
    return "<p>Bars: delivered each second. Line: devices that are online, with the scale at the right.</p>"
      + ReportPlots.svg(height, "Deliveries and online devices over time", axes + bars + online + ticks)
  }
}
