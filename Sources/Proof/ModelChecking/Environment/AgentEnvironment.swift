// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
package import Foundation
import Glibc
package import Messages

/// How often the environment of the launch state machine may fail, and how.
package struct LaunchFaults: Hashable, Sendable {
  /// The process exits by itself.
  package var crashes: Int8 = 0
  /// The agent ends with its children, and returns with another incarnation. Source: prctl(2),
  /// `PR_SET_PDEATHSIG`; decisions/0003-spawning.md.
  package var agentExits: Int8 = 0
  /// The host ends, and the next one has what is on the disk.
  package var hostExits: Int8 = 0
  /// The deadline of a request passes before its reply arrives: indefinite. The request may still be carried out.
  package var deadlines: Int8 = 0
  /// A request is lost on its way: its connection ended. Its deadline passes.
  package var losses: Int8 = 0
  /// An acknowledgement is lost, so the event is sent again. Source: protocol.md, *Kinds*.
  package var repetitions: Int8 = 0
  /// A report is handled after the next one, because each is handled by a task.
  package var overtakings: Int8 = 0
  /// The bus forgets which generations it gave: the end of the journal was lost.
  package var losesGenerations: Int8 = 0
  /// The agent cannot start the process.
  package var refusals: Int8 = 0

  package init(_ set: (inout LaunchFaults) -> Void = { _ in }) { set(&self) }
}

