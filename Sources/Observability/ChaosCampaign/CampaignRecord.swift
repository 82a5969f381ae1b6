// SPDX-License-Identifier: Apache-2.0

package import Messages

/// What a campaign asked for and what took effect.
package struct CampaignRecord: Sendable, Codable {
  /// The steps, as they can be replayed.
  package private(set) var steps: [CampaignStep] = []
  /// Faults by kind: asked for, and taken effect.
  package private(set) var asked: [FaultKind: Int] = [:]
  package private(set) var effective: [FaultKind: Int] = [:]
  /// One entry for each fault that took effect.
  package private(set) var events: [CampaignEvent] = []

  /// When the first step was about to begin.
  package let began: Timestamp

  package init(began: Timestamp = .now) { self.began = began }

  /// Processes that were killed.
  package var kills: Int { events.reduce(0) { $0 + $1.kills.count } }

  /// A step is about to be performed.
  package mutating func begin(_ step: CampaignStep) {
    steps.append(step)
    if let fault = step.fault { asked[fault.kind, default: 0] += 1 }
  }

  /// A fault took effect.
  package mutating func took(_ event: CampaignEvent) {
    effective[event.kind, default: 0] += 1
    events.append(event)
  }

  /// A process is back after it was killed.
  package mutating func recovered(_ victim: ChaosVictim, step: Int, after milliseconds: Double) {
    guard let index = events.lastIndex(where: { $0.step == step }),
      let kill = events[index].kills.firstIndex(where: { $0.victim == victim })
    else { return }
    events[index].kills[kill].recovery = milliseconds
  }
}

/// A fault that took effect.
package struct CampaignEvent: Sendable, Codable, Hashable {
  /// A process that it killed.
  package struct Kill: Sendable, Codable, Hashable {
    package let victim: ChaosVictim
    /// What the process was doing.
    package let state: String
    /// Milliseconds until it was back; `nil` when it was killed again before, or was not needed any more.
    package var recovery: Double?

    package init(victim: ChaosVictim, state: String, recovery: Double? = nil) {
      self.victim = victim
      self.state = state
      self.recovery = recovery
    }
  }

  package let step: Int
  package let kind: FaultKind
  package let text: String
  /// Seconds since the first step.
  package let time: Double
  package var kills: [Kill]

  package init(step: Int, kind: FaultKind, text: String, time: Double, kills: [Kill]) {
    self.step = step
    self.kind = kind
    self.text = text
    self.time = time
    self.kills = kills
  }
}
