// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// The broker: registers, stamps, records and forwards, as `Routing` of the message bus does. Its frames take time, and
/// those of one connection stay in order.
final class SimulatedBus {
  let time: VirtualTime
  private let record: (Envelope) -> Void
  private let mistake: SimulatedMistake?
  /// Standing and author's processes that are connected.
  private(set) var lines: [Address: SimulatedConnection] = [:]
  private var registrations: [Address: Registration] = [:]
  /// Who gets presence notices about an address, in the order of their first message to it.
  private var listeners: [Address: [Address]] = [:]
  /// The transports that are connected, in the order of their connection: also those that have not sent a hello.
  private var transports: [SimulatedConnection] = []
  /// The connections that try to connect.
  private var waiting: [SimulatedConnection] = []
  private(set) var isUp = false
  private(set) var generation: UInt32 = 0
  private(set) var sequence: UInt64 = 0

  /// - Parameter record: receives each envelope of the journal.
  init(_ time: VirtualTime, _ mistake: SimulatedMistake?, record: @escaping (Envelope) -> Void) {
    self.time = time
    self.mistake = mistake
    self.record = record
  }

  // MARK: The broker's process

  func start() {
    isUp = true
    generation += 1
    registrations = registrations.filter { !$0.key.role.isPassing }
    if mistake == .registrationsForgotten { registrations = registrations.filter { $0.key.bundleIdentifier == nil } }
    for address in registrations.keys { registrations[address]?.isConnected = false }
    let known = registrations.values.sorted { $0.address.text < $1.address.text }
    notice(BusStarted(pid: pid, generation: generation, registrations: known), to: .journal)
    let waiting = self.waiting
    self.waiting = []
    for connection in waiting { connect(connection) }
  }

  private var pid: Int32 { 50 + Int32(generation) }

  /// The broker is killed: frames on their way are lost.
  func kill() {
    isUp = false
    let connections = transports.filter(\.isAlive)
    transports = []
    lines = [:]
    listeners = [:]
    for connection in connections {
      connection.down()
      connect(connection)
    }
  }

  /// Releases the connections, at the end of a simulation.
  func end() {
    transports = []
    waiting = []
    lines = [:]
  }

  // MARK: Connections

  /// Connects a process, now or when the broker is back.
  func connect(_ connection: SimulatedConnection) {
    guard isUp else { return waiting.append(connection) }
    time.after(time.span(1_500, 8_000), connection.address.short, "connects") { [self] in
      guard connection.isAlive, isUp else {
        if connection.isAlive { waiting.append(connection) }
        return
      }
      transports.append(connection)
      connection.up(generation)
    }
  }

  /// A process has ended: the kernel closes its connection.
  func lost(_ connection: SimulatedConnection) {
    let broker = generation
    transports.removeAll { $0 === connection }
    time.at(connection.clear(time.span(200, 600)), "message-bus", "a connection ends") { [self] in
      guard isUp, broker == generation, lines[connection.address] === connection else { return }
      disconnect(connection, .disconnected)
    }
  }

  private func disconnect(_ connection: SimulatedConnection, _ change: RegistrationChanged.Change) {
    let address = connection.address
    lines[address] = nil
    registrations[address]?.isConnected = false
    if let registration = registrations[address] { notice(RegistrationChanged(change, registration), to: .journal) }
    announce(Presence(address: address, isPresent: false, generation: connection.generation))
    if address.role.isPassing { registrations[address] = nil }
  }

  private func announce(_ presence: Presence) {
    for listener in listeners[presence.address] ?? [] where lines[listener] != nil { notice(presence, to: listener) }
  }

  // MARK: Frames

  /// A frame arrives from a connection.
  func received(_ envelope: Envelope, from connection: SimulatedConnection) {
    let header = envelope.header
    if let refusal = MessageTable.refusal(of: header) {
      preconditionFailure(
        "the simulation sends what the broker refuses: \(header.kind) from \(header.source): \(refusal)")
    }
    if header.kind == Hello.kind { return hello(envelope, connection) }
    accept(envelope, connection.generation)
    guard header.destination == .messageBus else { return }
    answer(envelope)
  }

  private func accept(_ envelope: Envelope, _ generation: UInt32) {
    let header = envelope.header
    let receiver = mistake?.receiver(of: header) ?? header.destination
    let line = receiver.role == .journal ? nil : lines[receiver]
    let stamped = stamp(envelope, generation, line?.generation ?? 0)
    guard header.destination != .messageBus, receiver.role != .journal else { return }
    if listeners[header.destination]?.contains(header.source) != true {
      listeners[header.destination, default: []].append(header.source)
    }
    guard let line else {
      return notice(
        Undelivered(kindName: header.kind.name, destination: header.destination, code: .unreachable),
        to: header.source, MessageContext(cause: header.id, correlation: header.correlation))
    }
    line.forward(stamped)
  }

