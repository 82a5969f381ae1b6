// SPDX-License-Identifier: Apache-2.0

import Messages

/// An interface of the device. Source: `Network.NWInterface`. The device has one for Wi-Fi, one for cellular data and the
/// loopback.
public struct NWInterface: Hashable, Sendable, CustomDebugStringConvertible {
  /// Source: `NWInterface.InterfaceType`.
  public enum InterfaceType: Hashable, Sendable {
    case other, wifi, cellular, wiredEthernet, loopback
  }

  public let type: InterfaceType
  public let name: String
  public let index: Int

  public var debugDescription: String { name }

  static let wifi = NWInterface(type: .wifi, name: "en0", index: 2)
  static let cellular = NWInterface(type: .cellular, name: "pdp_ip0", index: 3)
  static let loopback = NWInterface(type: .loopback, name: "lo0", index: 1)

  /// The interface with a name; `nil` when the device has none.
  static func named(_ name: String) -> NWInterface? { [wifi, cellular, loopback].first { $0.name == name } }
}

/// What the device's network offers. Source: `Network.NWPath`.
public struct NWPath: Equatable, Sendable, CustomDebugStringConvertible {
  /// Source: `NWPath.Status`. `requiresConnection` does not occur here.
  public enum Status: Hashable, Sendable {
    case satisfied, unsatisfied, requiresConnection
  }

  /// Source: `NWPath.UnsatisfiedReason`. Here it is always `notAvailable`.
  public enum UnsatisfiedReason: Hashable, Sendable {
    case notAvailable, cellularDenied, wifiDenied, localNetworkDenied, vpnInactive
  }

  public let status: Status
  /// The interfaces that can be used, the preferred one first.
  public let availableInterfaces: [NWInterface]
  /// Whether it is cellular data.
  public let isExpensive: Bool
  /// Whether the user has chosen Low Data Mode.
  public let isConstrained: Bool

  public var unsatisfiedReason: UnsatisfiedReason { .notAvailable }
  public var supportsIPv4: Bool { status == .satisfied }
  public var supportsIPv6: Bool { status == .satisfied }
  public var supportsDNS: Bool { status == .satisfied }
  /// Only the path of a connection has endpoints.
  public var localEndpoint: NWEndpoint? { nil }
  public var remoteEndpoint: NWEndpoint? { nil }
  public var gateways: [NWEndpoint] { [] }

  public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
    availableInterfaces.contains { $0.type == type }
  }

  public var debugDescription: String {
    guard status == .satisfied else { return "unsatisfied (No network route)" }
    let more = [isExpensive ? "expensive" : nil, isConstrained ? "constrained" : nil].compactMap(\.self)
    let names = availableInterfaces.map { "interface: \($0.name)" }
    return (["satisfied (Path is satisfied)"] + names + ["ipv4", "ipv6", "dns"] + more).joined(separator: ", ")
  }

  /// The path over the device's network, as far as an author's code accepts its interface.
  init(_ network: NetworkState, accepts: (NWInterface.InterfaceType) -> Bool) {
    let interface: NWInterface? =
      switch network.path {
      case .wifi: .wifi
      case .cellular: .cellular
      case .off: nil
      }
    availableInterfaces = [interface].compactMap(\.self).filter { accepts($0.type) }
    status = availableInterfaces.isEmpty ? .unsatisfied : .satisfied
    isExpensive = availableInterfaces.first?.type == .cellular
    isConstrained = status == .satisfied && network.isConstrained
  }
}
