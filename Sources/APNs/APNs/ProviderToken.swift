// SPDX-License-Identifier: Apache-2.0

import Archive
package import Crypto
import Foundation
package import Messages

/// A parsed and verified provider JSON Web Token. Only ES256 is accepted. Documentation/apns.md lists what is
/// documented and what is observed of real clients.
struct ProviderToken: Sendable {
  let key: ProviderKey
  /// The claim `iat`.
  let issuedAt: Date

  /// Maximum length in characters; longer tokens are not parsed.
  static let lengthLimit = 4096

  /// Parses a token and verifies its signature.
  ///
  /// - Throws: `InvalidProviderToken`.
  init(_ text: String, key find: (String) -> ProviderKey?) throws(APNsRefusal) {
    guard text.utf8.count <= Self.lengthLimit else {
      throw Self.invalid("it has \(text.utf8.count) characters; a provider token has about 200")
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw Self.invalid("it has \(parts.count) parts; a JSON Web Token has 3") }
    let header = try Self.read(Header.self, part: parts[0], name: "header")
    let claims = try Self.read(Claims.self, part: parts[1], name: "claims")
    if let algorithm = header.alg, algorithm != "ES256" {
      throw Self.invalid("its alg is '\(algorithm.excerpt)'; APNs accepts only ES256")
    }
    guard let id = header.kid, !id.isEmpty else { throw Self.invalid("its header has no kid") }
    guard let key = find(id) else { throw Self.invalid("its kid '\(id.excerpt)' is not a registered key") }
    guard let team = claims.iss else { throw Self.invalid("its claims have no iss") }
    guard team == key.team else {
      throw Self.invalid("its iss is '\(team.excerpt)', but key \(id) belongs to team \(key.team)")
    }
    guard let issued = claims.iat?.seconds else { throw Self.invalid("its claims have no valid iat") }
    guard let signature = Self.signature(parts[2]) else {
      throw Self.invalid("its signature is not an ES256 signature (64 bytes, or DER)")
    }
    let signed = Data(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
    guard key.publicKey.isValidSignature(signature, for: signed) else {
      throw Self.invalid("its signature does not match key \(id)")
    }
    self.key = key
    issuedAt = Date(timeIntervalSince1970: issued)
  }

  /// Refuses a token that is too old or issued in the future. The second rule is ours: it tolerates a clock error of up
  /// to the lifetime.
  func checkTime(_ settings: APNsSettings, now: Date) throws(APNsRefusal) {
    let age = now.timeIntervalSince(issuedAt)
    if age > settings.providerTokenLifetime {
      throw APNsRefusal(
        .expiredProviderToken,
        "iat is \(Int(saturating: age)) s ago; a provider token is valid for \(Int(saturating: settings.providerTokenLifetime)) s"
      )
    }
    if -age > settings.providerTokenLifetime {
      throw Self.invalid(
        "its iat is \(Int(saturating: -age)) s in the future: the provider's clock or iat is wrong")
    }
  }

  // MARK: Parsing

  private struct Header: Decodable {
    let alg: String?
    let kid: String?
  }

  private struct Claims: Decodable {
    let iss: String?
    let iat: Moment?
  }

  /// A number, or a string with a number: seconds, or milliseconds when seconds would be thousands of years in the
  /// future.
  private struct Moment: Decodable {
    let seconds: Double?

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let number = try? container.decode(Double.self)
      let text = number == nil ? try? container.decode(String.self) : nil
      guard let value = number ?? text.flatMap(Self.number), value.isFinite, value >= 0 else {
        seconds = nil
        return
      }
      seconds = value > 1e11 ? value / 1000 : value
    }

    private static func number(_ text: String) -> Double? {
      text.utf8.count <= 20 && text.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || $0 &- UInt8(ascii: "0") < 10 })
        ? Double(text) : nil
    }
  }

  private static func read<T: Decodable>(
    _ type: T.Type, part: Substring.UTF8View, name: String
  ) throws(APNsRefusal) -> T {
    guard let bytes = Base64URL.decode(part) else { throw invalid("its \(name) is not base64url") }
    guard let value = try? JSONDecoder().decode(type, from: bytes) else {
      throw invalid("its \(name) is not the expected JSON")
    }
    return value
  }

  /// Reads the raw form (RFC 7518) or DER (Apple's own sample and shell recipe).
  private static func signature(_ part: Substring.UTF8View) -> P256.Signing.ECDSASignature? {
    guard let bytes = Base64URL.decode(part) else { return nil }
    if bytes.count == 64, let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes) {
      return signature
    }
    return try? P256.Signing.ECDSASignature(derRepresentation: bytes)
  }

  private static func invalid(_ what: String) -> APNsRefusal {
    APNsRefusal(.invalidProviderToken, "the provider token is not valid: \(what)")
  }
}

/// Base64 with the URL-safe alphabet, without padding: RFC 4648.
enum Base64URL {
  static func decode(_ text: some Collection<UInt8>) -> Data? {
    guard text.count % 4 != 1 else { return nil }
    var bytes = Data()
    bytes.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for character in text {
      guard let value = value(of: character) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}

/// The public half of a registered key that signs provider tokens.
package struct ProviderKey: Sendable {
  /// 10 characters.
  package let id: String
  /// 10 characters.
  package let team: String
  /// The environments in which it is valid: one, or both for a key of the old type.
  package let environments: Set<PushEnvironment>
  /// `nil` for a key of the whole team. A listed topic includes the topics of its bundle's push types.
  package let topics: Set<String>?
  package let publicKey: P256.Signing.PublicKey

  package init(
    id: String, team: String, environments: Set<PushEnvironment>, topics: Set<String>? = nil,
    publicKey: P256.Signing.PublicKey
  ) {
    self.id = id
    self.team = team
    self.environments = environments
    self.topics = topics
    self.publicKey = publicKey
  }

  /// Whether a connection whose first push had this key may also use another one: keys of the whole team with each
  /// other, keys of topics with keys of the same topics. Source: Apple's *Establishing a token-based connection to
  /// APNs*.
  func isRelated(to other: ProviderKey) -> Bool { team == other.team && topics == other.topics }

  /// Whether a key with these topics may send to a topic.
  static func allows(_ topic: PushTopic, _ topics: Set<String>?) -> Bool {
    guard let topics else { return true }
    return topics.contains(topic.text) || topics.contains(topic.bundle)
  }
}
