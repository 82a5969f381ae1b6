import Conversations
import Foundation

/// The conversation of one address: what it asked and awaits, what it must say again, what it has heard before.
///
/// A plain synchronous value without clock or socket: an event in, effects out, in order. The connection performs them.
struct Exchange {
  /// What the connection has to do.
  enum Effect: Equatable {
    case send(Envelope)
    /// Hand the envelope to the handler of its kind.
    case handle(Envelope)
    /// A request or an event of ours has come to its end.
    case finish(UUID, Result<[UInt8], BusError>)
    case presence(Presence)
    /// The broker answered our hello.
    case welcomed(generation: UInt32)
    /// The broker has heard all that was said before `drain()`.
    case drained
    /// The broker has no room for us now: say hello again after a while.
    case helloLater
    /// Send the event again after a moment: its destination had no room.
    case tryAgainLater(UUID)
  }

  /// Something of ours that awaits an answer.
  private struct Awaiting {
    var envelope: Envelope
    var isEvent: Bool
    var waits: WhenUnreachable
    /// Handed to the line since it stands; `false` while it waits for the line or for its destination.
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
  /// A hello is under way.
  var isGreeting: Bool { helloID != nil }
  private var awaiting: [UUID: Awaiting] = [:]
  /// Ids of `awaiting` in the order of their first sending.
  private var order: [UUID] = []
  private var unsent: [Unsent] = []
  private var inHand: Set<UUID> = []
  private var answered: Remembered<UUID, Envelope>

  /// How much is kept for a broker that is away: the oldest notices go first.
  static let unsentLimit = 10_000

  init(address: Address, incarnation: UUID, pid: Int32) {
    self.address = address
    self.incarnation = incarnation
    self.pid = pid
    self.answered = Remembered(limit: 4096)
  }

  // MARK: The line

  /// The line to the broker stands: say hello.
  mutating func up() -> [Effect] {
    let hello = sayHello()
    helloID = hello?.header.id
    drainID = nil
    return hello.map { [.send($0)] } ?? []
  }

  /// Another line is to follow this one: says nothing more on it but a hello, whose answer tells that the broker has
  /// heard everything before it.
  mutating func drain() -> [Effect] {
    let hello = sayHello()
    drainID = hello?.header.id
    return hello.map { [.send($0)] } ?? []
  }

  /// No other line follows: goes on with this one.
  mutating func undrain() -> [Effect] { drainID == nil ? [] : up() }

  private mutating func sayHello() -> Envelope? {
    isWelcome = false
    guard let body = try? BodyCoding.encode(Hello(incarnation: incarnation, pid: pid)) else { return nil }
    return Envelope(header: EnvelopeHeader(kind: Hello.kind, source: address, destination: .messageBus), body: body)
  }

  /// The while of `helloLater` has passed.
  mutating func helloAgain() -> [Effect] { helloID == nil || isWelcome ? [] : up() }

  /// The line broke: what was sent may be lost.
  mutating func down() {
    isWelcome = false
    helloID = nil
    drainID = nil
    for id in awaiting.keys { awaiting[id]?.isSent = false }
  }

  private mutating func welcome(_ envelope: Envelope) -> [Effect] {
    helloID = nil
    guard let reply = try? BodyCoding.decode(Hello.Reply.self, from: envelope.body) else { return [] }
    isWelcome = true
    let waiting = unsent
    unsent = []
    let queued = Set(waiting.compactMap { if case .awaiting(let id) = $0 { id } else { nil } })
    var effects: [Effect] = [.welcomed(generation: reply.generation)]
    for id in order where !queued.contains(id) { effects += sendAwaiting(id) }
    for item in waiting {
      switch item {
      case .envelope(let envelope): effects.append(.send(envelope))
      case .awaiting(let id): effects += sendAwaiting(id)
      }
    }
    return effects
  }

  // MARK: Saying

  /// A notice or an answer.
  mutating func say(_ envelope: Envelope) -> [Effect] {
    guard isWelcome else {
      if unsent.count >= Exchange.unsentLimit { unsent.removeFirst() }
      unsent.append(.envelope(envelope))
      return []
    }
    return [.send(envelope)]
  }

