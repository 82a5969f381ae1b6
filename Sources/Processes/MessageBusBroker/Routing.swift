// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import Messages

/// The broker's decisions: which clients may connect, the source and destination of each envelope, and the notices to
/// peers.
///
/// A synchronous value without socket, clock or file. `Line` identifies a connection; the caller performs the actions
/// in order, and records before it forwards anything of the same batch.
struct Routing<Line: Hashable & Sendable> {
  /// How many malformed frames a connection may send before it is closed.
  static var malformedFrameLimit: Int { 16 }
  /// How many ended connections are remembered.
  static var endedLimit: Int { 256 }
  /// The minimum interval between two records of the same rejected key, in microseconds.
  static var turnedAwayInterval: Int64 { 10_000_000 }

  let pid: Int32
  /// The maximum number of connected addresses.
  var peerLimit = Int.max
  /// Who receives an envelope: its destination. A test can lose an envelope with `journal`.
  var receiver: @Sendable (EnvelopeHeader) -> Address = { $0.destination }
  /// How many seconds a standing key is still accepted after the first hello with its successor.
  var keyGrace = 10.0
  /// The broker's own generation.
  let generation: UInt32
  /// The last sequence number assigned.
  private(set) var sequence: UInt64
  /// The current time, which the caller sets before each event.
  var now: Timestamp
  var keys = KeyTable()
  var registrations: [Address: Registration]
  /// The addresses of retired process instances, in the order in which they were retired.
  var retired: [Address] = []
  /// The highest generation of a registration that was dropped or lost.
  var droppedGeneration: UInt32
  /// The highest generation that was given.
  var highestGeneration: UInt32
  /// The first number that was lost with the end of the journal, until that is recorded.
  var lostFrom: UInt64?
  var peers: [Line: Peer] = [:] { didSet { routes.forgetAll() } }
  private(set) var lines: [Address: Line] = [:] { didSet { routes.forgetAll() } }
  /// The routes of the last envelopes. They depend on `peers`, `lines` and `replicas`, and on interest, which ends only
  /// when a connection does.
  private var routes = RouteCache<Line>()
  var descriptors: [Int32: Line] = [:]
  private var ended: [Line] = []
  var interest = Interest()
  var replicas = ReplicaTable() { didSet { routes.forgetAll() } }
  var turnedAway: [String: Timestamp] = [:]
  /// The number of refused messages.
  private(set) var refusals = 0
  var actions: [Action] = []

  /// Creates the routing of a new broker.
  ///
  /// - Parameters:
  ///   - recovered: the state restored from the journal.
  ///   - standing: the standing keys from the key files.
  init(pid: Int32, recovered: JournalRecovery, standing: [StandingKeyFacts], now: Timestamp) {
    self.pid = pid
    self.generation = recovered.busGeneration + 1
    self.sequence = recovered.lastSequence
    self.now = now
    self.registrations = recovered.registrations.filter { !$0.key.role.isPassing }
    for key in recovered.formerKeys { keys.revoke(key) }
    self.droppedGeneration = recovered.droppedGeneration
    self.highestGeneration = max(generation, recovered.highestGeneration)
    self.lostFrom = recovered.lostFrom
    admitRecovered()
    for key in recovered.standingKeys.values { keys.register(key) }
    // Grace periods of the last broker are over: a holder of a previous key finds the next one in the same file.
    for key in recovered.standingKeys.values where key.hasSentHello { _ = keys.supersede(by: key.publicKey) }
    setStanding(standing)
  }

  /// Records a notice of the broker in the journal.
  mutating func recording<N: Notice>(_ notice: N) -> [Action] {
    record(notice, to: .journal)
    return takeActions()
  }

  /// The reply to a request or an event that cannot be recorded: definite, without a number and without a record. Nil
  /// for messages that wait until they can be recorded: a hello, a reply, a notice, and what is not forwarded anyway.
  func busy(_ frame: [UInt8], on line: Line) -> [UInt8]? {
    guard let peer = peers[line], peer.state == .current, let header = try? EnvelopeHeader(decoding: frame),
      header.source == peer.address, header.kind != Hello.kind, header.kind.answer == nil,
      MessageTable.refusal(of: header) == nil, MessageTable[header.kind]?.style != .notice
    else { return nil }
    let notice = Undelivered(kindName: header.kind.name, destination: header.destination, code: .busy)
    let answer = EnvelopeHeader(
      kind: Undelivered.kind, sentAt: now, cause: header.id, correlation: header.correlation, source: .messageBus,
      destination: header.source)
    guard let body = try? BodyCoding.encode(notice) else { return nil }
    return try? Envelope(header: answer, body: body).encoded()
  }

