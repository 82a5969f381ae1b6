// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import MessageBus
import Messages

/// An in-memory process agent with model children. It records invalid requests: a launch of a running process, a stop
/// of a stopped process, and a message to a stopped process.
actor ModelAgent {
  private struct Child {
    let connection: Connection
    let process: ChildProcess
    var isStopped = false
  }

  let bus: InMemoryBus
  let address = Address.agent("iphone", 1)
  let host = Address.host("iphone")
  private(set) var connection: Connection
  private var children: [Address: Child] = [:]
  private var incarnation = UUID()
  /// The recorded invalid requests.
  private(set) var violations: [String] = []
  /// The number of launches that exit with code 1 instead of becoming ready.
  var crashes = 0
  /// A signal that the agent confirms without delivering it.
  var ignored: Int32?

  init(_ bus: InMemoryBus) {
    self.bus = bus
    connection = bus.connection(address)
  }

  func start() async throws {
    connection.onRequest(SpawnProcess.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the agent was deallocated") }
      return try await spawn(request)
    }
    connection.onRequest(SignalProcess.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the agent was deallocated") }
      return try await signal(request)
    }
    connection.onRequest(ListProcesses.self) { [weak self] _, _ in
      guard let self else { throw BusError(.closed, "the agent was deallocated") }
      return await list()
    }
    _ = try await connection.start()
  }

  func setCrashes(_ count: Int) { crashes = count }
  func setDeaf(to signal: Int32?) { ignored = signal }

  private func list() -> ListProcesses.Reply {
    ListProcesses.Reply(incarnation: incarnation, children: Array(held))
  }

  private var held: [ChildProcess] {
    children.values.map { child in
      var process = child.process
      process.isStopped = child.isStopped
      return process
    }
  }

  private func spawn(_ request: SpawnProcess) async throws -> SpawnProcess.Reply {
    guard children[request.address] == nil else {
      violations.append("spawned \(request.address) while it was running")
      throw BusError(.alreadyRunning, "the process is already running")
    }
    let instance = try await connection.request(
      RegisterInstance(address: request.address, publicKey: "key"), to: .messageBus)
    let pid = Int32(1000 + instance.generation)
    let process = ChildProcess(
      address: request.address, generation: instance.generation, pid: pid, isStopped: false)
    let child = bus.connection(request.address)
    children[request.address] = Child(connection: child, process: process)
    if crashes > 0 {
      crashes -= 1
      Task { await end(request.address, .exited(code: 1)) }
    } else {
      let host = host
      Task {
        child.onEvent(AppActivation.self) { [weak self] _, _ in await self?.reportedAgents(request.address) }
        _ = try await child.start()
        _ = try await child.request(
          ProcessReady(pid: pid, executable: request.executable, widgets: []), to: host, whenUnreachable: .wait)
      }
    }
    return SpawnProcess.Reply(generation: instance.generation, pid: pid)
  }

  private func reportedAgents(_ address: Address) {
    if children[address]?.isStopped == true { violations.append("sent a message to \(address) while it was stopped") }
  }

  private func signal(_ request: SignalProcess) async throws -> SignalProcess.Reply {
    guard let child = children[request.address],
      request.generation ?? child.process.generation == child.process.generation
    else { throw BusError(.noSuchInstance, "no such process instance") }
    switch request.signal {
    case ignored: break
    case SIGSTOP:
      if child.isStopped { violations.append("stopped \(request.address) twice") }
      children[request.address]?.isStopped = true
    case SIGCONT: children[request.address]?.isStopped = false
    default: Task { await end(request.address, .signalled(signal: request.signal)) }
    }
    return SignalProcess.Reply(generation: child.process.generation, pid: child.process.pid)
  }

  /// Ends a child and delivers its exit event until the host has acknowledged it.
  func end(_ address: Address, _ ending: Ending) async {
    guard let child = children.removeValue(forKey: address) else { return }
    await bus.disconnect(address)
    let event = ProcessExited(
      address: address, generation: child.process.generation, pid: child.process.pid, ending: ending)
    try? await connection.deliver(event, to: host)
  }

  /// Ends the agent with its children and starts a new agent.
  func dieAndReturn() async throws {
    for address in children.keys { await bus.disconnect(address) }
    children = [:]
    await bus.disconnect(address)
    incarnation = UUID()
    connection = bus.connection(address)
    try await start()
    try await connection.deliver(AgentStarted(incarnation: incarnation, pid: 1, children: []), to: host)
  }
}
