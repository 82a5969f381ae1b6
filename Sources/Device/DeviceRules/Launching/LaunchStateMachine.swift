// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
import Glibc
package import Messages

/// The state machine of the device's processes: which run, why, and what to do about it. A plain value without clock or
/// I/O.
///
/// Only the agent's reports change which processes run: a spawn's reply, an exit, a list of children. A child's own
/// `ready` counts only for an instance that the agent has reported.
package struct LaunchStateMachine: Sendable, Hashable {
  /// How long a process without an assertion keeps running, in seconds.
  package let suspendAfter: Double
  /// How long a suspended extension without an assertion exists, in seconds; 0 for no limit.
  package let endIdleAfter: Double
  package var processes: [Address: Process]
  let agents: [Address: Address]
  package private(set) var incarnations: [Address: UUID]
  /// The incarnations of each agent before the present one. Not kept over a host restart.
  var formerIncarnations: [Address: Set<UUID>] = [:]
  /// A former incarnation of each agent that has reported again. Not kept over a host restart.
  var doubted: [Address: UUID] = [:]
  /// Agents that have reported their children and have not been unreachable since.
  package private(set) var reportedAgents: Set<Address> = []
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

  /// The apps in the foreground.
  package var frontApps: [Address] {
    processes.keys.filter { $0.role == .app && isInFront($0) }.sorted { $0.text < $1.text }
  }

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
    case .process(.want(let address, let assertion, let mayWake)): return want(address, assertion, mayWake, now)
    case .process(.release(let address, let assertion)):
      processes[address]?.release(assertion)
      return decide(address, now)
    case .process(.halt(let address, let assertion)):
      processes[address]?.release(assertion)
      guard let process = processes[address], process.assertions.isEmpty else { return [] }
      if process.state == .running { processes[address]?.idleSince = now.addingTimeInterval(-suspendAfter) }
      return decide(address, now)
    case .process(.evict(let address, let generation, let why)):
      guard let generation = generation ?? runningInstance(of: address)?.generation else { return [] }
      return evict(address, generation, why)
    case .allEvicted(let why): return processes.keys.sorted { $0.text < $1.text }.flatMap { evict($0, why) }
    case .exceededMemory(let address, let instance, let why):
      // The agent may report this before it replies to the spawn.
      let news = processes[address]?.instance == nil ? adopt(address, instance, now) : []
      return news + evict(address, instance.generation, why, isFailure: true)
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
      return (processes[address]?.isListNeeded == true ? list(for: address) : []) + decide(address, now)
    case .timerFired: return processes.keys.sorted { $0.text < $1.text }.flatMap { decide($0, now) }
    }
  }

  private mutating func want(_ address: Address, _ assertion: Assertion, _ mayWake: Bool, _ now: Date) -> [Action] {
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
      return [.asks(.awake(address, instance, woken: false, because: assertion))]
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
      process.isForSessions = isWantedForSessions(process)
      process.why = reason(process)
      return [changed(address, process), .spawn(address, reason: process.why)]
    case .suspended where isWanted && !mustWait:
      guard let instance = process.instance else { return [] }
      process.isAsking = true
      process.isForSessions = isWantedForSessions(process)
      return [.signal(address, generation: instance.generation, signal: SIGCONT)]
    case .suspended where !isWanted: return endIdle(address, &process, now)
    case .running where !isWanted:
      let since = process.idleSince ?? now
      process.idleSince = since
      guard let instance = process.instance, since.addingTimeInterval(suspendAfter) <= now else { return [] }
      process.isAsking = true
      return [.signal(address, generation: instance.generation, signal: SIGSTOP)]
    case .absent, .launching, .running, .suspended, .dying: return []
    }
  }

  /// Whether the system launches or resumes a process for its sessions. The user who opens an app does not.
  private func isWantedForSessions(_ process: Process) -> Bool {
    process.assertions.contains(where: \.isForSession) && !process.assertions.contains(.foreground)
  }

  /// Whether the last launch or resumption of a process was for its sessions; `true` when it is not known.
  func isForSessions(_ address: Address) -> Bool { processes[address]?.isForSessions ?? true }

  private func reasonToEnd(_ address: Address, _ process: Process) -> String? {
    preventedLaunches[address] ?? (process.isQuit ? "force-quit by the user" : nil)
  }

  /// The instance of this address that runs and is not suspended, if there is one.
  package func runningInstance(of address: Address) -> ProcessInstance? {
    processes[address].flatMap { $0.state == .running ? $0.instance : nil }
  }

  /// Whether an instance is the present one of its address, or the one that is being spawned, and is not being ended.
  package func isCurrent(_ address: Address, generation: UInt32) -> Bool {
    guard let process = processes[address], process.state != .absent, process.state != .dying,
      process.whyToEndAtSpawn == nil, reasonToEnd(address, process) == nil
    else { return false }
    return process.instance.map { $0.generation == generation } ?? (generation > process.lastGeneration)
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
      return process.instance != nil || process.isAsking && process.state == .launching ? [] : list(for: address)
    }
    process.readyGeneration = generation
    defer { processes[address] = process }
    guard let instance = process.instance, instance.generation == generation else {
      // A spawn that timed out was carried out after all. While one is in progress, its reply reports the instance.
      return process.isAsking && process.state == .launching ? [] : list(for: address)
    }
    guard process.state == .launching else { return [] }
    process.state = .running
    process.notBefore = nil
    process.launchFailure = nil
    process.why = process.assertions.isEmpty ? "ready" : reason(process)
    process.idleSince = process.assertions.isEmpty ? now : nil
    return [changed(address, process), .asks(.awake(address, instance, woken: true))]
  }

  /// The agent reports an instance that has not ended.
  ///
  /// - Parameter isStopped: whether it is stopped, and so awake only after a `SIGCONT`.
  mutating func adopt(
    _ address: Address, _ instance: ProcessInstance, isStopped: Bool = false, _ now: Date
  ) -> [Action] {
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
    guard process.readyGeneration == instance.generation else { return actions }
    if isStopped {
      // It was ready: the launch has succeeded.
      processes[address]?.launchFailure = nil
      processes[address]?.notBefore = nil
    }
    return actions + (isStopped ? stopped(address, why: "found suspended") : ready(address, instance.generation, now))
  }

  mutating func exited(
    _ address: Address, _ instance: ProcessInstance, _ cause: Ending, report: String? = nil, _ now: Date
  ) -> [Action] {
    guard var process = processes[address], instance.generation > process.lastGeneration,
      // Another instance had the same generation: the bus has lost what it had counted.
      process.instance?.generation != instance.generation || process.instance == instance
    else { return [] }
    process.listed = nil
    process.missing = nil
    let wasEvicted = process.state == .dying && process.instance?.generation == instance.generation
    let ending = wasEvicted && cause == .signalled(signal: SIGKILL) ? .evicted(why: process.why) : cause
    process.lastGeneration = instance.generation
    process.lastInstance = instance
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
    process.isForSessions = nil
    // A process that was about to be ended lost its assertions before. Those it has now are newer and relaunch it.
    if wasToEnd { process.isPausing = false } else { process.endAssertionsOfInstance() }
    processes[address] = process
    // A later instance has reported that it is ready, and its launch had no reply.
    let news = process.readyGeneration.map { $0 > instance.generation } == true ? list(for: address) : []
    return [changed(address, process), .asks(.ended(address, instance, ending))] + decide(address, now) + news
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
      // An exit was that of an earlier instance, and another one runs.
      let isUnknown = error.code == .alreadyRunning && processes[address]?.instance == nil
      return isUnknown ? list(for: address) : []
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
    case SIGCONT:
      process.state = .running
      process.why = process.assertions.isEmpty ? "continued" : reason(process)
      processes[address] = process
      return [changed(address, process), .asks(.awake(address, instance, woken: true))] + decide(address, now)
    default: return []
    }
  }

  mutating func stopped(_ address: Address, why: String = "nothing to do") -> [Action] {
    guard var process = processes[address] else { return [] }
    process.state = .suspended
    process.failures = 0
    process.idleSince = nil
    process.suspendedAt = nil
    process.isForSessions = nil
    process.why = why
    processes[address] = process
    return [changed(address, process)] + (process.instance.map { [.asks(.suspended(address, $0))] } ?? [])
  }

  private mutating func signalFailed(
    _ address: Address, _ generation: UInt32, _ signal: Int32, _ error: BusError, _ now: Date
  ) -> [Action] {
    guard var process = processes[address], process.instance?.generation == generation else { return [] }
    process.isAsking = false
    // Without a pause, an agent that refuses at once would be asked again and again.
    let mustPause = signal == SIGCONT || process.state == .dying
    if mustPause { process.isPausing = true }
    if process.state == .running, process.assertions.isEmpty { process.idleSince = now }
    processes[address] = process
    if signal == SIGSTOP, !error.isDefinite, process.state == .running {
      // The signal may still be carried out, after the list that is requested now. Assume that the process is stopped: it
      // is continued when it is wanted, and the agent sends the two signals in order. If the list has it as running, it is
      // continued now, and stopped again.
      return stopped(address, why: "SIGSTOP requested, no reply") + decide(address, now) + list(for: address)
    }
    return (mustPause ? [.pause(address)] : []) + list(for: address)
  }
}

