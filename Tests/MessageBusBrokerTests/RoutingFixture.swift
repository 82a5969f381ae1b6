import Conversations
import Foundation
import Journal

@testable import MessageBusBroker

let hostKey = String(repeating: "h", count: 40)
let agentKey = String(repeating: "a", count: 40)
let operatorKey = String(repeating: "o", count: 40)
let lifeKey = String(repeating: "1", count: 40)
let nextLifeKey = String(repeating: "2", count: 40)

let host = Address.host("iphone")
let agent = Address.agent("iphone", 1)
let widget = Address.widgetExtension("iphone", "com.example.W")
let app = Address.app("iphone", "com.example.A")
let tool = Address.operator("77")

/// A routing with connections that are numbers, and a record of what it did.
struct RoutingFixture {
  var routing: Routing<Int>
  /// What was recorded, in order.
  var recorded: [Envelope] = []
  /// What was forwarded, in order.
  var forwarded: [(line: Int, envelope: Envelope)] = []
  var raised: [Int32] = []
  /// The keys whose grace has begun.
  var superseding: [String] = []
  /// How often the connections at the tap were ended.
  var viewersEnded = 0
  /// The descriptors of connections that were cut off.
  var ended: [Int32] = []
  private var keys: [Int: String] = [:]
  static let standing = facts([
    hostKey: AddressPattern(host), agentKey: AddressPattern(agent), operatorKey: AddressPattern("operator/*"),
  ])

  /// Standing keys of files that were made at the beginning of time.
  static func facts(_ keys: [String: AddressPattern]) -> [StandingKeyFacts] {
    keys.map { StandingKeyFacts(pattern: $1, publicKey: $0, since: Timestamp(microseconds: 0)) }
  }

  init(recovered: JournalRecovery = JournalRecovery()) {
    routing = Routing(
      pid: 4711, recovered: recovered, standing: RoutingFixture.standing, now: Timestamp(microseconds: 1_000_000))
  }

  /// What the last tell recorded.
  private(set) var last: [Envelope] = []

  mutating func perform(_ effects: [Routing<Int>.Effect]) {
    last = []
    for effect in effects {
      switch effect {
      case .record(let frame):
        guard let envelope = try? Envelope(decoding: frame) else { continue }
        last.append(envelope)
      case .forward(let frame, let line):
        guard let envelope = try? Envelope(decoding: frame) else { continue }
        forwarded.append((line, envelope))
      case .cutOff(let descriptor): ended.append(descriptor)
      case .raise(let signal): raised.append(signal)
      case .supersede(let key): superseding.append(key)
      case .cutOffViewers: viewersEnded += 1
      }
    }
    recorded += last
  }

  /// A frame arrives on a connection whose descriptor is its number.
  mutating func receive(_ frame: [UInt8], on line: Int, key: String) {
    routing.received(frame, on: line, key: key, descriptor: Int32(line))
    perform(routing.takeEffects())
  }

  /// Says something, and returns the header that it was sent with.
  @discardableResult
  mutating func say<T: Conversation>(
    _ value: T, from source: Address, to destination: Address, on line: Int, key: String? = nil, cause: UUID? = nil,
    answering answer: Kind.Answer? = nil
  ) throws -> EnvelopeHeader {
    let kind = answer.map { T.kind.answered($0) } ?? T.kind
    let header = EnvelopeHeader(kind: kind, cause: cause, source: source, destination: destination)
    let key = key ?? keys[line] ?? hostKey
    receive(try Envelope(header: header, body: try BodyCoding.encode(value)).encoded(), on: line, key: key)
    return header
  }

  /// Says hello and remembers the key of the connection.
  @discardableResult
  mutating func hello(
    _ address: Address, on line: Int, key: String, incarnation: UUID = UUID()
  ) throws -> EnvelopeHeader {
    keys[line] = key
    return try say(Hello(incarnation: incarnation, pid: 99), from: address, to: .messageBus, on: line)
  }

  /// The connection with this descriptor is gone.
  mutating func lose(_ line: Int) {
    guard let lost = routing.release(Int32(line)) else { return }
    perform(routing.lost(lost))
  }

  /// Registers a life of the extension through the agent, which must be connected on line 2.
  mutating func register(_ key: String = lifeKey, _ address: Address = widget) throws {
    try say(RegisterLife(address: address, publicKey: key), from: agent, to: .messageBus, on: 2)
  }

  /// Host on line 1, agent on line 2.
  static func running() throws -> RoutingFixture {
    var fixture = RoutingFixture()
    try fixture.hello(host, on: 1, key: hostKey)
    try fixture.hello(agent, on: 2, key: agentKey)
    return fixture
  }

  /// What a key would be answered, without recording it.
  func admission(of key: String, isTap: Bool = false) -> Routing<Int>.Admission {
    var copy = routing
    return copy.authenticate(key, isTap: isTap, peerAddress: "").0
  }

  var lastKinds: [String] { last.map(\.header.kind.name) }

  func lastBody<T: Decodable>(_ type: T.Type, at index: Int = 0) throws -> T {
    try BodyCoding.decode(type, from: last[index].body)
  }

  /// What a connection was sent since a number.
  func sent(to line: Int, after sequence: UInt64 = 0) -> [Envelope] {
    forwarded.filter { $0.line == line && $0.envelope.header.sequence > sequence }.map(\.envelope)
  }
}
