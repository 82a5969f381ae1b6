// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// The protocol state of one address: pending requests, unacknowledged events, recently seen message ids.
///
/// A synchronous value without clock or socket: events in, actions out, in order. The connection performs the actions.
struct PeerSession {
  /// An action of the connection.
  enum Action: Equatable {
    case send(Envelope)
    /// Pass the envelope to the handler of its message type.
    case handle(Envelope)
    /// A request or an event of this address is finished.
    case finish(UUID, Result<[UInt8], BusError>)
    case presence(Presence)
    /// The broker replied to the hello.
    case welcomed(generation: UInt32)
    /// The broker has received everything sent before `drain()`.
    case drained
    /// The broker has no room at present: send the hello again later.
    case helloLater
    /// Send the event again later: its destination had no room.
    case tryAgainLater(UUID)
  }

  /// A sent message that awaits a reply.
  private struct Awaiting {
    var envelope: Envelope
    var isEvent: Bool
    var waits: WhenUnreachable
    var number: UInt64
    var progress = Progress.unsent
  }

  private enum Progress {
    /// Never sent: it waits for the broker, and counts towards the limit.
    case unsent
    /// Sent on the current transport.
    case sent
    /// Sent before; it waits for the transport or its destination, to be sent again.
    case interrupted
  }

  /// A notice or a reply that waits for the broker.
  private struct Unsent {
    var envelope: Envelope
    var number: UInt64
  }

  let address: Address
  let incarnation: UUID
  let pid: Int32
  /// The sender's database, and how often it was opened.
  let store: (identity: UUID, opening: Int)?
  private(set) var isWelcome = false
  private var helloID: UUID?
  /// The body of every hello.
  private var helloBody: [UInt8]?
  /// Whether this address has sent a hello.
  private var hasGreeted = false
  /// Whether requests and events follow the first hello before its reply. The broker handles what it receives from a
  /// transport in order, so it knows the sender by then. Later hellos are rare, and nothing waits for their reply.
  private var sendsAhead = false
  private var drainID: UUID?
  /// A hello awaits its reply.
  var isGreeting: Bool { helloID != nil }
  private var awaiting: [UUID: Awaiting] = [:]
  /// How many of `awaiting` were never sent.
  private var unsentAwaiting = 0
  private var unsentNotices = Queue<Unsent>()
  private var unsentReplies: [Unsent] = []
  /// Messages are numbered in the order in which the connection passed them on, and are sent and sent again in that
  /// order. They are sorted when that happens, so that a finished one is removed from `awaiting` in constant time.
  private var lastNumber: UInt64 = 0
  /// Requests and events whose handlers run, with the last sender of each.
  private var inHand: [UUID: Address] = [:]
  private var answered: Remembered<UUID, Envelope>

  /// How many messages may wait for the broker. Beyond it each new message replaces the oldest waiting notice.
  ///
  /// When no notice is left, a new notice is dropped, and a new request fails at once with `busy` (definite). Replies
  /// and events are kept beyond the limit: there are at most as many replies as requests and events were received
  /// before the broker disconnected, and an event's sender relies on its delivery and holds its content anyway.
  let unsentLimit: Int

  /// - Parameter unsentLimit: by default twice the ten thousand tasks that a large session has, so that an author's
  ///   process can cancel all of them while the broker restarts.
  init(
    address: Address, incarnation: UUID, pid: Int32, store: (identity: UUID, opening: Int)? = nil,
    unsentLimit: Int = 20_000
  ) {
    self.address = address
    self.incarnation = incarnation
    self.pid = pid
    self.store = store
    self.unsentLimit = unsentLimit
    self.answered = Remembered(limit: 4096)
  }

  // MARK: The transport

  /// Encodes the hello. The first encoding of a type takes 0.3 ms: call this while the transport connects.
  mutating func prepareHello() {
    guard helloBody == nil else { return }
    helloBody = try? BodyCoding.encode(
      Hello(incarnation: incarnation, pid: pid, store: store?.identity, opening: store?.opening))
  }

  /// The transport is connected: sends a hello, and after the first one the requests and events that wait.
  mutating func up() -> [Action] {
    let hello = sendHello()
    helloID = hello?.header.id
    drainID = nil
    // A notice must not be lost with a refused hello, and nothing overtakes it.
    sendsAhead = !hasGreeted && hello != nil && unsentNotices.isEmpty && unsentReplies.isEmpty
    hasGreeted = true
    return (hello.map { [.send($0)] } ?? []) + (sendsAhead ? sendWaiting() : [])
  }

  /// Another transport will replace this one: sends only one more hello, whose reply confirms that the broker has
  /// received everything before it.
  mutating func drain() -> [Action] {
    let hello = sendHello()
    drainID = hello?.header.id
    return hello.map { [.send($0)] } ?? []
  }

