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
    let sent = request[idHeader]
    let found = Result { try request.deviceToken.flatMap(token) }
    let device = try? found.get()
    let outcome: APNsVerdict.Outcome
    do throws(APNsRefusal) {
      if case .failure = found { throw APNsRefusal(.internalServerError, "cannot read the database") }
      try checkConnection(of: session, now: now)
      try Self.checkHeaders(of: request, idHeader: idHeader)
      try checkMethodAndPath(of: request, path)
      let topics = try session.authenticate(
        request["authorization"], environment: environment, settings: settings, now: now, key: key)
      if case .broadcast(let bundle) = path {
        outcome = .broadcastRefused(broadcastRefusal(of: request, bundle: bundle))
      } else {
        let push = try push(request, path.token ?? "", device, topics, session, now: now)
        try session.count(push.token.token, settings: settings, now: now)
        outcome = .accepted(push)
      }
    } catch {
      outcome = .refused(error)
    }
    return APNsVerdict(
      apnsID: sent.flatMap { Self.isUUID($0) ? $0 : nil } ?? session.random.uuid().text, idHeader: idHeader,
      uniqueID: session.random.uuid(at: now), environment: environment, token: path.token.map(Self.bounded) ?? "",
      type: request["apns-push-type"], device: device, outcome: outcome)
  }

  private static func bounded(_ token: String) -> String {
    token.utf8.count <= 256 ? token : String(token.prefix(256))
  }

  // MARK: Connection, method, path

  private func checkConnection(of session: ProviderSession, now: Date) throws(APNsRefusal) {
    guard case .certificate(let certificate) = session.identity else { return }
    try certificate.check(environment: environment, now: now)
  }

  private static func checkHeaders(of request: APNsRequest, idHeader: String) throws(APNsRefusal) {
    let headers = request.headers
    for index in headers.indices.dropFirst() {
      let name = headers[index].name
      guard headers[..<index].contains(where: { $0.isNamed(name) }) else { continue }
      throw APNsRefusal(.duplicateHeaders, "the header \(name.excerpt) is repeated")
    }
    guard let id = request[idHeader], !isUUID(id) else { return }
    throw APNsRefusal(
      .badMessageID, "\(idHeader) '\(id.excerpt)' is not a UUID (8-4-4-4-12 hexadecimal digits)")
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

  private func push(
    _ request: APNsRequest, _ text: String, _ device: DeviceToken?, _ topics: Set<String>?, _ session: ProviderSession,
    now: Date
  ) throws(APNsRefusal) -> AcceptedPush {
    let topicText = try topicText(of: request, session)
    let type = try Self.type(of: request, topic: topicText)
    let topic = try PushTopic(topicText, for: type)
    try checkRight(to: topic, type, topics, session)
    let token = try known(device, text)
    guard token.subject.use.topic(ofBundle: token.subject.bundle) == topic.text else {
      throw APNsRefusal(
        .deviceTokenNotForTopic,
        "the token belongs to \(token.subject.use.owner) \(token.subject.bundle): its "
          + "topic is \(token.subject.use.topic(ofBundle: token.subject.bundle)), not \(topic.text)")
    }
    let priority = try Self.priority(of: request, type)
    let expiration = try Self.expiration(of: request)
    let collapseID = try collapseID(of: request)
    let remark = try checkPayload(of: request, type)
    return AcceptedPush(
      token: token, type: type, topic: topic.text, priority: priority, expiration: expiration, collapseID: collapseID,
      payload: String(decoding: request.body, as: UTF8.self), remark: remark)
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

  private func known(_ device: DeviceToken?, _ text: String) throws(APNsRefusal) -> DeviceToken {
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

/// The resource of a request, from its path.
enum RequestPath: Hashable {
  /// The token as sent; may be empty.
  case device(String)
  /// The bundle identifier as sent.
  case broadcast(String)
  case other(String)

  private static let device = "/3/device/"

  init(_ path: String) {
    if path.utf8.starts(with: Self.device.utf8) {
      let token = String(Substring(path.utf8.dropFirst(Self.device.utf8.count)))
      self = token.hasByte({ $0 == UInt8(ascii: "/") }) ? .other(path) : .device(token)
      return
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    if path.hasPrefix("/3/device"), parts.count == 2 || parts.count == 3, parts[2] == "device" {
      self = .device(parts.count == 3 ? String(parts[3]) : "")
    } else if path.hasPrefix("/4/broadcasts/apps/"), parts.count == 4 {
      self = .broadcast(String(parts[4]))
    } else {
      self = .other(path)
    }
  }

  var isBroadcast: Bool { if case .broadcast = self { true } else { false } }
  var token: String? { if case .device(let token) = self { token } else { nil } }
}

extension String {
  /// True when all characters are hexadecimal digits.
  var isHexadecimal: Bool { !hasByte { !$0.isHexadecimalDigit } }

  /// The lower-case text. Returns `self` when it has no upper-case letter, the usual case.
  var inLowerCase: String { hasByte { 0x41...0x5a ~= $0 } ? lowercased() : self }

  /// Searches the bytes in place, without a copy.
  @inline(__always)
  func hasByte(_ isMeant: (UInt8) -> Bool) -> Bool {
    // Without a branch, the compiler checks many bytes at once.
    func search(_ bytes: some Sequence<UInt8>) -> Bool { bytes.reduce(0) { $0 | (isMeant($1) ? 1 : 0) } != 0 }
    return utf8.withContiguousStorageIfAvailable { search($0) } ?? search(utf8)
  }
}

extension UInt8 {
  var isHexadecimalDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
