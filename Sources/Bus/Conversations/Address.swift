/// What a process plays on the bus. A key belongs to one role, and the broker reads the role from the key.
package enum Role: String, Codable, Sendable, CaseIterable {
  case messageBus = "message-bus"
  case journal
  case host
  case agent
  case app
  case widgetExtension = "extension"
  case provider
  case pushServer = "push-server"
  case `operator`
}

/// Where an envelope comes from or goes to: `device/iphone/host`, `device/iphone/extension/com.example.Widget`,
/// `message-bus`, `operator/4711`.
///
/// `journal` is the address of nobody: what is sent there is written down and forwarded to no one.
package struct Address: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The address as it travels, at most 255 bytes of UTF-8.
  package let text: String
  /// What the process at this address plays.
  package let role: Role

  /// Reads an address from its text; `nil` when it has none of the known shapes.
  package init?(_ text: String) {
    var text = text
    guard let role = text.withUTF8({ Address.role(of: $0) }) else { return nil }
    self.text = text
    self.role = role
  }

  /// Reads an address as it travels; `nil` when it has none of the known shapes.
  ///
  /// - Parameter expected: what it most likely is: then no text is made.
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

  // The role follows from the text.
  package static func == (left: Address, right: Address) -> Bool { left.text == right.text }
  package func hash(into hasher: inout Hasher) { hasher.combine(text) }

  package static let messageBus = Address("message-bus", .messageBus)
  package static let journal = Address("journal", .journal)
  package static let provider = Address("provider", .provider)
  package static let pushServer = Address("push-server", .pushServer)

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
  /// One run of the operator's tool.
  package static func `operator`(_ number: String) -> Address { Address("operator/\(number)", .operator) }

  /// The device that the address lies on; `nil` for what many devices share.
  package var device: String? { text.hasPrefix("device/") ? component(1) : nil }
  /// The bundle identifier of an app or an extension.
  package var bundleIdentifier: String? {
    role == .app || role == .widgetExtension ? component(3) : nil
  }
  /// The address without what everybody in a one-device cluster knows: `host`, `agent/1`, `extension/com.example.W`.
  package var short: String {
    guard let device else { return text }
    return String(text.dropFirst("device/\(device)/".count))
  }
  package var description: String { text }

  /// Whether both lie on a device, and not on the same one. Asks the bytes: the broker does this for every envelope.
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
    case .messageBus, .journal, .provider, .pushServer, .operator: false
    }
  }

  private func isSpelled(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    text.utf8.span.withUnsafeBufferPointer { $0.elementsEqual(bytes) }
  }

  private func component(_ index: Int) -> String? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return index < parts.count ? String(parts[index]) : nil
  }

  /// Asks the bytes, without a text or a list of parts: every envelope that arrives has two addresses.
  private static func role(of bytes: UnsafeBufferPointer<UInt8>) -> Role? {
    guard bytes.count <= 255, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    var rest = bytes
    /// The part up to the next slash; `nil` for an empty one.
    func next() -> UnsafeBufferPointer<UInt8>? {
      let count = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.count
      defer { rest = UnsafeBufferPointer(rebasing: rest[count...]) }
      return count == 0 ? nil : UnsafeBufferPointer(rebasing: rest[..<count])
    }
    /// The part behind the next slash; `nil` when none follows.
    func following() -> UnsafeBufferPointer<UInt8>? {
      guard !rest.isEmpty else { return nil }
      rest = UnsafeBufferPointer(rebasing: rest[1...])
      return next()
    }
    guard let first = next() else { return nil }
    if rest.isEmpty { return shared.first { first.spells($0.name) }?.role }
    guard following() != nil else { return nil }
    if first.spells("operator") { return rest.isEmpty ? .operator : nil }
    guard first.spells("device"), let third = following() else { return nil }
    if rest.isEmpty { return third.spells("host") ? .host : nil }
    guard let fourth = following(), rest.isEmpty else { return nil }
    if third.spells("extension") { return .widgetExtension }
    if third.spells("app") { return .app }
    return third.spells("agent") && Int(String(decoding: fourth, as: UTF8.self)) != nil ? .agent : nil
  }

  /// The addresses of one part.
  private static let shared: [(name: StaticString, role: Role)] = [
    ("message-bus", .messageBus), ("journal", .journal), ("provider", .provider), ("push-server", .pushServer),
  ]

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let address = Address(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no address of the bus")
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
    elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

/// Which addresses a key may speak as: one address, or all below a prefix that ends in `/*`.
package struct AddressPattern: Hashable, Sendable, Codable, CustomStringConvertible {
  package let text: String

  /// A pattern from its text, such as `device/iphone/host` or `operator/*`.
  package init(_ text: String) { self.text = text }

  /// The pattern that matches one address and no other.
  package init(_ address: Address) { self.text = address.text }

  /// Whether a key with this pattern may speak as `address`.
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