  /// The replacement was cancelled: continues with this transport.
  mutating func undrain() -> [Action] { drainID == nil ? [] : up() }

  private mutating func sendHello() -> Envelope? {
    isWelcome = false
    prepareHello()
    guard let body = helloBody else { return nil }
    return Envelope(header: EnvelopeHeader(kind: Hello.kind, source: address, destination: .messageBus), body: body)
  }

  /// The delay of `helloLater` has passed.
  mutating func helloAgain() -> [Action] { helloID == nil || isWelcome ? [] : up() }

  /// The transport disconnected: sent messages may be lost.
  mutating func down() {
    isWelcome = false
    helloID = nil
    drainID = nil
    interruptAll()
  }

  private mutating func welcome(_ envelope: Envelope) -> [Action] {
    helloID = nil
    guard let reply = try? BodyCoding.decode(Hello.Reply.self, from: envelope.body) else { return [] }
    isWelcome = true
    sendsAhead = false
    return [.welcomed(generation: reply.generation)] + sendWaiting()
  }

  /// Sends everything that waits for the broker, in order.
  private mutating func sendWaiting() -> [Action] {
    var waitingMessages = unsentNotices.elements + unsentReplies
    unsentNotices.removeAll()
    unsentReplies = []
    for item in Array(awaiting.values) {
      if let envelope = startSending(item.envelope.header.id) {
        waitingMessages.append(Unsent(envelope: envelope, number: item.number))
      }
    }
    waitingMessages.sort { $0.number < $1.number }
    return waitingMessages.map { .send($0.envelope) }
  }

  // MARK: Sending

  /// Sends a notice.
  mutating func sendNotice(_ envelope: Envelope) -> [Action] {
    if isWelcome { return [.send(envelope)] }
    sendsAhead = false
    if makeRoom() { unsentNotices.append(Unsent(envelope: envelope, number: nextNumber())) }
    return []
  }

  private mutating func sendReply(_ envelope: Envelope) -> [Action] {
    if isWelcome { return [.send(envelope)] }
    _ = makeRoom()
    unsentReplies.append(Unsent(envelope: envelope, number: nextNumber()))
    return []
  }

  /// Sends a request or an event. A request may fail at once: see `unsentLimit`.
  mutating func ask(_ envelope: Envelope, isEvent: Bool, waits: WhenUnreachable) -> [Action] {
    let header = envelope.header
    forget(header.id)
    let isSent = isWelcome || sendsAhead
    guard isSent || makeRoom() || isEvent else {
      let text = "\(header.kind) to \(header.destination): too many messages of \(address) wait for the bus"
      return [.finish(header.id, .failure(BusError(.busy, text)))]
    }
    awaiting[header.id] = Awaiting(envelope: envelope, isEvent: isEvent, waits: waits, number: nextNumber())
    unsentAwaiting += 1
    return isSent ? sendAwaiting(header.id) : []
  }

  /// Drops the oldest waiting notice if the limit is reached.
  ///
  /// - Returns: whether one more message may wait.
  private mutating func makeRoom() -> Bool {
    unsentNotices.count + unsentReplies.count + unsentAwaiting < unsentLimit || unsentNotices.popFirst() != nil
  }

  private mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// The sender no longer waits.
  mutating func forget(_ id: UUID) {
    if awaiting.removeValue(forKey: id)?.progress == .unsent { unsentAwaiting -= 1 }
  }

  /// The delay of `tryAgainLater` has passed.
  mutating func tryAgain(_ id: UUID) -> [Action] {
    isWelcome ? sendAwaiting(id) : []
  }

  private mutating func sendAwaiting(_ id: UUID) -> [Action] { startSending(id).map { [.send($0)] } ?? [] }

  /// Returns the envelope of a request or an event that has to be sent now, and counts the attempt; `nil` when it is
  /// finished or already sent on this transport.
  private mutating func startSending(_ id: UUID) -> Envelope? {
    guard var item = awaiting[id], item.progress != .sent else { return nil }
    if item.progress == .unsent { unsentAwaiting -= 1 }
    item.progress = .sent
    let envelope = item.envelope
    item.envelope.header.attempt &+= 1
    awaiting[id] = item
    return envelope
  }

  /// A sent message may be lost: it is sent again later.
  private mutating func interrupt(_ id: UUID) {
    if awaiting[id]?.progress == .sent { awaiting[id]?.progress = .interrupted }
  }

  private mutating func interruptAll() {
    sendsAhead = false
    for id in awaiting.keys { interrupt(id) }
  }

  private mutating func finish(_ id: UUID, _ result: Result<[UInt8], BusError>) -> [Action] {
    guard awaiting[id] != nil else { return [] }
    forget(id)
    return [.finish(id, result)]
  }

  // MARK: Receiving

