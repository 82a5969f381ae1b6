// SPDX-License-Identifier: Apache-2.0

package import FaultPoints
import Messages

/// The kinds of faults, as `--faults` names them.
package enum FaultKind: String, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
  case kill
  case several
  case stop
  case journal
  case network
  case clock
  case point
  case stall
  case disk
  case spawn
  case line
  case recreate
  case server
  case full
  case tail
  case store
  case limit
  case jump

  /// The kinds of a campaign that names none.
  package static let usual = Set(allCases).subtracting([.recreate, .server, .full, .tail, .store, .limit, .jump])

  /// Whether each fault of the kind kills a process, so that a number of kills ends a campaign.
  package var kills: Bool { [.kill, .several, .journal, .recreate, .tail, .store].contains(self) }

  /// What happens, in one sentence.
  package var sentence: String {
    switch self {
    case .kill: "SIGKILL ends one process at a random time."
    case .several: "SIGKILL ends two or three processes at the same time."
    case .stop: "SIGSTOP stops one process for a while, then SIGCONT continues it."
    case .journal:
      "The broker is killed, and its journal ends with a half-written or a damaged record when it restarts."
    case .network: "The device has no network for up to \(ChaosLimits.longestOutage) ms."
    case .clock: "The device's clock jumps by up to \(ChaosLimits.longestJump) s."
    case .point: "A process ends by SIGKILL at a named point, such as between a write and its announcement."
    case .stall: "A process waits at a named point for up to \(ChaosLimits.longestStall) ms."
    case .disk: "A write to a database or to the journal fails: the disk is full, or has an I/O error."
    case .spawn: "The kernel refuses to start a process of the author."
    case .line: "A line of the bus delays or doubles a message, or is cut."
    case .recreate: "With --compose: a container is removed and created again."
    case .server: "The server of the downloads misbehaves, in one of \(ServerBehaviour.all.count) ways."
    case .full: "The disk of the cluster is full for up to \(ChaosLimits.longestFull) ms."
    case .tail: "All processes are killed, and the journal loses what it got in the last \(ChaosLimits.longestTail) ms."
    case .store: "All processes are killed, and a database is put back that is up to \(ChaosLimits.longestTail) ms old."
    case .limit: "A process may open few descriptors, or get little memory, for up to \(ChaosLimits.longestLimit) ms."
    case .jump:
      "The machine's clock jumps forward or back by up to \(ChaosLimits.longestJump) s, and returns after up to "
        + "\(ChaosLimits.longestAhead) ms."
    }
  }

  /// How often it is drawn, relative to the others. Kills are the measure of a campaign's length.
  var weight: Int {
    switch self {
    case .kill: 50
    case .several: 14
    case .point: 24
    case .stop, .line, .recreate: 6
    case .journal, .network, .clock, .stall, .disk: 4
    case .spawn, .tail, .store: 3
    case .full, .jump: 4
    case .limit: 6
    case .server: 40
    }
  }
}

/// Figures of the faults.
package enum ChaosLimits {
  /// Milliseconds for which a process is stopped, unless `--longest-stop` names another time.
  package static let longestStop = 900
  /// Milliseconds without a network.
  package static let longestOutage = 800
  /// Seconds by which the device's clock jumps, or the machine's.
  package static let longestJump = 900
  /// Milliseconds at a point.
  package static let longestStall = 400
  /// Milliseconds that a message waits.
  package static let longestDelay = 400
  /// Milliseconds without space on the disk.
  package static let longestFull = 1500
  /// Milliseconds of work that the journal or a database loses.
  package static let longestTail = 800
  /// Milliseconds with a limit.
  package static let longestLimit = 1000
  /// Milliseconds with another time of the machine.
  package static let longestAhead = 1000
}

/// How the end of the journal is damaged while the broker is dead. What the broker had written stays: a crash in the
/// middle of a write leaves this, and nothing else, on a disk that keeps its promises.
package enum JournalDamage: String, Sendable, Codable, CaseIterable {
  /// The first half of another record follows the last one.
  case half
  /// The head of a record follows, and bytes that do not match its checksum.
  case garbage
  /// A segment was created, and its first record was not written.
  case draft

  var text: String {
    switch self {
    case .half: "half a record"
    case .garbage: "a damaged record"
    case .draft: "an empty segment"
    }
  }
}

/// How a write fails.
package enum DiskError: String, Sendable, Codable, CaseIterable {
  case full
  case input

  var text: String {
    switch self {
    case .full: "disk full"
    case .input: "I/O error"
    }
  }
}

/// What a line of the bus does to a message.
package enum LineFault: String, Sendable, Codable, CaseIterable {
  case delay
  case cut
  case double
}

