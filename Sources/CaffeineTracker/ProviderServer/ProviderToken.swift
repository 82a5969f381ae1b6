import Foundation
import JWTKit

/// The JSON web token that says to APNs who this server is. It is signed anew after 50 minutes, since APNs takes none
/// that is older than an hour; and never sooner than 20 minutes after the last one, since APNs takes that ill. Source:
/// Apple's *Establishing a token-based connection to APNs*.
actor ProviderToken {
  private struct Claims: JWTPayload {
    /// The team.
    let iss: String
    /// Seconds since 1970.
    let iat: Int

    func verify(using algorithm: some JWTAlgorithm) async throws {}
  }

  private static let renewal: TimeInterval = 50 * 60
  private static let shortestLife: TimeInterval = 20 * 60

  private let keys = JWTKeyCollection()
  private let key: ES256PrivateKey
  private let keyID: String
  private let teamID: String
  private var last: (token: Task<String, any Error>, signed: Date)?

  /// - Parameter key: the text of a `.p8` file.
  init(key: String, keyID: String, teamID: String) throws {
    self.key = try ES256PrivateKey(pem: key)
    self.keyID = keyID
    self.teamID = teamID
  }

  /// The token of this moment. Each signature is another one, so all who ask at the same time get the same.
  func current(at now: Date = .now) async throws -> String {
    if let last, now < last.signed.addingTimeInterval(Self.renewal) { return try await last.token.value }
    let token = Task { [keys, key, keyID, teamID] in
      let kid = JWKIdentifier(string: keyID)
      await keys.add(ecdsa: key, kid: kid)
      return try await keys.sign(Claims(iss: teamID, iat: Int(now.timeIntervalSince1970)), kid: kid)
    }
    last = (token, now)
    return try await token.value
  }

  /// APNs says that the token is too old: the next one is another, unless the last is too young for that.
  func expired(at now: Date = .now) {
    if let last, now >= last.signed.addingTimeInterval(Self.shortestLife) { self.last = nil }
  }
}
