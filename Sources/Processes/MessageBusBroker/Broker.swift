// SPDX-License-Identifier: Apache-2.0

package import Cluster
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
    let own = try StandingKey.load(.messageBus, in: settings.instance)
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
      .router, domain: "bus", settings.listen, previous: previous?.endpoint, keys: own.pair)
    let (tap, tapEndpoint) = try listen(
      .xpub, domain: "tap", settings.tap, previous: previous?.tap, keys: own.pair)
    self.router = router
    self.tap = tap
    connections = OpenConnections(limit: settings.connectionLimit)
    endpoints = [.bus: endpoint.description, .tap: tapEndpoint.description]
    router.onEvent { self.handleSocketEvent($0) }
    tap.onEvent { self.reportedBoth($0, at: .tap) }
    tap.onMessages { self.subscribed($0) }
    listenToPeers()
    let announcement = BusAnnouncement(
      endpoint: announced(endpoint), tap: announced(tapEndpoint), publicKey: own.publicKey, pid: getpid())
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
    let socket = try Socket(context, kind, on: loop, options)
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
      decide { $0.turnAway("no-key", "", request.address) }
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
  func listenToPeers() { router?.onFrames { self.received($0) } }

  private func received(_ batch: FrameBatch) {
    guard stall == nil else { return keep(batch.messages) }
    decide(batch) { routing in
      for index in 0..<batch.count { routing.received(batch, index) }
      return routing.takeActions()
    }
  }

  /// Processes messages that were kept.
  func received(_ kept: some Sequence<MultipartMessage>) {
    guard stall == nil else { return keep(kept) }
    decide { routing in
      for var message in kept { routing.received(&message) }
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
      decide { $0.turnAway(HandshakeError(code).rawValue, "", "") }
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
