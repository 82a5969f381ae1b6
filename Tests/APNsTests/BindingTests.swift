import Conversations
import Foundation
import Testing

@testable import APNs

/// What the first pushes of a connection bind it to.
@Suite struct `a connection with provider tokens` {
  /// The key of the first push, that of another one an hour later, and the reason for that.
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

  @Test(arguments: pairs.indices)
  func `is bound to the key of its first push`(index: Int) {
    let (first, second, reason) = Self.pairs[index]
    var lab = Lab()
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt(first)])) == nil)
    lab.now += 1201
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt(second)])) == reason, "\(first), \(second)")
    // Another connection knows nothing of it.
    lab.session = ProviderSession()
    let alone: APNsReason? =
      switch reason {
      case .badEnvironmentKeyIDInToken: reason
      case _ where second == "TOPIC00002": .topicDisallowed
      default: nil
      }
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt(second)])) == alone)
  }

  @Test func `takes a key in its environment alone`() {
    var lab = Lab()
    for (key, isFor) in [
      ("KEY0000001", Set([PushEnvironment.development])), ("PROD000001", [.production]),
      ("BOTH000001", [.development, .production]),
    ] {
      for environment in PushEnvironment.allCases {
        lab.session = ProviderSession()
        lab.environment = environment
        let path = "/3/device/" + (environment == .development ? Lab.widgets : Lab.production)
        let reason = lab.reason(lab.request(["authorization": "bearer " + lab.jwt(key)], path: path))
        #expect(reason == (isFor.contains(environment) ? nil : .badEnvironmentKeyIDInToken))
      }
    }
  }

  @Test func `may send to the topics of its key alone`() {
    var lab = Lab()
    let headers: KeyValuePairs<String, String?> = ["authorization": "bearer " + lab.jwt("TOPIC00001")]
    #expect(lab.reason(lab.request(headers)) == nil)
    #expect(lab.reason(lab.alert(headers)) == nil)
    let foreign = lab.request([
      "authorization": "bearer " + lab.jwt("TOPIC00001"), "apns-topic": "com.example.Other.push-type.widgets",
    ])
    #expect(lab.reason(foreign) == .topicDisallowed)
  }

  @Test func `changes its token once in twenty minutes`() {
    var lab = Lab()
    let first = lab.request()
    #expect(lab.reason(first) == nil)
    lab.now += 1199
    let second = lab.request()
    #expect(lab.reason(second) == .tooManyProviderTokenUpdates)
    #expect(lab.reason(first) == nil, "the former one is good")
    lab.now += 1
    #expect(lab.reason(second) == nil)
    // Back to the first one is a change like another.
    #expect(lab.reason(first) == .tooManyProviderTokenUpdates)
    #expect(
      lab.reason(lab.request(["authorization": "bearer " + lab.jwt("KEY0000002")])) == .tooManyProviderTokenUpdates)
    lab.session = ProviderSession()
    #expect(lab.reason(first) == nil, "another connection")
    lab.settings.providerTokenUpdateInterval = 0
    #expect(lab.reason(second) == nil)
  }

  @Test func `is not bound by a token that was refused`() {
    var lab = Lab()
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt(age: 4000)])) == .expiredProviderToken)
    #expect(!lab.session.isAuthorized)
    #expect(
      lab.reason(lab.request(["authorization": "bearer " + lab.jwt("PROD000001")])) == .badEnvironmentKeyIDInToken)
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt("OTHER00001")])) == nil)
    #expect(lab.session.isAuthorized)
  }

  @Test func `is bound by a right token in a wrong request`() {
    var lab = Lab()
    #expect(lab.reason(lab.request(["apns-priority": "2"])) == .badPriority)
    #expect(lab.session.isAuthorized)
    #expect(lab.reason(lab.request(["authorization": "bearer " + lab.jwt("OTHER00001")])) == .forbidden)
  }

  @Test func `goes on with a new token when the former one is too old`() {
    var lab = Lab()
    let first = lab.request()
    #expect(lab.reason(first) == nil)
    lab.now += 3601
    #expect(lab.reason(first) == .expiredProviderToken)
    #expect(lab.reason(lab.request()) == nil)
  }
}
