// SPDX-License-Identifier: Apache-2.0

import Archive
import Crypto
import Foundation
package import Messages
import Synchronization

/// The authentication state of one provider connection, fixed by its first pushes. It lasts as long as the connection.
package struct ProviderSession: Sendable {
  /// True when a push had a valid provider token, or the connection has a certificate: the connection may open many
  /// streams.
  package internal(set) var isAuthorized = false

  enum Identity: Sendable {
    /// A provider token with each request.
    case tokens
    case certificate(ClientCertificate)
    /// The operator's own requests, which need no authentication.
    case console
  }
  let identity: Identity
  /// Generates the ids of notifications.
  var random = RandomNumbers()
  /// The key of the first push.
  private var first: ProviderKey?
  /// The last valid provider token.
  private var current: Current?
  /// The last invalid token, so that its signature is verified once and not with each request.
  private var refused: (text: String, refusal: APNsRefusal)?
  /// The device token of the last request, and the number of consecutive requests to it.
  private var run: (token: String, count: Int, since: Date)?
  /// The content of the last push whose content was new and valid.
  var content: PushContent?

  /// A reference, because it is read for each request.
  private final class Current: Sendable {
    /// The header as sent.
    let authorization: String
    let text: String
    let token: ProviderToken
    let since: Date

    init(authorization: String, text: String, token: ProviderToken, since: Date) {
      self.authorization = authorization
      self.text = text
      self.token = token
      self.since = since
    }
  }

  /// - Parameter certificate: DER of the client certificate, verified against the push server's CA; `nil` without one.
  package init(certificate: [UInt8]? = nil) {
    guard let certificate else {
      identity = .tokens
      return
    }
    identity = .certificate(ClientCertificate(derEncoded: certificate))
    isAuthorized = true
  }

  private init(identity: Identity) { self.identity = identity }

  /// For requests of the operator, as Apple's console sends them: the contract without provider authentication.
  package static let console = ProviderSession(identity: .console)

  /// The content of a request that has the content of an earlier one.
  func content(of request: APNsRequest) -> PushContent? {
    guard let content, content.isContent(of: request) else { return nil }
    return content
  }

  // MARK: Authentication

  /// Returns the topics to which the sender of a request may send; `nil` for all.
  ///
  /// - Throws: the 403s, and `TooManyProviderTokenUpdates`.
  mutating func authenticate(
    _ authorization: String?, environment: PushEnvironment, settings: APNsSettings, now: Date,
    key: (String) -> ProviderKey?
  ) throws(APNsRefusal) -> Set<String>? {
    switch identity {
    case .console: return nil
    case .certificate(let certificate): return certificate.topics
    case .tokens: break
    }
    if let current, current.authorization == authorization {
      try current.token.checkTime(settings, now: now)
      return current.token.key.topics
    }
    let text = try Self.token(in: authorization)
    if let current, current.text == text {
      try current.token.checkTime(settings, now: now)
      return current.token.key.topics
    }
    let token = try verify(text, key: key)
    try token.checkTime(settings, now: now)
    guard token.key.environments.contains(environment) else {
      throw APNsRefusal(
        .badEnvironmentKeyIDInToken,
        "key \(token.key.id) is for \(token.key.environments.map(\.rawValue).joined(separator: " and ")), but this "
          + "is the \(environment.rawValue) environment")
    }
    try checkBinding(of: token.key)
    if let current, now.timeIntervalSince(current.since) < settings.providerTokenUpdateInterval {
      throw APNsRefusal(
        .tooManyProviderTokenUpdates,
        "the provider token of this connection is \(Int(saturating: now.timeIntervalSince(current.since))) s old; it may change "
          + "after \(Int(saturating: settings.providerTokenUpdateInterval)) s. The current token is still valid")
    }
    first = first ?? token.key
    current = Current(authorization: authorization ?? "", text: text, token: token, since: now)
    isAuthorized = true
    return token.key.topics
  }

  private static func token(in authorization: String?) throws(APNsRefusal) -> String {
    guard let authorization, !authorization.isEmpty else {
      throw APNsRefusal(.missingProviderToken, "the connection has no client certificate, the request no authorization")
    }
    let words = authorization.split(separator: " ", omittingEmptySubsequences: true)
    guard let scheme = words.first, scheme.lowercased() == "bearer", words.count > 1 else {
      throw APNsRefusal(
        .missingProviderToken,
        "authorization is not 'bearer <provider token>': it begins with "
          + "'\(authorization.start(bytes: 12))'")
    }
    return words.dropFirst().joined(separator: " ")
  }

  private mutating func verify(_ text: String, key: (String) -> ProviderKey?) throws(APNsRefusal) -> ProviderToken {
    if let refused, refused.text == text { throw refused.refusal }
    do {
      return try ProviderToken(text, key: key)
    } catch {
      refused = (text, error)
      throw error
    }
  }

  private func checkBinding(of key: ProviderKey) throws(APNsRefusal) {
    guard let first, first.id != key.id else { return }
    guard first.team == key.team else {
      throw APNsRefusal(
        .forbidden,
        "the first push of this connection was of team \(first.team), this one is of \(key.team): use one connection "
          + "per team")
    }
    guard !first.isRelated(to: key) else { return }
    throw APNsRefusal(
      .unrelatedKeyIDInToken,
      "the first push of this connection had key \(first.id), \(Self.scope(of: first)); \(key.id) is "
        + "\(Self.scope(of: key)) and requires another connection")
  }

  private static func scope(of key: ProviderKey) -> String {
    key.topics.map { "a key for \($0.sorted().joined(separator: ", "))" } ?? "a key of the whole team"
  }

  // MARK: Rate limit

  /// Counts a request to a device token.
  ///
  /// - Throws: `TooManyRequests`.
  mutating func count(_ token: String, settings: APNsSettings, now: Date) throws(APNsRefusal) {
    guard settings.consecutiveRequests > 0 else { return }
    guard let last = run, last.token == token, now.timeIntervalSince(last.since) < settings.consecutiveWindow else {
      run = (token, 1, now)
      return
    }
    guard last.count < settings.consecutiveRequests else {
      throw APNsRefusal(
        .tooManyRequests,
        "\(last.count) consecutive requests to this token in \(Int(saturating: settings.consecutiveWindow)) s: the limit is reached"
      )
    }
    run = (token, last.count + 1, last.since)
  }
}

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
