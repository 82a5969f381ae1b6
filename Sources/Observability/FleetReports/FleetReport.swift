// SPDX-License-Identifier: Apache-2.0

package import Messages
package import ReportPages

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
    verdicts = Self.judge(types, before, counts, fleet)
  }

  private static func judge(
    _ types: [TypeFigures], _ before: FleetState, _ counts: CountFleetPushes.Reply, _ fleet: FleetState
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
