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
    /// Sent on the current transport; `false` while it waits for the transport or its destination.
    var isSent = false
  }

  private enum Unsent {
    case envelope(Envelope)
    case awaiting(UUID)
  }

  let address: Address
  let incarnation: UUID
  let pid: Int32
  private(set) var isWelcome = false
  private var helloID: UUID?
  private var drainID: UUID?
  /// A hello awaits its reply.
  var isGreeting: Bool { helloID != nil }
  private var awaiting: [UUID: Awaiting] = [:]
  /// Ids of `awaiting` in the order in which they were first sent.
  private var order: [UUID] = []
  private var unsent: [Unsent] = []
  private var inHand: Set<UUID> = []
  private var answered: Remembered<UUID, Envelope>

  /// The maximum kept while the broker is disconnected: the oldest notices are dropped first.
  static let unsentLimit = 10_000

  init(address: Address, incarnation: UUID, pid: Int32) {
    self.address = address
    self.incarnation = incarnation
    self.pid = pid
    self.answered = Remembered(limit: 4096)
  }

  // MARK: The transport

  /// The transport is connected: sends a hello.
  mutating func up() -> [Action] {
    let hello = sendHello()
    helloID = hello?.header.id
    drainID = nil
    return hello.map { [.send($0)] } ?? []
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
    guard let body = try? BodyCoding.encode(Hello(incarnation: incarnation, pid: pid)) else { return nil }
    return Envelope(header: EnvelopeHeader(kind: Hello.kind, source: address, destination: .messageBus), body: body)
  }

  /// The delay of `helloLater` has passed.
  mutating func helloAgain() -> [Action] { helloID == nil || isWelcome ? [] : up() }

  /// The transport disconnected: sent messages may be lost.
  mutating func down() {
    isWelcome = false
    helloID = nil
    drainID = nil
    for id in awaiting.keys { awaiting[id]?.isSent = false }
  }

  private mutating func welcome(_ envelope: Envelope) -> [Action] {
    helloID = nil
    guard let reply = try? BodyCoding.decode(Hello.Reply.self, from: envelope.body) else { return [] }
    isWelcome = true
    let waiting = unsent
    unsent = []
    let queued = Set(waiting.compactMap { if case .awaiting(let id) = $0 { id } else { nil } })
    var actions: [Action] = [.welcomed(generation: reply.generation)]
    for id in order where !queued.contains(id) { actions += sendAwaiting(id) }
    for item in waiting {
      switch item {
      case .envelope(let envelope): actions.append(.send(envelope))
      case .awaiting(let id): actions += sendAwaiting(id)
      }
    }
    return actions
  }

  // MARK: Sending

  /// Sends a notice or a reply.
  mutating func say(_ envelope: Envelope) -> [Action] {
    guard isWelcome else {
      if unsent.count >= PeerSession.unsentLimit { unsent.removeFirst() }
      unsent.append(.envelope(envelope))
      return []
    }
    return [.send(envelope)]
  }

  /// Sends a request or an event.
  mutating func ask(_ envelope: Envelope, isEvent: Bool, waits: WhenUnreachable) -> [Action] {
    let id = envelope.header.id
    awaiting[id] = Awaiting(envelope: envelope, isEvent: isEvent, waits: waits)
    order.append(id)
    guard isWelcome else {
      unsent.append(.awaiting(id))
      return []
    }
    return sendAwaiting(id)
  }

  /// The sender no longer waits.
  mutating func forget(_ id: UUID) {
    awaiting[id] = nil
    order.removeAll { $0 == id }
  }

  /// The delay of `tryAgainLater` has passed.
  mutating func tryAgain(_ id: UUID) -> [Action] {
    guard isWelcome, awaiting[id]?.isSent == false else { return [] }
    return sendAwaiting(id)
  }

  private mutating func sendAwaiting(_ id: UUID) -> [Action] {
    guard var item = awaiting[id], !item.isSent else { return [] }
    item.isSent = true
    let envelope = item.envelope
    item.envelope.header.attempt &+= 1
    awaiting[id] = item
    return [.send(envelope)]
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
    case HelloRequired.kind: return up()
    case Undelivered.kind: return undelivered(envelope)
    case Refused.kind: return refused(envelope)
    case Presence.kind: return presence(envelope)
    default: return receivedFirst(envelope)
    }
  }

  private mutating func receivedFirst(_ envelope: Envelope) -> [Action] {
    guard MessageTable[envelope.header.kind]?.style != .notice else { return [.handle(envelope)] }
    let id = envelope.header.id
    if let answer = answered[id] { return say(answer) }
    guard inHand.insert(id).inserted else { return [] }
    return [.handle(envelope)]
  }

  /// The handler of an envelope has returned: remembers and sends the reply.
  mutating func answer(_ envelope: Envelope, _ kind: Kind.Answer, body: [UInt8]) -> [Action] {
    let asked = envelope.header
    let answer = Envelope(
      header: EnvelopeHeader(
        kind: asked.kind.answered(kind), cause: asked.id, correlation: asked.correlation, source: address,
        destination: asked.source),
      body: body)
    inHand.remove(asked.id)
    // A failed event is handled again when it is received again.
    if kind != .failed { answered.remember(answer, for: asked.id) }
    return say(answer)
  }

  private mutating func undelivered(_ envelope: Envelope) -> [Action] {
    guard let cause = envelope.header.cause, let item = awaiting[cause],
      let notice = try? BodyCoding.decode(Undelivered.self, from: envelope.body)
    else { return [] }
    guard item.isEvent || item.waits == .wait else {
      return finish(cause, .failure(BusError(notice.code, "\(notice.kindName) to \(notice.destination)")))
    }
    awaiting[cause]?.isSent = false
    return notice.code == .busy ? [.tryAgainLater(cause)] : []
  }

  private mutating func refused(_ envelope: Envelope) -> [Action] {
    guard let cause = envelope.header.cause,
      let notice = try? BodyCoding.decode(Refused.self, from: envelope.body)
    else { return [] }
    if cause == helloID, notice.reason == Refused.tooManyPeers { return [.helloLater] }
    let text = "\(notice.kindName) from \(notice.claimed) to \(notice.destination): \(notice.reason)"
    return finish(cause, .failure(BusError(.refused, text)))
  }

  private mutating func presence(_ envelope: Envelope) -> [Action] {
    guard let notice = try? BodyCoding.decode(Presence.self, from: envelope.body) else { return [] }
    var actions: [Action] = [.presence(notice)]
    for id in order {
      guard let item = awaiting[id], item.envelope.header.destination == notice.address else { continue }
      if notice.isPresent {
        awaiting[id]?.isSent = false
        actions += sendAwaiting(id)
      } else if !item.isEvent && item.waits == .fail && item.isSent {
        let text = "\(notice.address) disconnected before it replied"
        actions += finish(id, .failure(BusError(.unreachable, text, isDefinite: false)))
      } else {
        awaiting[id]?.isSent = false
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
