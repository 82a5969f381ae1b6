// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import APNs

/// The checks after the authentication. Each rule is tested on both sides of its limit: the refused value and the
/// accepted one.
@Suite struct `The checks of a push request` {
  private static let suffix = ".push-type.widgets"
  private typealias Priority = (text: String?, reason: APNsReason?)

  /// A change of the valid request, and the expected reason; `nil` when it is accepted.
  private static let headers: [(name: String, value: String?, reason: APNsReason?)] = [
    ("apns-id", nil, nil),
    ("apns-id", "eabeae54-14a8-11e5-b60b-1697f925ec7b", nil),
    ("apns-id", "EABEAE54-14A8-11E5-B60B-1697F925EC7B", nil),
    ("apns-id", "", .badMessageID),
    ("apns-id", "eabeae5414a811e5b60b1697f925ec7b", .badMessageID),
    ("apns-id", "eabeae54-14a8-11e5-b60b-1697f925ec7", .badMessageID),
    ("apns-id", "gabeae54-14a8-11e5-b60b-1697f925ec7b", .badMessageID),
    ("apns-topic", nil, .missingTopic),
    ("apns-topic", "", .missingTopic),
    ("apns-topic", ProviderKeyFixture.bundle, .badTopic),
    ("apns-topic", suffix, .badTopic),
    ("apns-topic", "com.example.Caffeine Tracker.push-type.widgets", .badTopic),
    ("apns-topic", "com.example.Other.push-type.widgets", .deviceTokenNotForTopic),
    ("apns-push-type", nil, nil),
    ("apns-push-type", "", .invalidPushType),
    ("apns-push-type", "Widgets", .invalidPushType),
    ("apns-push-type", "widget", .invalidPushType),
    ("apns-push-type", "alert", .badTopic),
    ("apns-priority", nil, nil),
    ("apns-priority", "10", nil),
    ("apns-priority", "5", nil),
    ("apns-priority", "1", nil),
    ("apns-priority", "0", .badPriority),
    ("apns-priority", "05", .badPriority),
    ("apns-priority", "", .badPriority),
    ("apns-expiration", nil, nil),
    ("apns-expiration", "0", nil),
    ("apns-expiration", "1800003600", nil),
    ("apns-expiration", "-1", .badExpirationDate),
    ("apns-expiration", "1.5", .badExpirationDate),
    ("apns-expiration", "", .badExpirationDate),
    ("apns-expiration", "99999999999999999999", .badExpirationDate),
    ("apns-expiration", "tomorrow", .badExpirationDate),
    ("apns-collapse-id", String(repeating: "a", count: 64), nil),
    ("apns-collapse-id", String(repeating: "a", count: 65), .badCollapseID),
    ("apns-collapse-id", String(repeating: "é", count: 32), nil),
    ("apns-collapse-id", String(repeating: "é", count: 33), .badCollapseID),
    ("content-type", "application/x-www-form-urlencoded", nil),
    ("host", "api.sandbox.push.apple.com", nil),
  ]