/// What a process may use no more of than it does, but for a rest.
package enum LimitedResource: String, Sendable, Codable, CaseIterable {
  /// Open descriptors.
  case descriptors
  /// Its address space, in MiB. An allocation that fails ends a Swift process by a trap, which is expected then.
  case memory

  /// The rests that are drawn.
  var spare: ClosedRange<Int> {
    switch self {
    case .descriptors: 0...6
    case .memory: 0...24
    }
  }
}

/// One fault with its details. Points and message types are named by text, so that a list can be read and edited.
package enum ChaosFault: Hashable, Sendable, Codable {
  case kill(victims: [ChaosVictim])
  case stop(victim: ChaosVictim, milliseconds: Int)
  case journal(damage: JournalDamage)
  case network(milliseconds: Int)
  case clock(seconds: Int)
  /// `skipping`: how often the process reaches the point without an effect first.
  case point(victim: ChaosVictim, point: String, skipping: Int)
  case stall(victim: ChaosVictim, point: String, milliseconds: Int)
  case disk(victim: ChaosVictim, point: String, error: DiskError, skipping: Int)
  case spawn(times: Int)
  case line(fault: LineFault, type: String, skipping: Int, milliseconds: Int)
  case recreate(victim: ChaosVictim)
  /// So many requests of the owner's download meet the behaviour.
  case server(behaviour: String, owner: ChaosVictim, times: Int)
  case full(milliseconds: Int)
  case tail(milliseconds: Int)
  /// The victim is the process whose database is put back.
  case store(victim: ChaosVictim, milliseconds: Int)
  case limit(victim: ChaosVictim, resource: LimitedResource, spare: Int, milliseconds: Int)
  /// A negative number of seconds is a jump back.
  case jump(seconds: Int, milliseconds: Int)

  /// Its kind.
  package var kind: FaultKind {
    switch self {
    case .kill(let victims): victims.count > 1 ? .several : .kill
    case .stop: .stop
    case .journal: .journal
    case .network: .network
    case .clock: .clock
    case .point: .point
    case .stall: .stall
    case .disk: .disk
    case .spawn: .spawn
    case .line: .line
    case .recreate: .recreate
    case .server: .server
    case .full: .full
    case .tail: .tail
    case .store: .store
    case .limit: .limit
    case .jump: .jump
    }
  }

  /// A short description for a list.
  package var text: String {
    switch self {
    case .kill(let victims): "kill \(victims.map(\.rawValue).joined(separator: " + "))"
    case .stop(let victim, let milliseconds): "stop \(victim) for \(milliseconds) ms"
    case .journal(let damage): "kill message-bus; its journal ends with \(damage.text)"
    case .network(let milliseconds): "no network for \(milliseconds) ms"
    case .clock(let seconds): "clock + \(seconds) s"
    case .recreate(let victim): "remove the container of \(victim) and create it again"
    case .point(let victim, let point, let skipping): "crash \(victim) at \(point)\(Self.after(skipping))"
    case .stall(let victim, let point, let milliseconds): "stall \(victim) at \(point) for \(milliseconds) ms"
    case .disk(let victim, let point, let error, let skipping):
      "\(error.text) of \(victim) at \(point)\(Self.after(skipping))"
    case .spawn(let times): "refuse to spawn \(times == 1 ? "once" : "\(times) times")"
    case .line(let fault, let type, let skipping, let milliseconds):
      "\(fault.rawValue) \(type)\(fault == .delay ? " by \(milliseconds) ms" : "")\(Self.after(skipping))"
    case .server(let behaviour, let owner, let times):
      "\(behaviour) for \(times == 1 ? "a request" : "\(times) requests") of \(owner)"
    case .full(let milliseconds): "no space on the disk for \(milliseconds) ms"
    case .tail(let milliseconds): "kill all; the journal loses its last \(milliseconds) ms"
    case .store(let victim, let milliseconds): "kill all; the database of \(victim) is \(milliseconds) ms older"
    case .limit(let victim, let resource, let spare, let milliseconds):
      "\(victim) gets \(spare) more \(resource == .memory ? "MiB of memory" : "descriptors") for \(milliseconds) ms"
    case .jump(let seconds, let milliseconds):
      "the machine's clock \(seconds < 0 ? "-" : "+") \(abs(seconds)) s for \(milliseconds) ms"
    }
  }

  private static func after(_ skipping: Int) -> String { skipping == 0 ? "" : ", the \(skipping + 1). time" }
}

extension ChaosVictim {
  /// The fault points that it has. The provider has none.
  package var points: [FaultPoint] {
    let prefixes: [String] =
      switch self {
      case .messageBus: ["bus."]
      case .provider: []
      case .widgetExtension, .app: ["author.", "peer."]
      case .host: ["host.", "peer."]
      case .pushServer: ["push-server.", "peer."]
      default: ["agent.", "peer."]
      }
    return FaultPoint.allCases.filter { point in prefixes.contains { point.name.hasPrefix($0) } }
  }
}

