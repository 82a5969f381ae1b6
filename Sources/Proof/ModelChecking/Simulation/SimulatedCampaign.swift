// SPDX-License-Identifier: Apache-2.0

package import ChaosCampaign

/// The steps of a campaign for a simulation, instead of a drawn day and drawn kills. The processes of a campaign do not run
/// in lockstep, so a simulation has the order and the dates of what was done, and draws the rest from its seed.
package struct SimulatedCampaign: Sendable, Equatable {
  struct Kill: Sendable, Equatable {
    /// Microseconds after the first step.
    let at: Int64
    let victim: SimulatedVictim
  }

  struct Action: Sendable, Equatable {
    enum What: Sendable, Equatable {
      case does(WorkloadAction)
      /// No network, for so many microseconds.
      case isOffline(Int64)
    }

    /// Microseconds after the first step.
    let at: Int64
    let what: What
  }

  /// How long a step waits for the processes that its fault killed: they are back within 1.6 s.
  private static let recovery = 2 * Span.second
  /// When the first step begins: after the first launch of each product.
  static let begin = 10 * Span.second

  /// The failure file, for the command that shows a breach again.
  let file: String
  private(set) var kills: [Kill] = []
  private(set) var actions: [Action] = []
  /// What a simulation cannot express, and how often it was done.
  private var leftOut: [String: Int] = [:]
  /// The duration of the steps, in microseconds.
  private var end: Int64 = 0

  /// - Parameter file: the path of the failure file, for a command.
  package init(_ campaign: FailureFile.Campaign, file: String) {
    self.file = file
    for step in campaign.steps {
      for action in step.actions {
        if action == .tap {
          leftOut["tap", default: 0] += 1
        } else {
          actions.append(Action(at: end, what: .does(action)))
        }
      }
      end += Self.span(step.delay)
      if let fault = step.fault { add(fault) }
      if step.waits { end += Self.recovery }
    }
  }

  /// A file may have any number: at most a day.
  private static func span(_ milliseconds: Int) -> Int64 {
    Int64(min(max(milliseconds, 0), 86_400_000)) * Span.millisecond
  }

  private mutating func add(_ fault: ChaosFault) {
    switch fault {
    case .kill(let victims): for victim in victims { kill(victim) }
    case .point(let victim, _, _):
      leftOut["point of a crash", default: 0] += 1
      kill(victim)
    case .journal:
      leftOut["damage of the journal", default: 0] += 1
      kill(.messageBus)
    case .network(let milliseconds):
      actions.append(Action(at: end, what: .isOffline(Self.span(milliseconds))))
    default: leftOut[fault.kind.rawValue, default: 0] += 1
    }
  }

  private mutating func kill(_ victim: ChaosVictim) {
    let name = victim.rawValue.hasPrefix("agent-") ? "agent" : victim.rawValue
    guard let known = SimulatedVictim(rawValue: name) else {
      leftOut["kill of \(victim)", default: 0] += 1
      return
    }
    kills.append(Kill(at: end, victim: known))
  }

  package var killCount: Int { kills.count }

  /// The virtual hours until the last step is over.
  package var hours: Double { Double(Self.begin + end + Span.minute) / Double(Span.hour) }

  /// What is simulated, and what is not.
  package var text: String {
    let others = leftOut.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "\(kills.count) kills and \(actions.count) actions"
      + (others.isEmpty ? "" : "; left out: \(others.joined(separator: ", "))")
  }
}