  /// An envelope arrived.
  mutating func received(_ envelope: Envelope) -> [Action] {
    let header = envelope.header
    if let answer = header.kind.answer {
      guard let cause = header.cause else { return [] }
      if cause == drainID { return [.drained] }
      if cause == helloID { return answer == .ok ? welcome(envelope) : [] }
      guard answer == .failed else { return finish(cause, .success(envelope.body)) }
      let error = try? BodyCoding.decode(BusError.self, from: envelope.body)
      return finish(cause, .failure(error ?? BusError(.failed, "a failure without a reason", isDefinite: false)))
    }
    switch header.kind {
    // What followed a refused hello needs no further one: that is sent again later.
    case HelloRequired.kind: return isGreeting ? [] : up()
    case Undelivered.kind: return undelivered(envelope)
    case Refused.kind: return refused(envelope)
    case Presence.kind: return presence(envelope)
    default: return receivedFirst(envelope)
    }
  }

  private mutating func receivedFirst(_ envelope: Envelope) -> [Action] {
    guard MessageTable[envelope.header.kind]?.style != .notice else { return [.handle(envelope)] }
    let (id, source) = (envelope.header.id, envelope.header.source)
    if let answer = answered[id] { return sendReply(self.answer(answer, to: source)) }
    let isFirst = inHand[id] == nil
    // The answer goes to the last sender.
    if isFirst || inHand[id]?.role == source.role { inHand[id] = source }
    return isFirst ? [.handle(envelope)] : []
  }

  /// The answer to a repetition. It may come from another process of the same role: a replica that sends what another one
  /// has sent before it ended.
  private func answer(_ answer: Envelope, to source: Address) -> Envelope {
    let header = answer.header
    guard header.destination != source, header.destination.role == source.role else { return answer }
    return Envelope(
      header: EnvelopeHeader(
        kind: header.kind, cause: header.cause, correlation: header.correlation, source: address, destination: source),
      body: answer.body)
  }

  /// The handler of an envelope has returned: remembers and sends the reply.
  mutating func answer(_ envelope: Envelope, _ kind: Kind.Answer, body: [UInt8]) -> [Action] {
    let question = envelope.header
    let answer = Envelope(
      header: EnvelopeHeader(
        kind: question.kind.answered(kind), cause: question.id, correlation: question.correlation, source: address,
        destination: inHand.removeValue(forKey: question.id) ?? question.source),
      body: body)
    // A failed event is handled again when it is received again.
    if kind != .failed { answered.remember(answer, for: question.id) }
    return sendReply(answer)
  }

  private mutating func undelivered(_ envelope: Envelope) -> [Action] {
    guard let cause = envelope.header.cause, let item = awaiting[cause],
      let notice = try? BodyCoding.decode(Undelivered.self, from: envelope.body)
    else { return [] }
    guard item.isEvent || item.waits == .wait else {
      return finish(cause, .failure(BusError(notice.code, "\(notice.kindName) to \(notice.destination)")))
    }
    interrupt(cause)
    return notice.code == .busy ? [.tryAgainLater(cause)] : []
  }

  private mutating func refused(_ envelope: Envelope) -> [Action] {
    guard let cause = envelope.header.cause,
      let notice = try? BodyCoding.decode(Refused.self, from: envelope.body)
    else { return [] }
    if cause == helloID, notice.reason == Refused.tooManyPeers {
      interruptAll()
      return [.helloLater]
    }
    let text = "\(notice.kindName) from \(notice.claimed) to \(notice.destination): \(notice.reason)"
    return finish(cause, .failure(BusError(.refused, text)))
  }

  private mutating func presence(_ envelope: Envelope) -> [Action] {
    guard let notice = try? BodyCoding.decode(Presence.self, from: envelope.body) else { return [] }
    var actions: [Action] = [.presence(notice)]
    let concerned = awaiting.values.filter { $0.envelope.header.destination == notice.address }
    for item in concerned.sorted(by: { $0.number < $1.number }) {
      let id = item.envelope.header.id
      if notice.isPresent {
        interrupt(id)
        // A notice sent before the transport ended may arrive after it. The message is then sent after the next hello.
        if isWelcome { actions += sendAwaiting(id) }
      } else if !item.isEvent && item.waits == .fail && item.progress == .sent {
        let text = "\(notice.address) disconnected before it replied"
        actions += finish(id, .failure(BusError(.unreachable, text, isDefinite: false)))
      } else {
        interrupt(id)
      }
    }
    return actions
  }
}

/// A bounded dictionary; the oldest entries are removed first.
struct Remembered<Key: Hashable, Value> {
  private var values: [Key: Value] = [:]
  private var keys: [Key] = []
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  subscript(key: Key) -> Value? { values[key] }

  mutating func remember(_ value: Value, for key: Key) {
    if values.updateValue(value, forKey: key) == nil { keys.append(key) }
    guard keys.count > limit else { return }
    for old in keys.prefix(limit / 2) { values[old] = nil }
    keys.removeFirst(limit / 2)
  }
}
