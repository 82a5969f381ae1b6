import Conversations
import Foundation
import Journal

/// What the broker decides: who may connect, whom an envelope is from, where it goes, and what everybody is told.
///
/// A plain synchronous value without socket, clock or file. `Line` names a connection; the caller performs the effects
/// in their order, and writes down what is recorded before it forwards anything of the same batch.
struct Routing<Line: Hashable & Sendable> {
  enum Effect: Equatable {
    /// Append this stamped frame to the journal, and show it on the tap.
    case record([UInt8])
    /// Send this stamped frame over a connection.
    case forward([UInt8], to: Line)
    /// End the connection that has this descriptor.
    case cutOff(Int32)
    /// Send this process a signal.
    case raise(Int32)
  }

  /// What is known of one connection.
  struct Peer {
    enum State {
      /// Has not said hello.
      case unknown
      /// Has not said hello, and was asked who it is.
      case asked
      /// Speaks as `address`, and gets what is sent there.
      case current
      /// Is over: what it said before still counts, and may come after the news of its end.
      case ended
      /// Another process took the address over: it may say nothing more.
      case replaced
    }
    let key: String
    let descriptor: Int32
    var owner: KeyTable.Owner
    var state = State.unknown
    var address: Address?
    /// Where it sent something last: it mostly goes on with that.
    var lastDestination: Address?
    var generation: UInt32 = 0
    /// How many of its frames were no envelopes.
    var rubbish = 0
  }

  /// How many frames of a connection may be no envelopes before it is cut off.
  static var rubbishLimit: Int { 16 }
  /// How many connections are remembered after their end.
  static var endedLimit: Int { 256 }
  /// A key that is turned away is recorded once in this time, in microseconds.
  static var turnedAwayInterval: Int64 { 10_000_000 }

  let pid: Int32
  /// How many addresses may be connected at once.
  var peerLimit = Int.max
  /// The broker's own generation.
  let generation: UInt32
  /// The number of the last envelope that was stamped.
  private(set) var sequence: UInt64
  /// The time of what happens; the caller sets it before it tells of anything.
  var now: Timestamp
  var keys = KeyTable()
  var registrations: [Address: Registration]
  var peers: [Line: Peer] = [:]
  private var lines: [Address: Line] = [:]
  private var descriptors: [Int32: Line] = [:]
  private var ended: [Line] = []
  var interest = Interest()
  var turnedAway: [String: Timestamp] = [:]
  var effects: [Effect] = []

  /// The routing of a new broker.
  ///
  /// - Parameters:
  ///   - recovered: what its predecessor's journal tells.
  ///   - standing: the standing keys, z85, with what each may speak as.
  init(pid: Int32, recovered: JournalRecovery, standing: [String: AddressPattern], now: Timestamp) {
    self.pid = pid
    self.generation = recovered.busGeneration + 1
    self.sequence = recovered.lastSequence
    self.now = now
    self.registrations = recovered.registrations.filter { $0.key.role != .operator }
    for key in recovered.formerKeys { keys.revoke(key) }
    for registration in registrations.values {
      guard let key = registration.publicKey else { continue }
      if registration.isRetired {
        keys.revoke(key)
      } else {
        keys.admit(key, registration.address, generation: registration.generation)
      }
    }
    setStanding(standing)
  }

  /// Takes over the standing keys. None of them speaks as the bus, whose key stands in the same folder.
  mutating func setStanding(_ standing: [String: AddressPattern]) {
    keys.setStanding(standing.filter { !$0.value.matches(.messageBus) && !$0.value.matches(.journal) })
  }

  /// The first record of a segment: all that is known.
  mutating func started() -> [UInt8] {
    let known = registrations.values.filter { $0.address.role != .operator }.sorted {
      $0.address.text < $1.address.text
    }
    record(BusStarted(pid: pid, generation: generation, registrations: known), to: .journal)
    guard case .record(let frame)? = takeEffects().first else {
      preconditionFailure("the bus knows too many addresses for one record: \(known.count)")
    }
    return frame
  }

  /// The broker says something of itself, for the record.
  mutating func tells<N: Notice>(_ notice: N) -> [Effect] {
    record(notice, to: .journal)
    return takeEffects()
  }

  /// The answer to a request or an event that cannot be recorded: definite, without a number and without a record. Nil
  /// for everything that waits until it can be: a hello, an answer, a notice, and what is not to be forwarded anyway.
  func busy(_ frame: [UInt8], on line: Line) -> [UInt8]? {
    guard let peer = peers[line], peer.state == .current, let header = try? EnvelopeHeader(decoding: frame),
      header.source == peer.address, header.kind != Hello.kind, header.kind.answer == nil,
      ConversationTable.refusal(of: header) == nil, ConversationTable[header.kind]?.style != .notice
    else { return nil }
    let notice = Undelivered(kindName: header.kind.name, destination: header.destination, code: .busy)
    let answer = EnvelopeHeader(
      kind: Undelivered.kind, sentAt: now, cause: header.id, correlation: header.correlation, source: .messageBus,
      destination: header.source)
    guard let body = try? BodyCoding.encode(notice) else { return nil }
    return try? Envelope(header: answer, body: body).encoded()
  }

