// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The role of a process on the bus. A key belongs to one role, and the broker derives the role from the key.
package enum Role: String, Codable, Sendable, CaseIterable {
  case messageBus = "message-bus"
  case journal
  case host
  case agent
  case app
  case widgetExtension = "extension"
  case provider
  case pushServer = "push-server"
  /// A process with many light devices.
  case fleet
  case `operator`
  /// A health check, which may only ping processes.
  case watcher

  /// Whether its processes run for one command only, so that the broker does not remember them.
  package var isPassing: Bool { self == .operator || self == .watcher }
}

/// The source or destination of an envelope: `device/iphone/host`, `device/iphone/extension/com.example.Widget`,
/// `message-bus`, `fleet/load`, `operator/4711`.
///
/// `journal` has no process: what is sent there is recorded and not forwarded.
package struct Address: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The address as encoded on the wire, at most 255 bytes of UTF-8.
  package let text: String
  /// The role of the process at this address.
  package let role: Role

  /// Parses an address; `nil` when the text has none of the known forms.
  package init?(_ text: String) {
    var text = text
    guard let role = text.withUTF8({ Address.role(of: $0) }) else { return nil }
    self.text = text
    self.role = role
  }

  /// Parses an address from the wire; `nil` when it has none of the known forms.
  ///
  /// - Parameter expected: the most likely address; if it matches, no string is created.
  init?(_ bytes: UnsafeBufferPointer<UInt8>, expected: Address?) {
    if let expected, expected.isSpelled(bytes) {
      self = expected
      return
    }
    guard let role = Address.role(of: bytes) else { return nil }
    self.text = String(decoding: bytes, as: UTF8.self)
    self.role = role
  }

  private init(_ text: String, _ role: Role) {
    self.text = text
    self.role = role
  }

  // The role is derived from the text.
  package static func == (left: Address, right: Address) -> Bool { left.text == right.text }
  package func hash(into hasher: inout Hasher) { hasher.combine(text) }

  package static let messageBus = Address("message-bus", .messageBus)
  package static let journal = Address("journal", .journal)
  package static let provider = Address("provider", .provider)
  /// The push server. With replicas, the broker forwards what is sent there to one of them.
  package static let pushServer = Address("push-server", .pushServer)

  /// One of several push servers that share a database.
  package static func pushServer(_ replica: String) -> Address { Address("push-server/\(replica)", .pushServer) }
  /// The host system of a device.
  package static func host(_ device: String) -> Address { Address("device/\(device)/host", .host) }
  /// The process agent of one container of a device.
  package static func agent(_ device: String, _ number: Int) -> Address {
    Address("device/\(device)/agent/\(number)", .agent)
  }
  /// A containing app.
  package static func app(_ device: String, _ bundle: String) -> Address {
    Address("device/\(device)/app/\(bundle)", .app)
  }
  /// A widget extension.
  package static func widgetExtension(_ device: String, _ bundle: String) -> Address {
    Address("device/\(device)/extension/\(bundle)", .widgetExtension)
  }
  /// A fleet of light devices.
  package static func fleet(_ name: String) -> Address { Address("fleet/\(name)", .fleet) }
  /// One run of the operator's command-line tool.
  package static func `operator`(_ number: String) -> Address { Address("operator/\(number)", .operator) }
  /// One health check.
  package static func watcher(_ number: String) -> Address { Address("watcher/\(number)", .watcher) }

  /// Whether this is one of several processes that share the work of an address.
  package var isReplica: Bool { role == .pushServer && text.utf8.count > Address.pushServer.text.utf8.count }
  /// The name of a replica; `nil` for other processes.
  package var replica: String? { isReplica ? component(1) : nil }
  /// The device of the address; `nil` for processes that devices share.
  package var device: String? { text.hasPrefix("device/") ? component(1) : nil }
  /// The name of a fleet; `nil` for other processes.
  package var fleet: String? { role == .fleet ? component(1) : nil }
  /// The bundle identifier of an app or an extension.
  package var bundleIdentifier: String? {
    role == .app || role == .widgetExtension ? component(3) : nil
  }
  /// The address without the prefix of its device: `host`, `agent/1`, `extension/com.example.W`.
  package var short: String {
    guard let device else { return text }
    return String(text.dropFirst("device/\(device)/".count))
  }
  package var description: String { text }

  /// Whether both belong to a device, and not to the same one. Compares bytes, since the broker calls this for every
  /// envelope.
  package func isOnAnotherDevice(than other: Address) -> Bool {
    guard hasDevice, other.hasDevice else { return false }
    let (own, others) = (text.utf8.span, other.text.utf8.span)
    for index in "device/".utf8.count..<min(own.count, others.count) {
      if own[index] != others[index] { return true }
      if own[index] == UInt8(ascii: "/") { return false }
    }
    return true
  }

  private var hasDevice: Bool {
    switch role {
    case .host, .agent, .app, .widgetExtension: true
    case .messageBus, .journal, .provider, .pushServer, .fleet, .operator, .watcher: false
    }
  }

  private func isSpelled(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    text.utf8.span.withUnsafeBufferPointer { $0.equals(bytes) }
  }

  private func component(_ index: Int) -> String? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return index < parts.count ? String(parts[index]) : nil
  }

  /// Parses the bytes without creating strings, since every received envelope has two addresses.
  private static func role(of bytes: UnsafeBufferPointer<UInt8>) -> Role? {
    guard bytes.count <= 255, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    var rest = bytes
    /// The part up to the next slash; `nil` for an empty one.
    func next() -> UnsafeBufferPointer<UInt8>? {
      let count = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.count
      defer { rest = UnsafeBufferPointer(rebasing: rest[count...]) }
      return count == 0 ? nil : UnsafeBufferPointer(rebasing: rest[..<count])
    }
    /// The part after the next slash; `nil` when none follows.
    func following() -> UnsafeBufferPointer<UInt8>? {
      guard !rest.isEmpty else { return nil }
      rest = UnsafeBufferPointer(rebasing: rest[1...])
      return next()
    }
    guard let first = next() else { return nil }
    if rest.isEmpty { return shared.first { first.spells($0.name) }?.role }
    guard following() != nil else { return nil }
    if first.spells("operator") { return rest.isEmpty ? .operator : nil }
    if first.spells("push-server") { return rest.isEmpty ? .pushServer : nil }
    if first.spells("watcher") { return rest.isEmpty ? .watcher : nil }
    if first.spells("fleet") { return rest.isEmpty ? .fleet : nil }
    guard first.spells("device"), let third = following() else { return nil }
    if rest.isEmpty { return third.spells("host") ? .host : nil }
    guard let fourth = following(), rest.isEmpty else { return nil }
    if third.spells("extension") { return .widgetExtension }
    if third.spells("app") { return .app }
    return third.spells("agent") && Int(String(decoding: fourth, as: UTF8.self)) != nil ? .agent : nil
  }

  /// The addresses that consist of one part.
  private static let shared: [(name: StaticString, role: Role)] = [
    ("message-bus", .messageBus), ("journal", .journal), ("provider", .provider), ("push-server", .pushServer),
  ]

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let address = Address(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not an address of the bus")
    }
    self = address
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate func spells(_ text: StaticString) -> Bool {
    equals(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// `elementsEqual` compares byte by byte, which was an eighth of the broker's own work.
  fileprivate func equals(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard count == other.count else { return false }
    guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
    return memcmp(start, otherStart, count) == 0
  }
}

/// The addresses that a key may use: one address, or all below a prefix that ends in `/*`.
package struct AddressPattern: Hashable, Sendable, Codable, CustomStringConvertible {
  package let text: String

  /// Creates a pattern from its text, such as `device/iphone/host` or `operator/*`.
  package init(_ text: String) { self.text = text }

  /// Creates the pattern that matches only one address.
  package init(_ address: Address) { self.text = address.text }

  /// All replicas of the push server.
  package static let pushServers = AddressPattern("push-server/*")

  /// All health checks.
  package static let watchers = AddressPattern("watcher/*")
  /// All fleets.
  package static let fleets = AddressPattern("fleet/*")

  /// Whether a key with this pattern may use `address`.
  package func matches(_ address: Address) -> Bool {
    guard text.hasSuffix("/*") else { return text == address.text }
    return address.text.hasPrefix(text.dropLast(1))
  }

  package var description: String { text }
  package init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
