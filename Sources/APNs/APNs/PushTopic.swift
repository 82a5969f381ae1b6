// SPDX-License-Identifier: Apache-2.0

import Messages
import ShownText

extension PushType {
  /// Whether a connection with a client certificate may send this type. Source: the same page; for Live Activities, an
  /// answer of Apple's engineers. For the other types the certificate must list the topic.
  var isForCertificates: Bool { self != .liveactivity && self != .location }
}

extension PushTokenUse {
  /// Whose token it is, before the bundle identifier in a sentence.
  var owner: String {
    switch self {
    case .app: "the app"
    case .widgets: "the widgets of"
    case .control: "a control of"
    case .liveActivity: "a Live Activity of"
    case .liveActivityStarts: "the start of Live Activities of"
    case .fleet(.mdm): "a managed device with the topic"
    case .fleet(let use): "\(use.rawValue) of"
    }
  }
}

extension PushTokenUse {
  /// Whether a topic is `topic(ofBundle:)`. Makes no text.
  func isTopic(_ topic: String, ofBundle bundle: String) -> Bool {
    let suffix = topicType.topicSuffix
    return topic.utf8.count == bundle.utf8.count + suffix.utf8.count && topic.hasPrefix(bundle)
      && topic.hasSuffix(suffix)
  }
}

/// A value of `apns-topic`.
struct PushTopic {
  let text: String
  /// The text without the suffix of its type.
  let bundle: String

  /// The prefix of the topics of managed devices: the UID in the subject of their certificate.
  private static let managed = "com.apple.mgmt."
  /// The suffixes that identify a type. `.voip` and `.complication` may be part of an app's bundle identifier.
  private static let telling = PushType.allCases.filter {
    !$0.topicSuffix.isEmpty && $0 != .voip && $0 != .complication
  }

  /// The type of a request without `apns-push-type`, derived from its topic.
  static func type(of topic: String) -> PushType {
    PushType.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) } ?? .alert
  }

  /// - Throws: `BadTopic`.
  init(_ text: String, for type: PushType) throws(APNsRefusal) {
    guard Self.isIdentifier(text) else {
      throw APNsRefusal(
        .badTopic, "apns-topic '\(text.excerpt)' is not a bundle identifier: only letters, digits, '-' and '.'")
    }
    let suffix = type.topicSuffix
    self.text = text
    bundle = String(Substring(text.utf8.dropLast(suffix.utf8.count)))
    if type == .mdm, !text.hasPrefix(Self.managed) {
      throw APNsRefusal(
        .badTopic, "the topic of push type mdm is the UID of its certificate, \(Self.managed)…, not '\(text)'")
    }
    if suffix.isEmpty {
      guard let other = Self.telling.first(where: { text.hasSuffix($0.topicSuffix) }) else { return }
      throw APNsRefusal(
        .badTopic,
        "apns-topic '\(text)' ends with '\(other.topicSuffix)', the suffix of push type \(other.rawValue); "
          + "the request has \(type.rawValue), whose topic is the bundle identifier")
    }
    guard text.hasSuffix(suffix), !bundle.isEmpty else {
      throw APNsRefusal(
        .badTopic,
        "the topic of push type \(type.rawValue) is the bundle identifier with '\(suffix)', not '\(text)'")
    }
  }

  static func isIdentifier(_ text: String) -> Bool {
    let dot = UInt8(ascii: ".")
    var last = dot
    for byte in text.utf8 {
      guard byte.isIdentifier, byte != dot || last != dot else { return false }
      last = byte
    }
    return last != dot && text.utf8.count <= 255
  }
}

extension UInt8 {
  fileprivate var isIdentifier: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

extension String {
  /// The start of a provider's text, short enough for an explanation.
  var excerpt: String { excerpt(bytes: 80) }
}
