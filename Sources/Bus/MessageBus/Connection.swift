// SPDX-License-Identifier: Apache-2.0

import FaultPoints
package import Foundation
package import Messages
package import ZeroMQ

/// A connection to the bus: an actor whose executor is the thread that owns the socket.
///
/// Handlers are started on that thread in the order in which their envelopes arrived. Longer work belongs in a separate
/// actor.
package actor Connection: BusConnection {
  /// A handler of a message type: returns the reply, or `nil` for none.
  typealias Handler = @Sendable (Envelope) async -> (answer: Kind.Answer, body: [UInt8])?

  /// What happens with the reply to a request.
  private struct Completion {
    let call: @Sendable (Result<[UInt8], BusError>) -> Void
  }

  /// A caller of `start()`.
  private struct Waiting {
    let resume: @Sendable (Result<UInt32, BusError>) -> Void
  }

  package nonisolated let address: Address
  package nonisolated let requestDeadline: Duration
  /// The thread and executor of this connection.
  package nonisolated let loop: Loop
  let makeTransport: @Sendable (Loop, _ former: (any Transport)?) throws -> any Transport
  private let ownsLoop: Bool
  var session: PeerSession
  var transport: (any Transport)?
  /// The transport that will replace the current one; nil while no renewal is in progress.
  var nextTransport: (any Transport)?
  var isNextUp = false
  /// Replaced transports that still receive.
  var formerTransports: [any Transport] = []
  var renewing: [CheckedContinuation<BusError?, Never>] = []
  private var isUp = false
  /// Whether a hello may be sent: `connect()` or `start()` was called.
  private var greets = false
  /// `start()` was called: a message without a handler is refused.
  var isStarted = false
  /// Messages that arrived before `start()` and before their handler was set.
  var heldForHandler: [Envelope] = []
  /// Frames for which the transport had no room.
  var blocked = Queue<[UInt8]>()
  // The values and keys of these dictionaries are chosen for the start of a process: a value such as a `Result` and a key
  // of another type cost it a search in all conformances, 0.05 ms each.
  /// By the name of the message type.
  var handlers: [String: Handler] = [:]
  var presenceHandlers: [@Sendable (Presence) -> Void] = []
  var turnedAwayHandlers: [@Sendable (BusError) -> Void] = []
  private var reconnectionHandlers: [@Sendable () -> Void] = []
  private var completions: [UUID: Completion] = [:]
  private var deadlines: [UUID: TimerID] = [:]
  private var waitingForWelcome: [UUID: Waiting] = [:]
  private var catchingUp: [CheckedContinuation<Void, Never>] = []
  /// Why the connection has ended for good; nil before.
  package private(set) var end: BusError?
  /// The generation of this process instance; 0 before the first welcome.
  package private(set) var generation: UInt32 = 0

  /// Whether the bus is reached now.
  package var isConnected: Bool { end == nil && isUp && session.isWelcome }

  package nonisolated var executor: any TaskExecutor { loop }
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Creates a connection that does not connect yet.
  ///
  /// - Parameters:
  ///   - ownsLoop: whether `leave()` stops the loop.
  ///   - requestDeadline: the deadline of a request without an explicit one.
  ///   - store: the process's database, and how often it was opened; each hello states it.
  ///   - makeTransport: creates the transport, also each time another one replaces it (`former`). Called on the loop.
  package init(
    address: Address, loop: Loop, ownsLoop: Bool, requestDeadline: Duration,
    store: (identity: UUID, opening: Int)? = nil,
    makeTransport: @escaping @Sendable (Loop, _ former: (any Transport)?) throws -> any Transport
  ) {
    self.address = address
    self.loop = loop
    self.ownsLoop = ownsLoop
    self.requestDeadline = requestDeadline
    self.makeTransport = makeTransport
    self.session = PeerSession(
      address: address, incarnation: UUID(), pid: ProcessInfo.processInfo.processIdentifier, store: store)
  }

  // MARK: Start and end

  package func start() async throws(BusError) -> UInt32 {
    let waiter = UUID()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waitForWelcome(waiter) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      perform { $0.stopWaiting(waiter, BusError(.closed, "the caller no longer waits for the bus")) }
    }
    return try result.get()
  }

  package nonisolated func connect() { perform { $0.greet() } }

  private func waitForWelcome(_ id: UUID, _ resume: @escaping @Sendable (Result<UInt32, BusError>) -> Void) {
    if let end { return resume(.failure(end)) }
    handleHeld()
    if session.isWelcome { return resume(.success(generation)) }
    waitingForWelcome[id] = Waiting(resume: resume)
    greet()
    // Not in `connect()`: the author's first line runs at the same time.
    if !isUp { session.prepareHello() }
  }

  private func greet() {
    guard !greets, end == nil else { return }
    greets = true
    if isUp { perform(session.up()) } else { open() }
  }

  private func stopWaiting(_ id: UUID, _ error: BusError) {
    waitingForWelcome.removeValue(forKey: id)?.resume(.failure(error))
  }

  package func leave() async {
    if end == nil, session.isWelcome {
      _ = try? await request(Goodbye(), to: .messageBus, within: .seconds(1))
    }
    finish(BusError(.closed, "\(address) has left the bus", isDefinite: false))
    if ownsLoop { await loop.stop() }
  }

  func finish(_ error: BusError) {
    guard end == nil else { return }
    end = error
    closeLines(error)
    heldForHandler = []
    for id in Array(completions.keys) { complete(id, .failure(error)) }
    for id in Array(waitingForWelcome.keys) { stopWaiting(id, error) }
    sendCaughtUp()
  }

  // MARK: The transport

  /// Handles an event of the current transport.
  private func handleTransport(_ event: TransportEvent) {
    switch event {
    case .up:
      isUp = true
      if greets { perform(session.up()) }
    case .down:
      isUp = false
      blocked.removeAll()
      session.down()
    case .turnedAway:
      guard !openAgain() else { return }
      let error = BusError(.refused, "the bus no longer accepts the key of \(address)")
      finish(error)
      for handler in turnedAwayHandlers { handler(error) }
    case .received(let frame): received(frame)
    }
  }

  func received(_ frame: [UInt8]) {
    // The broker forwards only envelopes that it could decode, and its own are well-formed.
    guard let envelope = try? Envelope(decoding: frame) else { return }
    perform(session.received(envelope))
  }

  func perform(_ actions: [PeerSession.Action]) {
    for action in actions {
      switch action {
      case .send(let envelope): transmit(envelope)
      case .handle(let envelope): handle(envelope)
      case .finish(let id, let result): complete(id, result)
      case .presence(let presence): for handler in presenceHandlers { handler(presence) }
      case .welcomed(let generation):
        if self.generation > 0 { for handler in reconnectionHandlers { handler() } }
        self.generation = generation
        welcomedOnLine()
        for id in Array(waitingForWelcome.keys) {
          waitingForWelcome.removeValue(forKey: id)?.resume(.success(generation))
        }
      case .drained: moveOver()
      case .helloLater:
        _ = loop.after(.seconds(1)) { [weak self] in
          self?.assumeIsolated { $0.perform($0.session.helloAgain()) }
        }
      case .tryAgainLater(let id):
        _ = loop.after(.milliseconds(50)) { [weak self] in
          self?.assumeIsolated { $0.perform($0.session.tryAgain(id)) }
        }
      }
    }
    sendCaughtUp()
  }

  package func caughtUp() async {
    await withCheckedContinuation { continuation in
      if isBehind { catchingUp.append(continuation) } else { continuation.resume() }
    }
  }

  private var isBehind: Bool { end == nil && (!session.isWelcome || !blocked.isEmpty) }

  private func sendCaughtUp() {
    guard !catchingUp.isEmpty, !isBehind else { return }
    let waiting = catchingUp
    catchingUp = []
    for continuation in waiting { continuation.resume() }
  }

  private func transmit(_ envelope: Envelope) {
    // `BodyCoding` limits the body, so encoding a frame cannot fail.
    guard let frame = try? envelope.encoded(), let transport else { return }
    guard blocked.isEmpty, transport.send(frame) else {
      if blocked.isEmpty { waitUntilWritable(transport) }
      blocked.append(frame)
      return
    }
  }

  private func waitUntilWritable(_ transport: any Transport) {
    transport.whenWritable { [weak self] in self?.assumeIsolated { $0.flush() } }
  }

  private func flush() {
    guard let transport else { return }
    while let frame = blocked.first {
      guard transport.send(frame) else { return waitUntilWritable(transport) }
      _ = blocked.popFirst()
    }
    sendCaughtUp()
  }

  // MARK: Sending

  package func request<R: Request>(
    _ request: R, to destination: Address, id: UUID, context: MessageContext, within limit: Duration,
    whenUnreachable: WhenUnreachable
  ) async throws(BusError) -> R.Reply {
    let body = try request.encodedBody()
    let envelope = envelope(R.kind, to: destination, id: id, context: context, body: body)
    let answer = try await answer(to: envelope, isEvent: false, waits: whenUnreachable, limit: limit).get()
    return try R.decodedReply(from: answer)
  }

  package func deliver<E: Event>(
    _ event: E, to destination: Address, id: UUID, context: MessageContext
  ) async throws(BusError) {
    let body = try event.encodedBody()
    let envelope = envelope(E.kind, to: destination, id: id, context: context, body: body)
    _ = try await answer(to: envelope, isEvent: true, waits: .wait, limit: nil).get()
  }

  private func answer(
    to envelope: Envelope, isEvent: Bool, waits: WhenUnreachable, limit: Duration?
  ) async -> Result<[UInt8], BusError> {
    let id = envelope.header.id
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // An earlier cancellation found no request.
        guard !Task.isCancelled else { return continuation.resume(returning: .failure(Self.noLongerWaits)) }
        ask(envelope, isEvent: isEvent, waits: waits, limit: limit) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      perform { $0.abandon(id, Self.noLongerWaits) }
    }
  }

  private static var noLongerWaits: BusError { BusError(.closed, "the sender no longer waits", isDefinite: false) }

  package nonisolated func submit<R: Request>(
    _ request: R, to destination: Address, id: UUID, context: MessageContext, within limit: Duration,
    whenUnreachable: WhenUnreachable, completion: @escaping @Sendable (Result<R.Reply, BusError>) -> Void
  ) {
    perform { connection in
      do throws(BusError) {
        let body = try request.encodedBody()
        let envelope = connection.envelope(R.kind, to: destination, id: id, context: context, body: body)
        connection.ask(envelope, isEvent: false, waits: whenUnreachable, limit: limit) { result in
          completion(result.flatMap { body in Result { () throws(BusError) in try R.decodedReply(from: body) } })
        }
      } catch {
        completion(.failure(error))
      }
    }
  }

  package nonisolated func submit<E: Event>(
    _ event: E, to destination: Address, id: UUID, context: MessageContext,
    completion: @escaping @Sendable (Result<Void, BusError>) -> Void
  ) {
    perform { connection in
      do throws(BusError) {
        let body = try event.encodedBody()
        let envelope = connection.envelope(E.kind, to: destination, id: id, context: context, body: body)
        connection.ask(envelope, isEvent: true, waits: .wait, limit: nil) { completion($0.map { _ in }) }
      } catch {
        completion(.failure(error))
      }
    }
  }

  private func ask(
    _ envelope: Envelope, isEvent: Bool, waits: WhenUnreachable, limit: Duration?,
    completion: @escaping @Sendable (Result<[UInt8], BusError>) -> Void
  ) {
    if let end { return completion(.failure(end)) }
    let id = envelope.header.id
    if Task.isCancelled {
      return completion(.failure(BusError(.closed, "the sender no longer waits")))
    }
    completions[id] = Completion(call: completion)
    if let limit {
      deadlines[id] = loop.after(limit) { [weak self] in
        self?.assumeIsolated { $0.deadlinePassed(id, header: envelope.header, limit: limit) }
      }
    }
    perform(session.ask(envelope, isEvent: isEvent, waits: waits))
  }

  private func deadlinePassed(_ id: UUID, header: EnvelopeHeader, limit: Duration) {
    abandon(
      id,
      BusError(.deadline, "\(header.kind) to \(header.destination): no reply within \(limit)", isDefinite: false))
  }

  private func abandon(_ id: UUID, _ error: BusError) {
    session.forget(id)
    complete(id, .failure(error))
  }

  private func complete(_ id: UUID, _ result: Result<[UInt8], BusError>) {
    if let timer = deadlines.removeValue(forKey: id) { loop.cancel(timer) }
    completions.removeValue(forKey: id)?.call(result)
  }

  package nonisolated func notify<N: Notice>(_ notice: N, to destination: Address, context: MessageContext) {
    guard notice.maySendLater else { return perform { $0.send(notice, to: destination, context: context, at: .now) } }
    let now = Timestamp.now
    loop.postSoon { self.assumeIsolated { $0.send(notice, to: destination, context: context, at: now) } }
  }

  private func send<N: Notice>(_ notice: N, to destination: Address, context: MessageContext, at instant: Timestamp) {
    guard end == nil else { return }
    do throws(BusError) {
      let body = try notice.encodedBody()
      var envelope = envelope(N.kind, to: destination, id: .random(), context: context, body: body)
      envelope.header.sentAt = instant
      perform(session.sendNotice(envelope))
    } catch {
      recordRefusal(N.kind, from: address, to: destination, error, context: context)
    }
  }

  private func envelope(_ kind: Kind, to destination: Address, id: UUID, context: MessageContext, body: [UInt8])
    -> Envelope
  {
    Envelope(
      header: EnvelopeHeader(
        kind: kind, id: id, cause: context.cause, correlation: context.correlation, source: address,
        destination: destination),
      body: body)
  }

  /// Runs `work` on this connection's thread, in order. May be called on any thread.
  nonisolated func perform(_ work: @escaping @Sendable (isolated Connection) -> Void) {
    loop.post { self.assumeIsolated { work($0) } }
  }
}