extension LaunchStateMachine {
  package enum State: String, Sendable {
    case absent, launching, running, suspended, dying
  }

  /// The state of the process at one address.
  package struct Process: Sendable, Hashable {
    package var state = State.absent
    package var instance: ProcessInstance?
    package var assertions: Set<Assertion> = []
    /// Those of the assertions that end with the instance, because they must not launch the process.
    var borrowed: Set<Assertion> = []
    package var lastEnding: Ending?
    /// The highest generation that has ended. Exits of older generations are ignored.
    package var lastGeneration: UInt32 = 0
    /// The instance of this generation. Not kept over a host restart.
    var lastInstance: ProcessInstance?
    /// An instance that the agent has listed although it is not newer than one that ended. Not kept over a host restart.
    var listed: ProcessInstance?
    /// The known instance that the last list of its agent lacks. Not kept over a host restart.
    var missing: ProcessInstance?
    /// A list arrived while the instance was being spawned: another agent may have spawned it. Not kept over a host
    /// restart.
    var isListStale = false
    /// The generation that sent `ready`, even when the agent has not reported the instance yet.
    package var readyGeneration: UInt32?
    /// The user force-quit the app. It is not launched until the user opens it, or touches a button, toggle or control
    /// whose intent it performs.
    package var isQuit = false
    /// Consecutive instances that ended before `ready`, exceeded their memory limit, or ended by themselves while
    /// wanted.
    package var failures = 0
    package var why = "never started"
    /// Why the last launch failed, until another one succeeds. Not kept over a host restart.
    package var launchFailure: BusError?
    /// The earliest date of the next launch, resume or stop.
    package var notBefore: Date?
    package var idleSince: Date?
    /// Why the instance that is being spawned is ended at once. Not kept over a host restart.
    var whyToEndAtSpawn: String?
    /// Whether it was launched or resumed for its sessions. Not kept over a host restart, after which it is not known.
    var isForSessions: Bool?
    /// Since when it has been suspended and not wanted. Not kept over a host restart.
    package var suspendedAt: Date?
    /// A spawn or a signal is in progress.
    package fileprivate(set) var isAsking = false
    /// The agent could not be reached or did not carry out a request. The request is repeated after a pause in machine
    /// time.
    package fileprivate(set) var isPausing = false
    /// Whether a list shows what is to be done after a pause. A list during the pause changes nothing.
    var isListNeeded: Bool { missing != nil || state == .dying || state == .suspended && assertions.isEmpty }
    /// Whether a reply or an exit is pending.
    package var isUnderWay: Bool { isAsking || isPausing || state == .launching || state == .dying }

    package init() {}

    /// Ends the assertions that end with the instance.
    mutating func endAssertionsOfInstance() {
      assertions.subtract(Assertion.ofInstance)
      assertions.subtract(borrowed)
      borrowed = []
    }

    /// Ends one assertion.
    mutating func release(_ assertion: Assertion) {
      assertions.remove(assertion)
      borrowed.remove(assertion)
    }
  }

