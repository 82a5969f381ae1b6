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
    guard let role = Address.role(of: text) else { return nil }
    self.text = text
    self.role = role
  }

  private init(_ text: String, _ role: Role) {
    self.text = text
    self.role = role
  }

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

  private func component(_ index: Int) -> String? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return index < parts.count ? String(parts[index]) : nil
  }

  private static func role(of text: String) -> Role? {
    guard !text.isEmpty, text.utf8.count <= 255, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    switch (parts.first, parts.count) {
    case ("message-bus", 1): return .messageBus
    case ("journal", 1): return .journal
    case ("provider", 1): return .provider
    case ("push-server", 1): return .pushServer
    case ("operator", 2): return .operator
    case ("device", 3) where parts[2] == "host": return .host
    case ("device", 4) where parts[2] == "agent" && Int(parts[3]) != nil: return .agent
    case ("device", 4) where parts[2] == "app": return .app
    case ("device", 4) where parts[2] == "extension": return .widgetExtension
    default: return nil
    }
  }

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
