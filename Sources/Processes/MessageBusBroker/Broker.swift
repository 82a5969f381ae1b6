// SPDX-License-Identifier: Apache-2.0

import Archive
package import Cluster
import FaultPoints
import Foundation
import Glibc
package import Journal
import Logging
package import Messages
import PrometheusMetrics
package import ZeroMQ

/// The message bus: one thread with the ROUTER to which all peers connect, the tap, the authenticator and the journal.
///
/// For each batch of frames it decides all, appends once to the journal, forwards, and publishes on the tap. Everything
/// that a peer or a viewer has received is therefore in the journal.
package actor Broker {
  private let settings: BrokerSettings
  let logger = Logger(label: "message-bus")
  let raise: @Sendable (Int32) -> Void
  let metrics: BrokerMetrics?
  private let prepare: @Sendable (JournalWriter) -> Void
  private let receiver: @Sendable (EnvelopeHeader) -> Address
  private let context: Context
  private var lock: JournalLock?
  var routing: Routing<PeerID>?
  var journal: JournalWriter?
  /// The pending work while the journal cannot be written; nil otherwise.
  var stall: Stall?
  /// The frames that wait for a line with an injected delay.
  var delayed: [PeerID: [[UInt8]]] = [:]
  var router: Socket?
  var tap: Socket?
  private var authenticator: Authenticator?
  /// The prefixes to which viewers at the tap have subscribed.
  var subscriptions: Set<ArraySlice<UInt8>> = []
  var connections = OpenConnections(limit: 0)
  /// The endpoints of the router and the tap, in ZeroMQ's form.
  var endpoints: [ListeningSocket: String] = [:]
  var closedDoors: Set<ListeningSocket> = []
  private var lastKeyScan = ContinuousClock.now
  private var isWatchingReplicas = false

  package nonisolated let loop = Loop(name: "message-bus")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - raise: sends this process a signal that an operator requested.
  ///   - prepare: gets the journal before it is written; tests use it to simulate a full disk.
  ///   - receiver: who receives an envelope: its destination, unless a test loses or redirects envelopes.
  /// - Throws: `ZMQError` when descriptors ran out.
  package init(
    _ settings: BrokerSettings, raise: @escaping @Sendable (Int32) -> Void = { kill(getpid(), $0) },
    prepare: @escaping @Sendable (JournalWriter) -> Void = { _ in },
    receiver: @escaping @Sendable (EnvelopeHeader) -> Address = { $0.destination }
  ) throws {
    self.settings = settings
    self.metrics = settings.metrics
    self.raise = raise
    self.prepare = prepare
    self.receiver = receiver
    self.context = try Context()
  }

  /// Reads the journal, begins a segment, listens, and writes `bus/bus.json`.
  ///
  /// - Throws: `BrokerError`, `JournalError`, `ClusterError` for the keys, `ZMQError`.
  package func start() throws -> BusAnnouncement {
    try settings.instance.create()
    lock = try JournalLock(settings.instance)
    let ownKey = try StandingKey.load(.messageBus, in: settings.instance)
    let journal = try JournalWriter(
      folder: URL(filePath: settings.instance.journal), segmentLimit: settings.segmentLimit,
      limit: journalLimit, isSynchronized: settings.synchronizesJournal, numbers: settings.instance.busNumbers)
    report(journal)
    prepare(journal)
    var routing = Routing<PeerID>(
      pid: getpid(), recovered: journal.recovered, standing: try standingKeys(), now: .now)
    routing.receiver = receiver
    routing.peerLimit = settings.peerLimit
    routing.keyGrace = settings.keyGrace / .seconds(1)
    try journal.startSegment(with: routing.started())
    self.journal = journal
    self.routing = routing
    authenticator = try Authenticator(context, on: loop) { self.admit($0) }
    let previous = try? BusAnnouncement.read(in: settings.instance)
    let (router, endpoint) = try listen(
      .router, domain: "bus", settings.listen, previous: previous?.endpoint, keys: ownKey.pair)
    let (tap, tapEndpoint) = try listen(
      .xpub, domain: "tap", settings.tap, previous: previous?.tap, keys: ownKey.pair)
    self.router = router
    self.tap = tap
    connections = OpenConnections(limit: settings.connectionLimit)
    endpoints = [.bus: endpoint.description, .tap: tapEndpoint.description]
    router.onEvent { self.handleSocketEvent($0) }
    tap.onEvent { self.reportedBoth($0, at: .tap) }
    tap.onMessages { self.subscribed($0) }
    listenToPeers()
    let announcement = BusAnnouncement(
      endpoint: announced(endpoint), tap: announced(tapEndpoint), publicKey: ownKey.publicKey, pid: getpid())
    try announcement.write(in: settings.instance)
    metrics?.generation.set(Int(routing.generation))
    trim()
    logger.notice(
      "listening",
      metadata: [
        "endpoint": "\(announcement.endpoint)", "tap": "\(announcement.tap)", "generation": "\(routing.generation)",
        "sequence": "\(journal.lastSequence)",
      ])
    return announcement
  }

  /// The limit of the settings, but at most an eighth of the file system.
  private var journalLimit: Int {
    min(settings.journalLimit, DiskSpace(at: settings.instance.journal)?.journalLimit ?? .max)
  }

  /// Closes the sockets, then ends the thread; queued frames are still sent for at most 200 ms.
  package nonisolated func stop() async {
    await close()
    await loop.stop()
    await context.terminate()
    await unlock()
  }

  /// Logs what was damaged or lost before this broker.
  private func report(_ journal: JournalWriter) {
    for path in journal.setAside {
      logger.warning(
        "a file in the journal had no head of a segment and was renamed: it may be removed",
        metadata: ["file": "\(path)"])
    }
    guard let lost = journal.recovered.lostFrom else { return }
    logger.warning(
      "the end of the journal was lost: the numbers and generations that it may have contained are not used again",
      metadata: ["from": "\(lost)", "to": "\(journal.recovered.lastSequence)"])
  }

  private func close() {
    router?.close(linger: .milliseconds(200))
    tap?.close(linger: .zero)
    authenticator?.close()
    (router, tap, authenticator) = (nil, nil, nil)
  }

  private func unlock() {
    do {
      try journal?.close()
    } catch {
      logger.warning("the journal may not be on the disk", metadata: ["error": "\(error)"])
    }
    journal = nil
    lock = nil
  }

  // MARK: Listening

  private func listen(
    _ kind: Socket.Kind, domain: String, _ wanted: Endpoint, previous: String?, keys: CurveKeyPair
  ) throws -> (Socket, Endpoint) {
    let options = Socket.Options(
      curve: .server(keys), zapDomain: domain, mandatory: kind == .router,
      sendHighWaterMark: BrokerSettings.queueLimit, receiveHighWaterMark: BrokerSettings.queueLimit,
      maxMessageSize: BrokerSettings.messageLimit)
    let socket = try Socket(context, kind: kind, on: loop, options: options)
    var again = wanted
    if wanted.port == nil { again.port = previous.flatMap { Endpoint($0) }?.port }
    do {
      return (socket, try bound(socket, again))
    } catch {
      guard again != wanted else { throw error }
      logger.warning(
        "the port of the last broker is in use: peers that know only that port cannot find this broker",
        metadata: ["endpoint": "\(again)", "error": "\(error)"])
      return (socket, try bound(socket, wanted))
    }
  }

  private func bound(_ socket: Socket, _ endpoint: Endpoint) throws(BrokerError) -> Endpoint {
    do {
      guard let bound = Endpoint(try socket.bind(endpoint.description)) else { return endpoint }
      return bound
    } catch {
      throw BrokerError(.endpoint, "cannot listen on \(endpoint): \(error)")
    }
  }

  private func announced(_ endpoint: Endpoint) -> String {
    Endpoint(host: settings.advertise ?? endpoint.host, port: endpoint.port).description
  }

  // MARK: Admission

  private func admit(_ request: AuthenticationRequest) -> AuthenticationVerdict {
    guard let key = request.publicKey else {
      decide { $0.turnAway("no-key", key: "", peerAddress: request.address) }
      return .refuse("a key is required")
    }
    let isScanned = routing?.keys[key] == nil && scanKeys()
    var admission = Routing<PeerID>.Admission.unknown
    decide {
      let (found, actions) = $0.authenticate(key, isTap: request.domain == "tap", peerAddress: request.address)
      admission = found
      return actions
    }
    if admission != .admitted { metrics?.rejectedKeys.add() }
    return switch admission {
    case .admitted: .admit(userID: key)
    // The key of an instance that was lost with the end of the journal: the process ends, and its agent reports that.
    case .unknown where isScanned && journal?.recovered.lostFrom != nil: .refuse("this key was lost")
    case .unknown: .tryAgain("unknown key")
    case .refused: .refuse("this key is not permitted here")
    }
  }

  /// Reads the key files again, at most once a second: a key may have been added.
  ///
  /// - Returns: whether they were read.
  private func scanKeys() -> Bool {
    guard ContinuousClock.now - lastKeyScan >= .seconds(1) else { return false }
    do {
      routing?.setStanding(try standingKeys())
      return true
    } catch {
      logger.warning("the standing keys could not be read again", metadata: ["error": "\(error)"])
      return false
    }
  }

  private func standingKeys() throws -> [StandingKeyFacts] {
    lastKeyScan = .now
    return try StandingKey.loadAllPublic(in: settings.instance).map(\.facts)
  }

  /// Supersedes the predecessors of a key when the grace period has passed.
  func supersede(by key: String) {
    _ = loop.after(settings.keyGrace) { [weak self] in
      self?.assumeIsolated { broker in broker.decide { $0.supersede(by: key) } }
    }
  }

  /// Closes the connections of replicas that are silent, until no replica is left. A heartbeat arrives each second,
  /// whatever else a replica sends. ZeroMQ's own limit (`ZMQ_HEARTBEAT_TTL`) does not serve: a message after the last
  /// heartbeat of a process that is stopped ends its timer.
  func watchReplicas() {
    guard !isWatchingReplicas else { return }
    isWatchingReplicas = true
    _ = loop.after(min(.seconds(1), settings.replicaSilence)) { [weak self] in
      self?.assumeIsolated { broker in
        broker.isWatchingReplicas = false
        let replicas = broker.routing?.replicaDescriptors ?? []
        let limit = broker.settings.replicaSilence
        // During a stall nothing is read from peers, so that they cannot send.
        for replica in replicas where broker.stall == nil && silence(of: replica) ?? .zero > limit {
          broker.end(replica)
        }
        if !replicas.isEmpty { broker.watchReplicas() }
      }
    }
  }

  // MARK: Events

  /// Receives messages of peers from now on.
  private func listenToPeers() { router?.onFrames { self.received($0) } }

  private func received(_ batch: FrameBatch) {
    guard stall == nil else { return keep(batch.messages) }
    decide(batch) { routing in
      for index in 0..<batch.count { routing.received(batch, index) }
      return routing.takeActions()
    }
  }

  /// Processes messages that were kept.
  func received(_ keptMessages: some Sequence<MultipartMessage>) {
    guard stall == nil else { return keep(keptMessages) }
    decide { routing in
      for var message in keptMessages { routing.received(&message) }
      return routing.takeActions()
    }
  }

  private func handleSocketEvent(_ event: SocketEvent) {
    reportedBoth(event, at: .bus)
    switch event {
    case .disconnected(let descriptor):
      forget(descriptor)
      guard let line = routing?.release(descriptor) else { return }
      // Its last messages were received in this turn, and are delivered after the events.
      loop.post { [weak self] in self?.assumeIsolated { broker in broker.decide { $0.lost(line) } } }
    default: break
    }
  }

  /// Handles the events common to both sockets.
  private func reportedBoth(_ event: SocketEvent, at door: ListeningSocket) {
    logger.debug("a connection", metadata: ["event": "\(event)"])
    count(event, at: door)
    switch event {
    case .handshakeFailed(let code, isAuthentication: false, descriptor: _):
      decide { $0.turnAway(HandshakeError(code).rawValue, key: "", peerAddress: "") }
    default: break
    }
  }
}

