package import Conversations
import Foundation
package import GRDB
package import MessageBus
package import Timekeeping

/// The keeper of Launching: it keeps the processes of a device alive for as long as somebody says why.
///
/// Every event is recorded in the database before its answers are performed, and before the caller goes on: an exit that
/// is acknowledged afterwards is not lost.
package actor Launcher {
  /// In the order in which it happened; one reader.
  package nonisolated let intents: Intents<LaunchIntent>
  private nonisolated let executor = RoomExecutor("launching")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private let programs: [Address: Program]
  private let store: LaunchStore
  private let bus: any BusConnection
  private let clock: any DeviceClock
  private var decision: LaunchDecision
  private var timer: (instant: Date, alarm: ClockAlarm)?
  /// Processes that are on their way from one state to another: the device's time waits for them when it is advanced.
  private var underWay: [Address: ClockWork] = [:]
  /// Who waits for the end of whom.
  private var mourners: [(addresses: [Address], continuation: CheckedContinuation<Void, Never>)] = []
  /// Who waits for the outcome of a launch.
  private var launching: [UUID: (address: Address, continuation: CheckedContinuation<Void, Never>)] = [:]
  /// Why the database cannot be written: from then on nothing is acknowledged and nothing is done.
  private var failure: BusError?
  /// Agents that are being asked for their children; `true` when they are to be asked again after that.
  private var listing: [Address: Bool] = [:]
  private let spawnLimit = Duration.seconds(20)
  private let signalLimit = Duration.seconds(5)

  /// Reads what the last life of the host knew.
  ///
  /// - Parameters:
  ///   - suspendAfter: how long a process without an assertion runs on, seconds.
  ///   - backoff: how long a process that ended before it was ready, or had too much memory, is left alone.
  /// - Throws: what the database says.
  package init(
    programs: [Program], database: any DatabaseWriter, bus: any BusConnection, clock: any DeviceClock,
    suspendAfter: Double, backoff: Backoff = Backoff(first: 1, limit: 60)
  ) throws {
    self.programs = Dictionary(programs.map { ($0.address, $0) }) { first, _ in first }
    self.store = try LaunchStore(database)
    self.bus = bus
    self.clock = clock
    self.decision = LaunchDecision(
      agents: self.programs.mapValues(\.agent), processes: try store.processes(),
      incarnations: try store.incarnations(), suspendAfter: suspendAfter, backoff: backoff)
    self.intents = Intents(clock)
  }

  /// The agents that have not said yet what they hold.
  package var unheardAgents: [Address] {
    Set(programs.values.map(\.agent)).subtracting(decision.heard).sorted { $0.text < $1.text }
  }

  /// Asks every agent what it holds; answers come when they come. The bus must have been started.
  package func begin() {
    for agent in unheardAgents { list(agent) }
  }

  /// Have this process run, and keep it running, until `release`. An `awake` intent follows when it runs.
  package func want(_ address: Address, because assertion: Assertion) { take(.wanted(address, assertion)) }

  /// One reason less to keep the process running.
  package func release(_ address: Address, because assertion: Assertion) { take(.released(address, assertion)) }

  /// One reason less, and when it was the last the process is suspended at once, in the middle of what it does.
  package func halt(_ address: Address, because assertion: Assertion) { take(.halted(address, assertion)) }

  /// Ends a life with `SIGKILL`; it may be woken again.
  package func evict(_ address: Address, generation: UInt32, why: String) {
    take(.evicted(address, generation: generation, why: why))
  }

  /// A person ends the app: with `SIGKILL`, and it is not started before a person opens it. Recorded when this returns,
  /// over the host's death.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func quit(_ app: Address) throws(BusError) { try record(.quit(app)) }

  /// Whether a person ended the app and nobody opened it since.
  package func isQuit(_ app: Address) -> Bool { decision.processes[app]?.isQuit ?? false }

  /// Keeps processes from being started until `letGo`, in this life of the host, and ends those that live.
  package func holdBack(_ addresses: [Address], why: String) {
    for address in addresses { take(.heldBack(address, why: why)) }
  }

  /// Returns when none of these lives, by the word of their agents. They must have been held back.
  package func ended(_ addresses: [Address]) async {
    guard !addresses.allSatisfy(decision.isOver) else { return }
    await withCheckedContinuation { mourners.append((addresses, $0)) }
  }

  /// They may be started again.
  package func letGo(_ addresses: [Address]) { for address in addresses { take(.letGo(address)) } }

  /// The child said that its code is in place. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func ready(_ address: Address, generation: UInt32) throws(BusError) {
    try record(.ready(address, generation: generation))
  }

  /// The agent said that a child ended. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded; the agent says it again.
  package func exited(_ event: ProcessExited) throws(BusError) {
    let report = [event.executable, event.lastWords].compactMap(\.self).joined(separator: ": ")
    try record(
      .exited(
        event.address, Life(generation: event.generation, pid: event.pid), event.ending,
        report: report.isEmpty ? nil : report))
  }

  /// The agent said that a child has more memory than it may have: its life is ended. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded; the agent says it again.
  package func exceededMemory(_ event: MemoryExceeded) throws(BusError) {
    let life = Life(generation: event.generation, pid: event.pid)
    try record(.exceededMemory(event.address, life, why: event.description))
  }

  /// An agent said what it holds. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded; the agent says it again.
  package func started(_ event: AgentStarted, agent: Address) throws(BusError) {
    try record(.agentReported(agent, incarnation: event.incarnation, children: event.children))
  }

  /// An agent came to the bus.
  package func agentCame(_ agent: Address) {
    if programs.values.contains(where: { $0.agent == agent }) { list(agent) }
  }

  /// Whether a person has the app in front.
  package func isInFront(_ app: Address) -> Bool {
    decision.processes[app]?.assertions.contains(.foreground) ?? false
  }

  /// Which life of this address runs unsuspended, if one does.
  package func awakeLife(of address: Address) -> Life? {
    decision.processes[address].flatMap { $0.state == .running ? $0.life : nil }
  }

  /// Why the last launch of a process failed, if no other one succeeded since.
  package func launchFailure(of address: Address) -> BusError? { decision.processes[address]?.launchFailure }

  /// Tries a launch that failed again, if the process is wanted, and returns when none is under way.
  ///
  /// - Parameter limit: a launch that takes longer is not waited for any longer; of the machine's time.
  /// - Returns: why the launch failed; `nil` when it did not, or has no outcome yet.
  package func launchOutcome(of address: Address, within limit: Duration) async -> BusError? {
    take(.tryAgain(address))
    guard isBeingLaunched(address) else { return launchFailure(of: address) }
    let id = UUID()
    let impatience = Task {
      try await Task.sleep(for: limit)
      launching.removeValue(forKey: id)?.continuation.resume()
    }
    await withCheckedContinuation { launching[id] = (address, $0) }
    impatience.cancel()
    return isBeingLaunched(address) ? nil : launchFailure(of: address)
  }

  private func isBeingLaunched(_ address: Address) -> Bool {
    failure == nil && decision.isLaunchPending(address)
  }

  /// What `ps` prints.
  package var status: [DeviceStatus.Process] {
    decision.processes.sorted { $0.key.text < $1.key.text }.map { address, process in
      DeviceStatus.Process(
        address: address, generation: process.life?.generation ?? process.lastGeneration, pid: process.life?.pid,
        state: process.state.rawValue, why: why(process), lastEnding: process.lastEnding)
    }
  }

  private func why(_ process: LaunchDecision.Process) -> String {
    if process.isQuit { return "ended by a person; not started before a person opens it" }
    // What is wanted and does not run: there is a reason, and it matters more.
    if process.state == .dying || process.state == .absent && process.notBefore != nil { return process.why }
    return process.assertions.isEmpty
      ? process.why : process.assertions.sorted().map(\.description).joined(separator: ", ")
  }

  // MARK: Performing

  /// Takes what somebody else forgets as soon as it is acknowledged.
  private func record(_ event: LaunchDecision.Event) throws(BusError) {
    take(event)
    if let failure { throw failure }
  }

  private func take(_ event: LaunchDecision.Event) {
    guard failure == nil else { return }
    let before = decision
    let answers = decision.take(event, now: clock.now)
    do {
      try store.save(decision, since: before)
    } catch {
      let reason = "the lives of the processes cannot be written: \(error)"
      failure = BusError(.failed, reason, isDefinite: false)
      intents.yield(.broken(reason))
      return resumeLaunchWaiters()
    }
    for answer in answers { perform(answer) }
    noteUnderWay()
    setTimer()
    for mourner in mourners where mourner.addresses.allSatisfy(decision.isOver) { mourner.continuation.resume() }
    mourners.removeAll { $0.addresses.allSatisfy(decision.isOver) }
    resumeLaunchWaiters()
  }

  private func resumeLaunchWaiters() {
    for (id, waiter) in launching where !isBeingLaunched(waiter.address) {
      launching[id] = nil
      waiter.continuation.resume()
    }
  }

  private func noteUnderWay() {
    for (address, process) in decision.processes {
      if process.isUnderWay {
        if underWay[address] == nil { underWay[address] = clock.beginWork() }
      } else if let work = underWay.removeValue(forKey: address) {
        clock.endWork(work)
      }
    }
  }

  private func perform(_ answer: LaunchDecision.Answer) {
    switch answer {
    case .spawn(let address, let reason): spawn(address, reason)
    case .signal(let address, let generation, let signal): send(signal, to: address, generation)
    case .list(let agent): list(agent)
    case .pause(let address): pause(address)
    case .intent(let intent): intents.yield(intent)
    case .changed(let state): bus.record(state)
    }
  }

  private func spawn(_ address: Address, _ reason: String) {
    guard let program = programs[address] else { return }
    Task {
      do throws(BusError) {
        let request = SpawnProcess(
          address: address, executable: program.executable, environment: try environment(of: program),
          container: program.container(), groups: program.groups, memory: program.memory, rules: program.rules,
          reason: reason)
        let reply = try await bus.request(request, to: program.agent, within: spawnLimit)
        take(.spawned(address, Life(generation: reply.generation, pid: reply.pid)))
      } catch {
        take(.spawnFailed(address, error))
      }
    }
  }

  private func environment(of program: Program) throws(BusError) -> [String: String] {
    do {
      return try program.environment()
    } catch {
      throw BusError(.environment, "the environment of \(program.address) cannot be made: \(error)")
    }
  }

  private func send(_ signal: Int32, to address: Address, _ generation: UInt32) {
    guard let agent = programs[address]?.agent else { return }
    Task {
      do throws(BusError) {
        _ = try await bus.request(
          SignalProcess(address: address, generation: generation, signal: signal), to: agent, within: signalLimit)
        take(.signalled(address, generation: generation, signal: signal))
      } catch {
        take(.signalFailed(address, generation: generation, signal: signal, error))
      }
    }
  }

  private func pause(_ address: Address) {
    Task {
      // After what an agent could not do. Of the machine's time: a held device clock does not mean the agent.
      try? await Task.sleep(for: .seconds(1))
      take(.pauseEnded(address))
    }
  }

  private func list(_ agent: Address) {
    guard listing[agent] == nil else {
      listing[agent] = true
      return
    }
    listing[agent] = false
    Task {
      repeat {
        listing[agent] = false
        guard let reply = await children(of: agent) else { break }
        take(.agentReported(agent, incarnation: reply.incarnation, children: reply.children))
      } while listing[agent] == true
      listing[agent] = nil
    }
  }

  /// Asks until the agent answers; `nil` when this host has left the bus.
  private func children(of agent: Address) async -> ListProcesses.Reply? {
    while true {
      do throws(BusError) {
        return try await bus.request(
          ListProcesses(), to: agent, within: .seconds(5), whenUnreachable: .wait)
      } catch {
        guard error.code != .closed, error.code != .refused else { return nil }
        // Of the machine's time: a person who holds the device's does not mean the agent.
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  private func setTimer() {
    // One that has gone off and was not heard yet is heard next, and sets another.
    if let timer, timer.instant <= clock.now { return }
    let instant = decision.nextInstant(after: clock.now)
    guard instant != timer?.instant else { return }
    timer?.alarm.cancel()
    timer = instant.map { instant in
      (instant, clock.alarm(at: instant) { [weak self] in await self?.timerFired(instant) })
    }
  }

  private func timerFired(_ instant: Date) {
    guard timer?.instant == instant else { return }
    timer = nil
    take(.instantCame)
  }
}

extension BusError.Code {
  /// The environment of a process to be started cannot be made, since something that it names is not known yet.
  package static let environment = BusError.Code("environment-unknown")
}
