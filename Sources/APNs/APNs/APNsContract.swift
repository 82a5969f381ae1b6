// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// Validates pushes by every rule of Apple's *Sending notification requests to APNs* and *Handling notification
/// responses from APNs*. The order of the checks is ours (Documentation/apns.md). A value without clock or I/O; the
/// state of a connection is in its `ProviderSession`.
package struct APNsContract: Sendable {
  /// The environment of the port.
  package let environment: PushEnvironment
  package let settings: APNsSettings

  package init(environment: PushEnvironment, settings: APNsSettings = APNsSettings()) {
    self.environment = environment
    self.settings = settings
  }

  /// Validates a request.
  ///
  /// - Parameters:
  ///   - session: the session of the connection; `ProviderSession.console` for the operator.
  ///   - key: returns the registered provider key of an id. Called only for a token that is new on the connection.
  ///   - token: returns the device token of a lower-case text, in either environment and in any state. With an error the
  ///     answer is `InternalServerError`.
  package func check(
    _ request: APNsRequest, in session: inout ProviderSession, now: Date, key: (String) -> ProviderKey?,
    token: (String) throws -> DeviceToken?
  ) -> APNsVerdict {
    let path = request.resource
    let idHeader = path.isBroadcast ? "apns-request-id" : "apns-id"
    let sentID = request[idHeader]
    let tokenResult = Result { try request.deviceToken.flatMap(token) }
    let device = try? tokenResult.get()
    let knownContent = session.content(of: request)
    let outcome: APNsVerdict.Outcome
    do throws(APNsRefusal) {
      if case .failure = tokenResult { throw APNsRefusal(.internalServerError, "cannot read the database") }
      try checkConnection(of: session, now: now)
      try Self.checkHeaders(of: request, idHeader: idHeader, knownContent)
      try checkMethodAndPath(of: request, path)
      let topics = try session.authenticate(
        request["authorization"], environment: environment, settings: settings, now: now, key: key)
      if case .broadcast(let bundle) = path {
        outcome = .broadcastRefused(broadcastRefusal(of: request, bundle: bundle))
      } else {
        let push = try push(
          request, text: path.token ?? "", device: device, topics: topics, known: knownContent, in: &session)
        try session.count(push.token.token, settings: settings, now: now)
        outcome = .accepted(push)
      }
    } catch {
      outcome = .refused(error)
    }
    return APNsVerdict(
      apnsID: sentID.flatMap { Self.isUUID($0) ? $0 : nil } ?? session.random.uuid().text, idHeader: idHeader,
      uniqueID: session.random.uuid(at: now), environment: environment, token: path.token?.start(bytes: 256) ?? "",
      type: request["apns-push-type"]?.excerpt, device: device, outcome: outcome)
  }

  // MARK: Connection, method, path

  private func checkConnection(of session: ProviderSession, now: Date) throws(APNsRefusal) {
    guard case .certificate(let certificate) = session.identity else { return }
    try certificate.check(environment: environment, now: now)
  }

  /// - Parameter knownContent: the content of the request if that was checked before.
  private static func checkHeaders(
    of request: APNsRequest, idHeader: String, _ knownContent: PushContent?
  ) throws(APNsRefusal) {
    if knownContent == nil { try checkRepetitions(in: request.headers) }
    guard let id = request[idHeader], !isUUID(id) else { return }
    throw APNsRefusal(
      .badMessageID, "\(idHeader) '\(id.excerpt)' is not a UUID (8-4-4-4-12 hexadecimal digits)")
  }

  private static func checkRepetitions(in headers: [APNsRequest.Header]) throws(APNsRefusal) {
    for index in headers.indices.dropFirst() {
      let name = headers[index].name
      guard headers[..<index].contains(where: { $0.isNamed(name) }) else { continue }
      throw APNsRefusal(.duplicateHeaders, "the header \(name.excerpt) is repeated")
    }
  }

  private func checkMethodAndPath(of request: APNsRequest, _ path: RequestPath) throws(APNsRefusal) {
    guard request.method == "POST" else {
      throw APNsRefusal(.methodNotAllowed, "the method is \(request.method.excerpt); it must be POST")
    }
    switch path {
    case .device(""):
      throw APNsRefusal(.missingDeviceToken, "the path has no device token: expected /3/device/<token>")
    case .device, .broadcast: break
    case .other(let path):
      throw APNsRefusal(.badPath, "the path is '\(path.excerpt)'; expected /3/device/<token>")
    }
  }

  /// 8-4-4-4-12 hexadecimal digits. Apple asks for lower case; the service accepts upper case (observed).
  static func isUUID(_ text: String) -> Bool {
    guard text.utf8.count == 36 else { return false }
    return text.utf8.enumerated().allSatisfy { index, byte in
      [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : byte.isHexadecimalDigit
    }
  }

  // MARK: Topic and token

  /// - Parameter knownContent: the content of the request if that was checked before.
  private func push(
    _ request: APNsRequest, text: String, device: DeviceToken?, topics: Set<String>?, known knownContent: PushContent?,
    in session: inout ProviderSession
  ) throws(APNsRefusal) -> AcceptedPush {
    let (topic, type): (PushTopic, PushType) =
      if let knownContent { (knownContent.topic, knownContent.type) } else { try topicAndType(of: request, session) }
    try checkRight(to: topic, type: type, topics: topics, session: session)
    let token = try registered(device, text)
    guard token.subject.use.isTopic(topic.text, ofBundle: token.subject.bundle) else {
      throw APNsRefusal(
        .deviceTokenNotForTopic,
        "the token belongs to \(token.subject.use.owner) \(token.subject.bundle): its "
          + "topic is \(token.subject.use.topic(ofBundle: token.subject.bundle)), not \(topic.text)")
    }
    if let knownContent { return AcceptedPush(token: token, knownContent) }
    let priority = try Self.priority(of: request, type)
    let expiration = try Self.expiration(of: request)
    let collapseID = try collapseID(of: request)
    let remark = try checkPayload(of: request, type)
    let content = PushContent(
      of: request, topic: topic, type: type, priority: priority, expiration: expiration, collapseID: collapseID,
      remark: remark)
    session.content = content
    return AcceptedPush(token: token, content)
  }

  private func topicAndType(
    of request: APNsRequest, _ session: ProviderSession
  ) throws(APNsRefusal) -> (PushTopic, PushType) {
    let text = try topicText(of: request, session)
    let type = try Self.type(of: request, topic: text)
    return (try PushTopic(text, for: type), type)
  }

  private func topicText(of request: APNsRequest, _ session: ProviderSession) throws(APNsRefusal) -> String {
    if let topic = request["apns-topic"], !topic.isEmpty { return topic }
    guard case .certificate(let certificate) = session.identity else {
      throw APNsRefusal(.missingTopic, "apns-topic is missing; a request with a provider token must have it")
    }
    if let topic = certificate.defaultTopic { return topic }
    throw APNsRefusal(
      .missingTopic, "apns-topic is missing, and the client certificate has \(certificate.topics.count) topics")
  }

  private static func type(of request: APNsRequest, topic: String) throws(APNsRefusal) -> PushType {
    guard let text = request["apns-push-type"] else { return PushTopic.type(of: topic) }
    guard let type = PushType(rawValue: text) else {
      throw APNsRefusal(
        .invalidPushType,
        "apns-push-type '\(text.excerpt)' is not one of \(PushType.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return type
  }

  private func checkRight(
    to topic: PushTopic, type: PushType, topics: Set<String>?, session: ProviderSession
  ) throws(APNsRefusal) {
    if case .certificate(let certificate) = session.identity {
      guard type.isForCertificates else {
        throw APNsRefusal(
          .topicDisallowed,
          "push type \(type.rawValue) requires a provider token; this connection has a client certificate")
      }
      guard certificate.topics.contains(topic.text) else {
        throw APNsRefusal(
          .topicDisallowed,
          "the client certificate is valid for \(certificate.topics.sorted().joined(separator: ", ")), not for "
            + topic.text)
      }
    } else if !ProviderKey.allows(topic, topics) {
      throw APNsRefusal(
        .topicDisallowed,
        "the key of the provider token is for \((topics ?? []).sorted().joined(separator: ", ")), not \(topic.text)")
    }
  }

  private func registered(_ device: DeviceToken?, _ text: String) throws(APNsRefusal) -> DeviceToken {
    guard let device else {
      guard text.isHexadecimal, text.utf8.count.isMultiple(of: 2) else {
        throw APNsRefusal(.badDeviceToken, "'\(text.excerpt)' is not a device token: expected hexadecimal bytes")
      }
      throw APNsRefusal(
        .badDeviceToken, "this token was never issued to a device, or ended longer ago than endedTokenAge")
    }
    guard device.environment == environment else {
      throw APNsRefusal(
        .badDeviceToken,
        "the token belongs to the \(device.environment.rawValue) environment (the app's entitlement aps-environment); "
          + "this port is \(environment.rawValue)")
    }
    switch device.state {
    case .active: return device
    case .unregistered:
      throw APNsRefusal(
        .unregistered,
        "the token is inactive: it was replaced, or the app, its widgets or its control were removed from the device",
        timestamp: device.since)
    case .expired: throw APNsRefusal(.expiredToken, "the token has expired", timestamp: device.since)
    }
  }
}

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
  private func broadcastRefusal(of request: APNsRequest, bundle: String) -> BroadcastRefusal {
    let channel = request["apns-channel-id"] ?? ""
    let topic = PushType.allCases.first { !$0.topicSuffix.isEmpty && bundle.hasSuffix($0.topicSuffix) }
    if let topic {
      return refusal(
        "TopicDisallowed",
        explanation: "the bundle identifier in the path must not have the suffix \(topic.topicSuffix)")
    }
    guard PushTopic.isIdentifier(bundle) else {
      return refusal("BadPath", explanation: "the path has no bundle identifier", status: 404)
    }
    guard let type = request["apns-push-type"], !type.isEmpty else {
      return refusal("MissingPushType", explanation: "apns-push-type is missing; a broadcast must have liveactivity")
    }
    guard type.lowercased() == PushType.liveactivity.rawValue else {
      let isWidget = type == PushType.widgets.rawValue
      return refusal(
        "InvalidPushType",
        explanation: "apns-push-type is '\(type.excerpt)'; a broadcast must have liveactivity"
          + (isWidget ? ": widgets are updated by pushes to their device token, /3/device/<token>" : ""))
    }
    if channel.isEmpty { return refusal("MissingChannelId", explanation: "apns-channel-id is missing") }
    guard Data(base64Encoded: channel) != nil else {
      return refusal("BadChannelId", explanation: "apns-channel-id '\(channel.excerpt)' is not base64")
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
      return refusal(error.reason.rawValue, explanation: error.explanation)
    }
    return payloadRefusal(of: request)
      ?? refusal(
        "ChannelNotRegistered", explanation: "channel '\(channel.excerpt)' does not exist: channels are not simulated")
  }

  private func payloadRefusal(of request: APNsRequest) -> BroadcastRefusal? {
    if request.body.isEmpty { return refusal("PayloadEmpty", explanation: "the request has no body") }
    if request.isTruncated || request.body.count > settings.broadcastPayloadLimit {
      return refusal(
        "PayloadTooLarge", explanation: "the payload has more than \(settings.broadcastPayloadLimit) bytes", status: 413
      )
    }
    return PayloadScan(request.body).flaw.map {
      refusal("BadRequestPayload", explanation: "the payload is not JSON (\($0))")
    }
  }

  private func refusal(_ reason: String, explanation: String, status: Int = 400) -> BroadcastRefusal {
    BroadcastRefusal(status: status, reason: reason, explanation: explanation)
  }
}
