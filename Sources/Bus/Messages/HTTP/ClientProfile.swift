// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the requests of a product say about it, and what they may load.
package struct ClientProfile: Codable, Hashable, Sendable {
  /// The value of `User-Agent`.
  package var userAgent: String
  /// The value of `Accept-Language`.
  package var acceptLanguage: String
  package var transportSecurity: TransportSecurity

  package init(userAgent: String, acceptLanguage: String, transportSecurity: TransportSecurity) {
    self.userAgent = userAgent
    self.acceptLanguage = acceptLanguage
    self.transportSecurity = transportSecurity
  }

  /// - Parameters:
  ///   - infoDictionary: the contents of the product's `Info.plist`.
  ///   - processName: the name for a product without `CFBundleName`.
  ///   - systemVersion: such as `26.1`.
  ///   - languages: the preferred ones, such as `de-CH`.
  package init(infoDictionary: [String: Any], processName: String, systemVersion: String, languages: [String]) {
    let version = SystemVersion(systemVersion)
    self.init(
      userAgent: Self.userAgent(
        name: infoDictionary["CFBundleName"] as? String ?? processName,
        version: infoDictionary["CFBundleVersion"] as? String, system: version),
      acceptLanguage: Self.acceptLanguage(languages),
      transportSecurity: TransportSecurity(infoDictionary: infoDictionary, majorVersion: version.major))
  }

  /// The header fields for a request that does not set them.
  package var fields: [[String]] { [["User-Agent", userAgent], ["Accept-Language", acceptLanguage]] }

  /// `CFBundleName/CFBundleVersion CFNetwork/… Darwin/…`, as servers receive it (observed).
  private static func userAgent(name: String, version: String?, system: SystemVersion) -> String {
    let name = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
    let product = version.map { "\(name)/\($0)" } ?? "\(name) (unknown version)"
    return "\(product) CFNetwork/\(system.cfNetwork) Darwin/\(system.darwin)"
  }

  /// Each language with its region, and the language alone where none of those that follow has it; up to six, with
  /// descending qualities (observed).
  static func acceptLanguage(_ languages: [String]) -> String {
    var tags: [String] = []
    for (index, language) in languages.enumerated() {
      if !tags.contains(language) { tags.append(language) }
      let base = Self.base(language)
      let isLast = !languages[(index + 1)...].contains { Self.base($0) == base }
      if isLast, !tags.contains(base) { tags.append(base) }
    }
    return tags.prefix(6).enumerated().map { $0 == 0 ? $1 : "\($1);q=0.\(10 - $0)" }.joined(separator: ",")
  }

  /// The language without its region, such as `zh-Hant` of `zh-Hant-TW`.
  private static func base(_ language: String) -> String {
    let parts = language.split(separator: "-")
    guard let last = parts.last, parts.count > 1, last.count < 4 else { return language }
    return parts.dropLast().joined(separator: "-")
  }
}

/// The version of iOS, and the versions of the system's parts that belong to it.
struct SystemVersion: Hashable {
  let major: Int
  let minor: Int

  init(_ text: String) {
    let numbers = text.split(separator: ".").map { Int($0) ?? 0 }
    major = numbers.first ?? 0
    minor = numbers.dropFirst().first ?? 0
  }

  /// Darwin's major version is iOS's plus 6 up to iOS 25, and iOS's minus 1 from iOS 26 on (observed); the
  /// minor versions are the same.
  var darwin: String { "\(major >= 26 ? major - 1 : major + 6).\(minor).0" }

  /// The version that servers received from the newest system that is not newer than this one (observed); assumed for
  /// all systems in between.
  var cfNetwork: String {
    Self.cfNetworks.last { ($0.major, $0.minor) <= (major, minor) }?.version ?? Self.cfNetworks[0].version
  }

  private static let cfNetworks: [(major: Int, minor: Int, version: String)] = [
    (16, 0, "1390"), (17, 0, "1474"), (18, 0, "1568.100.1"), (18, 5, "3826.500.131"), (26, 0, "3860.100.1"),
    (26, 1, "3860.200.71"), (26, 3, "3860.400.51"), (26, 5, "3860.600.12"),
  ]
}
