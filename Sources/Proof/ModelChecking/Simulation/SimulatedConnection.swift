// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// A process with its connection to the bus, as `PeerSession` and `Connection` of `MessageBus` keep it: requests with
/// deadlines, events until they are acknowledged, answers that are remembered.
///
/// It is not that type itself, which draws its identifiers and reads the clock of the machine.
final class SimulatedConnection {
  private struct Awaiting {
    let envelope: Envelope
    let number: UInt64
    let isEvent: Bool
    let waits: Bool
    var isSent = false
    var attempt: UInt16 = 0
    let completion: (Result<[UInt8], BusError>) -> Void
  }

  let address: Address
  let incarnation: UUID
  let pid: Int32
  /// Whether an agent registered it.
  let isInstance: Bool
  private let bus: SimulatedBus
  private let store: (identity: UUID, opening: Int)?
  private var time: VirtualTime { bus.time }
  var generation: UInt32
  private(set) var isAlive = true
  /// Whether it was sent `SIGSTOP`.
  private(set) var isStopped = false
  /// What waits for `SIGCONT`.
  private var stopped: [() -> Void] = []
  private var isWelcome = false
  private var isOpen = false
  private var helloID: UUID?
  private var broker: UInt32 = 0
  private var awaiting: [UUID: Awaiting] = [:]
  private var notices: [Envelope] = []
  private var count: UInt64 = 0
  private var inHand: Set<UUID> = []
  private var answered: [UUID: Envelope] = [:]
  private var answeredOrder: [UUID] = []
  /// When the last frame arrives that was sent, and the last that is received.
  private var lastSent: Int64 = 0
  private var lastReceived: Int64 = 0
  /// Frames that arrive at the broker later than this are lost with the process.
  private var cut = Int64.max
  private var handlers: [Kind: (Envelope) -> Void] = [:]
  var onPresence: (Presence) -> Void = { _ in }
  var onWelcome: () -> Void = {}

  init(
    _ address: Address, on bus: SimulatedBus, pid: Int32, incarnation: UUID, generation: UInt32 = 0,
    store: (identity: UUID, opening: Int)? = nil
  ) {
    self.address = address
    self.bus = bus
    self.pid = pid
    self.incarnation = incarnation
    self.generation = generation
    self.store = store
    isInstance = address.bundleIdentifier != nil
  }

  // MARK: Life

  /// The process ends. Some of what it sent last may be lost.
  func kill() {
    guard isAlive else { return }
    isAlive = false
    stopped = []
    awaiting = [:]
    // They have the process, which would never be released.
    handlers = [:]
    onPresence = { _ in }
    onWelcome = {}
    if time.dice.isOne(in: 2) { cut = time.now }
    if isOpen { bus.lost(self) }
  }

  func stop() { isStopped = true }

  func resume() {
    guard isStopped else { return }
    isStopped = false
    let waiting = stopped
    stopped = []
    for act in waiting { act() }
  }

  /// Does something in the process, after a time. A process that is stopped does it when it is continued.
  func after(_ span: Int64, _ what: String, _ act: @escaping () -> Void) {
    time.after(span, address.short, what) { [self] in whenRunning(act) }
  }

  private func whenRunning(_ act: @escaping () -> Void) {
    guard isAlive else { return }
    if isStopped { stopped.append(act) } else { act() }
  }

  // MARK: The transport

  func up(_ broker: UInt32) {
    self.broker = broker
    isOpen = true
    let id = time.dice.uuid()
    helloID = id
    let header = EnvelopeHeader(
      kind: Hello.kind, sentAt: time.timestamp, id: id, source: address, destination: .messageBus)
    let hello = Hello(incarnation: incarnation, pid: pid, store: store?.identity, opening: store?.opening)
    transmit(Envelope(header: header, body: Self.encoded(hello)))
  }

  func down() {
    isOpen = false
    isWelcome = false
    helloID = nil
    for id in awaiting.keys { awaiting[id]?.isSent = false }
  }

  /// - Returns: when the kernel has nothing more of it.
  func clear(_ span: Int64) -> Int64 { max(lastSent, time.now) + span }

  private func transmit(_ envelope: Envelope) {
    lastSent = max(lastSent + 1, time.now + time.span(30, 120))
    let broker = broker
    time.at(lastSent, "message-bus", envelope.header.kind.name) { [self] in
      guard bus.isUp, bus.generation == broker, isAlive || time.now <= cut else { return }
      bus.received(envelope, from: self)
    }
  }