  /// Handles an event at this time, and returns the resulting actions.
  mutating func decide(at time: Timestamp, _ happened: (inout Self) -> [Action]) -> [Action] {
    now = time
    return happened(&self)
  }

  // MARK: Frames

  /// Handles a received frame. `takeActions` returns the actions of a whole batch.
  ///
  /// - Parameters:
  ///   - key: the proven key of the connection.
  ///   - descriptor: identifies the connection when its end is reported; -1 when unknown.
  mutating func received(_ frame: consuming [UInt8], on line: Line, key: String, descriptor: Int32) {
    guard let peer = peer(on: line, key: key, descriptor: descriptor) else {
      return refuse("not-registered", decoded(copy frame), owner: key, on: line, known: nil)
    }
    guard peer.malformedFrames < Self.malformedFrameLimit else { return }
    let header: EnvelopeHeader
    do {
      header = try EnvelopeHeader(decoding: copy frame, expecting: peer.address)
    } catch {
      let reason = error.code == .bodyTooLong ? BusError.Code.tooLarge.rawValue : "not-an-envelope"
      return refuseMalformed(reason, of: peer, on: line)
    }
    judge(frame, header, peer, line)
  }

  /// Handles a message of several frames, which is malformed. `takeActions` returns the actions, as above.
  mutating func receivedMultipart(on line: Line, key: String, descriptor: Int32) {
    guard let peer = peer(on: line, key: key, descriptor: descriptor) else {
      return refuse("not-an-envelope", nil, owner: key, on: line, known: nil)
    }
    guard peer.malformedFrames < Self.malformedFrameLimit else { return }
    refuseMalformed("not-an-envelope", of: peer, on: line)
  }

  /// Refuses a malformed frame, and closes the connection after too many of them.
  private mutating func refuseMalformed(_ reason: String, of peer: Peer, on line: Line) {
    refuse(reason, nil, owner: peer.owner.text, on: line, known: peer.address ?? peer.owner.onlyAddress)
    peers[line]?.malformedFrames += 1
    guard let count = peers[line]?.malformedFrames, count >= Self.malformedFrameLimit else { return }
    record(
      PeerDisconnected(keyOwner: peer.owner.text, address: peer.address, reason: reason, refusals: count), to: .journal)
    cutOff(peer, on: line)
  }

  private mutating func judge(_ frame: consuming [UInt8], _ header: EnvelopeHeader, _ peer: Peer, _ line: Line) {
    let own = peer.address ?? peer.owner.onlyAddress
    let isOwn = peer.address.map { $0 == header.source } ?? peer.owner.maySend(as: header.source)
    guard isOwn else { return refuse("role-mismatch", header, owner: peer.owner.text, on: line, known: own) }
    let isHello = header.kind == Hello.kind && header.destination == .messageBus
    switch peer.state {
    case .replaced:
      return refuse("not-registered", header, owner: peer.owner.text, on: line, known: header.source)
    case .ended where isHello, .unknown where keys[peer.key] == nil, .asked where keys[peer.key] == nil:
      return refuse("not-registered", header, owner: peer.owner.text, on: line, known: header.source)
    case .asked where !isHello:
      return
    case .unknown where !isHello:
      peers[line]?.state = .asked
      return send(HelloRequired(), to: header.source, on: line, cause: header.id)
    default: break
    }
    if let reason = MessageTable.refusal(of: header) {
      return refuse(reason, header, owner: peer.owner.text, on: line, known: header.source)
    }
    if isHello { return hello(frame, header, peer, line) }
    guard header.destination.role == .messageBus else {
      return accept(frame, header, peer.generation, from: peer.state == .current ? line : nil)
    }
    accept(copy frame, header, peer.generation)
    answer(header, body: frame.suffix(header.bodyLength), on: line)
  }

  /// Handles a received frame that is recorded and forwarded as one before: stamps it in place.
  ///
  /// - Parameter index: its place in the batch.
  /// - Returns: false when it must be judged; nothing has happened then.
  mutating func passed(_ frame: UnsafeMutableRawBufferPointer, at index: Int, on line: Line) -> Bool {
    guard let route = routes.route(of: UnsafeRawBufferPointer(frame), on: line) else { return false }
    sequence += 1
    EnvelopeHeader.stamp(
      frame, sequence: sequence, sourceGeneration: route.sourceGeneration,
      destinationGeneration: route.destinationGeneration)
    actions.append(.pass(index, to: route.destination))
    return true
  }