// The transport of a connection, and its replacement by one with a newer key.

extension Connection {
  /// Creates a connection over ZeroMQ, with its own thread.
  ///
  /// - Parameters:
  ///   - endpoint: where the broker listens, `tcp://host:port`.
  ///   - serverKey: the broker's public key, z85.
  ///   - heartbeats: only for processes that are never suspended.
  ///   - requestDeadline: the deadline of a request without an explicit one.
  ///   - keys: returns this process's keys. Called on the connection's thread each time a transport is created, since
  ///     the keys may have been renewed.
  package static func zeroMQ(
    address: Address, endpoint: String, serverKey: String, heartbeats: Bool,
    requestDeadline: Duration = .seconds(5), store: (identity: UUID, opening: Int)? = nil,
    keys: @escaping @Sendable () throws -> CurveKeyPair
  ) -> Connection {
    Connection(
      address: address, loop: Loop(name: "bus"), ownsLoop: true, requestDeadline: requestDeadline, store: store
    ) { loop, former in
      try ZeroMQTransport(
        loop: loop, endpoint: endpoint, serverKey: serverKey, heartbeats: heartbeats, isReplaceable: address.isReplica,
        following: former as? ZeroMQTransport, currentKeys: keys)
    }
  }

  /// Creates a connection over ZeroMQ with constant keys.
  package static func zeroMQ(
    address: Address, endpoint: String, serverKey: String, keys: CurveKeyPair, heartbeats: Bool,
    requestDeadline: Duration = .seconds(5)
  ) -> Connection {
    zeroMQ(
      address: address, endpoint: endpoint, serverKey: serverKey, heartbeats: heartbeats,
      requestDeadline: requestDeadline
    ) { keys }
  }

