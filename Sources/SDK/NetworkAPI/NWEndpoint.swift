// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Glibc

/// The place of a service in the network. Source: `Network.NWEndpoint`. There are no connections here, so that it is only a
/// value.
public enum NWEndpoint: Hashable, Sendable, CustomDebugStringConvertible {
  case hostPort(host: Host, port: Port)
  case service(name: String, type: String, domain: String, interface: NWInterface?)
  case unix(path: String)
  case url(URL)

  public var interface: NWInterface? {
    switch self {
    case .hostPort(let host, _): host.interface
    case .service(_, _, _, let interface): interface
    case .unix, .url: nil
    }
  }

  public var debugDescription: String {
    switch self {
    case .hostPort(.ipv6(let address), let port): "\(address.debugDescription).\(port.debugDescription)"
    case .hostPort(let host, let port): "\(host.debugDescription):\(port.debugDescription)"
    case .service(let name, let type, let domain, let interface):
      "\(name).\(type)\(domain)\(interface.map { "%\($0.name)" } ?? "")"
    case .unix(let path): path
    case .url(let url): url.absoluteString
    }
  }

  /// Source: `NWEndpoint.Host`.
  public enum Host: Hashable, Sendable, CustomDebugStringConvertible, ExpressibleByStringLiteral {
    case name(String, NWInterface?)
    case ipv4(IPv4Address)
    case ipv6(IPv6Address)

    /// An address if the text is one, otherwise a name.
    public init(_ string: String) {
      if let address = IPv4Address(string) {
        self = .ipv4(address)
      } else if let address = IPv6Address(string) {
        self = .ipv6(address)
      } else {
        self = .name(string, nil)
      }
    }
    public init(stringLiteral: String) { self.init(stringLiteral) }

    public var interface: NWInterface? {
      switch self {
      case .name(_, let interface): interface
      case .ipv4(let address): address.interface
      case .ipv6(let address): address.interface
      }
    }

    public var debugDescription: String {
      switch self {
      case .name(let name, let interface): name + (interface.map { "%\($0.name)" } ?? "")
      case .ipv4(let address): address.debugDescription
      case .ipv6(let address): address.debugDescription
      }
    }
  }

  /// Source: `NWEndpoint.Port`.
  public struct Port: Hashable, Sendable, RawRepresentable, CustomDebugStringConvertible, ExpressibleByIntegerLiteral {
    public let rawValue: UInt16

    public static let any: Port = 0
    public static let ssh: Port = 22
    public static let smtp: Port = 25
    public static let http: Port = 80
    public static let pop: Port = 110
    public static let imap: Port = 143
    public static let https: Port = 443
    public static let imaps: Port = 993
    public static let socks: Port = 1080

    public init?(rawValue: UInt16) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt16) { rawValue = value }

    /// A number, or the name of a service that has a constant here.
    public init?(_ service: String) {
      let names: [String: Port] = [
        "ssh": .ssh, "smtp": .smtp, "http": .http, "pop3": .pop, "imap": .imap, "https": .https, "imaps": .imaps,
        "socks": .socks,
      ]
      guard let port = UInt16(service).map({ Port(integerLiteral: $0) }) ?? names[service] else { return nil }
      self = port
    }

    public var debugDescription: String { "\(rawValue)" }
  }
}

/// Source: `Network.IPAddress`.
public protocol IPAddress: Sendable {
  /// The bytes in network order.
  var rawValue: Data { get }
  /// The interface of a text such as `fe80::1%en0`.
  var interface: NWInterface? { get }
  var isLoopback: Bool { get }
  var isLinkLocal: Bool { get }
  var isMulticast: Bool { get }
  /// - Returns: `nil` unless there are 4 or 16 bytes.
  init?(_ rawValue: Data, _ interface: NWInterface?)
  init?(_ string: String)
}

/// A text in its parts before and after `%`.
///
/// - Returns: `nil` when the device has no interface with the name after it.
private func parts(_ string: String) -> (address: String, interface: NWInterface?)? {
  guard let mark = string.firstIndex(of: "%") else { return (string, nil) }
  guard let interface = NWInterface.named(String(string[string.index(after: mark)...])) else { return nil }
  return (String(string[..<mark]), interface)
}