  /// The broker forwards a frame.
  func forward(_ envelope: Envelope) {
    lastReceived = max(lastReceived + 1, time.now + time.span(30, 120))
    let broker = broker
    time.at(lastReceived, address.short, envelope.header.kind.name) { [self] in
      // What the kernel has of a broker that ended is received.
      guard broker == self.broker else { return }
      whenRunning { self.received(envelope) }
    }
  }

  // MARK: Sending

  func notify<N: Notice>(_ notice: N, to destination: Address = .journal, _ context: MessageContext = .none) {
    let envelope = envelope(N.kind, to: destination, time.dice.uuid(), context, Self.encoded(notice))
    if isWelcome { transmit(envelope) } else { notices.append(envelope) }
  }

  /// Sends an event until it is acknowledged.
  func deliver<E: Event>(
    _ event: E, to destination: Address, id: UUID? = nil, _ context: MessageContext = .none,
    completion: @escaping (BusError?) -> Void = { _ in }
  ) {
    ask(
      envelope(E.kind, to: destination, id ?? time.dice.uuid(), context, Self.encoded(event)), isEvent: true,
      waits: true
    ) {
      switch $0 {
      case .success: completion(nil)
      case .failure(let error): completion(error)
      }
    }
  }

  /// - Parameters:
  ///   - limit: microseconds until its deadline.
  ///   - waits: whether it waits for a destination that is away.
  func request<R: Request>(
    _ request: R, to destination: Address, id: UUID? = nil, _ context: MessageContext = .none, within limit: Int64,
    waits: Bool = true, completion: @escaping (Result<R.Reply, BusError>) -> Void
  ) {
    let id = id ?? time.dice.uuid()
    ask(envelope(R.kind, to: destination, id, context, Self.encoded(request)), isEvent: false, waits: waits) { result in
      completion(result.flatMap { body in Result { () throws(BusError) in try R.decodedReply(from: body) } })
    }
    time.after(limit, address.short, "deadline of \(R.kind.name)") { [self] in
      finish(id, .failure(BusError(.deadline, "\(R.kind.name) to \(destination): no reply in time", isDefinite: false)))
    }
  }

  private func envelope(
    _ kind: Kind, to destination: Address, _ id: UUID, _ context: MessageContext, _ body: [UInt8]
  ) -> Envelope {
    Envelope(
      header: EnvelopeHeader(
        kind: kind, sentAt: time.timestamp, id: id, cause: context.cause, correlation: context.correlation,
        source: address, destination: destination), body: body)
  }

  private func ask(
    _ envelope: Envelope, isEvent: Bool, waits: Bool, completion: @escaping (Result<[UInt8], BusError>) -> Void
  ) {
    count += 1
    let id = envelope.header.id
    awaiting[id] = Awaiting(
      envelope: envelope, number: count, isEvent: isEvent, waits: waits, completion: completion)
    if isWelcome { send(id) }
  }

  private func send(_ id: UUID) {
    guard var item = awaiting[id], !item.isSent else { return }
    var envelope = item.envelope
    envelope.header.attempt = item.attempt
    item.isSent = true
    item.attempt &+= 1
    awaiting[id] = item
    transmit(envelope)
  }

  /// Stops to send a message.
  func forget(_ id: UUID) { awaiting[id] = nil }

  private func finish(_ id: UUID, _ result: Result<[UInt8], BusError>) {
    guard isAlive, let item = awaiting.removeValue(forKey: id) else { return }
    item.completion(result)
  }

  private func inOrder(_ isMeant: (Awaiting) -> Bool = { _ in true }) -> [UUID] {
    awaiting.values.filter(isMeant).sorted { $0.number < $1.number }.map(\.envelope.header.id)
  }

  // MARK: Receiving

  func onRequest<R: Request>(_ type: R.Type, _ handle: @escaping (R, Envelope) -> Void) { on(type, handle) }
  func onEvent<E: Event>(_ type: E.Type, _ handle: @escaping (E, Envelope) -> Void) { on(type, handle) }
  func onNotice<N: Notice>(_ type: N.Type, _ handle: @escaping (N, Envelope) -> Void) { on(type, handle) }