extension Routing<PeerID> {
  /// Passes a message of a batch to the routing, and copies it only if it must be judged.
  fileprivate mutating func received(_ batch: FrameBatch, _ index: Int) {
    if !batch.isMultipart(index), passed(batch.bytes(index), at: index, on: batch.peer(index)) { return }
    var message = batch[index]
    received(&message)
  }

  /// Passes a message to the routing. Its frame is moved out, so that stamping needs no copy.
  fileprivate mutating func received(_ message: inout MultipartMessage) {
    guard let line = message.peer, let key = message.userID else { return }
    let descriptor = message.descriptor
    guard !message.isMultipart else { return receivedMultipart(on: line, key: key, descriptor: descriptor) }
    received(exchange(&message.bytes, with: []), on: line, key: key, descriptor: descriptor)
  }
}

/// Why a handshake failed before the authenticator was called.
private enum HandshakeError: String {
  /// Another mechanism than CURVE, or a peer that disconnected or timed out before it had sent a key, as peers do that
  /// find the mechanism mismatch first.
  case noKey = "no-key"
  /// CURVE with another broker's public key, or a violation of the protocol.
  case badHandshake = "bad-handshake"

  init(_ code: Int32) {
    // ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH; other protocol errors begin at 0x10000000, an errno is far below.
    self = code == 0x1100_0002 || code < 0x1000_0000 ? .noKey : .badHandshake
  }
}

