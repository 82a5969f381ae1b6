// SPDX-License-Identifier: Apache-2.0

import FaultPoints

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
  /// Milliseconds for which a process may be stopped.
  package let longestStop: Int
  /// The names of the behaviours of the misbehaving server.
  package let behaviours: [String]

  package init(
    running: [ChaosVictim], kinds: Set<FaultKind>, longestStop: Int = ChaosLimits.longestStop,
    behaviours: [String] = ServerBehaviour.all.map(\.name)
  ) {
    self.behaviours = behaviours
    self.running = running.sorted()
    self.kinds = kinds
    self.longestStop = longestStop
  }
}

/// Draws the steps of a campaign from its seed. The workload has its own generator, so that it is the same whatever
/// faults are possible.
package struct CampaignPlan: Sendable {
  private var workload: SplitMix64
  private var faults: SplitMix64
  private var number = 0
  /// The behaviours of a server that were not drawn yet: each comes once before one comes again.
  private var behaviours: [String] = []

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
    let kinds = FaultKind.allCases.filter { possible.kinds.contains($0) && Self.isPossible($0, possible) }
    guard let kind = Self.draw(kinds, by: \.weight, &faults) else { return nil }
    switch kind {
    case .kill: return .kill(victims: victims(1, of: possible))
    case .several: return .kill(victims: victims(number(2...3), of: possible))
    case .stop: return .stop(victim: victims(1, of: possible)[0], milliseconds: number(20...possible.longestStop))
    case .journal: return .journal(damage: one(of: JournalDamage.allCases))
    case .network: return .network(milliseconds: number(20...ChaosLimits.longestOutage))
    case .clock: return .clock(seconds: number(1...ChaosLimits.longestJump))
    case .point, .stall, .disk: return inside(kind, possible)
    case .recreate: return .recreate(victim: one(of: possible.running.filter { !$0.isLaunched }))
    case .spawn: return .spawn(times: number(1...2))
    case .server, .full, .tail, .store, .limit, .jump: return outside(kind, possible)
    case .line:
      let fault = one(of: LineFault.allCases)
      // A sender repeats events and their acknowledgements after it has reconnected, and nothing else.
      let types = fault == .double ? Self.events : Self.events + Self.others
      return .line(
        fault: fault, type: one(of: types), skipping: number(0...2), milliseconds: number(20...ChaosLimits.longestDelay)
      )
    }
  }

  private mutating func inside(_ kind: FaultKind, _ possible: PossibleFaults) -> ChaosFault {
    let victims = possible.running.filter { !Self.points(of: $0, for: kind).isEmpty }
    let victim = one(of: victims)
    let point = one(of: Self.points(of: victim, for: kind)).name
    switch kind {
    case .stall: return .stall(victim: victim, point: point, milliseconds: number(20...ChaosLimits.longestStall))
    case .disk: return .disk(victim: victim, point: point, error: one(of: DiskError.allCases), skipping: number(0...3))
    default: return .point(victim: victim, point: point, skipping: number(0...3))
    }
  }

  /// Faults of the other side: of servers, disks and limits.
  private mutating func outside(_ kind: FaultKind, _ possible: PossibleFaults) -> ChaosFault {
    switch kind {
    case .full: return .full(milliseconds: number(100...ChaosLimits.longestFull))
    case .tail: return .tail(milliseconds: number(50...ChaosLimits.longestTail))
    case .store:
      let stores = Self.stores.filter(possible.running.contains)
      return .store(victim: one(of: stores), milliseconds: number(50...ChaosLimits.longestTail))
    case .limit:
      let victim = one(of: possible.running.filter { $0 != .provider })
      // The children of an agent inherit its limits, and could not start.
      let resource = victim.isAgent ? LimitedResource.descriptors : one(of: LimitedResource.allCases)
      return .limit(
        victim: victim, resource: resource, spare: number(resource.spare),
        milliseconds: number(100...ChaosLimits.longestLimit))
    case .jump:
      let seconds = number(1...ChaosLimits.longestJump)
      return .jump(
        seconds: number(0...1) == 0 ? seconds : -seconds, milliseconds: number(50...ChaosLimits.longestAhead))
    default:
      let owner = one(of: [ChaosVictim.widgetExtension, .app])
      if behaviours.isEmpty { behaviours = possible.behaviours.shuffled(using: &faults) }
      return .server(behaviour: behaviours.removeLast(), owner: owner, times: number(1...3))
    }
  }

  /// The processes that have a database whose loss is a fault of the disk.
  private static let stores: [ChaosVictim] = [.host, .pushServer]

  private static let events = [
    "session.events", "push.deliver", "push.progress", "process.exited", "agent.started", "timeline.reload",
  ].flatMap { [$0, $0 + "/ack"] }

  private static let others = [
    "transfer.create", "transfer.create/ok", "timeline.request", "timeline.request/ok", "process.spawn/ok",
    "process.ready",
  ]

  /// The points at which a fault of a kind may act. A refusal to spawn has its own kind.
  private static func points(of victim: ChaosVictim, for kind: FaultKind) -> [FaultPoint] {
    kind == .disk ? victim.points.filter { $0.canFail && $0 != .agentBeforeSpawn } : victim.points
  }

  private static func isPossible(_ kind: FaultKind, _ possible: PossibleFaults) -> Bool {
    switch kind {
    case .kill, .stop: !possible.running.isEmpty
    case .limit: possible.running.contains { $0 != .provider }
    case .several: possible.running.count >= 2
    case .recreate: possible.running.contains { !$0.isLaunched }
    case .journal, .line, .tail, .jump: possible.running.contains(.messageBus)
    case .store: possible.running.contains(.messageBus) && possible.running.contains(where: Self.stores.contains)
    case .network, .clock, .server, .full: possible.running.contains(.host) && possible.running.contains(.messageBus)
    case .spawn: possible.running.contains { $0.points.contains(.agentBeforeSpawn) }
    case .point, .stall, .disk: possible.running.contains { !points(of: $0, for: kind).isEmpty }
    }
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &faults) }

  private mutating func one<T>(of all: [T]) -> T { all[number(0...all.count - 1)] }

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