/// The agent with one child, the bus between it and the host, and the host's launch service.
///
/// The agent is the source of what runs (architecture.md). Messages of one connection are in order; an event is sent
/// again until it is acknowledged; a request has a definite or an indefinite failure (protocol.md). The service
/// requests a list when it starts and, with `listsOnConnection`, on each connection of the agent
/// (`LaunchService.agentConnected`).
package struct AgentEnvironment: Hashable, Sendable {
  package struct Child: Hashable, Sendable {
    package var generation: UInt32
    package var pid: Int32
    package var isStopped = false
    /// Its request `process.ready` was answered.
    package var isReady = false
    /// It was sent `SIGKILL`.
    package var isEnding = false

    var instance: ProcessInstance { ProcessInstance(generation: generation, pid: pid) }
  }

  package enum Request: Hashable, Sendable {
    case spawn
    case signal(UInt32, Int32)
    case list
  }

  package struct Sent: Hashable, Sendable {
    package var request: Request
    /// The host waits for the reply.
    package var isAwaited = true
    /// Another host sent it.
    package var isOfFormerHost = false
  }

  package enum Report: Hashable, Sendable {
    case spawned(ProcessInstance)
    case refused(Refusal)
    case signalled(UInt32, Int32)
    case noInstance(UInt32, Int32)
    case children(Int, [Child])
    case exited(ProcessInstance, Ending)
    case started(Int, [Child])

    var isEvent: Bool {
      switch self {
      case .exited, .started: true
      case .spawned, .refused, .signalled, .noInstance, .children: false
      }
    }
  }

  package enum Refusal: Hashable, Sendable { case isRunning, cannotStart, unreachable }

  package struct Received: Hashable, Sendable {
    package var report: Report
    package var isAwaited = true
  }

  package enum Listing: Hashable, Sendable { case no, requested, requestedAgain }

  package enum Action: Hashable, Sendable, CustomStringConvertible {
    case agentReceives, childStarts, childCannotStart, childIsReaped, childIsReady, childExits
    case hostReceives, acknowledgementIsLost, reportOvertakes
    case eventIsSentAgain(Int)
    case agentExits, agentReturns
    case hostExits(forgetting: Bool)
    case hostStarts
    case deadlinePasses(Request)
    case requestIsLost
    case pauseEnds, timerFires, listIsRepeated
    case generationsAreLost

    package var description: String {
      switch self {
      case .agentReceives: "the agent receives the next request"
      case .childStarts: "the agent starts the process and replies"
      case .childCannotStart: "the agent cannot start the process"
      case .childIsReaped: "the killed process is reaped"
      case .childIsReady: "the process reports that it is ready"
      case .childExits: "the process exits by itself"
      case .hostReceives: "the host receives the next report"
      case .acknowledgementIsLost: "the host receives the next event, and its acknowledgement is lost"
      case .reportOvertakes: "the host handles the second report first"
      case .eventIsSentAgain: "the agent sends an event that was not acknowledged"
      case .agentExits: "the agent exits with its child"
      case .agentReturns: "the next agent starts and connects"
      case .hostExits(let forgetting):
        "the host is killed" + (forgetting ? ", before its last changes were on the disk" : "")
      case .hostStarts: "the next host starts"
      case .deadlinePasses(let request): "the deadline of \(request) passes"
      case .requestIsLost: "the next request is lost"
      case .pauseEnds: "the pause of one second ends"
      case .timerFires: "the next date of the state machine is reached"
      case .listIsRepeated: "the service repeats its request for the list"
      case .generationsAreLost: "the bus forgets the generations that it gave"
      }
    }
  }

  package static let agent = Address.agent("p", 1)

  package let listsOnConnection: Bool
  package var faults: LaunchFaults
  package var isAgentUp = true
  package var isHostUp = true
  package var incarnation = 1
  package var nextGeneration: UInt32 = 1
  var nextPid: Int32 = 100
  package var child: Child?
  /// A spawn that is being carried out.
  package var spawning: Sent?
  /// Events that the host has not acknowledged.
  package var unacknowledged: [Report] = []
  package var toAgent: [Sent] = []
  package var toHost: [Received] = []
  /// Requests without a reply: their deadlines will pass.
  package var unanswered: [Request] = []
  package var listing = Listing.no
  /// Requests a list as soon as the agent is connected, or after a second.
  package var isListDue = false
  package var isPausing = false

  package init(listsOnConnection: Bool = true, _ faults: LaunchFaults) {
    self.listsOnConnection = listsOnConnection
    self.faults = faults
  }

  static func incarnationID(_ number: Int) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
  }

  private static func processes(_ children: [Child], _ address: Address) -> [ChildProcess] {
    children.map {
      ChildProcess(
        address: address, generation: $0.generation, pid: $0.pid, isStopped: $0.isStopped)
    }
  }

  /// Whether nothing is on its way.
  package var isQuiet: Bool {
    isAgentUp && isHostUp && toAgent.isEmpty && toHost.isEmpty && unanswered.isEmpty && spawning == nil
      && unacknowledged.isEmpty && !isPausing && listing == .no && !isListDue && child?.isEnding != true
      && child.map { $0.isReady || $0.isStopped } ?? true
  }

  // MARK: What the host does

  /// Performs an action of the launch state machine.
  package mutating func perform(_ action: LaunchStateMachine.Action) {
    switch action {
    case .spawn: send(.spawn)
    case .signal(_, let generation, let signal): send(.signal(generation, signal))
    case .list: list()
    case .pause: isPausing = true
    case .asks, .changed: break
    }
  }

  private mutating func send(_ request: Request) {
    if isAgentUp {
      toAgent.append(Sent(request: request))
    } else {
      // Definite: the bus reports that no agent is connected.
      switch request {
      case .spawn: toHost.append(Received(report: .refused(.unreachable)))
      case .signal(let generation, let signal): toHost.append(Received(report: .noInstance(generation, signal)))
      case .list: isListDue = true
      }
    }
  }

  private mutating func list() {
    guard listing == .no else {
      listing = .requestedAgain
      return
    }
    listing = .requested
    send(.list)
  }

  // MARK: What may happen

  package func actions(nextInstant: Date?, into actions: inout [Action]) {
    if isAgentUp {
      if !toAgent.isEmpty, spawning == nil || toAgent[0].request != .spawn {
        actions.append(.agentReceives)
        if faults.losses > 0 { actions.append(.requestIsLost) }
      }
      if spawning != nil {
        actions.append(.childStarts)
        if faults.refusals > 0 { actions.append(.childCannotStart) }
      }
      if let child {
        if child.isEnding {
          actions.append(.childIsReaped)
        } else {
          if isHostUp, !child.isReady, !child.isStopped { actions.append(.childIsReady) }
          if faults.crashes > 0, !child.isStopped { actions.append(.childExits) }
        }
      }
      if isHostUp {
        for index in unacknowledged.indices where !toHost.contains(where: { $0.report == unacknowledged[index] }) {
          actions.append(.eventIsSentAgain(index))
        }
      }
      if faults.agentExits > 0 { actions.append(.agentExits) }
    } else {
      actions.append(.agentReturns)
    }
    guard isHostUp else {
      actions.append(.hostStarts)
      return
    }
    if !toHost.isEmpty {
      actions.append(.hostReceives)
      if toHost[0].report.isEvent, faults.repetitions > 0 { actions.append(.acknowledgementIsLost) }
      if toHost.count > 1, faults.overtakings > 0 { actions.append(.reportOvertakes) }
    }
    if let request = unanswered.first { actions.append(.deadlinePasses(request)) }
    if faults.deadlines > 0 {
      for request in awaited { actions.append(.deadlinePasses(request)) }
    }
    if isPausing { actions.append(.pauseEnds) }
    if isListDue, isAgentUp { actions.append(.listIsRepeated) }
    if nextInstant != nil { actions.append(.timerFires) }
    if faults.hostExits > 0 {
      actions.append(.hostExits(forgetting: false))
      actions.append(.hostExits(forgetting: true))
    }
    if faults.losesGenerations > 0, child == nil, spawning == nil { actions.append(.generationsAreLost) }
  }

  /// The requests whose deadline may pass although they are on their way.
  private var awaited: [Request] {
    let sent = toAgent.filter { $0.isAwaited && $0.request != .list }.map(\.request)
    return sent + (spawning?.isAwaited == true ? [.spawn] : [])
  }

  package static func isProgress(_ action: Action) -> Bool {
    switch action {
    case .agentReceives, .childStarts, .childIsReaped, .childIsReady, .hostReceives, .eventIsSentAgain, .agentReturns,
      .hostStarts, .pauseEnds, .timerFires, .listIsRepeated:
      true
    // Of a request without a reply. The other deadlines pass only by faults, whose number is limited, and which are no
    // shorter way to the goal.
    case .deadlinePasses: true
    case .childCannotStart, .childExits, .acknowledgementIsLost, .reportOvertakes, .agentExits, .hostExits,
      .requestIsLost, .generationsAreLost:
      false
    }
  }

  /// Changes the environment.
  ///
  /// - Returns: what the launch state machine learns. The model handles `timerFires`, `hostExits` and `hostStarts`.
  package mutating func apply(_ action: Action, _ address: Address) -> LaunchStateMachine.Event? {
    switch action {
    case .agentReceives: agentReceives()
    case .requestIsLost:
      faults.losses -= 1
      let sent = toAgent.removeFirst()
      if sent.isAwaited { if sent.request == .list { isListDue = true } else { unanswered.append(sent.request) } }
    case .childStarts:
      let sent = spawning
      spawning = nil
      nextPid += 1
      child = Child(generation: nextGeneration, pid: nextPid)
      nextGeneration += 1
      if let child {
        reply(.spawned(child.instance), sent?.isAwaited ?? false)
        // Its host may have ended, and the next one got the list before.
        if sent?.isOfFormerHost == true { announce(.started(incarnation, [child])) }
      }
    case .childCannotStart:
      faults.refusals -= 1
      reply(.refused(.cannotStart), spawning?.isAwaited ?? false)
      spawning = nil
    case .childIsReaped: end(.signalled(signal: SIGKILL))
    case .childExits:
      faults.crashes -= 1
      end(.exited(code: 1))
    case .childIsReady:
      child?.isReady = true
      return child.map { .ready(address, generation: $0.generation) }
    case .hostReceives: return receive(at: 0, acknowledged: true, address)
    case .acknowledgementIsLost:
      faults.repetitions -= 1
      return receive(at: 0, acknowledged: false, address)
    case .reportOvertakes:
      faults.overtakings -= 1
      return receive(at: 1, acknowledged: true, address)
    case .eventIsSentAgain(let index): toHost.append(Received(report: unacknowledged[index]))
    case .agentExits: agentExits()
    case .agentReturns:
      isAgentUp = true
      incarnation += 1
      announce(.started(incarnation, []))
      if listsOnConnection, isHostUp { list() }
    case .hostExits:
      faults.hostExits -= 1
      hostExits()
    case .hostStarts:
      isHostUp = true
      list()
    case .deadlinePasses(let request): return deadlinePasses(request, address)
    case .pauseEnds:
      isPausing = false
      return .pauseEnded(address)
    case .timerFires: return .timerFired
    case .listIsRepeated:
      isListDue = false
      listing = .requested
      send(.list)
    case .generationsAreLost:
      faults.losesGenerations -= 1
      nextGeneration = 1
    }
    return nil
  }

  // MARK: The agent

  private mutating func agentReceives() {
    let sent = toAgent.removeFirst()
    switch sent.request {
    case .spawn:
      if child != nil { reply(.refused(.isRunning), sent.isAwaited) } else { spawning = sent }
    case .list: reply(.children(incarnation, child.map { [$0] } ?? []), sent.isAwaited)
    case .signal(let generation, let signal):
      guard let child, child.generation == generation, !child.isEnding else {
        reply(.noInstance(generation, signal), sent.isAwaited)
        return
      }
      switch signal {
      case SIGSTOP: self.child?.isStopped = true
      case SIGCONT: self.child?.isStopped = false
      default: self.child?.isEnding = true
      }
      reply(.signalled(generation, signal), sent.isAwaited)
    }
  }

  private mutating func reply(_ report: Report, _ isAwaited: Bool) {
    // A reply without a request is dropped.
    if isAwaited, isHostUp { toHost.append(Received(report: report)) }
  }

  private mutating func announce(_ report: Report) {
    unacknowledged.append(report)
    if isHostUp { toHost.append(Received(report: report)) }
  }

  private mutating func end(_ ending: Ending) {
    guard let child else { return }
    self.child = nil
    announce(.exited(child.instance, ending))
  }

  private mutating func agentExits() {
    faults.agentExits -= 1
    isAgentUp = false
    child = nil
    unacknowledged = []
    for sent in toAgent + (spawning.map { [$0] } ?? []) where sent.isAwaited {
      if sent.request == .list { isListDue = true } else { unanswered.append(sent.request) }
    }
    toAgent = []
    spawning = nil
  }

  // MARK: The host

  private mutating func hostExits() {
    isHostUp = false
    toHost = []
    unanswered = []
    for index in toAgent.indices {
      toAgent[index].isAwaited = false
      toAgent[index].isOfFormerHost = true
    }
    spawning?.isAwaited = false
    spawning?.isOfFormerHost = true
    // A process reports again that it is ready, each time the host returns (`HostAnnouncer`).
    child?.isReady = false
    listing = .no
    isListDue = false
    isPausing = false
  }

  private mutating func receive(at index: Int, acknowledged: Bool, _ address: Address) -> LaunchStateMachine.Event? {
    let received = toHost.remove(at: index)
    let report = received.report
    if acknowledged, let index = unacknowledged.firstIndex(of: report) { unacknowledged.remove(at: index) }
    switch report {
    case .spawned(let instance): return .spawned(address, instance)
    case .refused(let refusal):
      let code: BusError.Code =
        switch refusal {
        case .isRunning: .alreadyRunning
        case .cannotStart: .notStarted
        case .unreachable: .unreachable
        }
      return .spawnFailed(address, BusError(code, ""))
    case .signalled(let generation, let signal): return .signalled(address, generation: generation, signal: signal)
    case .noInstance(let generation, let signal):
      return .signalFailed(
        address, generation: generation, signal: signal, BusError(.noSuchInstance, ""))
    case .children(let incarnation, let children):
      if listing == .requestedAgain {
        listing = .requested
        send(.list)
      } else {
        listing = .no
      }
      return reported(incarnation, children, address)
    case .started(let incarnation, let children): return reported(incarnation, children, address)
    case .exited(let instance, let ending): return .exited(address, instance, ending)
    }
  }

  private func reported(_ incarnation: Int, _ children: [Child], _ address: Address) -> LaunchStateMachine.Event {
    .agentReported(
      Self.agent, incarnation: Self.incarnationID(incarnation), children: Self.processes(children, address))
  }

  private mutating func deadlinePasses(_ request: Request, _ address: Address) -> LaunchStateMachine.Event? {
    if let index = unanswered.firstIndex(of: request) {
      unanswered.remove(at: index)
    } else {
      faults.deadlines -= 1
      if let index = toAgent.firstIndex(where: { $0.isAwaited && $0.request == request }) {
        toAgent[index].isAwaited = false
      } else {
        spawning?.isAwaited = false
      }
    }
    let error = BusError(.deadline, "no reply", isDefinite: false)
    switch request {
    case .spawn: return .spawnFailed(address, error)
    case .signal(let generation, let signal):
      return .signalFailed(address, generation: generation, signal: signal, error)
    case .list: return nil
    }
  }
}
