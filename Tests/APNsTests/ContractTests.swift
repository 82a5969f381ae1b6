import Conversations
import Foundation
import Testing

@testable import APNs

/// What of a request is asked after who sent it. Both sides of each rule: what is refused, and its neighbour that is
/// not.
@Suite struct `the contract of a push` {
  private static let suffix = ".push-type.widgets"
  private typealias Priority = (text: String?, reason: APNsReason?)

  /// A change of the right request, and the reason; `nil` when it is accepted.
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
    ("apns-topic", Lab.bundle, .badTopic),
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

  @Test(arguments: headers.indices)
  func `has a rule for each header`(index: Int) {
    let (name, value, reason) = Self.headers[index]
    var lab = Lab()
    let verdict = lab.check(lab.request([name: value]))
    #expect(verdict.reason == reason?.rawValue, "\(name): \(value ?? "-") \(verdict.explanation ?? "")")
    #expect(verdict.status == reason?.status ?? 200)
    if reason != nil { #expect(verdict.explanation?.isEmpty == false) }
  }

  private static let lines: [(method: String, path: String, reason: APNsReason?)] = [
    ("POST", "/3/device/" + Lab.widgets, nil),
    ("POST", "/3/device/" + Lab.widgets.uppercased(), nil),
    ("GET", "/3/device/" + Lab.widgets, .methodNotAllowed),
    ("post", "/3/device/" + Lab.widgets, .methodNotAllowed),
    ("POST", "/3/device/", .missingDeviceToken),
    ("POST", "/3/device", .missingDeviceToken),
    ("POST", "/3/devices/" + Lab.widgets, .badPath),
    ("POST", "/2/device/" + Lab.widgets, .badPath),
    ("POST", "/3/device/" + Lab.widgets + "/", .badPath),
    ("POST", "/", .badPath),
    ("POST", "", .badPath),
    ("POST", "3/device/" + Lab.widgets, .badPath),
    ("POST", "/3/device/" + Lab.widgets + "?a=b", .badDeviceToken),
    ("POST", "/3/device/" + Lab.widgets.dropLast(), .badDeviceToken),
    ("POST", "/3/device/" + Lab.widgets.dropLast(2), .badDeviceToken),
    ("POST", "/3/device/%61" + Lab.widgets.dropFirst(), .badDeviceToken),
    ("POST", "/3/device/" + Lab.old, .unregistered),
    ("POST", "/3/device/" + Lab.expired, .expiredToken),
    ("POST", "/3/device/" + Lab.production, .badDeviceToken),
    ("POST", "/3/device/" + Lab.app, .deviceTokenNotForTopic),
  ]

  @Test(arguments: lines.indices)
  func `has a rule for the method and the path`(index: Int) {
    let (method, path, reason) = Self.lines[index]
    var lab = Lab()
    #expect(lab.reason(lab.request(method: method, path: path)) == reason, "\(method) \(path)")
  }

  @Test func `says of a 410 since when, and of nothing else`() {
    var lab = Lab()
    for token in [Lab.old, Lab.expired] {
      #expect(lab.check(lab.request(path: "/3/device/" + token)).answer.timestamp == Lab.now.addingTimeInterval(-60))
    }
    #expect(lab.check(lab.request(path: "/3/device/00")).answer.timestamp == nil)
    #expect(lab.check(lab.request()).answer.timestamp == nil)
  }

  @Test func `knows a token in its environment alone`() {
    var lab = Lab()
    lab.environment = .production
    let token = "bearer " + lab.jwt("PROD000001")
    #expect(lab.reason(lab.request(["authorization": token])) == .badDeviceToken)
    #expect(lab.reason(lab.request(["authorization": token], path: "/3/device/" + Lab.production)) == nil)
  }

  @Test func `is not for the other use of a token`() {
    var lab = Lab()
    #expect(lab.reason(lab.alert()) == nil)
    let alertToWidgets = lab.request(["apns-push-type": "alert", "apns-topic": Lab.bundle])
    #expect(lab.reason(alertToWidgets) == .deviceTokenNotForTopic)
    let widgetsToApp = lab.request(path: "/3/device/" + Lab.app)
    #expect(lab.reason(widgetsToApp) == .deviceTokenNotForTopic)
  }

  @Test(arguments: [("5", nil), ("10", .badPriority), ("1", .badPriority), (nil, .badPriority)] as [Priority])
  func `asks for priority 5 of a background push`(priority: String?, reason: APNsReason?) {
    var lab = Lab()
    let body = #"{"aps":{"content-available":1}}"#
    #expect(lab.reason(lab.alert(["apns-push-type": "background", "apns-priority": priority], body: body)) == reason)
  }

  @Test func `takes no header twice`() {
    var lab = Lab()
    for name in ["apns-topic", "authorization", "x-mine", "apns-id"] {
      let plain = lab.request(["x-mine": "1", "apns-id": UUID().uuidString])
      let twice = APNsRequest(
        method: "POST", path: plain.path, headers: plain.headers + plain.headers.filter { $0.name == name },
        body: plain.body)
      #expect(lab.reason(plain) == nil)
      #expect(lab.reason(twice) == .duplicateHeaders, "\(name)")
    }
  }

  @Test(arguments: [
    (PushType.alert, 4096, nil), (.alert, 4097, APNsReason.payloadTooLarge), (.alert, 0, .payloadEmpty),
    (.voip, 5121, .deviceTokenNotForTopic),
  ])
  func `has a limit of bytes`(type: PushType, count: Int, reason: APNsReason?) {
    var lab = Lab()
    let frame = #"{"aps":{"alert":""}}"#
    let body = frame.replacing(
      #""""#, with: "\"" + String(repeating: "a", count: max(0, count - frame.utf8.count)) + "\"")
    let topic = Lab.bundle + type.topicSuffix
    let request = lab.alert(["apns-push-type": type.rawValue, "apns-topic": topic], body: count == 0 ? "" : body)
    #expect(request.body.count == count)
    #expect(lab.reason(request) == reason)
  }

  @Test(arguments: [(5120, nil), (5121, APNsReason.payloadTooLarge)])
  func `has a higher limit for voip`(count: Int, reason: APNsReason?) {
    let request = APNsRequest(method: "POST", path: "", headers: [], body: Array(repeating: 32, count: count))
    let contract = APNsContract(environment: .development)
    var found: APNsReason?
    do throws(APNsRefusal) { _ = try contract.checkPayload(of: request, .voip) } catch { found = error.reason }
    #expect(found == reason)
  }

  @Test func `calls a body that the front cut off too large`() {
    var lab = Lab()
    let plain = lab.request()
    let cut = APNsRequest(
      method: "POST", path: plain.path, headers: plain.headers, body: plain.body, isTruncated: true)
    #expect(lab.reason(cut) == .payloadTooLarge)
  }

  @Test func `counts requests in a row to one token, when it is told to`() {
    var lab = Lab()
    let one = lab.request()
    let other = lab.alert()
    for _ in 0..<1000 where lab.reason(one) != nil { Issue.record("nothing is counted by default") }
    lab.settings.consecutiveRequests = 3
    lab.settings.consecutiveWindow = 10
    lab.session = ProviderSession()
    #expect((0..<4).map { _ in lab.reason(one) } == [nil, nil, nil, .tooManyRequests])
    #expect([lab.reason(other), lab.reason(one)] == [nil, nil])
    #expect((0..<3).map { _ in lab.reason(one) } == [nil, nil, .tooManyRequests])
    lab.now += 10
    #expect(lab.reason(one) == nil)
  }

  @Test func `gives back the id that was sent, and makes one in lower case`() {
    var lab = Lab()
    let sent = "EABEAE54-14a8-11E5-B60B-1697F925EC7B"
    #expect(lab.check(lab.request(["apns-id": sent])).answer.apnsID == sent)
    #expect(lab.check(lab.request(["apns-id": sent], method: "GET")).answer.apnsID == sent)
    for id in [nil, "nonsense"] {
      let made = lab.check(lab.request(["apns-id": id])).answer.apnsID
      #expect(UUID(uuidString: made)?.uuidString.lowercased() == made)
    }
  }

  @Test func `names notifications in the order of their time, and no two alike`() {
    var lab = Lab()
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

  @Test func `tells its own id in development alone`() {
    var lab = Lab()
    let verdict = lab.check(lab.request())
    #expect(verdict.answer.uniqueID == verdict.uniqueID)
    lab.environment = .production
    #expect(lab.check(lab.request()).answer.uniqueID == nil)
  }

  @Test func `says what it accepted`() {
    var lab = Lab()
    let body = #"{"aps":{"content-changed":true},"mine":"é"}"#
    let headers: KeyValuePairs<String, String?> = [
      "apns-priority": "5", "apns-expiration": "1800000100", "apns-collapse-id": "c",
    ]
    guard case .accepted(let push) = lab.check(lab.request(headers, body: body)).outcome else {
      Issue.record("it was refused")
      return
    }
    #expect(push.token == lab.tokens[Lab.widgets])
    #expect(push.type == .widgets && push.topic == Lab.bundle + Self.suffix && push.priority == 5)
    #expect(push.expiration == Lab.now.addingTimeInterval(100))
    #expect(push.collapseID == "c" && push.payload == body && push.remark == nil)
    guard case .accepted(let plain) = lab.check(lab.request(["apns-expiration": "0"])).outcome else {
      Issue.record("it was refused")
      return
    }
    #expect(plain.priority == 10 && plain.expiration == Date(timeIntervalSince1970: 0) && plain.collapseID == nil)
  }

  @Test func `is asked of the operator too, but for the provider token`() {
    var lab = Lab()
    lab.session = .console
    #expect(lab.reason(lab.request(["authorization": nil])) == nil)
    #expect(lab.reason(lab.request(["authorization": nil, "apns-priority": "7"])) == .badPriority)
    #expect(lab.reason(lab.request(["authorization": nil], path: "/3/device/" + Lab.old)) == .unregistered)
  }
}
