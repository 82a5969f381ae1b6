// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
import Glibc
package import Messages

/// The launch state machine with one extension, its agent, and a user whose wishes change.
package struct LaunchModel: Model {
  package typealias Machine = LaunchStateMachine

  package struct State: Hashable, Sendable {
    package var machine: Machine
    /// As the next host reads it, if the last changes were not on the disk.
    var disk: Machine.Process
    var diskIncarnation: UUID?
    package var agent: AgentEnvironment
    var now = 0.0
    /// The next host wants the process.
    var isWantedAgain = false
    /// How often the wish of the user may still change.
    var wishes: Int8
    /// How often something may still end the process by `SIGKILL`.
    var evictions: Int8
    /// An exit or a list arrived during a launch: it may be about the instance which is being launched, so the next
    /// launch may begin before the reply.
    var hasNewsDuringLaunch = false
    var objection: String?
  }

  package enum Action: Hashable, Sendable, CustomStringConvertible {
    case agent(AgentEnvironment.Action)
    case wants, releases, evicts

    package var description: String {
      switch self {
      case .agent(let action): action.description
      case .wants: "the process is wanted"
      case .releases: "the process is not wanted any more"
      case .evicts: "the device ends the process"
      }
    }
  }

  package static let address = Address.widgetExtension("p", "a")
  private static let assertion: Assertion = "timeline"
  private static let agents = [address: AgentEnvironment.agent]
  private static let backoff = Backoff(first: 1, limit: 2)

  package let name: String
  package let about: String
  private let faults: LaunchFaults
  private let wishes: Int8
  private let evictions: Int8
  private let listsOnConnection: Bool
  /// Whether a suspended process without a wish is ended. Apps are not.
  private let endsIdle: Bool

  package init(
    _ name: String = "launching", about: String, wishes: Int8 = 2, evictions: Int8 = 0, listsOnConnection: Bool = true,
    endsIdle: Bool = true, _ faults: LaunchFaults
  ) {
    self.name = name
    self.about = about
    self.wishes = wishes
    self.evictions = evictions
    self.listsOnConnection = listsOnConnection
    self.endsIdle = endsIdle
    self.faults = faults
  }

  private func machine(_ processes: [Address: Machine.Process], _ incarnations: [Address: UUID]) -> Machine {
    Machine(
      agents: Self.agents, processes: processes, incarnations: incarnations, suspendAfter: 1,
      endIdleAfter: endsIdle ? 3 : 0, backoff: Self.backoff)
  }

  package var initialState: State {
    var state = State(
      machine: machine([:], [:]), disk: Machine.Process(),
      agent: AgentEnvironment(listsOnConnection: listsOnConnection, faults), wishes: wishes, evictions: evictions)
    _ = state.agent.apply(.hostStarts, Self.address)
    return state
  }

  package func isProgress(_ action: Action) -> Bool {
    switch action {
    case .agent(let action): AgentEnvironment.isProgress(action)
    case .wants, .releases, .evicts: false
    }
  }

  package func actions(in state: State) -> [Action] {
    var agent: [AgentEnvironment.Action] = []
    state.agent.actions(nextInstant: state.machine.nextInstant(after: state.date), into: &agent)
    var actions = agent.map(Action.agent)
    if state.agent.isHostUp {
      if state.wishes > 0 { actions.append(state.isWanted ? .releases : .wants) }
      if state.evictions > 0, state.process.state == .running { actions.append(.evicts) }
    }
    return actions
  }

  package func next(_ state: State, _ action: Action, _ log: inout Log) -> State {
    var state = state
    switch action {
    case .wants:
      state.wishes -= 1
      handle(.process(.want(Self.address, because: Self.assertion)), &state, &log)
    case .releases:
      state.wishes -= 1
      handle(.process(.release(Self.address, because: Self.assertion)), &state, &log)
    case .evicts:
      state.evictions -= 1
      handle(.process(.evict(Self.address, why: "test")), &state, &log)
    case .agent(.timerFires):
      if let instant = state.machine.nextInstant(after: state.date) {
        state.now = max(state.now, instant.timeIntervalSinceReferenceDate)
      }
      handle(.timerFired, &state, &log)
    case .agent(.hostExits(let forgetting)):
      _ = state.agent.apply(.hostExits(forgetting: forgetting), Self.address)
      state.isWantedAgain = state.isWanted || state.isWantedAgain
      let process = forgetting ? state.disk : Self.row(state.process)
      let incarnations = forgetting ? state.diskIncarnation : state.machine.incarnations[AgentEnvironment.agent]
      state.machine = machine(
        [Self.address: process], incarnations.map { [AgentEnvironment.agent: $0] } ?? [:])
      state.disk = process
      state.diskIncarnation = incarnations
    case .agent(.hostStarts):
      _ = state.agent.apply(.hostStarts, Self.address)
      // What wants the process is stored by its own concern, which wants it again.
      if state.isWantedAgain { handle(.process(.want(Self.address, because: Self.assertion)), &state, &log) }
      state.isWantedAgain = false
    case .agent(let action):
      if let event = state.agent.apply(action, Self.address) { handle(event, &state, &log) }
    }
    return state
  }

  private func handle(_ event: Machine.Event, _ state: inout State, _ log: inout Log) {
    log.add("event   \(event)")
    let wasAsking = state.process.isAsking
    let actions = state.machine.handle(event, now: state.date)
    if state.agent.isSpawnAwaited, wasAsking && !state.process.isAsking || actions.contains(where: \.isOfEnd) {
      state.hasNewsDuringLaunch = true
    }
    for action in actions {
      log.add("action  \(action)")
      check(action, &state)
      state.agent.perform(action)
    }
    if !state.agent.isSpawnAwaited { state.hasNewsDuringLaunch = false }
    save(&state)
  }

  /// `LaunchStore.save`: what describes more than the running instance is lasting, and takes the rest with it.
  private func save(_ state: inout State) {
    let (row, disk) = (Self.row(state.process), state.disk)
    let incarnation = state.machine.incarnations[AgentEnvironment.agent]
    let isLasting =
      row.lastGeneration != disk.lastGeneration || row.lastEnding != disk.lastEnding || row.failures != disk.failures
      || incarnation != state.diskIncarnation
    // A launch rides with the next transaction: the agent lists what it launches.
    guard isLasting || row.state != .launching else { return }
    state.disk = row
    state.diskIncarnation = incarnation
  }

  /// Its row, without the text that no decision depends on.
  static func row(_ process: Machine.Process) -> Machine.Process {
    var row = process.row
    row.why = Machine.Process().why
    return row
  }

  private func check(_ action: Machine.Action, _ state: inout State) {
    switch action {
    case .spawn:
      if state.agent.isSpawnAwaited, !state.hasNewsDuringLaunch {
        state.objection = "a second launch is requested while one is in progress"
      }
    case .asks(.awake(_, let instance, _, _)):
      if instance.generation >= state.agent.nextGeneration,
        state.agent.faults.losesGenerations == faults.losesGenerations
      {
        state.objection = "an instance that never ran is awake"
      }
      if state.process.state != .running { state.objection = "a process is awake that does not run" }
    case .signal(_, let generation, let signal):
      if signal == SIGSTOP, state.isWanted { state.objection = "a wanted process is stopped" }
      if state.process.instance?.generation != generation { state.objection = "a signal to an unknown instance" }
    case .asks, .list, .pause, .changed: break
    }
  }

  package var properties: [Property<State>] {
    var properties: [Property<State>] = [
      .always("a launch is requested once at a time, and no wanted process is stopped") { $0.objection == nil },
      .eventually("a wanted process runs") { $0.isQuiet && (!$0.isWanted || $0.runs) },
      .eventually("a process that is not wanted does not run") {
        $0.isQuiet && ($0.isWanted || $0.isSuspendedOrAbsent)
      },
      .sometimes("a process runs that the host does not know") {
        $0.agent.child != nil && $0.agent.isHostUp && $0.process.instance == nil && !$0.agent.isSpawnAwaited
      },
      .sometimes("the host waits for a process that has ended") {
        $0.process.state == .running && $0.agent.child == nil
      },
    ]
    if wishes > 2 {
      properties.append(
        .sometimes("a suspended process is wanted") { $0.process.state == .suspended && $0.isWanted })
    }
    return properties
  }

  /// Dates from now, and without texts, which no decision depends on.
  package func representative(of state: State) -> State {
    var state = state
    let now = state.date
    state.now = 0
    state.machine.processes[Self.address].map { process in
      var process = process
      process.why = ""
      process.failures = min(process.failures, 3)
      process.launchFailure = nil
      func rebase(_ date: Date?, _ least: Double) -> Date? {
        date.map { Date(timeIntervalSinceReferenceDate: max($0.timeIntervalSince(now), least)) }
      }
      process.notBefore = process.notBefore.flatMap { $0 > now ? rebase($0, 0) : nil }
      process.idleSince = rebase(process.idleSince, -1)
      process.suspendedAt = rebase(process.suspendedAt, -3)
      process.lastEnding = nil
      state.machine.processes[Self.address] = process
    }
    state.disk.failures = min(state.disk.failures, 3)
    state.disk.lastEnding = nil
    return state
  }
}

