package import Conversations
import Crypto
import Foundation
import Synchronization

/// A registered provider key, as `provider.json` has it.
package struct ListedKey: Codable, Hashable, Sendable {
  /// 10 characters.
  package let id: String
  /// 10 characters.
  package let teamID: String
  package let environments: [PushEnvironment]
  /// `nil` for all of the team's.
  package let topics: [String]?
  /// PEM.
  package let publicKey: String
  /// The private half, beside `provider.json`; `nil` when somebody else keeps it.
  package let file: String?

  /// - Throws: `PushCredentialsError` when the public half is none of P-256.
  func registered() throws(PushCredentialsError) -> ProviderKey {
    guard let publicKey = try? P256.Signing.PublicKey(pemRepresentation: publicKey) else {
      throw PushCredentialsError("the public key of \(id) in provider.json is no P-256 key in PEM")
    }
    return ProviderKey(
      id: id, team: teamID, environments: Set(environments), topics: topics.map(Set.init), publicKey: publicKey)
  }
}

/// A client certificate, as `provider.json` has it.
package struct ListedCertificate: Codable, Hashable, Sendable {
  package let bundle: String
  package let environments: [PushEnvironment]
  /// PEM, beside `provider.json`.
  package let file: String
  package let keyFile: String
}

/// `provider.json`.
struct ProviderList: Codable, Hashable, Sendable {
  var keys: [ListedKey]
  var certificates: [ListedCertificate]

  /// - Returns: `nil` when there is none.
  static func read(in folder: String) throws(PushCredentialsError) -> ProviderList? {
    let path = PushCredentials.listPath(folder)
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do {
      return try JSONDecoder().decode(ProviderList.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw PushCredentialsError("\(path) is damaged (\(error)): mend it, or remove the folder \(folder)")
    }
  }

  func write(in folder: String) throws(PushCredentialsError) {
    guard try Self.read(in: folder) != self else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      throw PushCredentialsError("the list of the provider keys could not be written as JSON")
    }
    try PushCredentials.write(String(decoding: data, as: UTF8.self) + "\n", to: PushCredentials.listPath(folder))
  }
}

/// The registered provider keys of a push server that runs. A key that is not known is looked for in `provider.json`, when
/// that has changed. From any thread.
package final class ProviderKeyRing: Sendable {
  private struct State {
    var keys: [String: ProviderKey] = [:]
    var stamp: Stamp?
  }
  /// What changes when the file is written.
  private struct Stamp: Equatable {
    let file: UInt64?
    let changed: Date?
  }
  private let folder: String
  private let state = Mutex(State())

  /// - Parameter folder: that of the credentials.
  /// - Throws: `PushCredentialsError`.
  package init(folder: String) throws {
    self.folder = folder
    try state.withLock { state in try Self.read(into: &state, folder) }
  }

  /// The key of an id; `nil` when it is not registered.
  package func key(_ id: String) -> ProviderKey? {
    state.withLock { state in
      if let key = state.keys[id] { return key }
      // What is damaged by a hand that edits it leaves the keys as they are.
      try? Self.read(into: &state, folder)
      return state.keys[id]
    }
  }

  private static func read(into state: inout State, _ folder: String) throws(PushCredentialsError) {
    let path = PushCredentials.listPath(folder)
    guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else {
      throw PushCredentialsError("\(path) is missing: the push server makes it when it starts")
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
