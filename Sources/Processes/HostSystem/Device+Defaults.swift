// SPDX-License-Identifier: Apache-2.0

import DefaultsLog
import Foundation
import MessageBus
import Messages

// The operator's access to the user defaults of the device's processes.

extension Device {
  nonisolated func listenForDefaults() {
    onRequest(ReadDefaults.self) { device, request, _ in try device.read(request) }
    onRequest(WriteDefaults.self) { device, request, _ in
      try device.write(request)
      return Done()
    }
  }

  private func read(_ request: ReadDefaults) throws -> ReadDefaults.Reply {
    guard let domain = request.domain else { return ReadDefaults.Reply(domains: try defaults.domains) }
    let values = try defaults.values(of: domain, key: request.key)
    return ReadDefaults.Reply(values: values)
  }

  private func write(_ request: WriteDefaults) throws {
    switch request.change {
    case .set(let key, let value):
      try defaults.file(of: request.domain).append(.value(key, try value.propertyList()))
    case .remove(let key):
      _ = try defaults.values(of: request.domain, key: key)
      try defaults.file(of: request.domain).append(.removal(key))
    case .clear:
      _ = try defaults.values(of: request.domain, key: nil)
      try defaults.file(of: request.domain).append(.clear)
    }
  }
}

/// The domains of user defaults of a device, by the names that an operator uses: see `ReadDefaults`.
struct DefaultsDomains: Sendable {
  /// The apps and extensions.
  let bundles: [String]
  /// The folders of the app groups, by identifier.
  let groups: [String: String]
  /// The container of an app or an extension.
  let container: @Sendable (String) -> String?

  /// The domains that have a value.
  var domains: [String] {
    get throws {
      var names = groups.keys.filter { DefaultsFile.domains(in: groups[$0] ?? "").contains($0) }.sorted()
      for bundle in bundles.sorted() {
        let suites = container(bundle).map { DefaultsFile.domains(in: $0) } ?? []
        names += suites.map { $0 == bundle ? bundle : "\(bundle)/\($0)" }
      }
      return try names.filter { try !file(of: $0).values().isEmpty }
    }
  }

  /// The file of a domain, which need not exist. It is opened for this request only, so that it can be compacted.
  ///
  /// - Throws: `no-such-domain`.
  func file(of domain: String) throws(BusError) -> DefaultsFile {
    if let folder = groups[domain] { return DefaultsFile(DefaultsFile.path(of: domain, in: folder)) }
    let parts = domain.split(separator: "/", maxSplits: 1).map(String.init)
    guard let bundle = parts.first, bundles.contains(bundle), let folder = container(bundle) else {
      let known = groups.keys.sorted() + bundles.sorted()
      throw BusError(
        .noSuchDomain,
        "there is no domain \(domain); the app groups and bundles of this device: \(known.joined(separator: ", "))")
    }
    return DefaultsFile(DefaultsFile.path(of: parts.count > 1 ? parts[1] : bundle, in: folder))
  }

  /// The values of a domain, or of one key.
  ///
  /// - Throws: `no-such-domain`, also when it has no value; `no-such-key`.
  func values(of domain: String, key: String?) throws -> [String: DefaultsValue] {
    let values = try file(of: domain).values()
    guard !values.isEmpty else { throw BusError(.noSuchDomain, "the domain \(domain) has no values") }
    if let key, values[key] == nil { throw BusError(.noSuchKey, "the domain \(domain) has no key \(key)") }
    return values.filter { key == nil || $0.key == key }.compactMapValues { DefaultsValue(propertyList: $0) }
  }
}
