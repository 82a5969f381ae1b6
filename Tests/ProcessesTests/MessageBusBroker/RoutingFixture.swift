// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import Messages

@testable import MessageBusBroker

let hostKey = String(repeating: "h", count: 40)
let agentKey = String(repeating: "a", count: 40)
let operatorKey = String(repeating: "o", count: 40)
let instanceKey = String(repeating: "1", count: 40)
let nextInstanceKey = String(repeating: "2", count: 40)

let host = Address.host("iphone")
let agent = Address.agent("iphone", 1)
let widget = Address.widgetExtension("iphone", "com.example.W")
let app = Address.app("iphone", "com.example.A")
let tool = Address.operator("77")

/// A routing whose connections are numbers, with a record of its actions.
struct RoutingFixture {
  var routing: Routing<Int>
  /// The recorded envelopes, in order.
  var recorded: [Envelope] = []
  /// The forwarded envelopes with their connections, in order.
  var forwarded: [(line: Int, envelope: Envelope)] = []
  var raised: [Int32] = []
  /// The new keys whose grace period has started.
  var superseding: [String] = []
  /// The number of times that the connections of the tap were closed.
  var viewersEnded = 0
  /// The descriptors of the connections that the routing closed.
  var ended: [Int32] = []
  private var keys: [Int: String] = [:]
  static let standing = facts([
    hostKey: AddressPattern(host), agentKey: AddressPattern(agent), operatorKey: AddressPattern("operator/*"),
  ])

  /// Returns standing keys whose date is 0.
  static func facts(_ keys: [String: AddressPattern]) -> [StandingKeyFacts] {
    keys.map { StandingKeyFacts(pattern: $1, publicKey: $0, since: Timestamp(microseconds: 0)) }
  }

  init(recovered: JournalRecovery = JournalRecovery()) {
    routing = Routing(
      pid: 4711, recovered: recovered, standing: RoutingFixture.standing, now: Timestamp(microseconds: 1_000_000))
  }

  /// The envelopes that the last `perform(_:)` recorded.
  private(set) var last: [Envelope] = []

  /// The number of frames whose route was known.
  private(set) var passedCount = 0

  /// - Parameter frame: the received frame, if any.
  mutating func perform(_ actions: [Routing<Int>.Action], passing frame: [UInt8] = []) {
    last = []
    for action in actions {
      switch action {
      case .record(let frame):
        guard let envelope = try? Envelope(decoding: frame) else { continue }
        last.append(envelope)
      case .pass(_, let line):
        passedCount += 1
        guard let envelope = try? Envelope(decoding: frame) else { continue }
        last.append(envelope)
        if let line { forwarded.append((line, envelope)) }
      case .forward(let frame, let line):
        guard let envelope = try? Envelope(decoding: frame) else { continue }
        forwarded.append((line, envelope))
      case .cutOff(let descriptor): ended.append(descriptor)
      case .raise(let signal): raised.append(signal)
      case .supersede(let key): superseding.append(key)
      case .cutOffViewers: viewersEnded += 1
      case .watchReplicas: break
      }
    }
    recorded += last
  }

  /// Receives a frame on a connection whose descriptor is its number.
  mutating func receive(_ frame: [UInt8], on line: Int, key: String) {
    var frame = frame
    let isPassed = frame.withUnsafeMutableBytes { routing.passed($0, at: 0, on: line) }
    if !isPassed { routing.received(frame, on: line, key: key, descriptor: Int32(line)) }
    perform(routing.takeActions(), passing: frame)
  }

  /// Sends a message; returns its header.
  @discardableResult
  mutating func send<T: Message>(
    _ value: T, from source: Address, to destination: Address, on line: Int, key: String? = nil, cause: UUID? = nil,
    answering answer: Kind.Answer? = nil
  ) throws -> EnvelopeHeader {
    let kind = answer.map { T.kind.answered($0) } ?? T.kind
    let header = EnvelopeHeader(kind: kind, cause: cause, source: source, destination: destination)
    let key = key ?? keys[line] ?? hostKey
    receive(try Envelope(header: header, body: try BodyCoding.encode(value)).encoded(), on: line, key: key)
    return header
  }

  /// Sends hello and stores the key of the connection.
  @discardableResult
  mutating func hello(
    _ address: Address, on line: Int, key: String, incarnation: UUID = UUID()
  ) throws -> EnvelopeHeader {
    keys[line] = key
    return try send(Hello(incarnation: incarnation, pid: 99), from: address, to: .messageBus, on: line)
  }

  /// Ends the connection with this descriptor.
  mutating func lose(_ line: Int) {
    guard let lost = routing.release(Int32(line)) else { return }
    perform(routing.lost(lost))
  }

  /// Registers an instance of the extension through the agent, which must be on connection 2.
  mutating func register(_ key: String = instanceKey, _ address: Address = widget) throws {
    try send(RegisterInstance(address: address, publicKey: key), from: agent, to: .messageBus, on: 2)
  }

  /// Returns a fixture with the host on connection 1 and the agent on connection 2.
  static func running() throws -> RoutingFixture {
    var fixture = RoutingFixture()
    try fixture.hello(host, on: 1, key: hostKey)
    try fixture.hello(agent, on: 2, key: agentKey)
    return fixture
  }

  /// Returns the admission of a key without recording it.
  func admission(of key: String, isTap: Bool = false) -> Routing<Int>.Admission {
    var copy = routing
    return copy.authenticate(key, isTap: isTap, peerAddress: "").0
  }

  var lastTypes: [String] { last.map(\.header.kind.name) }

  func lastBody<T: Decodable>(_ type: T.Type, at index: Int = 0) throws -> T {
    try BodyCoding.decode(type, from: last[index].body)
  }

  /// Returns the envelopes sent to a connection after a sequence number.
  func sent(to line: Int, after sequence: UInt64 = 0) -> [Envelope] {
    forwarded.filter { $0.line == line && $0.envelope.header.sequence > sequence }.map(\.envelope)
  }
}
