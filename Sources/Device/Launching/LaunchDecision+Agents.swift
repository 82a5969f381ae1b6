import Conversations
import Foundation

// What an agent holds.

extension LaunchDecision {
  mutating func reported(
    _ agent: Address, _ incarnation: UUID, _ children: [ChildProcess], _ now: Date
  ) -> [Answer] {
    let isSame = incarnations[agent] == nil || incarnations[agent] == incarnation
    incarnations[agent] = incarnation
    heard.insert(agent)
    var answers: [Answer] = []
    for address in agents.keys.filter({ agents[$0] == agent }).sorted(by: { $0.text < $1.text }) {
      if let child = children.first(where: { $0.address == address }) {
        answers += holds(address, child, now)
      } else {
        answers += lacks(address, isSame, now)
      }
      answers += settle(address, now)
    }
    return answers
  }

  private mutating func holds(_ address: Address, _ child: ChildProcess, _ now: Date) -> [Answer] {
    let life = Life(generation: child.generation, pid: child.pid)
    var answers: [Answer] = []
    if let known = processes[address]?.life, known.generation < life.generation {
      // The exit of the older life comes as an event of its own; it is over in any case.
      processes[address]?.life = nil
      let over = ProcessState(
        address: address, generation: known.generation, state: State.absent.rawValue,
        why: "over: its agent holds a newer life")
      answers += [.changed(over), .intent(.ended(address, known, .lostWithAgent))]
    }
    if processes[address]?.life == nil { processes[address]?.isAsking = false }
    answers += live(address, life, now)
    guard let process = processes[address], process.life == life, !process.isAsking else { return answers }
    switch process.state {
    case .running where child.isStopped: return answers + stopped(address)
    // It was wanted while a stop that failed was under way.
    case .running where !process.assertions.isEmpty && answers.isEmpty:
      return [.intent(.awake(address, life, woken: false))]
    case .suspended where !child.isStopped: return answers + continued(address, life)
    case .dying: return answers + [.signal(address, generation: life.generation, signal: SIGKILL)]
    default: return answers
    }
  }

  private mutating func lacks(_ address: Address, _ isSameAgent: Bool, _ now: Date) -> [Answer] {
    guard var process = processes[address] else { return [] }
    if let life = process.life {
      // The same agent keeps the exit for us; a new one knows nothing of the children that died with the old.
      return isSameAgent ? [] : exited(address, life, .lostWithAgent, now)
    }
    guard process.state == .launching, !process.isAsking else { return [] }
    process.state = .absent
    process.why = "was not started"
    process.isPausing = true
    processes[address] = process
    return [changed(address, process), .pause(address)]
  }
}
