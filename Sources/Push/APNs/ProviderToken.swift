import Crypto
import Foundation

/// A provider's JSON Web Token, read and verified: ES256 alone. What of it is documented and what is observed of real
/// clients: Documentation/apns.md.
struct ProviderToken: Sendable {
  let key: ProviderKey
  /// `iat`.
  let issuedAt: Date

  /// Characters of the longest that is looked at.
  static let lengthLimit = 4096

  /// Verifies a token, at the cost of a signature's verification.
  ///
  /// - Throws: `InvalidProviderToken`.
  init(_ text: String, key find: (String) -> ProviderKey?) throws(APNsRefusal) {
    guard text.utf8.count <= Self.lengthLimit else {
      throw Self.invalid("it has \(text.utf8.count) characters, and a provider token is of some 200")
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw Self.invalid("it has \(parts.count) parts where a JSON Web Token has 3") }
    let header = try Self.read(Header.self, parts[0], "header")
    let claims = try Self.read(Claims.self, parts[1], "claims")
    if let algorithm = header.alg, algorithm != "ES256" {
      throw Self.invalid("its alg is '\(algorithm.excerpt)', and APNs takes ES256 alone")
    }
    guard let id = header.kid, !id.isEmpty else { throw Self.invalid("its header has no kid") }
    guard let key = find(id) else { throw Self.invalid("its kid '\(id.excerpt)' is no registered key") }
    guard let team = claims.iss else { throw Self.invalid("its claims have no iss") }
    guard team == key.team else {
      throw Self.invalid("its iss is '\(team.excerpt)', and the key \(id) is of the team \(key.team)")
    }
    guard let issued = claims.iat?.seconds else { throw Self.invalid("its claims have no iat that is a time") }
    guard let signature = Self.signature(parts[2]) else {
      throw Self.invalid("its signature is no ES256 signature, of 64 bytes or in DER")
    }
    let signed = Data(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
    guard key.publicKey.isValidSignature(signature, for: signed) else {
      throw Self.invalid("its signature is not of the key \(id)")
    }
    self.key = key
    issuedAt = Date(timeIntervalSince1970: issued)
  }

  /// Refuses what is too old, or of a time to come. The second is ours: a clock that is wrong by up to the lifetime is
  /// borne.
  func checkTime(_ settings: APNsSettings, now: Date) throws(APNsRefusal) {
    let age = now.timeIntervalSince(issuedAt)
    if age > settings.providerTokenLifetime {
      throw APNsRefusal(
        .expiredProviderToken,
        "iat is \(Int(min(age, 1e12))) s ago, and a provider token is good for \(Int(settings.providerTokenLifetime)) s"
      )
    }
    if -age > settings.providerTokenLifetime {
      throw Self.invalid(
        "its iat is \(Int(min(-age, 1e12))) s from now: the provider's clock is wrong, or iat is no time")
    }
  }

  // MARK: Its parts

  private struct Header: Decodable {
    let alg: String?
    let kid: String?
  }

  private struct Claims: Decodable {
    let iss: String?
    let iat: Moment?
  }

  /// A number or a text with one. Seconds; milliseconds where seconds would be thousands of years from now.
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
    _ type: T.Type, _ part: Substring.UTF8View, _ name: String
  ) throws(APNsRefusal) -> T {
    guard let bytes = Base64URL.decode(part) else { throw invalid("its \(name) is not base64url") }
    guard let value = try? JSONDecoder().decode(type, from: bytes) else {
      throw invalid("its \(name) is not the JSON that it should be")
    }
    return value
  }

  /// The raw form, as RFC 7518 has it, or DER, as Apple's own sample and shell recipe have it.
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

/// Base64 with the alphabet for addresses, without padding: RFC 4648.
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