  /// Tells of something that happens at this time, and returns what is to be done about it.
  mutating func decide(at time: Timestamp, _ happened: (inout Self) -> [Effect]) -> [Effect] {
    now = time
    return happened(&self)
  }

  // MARK: Frames

  /// A frame arrived. The effects are those of a batch: `takeEffects` hands them over.
  ///
  /// - Parameters:
  ///   - key: the key that the connection has proven to hold.
  ///   - descriptor: what names the connection when its end is told; -1 when unknown.
  mutating func received(_ frame: consuming [UInt8], on line: Line, key: String, descriptor: Int32) {
    guard let peer = peer(on: line, key: key, descriptor: descriptor) else {
      return refuse("not-registered", decoded(copy frame), owner: key, on: line, known: nil)
    }
    guard peer.rubbish < Self.rubbishLimit else { return }
    let header: EnvelopeHeader
    do {
      header = try EnvelopeHeader(decoding: copy frame, expecting: peer.address, to: peer.lastDestination)
    } catch {
      let reason = error.code == .bodyTooLong ? BusError.Code.tooLarge.rawValue : "not-an-envelope"
      return refuseRubbish(reason, of: peer, on: line)
    }
    if header.destination != peer.lastDestination { peers[line]?.lastDestination = header.destination }
    judge(frame, header, peer, line)
  }

  /// A message of several frames arrived, which is no envelope. The effects are those of a batch, as above.
  mutating func receivedMultipart(on line: Line, key: String, descriptor: Int32) {
    guard let peer = peer(on: line, key: key, descriptor: descriptor) else {
      return refuse("not-an-envelope", nil, owner: key, on: line, known: nil)
    }
    guard peer.rubbish < Self.rubbishLimit else { return }
    refuseRubbish("not-an-envelope", of: peer, on: line)
  }

  /// Refuses what no sending library of ours sends, and cuts the connection off when there is no end of it.
  private mutating func refuseRubbish(_ reason: String, of peer: Peer, on line: Line) {
    refuse(reason, nil, owner: peer.owner.text, on: line, known: peer.address ?? peer.owner.onlyAddress)
    peers[line]?.rubbish += 1
    guard let count = peers[line]?.rubbish, count >= Self.rubbishLimit else { return }
    record(
      PeerCutOff(keyOwner: peer.owner.text, address: peer.address, reason: reason, refusals: count), to: .journal)
    if descriptors[peer.descriptor] == line { effects.append(.cutOff(peer.descriptor)) }
  }

  private mutating func judge(_ frame: consuming [UInt8], _ header: EnvelopeHeader, _ peer: Peer, _ line: Line) {
    let own = peer.address ?? peer.owner.onlyAddress
    let isOwn = peer.address.map { $0 == header.source } ?? peer.owner.maySpeak(as: header.source)
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
      return say(WhoAreYou(), to: header.source, on: line, cause: header.id)
    default: break
    }
    if let reason = ConversationTable.refusal(of: header) {
      return refuse(reason, header, owner: peer.owner.text, on: line, known: header.source)
    }
    if isHello { return hello(frame, header, peer, line) }
    guard header.destination.role == .messageBus else { return accept(frame, header, peer.generation) }
    accept(copy frame, header, peer.generation)
    answer(header, body: frame.suffix(header.bodyLength), on: line)
  }

  /// Stamps, records and forwards.
  mutating func accept(_ frame: consuming [UInt8], _ header: EnvelopeHeader, _ generation: UInt32) {
    let destination = lines[header.destination]
    let life = destination.flatMap { peers[$0]?.generation } ?? 0
    let stamped = stamp(frame, sourceGeneration: generation, destinationGeneration: life)
    effects.append(.record(stamped))
    guard header.destination.role != .journal, header.destination != .messageBus else { return }
    interest.note(header.source, in: header.destination)
    if let destination {
      effects.append(.forward(stamped, to: destination))
    } else {
      undelivered(header, .unreachable)
    }
  }

  private mutating func stamp(
    _ frame: consuming [UInt8], sourceGeneration: UInt32, destinationGeneration: UInt32
  ) -> [UInt8] {
    sequence += 1
    EnvelopeHeader.stamp(
      &frame, sequence: sequence, sourceGeneration: sourceGeneration, destinationGeneration: destinationGeneration)
    return frame
  }

  // MARK: What the broker itself says

  /// Records a notice of the broker, and forwards it to where its destination is connected.
  mutating func record<N: Notice>(_ notice: N, to destination: Address, cause: UUID? = nil, correlation: UUID? = nil) {
    say(notice, to: destination, on: lines[destination], cause: cause, correlation: correlation)
  }

  mutating func say<N: Notice>(
    _ notice: N, to destination: Address, on line: Line?, cause: UUID? = nil, correlation: UUID? = nil
  ) {
    guard let body = try? BodyCoding.encode(notice) else { return }
    let header = EnvelopeHeader(
      kind: N.kind, sentAt: now, cause: cause, correlation: correlation, source: .messageBus, destination: destination)
    send(Envelope(header: header, body: body), on: line)
  }

  mutating func reply<T: Encodable>(_ reply: T, to header: EnvelopeHeader, on line: Line) {
    do {
      answer(header, .ok, try BodyCoding.encode(reply), on: line)
    } catch {
      fail(header, error, on: line)
    }
  }

  mutating func fail(_ header: EnvelopeHeader, _ error: BusError, on line: Line) {
    // A BusError is two short texts and a flag: it has an encoding.
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
    // Bodies come from BodyCoding, which keeps the limit, so there is a frame.
    guard let frame = try? envelope.encoded() else { return }
    let life = line.flatMap { peers[$0]?.generation } ?? 0
    let stamped = stamp(frame, sourceGeneration: generation, destinationGeneration: life)
    effects.append(.record(stamped))
    if let line { effects.append(.forward(stamped, to: line)) }
  }

  /// A refusal is one envelope: to the key's owner if that is one address, else for the journal only.
  mutating func refuse(
    _ reason: String, _ header: EnvelopeHeader?, owner: String, on line: Line, known: Address?
  ) {
    let notice = Refused(
      reason: reason, claimed: header?.source.text ?? "", keyOwner: owner, kindName: header?.kind.name ?? "",
      destination: header?.destination.text ?? "")
    say(
      notice, to: known ?? .journal, on: known == nil ? nil : line, cause: header?.id, correlation: header?.correlation)
  }

  private mutating func undelivered(_ header: EnvelopeHeader, _ code: BusError.Code) {
    let notice = Undelivered(kindName: header.kind.name, destination: header.destination, code: code)
    record(notice, to: header.source, cause: header.id, correlation: header.correlation)
  }

  private func decoded(_ frame: [UInt8]) -> EnvelopeHeader? { try? EnvelopeHeader(decoding: frame) }

  /// What has to be done since it was last asked for, in order.
  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }
}