  @Test(.rule("APNS-01"), arguments: headers.indices)
  func `each header value is accepted or refused with its reason`(index: Int) {
    let (name, value, reason) = Self.headers[index]
    var lab = ProviderKeyFixture()
    let verdict = lab.check(lab.request([name: value]))
    #expect(verdict.reason == reason?.rawValue, "\(name): \(value ?? "-") \(verdict.explanation ?? "")")
    #expect(verdict.status == reason?.status ?? 200)
    if reason != nil { #expect(verdict.explanation?.isEmpty == false) }
  }

  private static let lines: [(method: String, path: String, reason: APNsReason?)] = [
    ("POST", "/3/device/" + ProviderKeyFixture.widgets, nil),
    ("POST", "/3/device/" + ProviderKeyFixture.widgets.uppercased(), nil),
    ("GET", "/3/device/" + ProviderKeyFixture.widgets, .methodNotAllowed),
    ("post", "/3/device/" + ProviderKeyFixture.widgets, .methodNotAllowed),
    ("POST", "/3/device/", .missingDeviceToken),
    ("POST", "/3/device", .missingDeviceToken),
    ("POST", "/3/devices/" + ProviderKeyFixture.widgets, .badPath),
    ("POST", "/2/device/" + ProviderKeyFixture.widgets, .badPath),
    ("POST", "/3/device/" + ProviderKeyFixture.widgets + "/", .badPath),
    ("POST", "/", .badPath),
    ("POST", "", .badPath),
    ("POST", "3/device/" + ProviderKeyFixture.widgets, .badPath),
    ("POST", "/3/device/" + ProviderKeyFixture.widgets + "?a=b", .badDeviceToken),
    ("POST", "/3/device/" + ProviderKeyFixture.widgets.dropLast(), .badDeviceToken),
    ("POST", "/3/device/" + ProviderKeyFixture.widgets.dropLast(2), .badDeviceToken),
    ("POST", "/3/device/%61" + ProviderKeyFixture.widgets.dropFirst(), .badDeviceToken),
    ("POST", "/3/device/" + ProviderKeyFixture.old, .unregistered),
    ("POST", "/3/device/" + ProviderKeyFixture.expired, .expiredToken),
    ("POST", "/3/device/" + ProviderKeyFixture.production, .badDeviceToken),
    ("POST", "/3/device/" + ProviderKeyFixture.app, .deviceTokenNotForTopic),
  ]

  @Test(arguments: lines.indices)
  func `each method and path is accepted or refused with its reason`(index: Int) {
    let (method, path, reason) = Self.lines[index]
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request(method: method, path: path)) == reason, "\(method) \(path)")
  }

  @Test(.rule("APNS-08", "APNS-50")) func `only a response with status 410 has a timestamp`() {
    var lab = ProviderKeyFixture()
    for token in [ProviderKeyFixture.old, ProviderKeyFixture.expired] {
      let verdict = lab.check(lab.request(path: "/3/device/" + token))
      #expect(verdict.status == 410 && verdict.answer.timestamp == ProviderKeyFixture.now.addingTimeInterval(-60))
    }
    #expect(lab.check(lab.request(path: "/3/device/00")).answer.timestamp == nil)
    #expect(lab.check(lab.request()).answer.timestamp == nil)
  }

  /// One character can have any number of combining marks.
  @Test func `what a verdict keeps of a request is bounded in bytes`() {
    var lab = ProviderKeyFixture()
    let long = "a" + String(repeating: "\u{301}", count: 1_500)
    for request in [
      lab.request(["apns-topic": long]), lab.request(["apns-id": long]), lab.request(["apns-push-type": long]),
      lab.request(["apns-priority": long]), lab.request(["authorization": long]), lab.request(method: long),
      lab.request(path: "/x" + long), lab.request(path: "/3/device/" + long),
    ] {
      let verdict = lab.check(request)
      #expect((1...400).contains(verdict.explanation?.utf8.count ?? 0), "\(verdict.reason ?? "-")")
      #expect(verdict.token.utf8.count <= 256 && verdict.type?.utf8.count ?? 0 <= 83)
    }
  }

  @Test(.rule("APNS-06")) func `a device token is valid only in its own environment`() {
    var lab = ProviderKeyFixture()
    lab.environment = .production
    let token = "bearer " + lab.jwt("PROD000001")
    #expect(lab.reason(lab.request(["authorization": token])) == .badDeviceToken)
    #expect(
      lab.reason(lab.request(["authorization": token], path: "/3/device/" + ProviderKeyFixture.production)) == nil)
  }

  @Test(.rule("APNS-07")) func `a widget token refuses app pushes, and an app token refuses widget pushes`() {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.alert()) == nil)
    let alertToWidgets = lab.request(["apns-push-type": "alert", "apns-topic": ProviderKeyFixture.bundle])
    #expect(lab.reason(alertToWidgets) == .deviceTokenNotForTopic)
    let widgetsToApp = lab.request(path: "/3/device/" + ProviderKeyFixture.app)
    #expect(lab.reason(widgetsToApp) == .deviceTokenNotForTopic)
  }

  @Test(
    .rule("APNS-05"),
    arguments: [("5", nil), ("10", .badPriority), ("1", .badPriority), (nil, .badPriority)] as [Priority])
  func `a background push must have priority 5`(priority: String?, reason: APNsReason?) {
    var lab = ProviderKeyFixture()
    let body = #"{"aps":{"content-available":1}}"#
    #expect(lab.reason(lab.alert(["apns-push-type": "background", "apns-priority": priority], body: body)) == reason)
  }

  @Test func `a request with a repeated header is refused with DuplicateHeaders`() {
    var lab = ProviderKeyFixture()
    for name in ["apns-topic", "authorization", "x-mine", "apns-id"] {
      let plain = lab.request(["x-mine": "1", "apns-id": UUID().uuidString])
      let twice = APNsRequest(
        method: "POST", path: plain.path, headers: plain.headers + plain.headers.filter { $0.name == name },
        body: plain.body)
      #expect(lab.reason(plain) == nil)
      #expect(lab.reason(twice) == .duplicateHeaders, "\(name)")
    }
  }

  @Test(
    .rule("APNS-03", "APNS-44"),
    arguments: [
      (PushType.alert, 4096, nil), (.alert, 4097, APNsReason.payloadTooLarge), (.alert, 0, .payloadEmpty),
      (.voip, 5121, .deviceTokenNotForTopic),
    ])
  func `an alert payload that is empty or above 4096 bytes is refused`(type: PushType, count: Int, reason: APNsReason?)
  {
    var lab = ProviderKeyFixture()
    let frame = #"{"aps":{"alert":""}}"#
    let body = frame.replacing(
      #""""#, with: "\"" + String(repeating: "a", count: max(0, count - frame.utf8.count)) + "\"")
    let topic = ProviderKeyFixture.bundle + type.topicSuffix
    let request = lab.alert(["apns-push-type": type.rawValue, "apns-topic": topic], body: count == 0 ? "" : body)
    #expect(request.body.count == count)
    #expect(lab.reason(request) == reason)
  }

  @Test(.rule("APNS-03", "APNS-44"), arguments: [(5120, nil), (5121, APNsReason.payloadTooLarge)])
  func `a VoIP payload may have 5120 bytes`(count: Int, reason: APNsReason?) {
    let request = APNsRequest(method: "POST", path: "", headers: [], body: Array(repeating: 32, count: count))
    let contract = APNsContract(environment: .development)
    var found: APNsReason?
    do throws(APNsRefusal) { _ = try contract.checkPayload(of: request, .voip) } catch { found = error.reason }
    #expect(found == reason)
  }

  @Test func `a body that the HTTP/2 server truncated is refused with PayloadTooLarge`() {
    var lab = ProviderKeyFixture()
    let plain = lab.request()
    let cut = APNsRequest(
      method: "POST", path: plain.path, headers: plain.headers, body: plain.body, isTruncated: true)
    #expect(lab.reason(cut) == .payloadTooLarge)
  }

  @Test(.rule("APNS-19", "APNS-44")) func `consecutive requests to one token are limited only when the setting is on`()
  {
    var lab = ProviderKeyFixture()
    let one = lab.request()
    let other = lab.alert()
    for _ in 0..<1000 where lab.reason(one) != nil { Issue.record("a request was refused with the limit off") }
    lab.settings.consecutiveRequests = 3
    lab.settings.consecutiveWindow = 10
    lab.session = ProviderSession()
    #expect((0..<4).map { _ in lab.reason(one) } == [nil, nil, nil, .tooManyRequests])
    #expect([lab.reason(other), lab.reason(one)] == [nil, nil])
    #expect((0..<3).map { _ in lab.reason(one) } == [nil, nil, .tooManyRequests])
    lab.now += 10
    #expect(lab.reason(one) == nil)
  }

  @Test(.rule("APNS-09")) func `a response repeats the apns-id of the request or has a new one in lower case`() {
    var lab = ProviderKeyFixture()
    let sent = "EABEAE54-14a8-11E5-B60B-1697F925EC7B"
    #expect(lab.check(lab.request(["apns-id": sent])).answer.apnsID == sent)
    #expect(lab.check(lab.request(["apns-id": sent], method: "GET")).answer.apnsID == sent)
    for id in [nil, "nonsense"] {
      let made = lab.check(lab.request(["apns-id": id])).answer.apnsID
      #expect(UUID(uuidString: made)?.uuidString.lowercased() == made)
    }
  }

  @Test func `a request whose token cannot be looked up is answered InternalServerError`() {
    var lab = ProviderKeyFixture()
    let verdict = APNsContract(environment: .development).check(
      lab.request(), in: &lab.session, now: lab.now, key: { _ in nil }, token: { _ in throw CancellationError() })
    #expect(verdict.status == 500 && verdict.reason == "InternalServerError" && verdict.device == nil)
  }

  @Test(.rule("APNS-11")) func `unique ids are distinct UUIDs of version 7 that sort by time`() {
    var lab = ProviderKeyFixture()
    let request = lab.request()
    var ids: [UUID] = []
    for _ in 0..<100 {
      lab.now += 0.002
      ids.append(lab.check(request).uniqueID)
    }
    let texts = ids.map(\.uuidString)
    #expect(texts.sorted() == texts && Set(texts).count == 100)
    #expect(ids.map(\.upperCaseText) == texts && ids.map(\.text) == texts.map { $0.lowercased() })
    #expect(Set(texts.map { Array($0)[14] }) == ["7"], "RFC 9562")
    #expect(Set(texts.map { Array($0)[19] }).isSubset(of: ["8", "9", "A", "B"]))
    let made = (0..<100).map { _ in lab.check(request).apnsID }
    #expect(Set(made).count == 100 && Set(made.map { Array($0)[14] }) == ["4"])
  }

  @Test(.rule("APNS-10")) func `the apns-unique-id is sent only in the development environment`() {
    var lab = ProviderKeyFixture()
    let verdict = lab.check(lab.request())
    #expect(verdict.answer.uniqueID == verdict.uniqueID)
    lab.environment = .production
    #expect(lab.check(lab.request()).answer.uniqueID == nil)
  }

  @Test func `an accepted push has the values of its headers and their defaults`() {
    var lab = ProviderKeyFixture()
    let body = #"{"aps":{"content-changed":true},"mine":"é"}"#
    let headers: KeyValuePairs<String, String?> = [
      "apns-priority": "5", "apns-expiration": "1800000100", "apns-collapse-id": "c",
    ]
    guard case .accepted(let push) = lab.check(lab.request(headers, body: body)).outcome else {
      Issue.record("the push was refused")
      return
    }
    #expect(push.token == lab.tokens[ProviderKeyFixture.widgets])
    #expect(push.type == .widgets && push.topic == ProviderKeyFixture.bundle + Self.suffix && push.priority == 5)
    #expect(push.expiration == ProviderKeyFixture.now.addingTimeInterval(100))
    #expect(push.collapseID == "c" && push.payload == body && push.remark == nil)
    guard case .accepted(let plain) = lab.check(lab.request(["apns-expiration": "0"])).outcome else {
      Issue.record("the push was refused")
      return
    }
    #expect(plain.priority == 10 && plain.expiration == Date(timeIntervalSince1970: 0) && plain.collapseID == nil)
  }

  @Test func `a push of the operator is checked like any other but needs no provider token`() {
    var lab = ProviderKeyFixture()
    lab.session = .console
    #expect(lab.reason(lab.request(["authorization": nil])) == nil)
    #expect(lab.reason(lab.request(["authorization": nil, "apns-priority": "7"])) == .badPriority)
    #expect(
      lab.reason(lab.request(["authorization": nil], path: "/3/device/" + ProviderKeyFixture.old)) == .unregistered)
  }
}
