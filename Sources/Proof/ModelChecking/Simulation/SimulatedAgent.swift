// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages

/// The agent of one container, with its children: spawns, signals, lists and reaps, and reports exits until the host has
/// acknowledged them. Its behaviour is that of `AgentEnvironment`, with messages.
final class SimulatedAgent {
  private enum Child {
    /// Being registered or started.
    case claimed
    case running(SimulatedAuthor)
    /// It has ended, and the kernel has not reported that yet.
    case ended(SimulatedAuthor)
  }

  private unowned let cluster: SimulatedCluster
  let address: Address
  private(set) var connection: SimulatedConnection
  private let incarnation: UUID
  private var children: [Address: Child] = [:]
  private var announcement: UUID?
  private var hostGeneration: UInt32?

  private var time: VirtualTime { cluster.time }

  init(_ cluster: SimulatedCluster, _ address: Address) {
    self.cluster = cluster
    self.address = address
    incarnation = cluster.time.dice.uuid()
    connection = SimulatedConnection(
      address, on: cluster.bus, pid: cluster.nextPid(), incarnation: cluster.time.dice.uuid())
    connection.onRequest(SpawnProcess.self) { [unowned self] in spawn($0, $1) }
    connection.onRequest(SignalProcess.self) { [unowned self] in signal($0, $1) }
    connection.onRequest(ListProcesses.self) { [unowned self] _, envelope in
      connection.reply(
        envelope, to: ListProcesses.self, ListProcesses.Reply(incarnation: incarnation, children: listed))
    }
    connection.onPresence = { [unowned self] presence in
      guard presence.address == cluster.hostAddress else { return }
      if presence.isPresent {
        hostGeneration = presence.generation
        announce()
      } else {
        announceAgain()
      }
    }
    cluster.bus.connect(connection)
    announce()
  }

  /// The agent ends, and the kernel ends its children. Source: prctl(2), `PR_SET_PDEATHSIG`; decisions/0003-spawning.md.
  func kill() {
    connection.kill()
    for child in running { child.kill() }
    children = [:]
  }

  /// The children that run, by address.
  var running: [SimulatedAuthor] {
    children.sorted { $0.key.text < $1.key.text }.compactMap {
      if case .running(let author) = $0.value { author } else { nil }
    }
  }

  private var listed: [ChildProcess] {
    running.map { author in
      ChildProcess(
        address: author.address, generation: author.connection.generation, pid: author.connection.pid,
        isStopped: author.connection.isStopped)
    }
  }

  // MARK: The host

  private func announce() {
    if let announcement { connection.forget(announcement) }
    let id = time.dice.uuid()
    announcement = id
    connection.deliver(
      AgentStarted(incarnation: incarnation, pid: connection.pid, children: listed), to: cluster.hostAddress, id: id
    ) { [unowned self] error in
      if error == nil, announcement == id { announcement = nil }
    }
  }

  private func announceAgain() {
    if announcement != nil { announce() }
  }

  // MARK: Requests

  private func spawn(_ request: SpawnProcess, _ envelope: Envelope) {
    let address = request.address
    guard children[address] == nil else {
      return connection.fail(envelope, BusError(.alreadyRunning, "\(address.short) is running already"))
    }
    children[address] = .claimed
    let context = MessageContext(cause: envelope.header.id, correlation: envelope.header.correlation)
    let registration = RegisterInstance(address: address, publicKey: key())
    connection.request(registration, to: .messageBus, context, within: 10 * Span.second) { [unowned self] result in
      switch result {
      case .success(let reply): start(request, reply.generation, envelope, context)
      case .failure(let error):
        children[address] = nil
        connection.fail(
          envelope, BusError(.notStarted, "the broker did not register \(address): \(error)", isDefinite: true))
      }
    }
  }

  /// 40 characters of Z85.
  private func key() -> String { String(time.dice.hexadecimal(3).prefix(40)) }

  private func start(_ request: SpawnProcess, _ generation: UInt32, _ envelope: Envelope, _ context: MessageContext) {
    connection.after(time.span(2_000, 6_000), "spawns \(request.address.short)") { [self] in
      let author = SimulatedAuthor(cluster, request.address, generation: generation, agent: self)
      children[request.address] = .running(author)
      let pid = author.connection.pid
      connection.notify(
        ProcessStarted(address: request.address, generation: generation, pid: pid, executable: request.executable),
        context)
      announceAgain()
      author.start()
      // The reply may go to a host that has ended, and its successor got the list before.
      if let hostGeneration, hostGeneration != envelope.header.sourceGeneration { announce() }
      connection.reply(envelope, to: SpawnProcess.self, InstanceReply(generation: generation, pid: pid))
    }
  }

  private func signal(_ request: SignalProcess, _ envelope: Envelope) {
    guard case .running(let author)? = children[request.address],
      request.generation.map({ $0 == author.connection.generation }) ?? true
    else {
      return connection.fail(envelope, BusError(.noSuchInstance, "\(request.address.short) has no such instance"))
    }
    connection.after(time.span(40, 200), "signals \(request.address.short)") { [self] in
      switch request.signal {
      case SIGSTOP: author.connection.stop()
      case SIGCONT: author.connection.resume()
      default: author.end(.signalled(signal: request.signal))
      }
      connection.reply(
        envelope, to: SignalProcess.self,
        InstanceReply(generation: author.connection.generation, pid: author.connection.pid))
    }
  }

  // MARK: Exits

  /// A child has ended.
  func ended(_ author: SimulatedAuthor, _ ending: Ending) {
    guard connection.isAlive, case .running(let child)? = children[author.address], child === author else { return }
    children[author.address] = .ended(author)
    connection.after(time.span(200, 900), "reaps \(author.address.short)") { [self] in reap(author, ending) }
  }

  private func reap(_ author: SimulatedAuthor, _ ending: Ending) {
    let (address, generation) = (author.address, author.connection.generation)
    children[address] = nil
    func exit(of generation: UInt32) -> ProcessExited {
      ProcessExited(address: address, generation: generation, pid: author.connection.pid, ending: ending)
    }
    if cluster.mistake == .exitReportedTwice { connection.deliver(exit(of: generation), to: cluster.hostAddress) }
    if cluster.mistake == .exitOfAnother { connection.deliver(exit(of: generation + 1), to: cluster.hostAddress) }
    connection.deliver(exit(of: generation), to: cluster.hostAddress)
    retire(RetireInstance(address: address, generation: generation))
    announceAgain()
  }

  private func retire(_ request: RetireInstance) {
    connection.request(request, to: .messageBus, within: 30 * Span.second) { [unowned self] result in
      guard case .failure = result else { return }
      connection.after(Span.second, "retires again") { [self] in retire(request) }
    }
  }
}
