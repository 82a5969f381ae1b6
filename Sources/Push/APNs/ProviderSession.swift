import Conversations
import Foundation

/// What a connection of a provider is bound to by its first pushes: a value that lives as long as the connection.
package struct ProviderSession: Sendable {
  /// A first push had a valid provider token, or the connection has a certificate: it may have many streams from now on.
  package internal(set) var isAuthorized = false

  enum Identity: Sendable {
    /// Provider tokens with each request.
    case tokens
    case certificate(ClientCertificate)
    /// The operator's own requests: nobody asks who they are.
    case console
  }
  let identity: Identity
  /// What its notifications are named by.
  var random = RandomNumbers()
  /// The key of the first push.
  private var first: ProviderKey?
  /// The provider token of the last push that had a valid one, as it was sent.
  private var current: (authorization: String, text: String, token: ProviderToken, since: Date)?
  /// The last token that was not valid, so that a signature is verified once and not with each request.
  private var refused: (text: String, refusal: APNsRefusal)?
  /// The device token of the last request, and how many there were of it in a row.
  private var run: (token: String, count: Int, since: Date)?

  /// - Parameter certificate: DER of the client's certificate, verified to be of the push server's CA; `nil` without one.
  package init(certificate: [UInt8]? = nil) {
    guard let certificate else {
      identity = .tokens
      return
    }
    identity = .certificate(ClientCertificate(derEncoded: certificate))
    isAuthorized = true
  }

  private init(identity: Identity) { self.identity = identity }

  /// For requests of the operator, as Apple's console sends them: the contract without the provider's authentication.
  package static let console = ProviderSession(identity: .console)

  // MARK: Who sends

  /// Says which topics the sender of a request may send to; `nil` for every one.
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
        "the key \(token.key.id) is for \(token.key.environments.map(\.rawValue).joined(separator: " and ")), and this "
          + "is the \(environment.rawValue) environment")
    }
    try checkBinding(of: token.key)
    if let current, now.timeIntervalSince(current.since) < settings.providerTokenUpdateInterval {
      throw APNsRefusal(
        .tooManyProviderTokenUpdates,
        "this connection has had its provider token for \(Int(now.timeIntervalSince(current.since))) s and may take "
          + "another one after \(Int(settings.providerTokenUpdateInterval)) s; the former one is good meanwhile")
    }
    first = first ?? token.key
    current = (authorization ?? "", text, token, now)
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
        "authorization is not 'bearer' and a provider token: it begins with "
          + "'\(authorization.prefix(12))'")
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
        "the first push of this connection was of the team \(first.team), and this one is of \(key.team): a connection "
          + "is of one team")
    }
    guard !first.isRelated(to: key) else { return }
    throw APNsRefusal(
      .unrelatedKeyIDInToken,
      "the first push of this connection had the key \(first.id), \(Self.scope(of: first)), and \(key.id) is "
        + "\(Self.scope(of: key)): it takes a connection of its own")
  }

  private static func scope(of key: ProviderKey) -> String {
    key.topics.map { "a key for \($0.sorted().joined(separator: ", "))" } ?? "a key of the whole team"
  }

  // MARK: How often

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
        "\(last.count) requests in a row to this token within \(Int(settings.consecutiveWindow)) s, and that is the limit"
      )
    }
    run = (token, last.count + 1, last.since)
  }
}