  /// Moves to a new transport with the current keys. No message is lost or reordered: the broker has received
  /// everything sent on the previous transport before it receives anything on the new one, and replies on the previous
  /// one are still received for one second.
  ///
  /// - Throws: `refused` when the broker rejects the keys (the previous transport stays in use), `closed`.
  package func renewLine() async throws(BusError) {
    let error = await withCheckedContinuation { continuation in
      renewing.append(continuation)
      beginRenewal()
    }
    if let error { throw error }
  }

  private func beginRenewal() {
    if let end { return renewed(end) }
    guard nextTransport == nil else { return }
    do {
      let next = try makeTransport(loop, transport)
      nextTransport = next
      try open(next)
    } catch {
      nextTransport = nil
      renewed(BusError(.failed, "no new connection to the bus could be created: \(error)"))
    }
  }

  /// Ends the renewal.
  func renewed(_ error: BusError?) {
    let waiting = renewing
    renewing = []
    for continuation in waiting { continuation.resume(returning: error) }
  }

  /// Begins to connect before `start()`, to save time. Nothing is sent until `connect()` or `start()`.
  package nonisolated func prepare() { perform { $0.open() } }

  /// Creates the first transport, unless one exists.
  func open() {
    guard transport == nil, end == nil else { return }
    do {
      try openLine()
    } catch {
      finish(BusError(.closed, "the bus cannot be reached: \(error)"))
    }
  }

