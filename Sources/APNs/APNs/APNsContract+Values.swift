// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

extension APNsContract {
  /// Returns 10, 5 or 1; 10 without the header. A background push must have 5.
  static func priority(of request: APNsRequest, _ type: PushType) throws(APNsRefusal) -> Int {
    let text = request["apns-priority"]
    let priority: Int
    switch text ?? "10" {
    case "10": priority = 10
    case "5": priority = 5
    case "1": priority = 1
    case let other: throw APNsRefusal(.badPriority, "apns-priority '\(other.excerpt)' is not 10, 5 or 1")
    }
    guard type != .background || priority == 5 else {
      throw APNsRefusal(
        .badPriority,
        "a push of type background must have apns-priority 5; this one has "
          + (text == nil ? "none, which means 10" : "\(priority)"))
    }
    return priority
  }

  /// Returns the date of `apns-expiration`, in seconds since 1970. 0 means one delivery attempt.
  static func expiration(of request: APNsRequest) throws(APNsRefusal) -> Date? {
    guard let text = request["apns-expiration"] else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text) else {
      throw APNsRefusal(
        .badExpirationDate, "apns-expiration '\(text.excerpt)' is not a whole number of seconds since 1970")
    }
    return Date(timeIntervalSince1970: Double(seconds))
  }

  func collapseID(of request: APNsRequest) throws(APNsRefusal) -> String? {
    guard let text = request["apns-collapse-id"], !text.isEmpty else { return nil }
    guard text.utf8.count <= settings.collapseIDLimit else {
      throw APNsRefusal(
        .badCollapseID, "apns-collapse-id has \(text.utf8.count) bytes; the limit is \(settings.collapseIDLimit)")
    }
    return text
  }

  /// - Returns: the remark for the delivery log, or `nil`.
  func checkPayload(of request: APNsRequest, _ type: PushType) throws(APNsRefusal) -> String? {
    guard !request.body.isEmpty else { throw APNsRefusal(.payloadEmpty, "the request has no body") }
    let limit = type == .voip ? settings.voipPayloadLimit : settings.payloadLimit
    guard !request.isTruncated, request.body.count <= limit else {
      throw APNsRefusal(
        .payloadTooLarge,
        "the payload has \(request.isTruncated ? "more than " : "")\(request.body.count) bytes; the limit for "
          + "push type  \(type.rawValue)")
    }
    return PayloadScan(request.body).remark(reloads: [.widgets, .controls].contains(type))
  }

  // MARK: Broadcasts

  /// Refuses a request to `/4/broadcasts/apps/<bundle id>` with the reason that Apple documents in *Sending broadcast
  /// push notification requests to APNs* and *Handling error responses from APNs*. Channels are not implemented: a
  /// valid request gets `ChannelNotRegistered`. Broadcasts never update widgets.
  func broadcastRefusal(of request: APNsRequest, bundle: String) -> BroadcastRefusal {
    let channel = request["apns-channel-id"] ?? ""
    let topic = PushType.allCases.first { !$0.topicSuffix.isEmpty && bundle.hasSuffix($0.topicSuffix) }
    if let topic {
      return refusal(
        "TopicDisallowed", "the bundle identifier in the path must not have the suffix \(topic.topicSuffix)")
    }
    guard PushTopic.isIdentifier(bundle) else { return refusal("BadPath", "the path has no bundle identifier", 404) }
    guard let type = request["apns-push-type"], !type.isEmpty else {
      return refusal("MissingPushType", "apns-push-type is missing; a broadcast must have liveactivity")
    }
    guard type.lowercased() == PushType.liveactivity.rawValue else {
      let isWidget = type == PushType.widgets.rawValue
      return refusal(
        "InvalidPushType",
        "apns-push-type is '\(type.excerpt)'; a broadcast must have liveactivity"
          + (isWidget ? ": widgets are updated by pushes to their device token, /3/device/<token>" : ""))
    }
    if channel.isEmpty { return refusal("MissingChannelId", "apns-channel-id is missing") }
    guard Data(base64Encoded: channel) != nil else {
      return refusal("BadChannelId", "apns-channel-id '\(channel.excerpt)' is not base64")
    }
    do throws(APNsRefusal) {
      guard request["apns-expiration"] != nil else {
        throw APNsRefusal(.badExpirationDate, "apns-expiration is missing; a broadcast must have it")
      }
      _ = try Self.expiration(of: request)
      guard request["apns-priority"] != nil else {
        throw APNsRefusal(.badPriority, "apns-priority is missing; a broadcast must have it")
      }
      _ = try Self.priority(of: request, .liveactivity)
    } catch {
      return refusal(error.reason.rawValue, error.explanation)
    }
    return payloadRefusal(of: request)
      ?? refusal("ChannelNotRegistered", "channel '\(channel.excerpt)' does not exist: channels are not simulated")
  }

  private func payloadRefusal(of request: APNsRequest) -> BroadcastRefusal? {
    if request.body.isEmpty { return refusal("PayloadEmpty", "the request has no body") }
    if request.isTruncated || request.body.count > settings.broadcastPayloadLimit {
      return refusal(
        "PayloadTooLarge", "the payload has more than \(settings.broadcastPayloadLimit) bytes", 413)
    }
    return PayloadScan(request.body).flaw.map { refusal("BadRequestPayload", "the payload is not JSON (\($0))") }
  }

  private func refusal(_ reason: String, _ explanation: String, _ status: Int = 400) -> BroadcastRefusal {
    BroadcastRefusal(status: status, reason: reason, explanation: explanation)
  }
}