/// The open connections, including those to the tap, and their limit.
struct OpenConnections {
  /// Descriptors reserved for the broker itself: segments, key files.
  static let reserve = 32
  /// The quiet time after which the broker reports the end of the strain.
  static let quiet = Duration.seconds(1)

  /// The descriptors of all connections, from `accept` to the end, including those still in the handshake.
  var descriptors: Set<Int32> = []
  /// The descriptors of connections to the tap.
  var viewers: Set<Int32> = []
  private let fixedLimit: Int?
  /// The number of the process's descriptors that are not connections.
  private let others: Int
  /// The current strain since it began; nil without one.
  var strain: (reason: String, turnedAway: Int, last: ContinuousClock.Instant)?

  /// - Parameter limit: nil to derive it from the process's limit of descriptors.
  init(limit: Int?) {
    fixedLimit = limit
    others = limit == nil ? (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 64 : 0
  }

  /// The current limit, since the limit of a process can be changed from outside.
  var limit: Int {
    if let fixedLimit { return fixedLimit }
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
    return max(1, Int(clamping: limit.rlim_cur) - others - Self.reserve)
  }

  /// Removes the connections that were closed with a listener. A closed listener closes the connections that are still
  /// in the handshake, and ZeroMQ does not report their end.
  mutating func forgetClosed() {
    descriptors = descriptors.filter { descriptor in
      var status = stat()
      return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
    viewers.formIntersection(descriptors)
  }

  /// Whether there is enough room to report the end of the strain.
  var hasRoom: Bool { descriptors.count <= limit - max(1, limit / 8) }
}

/// A listener for connections.
enum ListeningSocket: Hashable {
  case bus, tap

  /// How long it stays closed after a connection could not be accepted or was one too many.
  static let pause = Duration.milliseconds(100)
}

// A connection beyond the limit is shut down as soon as it was accepted, so that descriptors are left and existing
// peers are served. In addition the listener is closed for a moment: a client that is shut down reconnects after 10 ms
// each time, while a client that finds no listener waits longer and longer. About fifty rejected clients would
// otherwise consume all time of a busy machine. If descriptors run out nevertheless, such as in a burst, ZeroMQ's
// listener would spin and flood its monitor.

extension Broker {
  func count(_ event: SocketEvent, at door: ListeningSocket) {
    switch event {
    case .accepted(let descriptor):
      connections.descriptors.insert(descriptor)
      metrics?.accepted.add()
      if door == .tap { connections.viewers.insert(descriptor) }
      guard connections.descriptors.count > connections.limit else { return }
      end(descriptor)
      strained("descriptors", turnedAway: 1)
      shut(door)
    case .disconnected(let descriptor), .closed(let descriptor):
      connections.descriptors.remove(descriptor)
      connections.viewers.remove(descriptor)
    case .acceptFailed(let code):
      strained(String(cString: strerror(code)), turnedAway: 0)
      shut(door)
    default: break
    }
  }

  private func socket(_ door: ListeningSocket) -> Socket? { door == .bus ? router : tap }

  private func shut(_ door: ListeningSocket) {
    guard let endpoint = endpoints[door], closedDoors.insert(door).inserted else { return }
    do {
      try socket(door)?.unbind(endpoint)
    } catch {
      logger.warning("a listener could not be closed", metadata: ["error": "\(error)"])
    }
    reopen(door, endpoint)
  }

  private func reopen(_ door: ListeningSocket, _ endpoint: String) {
    _ = loop.after(ListeningSocket.pause) { [weak self] in
      self?.assumeIsolated { broker in
        do {
          _ = try broker.socket(door)?.bind(endpoint)
          broker.closedDoors.remove(door)
          broker.connections.forgetClosed()
        } catch {
          broker.strained("\(error)", turnedAway: 0)
          broker.reopen(door, endpoint)
        }
      }
    }
  }

  /// Shuts a connection down: ZeroMQ detects that and closes it. If it was closed a moment ago, the descriptor is at
  /// worst that of a new connection, whose peer reconnects.
  func end(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func strained(_ reason: String, turnedAway: Int) {
    if connections.strain != nil {
      connections.strain?.turnedAway += turnedAway
      connections.strain?.last = .now
      return
    }
    connections.strain = (reason, turnedAway, .now)
    logger.error(
      "no more connections are accepted: existing ones are served",
      metadata: ["reason": "\(reason)", "limit": "\(connections.limit)"])
    report(strain: (reason, turnedAway), isOver: false)
    awaitQuiet()
  }

  private func awaitQuiet() {
    _ = loop.after(OpenConnections.quiet) { [weak self] in
      self?.assumeIsolated { broker in
        guard let strain = broker.connections.strain else { return }
        broker.connections.forgetClosed()
        guard broker.connections.hasRoom, broker.closedDoors.isEmpty,
          ContinuousClock.now - strain.last >= OpenConnections.quiet
        else {
          return broker.awaitQuiet()
        }
        broker.connections.strain = nil
        broker.logger.notice("connections are accepted again", metadata: ["turnedAway": "\(strain.turnedAway)"])
        broker.report(strain: (strain.reason, strain.turnedAway), isOver: true)
      }
    }
  }

  private func report(strain: (reason: String, turnedAway: Int), isOver: Bool) {
    let notice = BusStrained(
      reason: strain.reason, connections: connections.descriptors.count, limit: connections.limit,
      turnedAway: strain.turnedAway, isOver: isOver)
    decide { $0.recording(notice) }
  }
}

/// The time since the last data arrived on a TCP connection, by the kernel's clock; `nil` for a closed descriptor.
func silence(of descriptor: Int32) -> Duration? {
  var info = tcp_info()
  var length = socklen_t(MemoryLayout<tcp_info>.size)
  guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
  return .milliseconds(Int(info.tcpi_last_data_recv))
}

/// The pending work while the journal cannot be written.
///
/// Actions decided before the failure have their numbers, and are written first once the journal is writable again;
/// until then they are not sent, so that the numbers can be reused if the broker is killed. Later messages are not
/// decided: requests and events get `busy`, which is definite, without a number and without a record; all others are
/// kept in order, including a hello, whose sender gets its welcome only when the journal is writable.
struct Stall {
  /// How much is kept. Beyond it the broker stops reading from peers, which then wait.
  static let keptLimit = (count: 4096, bytes: 16 << 20)
  /// The delay between two attempts to write; it doubles.
  static let pause = (first: Duration.milliseconds(50), longest: Duration.seconds(1))

  let began = ContinuousClock.now
  let error: JournalError
  /// The first record of a segment that must be begun first.
  var segment: [UInt8]?
  var actions: [Routing<PeerID>.Action]
  var keptMessages: [MultipartMessage] = []
  var keptBytes = 0
  /// How many messages were rejected with `busy`.
  var turnedDown = 0
  var pause = Stall.pause.first

  var isFull: Bool { keptMessages.count >= Stall.keptLimit.count || keptBytes >= Stall.keptLimit.bytes }
}

// Decide, write, forward: in this order, also when the disk is full.

extension Broker {
  /// Passes an event to the routing, and performs the resulting actions.
  ///
  /// - Parameter batch: the received frames that they name by their places.
  func decide(_ batch: FrameBatch? = nil, _ body: (inout Routing<PeerID>) -> [Routing<PeerID>.Action]) {
    perform(routing?.decide(at: .now, body) ?? [], batch)
  }

  func perform(_ actions: [Routing<PeerID>.Action], _ batch: FrameBatch? = nil) {
    guard stall == nil else {
      stall?.actions += kept(actions, batch)
      return
    }
    var actions = actions
    while !actions.isEmpty {
      do throws(JournalError) {
        try append(actions, batch)
      } catch {
        return wait(error, segment: nil, kept(actions, batch))
      }
      actions = carryOut(actions, batch)
    }
    if let metrics { report(to: metrics) }
    guard journal?.isFull == true, let frame = routing?.started() else { return }
    do throws(JournalError) {
      try journal?.startSegment(with: frame)
    } catch {
      return wait(error, segment: frame, [])
    }
    frame.withUnsafeBytes { show($0) }
    trim()
  }

  private func append(_ actions: [Routing<PeerID>.Action], _ batch: FrameBatch?) throws(JournalError) {
    guard let journal else { return }
    let began = metrics.map { _ in ContinuousClock.now }
    var (count, bytes) = (0, 0)
    forEachRecord(of: actions, batch) { frame in
      journal.add(frame)
      count += 1
      bytes += frame.count
    }
    try journal.append(givingUpTo: routing?.highestGeneration ?? 0)
    guard let metrics, let began else { return }
    metrics.appends.observe(ContinuousClock.now - began)
    metrics.batches.add()
    metrics.records.add(count)
    metrics.recordBytes.add(bytes)
  }

  /// Publishes the state for the metrics.
  private func report(to metrics: BrokerMetrics) {
    metrics.peers.set(routing?.connectedCount ?? 0)
    metrics.refused.set(routing?.refusals ?? 0)
    metrics.connections.set(connections.descriptors.count)
    metrics.viewers.set(connections.viewers.count)
    metrics.isStalled.set(stall == nil ? 0 : 1)
  }

  private func records(of actions: [Routing<PeerID>.Action]) -> [[UInt8]] {
    actions.compactMap { if case .record(let frame) = $0 { frame } else { nil } }
  }

  /// The same actions with copies of the frames that they name, which stay valid after the turn.
  private func kept(_ actions: [Routing<PeerID>.Action], _ batch: FrameBatch?) -> [Routing<PeerID>.Action] {
    actions.flatMap { action -> [Routing<PeerID>.Action] in
      guard case .pass(let index, let line) = action, let batch else { return [action] }
      let frame = [UInt8](batch.bytes(index))
      return [.record(frame)] + (line.map { [.forward(frame, to: $0)] } ?? [])
    }
  }

  private func forEachRecord(
    of actions: [Routing<PeerID>.Action], _ batch: FrameBatch?, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    for action in actions {
      switch action {
      case .record(let frame): frame.withUnsafeBytes { body($0) }
      case .pass(let index, _): if let batch { body(UnsafeRawBufferPointer(batch.bytes(index))) }
      case .forward, .cutOff, .raise, .supersede, .cutOffViewers, .watchReplicas: break
      }
    }
  }

  /// Performs recorded actions, and returns the actions that follow from them.
  private func carryOut(
    _ actions: [Routing<PeerID>.Action], _ batch: FrameBatch? = nil
  ) -> [Routing<PeerID>.Action] {
    var consequences: [Routing<PeerID>.Action] = []
    var forwarded = 0
    for action in actions {
      switch action {
      case .record: break
      case .pass(let index, let line):
        guard let line, let batch else { continue }
        forwarded += 1
        pass(batch, at: index, to: line, into: &consequences)
      case .forward(let frame, let line):
        forwarded += 1
        forward(frame, to: line, &consequences)
      case .cutOff(let descriptor): end(descriptor)
      case .raise(let signal): raise(signal)
      case .supersede(let key): supersede(by: key)
      case .cutOffViewers: for viewer in connections.viewers { end(viewer) }
      case .watchReplicas: watchReplicas()
      }
    }
    metrics?.forwarded.add(forwarded)
    if !subscriptions.isEmpty {
      forEachRecord(of: actions, batch) { show($0) }
    }
    FaultPoint.busAfterForwarding.reached()
    return consequences
  }

  /// Sends a received frame on. It is copied when it is needed afterwards: by a viewer, or by an injected fault.
  private func pass(
    _ batch: FrameBatch, at index: Int, to line: PeerID, into consequences: inout [Routing<PeerID>.Action]
  ) {
    if !subscriptions.isEmpty || LineFaults.areArmed || !delayed.isEmpty {
      return forward([UInt8](batch.bytes(index)), to: line, &consequences)
    }
    let result = sent { router throws(ZMQError) in try router.send(batch, index, to: line) }
    if result != .queued { consequences += unsent([UInt8](batch.bytes(index)), to: line, result) }
  }

  private func forward(_ frame: [UInt8], to line: PeerID, _ consequences: inout [Routing<PeerID>.Action]) {
    if LineFaults.areArmed || !delayed.isEmpty {
      consequences += forwardWithFaults(frame, to: line)
      return
    }
    let result = send(frame, to: line)
    if result != .queued { consequences += unsent(frame, to: line, result) }
  }

  private func forwardNow(_ frame: [UInt8], to line: PeerID) -> [Routing<PeerID>.Action] {
    let result = send(frame, to: line)
    return result == .queued ? [] : unsent(frame, to: line, result)
  }

  private func unsent(_ frame: [UInt8], to line: PeerID, _ result: SendResult) -> [Routing<PeerID>.Action] {
    metrics?.unsent.add()
    return routing?.notSent(frame, on: line, isGone: result == .unroutable) ?? []
  }

  private func send(_ frame: [UInt8], to line: PeerID) -> SendResult {
    sent { router throws(ZMQError) in try router.send(frame, to: line) }
  }

  private func sent(_ send: (Socket) throws(ZMQError) -> SendResult) -> SendResult {
    guard let router else { return .unroutable }
    do {
      return try send(router)
    } catch {
      logger.error("a frame could not be sent", metadata: ["error": "\(error)"])
      return .unroutable
    }
  }

  /// An XPUB drops what a slow viewer has no room for, so this never waits. It costs nothing without a viewer.
  private func show(_ frame: UnsafeRawBufferPointer) {
    if !subscriptions.isEmpty { _ = try? tap?.send(frame) }
  }

  /// An XPUB reports the first subscription to a prefix (1, the prefix) and the end of the last one (0, the prefix).
  private func subscribed(_ batch: Batch) {
    for message in batch {
      switch message.bytes.first {
      case 1: subscriptions.insert(message.bytes.dropFirst())
      case 0: subscriptions.remove(message.bytes.dropFirst())
      default: break
      }
    }
  }

  /// Removes the oldest segments when the journal exceeds its limit, after it has recorded that.
  private func trim() {
    do throws(JournalError) {
      guard stall == nil, let excess = try journal?.excess() else { return }
      decide { $0.recording(excess) }
      guard stall == nil else { return }
      try journal?.remove(excess)
    } catch {
      logger.warning("the journal stays over its limit", metadata: ["error": "\(error)"])
    }
  }

  // MARK: While the journal cannot be written

  private func wait(_ error: JournalError, segment: [UInt8]?, _ actions: [Routing<PeerID>.Action]) {
    logger.error(
      "the journal cannot be written: nothing is forwarded, and peers get busy until a write succeeds",
      metadata: ["error": "\(error)"])
    let stall = Stall(error: error, segment: segment, actions: actions)
    self.stall = stall
    if let metrics { report(to: metrics) }
    tryAgain(after: stall.pause)
  }

  private func tryAgain(after pause: Duration) {
    _ = loop.after(pause) { [weak self] in self?.assumeIsolated { $0.tryAgain() } }
  }

  private func tryAgain() {
    guard let stall, let journal else { return }
    do throws(JournalError) {
      if let frame = stall.segment {
        try journal.startSegment(with: frame)
        self.stall?.segment = nil
        frame.withUnsafeBytes { show($0) }
      }
      try append(stall.actions, nil)
    } catch {
      let pause = min(stall.pause * 2, Stall.pause.longest)
      self.stall?.pause = pause
      return tryAgain(after: pause)
    }
    self.stall = nil
    let consequences = carryOut(stall.actions)
    goOn(after: stall, consequences)
  }

  private func goOn(after stall: Stall, _ consequences: [Routing<PeerID>.Action]) {
    let duration = ContinuousClock.now - stall.began
    logger.notice("the journal is written again", metadata: ["after": "\(duration)"])
    perform(consequences)
    decide {
      $0.recording(
        JournalResumed(
          reason: stall.error.message, milliseconds: Int(saturating: duration / .milliseconds(1)),
          held: records(of: stall.actions).count, turnedDown: stall.turnedDown))
    }
    if stall.isFull { listenToPeers() }
    for start in stride(from: 0, to: stall.keptMessages.count, by: 256) {
      received(stall.keptMessages[start..<min(start + 256, stall.keptMessages.count)])
    }
    trim()
  }

  /// Keeps messages that cannot be recorded now, or rejects them with `busy`.
  func keep(_ messages: some Sequence<MultipartMessage>) {
    for message in messages {
      if let line = message.peer, !message.isMultipart, let answer = routing?.busy(message.bytes, on: line) {
        _ = send(answer, to: line)
        stall?.turnedDown += 1
        metrics?.busy.add()
      } else {
        stall?.keptMessages.append(message)
        stall?.keptBytes += message.bytes.count
      }
    }
    if stall?.isFull == true { router?.onFrames(nil) }
  }

  /// Drops the kept messages of a connection that ended before it was identified: no process awaits the replies, and
  /// its descriptor may be reused by another connection.
  func forget(_ descriptor: Int32) {
    guard let routing else { return }
    stall?.keptMessages.removeAll { message in
      message.descriptor == descriptor && message.peer.map { routing.peers[$0] == nil } ?? true
    }
  }
}

// Faults that an injector arms on the lines of the bus. All happen after the journal is written, and a peer cannot tell
// them from a slow network, from one that fails, and from a sender that reconnects.

extension Broker {
  /// Forwards an envelope with the fault that is armed for it, if any, and after those that wait for the same line.
  private func forwardWithFaults(_ frame: [UInt8], to line: PeerID) -> [Routing<PeerID>.Action] {
    let action = lineFault(of: frame)
    if action == .cut {
      delayed[line] = nil
      if let descriptor = routing?.peers[line]?.descriptor { end(descriptor) }
      return []
    }
    let frames = action == .double ? [frame, frame] : [frame]
    if delayed[line] != nil {
      delayed[line]? += frames
      return []
    }
    if case .delay(let milliseconds) = action {
      delayed[line] = frames
      _ = loop.after(.milliseconds(milliseconds)) { [weak self] in self?.assumeIsolated { $0.endDelay(of: line) } }
      return []
    }
    return frames.flatMap { forwardNow($0, to: line) }
  }

  private func lineFault(of frame: [UInt8]) -> FaultPointPage.LineAction? {
    guard LineFaults.areArmed, let header = try? EnvelopeHeader(decoding: frame) else { return nil }
    let style = MessageTable[header.kind]?.style
    return LineFaults.action(
      from: header.source, to: header.destination, type: header.kind.name,
      mayDouble: header.kind.answer == nil && (style == .request || style == .event))
  }

  private func endDelay(of line: PeerID) {
    let frames = delayed.removeValue(forKey: line) ?? []
    perform(frames.flatMap { forwardNow($0, to: line) })
  }
}