private func text(_ bytes: [UInt8], family: Int32, interface: NWInterface?) -> String {
  var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
  guard inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
  let address = buffer.withUnsafeBufferPointer { buffer in
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
  return address + (interface.map { "%\($0.name)" } ?? "")
}

/// Source: `Network.IPv4Address`.
public struct IPv4Address: IPAddress, Hashable, CustomDebugStringConvertible {
  private let bytes: [UInt8]
  public let interface: NWInterface?

  public static let any = IPv4Address(bytes: [0, 0, 0, 0])
  public static let broadcast = IPv4Address(bytes: [255, 255, 255, 255])
  public static let loopback = IPv4Address(bytes: [127, 0, 0, 1])
  public static let allHostsGroup = IPv4Address(bytes: [224, 0, 0, 1])
  public static let allRoutersGroup = IPv4Address(bytes: [224, 0, 0, 2])
  public static let allReportsGroup = IPv4Address(bytes: [224, 0, 0, 22])
  public static let mdnsGroup = IPv4Address(bytes: [224, 0, 0, 251])

  init(bytes: [UInt8], _ interface: NWInterface? = nil) {
    self.bytes = bytes
    self.interface = interface
  }

  public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
    guard rawValue.count == 4 else { return nil }
    self.init(bytes: [UInt8](rawValue), interface)
  }

  /// An address in any form of `inet_aton`: `10.0.0.1`, `10.1`, `0xA000001`, `167772161`. Source: `getaddrinfo` with
  /// `AI_NUMERICHOST`, with which Apple's Network reads it.
  public init?(_ string: String) {
    guard let (address, interface) = parts(string) else { return nil }
    // inet_aton accepts any text after a space.
    guard !address.isEmpty, address.utf8.allSatisfy({ $0 > UInt8(ascii: " ") && $0 < 0x7F }) else { return nil }
    var found = in_addr()
    guard inet_aton(address, &found) != 0 else { return nil }
    self.init(bytes: withUnsafeBytes(of: found.s_addr) { [UInt8]($0) }, interface)
  }

  public var rawValue: Data { Data(bytes) }
  public var isLoopback: Bool { bytes[0] == 127 }
  public var isLinkLocal: Bool { bytes[0] == 169 && bytes[1] == 254 }
  public var isMulticast: Bool { bytes[0] & 0xF0 == 0xE0 }
  public var debugDescription: String { text(bytes, family: AF_INET, interface: interface) }
}

/// Source: `Network.IPv6Address`.
public struct IPv6Address: IPAddress, Hashable, CustomDebugStringConvertible {
  /// The reach of a multicast address. Source: `IPv6Address.Scope`, RFC 4291, 2.7.
  public enum Scope: UInt8, Sendable {
    case nodeLocal = 1
    case linkLocal = 2
    case siteLocal = 5
    case organizationLocal = 8
    case global = 14
  }

  private let bytes: [UInt8]
  public let interface: NWInterface?

  public static let any = IPv6Address(bytes: [UInt8](repeating: 0, count: 16))
  public static let loopback = IPv6Address(bytes: [UInt8](repeating: 0, count: 15) + [1])
  public static let nodeLocalNodes = IPv6Address(multicast: 1, 1)
  public static let linkLocalNodes = IPv6Address(multicast: 2, 1)
  public static let linkLocalRouters = IPv6Address(multicast: 2, 2)

  private init(bytes: [UInt8], _ interface: NWInterface? = nil) {
    self.bytes = bytes
    self.interface = interface
  }

  private init(multicast scope: UInt8, _ last: UInt8) {
    self.init(bytes: [0xFF, scope] + [UInt8](repeating: 0, count: 13) + [last])
  }

  public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
    guard rawValue.count == 16 else { return nil }
    self.init(bytes: [UInt8](rawValue), interface)
  }

  /// An address in the forms of RFC 4291, 2.2, also with an interface of the device.
  public init?(_ string: String) {
    guard let (address, interface) = parts(string) else { return nil }
    var found = in6_addr()
    guard inet_pton(AF_INET6, address, &found) == 1 else { return nil }
    self.init(bytes: withUnsafeBytes(of: found) { [UInt8]($0) }, interface)
  }

  public var rawValue: Data { Data(bytes) }
  public var isAny: Bool { bytes.allSatisfy { $0 == 0 } }
  public var isLoopback: Bool { bytes == Self.loopback.bytes }
  public var isLinkLocal: Bool { bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 }
  public var isUniqueLocal: Bool { bytes[0] & 0xFE == 0xFC }
  public var isMulticast: Bool { bytes[0] == 0xFF }
  public var multicastScope: Scope? { isMulticast ? Scope(rawValue: bytes[1] & 0x0F) : nil }
  /// RFC 3056.
  public var is6to4: Bool { bytes[0] == 0x20 && bytes[1] == 0x02 }
  /// `::ffff:10.0.0.1`.
  public var isIPv4Mapped: Bool { bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF }
  /// `::10.0.0.1`. The spelling is Apple's.
  public var isIPv4Compatabile: Bool {
    bytes[..<12].allSatisfy { $0 == 0 } && bytes[12...].contains { $0 != 0 } && !isLoopback
  }
  /// The IPv4 address that a mapped, compatible or 6to4 address contains.
  public var asIPv4: IPv4Address? {
    if isIPv4Mapped || isIPv4Compatabile { return IPv4Address(bytes: [UInt8](bytes[12...]), interface) }
    return is6to4 ? IPv4Address(bytes: [UInt8](bytes[2..<6]), interface) : nil
  }
  public var debugDescription: String { text(bytes, family: AF_INET6, interface: interface) }
}