  private func stamp(_ envelope: Envelope, _ source: UInt32, _ destination: UInt32) -> Envelope {
    var stamped = envelope
    sequence += 1
    stamped.header.sequence = sequence
    stamped.header.sourceGeneration = source
    stamped.header.destinationGeneration = destination
    record(stamped)
    return stamped
  }

  private func notice<N: Notice>(_ notice: N, to destination: Address, _ context: MessageContext = .none) {
    let header = EnvelopeHeader(
      kind: N.kind, sentAt: time.timestamp, id: time.dice.uuid(), cause: context.cause,
      correlation: context.correlation, source: .messageBus, destination: destination)
    send(Envelope(header: header, body: SimulatedConnection.encoded(notice)))
  }

  private func reply(_ body: [UInt8], to header: EnvelopeHeader, _ answer: Kind.Answer = .ok) {
    let header = EnvelopeHeader(
      kind: header.kind.answered(answer), sentAt: time.timestamp, id: time.dice.uuid(), cause: header.id,
      correlation: header.correlation, source: .messageBus, destination: header.source)
    send(Envelope(header: header, body: body))
  }

  private func send(_ envelope: Envelope) {
    let line = lines[envelope.header.destination]
    line?.forward(stamp(envelope, generation, line?.generation ?? 0))
    if line == nil { _ = stamp(envelope, generation, 0) }
  }

  // MARK: Requests to the broker

  private func hello(_ envelope: Envelope, _ connection: SimulatedConnection) {
    let address = connection.address
    let former = registrations[address]
    var registration = former ?? Registration(address: address, generation: 0)
    if connection.isInstance {
      registration.generation = connection.generation
    } else if registration.incarnation != connection.incarnation {
      registration.generation += 1
    }
    registration.incarnation = connection.incarnation
    registration.pid = connection.pid
    registration.isConnected = true
    registrations[address] = registration
    connection.generation = registration.generation
    lines[address] = connection
    _ = stamp(envelope, registration.generation, 0)
    notice(RegistrationChanged(.connected, registration), to: .journal)
    reply(
      SimulatedConnection.encoded(reply: Hello.self, GenerationReply(generation: registration.generation)),
      to: envelope.header)
    announce(Presence(address: address, isPresent: true, generation: registration.generation))
  }

  private func answer(_ envelope: Envelope) {
    let header = envelope.header
    switch header.kind {
    case RegisterInstance.kind:
      guard let request = try? RegisterInstance.decoded(from: envelope.body) else { return }
      reply(
        SimulatedConnection.encoded(reply: RegisterInstance.self, GenerationReply(generation: register(request))),
        to: header)
    case RetireInstance.kind:
      guard let request = try? RetireInstance.decoded(from: envelope.body) else { return }
      retire(request)
      reply(SimulatedConnection.encoded(reply: RetireInstance.self, Done()), to: header)
    case Ping.kind: reply(SimulatedConnection.encoded(reply: Ping.self, Ping.Reply(pid: pid)), to: header)
    default: break
    }
  }

  private func register(_ request: RegisterInstance) -> UInt32 {
    let former = registrations[request.address]
    if let former, former.publicKey == request.publicKey, !former.isRetired { return former.generation }
    if let line = lines.removeValue(forKey: request.address), former?.isConnected == true {
      line.down()
      announce(Presence(address: request.address, isPresent: false, generation: former?.generation ?? 0))
    }
    let registration = Registration(
      address: request.address, generation: (former?.generation ?? 0) + 1, publicKey: request.publicKey)
    registrations[request.address] = registration
    notice(RegistrationChanged(.registered, registration), to: .journal)
    return registration.generation
  }

  private func retire(_ request: RetireInstance) {
    guard var registration = registrations[request.address], registration.generation == request.generation,
      !registration.isRetired
    else { return }
    let wasConnected = registration.isConnected
    registration.isRetired = true
    registration.isConnected = false
    registrations[request.address] = registration
    lines[request.address] = nil
    notice(RegistrationChanged(.retired, registration), to: .journal)
    if wasConnected {
      announce(Presence(address: request.address, isPresent: false, generation: registration.generation))
    }
  }
}
