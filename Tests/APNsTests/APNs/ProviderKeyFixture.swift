// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Messages

@testable import APNs

/// A contract with the tokens of two apps and the keys of a provider.
struct ProviderKeyFixture {
  static let now = Date(timeIntervalSince1970: 1_800_000_000)
  static let bundle = "com.example.CaffeineTracker"
  static let team = "TEAM567890"
  static let widgets = String(repeating: "ab", count: 80)
  static let app = String(repeating: "0c", count: 32)
  static let control = String(repeating: "5b", count: 80)
  static let activity = String(repeating: "6e", count: 80)
  static let old = String(repeating: "1d", count: 80)
  static let expired = String(repeating: "2e", count: 80)
  static let production = String(repeating: "3f", count: 80)

  var settings = APNsSettings()
  var environment = PushEnvironment.development
  var session = ProviderSession()
  var now = ProviderKeyFixture.now
  var keys: [String: Signer] = [:]
  /// The number of key lookups: one for each verified signature.
  private(set) var lookups = 0

  let tokens: [String: DeviceToken] = {
    func token(
      _ text: String, _ use: PushTokenUse = .widgets, state: DeviceToken.State = .active,
      environment: PushEnvironment = .development
    ) -> (String, DeviceToken) {
      let subject = PushSubject(device: "iPhone", bundle: bundle, use: use)
      let since = now.addingTimeInterval(-60)
      return (text, DeviceToken(token: text, subject: subject, environment: environment, state: state, since: since))
    }
    return Dictionary(uniqueKeysWithValues: [
      token(widgets), token(app, .app), token(control, .control(3)),
      token(activity, .liveActivity(1)), token(old, .widgets, state: .unregistered),
      token(expired, .widgets, state: .expired),
      token(production, .widgets, state: .active, environment: .production),
    ])
  }()

  init() {
    register(Signer("KEY0000001"))
    register(Signer("KEY0000002"))
    register(Signer("PROD000001", environments: [.production]))
    register(Signer("BOTH000001", environments: [.development, .production]))
    register(Signer("TOPIC00001", topics: [ProviderKeyFixture.bundle]))
    register(Signer("TOPIC00002", topics: ["com.example.Other"]))
    register(Signer("TOPIC00003", topics: [ProviderKeyFixture.bundle]))
    register(Signer("OTHER00001", team: "TEAM000000"))
  }

  mutating func register(_ signer: Signer) { keys[signer.id] = signer }

  /// Returns a provider token signed by a key.
  func jwt(_ id: String = "KEY0000001", age: Double = 0) -> String {
    keys[id]?.token(issued: now.addingTimeInterval(-age)) ?? ""
  }

  /// Returns a valid request with changed headers; `nil` removes a header.
  func request(
    _ changes: KeyValuePairs<String, String?> = [:], method: String = "POST",
    path: String = "/3/device/" + ProviderKeyFixture.widgets,
    body: String = #"{"aps":{"content-changed":true}}"#
  ) -> APNsRequest {
    var headers = [
      ("authorization", "bearer " + jwt()), ("apns-push-type", "widgets"),
      ("apns-topic", ProviderKeyFixture.bundle + ".push-type.widgets"),
    ]
    for (name, value) in changes {
      headers.removeAll { $0.0 == name }
      if let value { headers.append((name, value)) }
    }
    return APNsRequest(
      method: method, path: path, headers: headers.map { APNsRequest.Header(name: $0.0, value: $0.1) },
      body: Array(body.utf8))
  }

  /// Returns an alert to the app's own token.
  func alert(_ changes: KeyValuePairs<String, String?> = [:], body: String = #"{"aps":{"alert":"Hi"}}"#) -> APNsRequest
  {
    let plain = request(
      ["apns-push-type": "alert", "apns-topic": ProviderKeyFixture.bundle], path: "/3/device/" + ProviderKeyFixture.app,
      body: body)
    var headers = plain.headers
    for (name, value) in changes {
      headers.removeAll { $0.name == name }
      if let value { headers.append(APNsRequest.Header(name: name, value: value)) }
    }
    return APNsRequest(method: "POST", path: plain.path, headers: headers, body: plain.body)
  }

  mutating func check(_ request: APNsRequest) -> APNsVerdict {
    var count = 0
    defer { lookups += count }
    return APNsContract(environment: environment, settings: settings).check(
      request, in: &session, now: now,
      key: { id in
        count += 1
        return keys[id]?.registered
      }, token: { tokens[$0] })
  }

  /// Returns the reason for a refusal; `nil` when the request is accepted.
  mutating func reason(_ request: APNsRequest) -> APNsReason? {
    check(request).reason.flatMap(APNsReason.init(rawValue:))
  }
}

/// A provider key pair.
struct Signer {
  let id: String
  let registered: ProviderKey
  let key = P256.Signing.PrivateKey()
  /// A cache of signed tokens, because each signature is different.
  private let signed = Signed()

  private final class Signed {
    var tokens: [Int: String] = [:]
  }

  init(
    _ id: String, team: String = ProviderKeyFixture.team, environments: Set<PushEnvironment> = [.development],
    topics: Set<String>? = nil
  ) {
    self.id = id
    registered = ProviderKey(
      id: id, team: team, environments: environments, topics: topics, publicKey: key.publicKey)
  }

  /// Returns the same token for the same second.
  func token(issued: Date) -> String {
    let second = Int(issued.timeIntervalSince1970)
    if let known = signed.tokens[second] { return known }
    let token = token(#"{"alg":"ES256","kid":"\#(id)"}"#, #"{"iss":"\#(registered.team)","iat":\#(second)}"#)
    signed.tokens[second] = token
    return token
  }

  /// Signs the given header and claims.
  func token(_ header: String, _ claims: String, inDER: Bool = false) -> String {
    let signed = header.base64URL + "." + claims.base64URL
    guard let signature = try? key.signature(for: Data(signed.utf8)) else { return "" }
    return signed + "." + (inDER ? signature.derRepresentation : signature.rawRepresentation).base64URL
  }
}

extension Data {
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}

extension String {
  var base64URL: String { Data(utf8).base64URL }
}