  /// Stamps, records and forwards an envelope.
  ///
  /// - Parameter line: the current connection of the source, to remember the route; nil not to.
  mutating func accept(
    _ frame: consuming [UInt8], _ header: EnvelopeHeader, _ generation: UInt32, from line: Line? = nil
  ) {
    let address = receiver(header)
    // What is sent to the journal is only recorded.
    let isForwarded = address.role != .journal
    let destination = isForwarded ? lines[address] ?? replicaLine(for: header.source, to: address) : nil
    let instance = destination.flatMap { peers[$0]?.generation } ?? 0
    let stamped = stamp(frame, sourceGeneration: generation, destinationGeneration: instance)
    actions.append(.record(stamped))
    guard header.destination != .messageBus else { return }
    if isForwarded {
      interest.note(header.source, in: header.destination)
      guard let destination else { return undelivered(header, .unreachable) }
      actions.append(.forward(stamped, to: destination))
    }
    guard let line else { return }
    let route = RouteCache<Line>.Route(
      line: line, sourceGeneration: generation, destination: destination, destinationGeneration: instance)
    stamped.withUnsafeBytes { routes.insert(route, of: $0) }
  }

  private mutating func stamp(
    _ frame: consuming [UInt8], sourceGeneration: UInt32, destinationGeneration: UInt32
  ) -> [UInt8] {
    sequence += 1
    EnvelopeHeader.stamp(
      &frame, sequence: sequence, sourceGeneration: sourceGeneration, destinationGeneration: destinationGeneration)
    return frame
  }

  // MARK: Messages of the broker

  /// Records a notice of the broker, and forwards it to its destination if that is connected.
  mutating func record<N: Notice>(_ notice: N, to destination: Address, cause: UUID? = nil, correlation: UUID? = nil) {
    send(notice, to: destination, on: lines[destination], cause: cause, correlation: correlation)
  }

  mutating func send<N: Notice>(
    _ notice: N, to destination: Address, on line: Line?, cause: UUID? = nil, correlation: UUID? = nil
  ) {
    guard let body = try? notice.encodedBody() else { return }
    let header = EnvelopeHeader(
      kind: N.kind, sentAt: now, cause: cause, correlation: correlation, source: .messageBus, destination: destination)
    send(Envelope(header: header, body: body), on: line)
  }

  mutating func reply<T: Encodable>(_ reply: T, to header: EnvelopeHeader, on line: Line) {
    self.reply(Result { () throws(BusError) in try BodyCoding.encode(reply) }, to: header, on: line)
  }

  mutating func reply<T: DirectJSON>(_ reply: T, to header: EnvelopeHeader, on line: Line) {
    self.reply(Result { () throws(BusError) in try BodyCoding.encode(reply) }, to: header, on: line)
  }

  private mutating func reply(_ body: Result<[UInt8], BusError>, to header: EnvelopeHeader, on line: Line) {
    do throws(BusError) {
      answer(header, .ok, try body.get(), on: line)
    } catch {
      fail(header, error, on: line)
    }
  }

  mutating func fail(_ header: EnvelopeHeader, _ error: BusError, on line: Line) {
    // A BusError consists of two short texts and a flag, so encoding cannot fail.
    answer(header, .failed, (try? BodyCoding.encode(error)) ?? [], on: line)
  }

  private mutating func answer(_ asked: EnvelopeHeader, _ kind: Kind.Answer, _ body: [UInt8], on line: Line) {
    let header = EnvelopeHeader(
      kind: asked.kind.answered(kind), sentAt: now, cause: asked.id, correlation: asked.correlation,
      source: .messageBus,
      destination: asked.source)
    send(Envelope(header: header, body: body), on: line)
  }

  private mutating func send(_ envelope: Envelope, on line: Line?) {
    // `BodyCoding` limits the body, so encoding a frame cannot fail.
    guard let frame = try? envelope.encoded() else { return }
    let instance = line.flatMap { peers[$0]?.generation } ?? 0
    let stamped = stamp(frame, sourceGeneration: generation, destinationGeneration: instance)
    actions.append(.record(stamped))
    if let line { actions.append(.forward(stamped, to: line)) }
  }