extension AgentEnvironment {
  /// Whether the host waits for the reply to a spawn.
  var isSpawnAwaited: Bool {
    toAgent.contains { $0.isAwaited && $0.request == .spawn } || spawning?.isAwaited == true
      || unanswered.contains(.spawn)
      || toHost.contains {
        switch $0.report {
        case .spawned, .refused: true
        case .signalled, .noInstance, .children, .exited, .started: false
        }
      }
  }
}

extension LaunchStateMachine.Action {
  /// Whether an instance has ended.
  fileprivate var isOfEnd: Bool {
    if case .asks(.ended) = self { true } else { false }
  }
}

extension LaunchModel.State {
  var date: Date { Date(timeIntervalSinceReferenceDate: now) }
  package var process: LaunchStateMachine.Process {
    machine.processes[LaunchModel.address] ?? LaunchStateMachine.Process()
  }
  var isWanted: Bool { !process.assertions.isEmpty }

  /// Nothing is on its way, and the host waits for no reply.
  var isQuiet: Bool { agent.isQuiet && !process.isAsking && !process.isPausing }

  var runs: Bool {
    process.state == .running && agent.child.map { !$0.isStopped && $0.instance == process.instance } ?? false
  }

  var isSuspendedOrAbsent: Bool {
    guard let child = agent.child else { return process.state == .absent }
    return child.isStopped && process.state == .suspended && child.instance == process.instance
  }
}
