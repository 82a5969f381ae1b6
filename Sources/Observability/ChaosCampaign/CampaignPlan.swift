// SPDX-License-Identifier: Apache-2.0

/// What a user, a provider or a program does during a campaign.
package enum WorkloadAction: String, Sendable, Codable, CaseIterable {
  /// Asks for new timelines; the extension starts a background download when its figures are old.
  case reload
  /// Opens the app, which starts its own background download.
  case openApp = "open-app"
  /// Sends the app to the background.
  case background
  /// Posts to the provider, which sends a push over HTTP/2.
  case drink
  /// Sends a push as `widgetlab push` does.
  case push
  /// Taps the widget.
  case tap

  var weight: Int {
    switch self {
    case .reload: 40
    case .openApp: 20
    case .background: 6
    case .drink: 8
    case .push: 18
    case .tap: 8
    }
  }
}

/// One step of a campaign: actions of the workload, then a fault after a delay.
package struct CampaignStep: Hashable, Sendable, Codable {
  /// From 1.
  package let number: Int
  /// What is started at its beginning.
  package let actions: [WorkloadAction]
  /// Milliseconds from its beginning to the fault.
  package let delay: Int
  /// The fault; `nil` in a replay that leaves it out.
  package var fault: ChaosFault?
  /// Whether the next step begins only when the processes that the fault killed are back.
  package let waits: Bool

  package init(number: Int, actions: [WorkloadAction], delay: Int, fault: ChaosFault?, waits: Bool) {
    self.number = number
    self.actions = actions
    self.delay = delay
    self.fault = fault
    self.waits = waits
  }
}

/// What can be disturbed now.
package struct PossibleFaults: Sendable {
  /// The processes that run.
  package let running: [ChaosVictim]
  /// The kinds that the campaign has chosen and this cluster permits.
  package let kinds: Set<FaultKind>

  package init(running: [ChaosVictim], kinds: Set<FaultKind>) {
    self.running = running.sorted()
    self.kinds = kinds
  }
}

/// Draws the steps of a campaign from its seed. The workload has its own generator, so that it is the same whatever
/// faults are possible.
package struct CampaignPlan: Sendable {
  private var workload: SplitMix64
  private var faults: SplitMix64
  private var number = 0

  /// Creates the plan of a seed.
  package init(seed: UInt64) {
    var both = SplitMix64(seed: seed)
    workload = SplitMix64(seed: both.next())
    faults = SplitMix64(seed: both.next())
  }

  /// Draws the next step.
  package mutating func next(_ possible: PossibleFaults) -> CampaignStep {
    number += 1
    let actions = (0..<Int.random(in: 1...3, using: &workload)).map { _ in
      Self.draw(WorkloadAction.allCases, by: \.weight, &workload) ?? .reload
    }
    return CampaignStep(
      number: number, actions: actions, delay: delay(), fault: fault(possible),
      // In a quarter of the steps, the next fault hits while the system recovers.
      waits: Int.random(in: 0..<4, using: &faults) > 0)
  }

  /// Most faults follow soon after the actions; some hit when all is quiet.
  private mutating func delay() -> Int {
    let longest = [30, 30, 150, 150, 600][Int.random(in: 0..<5, using: &faults)]
    return Int.random(in: 0...longest, using: &faults)
  }

  private mutating func fault(_ possible: PossibleFaults) -> ChaosFault? {
    let kinds = FaultKind.allCases.filter { possible.kinds.contains($0) && isPossible($0, possible) }
    guard let kind = Self.draw(kinds, by: \.weight, &faults) else { return nil }
    switch kind {
    case .kill: return .kill(victims: victims(1, of: possible))
    case .several: return .kill(victims: victims(Int.random(in: 2...3, using: &faults), of: possible))
    case .stop:
      return .stop(
        victim: victims(1, of: possible)[0], milliseconds: Int.random(in: 20...ChaosLimits.longestStop, using: &faults))
    case .journal: return .journal(damage: JournalDamage.allCases.randomElement(using: &faults) ?? .half)
    case .network: return .network(milliseconds: Int.random(in: 20...ChaosLimits.longestOutage, using: &faults))
    case .clock: return .clock(seconds: Int.random(in: 1...ChaosLimits.longestJump, using: &faults))
    }
  }

  private func isPossible(_ kind: FaultKind, _ possible: PossibleFaults) -> Bool {
    switch kind {
    case .kill, .stop: !possible.running.isEmpty
    case .several: possible.running.count >= 2
    case .journal: possible.running.contains(.messageBus)
    case .network, .clock: possible.running.contains(.host) && possible.running.contains(.messageBus)
    }
  }

  private mutating func victims(_ count: Int, of possible: PossibleFaults) -> [ChaosVictim] {
    Array(possible.running.shuffled(using: &faults).prefix(count)).sorted()
  }

  private static func draw<T>(_ all: [T], by weight: (T) -> Int, _ random: inout SplitMix64) -> T? {
    let total = all.reduce(0) { $0 + weight($1) }
    guard total > 0 else { return nil }
    var rest = Int.random(in: 0..<total, using: &random)
    return all.first { element in
      rest -= weight(element)
      return rest < 0
    }
  }
}
