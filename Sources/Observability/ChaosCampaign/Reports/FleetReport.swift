// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
package import Messages

/// The report of a fleet: what the push server accepted for its devices, and the result of each. `widgetlab fleet report`
/// writes it. Fields may be added, but are never removed.
package struct FleetReport: Codable, Sendable {
  /// The figures of one push type.
  package struct TypeFigures: Codable, Sendable, Hashable {
    package let type: String
    /// Requests that were answered with 200.
    package var accepted = 0
    /// By the name of the `PushStep` that ended them, and `interrupted`.
    package var ends: [String: Int] = [:]
    /// Stored, or on their way.
    package var open = 0
    /// By reason.
    package var refused: [String: Int] = [:]
    /// On the disk of the fleet, each once.
    package var delivered = 0
    package var repeated = 0
    package var outcomes: [String: Int] = [:]
    /// Milliseconds from acceptance to the device.
    package var latency = LatencyHistogram()

    init(_ type: String) { self.type = type }

    /// Accepted ones without an end, that the push server does not have any more.
    package var lost: Int { accepted - ends.values.reduce(0, +) - open }
    package var ended: Int { ends.values.reduce(0, +) }
  }

  /// Whether a law holds.
  package enum Answer: String, Codable, Sendable, CaseIterable { case holds, broken, unknown }

  package struct Verdict: Codable, Sendable, Hashable {
    package let law: String
    package let answer: Answer
    package let text: String
  }

  package let version: String
  package let command: String
  /// ISO 8601.
  package let date: String
  package let machine: MachineFacts
  /// Of the fleet's process: MiB of `RssAnon`; `nil` when it cannot be read.
  package let memory: Double?
  package let fleet: FleetState
  /// By name.
  package let types: [TypeFigures]
  /// Requests for tokens that the push server does not know, by reason. Their devices are unknown too.
  package let unknownTokens: [String: Int]
  /// Active device tokens of the fleet at the push server, by use.
  package let tokens: [String: Int]
  package let verdicts: [Verdict]

  /// - Parameters:
  ///   - before: read before the counts; without a difference to `fleet` the tokens have not changed.
  ///   - fleet: read after the counts, so that it has at least what they have.
  package init(
    version: String, command: String, date: String, machine: MachineFacts, memory: Double?,
    before: FleetState, counts: CountFleetPushes.Reply, fleet: FleetState
  ) {
    self.version = version
    self.command = command
    self.date = date
    self.machine = machine
    self.memory = memory
    self.fleet = fleet
    var figures: [String: TypeFigures] = [:]
    var unknown: [String: Int] = [:]
    for count in counts.counts {
      var type = figures[count.type] ?? TypeFigures(count.type)
      switch count.name {
      case "unknown-token":
        unknown[count.reason, default: 0] += count.count
        continue
      case "accepted": type.accepted += count.count
      case "refused": type.refused[count.reason, default: 0] += count.count
      case "open": type.open += count.count
      default: type.ends[count.name, default: 0] += count.count
      }
      figures[count.type] = type
    }
    for (type, count) in counts.kept { figures[type, default: TypeFigures(type)].open += count }
    for (type, received) in fleet.received {
      figures[type, default: TypeFigures(type)].delivered = received.delivered
      figures[type]?.repeated = received.repeated
      figures[type]?.outcomes = received.outcomes
      figures[type]?.latency = received.latency
    }
    types = figures.values.sorted { $0.type < $1.type }
    unknownTokens = unknown
    tokens = counts.tokens
    verdicts = Self.judge(types, before: before, counts: counts, fleet: fleet)
  }

  private static func judge(
    _ types: [TypeFigures], before: FleetState, counts: CountFleetPushes.Reply, fleet: FleetState
  ) -> [Verdict] {
    let accepted = types.reduce(0) { $0 + $1.accepted }
    let open = types.reduce(0) { $0 + $1.open }
    let lost = types.filter { $0.lost != 0 }
    let ends =
      if !lost.isEmpty {
        Verdict(
          law: endLaw, answer: .broken,
          text: lost.map { "\($0.lost) of \($0.accepted) of type \($0.type) have no end" }.joined(separator: "; "))
      } else if open > 0 {
        Verdict(
          law: endLaw, answer: .unknown,
          text:
            "\(accepted - open) of \(accepted) have an end; \(open) are stored or on their way: wait until the devices "
            + "are online")
      } else {
        Verdict(
          law: endLaw, answer: accepted > 0 ? .holds : .unknown,
          text: accepted > 0 ? "all \(accepted) have an end" : "nothing was accepted")
      }
    let missing = types.filter { $0.delivered < $0.ends["delivered"] ?? 0 }
    let surplus = types.filter { $0.delivered > ($0.ends["delivered"] ?? 0) + $0.open + ($0.ends["interrupted"] ?? 0) }
    let delivered = types.reduce(0) { $0 + $1.delivered }
    let wrong = (missing + surplus).map { type in
      "type \(type.type): the push server has \(type.ends["delivered"] ?? 0) as delivered, the fleet \(type.delivered)"
    }
    let devices = Verdict(
      law: deviceLaw, answer: wrong.isEmpty ? delivered > 0 ? .holds : .unknown : .broken,
      text: wrong.isEmpty
        ? delivered > 0 ? "\(delivered) are on the fleet's disk, each once" : "nothing was delivered"
        : wrong.joined(separator: "; "))
    let active = counts.tokens.values.reduce(0, +)
    let held = fleet.tokens.issued + fleet.tokens.registered
    let settled = fleet.tokens.wanted + fleet.tokens.ending == 0 && fleet.tokens == before.tokens
    let tokens = Verdict(
      law: tokenLaw, answer: active == held ? .holds : settled ? .broken : .unknown,
      text: "the push server has \(active) active tokens of the fleet, the fleet \(held)"
        + (settled ? "" : ", with changes on their way"))
    return [ends, devices, tokens]
  }

  package static let endLaw = "each 200 has an end"
  package static let deviceLaw = "each delivered push is on a device, once"
  package static let tokenLaw = "push server and devices have the same tokens"

  /// That of the worst verdict.
  package var answer: Answer {
    verdicts.contains { $0.answer == .broken }
      ? .broken : verdicts.contains { $0.answer == .unknown } ? .unknown : .holds
  }

  /// What each report states about fleets in general.
  package static let limits = [
    "A light device has no app: what it would do with a notification is counted, and nothing is launched or drawn.",
    "The latencies are those of one machine: the time of acceptance is the push server's, that of the device the fleet's.",
    "A push with an expiration of 0 is one attempt. When the push server ends before it has the result, that is unknown: interrupted.",
    "The rates of the default day, the budget of Live Activities and the lengths of tokens are ours; Apple publishes none.",
  ]
}

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
    let knownLines = types.flatMap { type in
      type.refused.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
        [type.type, $0.key, FleetText.number($0.value)]
      }
    }
    return knownLines
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
      return ReportPlots.line(x1: x, y1: 8, x2: x, y2: height - 26, name: "grid")
        + ReportPlots.text(x: x, y: height - 8, FleetText.milliseconds(value), anchor: "middle")
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
            + ReportPlots.line(x1: x, y1: bottom - row + 10, x2: x, y2: bottom, name: "mark") + "</g>"
        }
      }
      return ReportPlots.text(x: ReportPlots.left - 10, y: bottom - 4, ReportPage.escaped(type.type), anchor: "end")
        + bars.joined()
        + marks.joined()
    }
    return ReportPlots.svg(height, title: "Time from acceptance to the device", parts: grid + rows)
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
        x1: x(one.at), y1: y(Double(one.online) / devices), x2: x(next.at), y2: y(Double(next.online) / devices),
        name: "other")
    }
    let axes = [0.0, 0.5, 1].map { share in
      ReportPlots.line(x1: ReportPlots.left, y1: y(share), x2: ReportPlots.left + width, y2: y(share), name: "grid")
        + ReportPlots.text(
          x: ReportPlots.left - 10, y: y(share) + 4, "\(FleetText.number(Int(saturating: most * share)))/s",
          anchor: "end")
        + ReportPlots.text(
          x: ReportPlots.left + width + 8, y: y(share) + 4, FleetText.number(Int(saturating: devices * share)),
          anchor: "start")
    }
    let ticks = stride(from: 0, through: 4, by: 1).map { tick in
      let at = first + (last - first) * tick / 4
      return ReportPlots.text(x: x(at), y: height - 8, "\(at - last) s", anchor: "middle")
    }
    return "<p>Bars: delivered each second. Line: devices that are online, with the scale at the right.</p>"
      + ReportPlots.svg(height, title: "Deliveries and online devices over time", parts: axes + bars + online + ticks)
  }
}

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
