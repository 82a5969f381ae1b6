// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

// Replies and reports of an agent about its children.

extension LaunchStateMachine {
  mutating func spawned(_ address: Address, _ instance: ProcessInstance, _ now: Date) -> [Action] {
    guard var process = processes[address] else { return [] }
    let isListStale = process.isListStale
    process.isListStale = false
    // A reply that arrives after the instance's end: another spawn is in progress. Or the generation was given before, and
    // the list has the instance.
    if instance.generation == process.lastGeneration { return process.state == .launching ? list(for: address) : [] }
    process.isAsking = false
    processes[address] = process
    believe(instance, at: address)
    return adopt(address, instance, now) + decide(address, now) + (isListStale ? list(for: address) : [])
  }

  mutating func reported(
    _ agent: Address, _ incarnation: UUID, _ children: [ChildProcess], _ now: Date
  ) -> [Action] {
    // A list that an agent sent before it ended.
    guard formerIncarnations[agent]?.contains(incarnation) != true else { return [] }
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
    return reportedPresent(address, child, now)
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
      processes[address]?.lastEnding = .lostWithAgent
      let over = ProcessState(
        address: address, generation: known.generation, state: State.absent.rawValue,
        why: "ended: its agent reports a newer instance")
      actions += [.changed(over), .output(.ended(address, known, .lostWithAgent))]
    }
    if processes[address]?.instance == nil { processes[address]?.isAsking = false }
    actions += adopt(address, instance, now)
    guard let process = processes[address], process.instance == instance, !process.isAsking else { return actions }
    switch process.state {
    case .running where child.isStopped: return actions + stopped(address)
    // It was wanted while a `SIGSTOP` that failed was in progress.
    case .running where !process.assertions.isEmpty && actions.isEmpty:
      return [.output(.awake(address, instance, woken: false))]
    // Its `SIGSTOP` may not have taken effect when the agent looked, or another process continued it. After a `SIGCONT`
    // it runs in any case.
    case .suspended where !child.isStopped:
      processes[address]?.isAsking = true
      return actions + [.signal(address, generation: instance.generation, signal: SIGCONT)]
    case .dying: return actions + [.signal(address, generation: instance.generation, signal: SIGKILL)]
    default: return actions
    }
  }

  private mutating func reportedAbsent(_ address: Address, _ isSameAgent: Bool, _ now: Date) -> [Action] {
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
