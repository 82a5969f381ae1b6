// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// A challenge for the owner of a task: `AnswerChallenge` without the task.
struct Challenge: Sendable, Hashable {
  /// `NSURLAuthenticationMethod…`.
  let method: String
  let host: String
  let port: Int
  /// `http` or `https`.
  let scheme: String
  let realm: String?
  let previousFailures: Int

  /// The device does not trust the server's certificate.
  static let serverTrust = "NSURLAuthenticationMethodServerTrust"
}

/// The strongest supported scheme that a server offers in `WWW-Authenticate` (RFC 9110, section 11.6.1).
struct AuthenticationOffer: Sendable, Hashable {
  enum Scheme: Int, Sendable, Comparable {
    case basic
    case digest

    static func < (one: Scheme, other: Scheme) -> Bool { one.rawValue < other.rawValue }

    var method: String {
      switch self {
      case .basic: "NSURLAuthenticationMethodHTTPBasic"
      case .digest: "NSURLAuthenticationMethodHTTPDigest"
      }
    }
  }

  let scheme: Scheme
  let parameters: [String: String]
  var realm: String? { parameters["realm"] }

  /// - Returns: `nil` when no supported scheme is offered. For example, `Bearer` is no challenge, and the response is
  ///   final.
  init?(_ values: [String]) {
    let offers = values.flatMap(AuthenticationOffer.offers)
    guard let best = offers.max(by: { $0.scheme < $1.scheme }) else { return nil }
    self = best
  }

  private init?(_ scheme: String, _ parameters: [String: String]) {
    switch scheme.lowercased() {
    case "basic": self.scheme = .basic
    case "digest":
      let qop = parameters["qop"]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      guard parameters["nonce"] != nil, qop?.contains("auth") ?? true,
        ["md5", "sha-256"].contains(parameters["algorithm"]?.lowercased() ?? "md5")
      else { return nil }
      self.scheme = .digest
    default: return nil
    }
    self.parameters = parameters
  }

  /// One header line may contain several challenges: `Basic realm="a, b", Digest realm="c", nonce=d`.
  private static func offers(_ line: String) -> [AuthenticationOffer] {
    var found: [(scheme: String, parameters: [String: String])] = []
    for item in items(line) {
      let equals = item.firstIndex(of: "=")
      let words = item[..<(equals ?? item.endIndex)].split(separator: " ")
      guard let last = words.last else { continue }
      if words.count > 1 || equals == nil { found.append((String(words[0]), [:])) }
      guard let equals, !found.isEmpty else { continue }
      found[found.count - 1].parameters[last.lowercased()] = value(item[item.index(after: equals)...])
    }
    return found.compactMap { AuthenticationOffer($0.scheme, $0.parameters) }
  }

  /// Splits at commas that are not quoted.
  private static func items(_ line: String) -> [Substring] {
    var isQuoted = false
    var isEscaped = false
    return line.split { character in
      defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
      if character == "\"", !isEscaped { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
  }

  private static func value(_ text: Substring) -> String {
    let text = text.trimmingCharacters(in: .whitespaces)
    guard text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
    var isEscape = false
    return String(
      text.dropFirst().dropLast().filter { character in
        isEscape = character == "\\" && !isEscape
        return !isEscape
      })
  }

  /// Returns the value of `Authorization` (RFC 7617 and 7616).
  func authorization(
    user: String, password: String, method: String, uri: String, clientNonce: String = UUID().uuidString
  ) -> String {
    switch scheme {
    case .basic: return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    case .digest:
      let realm = realm ?? ""
      let nonce = parameters["nonce"] ?? ""
      let secret = hash("\(user):\(realm):\(password)")
      let request = hash("\(method):\(uri)")
      let hasQuality = parameters["qop"] != nil
      let middle = hasQuality ? "\(nonce):00000001:\(clientNonce):auth" : nonce
      var fields = [
        "username=\"\(user)\"", "realm=\"\(realm)\"", "nonce=\"\(nonce)\"", "uri=\"\(uri)\"",
        "response=\"\(hash("\(secret):\(middle):\(request)"))\"",
      ]
      if hasQuality { fields += ["qop=auth", "nc=00000001", "cnonce=\"\(clientNonce)\""] }
      if let opaque = parameters["opaque"] { fields.append("opaque=\"\(opaque)\"") }
      if let algorithm = parameters["algorithm"] { fields.append("algorithm=\(algorithm)") }
      return "Digest " + fields.joined(separator: ", ")
    }
  }

  private func hash(_ text: String) -> String {
    let bytes = Data(text.utf8)
    return parameters["algorithm"]?.lowercased() == "sha-256"
      ? WholeFile.hexadecimal(SHA256.hash(data: bytes)) : WholeFile.hexadecimal(Insecure.MD5.hash(data: bytes))
  }
}
