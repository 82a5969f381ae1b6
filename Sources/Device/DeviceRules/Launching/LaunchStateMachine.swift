// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import Messages

/// The state machine of the device's processes: which run, why, and what to do about it. A plain value without clock or
/// I/O.
///
/// Only the agent's reports change which processes run: a spawn's reply, an exit, a list of children. A child's own
/// `ready` counts only for an instance that the agent has reported.
package struct LaunchStateMachine: Sendable {
  /// How long a process without an assertion keeps running, in seconds.
  package let suspendAfter: Double
  /// How long a suspended extension without an assertion exists, in seconds; 0 for no limit.
  package let endIdleAfter: Double
  package internal(set) var processes: [Address: Process]
  let agents: [Address: Address]
  package internal(set) var incarnations: [Address: UUID]
  /// The incarnations of each agent before the present one. Not kept over a host restart.
  var formerIncarnations: [Address: Set<UUID>] = [:]
  /// Agents that have reported their children and have not been unreachable since.
  package internal(set) var reportedAgents: Set<Address> = []
  /// Processes that must not run now, and why.
  private var preventedLaunches: [Address: String] = [:]
  private let backoff: Backoff

  /// - Parameters:
  ///   - agents: the agent of each address.
  ///   - incarnations: the last reported incarnation of each agent.
  ///   - backoff: the pause after a process ended before it was ready or exceeded its memory limit.
  package init(
    agents: [Address: Address], processes: [Address: Process] = [:], incarnations: [Address: UUID] = [:],
    suspendAfter: Double, endIdleAfter: Double = 0, backoff: Backoff = Backoff(first: 1, limit: 60)
  ) {
    self.backoff = backoff
    self.endIdleAfter = endIdleAfter
    self.agents = agents
    self.suspendAfter = suspendAfter
    self.incarnations = incarnations
    var known = processes
    for address in agents.keys where known[address] == nil { known[address] = Process() }
    self.processes = known
  }

  /// Whether the user force-quit the app and has not opened it since.
  package func isQuit(_ app: Address) -> Bool { processes[app]?.isQuit ?? false }

  /// Whether the app is in the foreground.
  package func isInFront(_ app: Address) -> Bool { processes[app]?.assertions.contains(.foreground) ?? false }

  /// Returns the next date at which `timerFired` is due.
  package func nextInstant(after now: Date) -> Date? {
    processes.compactMap { address, process -> Date? in
      guard !process.isAsking else { return nil }
      switch process.state {
      case .running: return process.idleSince?.addingTimeInterval(suspendAfter)
      case .suspended where process.assertions.isEmpty: return idleEnd(address, process)
      case .absent, .suspended:
        return process.assertions.isEmpty ? nil : process.notBefore.flatMap { $0 > now ? $0 : nil }
      case .launching, .dying: return nil
      }
    }.min()
  }

  /// Handles one event. Events of addresses that are not configured are ignored.
  package mutating func handle(_ event: Event, now: Date) -> [Action] {
    switch event {
    case .wanted(let address, let assertion, let mayWake): return wanted(address, assertion, mayWake, now)
    case .released(let address, let assertion):
      processes[address]?.release(assertion)
      return decide(address, now)
    case .halted(let address, let assertion):
      processes[address]?.release(assertion)
      guard let process = processes[address], process.assertions.isEmpty else { return [] }
      if process.state == .running { processes[address]?.idleSince = now.addingTimeInterval(-suspendAfter) }
      return decide(address, now)
    case .evicted(let address, let generation, let why):
      guard let generation = generation ?? runningInstance(of: address)?.generation else { return [] }
      return evict(address, generation, why)
    case .allEvicted(let why): return processes.keys.sorted { $0.text < $1.text }.flatMap { evict($0, why) }
    case .exceededMemory(let address, let instance, let why): return exceededMemory(address, instance, why, now)
    case .quit(let address):
      processes[address]?.isQuit = true
      processes[address]?.endAssertionsOfInstance()
      return decide(address, now)
    case .launchesPrevented(let address, let why):
      preventedLaunches[address] = why
      processes[address]?.endAssertionsOfInstance()
      return decide(address, now)
    case .launchesAllowed(let address):
      preventedLaunches[address] = nil
      return decide(address, now)
    case .ready(let address, let generation): return ready(address, generation, now)
    case .spawned(let address, let instance): return spawned(address, instance, now)
    case .spawnFailed(let address, let error): return spawnFailed(address, error, now)
    case .signalled(let address, let generation, let signal): return signalled(address, generation, signal, now)
    case .signalFailed(let address, let generation, let signal, let error):
      return signalFailed(address, generation, signal, error, now)
    case .exited(let address, let instance, let ending, let report):
      return exited(address, instance, ending, report: report, now)
    case .tryAgain(let address):
      guard let process = processes[address], process.launchFailure != nil, process.state == .absent else { return [] }
      processes[address]?.notBefore = nil
      return decide(address, now)
    case .agentReported(let agent, let incarnation, let children):
      return reported(agent, incarnation, children, now)
    case .pauseEnded(let address):
      processes[address]?.isPausing = false
      return (processes[address]?.missing == nil ? [] : list(for: address)) + decide(address, now)
    case .timerFired: return processes.keys.sorted { $0.text < $1.text }.flatMap { decide($0, now) }
    }
  }

  private mutating func wanted(
    _ address: Address, _ assertion: Assertion, _ mayWake: Bool, _ now: Date
  ) -> [Action] {
    guard var process = processes[address] else { return [] }
    if mayWake {
      process.borrowed.remove(assertion)
    } else {
      // A `SIGSTOP` that is in progress would be followed by a `SIGCONT`.
      guard process.state == .running, !process.isAsking, reasonToEnd(address, process) == nil else { return [] }
      if !process.assertions.contains(assertion) { process.borrowed.insert(assertion) }
    }
    process.assertions.insert(assertion)
    if assertion == .foreground || assertion == .interaction { process.isQuit = false }
    process.idleSince = nil
    processes[address] = process
    if process.state == .running, !process.isAsking, reasonToEnd(address, process) == nil,
      let instance = process.instance
    {
      return [.output(.awake(address, instance, woken: false, because: assertion))]
    }
    return decide(address, now)
  }

  /// Does what the state and the assertions require.
  mutating func decide(_ address: Address, _ now: Date) -> [Action] {
    guard var process = processes[address], !process.isAsking else { return [] }
    defer { processes[address] = process }
    if let why = reasonToEnd(address, process) {
      guard let instance = process.instance, process.state != .dying else { return [] }
      process.state = .dying
      process.why = why
      return [changed(address, process), .signal(address, generation: instance.generation, signal: SIGKILL)]
    }
    let isWanted = !process.assertions.isEmpty
    let mustWait = process.isPausing || process.notBefore.map { $0 > now } ?? false
    switch process.state {
    case .absent where isWanted && !mustWait && agents[address].map(reportedAgents.contains) == true:
      process.isAsking = true
      process.state = .launching
      process.isListStale = false
      process.whyToEndAtSpawn = nil
      process.why = reason(process)
      return [changed(address, process), .spawn(address, reason: process.why)]
    case .suspended where isWanted && !mustWait:
      guard let instance = process.instance else { return [] }
      process.isAsking = true
      return [.signal(address, generation: instance.generation, signal: SIGCONT)]
    case .suspended where !isWanted: return endIdle(address, &process, now)
    case .running where !isWanted:
      let since = process.idleSince ?? now
      process.idleSince = since
      guard let instance = process.instance, since.addingTimeInterval(suspendAfter) <= now else { return [] }
      process.isAsking = true
      return [.signal(address, generation: instance.generation, signal: SIGSTOP)]
    default: return []
    }
  }

  private func reasonToEnd(_ address: Address, _ process: Process) -> String? {
    preventedLaunches[address] ?? (process.isQuit ? "force-quit by the user" : nil)
  }

  /// The instance of this address that runs and is not suspended, if there is one.
  package func runningInstance(of address: Address) -> ProcessInstance? {
    processes[address].flatMap { $0.state == .running ? $0.instance : nil }
  }

  /// Whether the agent has reported that the process does not run, and no launch is in progress.
  package func isOver(_ address: Address) -> Bool {
    guard let process = processes[address], let agent = agents[address] else { return true }
    return process.state == .absent && !process.isAsking && reportedAgents.contains(agent)
  }

  /// Whether the process is being launched, or will be when its agent has reported its children.
  package func isLaunchPending(_ address: Address) -> Bool {
    guard let process = processes[address], let agent = agents[address] else { return false }
    return process.state == .launching
      || process.state == .absent && !process.assertions.isEmpty && !reportedAgents.contains(agent)
  }

  func changed(_ address: Address, _ process: Process) -> Action {
    .changed(
      ProcessState(
        address: address, generation: process.instance?.generation ?? process.lastGeneration,
        state: process.state.rawValue, why: process.why,
        launchFailure: process.state == .absent ? process.launchFailure : nil))
  }

  private func reason(_ process: Process) -> String {
    process.assertions.sorted().map(\.description).joined(separator: ", ")
  }

  private mutating func ready(_ address: Address, _ generation: UInt32, _ now: Date) -> [Action] {
    guard var process = processes[address] else { return [] }
    guard generation > process.lastGeneration else {
      // An instance that is not newer than one that ended counts only when the agent reports it.
      if (process.readyGeneration ?? 0) <= process.lastGeneration { processes[address]?.readyGeneration = generation }
      return []
    }
    process.readyGeneration = generation
    defer { processes[address] = process }
    guard let instance = process.instance, instance.generation == generation else {
      // A spawn that timed out was carried out after all. While one is in progress, its reply reports the instance.
      return process.isAsking ? [] : list(for: address)
    }
    guard process.state == .launching else { return [] }
    process.state = .running
    process.notBefore = nil
    process.launchFailure = nil
    process.why = process.assertions.isEmpty ? "ready" : reason(process)
    process.idleSince = process.assertions.isEmpty ? now : nil
    return [changed(address, process), .output(.awake(address, instance, woken: true))]
  }

  /// The agent reports an instance that has not ended.
  mutating func adopt(_ address: Address, _ instance: ProcessInstance, _ now: Date) -> [Action] {
    guard var process = processes[address], instance.generation > process.lastGeneration, process.instance != instance,
      instance.generation >= process.instance?.generation ?? 0
    else {
      return []
    }
    process.missing = nil
    process.instance = instance
    process.state = .launching
    if process.assertions.isEmpty { process.why = "found running" }
    if let why = process.whyToEndAtSpawn.take() {
      // What wants the process wants the next instance.
      process.state = .dying
      process.why = why
      processes[address] = process
      return [changed(address, process), .signal(address, generation: instance.generation, signal: SIGKILL)]
    }
    processes[address] = process
    let actions = [changed(address, process)]
    return process.readyGeneration == instance.generation ? actions + ready(address, instance.generation, now) : actions
  }

  mutating func exited(
    _ address: Address, _ instance: ProcessInstance, _ cause: Ending, report: String? = nil, _ now: Date
  ) -> [Action] {
    guard var process = processes[address], instance.generation > process.lastGeneration else { return [] }
    process.listed = nil
    process.missing = nil
    let wasEvicted = process.state == .dying && process.instance?.generation == instance.generation
    let ending = wasEvicted && cause == .signalled(signal: SIGKILL) ? .evicted(why: process.why) : cause
    process.lastGeneration = instance.generation
    process.lastEnding = ending
    if let current = process.instance, current.generation > instance.generation {
      processes[address] = process
      return []
    }
    let endedBeforeReady =
      process.state == .launching && process.readyGeneration != instance.generation && ending != .lostWithAgent
    let wasToEnd = process.state == .dying
    let isCrash = !endedBeforeReady && !wasToEnd && isCrashAtWork(process, ending)
    if endedBeforeReady, let error = launchFailure(of: address, ending, report) { process.launchFailure = error }
    if !wasEvicted { process.failures = endedBeforeReady || isCrash ? process.failures + 1 : 0 }
    backOff(
      &process, after: endedBeforeReady ? "\(ending) before it was ready" : ending.description,
      isFirstFree: isCrash, now)
    process.state = .absent
    process.instance = nil
    process.idleSince = nil
    process.isAsking = false
    // A process that was about to be ended lost its assertions before. Those it has now are newer and relaunch it.
    if !wasToEnd { process.endAssertionsOfInstance() }
    processes[address] = process
    return [changed(address, process), .output(.ended(address, instance, ending))] + decide(address, now)
  }

  /// The launch failure of an instance that ended before it was ready; `nil` for `SIGKILL`, which is sent from outside.
  private func launchFailure(of address: Address, _ ending: Ending, _ report: String?) -> BusError? {
    if case .signalled(SIGKILL) = ending { return nil }
    if case .evicted = ending { return nil }
    let cause = report.map { ": \($0)" } ?? ""
    return BusError(.endedAtLaunch, "\(address.short) ended before it was ready, with \(ending)\(cause)")
  }

  /// Whether the instance ended by itself while it was wanted. `SIGKILL` and the exit of an agent come from outside.
  private func isCrashAtWork(_ process: Process, _ ending: Ending) -> Bool {
    guard process.assertions != [.foreground], !process.assertions.isEmpty else { return false }
    return switch ending {
    case .signalled(let signal): signal != SIGKILL
    case .exited: true
    case .evicted, .lostWithAgent: false
    }
  }

  /// Delays the next launch, longer after each consecutive failure, and sets `why`.
  ///
  /// - Parameter isFirstFree: whether the first failure causes no delay.
  private func backOff(_ process: inout Process, after what: String, isFirstFree: Bool = false, _ now: Date) {
    process.why = what
    process.notBefore = nil
    let pause = backoff.pause(after: isFirstFree ? process.failures - 1 : process.failures)
    guard pause > 0 else { return }
    process.notBefore = now.addingTimeInterval(pause)
    let times = process.failures == 1 ? "" : "\(process.failures) failures in a row, "
    let seconds = pause == pause.rounded() ? "\(Int(saturating: pause))" : "\(pause)"
    process.why += "; \(times)backing off for \(seconds) s"
  }

  private mutating func spawnFailed(_ address: Address, _ error: BusError, _ now: Date) -> [Action] {
    guard var process = processes[address], process.isAsking, process.state == .launching, process.instance == nil
    else {
      return []
    }
    process.isAsking = false
    defer { processes[address] = process }
    guard let agent = agents[address] else { return [] }
    guard error.isDefinite else {
      // The process may run: the agent's list decides.
      process.why = "launch requested, no reply: \(error)"
      return [changed(address, process), .list(agent: agent)]
    }
    process.state = .absent
    if error.code == .unreachable {
      process.why = "could not be started: \(error)"
      reportedAgents.remove(agent)
      return [changed(address, process), .list(agent: agent)]
    }
    process.failures += 1
    process.launchFailure = BusError(error.code, "\(address.short) cannot be started: \(error.message)")
    backOff(&process, after: "could not be started: \(error)", now)
    // The agent may have an instance that is not known here.
    return [changed(address, process), .list(agent: agent)]
  }

  private mutating func signalled(
    _ address: Address, _ generation: UInt32, _ signal: Int32, _ now: Date
  ) -> [Action] {
    guard var process = processes[address], let instance = process.instance, instance.generation == generation else {
      return []
    }
    process.isAsking = false
    process.notBefore = nil
    processes[address] = process
    guard process.state != .dying else { return [] }
    switch signal {
    case SIGSTOP: return stopped(address) + decide(address, now)
    case SIGCONT: return continued(address, instance) + decide(address, now)
    default: return []
    }
  }

  mutating func stopped(_ address: Address, why: String = "nothing to do") -> [Action] {
    guard var process = processes[address] else { return [] }
    process.state = .suspended
    process.failures = 0
    process.idleSince = nil
    process.suspendedAt = nil
    process.why = why
    processes[address] = process
    return [changed(address, process)] + (process.instance.map { [.output(.suspended(address, $0))] } ?? [])
  }

  mutating func continued(_ address: Address, _ instance: ProcessInstance) -> [Action] {
    guard var process = processes[address] else { return [] }
    process.state = .running
    process.why = process.assertions.isEmpty ? "continued" : reason(process)
    processes[address] = process
    return [changed(address, process), .output(.awake(address, instance, woken: true))]
  }

  private mutating func signalFailed(
    _ address: Address, _ generation: UInt32, _ signal: Int32, _ error: BusError, _ now: Date
  ) -> [Action] {
    guard var process = processes[address], process.instance?.generation == generation else { return [] }
    process.isAsking = false
    process.isPausing = signal == SIGCONT
    if process.state == .running, process.assertions.isEmpty { process.idleSince = now }
    processes[address] = process
    if signal == SIGSTOP, !error.isDefinite, process.state == .running {
      // The signal may still be carried out, after any list that could be requested now. Assume that the process is
      // stopped: it is continued when it is wanted, and the agent sends the two signals in order.
      return stopped(address, why: "SIGSTOP requested, no reply") + decide(address, now)
    }
    let pause: [Action] = process.isPausing ? [.pause(address)] : []
    return pause + (agents[address].map { [.list(agent: $0)] } ?? [])
  }
}