  package enum Event: Sendable {
    case process(ProcessAction)
    /// End every instance with `SIGKILL`, also one that is being spawned.
    case allEvicted(why: String)
    /// The user force-quit the app: end it with `SIGKILL`, and do not launch it until the user opens it, or touches a
    /// button, toggle or control whose intent it performs.
    case quit(Address)
    /// End it with `SIGKILL`, and do not launch it before `launchesAllowed`.
    case launchesPrevented(Address, why: String)
    case launchesAllowed(Address)
    /// The agent found that this instance exceeds its memory limit.
    case exceededMemory(Address, ProcessInstance, why: String)
    case ready(Address, generation: UInt32)
    case spawned(Address, ProcessInstance)
    case spawnFailed(Address, BusError)
    case signalled(Address, generation: UInt32, signal: Int32)
    case signalFailed(Address, generation: UInt32, signal: Int32, BusError)
    /// - Parameter report: the path of the executable and the failure that it reported.
    case exited(Address, ProcessInstance, Ending, report: String? = nil)
    /// The user asks for the process: retry a failed launch at once.
    case tryAgain(Address)
    case agentReported(Address, incarnation: UUID, children: [ChildProcess])
    /// The second of `pause` has passed.
    case pauseEnded(Address)
    /// The date of `nextInstant` has been reached.
    case timerFired
  }

