import Conversations
import Foundation
import MessageBus

/// A process agent in memory that holds model children, and notes what a real one would choke on: launching what runs,
/// stopping what is stopped, speaking to what is stopped.
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
  /// What a real process would not have survived, or heard.
  private(set) var violations: [String] = []
  /// Children end with this code instead of becoming ready, so many times.
  var crashes = 0
  /// A signal that is answered and has no effect.
  var ignored: Int32?

  init(_ bus: InMemoryBus) {
    self.bus = bus
    connection = bus.connection(address)
  }

  func start() async throws {
    connection.onRequest(SpawnProcess.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "gone") }
      return try await spawn(request)
    }
    connection.onRequest(SignalProcess.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "gone") }
      return try await signal(request)
    }
    connection.onRequest(ListProcesses.self) { [weak self] _, _ in
      guard let self else { throw BusError(.closed, "gone") }
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
      violations.append("spawned \(request.address) while it runs")
      throw BusError(.alreadyRunning, "it runs")
    }
    let life = try await connection.request(
      RegisterLife(address: request.address, publicKey: "key"), to: .messageBus)
    let pid = Int32(1000 + life.generation)
    let process = ChildProcess(
      address: request.address, generation: life.generation, pid: pid, isStopped: false)
    let child = bus.connection(request.address)
    children[request.address] = Child(connection: child, process: process)
    if crashes > 0 {
      crashes -= 1
      Task { await end(request.address, .exited(code: 1)) }
    } else {
      let host = host
      Task {
        child.onEvent(AppActivation.self) { [weak self] _, _ in await self?.heard(request.address) }
        _ = try await child.start()
        _ = try await child.request(
          ProcessReady(pid: pid, executable: request.executable, widgets: []), to: host, whenUnreachable: .wait)
      }
    }
    return SpawnProcess.Reply(generation: life.generation, pid: pid)
  }

  private func heard(_ address: Address) {
    if children[address]?.isStopped == true { violations.append("spoke to \(address) while it is stopped") }
  }

  private func signal(_ request: SignalProcess) async throws -> SignalProcess.Reply {
    guard let child = children[request.address],
      request.generation ?? child.process.generation == child.process.generation
    else { throw BusError(.noSuchLife, "no such life") }
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

  /// A child ends, and the host is told until it has acknowledged.
  func end(_ address: Address, _ ending: Ending) async {
    guard let child = children.removeValue(forKey: address) else { return }
    await bus.disconnect(address)
    let event = ProcessExited(
      address: address, generation: child.process.generation, pid: child.process.pid, ending: ending)
    try? await connection.deliver(event, to: host)
  }

  /// The agent dies with its children, and a new one starts.
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
