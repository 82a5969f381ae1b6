// SPDX-License-Identifier: Apache-2.0

import Foundation
import JWTKit

/// The JSON web token that authenticates this server to APNs. A new one is signed after 50 minutes, since APNs accepts
/// none that is older than an hour, and never sooner than 20 minutes after the last one, since APNs rejects more
/// frequent updates. Source: Apple's *Establishing a token-based connection to APNs*.
actor APNsToken {
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

  /// Returns the current token. Each signature differs, so concurrent callers receive the same token.
  func current(at now: Date = .now) async throws -> String {
    if let last, now < last.signed.addingTimeInterval(Self.renewal) { return try await last.token.value }
    let token = Task { [keys, key, keyID, teamID] in
      let kid = JWKIdentifier(string: keyID)
      await keys.add(ecdsa: key, kid: kid)
      return try await keys.sign(
        Claims(iss: teamID, iat: Int(exactly: now.timeIntervalSince1970.rounded(.down)) ?? 0), kid: kid)
    }
    last = (token, now)
    return try await token.value
  }

  /// APNs rejected the token as too old: the next call signs a new one, unless the last one is too recent for that.
  func expired(at now: Date = .now) {
    if let last, now >= last.signed.addingTimeInterval(Self.shortestLife) { self.last = nil }
  }
}