// MARK: - Connections

extension Routing {
  /// What is known of the connection; nil when its key is not or no longer known.
  private mutating func peer(on line: Line, key: String, descriptor: Int32) -> Peer? {
    if let peer = peers[line] { return peer }
    guard let owner = keys[key] else { return nil }
    let peer = Peer(key: key, descriptor: descriptor, owner: owner)
    peers[line] = peer
    if descriptor >= 0 { descriptors[descriptor] = line }
    return peer
  }

  /// The connection that has this descriptor now. From here on the descriptor names no connection any more.
  mutating func release(_ descriptor: Int32) -> Line? { descriptors.removeValue(forKey: descriptor) }

  /// A connection is over.
  mutating func lost(_ line: Line) -> [Effect] {
    guard let peer = peers[line] else { return [] }
    switch peer.state {
    case .unknown, .asked: peers[line] = nil
    case .replaced: forgetLater(line)
    case .ended: break
    case .current: disconnect(line, .disconnected)
    }
    return takeEffects()
  }

  /// A frame could not be sent. What the broker itself said is lost then: it is told again at the next hello, or it is
  /// an answer, whose asker has a deadline.
  mutating func notSent(_ frame: [UInt8], on line: Line, isGone: Bool) -> [Effect] {
    if isGone, peers[line]?.state == .current { disconnect(line, .disconnected) }
    if let header = decoded(frame), header.source != .messageBus {
      undelivered(header, isGone ? .unreachable : .busy)
    }
    return takeEffects()
  }

  /// Whether one more address would be too many.
  func isFull(for address: Address) -> Bool { lines[address] == nil && lines.count >= peerLimit }

  /// The current connection of an address.
  func line(of address: Address) -> Line? { lines[address] }

  /// Makes a connection the one of its address.
  mutating func connect(_ line: Line, _ address: Address, generation: UInt32, replaces: Bool) {
    if let old = lines[address], old != line { end(old, replaces ? .replaced : .ended) }
    lines[address] = line
    peers[line]?.state = .current
    peers[line]?.address = address
    peers[line]?.generation = generation
  }

  /// Takes a connection out of the routes, and tells it.
  mutating func disconnect(_ line: Line, _ change: RegistrationChanged.Change) {
    guard let address = peers[line]?.address, var registration = registrations[address] else { return }
    end(line, .ended)
    registration.isConnected = false
    registrations[address] = registration
    record(RegistrationChanged(change, registration), to: .journal)
    tell(Presence(address: address, isPresent: false, generation: registration.generation))
    if address.role == .operator {
      registrations[address] = nil
      interest.forget(address)
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

  /// Tells whoever is interested and connected.
  mutating func tell(_ presence: Presence) {
    for listener in interest.listeners(of: presence.address) where lines[listener] != nil {
      record(presence, to: listener)
    }
  }
}