  /// Creates a transport and makes it the current one.
  func openLine() throws {
    let line = try makeTransport(loop, transport)
    transport = line
    try open(line)
  }

  /// Handles a rejected key on the current transport: connects again if a newer key is available.
  ///
  /// - Returns: whether it connects again.
  private func openAgain() -> Bool {
    guard let former = transport, former.hasNewerKey else { return false }
    blocked.removeAll()
    session.down()
    former.close()
    return (try? openLine()) != nil
  }

  private func open(_ line: any Transport) throws {
    let name = ObjectIdentifier(line)
    try line.open { [weak self] event in self?.assumeIsolated { $0.handleTransport(event, by: name) } }
  }

  private func handleTransport(_ event: TransportEvent, by line: ObjectIdentifier) {
    guard end == nil else { return }
    if line == transport.map(ObjectIdentifier.init) {
      handleTransport(event)
      // After a disconnection nothing more arrives on the previous transport.
      if case .down = event, isNextUp { moveOver() }
    } else if line == nextTransport.map(ObjectIdentifier.init) {
      reportedNext(event)
    } else {
      reportedFormer(event, line)
    }
  }

  private func reportedFormer(_ event: TransportEvent, _ line: ObjectIdentifier) {
    switch event {
    case .received(let frame): received(frame)
    case .down, .turnedAway:
      // Otherwise it would reconnect, with a key that is about to be rejected.
      for former in formerTransports where ObjectIdentifier(former) == line { former.close() }
    case .up: break
    }
  }

