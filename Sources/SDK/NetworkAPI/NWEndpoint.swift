// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
