// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
import GRDB
package import MessageBus
package import Messages
import OwnedTasks
package import Stores
package import Timekeeping

/// The launch service: keeps each process of a device running while it has an assertion.
///
/// Every event is written to the database before its actions are performed and before the caller continues, so an exit
/// is not lost once it is acknowledged.
@DeviceActor package final class LaunchService: DevicePart {
  /// What the previous host wrote.
  package struct Stored: Sendable {
    package let stateMachine: LaunchStateMachine
    fileprivate let programs: [Address: Program]
    fileprivate let store: LaunchStore

    /// - Parameters:
    ///   - suspendAfter: how long a process without an assertion keeps running, in seconds.
    ///   - endIdleAfter: how long a suspended extension without an assertion exists, in seconds; 0 for no limit.
    ///   - backoff: the pause after a process ended before it was ready or exceeded its memory limit.
    /// - Throws: database errors.
    package init(
      _ programs: [Program], _ transactions: DeviceTransactions, suspendAfter: Double, endIdleAfter: Double = 0,
      backoff: Backoff = Backoff(first: 1, limit: 60)
    ) throws {
      let programs = Dictionary(programs.map { ($0.address, $0) }) { first, _ in first }
      self.programs = programs
      store = try LaunchStore(transactions)
      // A product that was removed has no process. Its row stays, because a generation is never used again.
      let processes = try store.processes().filter { programs[$0.key] != nil }
      stateMachine = LaunchStateMachine(
        agents: programs.mapValues(\.agent), processes: processes, incarnations: try store.incarnations(),
        suspendAfter: suspendAfter, endIdleAfter: endIdleAfter, backoff: backoff)
    }
  }

  nonisolated let concerns: Set<DeviceConcern> = [.launching]
  nonisolated let core: DeviceCore
  private let programs: [Address: Program]
  private let store: LaunchStore
  /// As the database has it.
  private var stored: LaunchStateMachine
  private let bus: any BusConnection
  private let clock: any ControllableClock
  /// Processes that change their state. An advance of the device's clock waits for them.
  private var underWay: [Address: ClockWork] = [:]
  /// Continuations that are resumed with the outcome of a launch.
  private var launching: [UUID: (address: Address, continuation: CheckedContinuation<Void, Never>)] = [:]
  /// Agents whose list of children was requested; `true` when it must be requested once more after that.
  private var listing: [Address: Bool] = [:]
  private nonisolated let tasks: TaskOwner
  private let spawnLimit = Duration.seconds(20)
  private let signalLimit = Duration.seconds(5)

  package nonisolated init(
    _ stored: Stored, core: DeviceCore, bus: any BusConnection, clock: any ControllableClock
  ) {
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.core = core
    self.programs = stored.programs
    self.store = stored.store
    self.stored = stored.stateMachine
    self.bus = bus
    self.clock = clock
  }

  var stateMachine: LaunchStateMachine { core.state.launching }

  /// The agents that have not reported their children yet.
  package var silentAgents: [Address] {
    Set(programs.values.map(\.agent)).subtracting(stateMachine.reportedAgents).sorted { $0.text < $1.text }
  }

  /// Requests the children of every agent. Does not wait for the replies. The bus must have been started.
  package func begin() {
    for agent in silentAgents { list(agent) }
  }

  /// Stops the requests that are in progress, and resumes the callers of `launchOutcome`. No later event is handled: the
  /// next host receives it again. Must be the last call.
  package func leave() async {
    core.stop()
    resumeLaunchWaiters()
    await tasks.end()
    for work in underWay.values { clock.endWork(work) }
    underWay = [:]
  }

  /// The number of tasks that have not ended.
  var runningTasks: Int { tasks.count }

  /// Runs the process, and keeps it running until `release`.
  ///
  /// - Parameter mayWake: `false`: only if it runs already, and until its instance ends.
  /// - Returns: whether the process is kept running.
  @discardableResult
  package func want(_ address: Address, because assertion: Assertion, mayWake: Bool = true) -> Bool {
    core.handle(.launching(.wanted(address, assertion, mayWake: mayWake)))
    return stateMachine.processes[address]?.assertions.contains(assertion) ?? false
  }

  /// Ends one assertion of the process.
  package func release(_ address: Address, because assertion: Assertion) {
    core.handle(.launching(.released(address, assertion)))
  }

  /// Ends every process with `SIGKILL`. They may be launched again.
  package func evictAll(why: String) { handle(.allEvicted(why: why)) }

  /// The user force-quits the app: ends it with `SIGKILL`. It is not launched until the user opens it, or touches a
  /// button, toggle or control whose intent it performs, also after a host restart. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func quit(_ app: Address) throws(BusError) { try record(.quit(app)) }

  /// The child reported that its code is in place. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func ready(_ address: Address, generation: UInt32) throws(BusError) {
    try record(.ready(address, generation: generation))
  }

  /// The agent reported that a child ended. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded. The agent then redelivers the event.
  package func exited(_ event: ProcessExited) throws(BusError) {
    let report = [event.executable, event.outputTail].compactMap(\.self).joined(separator: ": ")
    try record(
      .exited(
        event.address, ProcessInstance(generation: event.generation, pid: event.pid), event.ending,
        report: report.isEmpty ? nil : report))
  }

  /// The agent reported that a child exceeds its memory limit: the instance is ended. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded. The agent then redelivers the event.
  package func exceededMemory(_ event: MemoryExceeded) throws(BusError) {
    let instance = ProcessInstance(generation: event.generation, pid: event.pid)
    try record(.exceededMemory(event.address, instance, why: event.description))
  }

  /// The agent reported that a child was suspended while it held locks on files of an app group: the instance is ended.
  /// Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded. The agent then redelivers the event.
  package func heldLocks(_ event: LocksHeld) throws(BusError) {
    try record(.evicted(event.address, generation: event.generation, why: event.description))
  }

  /// An agent reported its children. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded. The agent then redelivers the event.
  package func started(_ event: AgentStarted, agent: Address) throws(BusError) {
    try record(.agentReported(agent, incarnation: event.incarnation, children: event.children))
  }

  /// An agent connected to the bus. Any thread.
  package nonisolated func agentConnected(_ agent: Address) {
    tasks.start { [self] in await listIfKnown(agent) }
  }

  private func listIfKnown(_ agent: Address) {
    if programs.values.contains(where: { $0.agent == agent }) { list(agent) }
  }

  /// Retries a failed launch if the process is wanted, and returns when no launch is in progress.
  ///
  /// - Parameter limit: the longest time to wait for a launch, in machine time.
  /// - Returns: why the launch failed; `nil` when it did not fail or has no outcome yet.
  package func launchOutcome(of address: Address, within limit: Duration) async -> BusError? {
    handle(.tryAgain(address))
    guard isBeingLaunched(address) else { return launchFailure(of: address) }
    let id = UUID()
    let timeLimit = tasks.start { [weak self] in
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      await self?.stopWaiting(id)
    }
    await withCheckedContinuation { continuation in
      if isBeingLaunched(address) { launching[id] = (address, continuation) } else { continuation.resume() }
    }
    timeLimit?.cancel()
    return isBeingLaunched(address) ? nil : launchFailure(of: address)
  }

  private func stopWaiting(_ id: UUID) { launching.removeValue(forKey: id)?.continuation.resume() }

  private func isBeingLaunched(_ address: Address) -> Bool {
    core.failure == nil && stateMachine.isLaunchPending(address)
  }

  // MARK: Actions

  private func record(_ event: LaunchStateMachine.Event) throws(BusError) { try core.record(.launching(event)) }

  private func handle(_ event: LaunchStateMachine.Event) { core.handle(.launching(event)) }

  func save(_ step: DeviceStep) throws {
    try store.save(stateMachine, since: stored)
    stored = stateMachine
  }

  func settle() {
    noteUnderWay()
    resumeLaunchWaiters()
  }

  private func resumeLaunchWaiters() {
    for (id, waiter) in launching where !isBeingLaunched(waiter.address) {
      launching[id] = nil
      waiter.continuation.resume()
    }
  }

  private func noteUnderWay() {
    for (address, process) in stateMachine.processes {
      if process.isUnderWay {
        if underWay[address] == nil { underWay[address] = clock.beginWork() }
      } else if let work = underWay.removeValue(forKey: address) {
        clock.endWork(work)
      }
    }
  }

  func perform(_ action: LaunchStateMachine.Action) {
    switch action {
    case .spawn(let address, let reason): spawn(address, reason)
    case .signal(let address, let generation, let signal): send(signal, to: address, generation)
    case .list(let agent): list(agent)
    case .pause(let address): pause(address)
    case .changed(let state): bus.record(state)
    case .output: break
    }
  }

  private func spawn(_ address: Address, _ reason: String) {
    guard let program = programs[address] else { return }
    tasks.start { [self] in await request(program, reason) }
  }

  private func request(_ program: Program, _ reason: String) async {
    let address = program.address
    do throws(BusError) {
      let request = SpawnProcess(
        address: address, executable: program.executable, environment: try environment(of: program),
        container: program.container(), groups: program.groups, memory: program.memory, rules: program.rules,
        reason: reason)
      let reply = try await bus.request(request, to: program.agent, within: spawnLimit)
      handle(.spawned(address, ProcessInstance(generation: reply.generation, pid: reply.pid)))
    } catch {
      handle(.spawnFailed(address, error))
    }
  }

  private func environment(of program: Program) throws(BusError) -> [String: String] {
    do {
      return try program.environment(core.state.settings.settings)
    } catch {
      throw BusError(.environment, "the environment of \(program.address) cannot be built: \(error)")
    }
  }

  private func send(_ signal: Int32, to address: Address, _ generation: UInt32) {
    guard let agent = programs[address]?.agent else { return }
    tasks.start { [self] in
      await request(SignalProcess(address: address, generation: generation, signal: signal), generation, of: agent)
    }
  }

  private func request(_ request: SignalProcess, _ generation: UInt32, of agent: Address) async {
    let (address, signal) = (request.address, request.signal)
    do throws(BusError) {
      _ = try await bus.request(request, to: agent, within: signalLimit)
      handle(.signalled(address, generation: generation, signal: signal))
    } catch {
      handle(.signalFailed(address, generation: generation, signal: signal, error))
    }
  }

  private func pause(_ address: Address) {
    tasks.start { [self] in
      // Machine time: a held device clock must not delay requests to the agent.
      guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      await handle(.pauseEnded(address))
    }
  }

  private func list(_ agent: Address) {
    guard listing[agent] == nil else {
      listing[agent] = true
      return
    }
    listing[agent] = false
    tasks.start { [self] in await requestChildren(of: agent) }
  }

  private func requestChildren(of agent: Address) async {
    repeat {
      listing[agent] = false
      guard let reply = await children(of: agent) else { break }
      handle(.agentReported(agent, incarnation: reply.incarnation, children: reply.children))
    } while listing[agent] == true
    listing[agent] = nil
  }

  /// Repeats the request until the agent replies; `nil` when this host has left the bus.
  private func children(of agent: Address) async -> ListProcesses.Reply? {
    while core.failure == nil {
      do throws(BusError) {
        return try await bus.request(
          ListProcesses(), to: agent, within: .seconds(5), whenUnreachable: .wait)
      } catch {
        guard error.code != .closed, error.code != .refused else { return nil }
        // Machine time: a held device clock must not delay requests to the agent.
        try? await Task.sleep(for: .seconds(1))
      }
    }
    return nil
  }
}

extension BusError.Code {
  /// The environment of a process cannot be built, because something that it refers to is not known yet.
  package static let environment = BusError.Code("environment-unknown")
}