  private func reportedNext(_ event: TransportEvent) {
    switch event {
    case .up:
      isNextUp = true
      // A hello on the previous transport must not arrive after the hello on the new one.
      if session.isWelcome { perform(session.drain()) } else if !session.isGreeting { moveOver() }
    case .down: isNextUp = false
    case .turnedAway:
      nextTransport?.close()
      nextTransport = nil
      perform(session.undrain())
      renewed(BusError(.refused, "the bus does not accept the new key of \(address)"))
    case .received: break
    }
  }

  /// The broker has received everything sent so far: from here on only the new transport sends.
  private func moveOver() {
    guard let next = nextTransport, isNextUp else { return }
    if let transport { formerTransports.append(transport) }
    (transport, nextTransport, isNextUp) = (next, nil, false)
    blocked.removeAll()
    session.down()
    perform(session.up())
    _ = loop.after(.seconds(1)) { [weak self] in
      self?.assumeIsolated { connection in
        if !connection.formerTransports.isEmpty { connection.formerTransports.removeFirst().close() }
      }
    }
  }

  /// The broker has replied to the hello on the current transport.
  private func welcomedOnLine() {
    guard nextTransport != nil else { return renewed(nil) }
    // Runs after everything that waited for this welcome.
    loop.post { [weak self] in
      self?.assumeIsolated { connection in
        guard connection.isNextUp, connection.session.isWelcome else { return }
        connection.perform(connection.session.drain())
      }
    }
  }

  private func closeLines(_ error: BusError) {
    for line in formerTransports + [transport, nextTransport].compactMap(\.self) { line.close() }
    (transport, nextTransport, isNextUp, formerTransports) = (nil, nil, false, [])
    renewed(error)
  }
}

// The handlers of a connection.

extension Connection {
  package nonisolated func onRequest<R: Request>(
    _ type: R.Type, _ handler: @escaping @Sendable (R, Received) async throws -> R.Reply
  ) {
    setHandler(R.kind) { envelope in
      await Connection.answering(.ok) {
        let request = try R.decoded(from: envelope.body)
        return try R.encoded(try await handler(request, Received(envelope.header)))
      }
    }
  }

