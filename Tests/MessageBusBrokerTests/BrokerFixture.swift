import Cluster
import Conversations
import Foundation
import Journal
import MessageBus
import Testing
import ZeroMQ

@testable import MessageBusBroker

/// An instance folder of its own with keys, and the broker that serves it.
final class BrokerFixture: Sendable {
  let instance = InstanceFolder(
    FileManager.default.temporaryDirectory.appending(path: "bus-\(UUID().uuidString)").path)
  let hostPair: CurveKeyPair
  let agentPair: CurveKeyPair
  let operatorPair: CurveKeyPair

  init() throws {
    hostPair = try CurveKeyPair.generate()
    agentPair = try CurveKeyPair.generate()
    operatorPair = try CurveKeyPair.generate()
    try instance.create()
    try add("message-bus", AddressPattern(.messageBus), try CurveKeyPair.generate())
    try add("host", AddressPattern(host), hostPair)
    try add("agent-1", AddressPattern(agent), agentPair)
    try add("operator", AddressPattern("operator/*"), operatorPair)
  }

  deinit { try? FileManager.default.removeItem(atPath: instance.path) }

  /// Adds a standing key, as `widgetlab keys` does.
  func add(_ name: String, _ pattern: AddressPattern, _ pair: CurveKeyPair) throws {
    let file =
      "{\"pattern\":\"\(pattern)\",\"publicKey\":\(quoted(pair.publicKey)),\"secretKey\":\(quoted(pair.secretKey))}"
    let path = "\(instance.keys)/\(name).json"
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data(file.utf8), attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
  }

  private func quoted(_ text: String) -> String {
    String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
  }

  func broker(_ change: (inout BrokerSettings) -> Void = { _ in }) throws -> Broker {
    var settings = BrokerSettings(instance: instance)
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

  func connection(_ bus: BusAnnouncement, _ address: Address, _ pair: CurveKeyPair) -> Connection {
    .zeroMQ(address: address, endpoint: bus.endpoint, serverKey: bus.publicKey, keys: pair, heartbeats: false)
  }

  var reader: JournalReader { JournalReader(folder: URL(filePath: instance.journal)) }

  /// The first envelope of the journal that is like this, now or when it comes.
  func recorded(
    from start: JournalPosition = .beginning, _ isWanted: (Envelope) throws -> Bool
  ) async throws -> Envelope {
    for try await envelope in reader.follow(from: start) where try isWanted(envelope) { return envelope }
    throw CancellationError()
  }

  /// The first record of a kind whose body is like this.
  func recorded<T: Conversation>(
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

/// A TCP connection that never shakes hands.
final class RawLine: Sendable {
  private let descriptor: Int32

  init(_ endpoint: String) throws {
    let port = try #require(Endpoint(endpoint)?.port)
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try #require(descriptor >= 0)
    // From another address, so that it takes no port that a broker of another test is to have again.
    try #require(Self.withAddress("127.0.0.2", port: 0) { bind(descriptor, $0, $1) } == 0)
    try #require(Self.withAddress("127.0.0.1", port: port) { connect(descriptor, $0, $1) } == 0)
  }

  private static func withAddress(
    _ host: String, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  deinit { close(descriptor) }

  /// Says the first bytes of a greeting of ZMTP 3, and no more.
  func greetHalfWay() { _ = send(descriptor, [0xff, 0, 0, 0], 4, Int32(MSG_NOSIGNAL)) }

  /// Returns when the other side has ended the connection.
  func untilEnded() async {
    let descriptor = descriptor
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread {
        var buffer = [UInt8](repeating: 0, count: 256)
        while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
        continuation.resume()
      }
    }
  }
}

/// A socket that says what it likes.
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
    _ kind: Socket.Kind, _ endpoint: String, _ curve: Socket.Curve, receiveHighWaterMark: Int32 = 4096
  ) throws {
    let options = Socket.Options(curve: curve, receiveHighWaterMark: receiveHighWaterMark)
    let socket = try Socket(context, kind, on: loop, options)
    self.socket = socket
    listen(true)
    if kind == .sub { try socket.subscribe([]) }
    try socket.connect(endpoint)
  }

  /// Takes what comes, or leaves it where it is.
  func listen(_ listens: Bool) {
    let continuation = continuation
    socket?.onMessages(listens ? { for message in $0 { continuation.yield(message.bytes) } } : nil)
  }

  func say<T: Conversation>(_ value: T, from source: Address, to destination: Address) throws -> EnvelopeHeader {
    let header = EnvelopeHeader(kind: T.kind, source: source, destination: destination)
    try say(try Envelope(header: header, body: try BodyCoding.encode(value)).encoded())
    return header
  }

  func say(_ bytes: [UInt8]) throws { _ = try socket?.send(bytes) }

  /// The next envelope of a kind.
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