  package enum Action: Sendable, Equatable {
    case spawn(Address, reason: String)
    case signal(Address, generation: UInt32, signal: Int32)
    /// Request the list of children from the agent.
    case list(agent: Address)
    /// Send `pauseEnded` after a second of machine time: a held device clock must not delay requests to the agent.
    case pause(Address)
    case asks(DeviceRequest)
    /// Record the changed state. The value is the state at this point, before later actions.
    case changed(ProcessState)
  }
}

// Replies and reports of an agent about its children.

extension LaunchStateMachine {
  mutating func spawned(_ address: Address, _ instance: ProcessInstance, _ now: Date) -> [Action] {
    guard var process = processes[address] else { return [] }
    let isListStale = process.isListStale
    process.isListStale = false
    if instance.generation == process.lastGeneration, process.lastInstance.map({ $0 == instance }) ?? true {
      // A reply that arrives after the instance's end: another spawn may be in progress. Or the generation was given before
      // the host started, and the list has the instance.
      if process.lastInstance == nil { processes[address]?.isAsking = false }
      return list(for: address)
    }
    process.isAsking = false
    processes[address] = process
    // With a generation that was given before, its exit may have been taken for that of another instance.
    let isDoubtful = isListStale || instance.generation <= process.lastGeneration
    believe(instance, at: address)
    return adopt(address, instance, now) + decide(address, now) + (isDoubtful ? list(for: address) : [])
  }

  mutating func reported(
    _ agent: Address, _ incarnation: UUID, _ children: [ChildProcess], _ now: Date
  ) -> [Action] {
    // A list that an agent sent before it ended. Or such a list arrived after the first one of its successor: then this one
    // is of the agent that runs, and so is the list that is requested now.
    guard formerIncarnations[agent]?.contains(incarnation) != true || doubted[agent] == incarnation else {
      doubted[agent] = incarnation
      return [.list(agent: agent)]
    }
    doubted[agent] = nil
    formerIncarnations[agent]?.remove(incarnation)
    let isSame = incarnations[agent] == nil || incarnations[agent] == incarnation
    if !isSame, let former = incarnations[agent] { formerIncarnations[agent, default: []].insert(former) }
    incarnations[agent] = incarnation
    reportedAgents.insert(agent)
    var actions: [Action] = []
    for address in agents.keys.filter({ agents[$0] == agent }).sorted(by: { $0.text < $1.text }) {
      if let child = children.first(where: { $0.address == address }) {
        actions += reported(address, child, isSame, now)
      } else {
        actions += reportedAbsent(address, isSame, now)
      }
      actions += decide(address, now)
    }
    return actions
  }

  private mutating func reported(
    _ address: Address, _ child: ChildProcess, _ isSameAgent: Bool, _ now: Date
  ) -> [Action] {
    guard let process = processes[address] else { return [] }
    if child.generation > process.lastGeneration { return reportedPresent(address, child, now) }
    // A list that is older than an exit still has the instance that ended.
    guard process.instance == nil else { return reportedAbsent(address, isSameAgent, now) }
    let instance = ProcessInstance(generation: child.generation, pid: child.pid)
    // A second list, requested after the first one, proves that the instance runs. Its generation was given twice: the bus
    // has lost what it had counted.
    guard process.listed == instance else {
      processes[address]?.listed = instance
      return list(for: address)
    }
    believe(instance, at: address)
    // Both may have been sent before the exit of the instance.
    return reportedPresent(address, child, now) + list(for: address)
  }

  /// An instance runs: those that ended before it are not newer, whatever their generations are.
  mutating func believe(_ instance: ProcessInstance, at address: Address) {
    guard let process = processes[address], instance.generation <= process.lastGeneration else { return }
    processes[address]?.lastGeneration = max(instance.generation, 1) - 1
    processes[address]?.listed = nil
  }

  /// Requests the list of children.
  func list(for address: Address) -> [Action] { agents[address].map { [.list(agent: $0)] } ?? [] }

