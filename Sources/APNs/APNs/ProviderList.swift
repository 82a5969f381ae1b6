// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
package import Messages
import Synchronization

/// A registered provider key in `provider.json`.
package struct ListedKey: Codable, Hashable, Sendable {
  /// 10 characters.
  package let id: String
  /// 10 characters.
  package let teamID: String
  package let environments: [PushEnvironment]
  /// `nil` for all topics of the team.
  package let topics: [String]?
  /// The public half, in PEM.
  package let publicKey: String
  /// The file of the private half, beside `provider.json`; `nil` when it is kept elsewhere.
  package let file: String?

  /// - Throws: `PushCredentialsError` when the public half is not a P-256 key.
  func registered() throws(PushCredentialsError) -> ProviderKey {
    guard let publicKey = try? P256.Signing.PublicKey(pemRepresentation: publicKey) else {
      throw PushCredentialsError("the public key of \(id) in provider.json is not a P-256 key in PEM")
    }
    return ProviderKey(
      id: id, team: teamID, environments: Set(environments), topics: topics.map(Set.init), publicKey: publicKey)
  }
}

/// A client certificate in `provider.json`.
package struct ListedCertificate: Codable, Hashable, Sendable {
  package let bundle: String
  package let environments: [PushEnvironment]
  /// The PEM file, beside `provider.json`.
  package let file: String
  package let keyFile: String
}

/// The content of `provider.json`.
struct ProviderList: Codable, Hashable, Sendable {
  var keys: [ListedKey]
  var certificates: [ListedCertificate]

  /// - Returns: `nil` when the file does not exist.
  static func read(in folder: String) throws(PushCredentialsError) -> ProviderList? {
    let path = PushCredentials.listPath(folder)
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do {
      return try JSONDecoder().decode(ProviderList.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw PushCredentialsError("\(path) is damaged (\(error)): repair it, or remove the folder \(folder)")
    }
  }

  func write(in folder: String) throws(PushCredentialsError) {
    guard try Self.read(in: folder) != self else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      throw PushCredentialsError("cannot encode the list of provider keys as JSON")
    }
    try PushCredentials.write(String(decoding: data, as: UTF8.self) + "\n", to: PushCredentials.listPath(folder))
  }
}

/// The registered provider keys of a running push server. For an unknown key, `provider.json` is read again if it has
/// changed. Thread-safe.
package final class ProviderKeyRing: Sendable {
  private struct State {
    var keys: [String: ProviderKey] = [:]
    var stamp: Stamp?
  }
  /// The attributes that change when the file is written.
  private struct Stamp: Equatable {
    let file: UInt64?
    let changed: Date?
  }
  private let folder: String
  private let state = Mutex(State())

  /// - Parameter folder: the folder of the credentials.
  /// - Throws: `PushCredentialsError`.
  package init(folder: String) throws {
    self.folder = folder
    try state.withLock { state in try Self.read(into: &state, folder) }
  }

  /// Returns the key with an id; `nil` when it is not registered.
  package func key(_ id: String) -> ProviderKey? {
    state.withLock { state in
      if let key = state.keys[id] { return key }
      // A file damaged by manual editing leaves the keys unchanged.
      try? Self.read(into: &state, folder)
      return state.keys[id]
    }
  }

  private static func read(into state: inout State, _ folder: String) throws(PushCredentialsError) {
    let path = PushCredentials.listPath(folder)
    guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else {
      throw PushCredentialsError("\(path) is missing: start the push server, which creates it")
    }
    let number = facts[.systemFileNumber] as? NSNumber
    let stamp = Stamp(file: number?.uint64Value, changed: facts[.modificationDate] as? Date)
    guard stamp != state.stamp else { return }
    state.stamp = stamp
    var keys: [String: ProviderKey] = [:]
    for key in try ProviderList.read(in: folder)?.keys ?? [] { keys[key.id] = try key.registered() }
    state.keys = keys
  }
}