/// Steele, Lea and Flood's generator (SplittableRandom): the same seed gives the same numbers.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator.
  package init(seed: UInt64) { state = seed }

  /// The next number.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// The seeds of `--seeds A-B`, and the part of them that one of several machines runs.
package struct SeedShard: Sendable, Equatable {
  /// Why an option cannot be used.
  package struct Problem: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  /// The seeds of this shard, ascending.
  package let seeds: [UInt64]
  /// `3/50`; `nil` for all.
  package let name: String?

  /// Reads the options.
  ///
  /// - Parameters:
  ///   - seeds: `A-B`.
  ///   - shard: `i/n` with i from 1, `auto/n` or `auto`: the number comes from the environment of Kubernetes, Slurm or
  ///     GitLab, without n also the count; `nil` for all seeds.
  /// - Throws: `Problem` with what is wrong.
  package init(seeds: String, shard: String?, environment: [String: String]) throws(Problem) {
    let ends = seeds.split(separator: "-").map { UInt64($0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else {
      throw Problem(description: "'\(seeds)' is not a range of seeds; use A-B, such as 1-100")
    }
    guard last - first < 1_000_000 else {
      throw Problem(description: "'\(seeds)' has more than 1000000 seeds; divide the range")
    }
    guard let shard else {
      self.seeds = Array(first...last)
      name = nil
      return
    }
    let (number, count) = try Self.place(shard, environment)
    self.seeds = (first...last).filter { ($0 - first) % UInt64(count) == UInt64(number - 1) }
    name = "\(number)/\(count)"
  }

  private static func place(_ shard: String, _ environment: [String: String]) throws(Problem) -> (Int, Int) {
    let parts = shard.split(separator: "/", omittingEmptySubsequences: false)
    let value = { (name: String) in environment[name].flatMap { Int($0) } }
    var number = Int(parts[0])
    var count = parts.count == 2 ? Int(parts[1]) : nil
    if parts[0] == "auto" {
      // Kubernetes counts from 0 and states no count; Slurm from the array's first number; GitLab from 1.
      if let index = value("JOB_COMPLETION_INDEX") {
        number = index + 1
      } else if let task = value("SLURM_ARRAY_TASK_ID") {
        number = task - (value("SLURM_ARRAY_TASK_MIN") ?? 0) + 1
        count = count ?? value("SLURM_ARRAY_TASK_COUNT")
      } else if let node = value("CI_NODE_INDEX") {
        number = node
        count = count ?? value("CI_NODE_TOTAL")
      } else {
        throw Problem(
          description:
            "--shard auto needs JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_ID or CI_NODE_INDEX in the environment")
      }
    }
    guard parts.count <= 2, let number, let count, count > 0, (1...count).contains(number) else {
      throw Problem(
        description: "'\(shard)' is not a shard; use i/n with i from 1 to n, auto/n, or auto where the environment has "
          + "the count")
    }
    return (number, count)
  }
}