  /// A request or an event.
  mutating func ask(_ envelope: Envelope, isEvent: Bool, waits: WhenUnreachable) -> [Effect] {
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

  /// The moment of `tryAgainLater` has passed.
  mutating func tryAgain(_ id: UUID) -> [Effect] {
    guard isWelcome, awaiting[id]?.isSent == false else { return [] }
    return sendAwaiting(id)
  }

  private mutating func sendAwaiting(_ id: UUID) -> [Effect] {
    guard var item = awaiting[id], !item.isSent else { return [] }
    item.isSent = true
    let envelope = item.envelope
    item.envelope.header.attempt &+= 1
    awaiting[id] = item
    return [.send(envelope)]
  }

  private mutating func finish(_ id: UUID, _ result: Result<[UInt8], BusError>) -> [Effect] {
    guard awaiting[id] != nil else { return [] }
    forget(id)
    return [.finish(id, result)]
  }

  // MARK: Hearing

  /// An envelope arrived.
  mutating func received(_ envelope: Envelope) -> [Effect] {
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
    case WhoAreYou.kind: return up()
    case Undelivered.kind: return undelivered(envelope)
    case Refused.kind: return refused(envelope)
    case Presence.kind: return presence(envelope)
    default: return heard(envelope)
    }
  }

  private mutating func heard(_ envelope: Envelope) -> [Effect] {
    guard ConversationTable[envelope.header.kind]?.style != .notice else { return [.handle(envelope)] }
    let id = envelope.header.id
    if let answer = answered[id] { return say(answer) }
    guard inHand.insert(id).inserted else { return [] }
    return [.handle(envelope)]
  }

  /// The handler of an envelope has returned: remember the answer, and give it.
  mutating func answer(_ envelope: Envelope, _ kind: Kind.Answer, body: [UInt8]) -> [Effect] {
    let asked = envelope.header
    let answer = Envelope(
      header: EnvelopeHeader(
        kind: asked.kind.answered(kind), cause: asked.id, correlation: asked.correlation, source: address,
        destination: asked.source),
      body: body)
    inHand.remove(asked.id)
    // A failed event is handled again when it comes again.
    if kind != .failed { answered.remember(answer, for: asked.id) }
    return say(answer)
  }

  private mutating func undelivered(_ envelope: Envelope) -> [Effect] {
    guard let cause = envelope.header.cause, let item = awaiting[cause],
      let notice = try? BodyCoding.decode(Undelivered.self, from: envelope.body)
    else { return [] }
    guard item.isEvent || item.waits == .wait else {
      return finish(cause, .failure(BusError(notice.code, "\(notice.kindName) to \(notice.destination)")))
    }
    awaiting[cause]?.isSent = false
    return notice.code == .busy ? [.tryAgainLater(cause)] : []
  }

  private mutating func refused(_ envelope: Envelope) -> [Effect] {
    guard let cause = envelope.header.cause,
      let notice = try? BodyCoding.decode(Refused.self, from: envelope.body)
    else { return [] }
    if cause == helloID, notice.reason == Refused.tooManyPeers { return [.helloLater] }
    let text = "\(notice.kindName) from \(notice.claimed) to \(notice.destination): \(notice.reason)"
    return finish(cause, .failure(BusError(.refused, text)))
  }

  private mutating func presence(_ envelope: Envelope) -> [Effect] {
    guard let notice = try? BodyCoding.decode(Presence.self, from: envelope.body) else { return [] }
    var effects: [Effect] = [.presence(notice)]
    for id in order {
      guard let item = awaiting[id], item.envelope.header.destination == notice.address else { continue }
      if notice.isPresent {
        awaiting[id]?.isSent = false
        effects += sendAwaiting(id)
      } else if !item.isEvent && item.waits == .fail && item.isSent {
        let text = "\(notice.address) went away before it answered"
        effects += finish(id, .failure(BusError(.unreachable, text, isDefinite: false)))
      } else {
        awaiting[id]?.isSent = false
      }
    }
    return effects
  }
}

/// The last values under their keys; the oldest is forgotten first.
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
