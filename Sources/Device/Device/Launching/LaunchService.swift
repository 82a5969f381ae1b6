// SPDX-License-Identifier: Apache-2.0

package import Archive
package import DeviceRules
import GRDB
package import MessageBus
package import Messages
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

  package nonisolated let concerns: Set<DeviceConcern> = [.launching]
  nonisolated let core: DeviceCore
  private let programs: [Address: Program]
  private let store: LaunchStore
  /// As the database has it.
  private var storedStateMachine: LaunchStateMachine
  private let bus: any BusConnection
  private let clock: any ControllableClock
  /// Processes that change their state. An advance of the device's clock waits for them.
  private var underWay: [Address: ClockWork] = [:]
  /// Callers that wait for the outcome of a launch.
  private let launching = Waiters<Address>()
  /// Agents whose list of children was requested; `true` when it must be requested once more after that.
  private var listing: [Address: Bool] = [:]
  nonisolated let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
  private let spawnLimit = Duration.seconds(20)
  private let signalLimit = Duration.seconds(5)

  private struct Holder: Hashable {
    let address: Address
    let assertion: Assertion
  }
  /// How many operations keep a process running for one reason.
  private var holders: [Holder: Int] = [:]

  package nonisolated init(
    _ storedState: Stored, core: DeviceCore, bus: any BusConnection, clock: any ControllableClock
  ) {
    self.core = core
    self.programs = storedState.programs
    self.store = storedState.store
    self.storedStateMachine = storedState.stateMachine
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
    launching.resume()
    await tasks.end()
    for work in underWay.values { clock.endWork(work) }
    underWay = [:]
  }

  /// Runs the process, and keeps it running until as many calls of `release`: operations share the name of a reason.
  ///
  /// - Parameter mayWake: `false`: only if it runs already, and until its instance ends.
  /// - Returns: whether the process is kept running.
  @discardableResult
  package func want(_ address: Address, because assertion: Assertion, mayWake: Bool = true) -> Bool {
    holders[Holder(address: address, assertion: assertion), default: 0] += 1
    core.handle(.launching(.process(.want(address, because: assertion, mayWake: mayWake))))
    return stateMachine.processes[address]?.assertions.contains(assertion) ?? false
  }

  /// Ends one operation; the last one with its reason ends the assertion.
  package func release(_ address: Address, because assertion: Assertion) {
    let holder = Holder(address: address, assertion: assertion)
    let left = (holders[holder] ?? 1) - 1
    holders[holder] = left > 0 ? left : nil
    guard left == 0 else { return }
    core.handle(.launching(.process(.release(address, because: assertion))))
  }

  /// The agent reported that a child ended. Recorded when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded. The agent then redelivers the event.
  package func exited(_ event: ProcessExited) throws(BusError) {
    let report = [event.executable, event.outputTail].compactMap(\.self).joined(separator: ": ")
    try core.record(
      .launching(
        .exited(
          event.address, ProcessInstance(generation: event.generation, pid: event.pid), event.ending,
          report: report.isEmpty ? nil : report)))
  }

  /// An agent connected to the bus. Any thread.
  package nonisolated func agentConnected(_ agent: Address) {
    if programs.values.contains(where: { $0.agent == agent }) { tasks.start { [self] in await list(agent) } }
  }

  /// Retries a failed launch if the process is wanted, and returns when no launch is in progress.
  ///
  /// - Parameter limit: the longest time to wait for a launch, in machine time.
  /// - Returns: why the launch failed; `nil` when it did not fail or has no outcome yet.
  package func launchOutcome(of address: Address, within limit: Duration) async -> BusError? {
    handle(.tryAgain(address))
    if isBeingLaunched(address) { for await _ in launching.stream(until: address, within: limit) {} }
    return isBeingLaunched(address) ? nil : launchFailure(of: address)
  }

  private func isBeingLaunched(_ address: Address) -> Bool {
    core.failure == nil && stateMachine.isLaunchPending(address)
  }

  // MARK: Actions

  private func handle(_ event: LaunchStateMachine.Event) { core.handle(.launching(event)) }

  package func save(_ step: DeviceStep) throws {
    try store.save(stateMachine, since: storedStateMachine)
    storedStateMachine = stateMachine
  }

  package func settle() {
    noteUnderWay()
    launching.resume { !isBeingLaunched($0) }
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

  package func perform(_ action: DeviceAction) {
    guard case .launching(let action) = action else { return }
    switch action {
    case .spawn(let address, let reason):
      if let program = programs[address] { tasks.start { [self] in await request(program, reason) } }
    case .signal(let address, let generation, let signal): send(signal, to: address, generation)
    case .list(let agent): list(agent)
    case .pause(let address): pause(address)
    case .changed(let state): bus.record(state)
    case .asks: break
    }
  }

  private func request(_ program: Program, _ reason: String) async {
    let address = program.address
    do throws(BusError) {
      let reply = try await bus.request(try spawn(program, reason), to: program.agent, within: spawnLimit)
      handle(.spawned(address, ProcessInstance(generation: reply.generation, pid: reply.pid)))
    } catch {
      handle(.spawnFailed(address, error))
    }
  }

  private func spawn(_ program: Program, _ reason: String) throws(BusError) -> SpawnProcess {
    do {
      var request = try program.spawn(core.state.settings.settings, reason)
      if core.state.launching.isInFront(program.address) {
        request.environment[LaunchVariables.launch] = LaunchVariables.foreground
      }
      return request
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

// What the rest of the host may ask about the processes.

extension LaunchService {
  /// The apps that the user force-quit and has not opened since.
  package var quitApps: [Address] {
    stateMachine.processes.filter(\.value.isQuit).keys.sorted { $0.text < $1.text }
  }

  /// The generations of the instances that run and are not suspended.
  package var runningInstances: [Address: UInt32] {
    stateMachine.processes.compactMapValues { $0.state == .running ? $0.instance?.generation : nil }
  }

  /// The generations of the instances that are suspended.
  package var suspendedInstances: [Address: UInt32] {
    stateMachine.processes.compactMapValues { $0.state == .suspended ? $0.instance?.generation : nil }
  }

  /// Why the last launch of a process failed, unless another one has succeeded since.
  package func launchFailure(of address: Address) -> BusError? { stateMachine.processes[address]?.launchFailure }

  /// The rows of `ps`.
  package var status: [DeviceStatus.Process] {
    stateMachine.processes.sorted { $0.key.text < $1.key.text }.map { address, process in
      DeviceStatus.Process(
        address: address, generation: process.instance?.generation ?? process.lastGeneration,
        pid: process.instance?.pid,
        state: process.state.rawValue, why: why(process), lastEnding: process.lastEnding)
    }
  }

  private func why(_ process: LaunchStateMachine.Process) -> String {
    if process.isQuit {
      return "force-quit by the user; not launched until the user opens it, or touches a button, toggle or control "
        + "whose intent it performs"
    }
    // For a process that is wanted and does not run, the reason matters more than the assertions.
    if process.state == .dying || process.state == .absent && process.notBefore != nil { return process.why }
    return process.assertions.isEmpty
      ? process.why : process.assertions.sorted().map(\.description).joined(separator: ", ")
  }
}

/// What is needed to launch one process.
package struct Program: Sendable {
  package let address: Address
  /// The agent in whose container it runs.
  package let agent: Address
  /// The request, for each launch: parts of the environment change, and an update moves the container. An error is the
  /// recorded reason why the process could not be started.
  package let spawn: @Sendable (DeviceSettings, _ reason: String) throws -> SpawnProcess

  package init(
    address: Address, agent: Address,
    spawn: @escaping @Sendable (DeviceSettings, _ reason: String) throws -> SpawnProcess
  ) {
    self.address = address
    self.agent = agent
    self.spawn = spawn
  }
}
