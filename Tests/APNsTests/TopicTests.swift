import Conversations
import Testing

@testable import APNs

/// The eleven types with their topics.
@Suite struct `a topic` {
  /// Source: Apple's *Sending notification requests to APNs*.
  private static let suffixes: [PushType: String] = [
    .alert: "", .background: "", .complication: ".complication", .controls: ".push-type.controls",
    .fileprovider: ".pushkit.fileprovider", .liveactivity: ".push-type.liveactivity", .location: ".location-query",
    .mdm: "", .pushtotalk: ".voip-ptt", .voip: ".voip", .widgets: ".push-type.widgets",
  ]

  @Test(arguments: PushType.allCases)
  func `has the suffix of its type`(type: PushType) throws {
    #expect(Self.suffixes[type] == type.topicSuffix)
    let bundle = type == .mdm ? "com.apple.mgmt.External.0f" : Lab.bundle
    let topic = try PushTopic(bundle + type.topicSuffix, for: type)
    #expect(topic.bundle == bundle)
    #expect(throws: APNsRefusal.self) { try PushTopic(Lab.bundle + ".push-type.other\u{7f}", for: type) }
  }

  @Test(arguments: PushType.allCases)
  func `of one type is none of another`(type: PushType) {
    let topic = Lab.bundle + type.topicSuffix
    for other in PushType.allCases where other.topicSuffix != type.topicSuffix && other != .mdm {
      // A bundle identifier may end so: then the device token decides.
      let mayBeBundle = other.topicSuffix.isEmpty && [.voip, .complication].contains(type)
      var lab = Lab()
      let request = lab.alert(["apns-push-type": other.rawValue, "apns-topic": topic])
      #expect(lab.reason(request) == (mayBeBundle ? .deviceTokenNotForTopic : .badTopic), "\(type) as \(other)")
    }
  }

  @Test(arguments: PushType.allCases)
  func `of a type that no token here takes is not for the token`(type: PushType) {
    var lab = Lab()
    let bundle = type == .mdm ? "com.apple.mgmt.External.0f" : Lab.bundle
    let request = lab.alert([
      "apns-push-type": type.rawValue, "apns-topic": bundle + type.topicSuffix, "apns-priority": "5",
    ])
    let isForApp = type == .alert || type == .background
    #expect(lab.reason(request) == (isForApp ? nil : .deviceTokenNotForTopic))
  }

  @Test func `says the type where the request does not`() {
    for type in PushType.allCases where !type.topicSuffix.isEmpty {
      #expect(PushTopic.type(of: Lab.bundle + type.topicSuffix) == type)
    }
    #expect(PushTopic.type(of: Lab.bundle) == .alert)
  }

  @Test(arguments: ["a..b", ".a", "a.", "a b", "a_b", "é", String(repeating: "a", count: 256), "a/b", "a\n"])
  func `is a bundle identifier`(topic: String) {
    var lab = Lab()
    #expect(lab.reason(lab.alert(["apns-topic": topic])) == .badTopic)
  }
}
