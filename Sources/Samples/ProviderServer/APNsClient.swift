// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AsyncHTTPClient
import Foundation
import JWTKit
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends widget pushes to APNs over one HTTP/2 connection. Source: Apple's *Updating widgets with WidgetKit push
/// notifications* and *Sending notification requests to APNs*.
struct APNsClient: Sendable {
  private static let payload = #"{"aps":{"content-changed":true}}"#

  private let url: String
  private let topic: String
  private let token: APNsToken
  private let http: HTTPClient

  /// - Parameter url: such as `https://api.sandbox.push.apple.com`.
  /// - Parameter authority: a PEM file of a certificate authority to trust in addition to the system's.
  init(url: String, bundle: String, token: APNsToken, authority: String?) {
    self.url = url
    self.token = token
    topic = "\(bundle).push-type.widgets"
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.additionalTrustRoots = authority.map { [.file($0)] } ?? []
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.timeout.connect = .seconds(10)
    // A failed attempt is logged, and repeated when its push is due again.
    configuration.connectionPool.retryConnectionEstablishment = false
    http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  func shutdown() async throws { try await http.shutdown() }

  /// Notifies the widgets of a device token that their content changed.
  ///
  /// - Parameter id: `apns-id`, a UUID in lower case.
  func push(to deviceToken: String, id: String) async -> PushOutcome {
    var request = HTTPClientRequest(url: "\(url)/3/device/\(deviceToken)")
    request.method = .POST
    request.body = .bytes(ByteBuffer(string: Self.payload))
    do {
      request.headers = [
        "authorization": "bearer \(try await token.current())", "apns-id": id, "apns-push-type": "widgets",
        "apns-topic": topic,
      ]
      let response = try await http.execute(request, timeout: .seconds(30))
      let body = try await response.body.collect(upTo: 4096)
      let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(body.readableBytesView))
      if refusal?.reason == "ExpiredProviderToken" { await token.expired() }
      return .answered(
        status: Int(response.status.code), reason: refusal?.reason,
        since: refusal?.timestamp.map { Date(timeIntervalSince1970: $0 / 1000) })
    } catch {
      return .unanswered("\(error)")
    }
  }

  private struct Refusal: Decodable {
    let reason: String
    /// Milliseconds since 1970.
    let timestamp: Double?
  }
}

/// The options of the connection to APNs. Each one falls back to an environment variable.
struct APNsOptions: ParsableArguments {
  @Option(help: "The URL of APNs, such as https://api.sandbox.push.apple.com (or APNS_URL).")
  var apnsUrl: String?

  @Option(help: "A PEM file of a certificate authority to trust in addition to the system's (or APNS_CA).")
  var apnsCa: String?

  @Option(help: "The .p8 file of the key that signs provider tokens (or APNS_KEY).")
  var apnsKey: String?

  @Option(help: "The ten-character id of the key (or APNS_KEY_ID).")
  var apnsKeyId: String?

  @Option(help: "The ten-character id of the team (or APNS_TEAM_ID).")
  var apnsTeamId: String?

  @Option(help: "The app's bundle identifier.")
  var bundle = "com.example.CaffeineTracker"

  @Option(help: "Seconds until a push is retried after 500 or 503; doubled after each further one.")
  var apnsRetry: Double = 900

  @Option(help: "Seconds until a push is retried after 429.")
  var apnsPause: Double = 60

  func validate() throws {
    guard apnsRetry > 0, apnsPause > 0 else {
      throw ValidationError("--apns-retry and --apns-pause must be greater than 0 seconds")
    }
  }

  var retries: RetryPolicy { RetryPolicy(afterServerError: apnsRetry, afterTooMany: apnsPause) }

  /// Creates the client of APNs; `nil` when no setting of it is given.
  ///
  /// - Throws: `ValidationError` when only some settings are given, or the key is invalid.
  func client() throws -> APNsClient? {
    func value(_ option: String?, _ name: String) -> String? { option ?? ProcessInfo.processInfo.environment[name] }
    let settings = [
      "APNS_URL": value(apnsUrl, "APNS_URL"), "APNS_KEY": value(apnsKey, "APNS_KEY"),
      "APNS_KEY_ID": value(apnsKeyId, "APNS_KEY_ID"), "APNS_TEAM_ID": value(apnsTeamId, "APNS_TEAM_ID"),
    ].compactMapValues(\.self)
    if settings.isEmpty { return nil }
    guard let url = settings["APNS_URL"], let file = settings["APNS_KEY"], let keyID = settings["APNS_KEY_ID"],
      let teamID = settings["APNS_TEAM_ID"]
    else {
      throw ValidationError(
        "pushes need --apns-url, --apns-key, --apns-key-id and --apns-team-id, or APNS_URL, APNS_KEY, APNS_KEY_ID and "
          + "APNS_TEAM_ID; given: \(settings.keys.sorted().joined(separator: ", "))")
    }
    let token: APNsToken
    do {
      token = try APNsToken(
        key: String(contentsOfFile: file, encoding: .utf8), keyID: keyID, teamID: teamID)
    } catch {
      throw ValidationError("\(file) is not a readable .p8 file: \(error)")
    }
    let authority = value(apnsCa, "APNS_CA")
    if let authority, !FileManager.default.isReadableFile(atPath: authority) {
      throw ValidationError("the certificate authority \(authority) cannot be read")
    }
    return APNsClient(url: url, bundle: bundle, token: token, authority: authority)
  }
}

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

/// The result of an attempt to send a push to APNs.
enum PushOutcome: Equatable, Sendable {
  /// APNs responded. `since` comes with status 410: the time at which APNs found that the token is no longer valid.
  case answered(status: Int, reason: String?, since: Date?)
  /// There was no connection, or it broke before the response: APNs may have accepted the push.
  case unanswered(String)
}

/// The decision about a push after an attempt. Source: Apple's *Handling notification responses from APNs*.
enum PushVerdict: Equatable, Sendable {
  case sent
  /// The same request is never sent again.
  case refused
  /// The token is no longer valid, since this time.
  case tokenGone(since: Date)
  /// The same request is sent again after this many seconds.
  case again(after: TimeInterval)
}

/// The pauses before a push is retried.
struct RetryPolicy: Sendable {
  /// Seconds after the first 500 or 503, doubled after each further one. Apple asks for 15 minutes.
  var afterServerError: TimeInterval = 900
  /// Seconds after 429.
  var afterTooMany: TimeInterval = 60
  private static let longest: TimeInterval = 4 * 3600

  /// - Parameter attempts: the number of earlier attempts.
  func verdict(on outcome: PushOutcome, attempts: Int) -> PushVerdict {
    switch outcome {
    case .answered(200, _, _): .sent
    case .answered(410, _, let since): .tokenGone(since: since ?? .now)
    case .answered(429, _, _): .again(after: afterTooMany)
    // The provider token is too old; the next attempt uses a new one.
    case .answered(403, "ExpiredProviderToken", _): .again(after: afterTooMany)
    case .answered(500..., _, _): .again(after: Self.doubled(afterServerError, attempts, longest: Self.longest))
    case .answered: .refused
    case .unanswered: .again(after: Self.doubled(1, attempts, longest: afterServerError))
    }
  }

  private static func doubled(_ first: TimeInterval, _ times: Int, longest: TimeInterval) -> TimeInterval {
    min(first * Double(1 << min(times, 16)), max(first, longest))
  }
}
