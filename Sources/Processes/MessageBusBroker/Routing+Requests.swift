// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

// Requests to the broker itself.

extension Routing {
  /// Handles a hello. Its record comes first and contains the generation that it assigned.
  mutating func hello(_ frame: [UInt8], _ header: EnvelopeHeader, _ peer: Peer, _ line: Line) {
    let hello: Hello
    do {
      hello = try BodyCoding.decode(Hello.self, from: Array(frame.suffix(header.bodyLength)))
    } catch {
      accept(frame, header, 0)
      return fail(header, error, on: line)
    }
    let address = header.source
    guard !isFull(for: address) else {
      return refuse(Refused.tooManyPeers, header, owner: peer.owner.text, on: line, known: address)
    }
    let before = registrations[address]
    var registration = before ?? Registration(address: address, generation: 0)
    switch peer.owner {
    case .instance(_, let generation):
      registration.generation = generation
    case .standing:
      if registration.incarnation != hello.incarnation { registration.generation = nextGeneration(after: before) }
    }
    let isSame = before?.incarnation == hello.incarnation
    let isAgain = isSame && self.line(of: address) == line
    registration.incarnation = hello.incarnation
    registration.pid = hello.pid
    registration.isConnected = true
    registrations[address] = registration
    connect(line, address, generation: registration.generation, replaces: !isSame)
    accept(frame, header, registration.generation)
    recordFirstUse(peer.key)
    if !isAgain { record(RegistrationChanged(.connected, registration), to: .journal) }
    reply(Hello.Reply(generation: registration.generation), to: header, on: line)
    if !isAgain { announce(Presence(address: address, isPresent: true, generation: registration.generation)) }
  }

  /// Handles a request or notice to the broker that is permitted and recorded.
  mutating func answer(_ header: EnvelopeHeader, body: ArraySlice<UInt8>, on line: Line) {
    do throws(BusError) {
      switch header.kind {
      case Goodbye.kind: goodbye(header, line)
      case Ping.kind: reply(Ping.Reply(pid: pid), to: header, on: line)
      case ReplicaReadiness.kind:
        replicaChanged(
          header.source, isReady: try BodyCoding.decode(ReplicaReadiness.self, from: Array(body)).isReady)
      case BusStatus.kind: reply(status(), to: header, on: line)
      case RaiseSignal.kind:
        actions.append(.raise(try BodyCoding.decode(RaiseSignal.self, from: Array(body)).signal))
      case ListKeys.kind: reply(ListKeys.Reply(keys: keys.standingKeys), to: header, on: line)
      case RegisterKey.kind:
        let request = try BodyCoding.decode(RegisterKey.self, from: Array(body))
        reply(try register(request, by: header.source), to: header, on: line)
      case RegisterInstance.kind:
        let request = try BodyCoding.decode(RegisterInstance.self, from: Array(body))
        reply(RegisterInstance.Reply(generation: try register(request, by: header.source)), to: header, on: line)
      case RetireInstance.kind:
        try retire(try BodyCoding.decode(RetireInstance.self, from: Array(body)), by: header.source)
        reply(Done(), to: header, on: line)
      default: break  // a reply to a message of the broker
      }
    } catch {
      if MessageTable[header.kind]?.style == .request { return fail(header, error, on: line) }
      let refused = BodyRefused(
        kindName: header.kind.name, source: header.source, destination: header.destination, error: error)
      record(refused, to: .journal, cause: header.id, correlation: header.correlation)
    }
  }

  private mutating func goodbye(_ header: EnvelopeHeader, _ line: Line) {
    reply(Done(), to: header, on: line)
    if self.line(of: header.source) == line { disconnect(line, .left) }
  }

  private func status() -> BusStatus.Reply {
    BusStatus.Reply(
      pid: pid, generation: generation, sequence: sequence,
      registrations: registrations.values.sorted { $0.address.text < $1.address.text })
  }

  /// Registers the key of a new process instance. Idempotent for the same key.
  private mutating func register(_ request: RegisterInstance, by agent: Address) throws(BusError) -> UInt32 {
    let address = request.address
    try checkIsSpawned(address, by: agent)
    guard Self.isPublicKey(request.publicKey) else {
      throw BusError(.malformed, "a public key is 40 characters of Z85")
    }
    let before = registrations[address]
    guard before != nil || makeRoom() else {
      throw BusError(BusError.Code("too-many-addresses"), "the bus already has \(registrations.count) addresses")
    }
    if let before, before.publicKey == request.publicKey, !before.isRetired { return before.generation }
    guard keys[request.publicKey] == nil, !keys.isRevoked(request.publicKey) else {
      throw BusError(.keyInUse, "the key of \(address) belongs to another process instance")
    }
    if let line = line(of: address), before?.isConnected == true {
      end(line, .replaced)
      announce(Presence(address: address, isPresent: false, generation: before?.generation ?? 0))
    }
    if let former = before?.publicKey { keys.revoke(former) }
    let registration = Registration(
      address: address, generation: nextGeneration(after: before), publicKey: request.publicKey)
    registrations[address] = registration
    retired.removeAll { $0 == address }
    keys.admit(request.publicKey, address, generation: registration.generation)
    record(RegistrationChanged(.registered, registration), to: .journal)
    return registration.generation
  }

  /// Ends a process instance. Has no effect if it has ended already or a later one has started.
  private mutating func retire(_ request: RetireInstance, by agent: Address) throws(BusError) {
    try checkIsSpawned(request.address, by: agent)
    guard !wasDropped(request.address, request.generation) else { return }
    guard var registration = registrations[request.address], registration.generation >= request.generation else {
      throw BusError(
        BusError.Code("no-such-instance"), "\(request.address) never had generation \(request.generation)")
    }
    guard registration.generation == request.generation, !registration.isRetired else { return }
    let wasConnected = registration.isConnected
    registration.isRetired = true
    registration.isConnected = false
    registrations[request.address] = registration
    retired.append(request.address)
    if let key = registration.publicKey { keys.revoke(key) }
    if let line = line(of: request.address) { end(line, .ended) }
    record(RegistrationChanged(.retired, registration), to: .journal)
    if wasConnected {
      announce(Presence(address: request.address, isPresent: false, generation: registration.generation))
    }
  }

  private func checkIsSpawned(_ address: Address, by agent: Address) throws(BusError) {
    guard address.role == .app || address.role == .widgetExtension, address.device == agent.device else {
      throw BusError(.refused, "\(agent) spawns only apps and extensions of the same device, not \(address)")
    }
  }
}
