// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
import ShownText

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
    let sent = request[idHeader]
    let found = Result { try request.deviceToken.flatMap(token) }
    let device = try? found.get()
    let known = session.content(of: request)
    let outcome: APNsVerdict.Outcome
    do throws(APNsRefusal) {
      if case .failure = found { throw APNsRefusal(.internalServerError, "cannot read the database") }
      try checkConnection(of: session, now: now)
      try Self.checkHeaders(of: request, idHeader: idHeader, known)
      try checkMethodAndPath(of: request, path)
      let topics = try session.authenticate(
        request["authorization"], environment: environment, settings: settings, now: now, key: key)
      if case .broadcast(let bundle) = path {
        outcome = .broadcastRefused(broadcastRefusal(of: request, bundle: bundle))
      } else {
        let push = try push(request, path.token ?? "", device, topics, known, in: &session)
        try session.count(push.token.token, settings: settings, now: now)
        outcome = .accepted(push)
      }
    } catch {
      outcome = .refused(error)
    }
    return APNsVerdict(
      apnsID: sent.flatMap { Self.isUUID($0) ? $0 : nil } ?? session.random.uuid().text, idHeader: idHeader,
      uniqueID: session.random.uuid(at: now), environment: environment, token: path.token?.start(bytes: 256) ?? "",
      type: request["apns-push-type"]?.excerpt, device: device, outcome: outcome)
  }

  // MARK: Connection, method, path

  private func checkConnection(of session: ProviderSession, now: Date) throws(APNsRefusal) {
    guard case .certificate(let certificate) = session.identity else { return }
    try certificate.check(environment: environment, now: now)
  }

  /// - Parameter known: the content of the request if that was checked before.
  private static func checkHeaders(
    of request: APNsRequest, idHeader: String, _ known: PushContent?
  ) throws(APNsRefusal) {
    if known == nil { try checkRepetitions(in: request.headers) }
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

  /// - Parameter known: the content of the request if that was checked before.
  private func push(
    _ request: APNsRequest, _ text: String, _ device: DeviceToken?, _ topics: Set<String>?, _ known: PushContent?,
    in session: inout ProviderSession
  ) throws(APNsRefusal) -> AcceptedPush {
    let (topic, type): (PushTopic, PushType) =
      if let known { (known.topic, known.type) } else { try topicAndType(of: request, session) }
    try checkRight(to: topic, type, topics, session)
    let token = try registered(device, text)
    guard token.subject.use.isTopic(topic.text, ofBundle: token.subject.bundle) else {
      throw APNsRefusal(
        .deviceTokenNotForTopic,
        "the token belongs to \(token.subject.use.owner) \(token.subject.bundle): its "
          + "topic is \(token.subject.use.topic(ofBundle: token.subject.bundle)), not \(topic.text)")
    }
    if let known { return AcceptedPush(token: token, known) }
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
    to topic: PushTopic, _ type: PushType, _ topics: Set<String>?, _ session: ProviderSession
  ) throws(APNsRefusal) {
    if case .certificate(let certificate) = session.identity {
      guard type.isForCertificates else {
        throw APNsRefusal(
          .forbidden,
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