/// A process that a campaign may disturb, by its name in `widgetlab up`; `extension` and `app` are launched by the
/// device.
package struct ChaosVictim: RawRepresentable, Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
  /// `message-bus`, `host`, `agent-1`, `push-server`, `provider`, `extension`, `app`.
  package let rawValue: String

  /// Creates a victim from its name.
  package init(rawValue: String) { self.rawValue = rawValue }

  package static let messageBus = ChaosVictim(rawValue: "message-bus")
  package static let host = ChaosVictim(rawValue: "host")
  package static let pushServer = ChaosVictim(rawValue: "push-server")
  package static let provider = ChaosVictim(rawValue: "provider")
  package static let widgetExtension = ChaosVictim(rawValue: "extension")
  package static let app = ChaosVictim(rawValue: "app")

  /// An agent, by its number.
  package static func agent(_ number: Int) -> ChaosVictim { ChaosVictim(rawValue: "agent-\(number)") }

  /// The processes of the sample with one agent.
  package static let sample: [ChaosVictim] = [
    .messageBus, .host, .agent(1), .pushServer, .provider, .widgetExtension, .app,
  ]

  /// Whether the device launches it when it is needed; a standing process always runs.
  package var isLaunched: Bool { self == .widgetExtension || self == .app }

  var isAgent: Bool { rawValue.hasPrefix("agent-") }

  package var description: String { rawValue }

  package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

  /// The order of reports: as `up` starts them, then what the device launches.
  private var rank: String {
    let order = [Self.messageBus, .host, .agent(1), .agent(2), .pushServer, .provider, .widgetExtension, .app]
    return "\(order.firstIndex(of: self) ?? order.count)\(rawValue)"
  }
}

/// A crash of a process at a point, in a step of a campaign.
package struct PointCrash: Hashable, Sendable {
  package let step: Int
  package let victim: ChaosVictim
  /// The name of a `FaultPoint`.
  package let point: String
  /// How often the point is reached before the crash.
  package let skipping: Int

  package init(step: Int, victim: ChaosVictim, point: String, skipping: Int = 0) {
    self.step = step
    self.victim = victim
    self.point = point
    self.skipping = skipping
  }

  /// The crash in a step.
  package var fault: ChaosFault { .point(victim: victim, point: point, skipping: skipping) }

  /// The crash when the point is reached once more; `nil` when it was reached often enough.
  var later: PointCrash? {
    skipping < 3 ? PointCrash(step: step, victim: victim, point: point, skipping: skipping + 1) : nil
  }

  /// How many points at which processes were killed are worth a try.
  private static let most = 8
  /// So many steps before the last one, a crash at any other point is armed.
  private static let stepsBeforeLast = 8

  /// The points at which processes were killed, the latest first; then every other point of these processes, by the
  /// latest kill of each.
  package static func all(in events: [CampaignEvent]) -> [PointCrash] {
    var seen: [PointCrash] = []
    var victims: [ChaosVictim] = []
    for event in events.reversed() {
      for kill in event.kills {
        if !victims.contains(kill.victim) { victims.append(kill.victim) }
        guard FaultPoint(name: kill.state) != nil else { continue }
        if seen.contains(where: { $0.victim == kill.victim && $0.point == kill.state }) { continue }
        seen.append(PointCrash(step: event.step, victim: kill.victim, point: kill.state))
      }
    }
    seen = Array(seen.prefix(most))
    let step = max((events.map(\.step).max() ?? 1) - stepsBeforeLast, 1)
    let others = victims.flatMap { victim in
      victim.points.map(\.name).filter { point in !seen.contains { $0.victim == victim && $0.point == point } }
        .map { PointCrash(step: step, victim: victim, point: $0) }
    }
    return seen + others
  }
}

/// The end of a process by a trap or a memory fault: a mistake in its code, whatever its input was. No fault of a campaign
/// sends such a signal.
package struct ProcessTrap: Hashable, Sendable, CustomStringConvertible {
  package let process: String
  package let pid: Int32
  package let signal: Int32
  /// What it wrote last, if that is known.
  package let output: String?

  /// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS, as Linux numbers them.
  private static let signals: Set<Int32> = [4, 5, 6, 7, 8, 11, 31]

  /// - Returns: `nil` when the signal is another one.
  package init?(_ process: String, pid: Int32, signal: Int32, output: String? = nil) {
    guard Self.signals.contains(signal) else { return nil }
    self.process = process
    self.pid = pid
    self.signal = signal
    self.output = output
  }

  package var description: String {
    "\(process) (pid \(pid)) ended with \(Ending.name(ofSignal: signal))" + (output.map { ": \($0)" } ?? "")
  }
}
