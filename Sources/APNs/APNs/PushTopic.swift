// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages

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

/// What a valid push says, apart from its device token. A provider often sends the same to many device tokens, and what was
/// checked for the first one is not checked again.
final class PushContent: Sendable {
  let topic: PushTopic
  let type: PushType
  let priority: Int
  /// `nil`: set by the storage policy. The epoch: one attempt.
  let expiration: Date?
  let collapseID: String?
  let payload: String
  /// What is wrong with the payload although it was accepted.
  let remark: String?
  /// Without repetitions.
  private let headers: [APNsRequest.Header]

  /// - Parameter request: passed all checks that do not depend on its device token.
  init(
    of request: APNsRequest, topic: PushTopic, type: PushType, priority: Int, expiration: Date?, collapseID: String?,
    remark: String?
  ) {
    self.topic = topic
    self.type = type
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
    self.remark = remark
    payload = String(decoding: request.body, as: UTF8.self)
    headers = request.headers
  }

  /// Whether a request has this payload and the same headers in the same order. Its id and its authorization may differ.
  func isContent(of request: APNsRequest) -> Bool {
    guard !request.isTruncated, headers.count == request.headers.count, payload.utf8.count == request.body.count else {
      return false
    }
    for (header, other) in zip(headers, request.headers) {
      // Equal texts of other lengths have another form of Unicode.
      if header == other, header.value.utf8.count == other.value.utf8.count { continue }
      guard header.name == other.name, header.isNamed("apns-id") || header.isNamed("authorization") else {
        return false
      }
    }
    var payload = payload
    return payload.withUTF8 { own in
      request.body.withUnsafeBytes { other in
        guard let start = own.baseAddress, let otherStart = other.baseAddress else { return own.isEmpty }
        return memcmp(start, otherStart, own.count) == 0
      }
    }
  }
}
