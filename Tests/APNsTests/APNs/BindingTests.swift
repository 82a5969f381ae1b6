// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import APNs

/// How the first pushes of a connection bind it.
@Suite struct `Connections with provider tokens` {
  /// The key of the first push, that of another push an hour later, and the expected reason.
  private static let pairs: [(first: String, second: String, reason: APNsReason?)] = [
    ("KEY0000001", "KEY0000002", nil),
    ("KEY0000001", "TOPIC00001", .unrelatedKeyIDInToken),
    ("TOPIC00001", "KEY0000001", .unrelatedKeyIDInToken),
    ("TOPIC00001", "TOPIC00003", nil),
    ("TOPIC00001", "TOPIC00002", .unrelatedKeyIDInToken),
    ("KEY0000001", "PROD000001", .badEnvironmentKeyIDInToken),
    ("KEY0000001", "OTHER00001", .forbidden),
    ("BOTH000001", "KEY0000001", nil),
  ]

  @Test(.rule("APNS-16"), arguments: pairs.indices)
  func `the key of a connection's first push decides which keys the connection accepts afterwards`(index: Int) {
    let (first, second, reason) = Self.pairs[index]
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt(first)])) == nil)
    lab.now += 1201
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt(second)])) == reason, "\(first), \(second)")
    // Another connection is not bound.
    lab.session = ProviderSession()
    let alone: APNsReason? =
      switch reason {
      case .badEnvironmentKeyIDInToken: reason
      case _ where second == "TOPIC00002": .topicDisallowed
      default: nil
      }
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt(second)])) == alone)
  }

  @Test(.rule("APNS-17")) func `a connection accepts a provider key only in the key's own environments`() {
    var lab = ProviderKeyFixture()
    for (key, isFor) in [
      ("KEY0000001", Set([PushEnvironment.development])), ("PROD000001", [.production]),
      ("BOTH000001", [.development, .production]),
    ] {
      for environment in PushEnvironment.allCases {
        lab.session = ProviderSession()
        lab.environment = environment
        let path =
          "/3/device/" + (environment == .development ? ProviderKeyFixture.widgets : ProviderKeyFixture.production)
        let reason = lab.reason(lab.request(["authorization": "bearer " + lab.jwt(key)], path: path))
        #expect(reason == (isFor.contains(environment) ? nil : .badEnvironmentKeyIDInToken))
      }
    }
  }

  @Test(.rule("APNS-17")) func `a connection with a topic-specific key sends only to the topics of that key`() {
    var lab = ProviderKeyFixture()
    let headers: KeyValuePairs<String, String?> = ["authorization": "bearer " + lab.jwt("TOPIC00001")]
    #expect(lab.reason(lab.request(headers)) == nil)
    #expect(lab.reason(lab.alert(headers)) == nil)
    let foreign = lab.request([
      "authorization": "bearer " + lab.jwt("TOPIC00001"), "apns-topic": "com.example.Other.push-type.widgets",
    ])
    #expect(lab.reason(foreign) == .topicDisallowed)
  }

  @Test(.rule("APNS-15", "APNS-44")) func `a connection may change its provider token once in 20 minutes`() {
    var lab = ProviderKeyFixture()
    let first = lab.request()
    #expect(lab.reason(first) == nil)
    lab.now += 1199
    let second = lab.request()
    #expect(lab.reason(second) == .tooManyProviderTokenUpdates)
    #expect(lab.reason(first) == nil, "the old token is still valid")
    lab.now += 1
    #expect(lab.reason(second) == nil)
    // Back to the first token is a change like any other.
    #expect(lab.reason(first) == .tooManyProviderTokenUpdates)
    #expect(
      lab.reason(lab.request(["authorization": "bearer " + lab.jwt("KEY0000002")])) == .tooManyProviderTokenUpdates)
    lab.session = ProviderSession()
    #expect(lab.reason(first) == nil, "another connection has its own limit")
    lab.settings.providerTokenUpdateInterval = 0
    #expect(lab.reason(second) == nil)
  }

  @Test func `a refused provider token does not bind its connection`() {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt(age: 4000)])) == .expiredProviderToken)
    #expect(!lab.session.isAuthorized)
    #expect(
      lab.reason(lab.request(["authorization": "bearer " + lab.jwt("PROD000001")])) == .badEnvironmentKeyIDInToken)
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt("OTHER00001")])) == nil)
    #expect(lab.session.isAuthorized)
  }

  @Test func `a valid provider token in an invalid request binds its connection`() {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request(["apns-priority": "2"])) == .badPriority)
    #expect(lab.session.isAuthorized)
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt("OTHER00001")])) == .forbidden)
  }

  @Test(.rule("APNS-12")) func `a connection accepts a new provider token after the previous one has expired`() {
    var lab = ProviderKeyFixture()
    let first = lab.request()
    #expect(lab.reason(first) == nil)
    lab.now += 3601
    #expect(lab.reason(first) == .expiredProviderToken)
    #expect(lab.reason(lab.request()) == nil)
  }
}
