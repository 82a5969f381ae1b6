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
    judge(frame, header: header, peer: peer, line: line)
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

  private mutating func judge(_ frame: consuming [UInt8], header: EnvelopeHeader, peer: Peer, line: Line) {
    let ownAddress = peer.address ?? peer.owner.onlyAddress
    let isOwn = peer.address.map { $0 == header.source } ?? peer.owner.maySend(as: header.source)
    guard isOwn else { return refuse("role-mismatch", header, owner: peer.owner.text, on: line, known: ownAddress) }
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
    case .unknown, .asked, .current, .ended: break
    }
    if let reason = MessageTable.refusal(of: header) {
      return refuse(reason, header, owner: peer.owner.text, on: line, known: header.source)
    }
    if isHello { return hello(frame, header: header, peer: peer, line: line) }
    guard header.destination.role == .messageBus else {
      return accept(frame, header: header, generation: peer.generation, from: peer.state == .current ? line : nil)
    }
    accept(copy frame, header: header, generation: peer.generation)
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
  private mutating func accept(
    _ frame: consuming [UInt8], header: EnvelopeHeader, generation: UInt32, from line: Line? = nil
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
      answer(header, kind: .ok, body: try body.get(), on: line)
    } catch {
      fail(header, error, on: line)
    }
  }

  private mutating func fail(_ header: EnvelopeHeader, _ error: BusError, on line: Line) {
    // A BusError consists of two short texts and a flag, so encoding cannot fail.
    answer(header, kind: .failed, body: (try? BodyCoding.encode(error)) ?? [], on: line)
  }

  private mutating func answer(_ question: EnvelopeHeader, kind: Kind.Answer, body: [UInt8], on line: Line) {
    let header = EnvelopeHeader(
      kind: question.kind.answered(kind), sentAt: now, cause: question.id, correlation: question.correlation,
      source: .messageBus,
      destination: question.source)
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
    _ reason: String, _ header: EnvelopeHeader?, owner: String, on line: Line, known knownAddress: Address?
  ) {
    refusals += 1
    let notice = Refused(
      reason: reason, claimed: header?.source.text ?? "", keyOwner: owner, kindName: header?.kind.name ?? "",
      destination: header?.destination.text ?? "")
    send(
      notice, to: knownAddress ?? .journal, on: knownAddress == nil ? nil : line, cause: header?.id,
      correlation: header?.correlation)
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
  private mutating func disconnect(_ line: Line, _ change: RegistrationChanged.Change) {
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
  private mutating func announce(_ presence: Presence) {
    for listener in interest.listeners(of: presence.address) where lines[listener] != nil {
      record(presence, to: listener)
    }
    announceReplica(presence)
  }
}

extension Routing {
  enum Action: Equatable {
    /// Append this stamped frame to the journal, and publish it on the tap.
    case record([UInt8])
    /// Append the stamped frame at this place of the received batch to the journal, publish it on the tap, and send it
    /// on a connection, if any.
    case pass(Int, to: Line?)
    /// Send this stamped frame on a connection.
    case forward([UInt8], to: Line)
    /// Close the connection with this descriptor.
    case cutOff(Int32)
    /// Send this process a signal.
    case raise(Int32)
    /// Call `supersede(by:)` with this key when the grace period has passed.
    case supersede(String)
    /// Close the connections at the tap; permitted viewers reconnect.
    case cutOffViewers
    /// A replica has connected: see `Broker.watchReplicas`.
    case watchReplicas
  }

  /// The state of one connection.
  struct Peer {
    enum State {
      /// Has not sent a hello.
      case unknown
      /// Has not sent a hello, and was asked for one.
      case asked
      /// Sends as `address`, and receives what is sent there.
      case current
      /// Has ended: frames that it sent before are still valid, and may arrive after the notice of its end.
      case ended
      /// Another process took the address over: its frames are refused.
      case replaced
    }
    let key: String
    let descriptor: Int32
    var owner: KeyTable.Owner
    var state = State.unknown
    var address: Address?
    var generation: UInt32 = 0
    /// The number of malformed frames.
    var malformedFrames = 0
  }
}

// Admission of connections.

extension Routing {
  /// Returns the connection with this descriptor, and frees the descriptor for another connection.
  mutating func release(_ descriptor: Int32) -> Line? { descriptors.removeValue(forKey: descriptor) }

  enum Admission: Equatable {
    case admitted
    /// Unknown for now; a later broker or key file may contain it.
    case unknown
    /// Rejected permanently.
    case refused
  }

  /// Decides whether the holder of a key may connect to the bus, or to the tap.
  mutating func authenticate(_ key: String, isTap: Bool, peerAddress: String) -> (Admission, [Action]) {
    if let owner = keys[key] {
      guard isTap, !owner.isOperator else { return (.admitted, []) }
      return (.refused, turnAway("not-an-operator", key: key, peerAddress: peerAddress))
    }
    let isRevoked = keys.isRevoked(key)
    return (
      isRevoked ? .refused : .unknown,
      turnAway(isRevoked ? "revoked-key" : "unknown-key", key: key, peerAddress: peerAddress)
    )
  }

  /// Records a rejected connection: once in ten seconds per key, since the client retries.
  mutating func turnAway(_ reason: String, key: String, peerAddress: String) -> [Action] {
    let name = key.isEmpty ? reason : key
    if let last = turnedAway[name], now.microseconds - last.microseconds < Self.turnedAwayInterval { return [] }
    if turnedAway.count > 4096 { turnedAway = [:] }
    turnedAway[name] = now
    record(AuthenticationFailed(reason: reason, publicKey: key, peerAddress: peerAddress), to: .journal)
    return takeActions()
  }
}

// How many registrations the broker keeps, and the record with all of them.

extension Routing {
  /// The maximum number of known addresses, which must fit into the first record of a segment.
  static var addressLimit: Int { 480 }

  /// Accepts the keys of the registrations that were restored, and drops registrations beyond the limit.
  private mutating func admitRecovered() {
    for registration in registrations.values.sorted(by: { $0.address.text < $1.address.text }) {
      guard let key = registration.publicKey else { continue }
      if registration.isRetired {
        keys.revoke(key)
        retired.append(registration.address)
      } else {
        keys.admit(key, registration.address, generation: registration.generation)
      }
    }
    while registrations.count > Self.addressLimit, dropRetired() {}
  }

  /// Makes room for one more address: drops the registration that was retired first, if there are too many.
  ///
  /// - Returns: `false` when there is no room, since all process instances are still running.
  private mutating func makeRoom() -> Bool {
    while registrations.count >= Self.addressLimit {
      guard dropRetired() else { return false }
    }
    return true
  }

  /// Drops one registration of a process instance that has ended.
  private mutating func dropRetired() -> Bool {
    guard let index = retired.firstIndex(where: { line(of: $0) == nil }) else { return false }
    let address = retired.remove(at: index)
    droppedGeneration = max(droppedGeneration, registrations[address]?.generation ?? 0)
    registrations[address] = nil
    return true
  }

  /// Gives the next generation of an address: higher than those before it, also those that are not known any more, so that
  /// address and generation identify one process instance forever.
  private mutating func nextGeneration(after formerRegistration: Registration?) -> UInt32 {
    let next = max(formerRegistration?.generation ?? 0, droppedGeneration) + 1
    highestGeneration = max(highestGeneration, next)
    return next
  }

  /// Whether a process instance can have been retired and dropped, or was lost. An agent repeats a request whose reply was
  /// lost.
  private func wasDropped(_ address: Address, _ generation: UInt32) -> Bool {
    generation <= droppedGeneration && generation > registrations[address]?.generation ?? 0
  }

  /// The first record of a segment, with the whole state.
  mutating func started() -> [UInt8] {
    let knownRegistrations = registrations.values.filter { !$0.address.role.isPassing }.sorted {
      $0.address.text < $1.address.text
    }
    let (registered, revoked) = keys.recorded
    record(
      BusStarted(
        pid: pid, generation: generation, registrations: knownRegistrations, keys: registered, revoked: revoked,
        droppedGeneration: droppedGeneration, lostFrom: lostFrom.take()),
      to: .journal)
    guard case .record(let frame)? = takeActions().first else {
      preconditionFailure("too many addresses for one record: \(knownRegistrations.count)")
    }
    return frame
  }
}

// Replacement of standing keys. A key is accepted until a later one of its pattern was used and the grace period has
// passed. Each step is recorded in the journal before it is announced, so that the next broker continues from there.

extension Routing {
  /// Sets the standing keys. None of them may be for the bus itself, whose key is in the same folder.
  mutating func setStanding(_ standing: [StandingKeyFacts]) {
    keys.setStanding(standing.filter { !$0.pattern.matches(.messageBus) && !$0.pattern.matches(.journal) })
  }

  /// Registers the sender's next key. Idempotent.
  mutating func register(_ request: RegisterKey, by source: Address) throws(BusError) -> RegisterKey.Reply {
    let pattern = try pattern(of: request, by: source)
    let key = request.publicKey
    guard Self.isPublicKey(key) else { throw BusError(.malformed, "a public key is 40 characters of Z85") }
    if let known = keys.facts(key), known.pattern == pattern {
      return RegisterKey.Reply(key: known, graceSeconds: keyGrace)
    }
    guard keys[key] == nil, !keys.isRevoked(key) else {
      throw BusError(.keyInUse, "this key belongs to another holder")
    }
    guard keys.hasRoom(for: pattern) else {
      throw BusError(
        BusError.Code("too-many-keys"), "\(pattern) has too many unused keys; use them before registering another")
    }
    let facts = StandingKeyFacts(pattern: pattern, publicKey: key, since: keys.time(for: pattern, notBefore: now))
    keys.register(facts)
    record(KeyChanged(.registered, facts), to: .journal)
    return RegisterKey.Reply(key: facts, graceSeconds: keyGrace)
  }

  /// The pattern of the key: the sender's own, or one that an operator may renew for a holder that is not a process of
  /// the cluster.
  private func pattern(of request: RegisterKey, by source: Address) throws(BusError) -> AddressPattern {
    guard let line = line(of: source), case .standing(let ownPattern)? = peers[line]?.owner else {
      throw BusError(.refused, "\(source) does not use a standing key")
    }
    guard let pattern = request.pattern, pattern != ownPattern else { return ownPattern }
    guard source.role == .operator, [AddressPattern.watchers, .fleets, AddressPattern(.provider)].contains(pattern)
    else {
      throw BusError(.refused, "\(source) may not register a key of \(pattern): only its holder may")
    }
    return pattern
  }

  /// A hello was sent with this key.
  private mutating func recordFirstUse(_ key: String) {
    guard let facts = keys.markUsed(key) else { return }
    record(KeyChanged(.used, facts), to: .journal)
    actions.append(.supersede(key))
  }

  /// The grace period after a key's first hello has passed: the earlier keys of its pattern are revoked.
  mutating func supersede(by key: String) -> [Action] {
    let formerKey = keys.supersede(by: key)
    for facts in formerKey { record(KeyChanged(.revoked, facts), to: .journal) }
    let revoked = Set(formerKey.map(\.publicKey))
    for (line, peer) in peers where revoked.contains(peer.key) {
      if peer.state == .current { disconnect(line, .disconnected) }
      peers[line]?.state = .replaced
      cutOff(peer, on: line)
    }
    if formerKey.contains(where: { $0.pattern.text.hasPrefix("operator/") }) { actions.append(.cutOffViewers) }
    return takeActions()
  }

  /// Whether a text can be a public key.
  private static func isPublicKey(_ text: String) -> Bool {
    let others = ".-:+=^!/*?&<>()[]{}@%$#"
    return text.utf8.count == 40
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
  }
}

// Requests to the broker itself.

extension Routing {
  /// Handles a hello. Its record comes first and contains the generation that it assigned.
  mutating func hello(_ frame: [UInt8], header: EnvelopeHeader, peer: Peer, line: Line) {
    let hello: Hello
    do {
      hello = try BodyCoding.decode(Hello.self, from: Array(frame.suffix(header.bodyLength)))
    } catch {
      accept(frame, header: header, generation: 0)
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
    accept(frame, header: header, generation: registration.generation)
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

/// Which replica gets what a sender sends to the address that replicas share.
struct ReplicaTable {
  private var replicas: [Address: Address] = [:]
  /// The connected replicas that have lost their database. They get senders only when all have.
  var waitingReplicas: Set<Address> = []

  /// The replica of a sender.
  subscript(sender: Address) -> Address? {
    get { replicas[sender] }
    set { replicas[sender] = newValue }
  }

  /// The senders of a replica, in order.
  func senders(of replica: Address) -> [Address] {
    replicas.filter { $0.value == replica }.keys.sorted { $0.text < $1.text }
  }

  func count(of replica: Address) -> Int { replicas.values.count { $0 == replica } }
}

// `push-server` is an address without a process when there are replicas. A sender stays with one replica as long as that
// is connected, so that its messages arrive in order, and so that the replica that knows a device gets its messages.

extension Routing {
  /// The connection for an envelope to an address to which no process is connected; `nil` if no replica serves it.
  private mutating func replicaLine(for sender: Address, to destination: Address) -> Line? {
    guard destination == .pushServer else { return nil }
    if let line = replicas[sender].flatMap({ line(of: $0) }) { return line }
    replicas[sender] = freeReplica
    return replicas[sender].flatMap { line(of: $0) }
  }

  /// The connected replica with the fewest senders.
  private var freeReplica: Address? {
    let connected = lines.keys.filter(\.isReplica)
    let ready = connected.filter { !replicas.waitingReplicas.contains($0) }
    return (ready.isEmpty ? connected : ready).min { one, other in
      (replicas.count(of: one), one.text) < (replicas.count(of: other), other.text)
    }
  }

  /// Announces the shared address to the senders of a replica that has connected or disconnected.
  private mutating func announceReplica(_ presence: Presence) {
    if presence.isPresent, presence.address.isReplica { actions.append(.watchReplicas) }
    guard presence.address.isReplica, line(of: .pushServer) == nil else { return }
    let replica = presence.address
    replicas.waitingReplicas.remove(replica)
    if presence.isPresent {
      for sender in interest.listeners(of: .pushServer) where lines[sender] != nil {
        guard replicas[sender].map({ $0 == replica || line(of: $0) == nil }) ?? true else { continue }
        replicas[sender] = replica
        record(Presence(address: .pushServer, isPresent: true, generation: presence.generation), to: sender)
      }
      return
    }
    moveSenders(of: replica)
  }

  /// The descriptors of the connected replicas.
  var replicaDescriptors: [Int32] {
    lines.filter(\.key.isReplica).values.compactMap { line in
      peers[line].map(\.descriptor).flatMap { descriptors[$0] == line ? $0 : nil }
    }
  }

  /// A replica has lost its database, or has it again. Its senders move when there is one that is ready.
  private mutating func replicaChanged(_ replica: Address, isReady: Bool) {
    guard replica.isReplica, let line = line(of: replica), lines[replica] == line else { return }
    guard !isReady else {
      replicas.waitingReplicas.remove(replica)
      for other in replicas.waitingReplicas.sorted(by: { $0.text < $1.text }) { moveSenders(of: other) }
      return
    }
    // It repeats the notice. A sender that was mapped to it since then moves too.
    let isNew = replicas.waitingReplicas.insert(replica).inserted
    guard isNew || replicas.count(of: replica) > 0, freeReplica.map(replicas.waitingReplicas.contains) == false else {
      return
    }
    moveSenders(of: replica)
  }

  /// Announces to the senders of a replica that another one is responsible for them.
  private mutating func moveSenders(of replica: Address) {
    let formerGeneration = registrations[replica]?.generation ?? 0
    // Senders that have acknowledged something to it are its devices, even if an earlier broker had another table.
    for sender in Set(replicas.senders(of: replica) + interest.listeners(of: replica)).sorted(by: { $0.text < $1.text })
    {
      if replicas[sender] == replica { replicas[sender] = nil }
      guard lines[sender] != nil else { continue }
      record(Presence(address: .pushServer, isPresent: false, generation: formerGeneration), to: sender)
      guard let next = replicas[sender] ?? freeReplica, let generation = registrations[next]?.generation else {
        continue
      }
      replicas[sender] = next
      record(Presence(address: .pushServer, isPresent: true, generation: generation), to: sender)
    }
  }
}
