// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

/// App Transport Security of one product: which URLs its requests may load without TLS.
///
/// Source of all rules: Apple's reference of `NSAppTransportSecurity` and its keys. Documentation/fidelity/network.md
/// lists them.
package struct TransportSecurity: Codable, Hashable, Sendable {
  /// An entry of `NSExceptionDomains`.
  package struct Domain: Codable, Hashable, Sendable {
    /// A domain, an address, or a range of addresses such as `192.168.0.0/16`.
    package let name: String
    package let includesSubdomains: Bool
    package let allowsInsecureHTTPLoads: Bool

    package init(_ name: String, includesSubdomains: Bool = false, allowsInsecureHTTPLoads: Bool = false) {
      self.name = name
      self.includesSubdomains = includesSubdomains
      self.allowsInsecureHTTPLoads = allowsInsecureHTTPLoads
    }
  }

  /// The text of the error -1022. Source: Apple's systems (observed).
  package static let message =
    "The resource could not be loaded because the App Transport Security policy requires the use of a secure "
    + "connection."

  /// `NSAllowsArbitraryLoads`, unless another key makes the system ignore it.
  package let allowsArbitraryLoads: Bool
  package let allowsLocalNetworking: Bool
  /// Whether the system allows addresses without an exception: iOS 10 to 16.
  package let allowsAddresses: Bool
  package let domains: [Domain]

  /// The policy of a product without exceptions, for iOS 17 or later.
  package init() {
    self.init(infoDictionary: [:], majorVersion: 17)
  }

  /// - Parameters:
  ///   - infoDictionary: the contents of the product's `Info.plist`. Values of another type than Apple's are ignored.
  ///   - majorVersion: the system's.
  package init(infoDictionary: [String: Any], majorVersion: Int) {
    let keys = infoDictionary["NSAppTransportSecurity"] as? [String: Any] ?? [:]
    // The presence of one of these keys counts, whatever its value.
    let replacements = [
      "NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInWebContent", "NSAllowsLocalNetworking",
    ]
    allowsArbitraryLoads =
      keys["NSAllowsArbitraryLoads"] as? Bool == true && replacements.allSatisfy { keys[$0] == nil }
    allowsLocalNetworking = keys["NSAllowsLocalNetworking"] as? Bool == true
    allowsAddresses = majorVersion < 17
    domains = (keys["NSExceptionDomains"] as? [String: Any] ?? [:]).compactMap { name, value in
      guard let value = value as? [String: Any] else { return nil }
      return Domain(
        name, includesSubdomains: value["NSIncludesSubdomains"] as? Bool == true,
        allowsInsecureHTTPLoads: value["NSExceptionAllowsInsecureHTTPLoads"] as? Bool == true)
    }
    .sorted { $0.name < $1.name }
  }

  /// The names of the keys that demand more of a connection than TLS, in the order of the alphabet. They have no effect
  /// here.
  package static func keysWithoutEffect(in infoDictionary: [String: Any]) -> [String] {
    let keys = infoDictionary["NSAppTransportSecurity"] as? [String: Any] ?? [:]
    let domains = (keys["NSExceptionDomains"] as? [String: Any] ?? [:]).values.compactMap { $0 as? [String: Any] }
    return ["NSExceptionMinimumTLSVersion", "NSExceptionRequiresForwardSecrecy", "NSPinnedDomains"].filter { name in
      keys[name] != nil || domains.contains { $0[name] != nil }
    }
  }

  /// Whether a request may load the URL. One with another scheme than `http` may.
  package func allows(_ url: URL) -> Bool {
    guard url.scheme?.lowercased() == "http", let host = url.host else { return true }
    return allowsInsecureLoads(from: host)
  }

  /// - Parameter host: a domain or an address; an IPv6 address with or without brackets.
  func allowsInsecureLoads(from host: String) -> Bool {
    let host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    if let address = InternetAddress(host) { return allowsInsecureLoads(from: address) }
    if let domain = domain(of: host) { return domain.allowsInsecureHTTPLoads }
    // An unqualified host is one without a dot, such as `localhost`.
    return !host.contains(".") || host.hasSuffix(".local") || allowsArbitraryLoads
  }

  private func allowsInsecureLoads(from address: InternetAddress) -> Bool {
    if allowsAddresses { return true }
    let ranges = domains.compactMap { domain in AddressRange(domain.name).map { (range: $0, domain: domain) } }
    let matching = ranges.filter { $0.range.contains(address) }.max { $0.range.prefixLength < $1.range.prefixLength }
    if let matching { return matching.domain.allowsInsecureHTTPLoads }
    return address.isLoopback || allowsLocalNetworking || allowsArbitraryLoads
  }

  /// The entry of a host, or else that of the domain which contains it and includes subdomains. A subdomain has one
  /// component more.
  private func domain(of host: String) -> Domain? {
    if let own = domains.first(where: { $0.name == host }) { return own }
    guard let dot = host.firstIndex(of: ".") else { return nil }
    return domains.first { $0.includesSubdomains && $0.name == host[host.index(after: dot)...] }
  }
}

/// An IPv4 or IPv6 address.
struct InternetAddress: Hashable {
  /// 4 or 16 bytes, the first of the address first.
  let bytes: [UInt8]

  /// - Parameter text: such as `192.168.1.2` or `fe80::1%eth0`; `nil` for any other.
  init?(_ text: String) {
    let plain = String(text.prefix { $0 != "%" })
    if let bytes = Self.bytes(plain, AF_INET, count: 4) ?? Self.bytes(plain, AF_INET6, count: 16) {
      self.bytes = bytes
    } else {
      return nil
    }
  }

  private static func bytes(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }

  /// `127.0.0.0/8` and `::1`.
  var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
  }
}

/// A range of addresses in CIDR notation, such as `2001:db8:12::/48`, or a single address.
struct AddressRange: Hashable {
  let address: InternetAddress
  /// The number of bits that all addresses of the range have in common.
  let prefixLength: Int

  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = parts.first.flatMap({ InternetAddress(String($0)) }) else { return nil }
    let bits = address.bytes.count * 8
    guard let length = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(length) else { return nil }
    self.address = address
    prefixLength = length
  }

  func contains(_ other: InternetAddress) -> Bool {
    guard other.bytes.count == address.bytes.count else { return false }
    return zip(address.bytes, other.bytes).enumerated().allSatisfy { index, pair in
      let bits = min(max(prefixLength - index * 8, 0), 8)
      return bits == 0 || (pair.0 ^ pair.1) >> (8 - bits) == 0
    }
  }
}