  private mutating func reportedPresent(_ address: Address, _ child: ChildProcess, _ now: Date) -> [Action] {
    let instance = ProcessInstance(generation: child.generation, pid: child.pid)
    processes[address]?.missing = nil
    var actions: [Action] = []
    if let known = processes[address]?.instance, known.generation < instance.generation {
      // The exit of the older instance arrives as its own event, but the instance has ended in any case.
      processes[address]?.instance = nil
      processes[address]?.lastGeneration = known.generation
      processes[address]?.lastInstance = known
      processes[address]?.lastEnding = .lostWithAgent
      let over = ProcessState(
        address: address, generation: known.generation, state: State.absent.rawValue,
        why: "ended: its agent reports a newer instance")
      actions += [.changed(over), .asks(.ended(address, known, .lostWithAgent))]
    }
    if processes[address]?.instance == nil { processes[address]?.isAsking = false }
    actions += adopt(address, instance, isStopped: child.isStopped, now)
    guard let process = processes[address], process.instance == instance, !process.isAsking else { return actions }
    switch process.state {
    // The list may be older than a `SIGCONT` whose reply arrived first: another one shows it.
    case .running where child.isStopped: return actions + stopped(address) + list(for: address)
    // It was wanted while a `SIGSTOP` that failed was in progress.
    case .running where !process.assertions.isEmpty && actions.isEmpty:
      return [.asks(.awake(address, instance, woken: false))]
    // Its `SIGSTOP` may not have taken effect when the agent looked, or another process continued it. After a `SIGCONT`
    // it runs in any case.
    case .suspended where !child.isStopped && !process.isPausing:
      processes[address]?.isAsking = true
      processes[address]?.isForSessions = nil
      return actions + [.signal(address, generation: instance.generation, signal: SIGCONT)]
    case .dying where !process.isPausing:
      return actions + [.signal(address, generation: instance.generation, signal: SIGKILL)]
    case .absent, .launching, .running, .suspended, .dying: return actions
    }
  }

  private mutating func reportedAbsent(_ address: Address, _ isSameAgent: Bool, _ now: Date) -> [Action] {
    processes[address]?.listed = nil
    guard var process = processes[address] else { return [] }
    if let instance = process.instance {
      // A new agent has no record of the children that ended with the old one. The same agent redelivers the exit; an
      // instance that its lists still lack after a pause ended with an agent before it, whose reply arrived late.
      guard isSameAgent else { return exited(address, instance, .lostWithAgent, now) }
      guard process.missing != instance else {
        return process.isPausing ? [] : exited(address, instance, .lostWithAgent, now)
      }
      processes[address]?.missing = instance
      processes[address]?.isPausing = true
      return [.pause(address)]
    }
    guard process.state == .launching else { return [] }
    if process.isAsking {
      processes[address]?.isListStale = true
      return []
    }
    process.state = .absent
    process.why = "was not started"
    process.isPausing = true
    processes[address] = process
    return [changed(address, process), .pause(address)]
  }
}

// Instances that the system ends with SIGKILL.

extension LaunchStateMachine {
  /// - Parameter isFailure: whether the next launch is delayed, longer after each consecutive failure.
  mutating func evict(
    _ address: Address, _ generation: UInt32, _ why: String, isFailure: Bool = false
  ) -> [Action] {
    guard var process = processes[address], process.instance?.generation == generation, process.state != .dying else {
      return []
    }
    process.state = .dying
    process.why = why
    process.failures = isFailure ? process.failures + 1 : 0
    process.endAssertionsOfInstance()
    processes[address] = process
    return [changed(address, process), .signal(address, generation: generation, signal: SIGKILL)]
  }

  /// Ends the instance, or the one that is being spawned.
  mutating func evict(_ address: Address, _ why: String) -> [Action] {
    if let instance = processes[address]?.instance { return evict(address, instance.generation, why) }
    if processes[address]?.state == .launching { processes[address]?.whyToEndAtSpawn = why }
    return []
  }
}

// The end of extensions that have been suspended for long.

extension LaunchStateMachine {
  /// When the system ends a suspended process without an assertion; `nil`: never, or not known yet.
  func idleEnd(_ address: Address, _ process: Process) -> Date? {
    guard endIdleAfter > 0, address.role == .widgetExtension else { return nil }
    return process.suspendedAt?.addingTimeInterval(endIdleAfter)
  }

  /// Ends a suspended process without an assertion, if its time is over. After a host restart, the time begins again.
  func endIdle(_ address: Address, _ process: inout Process, _ now: Date) -> [Action] {
    if process.suspendedAt == nil { process.suspendedAt = now }
    guard let instance = process.instance, let end = idleEnd(address, process), end <= now else { return [] }
    process.state = .dying
    process.why = "idle for \(endIdleAfter.formatted()) s"
    process.endAssertionsOfInstance()
    return [changed(address, process), .signal(address, generation: instance.generation, signal: SIGKILL)]
  }
}
