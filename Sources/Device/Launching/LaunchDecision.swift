package import Conversations
package import Foundation
package import Timekeeping

/// Which processes live, why, and what to do about it: a plain value without clock or I/O.
///
/// Only an agent's word changes who lives: a spawn's reply, an exit, a list of children. A child's own `ready` is
/// believed for a life that the agent has named.
package struct LaunchDecision: Sendable {
  /// How long a process without an assertion runs on, seconds.
  package let suspendAfter: Double
  package internal(set) var processes: [Address: Process]
  let agents: [Address: Address]
  var incarnations: [Address: UUID]
  /// Agents that have said what they hold, and were not found absent since.
  package internal(set) var heard: Set<Address> = []
  /// What is not to live now, and why.
  private var heldBack: [Address: String] = [:]
  private let backoff: Backoff

  /// - Parameters:
  ///   - agents: the agent of each address.
  ///   - incarnations: the agents' incarnations as they were last heard.
  ///   - backoff: how long a process that ended before it was ready, or had too much memory, is left alone.
  package init(
    agents: [Address: Address], processes: [Address: Process] = [:], incarnations: [Address: UUID] = [:],
    suspendAfter: Double, backoff: Backoff = Backoff(first: 1, limit: 60)
  ) {
    self.backoff = backoff
    self.agents = agents
    self.suspendAfter = suspendAfter
    self.incarnations = incarnations
    var known = processes
    for address in agents.keys where known[address] == nil { known[address] = Process() }
    self.processes = known
  }

  /// When `instantCame` is due.
  package func nextInstant(after now: Date) -> Date? {
    processes.values.compactMap { process -> Date? in
      guard !process.isAsking else { return nil }
      switch process.state {
      case .running: return process.idleSince?.addingTimeInterval(suspendAfter)
      case .absent, .suspended:
        return process.assertions.isEmpty ? nil : process.notBefore.flatMap { $0 > now ? $0 : nil }
      case .launching, .dying: return nil
      }
    }.min()
  }

  /// Takes one event. An address that nobody configured is ignored.
  package mutating func take(_ event: Event, now: Date) -> [Answer] {
    switch event {
    case .wanted(let address, let assertion): return wanted(address, assertion, now)
    case .released(let address, let assertion):
      processes[address]?.assertions.remove(assertion)
      return settle(address, now)
    case .halted(let address, let assertion):
      processes[address]?.assertions.remove(assertion)
      guard let process = processes[address], process.assertions.isEmpty else { return [] }
      if process.state == .running { processes[address]?.idleSince = now.addingTimeInterval(-suspendAfter) }
      return settle(address, now)
    case .evicted(let address, let generation, let why): return evict(address, generation, why)
    case .exceededMemory(let address, let life, let why): return exceededMemory(address, life, why, now)
    case .quit(let address):
      processes[address]?.isQuit = true
      processes[address]?.assertions.subtract(Assertion.ofLife)
      return settle(address, now)
    case .heldBack(let address, let why):
      heldBack[address] = why
      processes[address]?.assertions.subtract(Assertion.ofLife)
      return settle(address, now)
    case .letGo(let address):
      heldBack[address] = nil
      return settle(address, now)
    case .ready(let address, let generation): return ready(address, generation, now)
    case .spawned(let address, let life):
      // The answer came after the life's end: what is under way now is another spawn.
      guard let process = processes[address], life.generation > process.lastGeneration else { return [] }
      processes[address]?.isAsking = false
      return live(address, life, now) + settle(address, now)
    case .spawnFailed(let address, let error): return spawnFailed(address, error, now)
    case .signalled(let address, let generation, let signal): return signalled(address, generation, signal, now)
    case .signalFailed(let address, let generation, let signal, let error):
      return signalFailed(address, generation, signal, error, now)
    case .exited(let address, let life, let ending, let report):
      return exited(address, life, ending, report: report, now)
    case .tryAgain(let address):
      guard let process = processes[address], process.launchFailure != nil, process.state == .absent else { return [] }
      processes[address]?.notBefore = nil
      return settle(address, now)
    case .agentReported(let agent, let incarnation, let children):
      return reported(agent, incarnation, children, now)
    case .pauseEnded(let address):
      processes[address]?.isPausing = false
      return settle(address, now)
    case .instantCame: return processes.keys.sorted { $0.text < $1.text }.flatMap { settle($0, now) }
    }
  }

  private mutating func wanted(_ address: Address, _ assertion: Assertion, _ now: Date) -> [Answer] {
    guard var process = processes[address] else { return [] }
    process.assertions.insert(assertion)
    if assertion == .foreground || assertion == .interaction { process.isQuit = false }
    process.idleSince = nil
    processes[address] = process
    if process.state == .running, !process.isAsking, reasonToEnd(address, process) == nil, let life = process.life {
      return [.intent(.awake(address, life, woken: false))]
    }
    return settle(address, now)
  }

  /// What the state and the assertions ask for.
  mutating func settle(_ address: Address, _ now: Date) -> [Answer] {
    guard var process = processes[address], !process.isAsking else { return [] }
    defer { processes[address] = process }
    if let why = reasonToEnd(address, process) {
      guard let life = process.life, process.state != .dying else { return [] }
      process.state = .dying
      process.why = why
      return [changed(address, process), .signal(address, generation: life.generation, signal: SIGKILL)]
    }
    let isWanted = !process.assertions.isEmpty
    let isHeldBack = process.isPausing || process.notBefore.map { $0 > now } ?? false
    switch process.state {
    case .absent where isWanted && !isHeldBack && agents[address].map(heard.contains) == true:
      process.isAsking = true
      process.state = .launching
      process.why = reason(process)
      return [changed(address, process), .spawn(address, reason: process.why)]
    case .suspended where isWanted && !isHeldBack:
      guard let life = process.life else { return [] }
      process.isAsking = true
      return [.signal(address, generation: life.generation, signal: SIGCONT)]
    case .running where !isWanted:
      let since = process.idleSince ?? now
      process.idleSince = since
      guard let life = process.life, since.addingTimeInterval(suspendAfter) <= now else { return [] }
      process.isAsking = true
      return [.signal(address, generation: life.generation, signal: SIGSTOP)]
    default: return []
    }
  }

  private func reasonToEnd(_ address: Address, _ process: Process) -> String? {
    heldBack[address] ?? (process.isQuit ? "ended by a person" : nil)
  }

  /// Whether it does not live, by the word of its agent, and nobody is about to start it.
  package func isOver(_ address: Address) -> Bool {
    guard let process = processes[address], let agent = agents[address] else { return true }
    return process.state == .absent && !process.isAsking && heard.contains(agent)
  }

  /// Whether it is being launched, or will be when its agent has reported which children it has.
  package func isLaunchPending(_ address: Address) -> Bool {
    guard let process = processes[address], let agent = agents[address] else { return false }
    return process.state == .launching
      || process.state == .absent && !process.assertions.isEmpty && !heard.contains(agent)
  }

  func changed(_ address: Address, _ process: Process) -> Answer {
    .changed(
      ProcessState(
        address: address, generation: process.life?.generation ?? process.lastGeneration,
        state: process.state.rawValue, why: process.why,
        launchFailure: process.state == .absent ? process.launchFailure : nil))
  }

  private func reason(_ process: Process) -> String {
    process.assertions.sorted().map(\.description).joined(separator: ", ")
  }

  private mutating func ready(_ address: Address, _ generation: UInt32, _ now: Date) -> [Answer] {
    guard var process = processes[address], generation > process.lastGeneration else { return [] }
    process.readyGeneration = generation
    defer { processes[address] = process }
    guard let life = process.life, life.generation == generation else {
      // A spawn that was given up was carried out after all; while one is under way, its answer names the life.
      return process.isAsking ? [] : agents[address].map { [.list(agent: $0)] } ?? []
    }
    guard process.state == .launching else { return [] }
    process.state = .running
    process.notBefore = nil
    process.launchFailure = nil
    process.why = process.assertions.isEmpty ? "ready" : reason(process)
    process.idleSince = process.assertions.isEmpty ? now : nil
    return [changed(address, process), .intent(.awake(address, life, woken: true))]
  }

  /// The agent names a life that has not ended.
  mutating func live(_ address: Address, _ life: Life, _ now: Date) -> [Answer] {
    guard var process = processes[address], life.generation > process.lastGeneration, process.life != life else {
      return []
    }
    process.life = life
    process.state = .launching
    if process.assertions.isEmpty { process.why = "found alive" }
    processes[address] = process
    let answers = [changed(address, process)]
    return process.readyGeneration == life.generation ? answers + ready(address, life.generation, now) : answers
  }

  /// - Parameter isFailure: whether the process is left alone after it, and the longer the more often it comes to that.
  private mutating func evict(
    _ address: Address, _ generation: UInt32, _ why: String, isFailure: Bool = false
  ) -> [Answer] {
    guard var process = processes[address], process.life?.generation == generation, process.state != .dying else {
      return []
    }
    process.state = .dying
    process.why = why
    process.failures = isFailure ? process.failures + 1 : 0
    process.assertions.subtract(Assertion.ofLife)
    processes[address] = process
    return [changed(address, process), .signal(address, generation: generation, signal: SIGKILL)]
  }

  private mutating func exceededMemory(_ address: Address, _ life: Life, _ why: String, _ now: Date) -> [Answer] {
    // It may say so before it has answered the spawn.
    let news = processes[address]?.life == nil ? live(address, life, now) : []
    return news + evict(address, life.generation, why, isFailure: true)
  }

  mutating func exited(
    _ address: Address, _ life: Life, _ cause: Ending, report: String? = nil, _ now: Date
  ) -> [Answer] {
    guard var process = processes[address], life.generation > process.lastGeneration else { return [] }
    let wasEvicted = process.state == .dying && process.life?.generation == life.generation
    let ending = wasEvicted && cause == .signalled(signal: SIGKILL) ? .evicted(why: process.why) : cause
    process.lastGeneration = life.generation
    process.lastEnding = ending
    if let current = process.life, current.generation > life.generation {
      processes[address] = process
      return []
    }
    let endedBeforeReady =
      process.state == .launching && process.readyGeneration != life.generation && ending != .lostWithAgent
    let wasToEnd = process.state == .dying
    let isCrash = !endedBeforeReady && !wasToEnd && isCrashAtWork(process, ending)
    if endedBeforeReady, let error = launchFailure(of: address, ending, report) { process.launchFailure = error }
    if !wasEvicted { process.failures = endedBeforeReady || isCrash ? process.failures + 1 : 0 }
    leaveAlone(
      &process, after: endedBeforeReady ? "\(ending) before it was ready" : ending.description,
      isAfterOne: isCrash, now)
    process.state = .absent
    process.life = nil
    process.idleSince = nil
    process.isAsking = false
    // Who is about to be ended was in front before that; in front since then, it is to live again.
    if !wasToEnd { process.assertions.subtract(Assertion.ofLife) }
    processes[address] = process
    return [changed(address, process), .intent(.ended(address, life, ending))] + settle(address, now)
  }

  /// Why a life that ended before it was ready is a launch that failed; `nil` for `SIGKILL`, which comes from outside.
  private func launchFailure(of address: Address, _ ending: Ending, _ report: String?) -> BusError? {
    if case .signalled(SIGKILL) = ending { return nil }
    if case .evicted = ending { return nil }
    let cause = report.map { ": \($0)" } ?? ""
    return BusError(.endedAtLaunch, "\(address.short) ended before it was ready, with \(ending)\(cause)")
  }

  /// It ended by itself while somebody wanted it. `SIGKILL` comes from outside, and so does the end of an agent.
  private func isCrashAtWork(_ process: Process, _ ending: Ending) -> Bool {
    guard process.assertions != [.foreground], !process.assertions.isEmpty else { return false }
    return switch ending {
    case .signalled(let signal): signal != SIGKILL
    case .exited: true
    case .evicted, .lostWithAgent, .notStarted: false
    }
  }

  /// Sets how long a process is not started after what happened to it, and says so: the longer the more failures in a row.
  ///
  /// - Parameter isAfterOne: the first failure is not one to pause for yet.
  private func leaveAlone(_ process: inout Process, after what: String, isAfterOne: Bool = false, _ now: Date) {
    process.why = what
    process.notBefore = nil
    let pause = backoff.pause(after: isAfterOne ? process.failures - 1 : process.failures)
    guard pause > 0 else { return }
    process.notBefore = now.addingTimeInterval(pause)
    let times = process.failures == 1 ? "" : "\(process.failures) failures in a row, "
    let seconds = pause == pause.rounded() ? "\(Int(pause))" : "\(pause)"
    process.why += "; \(times)left alone for \(seconds) s"
  }

  private mutating func spawnFailed(_ address: Address, _ error: BusError, _ now: Date) -> [Answer] {
    guard var process = processes[address], process.isAsking, process.state == .launching, process.life == nil else {
      return []
    }
    process.isAsking = false
    defer { processes[address] = process }
    guard let agent = agents[address] else { return [] }
    guard error.isDefinite else {
      // It may live: the agent's list says.
      process.why = "asked for, and not answered: \(error)"
      return [changed(address, process), .list(agent: agent)]
    }
    process.state = .absent
    if error.code == .unreachable {
      process.why = "could not be started: \(error)"
      heard.remove(agent)
      return [changed(address, process), .list(agent: agent)]
    }
    process.failures += 1
    process.launchFailure = BusError(error.code, "\(address.short) cannot be started: \(error.message)")
    leaveAlone(&process, after: "could not be started: \(error)", now)
    // The agent may hold a life that we do not know of.
    return [changed(address, process), .list(agent: agent)]
  }

  private mutating func signalled(
    _ address: Address, _ generation: UInt32, _ signal: Int32, _ now: Date
  ) -> [Answer] {
    guard var process = processes[address], let life = process.life, life.generation == generation else { return [] }
    process.isAsking = false
    process.notBefore = nil
    processes[address] = process
    guard process.state != .dying else { return [] }
    switch signal {
    case SIGSTOP: return stopped(address) + settle(address, now)
    case SIGCONT: return continued(address, life) + settle(address, now)
    default: return []
    }
  }

  mutating func stopped(_ address: Address, why: String = "nothing to do") -> [Answer] {
    guard var process = processes[address] else { return [] }
    process.state = .suspended
    process.failures = 0
    process.idleSince = nil
    process.why = why
    processes[address] = process
    return [changed(address, process)] + (process.life.map { [.intent(.suspended(address, $0))] } ?? [])
  }

  mutating func continued(_ address: Address, _ life: Life) -> [Answer] {
    guard var process = processes[address] else { return [] }
    process.state = .running
    process.why = process.assertions.isEmpty ? "continued" : reason(process)
    processes[address] = process
    return [changed(address, process), .intent(.awake(address, life, woken: true))]
  }

  private mutating func signalFailed(
    _ address: Address, _ generation: UInt32, _ signal: Int32, _ error: BusError, _ now: Date
  ) -> [Answer] {
    guard var process = processes[address], process.life?.generation == generation else { return [] }
    process.isAsking = false
    process.isPausing = signal == SIGCONT
    if process.state == .running, process.assertions.isEmpty { process.idleSince = now }
    processes[address] = process
    if signal == SIGSTOP, !error.isDefinite, process.state == .running {
      // It may be carried out yet, after any list that we could ask for now. Taken for stopped, it is continued when it
      // is wanted, and the agent does the two in order.
      return stopped(address, why: "told to stop, and not answered") + settle(address, now)
    }
    let pause: [Answer] = process.isPausing ? [.pause(address)] : []
    return pause + (agents[address].map { [.list(agent: $0)] } ?? [])
  }
}