  package nonisolated func onEvent<E: Event>(
    _ type: E.Type, _ handler: @escaping @Sendable (E, Received) async throws -> Void
  ) {
    setHandler(E.kind) { envelope in
      await Connection.answering(.acknowledged) {
        let event = try E.decoded(from: envelope.body)
        try await handler(event, Received(envelope.header))
        return []
      }
    }
  }

  package nonisolated func onNotice<N: Notice>(
    _ type: N.Type, _ handler: @escaping @Sendable (N, Received) async -> Void
  ) {
    setHandler(N.kind) { [weak self] envelope in
      let header = envelope.header
      do throws(BusError) {
        await handler(try N.decoded(from: envelope.body), Received(header))
      } catch {
        self?.recordRefusal(
          N.kind, from: header.source, to: header.destination, error, context: Received(header).context)
      }
      return nil
    }
  }

  package nonisolated func onPresence(_ handler: @escaping @Sendable (Presence) -> Void) {
    perform { $0.presenceHandlers.append(handler) }
  }

  package nonisolated func onReconnection(_ handler: @escaping @Sendable () -> Void) {
    perform { $0.reconnectionHandlers.append(handler) }
  }

  package nonisolated func onTurnedAway(_ handler: @escaping @Sendable (BusError) -> Void) {
    perform { $0.turnedAwayHandlers.append(handler) }
  }

  private nonisolated func setHandler(_ kind: Kind, _ handler: @escaping Handler) {
    perform { $0.handlers[kind.name] = handler }
  }

  private static func answering(
    _ answer: Kind.Answer, _ work: () async throws -> [UInt8]
  ) async -> (answer: Kind.Answer, body: [UInt8])? {
    do {
      return (answer, try await work())
    } catch {
      let reason =
        error as? BusError ?? BusError(.failed, String(describing: error), isDefinite: false)
      if reason.code == .closed, !reason.isDefinite { return nil }
      return (.failed, (try? BodyCoding.encode(reason)) ?? [])
    }
  }

  /// Calls the handler of the envelope's message type.
  func handle(_ envelope: Envelope) {
    guard let handler = handlers[envelope.header.kind.name] else {
      guard isStarted else { return heldForHandler.append(envelope) }
      guard MessageTable[envelope.header.kind]?.style != .notice else { return }
      let error = BusError(.unhandled, "\(address) has no handler for \(envelope.header.kind)")
      perform(session.answer(envelope, .failed, body: (try? BodyCoding.encode(error)) ?? []))
      return
    }
    _ = loop.task { [weak self] in
      guard let (answer, body) = await handler(envelope) else { return }
      await self?.give(answer, body, to: envelope)
    }
  }

  /// All handlers are set: handles the messages that waited for theirs.
  private func handleHeld() {
    isStarted = true
    let held = heldForHandler
    heldForHandler = []
    for envelope in held { handle(envelope) }
  }

  private func give(_ answer: Kind.Answer, _ body: [UInt8], to envelope: Envelope) {
    guard end == nil else { return }
    FaultPoint.peerBeforeAnswer.reached()
    perform(session.answer(envelope, answer, body: body))
    FaultPoint.peerAfterAnswer.reached()
  }
}

/// A first-in, first-out queue. Appending and removing take constant time on average.
///
/// `Deque` of swift-collections does the same. It is not used here because an extension links this module: the first
/// build of an author's package, which needs nothing else of swift-collections, would compile that package for thirty
/// lines.
struct Queue<Element> {
  /// The elements, after `head` empty slots.
  private(set) var slots: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == slots.count }
  var count: Int { slots.count - head }
  /// The oldest element.
  var first: Element? { isEmpty ? nil : slots[head] }
  /// All elements, the oldest first.
  var elements: [Element] { slots[head...].compactMap(\.self) }

  mutating func append(_ element: Element) { slots.append(element) }

  /// Removes and returns the oldest element.
  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = slots[head].take()
    head += 1
    // Removing the empty slots moves fewer elements than were removed since the last time.
    if head > slots.count / 2 {
      slots.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func removeAll() {
    slots = []
    head = 0
  }
}
