// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Messages
import Testing

@testable import APNs

/// The eleven push types with their topics.
@Suite struct `Push topics` {
  /// Source: Apple's *Sending notification requests to APNs*.
  private static let suffixes: [PushType: String] = [
    .alert: "", .background: "", .complication: ".complication", .controls: ".push-type.controls",
    .fileprovider: ".pushkit.fileprovider", .liveactivity: ".push-type.liveactivity", .location: ".location-query",
    .mdm: "", .pushtotalk: ".voip-ptt", .voip: ".voip", .widgets: ".push-type.widgets",
  ]

  @Test(.rule("APNS-02"), arguments: PushType.allCases)
  func `a topic has the suffix of its push type`(type: PushType) throws {
    #expect(Self.suffixes[type] == type.topicSuffix)
    let bundle = type == .mdm ? "com.apple.mgmt.External.0f" : ProviderKeyFixture.bundle
    let topic = try PushTopic(bundle + type.topicSuffix, for: type)
    #expect(topic.bundle == bundle)
    #expect(throws: APNsRefusal.self) { try PushTopic(ProviderKeyFixture.bundle + ".push-type.other\u{7f}", for: type) }
  }

  @Test(.rule("APNS-02"), arguments: PushType.allCases)
  func `a topic of one push type is refused for another type`(type: PushType) {
    let topic = ProviderKeyFixture.bundle + type.topicSuffix
    for other in PushType.allCases where other.topicSuffix != type.topicSuffix && other != .mdm {
      // A bundle identifier may end like this: then the device token decides.
      let mayBeBundle = other.topicSuffix.isEmpty && [.voip, .complication].contains(type)
      var lab = ProviderKeyFixture()
      let request = lab.alert(["apns-push-type": other.rawValue, "apns-topic": topic])
      #expect(lab.reason(request) == (mayBeBundle ? .deviceTokenNotForTopic : .badTopic), "\(type) as \(other)")
    }
  }

  @Test(arguments: PushType.allCases)
  func `an app token accepts only alert and background pushes`(type: PushType) {
    var lab = ProviderKeyFixture()
    let bundle = type == .mdm ? "com.apple.mgmt.External.0f" : ProviderKeyFixture.bundle
    let request = lab.alert([
      "apns-push-type": type.rawValue, "apns-topic": bundle + type.topicSuffix, "apns-priority": "5",
    ])
    let isForApp = type == .alert || type == .background
    #expect(lab.reason(request) == (isForApp ? nil : .deviceTokenNotForTopic))
  }

  @Test(
    .rule("APNS-07"), arguments: PushType.allCases,
    [(ProviderKeyFixture.control, PushType.controls), (ProviderKeyFixture.activity, .liveactivity)])
  func `the token of a control or of a Live Activity accepts only pushes of its type`(
    type: PushType, use: (token: String, type: PushType)
  ) {
    var lab = ProviderKeyFixture()
    let bundle = type == .mdm ? "com.apple.mgmt.External.0f" : ProviderKeyFixture.bundle
    let request = lab.request(
      ["apns-push-type": type.rawValue, "apns-topic": bundle + type.topicSuffix, "apns-priority": "5"],
      path: "/3/device/" + use.token)
    #expect(lab.reason(request) == (type == use.type ? nil : .deviceTokenNotForTopic))
  }

  @Test func `the topic determines the push type when the request has none`() {
    for type in PushType.allCases where !type.topicSuffix.isEmpty {
      #expect(PushTopic.type(of: ProviderKeyFixture.bundle + type.topicSuffix) == type)
    }
    #expect(PushTopic.type(of: ProviderKeyFixture.bundle) == .alert)
  }

  @Test(arguments: ["a..b", ".a", "a.", "a b", "a_b", "é", String(repeating: "a", count: 256), "a/b", "a\n"])
  func `a topic that is not a bundle identifier is refused`(topic: String) {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.alert(["apns-topic": topic])) == .badTopic)
  }
}