  /// Sends one `Refused` to the key's owner if that is a single address, otherwise only to the journal.
  mutating func refuse(
    _ reason: String, _ header: EnvelopeHeader?, owner: String, on line: Line, known: Address?
  ) {
    refusals += 1
    let notice = Refused(
      reason: reason, claimed: header?.source.text ?? "", keyOwner: owner, kindName: header?.kind.name ?? "",
      destination: header?.destination.text ?? "")
    send(
      notice, to: known ?? .journal, on: known == nil ? nil : line, cause: header?.id, correlation: header?.correlation)
  }

  private mutating func undelivered(_ header: EnvelopeHeader, _ code: BusError.Code) {
    let notice = Undelivered(kindName: header.kind.name, destination: header.destination, code: code)
    record(notice, to: header.source, cause: header.id, correlation: header.correlation)
  }

  private func decoded(_ frame: [UInt8]) -> EnvelopeHeader? { try? EnvelopeHeader(decoding: frame) }

  /// Returns the actions since the last call, in order.
  mutating func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }
}

// MARK: - Connections

extension Routing {
  /// The state of the connection; nil when its key is unknown or no longer accepted.
  private mutating func peer(on line: Line, key: String, descriptor: Int32) -> Peer? {
    if let peer = peers[line] { return peer }
    guard let owner = keys[key] else { return nil }
    let peer = Peer(key: key, descriptor: descriptor, owner: owner)
    peers[line] = peer
    if descriptor >= 0 { descriptors[descriptor] = line }
    return peer
  }

  /// Closes a connection, unless its descriptor belongs to another one by now.
  mutating func cutOff(_ peer: Peer, on line: Line) {
    if descriptors[peer.descriptor] == line { actions.append(.cutOff(peer.descriptor)) }
  }

  /// A connection has ended.
  mutating func lost(_ line: Line) -> [Action] {
    guard let peer = peers[line] else { return [] }
    switch peer.state {
    case .unknown, .asked: peers[line] = nil
    case .replaced: forgetLater(line)
    case .ended: break
    case .current: disconnect(line, .disconnected)
    }
    return takeActions()
  }

  /// A frame could not be sent. A message of the broker itself is then lost: either it is repeated at the next hello,
  /// or it is a reply, and the requester has a deadline.
  mutating func notSent(_ frame: [UInt8], on line: Line, isGone: Bool) -> [Action] {
    if isGone, peers[line]?.state == .current { disconnect(line, .disconnected) }
    if let header = decoded(frame), header.source != .messageBus {
      undelivered(header, isGone ? .unreachable : .busy)
    }
    return takeActions()
  }

  /// Whether one more address would exceed the limit.
  func isFull(for address: Address) -> Bool { lines[address] == nil && lines.count >= peerLimit }

  /// The number of connected addresses.
  var connectedCount: Int { lines.count }

  /// The current connection of an address.
  func line(of address: Address) -> Line? { lines[address] }

  /// Makes a connection the current one of its address.
  mutating func connect(_ line: Line, _ address: Address, generation: UInt32, replaces: Bool) {
    if let old = lines[address], old != line { end(old, replaces ? .replaced : .ended) }
    lines[address] = line
    peers[line]?.state = .current
    peers[line]?.address = address
    peers[line]?.generation = generation
  }

  /// Removes a connection from the routes, and announces that.
  mutating func disconnect(_ line: Line, _ change: RegistrationChanged.Change) {
    guard let address = peers[line]?.address, var registration = registrations[address] else { return }
    end(line, .ended)
    registration.isConnected = false
    registrations[address] = registration
    record(RegistrationChanged(change, registration), to: .journal)
    announce(Presence(address: address, isPresent: false, generation: registration.generation))
    if address.role.isPassing {
      registrations[address] = nil
      interest.forget(address)
      replicas[address] = nil
    }
  }

  mutating func end(_ line: Line, _ state: Peer.State) {
    guard let address = peers[line]?.address else { return }
    if lines[address] == line { lines[address] = nil }
    peers[line]?.state = state
    forgetLater(line)
  }

  private mutating func forgetLater(_ line: Line) {
    guard !ended.contains(line) else { return }
    ended.append(line)
    if ended.count > Self.endedLimit { peers[ended.removeFirst()] = nil }
  }

  /// Sends a presence notice to the interested and connected addresses.
  mutating func announce(_ presence: Presence) {
    for listener in interest.listeners(of: presence.address) where lines[listener] != nil {
      record(presence, to: listener)
    }
    announceReplica(presence)
  }
}