  private func on<M: Message>(_ type: M.Type, _ handle: @escaping (M, Envelope) -> Void) {
    handlers[M.kind] = { envelope in
      guard let message = try? M.decoded(from: envelope.body) else { return }
      handle(message, envelope)
    }
  }

  private func received(_ envelope: Envelope) {
    let header = envelope.header
    if let answer = header.kind.answer {
      guard let cause = header.cause else { return }
      if cause == helloID { return welcome() }
      guard answer == .failed else { return finish(cause, .success(envelope.body)) }
      let error = try? BodyCoding.decode(BusError.self, from: envelope.body)
      return finish(cause, .failure(error ?? BusError(.failed, "a failure without a reason", isDefinite: false)))
    }
    switch header.kind {
    case Undelivered.kind:
      guard let cause = header.cause, let item = awaiting[cause] else { return }
      if item.waits {
        awaiting[cause]?.isSent = false
      } else {
        finish(cause, .failure(BusError(.unreachable, "\(header.kind) to \(item.envelope.header.destination)")))
      }
    case Presence.kind:
      guard let presence = try? Presence.decoded(from: envelope.body) else { return }
      took(presence)
    default:
      if MessageTable[header.kind]?.style == .notice { return handlers[header.kind]?(envelope) ?? () }
      if let answer = answered[header.id] { return transmitReply(answer) }
      guard inHand.insert(header.id).inserted else { return }
      guard let handler = handlers[header.kind] else {
        return fail(envelope, BusError(.unhandled, "\(address.short) does not handle \(header.kind)"))
      }
      handler(envelope)
    }
  }

  private func welcome() {
    helloID = nil
    isWelcome = true
    let notices = notices
    self.notices = []
    for notice in notices { transmit(notice) }
    for id in inOrder() { send(id) }
    onWelcome()
  }

  private func took(_ presence: Presence) {
    onPresence(presence)
    for id in inOrder({ $0.envelope.header.destination == presence.address }) {
      guard let item = awaiting[id] else { continue }
      if presence.isPresent {
        awaiting[id]?.isSent = false
        if isWelcome { send(id) }
      } else if !item.waits, item.isSent {
        finish(
          id, .failure(BusError(.unreachable, "\(presence.address) disconnected before it replied", isDefinite: false)))
      } else {
        awaiting[id]?.isSent = false
      }
    }
  }

  // MARK: Answers

  func acknowledge(_ event: Envelope) { answer(event, .acknowledged, []) }

  /// A reply that no envelope holds is a failure.
  func reply<R: Request>(_ request: Envelope, to type: R.Type, _ reply: R.Reply) {
    do {
      answer(request, .ok, try R.encoded(reply))
    } catch {
      fail(request, error)
    }
  }

  /// A failed event is handled again when it is received again.
  func fail(_ question: Envelope, _ error: BusError) {
    answer(question, .failed, (try? BodyCoding.encode(error)) ?? [])
  }

  private func answer(_ question: Envelope, _ kind: Kind.Answer, _ body: [UInt8]) {
    guard isAlive else { return }
    let header = question.header
    inHand.remove(header.id)
    let answer = envelope(
      header.kind.answered(kind), to: header.source, time.dice.uuid(),
      MessageContext(cause: header.id, correlation: header.correlation), body)
    if kind != .failed {
      if answered.updateValue(answer, forKey: header.id) == nil { answeredOrder.append(header.id) }
      if answeredOrder.count > 4096 {
        for id in answeredOrder.prefix(2048) { answered[id] = nil }
        answeredOrder.removeFirst(2048)
      }
    }
    transmitReply(answer)
  }

  private func transmitReply(_ answer: Envelope) {
    if isWelcome { transmit(answer) } else { notices.append(answer) }
  }

  // MARK: Bodies

  static func encoded<M: Message>(_ message: M) -> [UInt8] {
    do {
      return try message.encodedBody()
    } catch {
      preconditionFailure("a message of the simulation cannot be encoded: \(error)")
    }
  }

  /// A reply whose length is fixed.
  static func encoded<R: Request>(reply type: R.Type, _ reply: R.Reply) -> [UInt8] {
    do {
      return try R.encoded(reply)
    } catch {
      preconditionFailure("a reply of the simulation cannot be encoded: \(error)")
    }
  }
}
