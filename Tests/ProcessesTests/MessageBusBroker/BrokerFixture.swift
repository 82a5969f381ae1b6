// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Journal
import MessageBus
import Messages
import Testing
import ZeroMQ

@testable import MessageBusBroker

/// A temporary instance folder with keys, and its broker.
final class BrokerFixture: Sendable {
  let instance = InstanceFolder(
    FileManager.default.temporaryDirectory.appending(path: "bus-\(UUID().uuidString)").path)
  /// A loopback address of this fixture alone: no other test takes a port between two brokers.
  private let address = (1...3).reduce("127") { text, _ in "\(text).\(UInt8.random(in: 1...254))" }
  let hostPair: CurveKeyPair
  let agentPair: CurveKeyPair
  let operatorPair: CurveKeyPair

  init() throws {
    hostPair = try CurveKeyPair.generate()
    agentPair = try CurveKeyPair.generate()
    operatorPair = try CurveKeyPair.generate()
    try instance.create()
    try add("message-bus", pattern: AddressPattern(.messageBus), pair: try CurveKeyPair.generate())
    try add("host", pattern: AddressPattern(host), pair: hostPair)
    try add("agent-1", pattern: AddressPattern(agent), pair: agentPair)
    try add("operator", pattern: AddressPattern("operator/*"), pair: operatorPair)
  }

  deinit { try? FileManager.default.removeItem(atPath: instance.path) }

  /// Adds a standing key, as `widgetlab keys` does.
  func add(_ name: String, pattern: AddressPattern, pair: CurveKeyPair, since: Timestamp = .now) throws {
    struct File: Encodable {
      let pattern: AddressPattern
      let publicKey: String
      let secretKey: String
      let since: Timestamp
    }
    let folder = "\(instance.keys)/\(name)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let file = File(pattern: pattern, publicKey: pair.publicKey, secretKey: pair.secretKey, since: since)
    try JSONFile.write(file, to: folder + "/key.json")
    let facts = StandingKeyFacts(pattern: pattern, publicKey: pair.publicKey, since: since)
    try JSONFile.write(facts, to: "\(instance.knownFolder)/\(name).json")
  }

  func broker(_ change: (inout BrokerSettings) -> Void = { _ in }) throws -> Broker {
    var settings = BrokerSettings(instance: instance)
    settings.listen = Endpoint(host: address, port: nil)
    settings.tap = settings.listen
    change(&settings)
    return try Broker(settings)
  }

  /// Runs a broker while `body` runs.
  func withBroker<R>(
    _ change: (inout BrokerSettings) -> Void = { _ in }, _ body: (BusAnnouncement) async throws -> R
  ) async throws -> R {
    let broker = try broker(change)
    do {
      let result = try await body(try await broker.start())
      await broker.stop()
      return result
    } catch {
      await broker.stop()
      throw error
    }
  }

  func connection(_ bus: BusAnnouncement, address: Address, pair: CurveKeyPair) -> Connection {
    connection(bus, address, keys: { pair })
  }

  /// Returns a connection whose keys may change. Its request deadline of 60 s only guards against a hang.
  func connection(
    _ bus: BusAnnouncement, _ address: Address, keys: @escaping @Sendable () -> CurveKeyPair
  ) -> Connection {
    .zeroMQ(
      address: address, endpoint: bus.endpoint, serverKey: bus.publicKey, heartbeats: false,
      requestDeadline: .seconds(60), keys: keys)
  }

  var reader: JournalReader { JournalReader(folder: URL(filePath: instance.journal)) }

  /// Waits for the first matching envelope of the journal.
  func recorded(
    from start: JournalPosition = .beginning, _ isWanted: (Envelope) throws -> Bool
  ) async throws -> Envelope {
    for try await envelope in reader.follow(from: start) where try isWanted(envelope) { return envelope }
    throw CancellationError()
  }

  /// Waits for the first record of a message type with a matching body.
  func recorded<T: Message>(
    _: T.Type, from start: JournalPosition = .beginning, where isWanted: (T) -> Bool = { _ in true }
  ) async throws -> (envelope: Envelope, body: T) {
    var body: T?
    let envelope = try await recorded(from: start) { envelope in
      guard envelope.header.kind == T.kind else { return false }
      body = try BodyCoding.decode(T.self, from: envelope.body)
      return body.map(isWanted) ?? false
    }
    return (envelope, try #require(body))
  }
}

/// A ZeroMQ socket that sends arbitrary bytes.
actor RawPeer {
  nonisolated let loop = Loop(name: "raw-peer")
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  nonisolated let received: AsyncStream<[UInt8]>
  private let continuation: AsyncStream<[UInt8]>.Continuation
  private let context: Context
  private var socket: Socket?

  init() throws {
    context = try Context()
    (received, continuation) = AsyncStream.makeStream(of: [UInt8].self)
  }

  func connect(
    _ kind: Socket.Kind, endpoint: String, curve: Socket.Curve, receiveHighWaterMark: Int32 = 4096
  ) throws {
    let options = Socket.Options(curve: curve, receiveHighWaterMark: receiveHighWaterMark)
    let socket = try Socket(context, kind: kind, on: loop, options: options)
    self.socket = socket
    listen(true)
    if kind == .sub { try socket.subscribe([]) }
    try socket.connect(endpoint)
  }

  /// Starts or stops receiving messages.
  func listen(_ listens: Bool) {
    let continuation = continuation
    socket?.onMessages(listens ? { for message in $0 { continuation.yield(message.bytes) } } : nil)
  }

  func send<T: Message>(_ value: T, from source: Address, to destination: Address) throws -> EnvelopeHeader {
    let header = EnvelopeHeader(kind: T.kind, source: source, destination: destination)
    try send(try Envelope(header: header, body: try BodyCoding.encode(value)).encoded())
    return header
  }

  func send(_ bytes: [UInt8]) throws { _ = try socket?.send(bytes) }

  /// Waits for the next envelope of a message type.
  func next(_ kind: Kind) async throws -> Envelope {
    for await frame in received {
      let envelope = try Envelope(decoding: frame)
      if envelope.header.kind == kind { return envelope }
    }
    throw CancellationError()
  }

  func stop() async {
    socket?.close(linger: .zero)
    await loop.stop()
    await context.terminate()
  }
}
