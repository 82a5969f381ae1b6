// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import APNs

/// What was checked for a push is not checked again for the same push to another device token.
@Suite struct `The content of a push` {
  @Test func `a push that is repeated has the same verdict, and the ids and the device token are its own`() throws {
    var lab = ProviderKeyFixture()
    let first = lab.check(lab.request(["apns-priority": "5", "apns-expiration": "0"]))
    let content = try #require(lab.session.content)
    let second = lab.check(
      lab.request(
        ["apns-priority": "5", "apns-expiration": "0"], path: "/3/device/" + ProviderKeyFixture.widgets.uppercased()))
    #expect(lab.session.content === content)
    #expect(second.outcome == first.outcome && second.status == 200)
    #expect(second.uniqueID != first.uniqueID && second.apnsID != first.apnsID)
    #expect(
      lab.reason(lab.request(["apns-priority": "5", "apns-expiration": "0"], path: "/3/device/00")) == .badDeviceToken)
  }

  @Test func `the id and the authorization of a push that is repeated are checked`() {
    var lab = ProviderKeyFixture()
    let id = UUID().text
    #expect(lab.reason(lab.request(["apns-id": id])) == nil)
    let verdict = lab.check(lab.request(["apns-id": UUID().text]))
    #expect(verdict.status == 200 && verdict.apnsID != id)
    #expect(lab.reason(lab.request(["apns-id": "no UUID"])) == .badMessageID)
    #expect(lab.reason(lab.request(["apns-id": id])) == nil)
    #expect(lab.reason(lab.request(["authorization": "bearer no-token", "apns-id": id])) == .invalidProviderToken)
  }

  @Test func `a push that differs is checked`() {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request()) == nil)
    for (name, value, reason) in [
      ("apns-priority", "7", .badPriority), ("apns-expiration", "x", .badExpirationDate),
      ("apns-topic", "com.example.Other.push-type.widgets", .deviceTokenNotForTopic),
      ("apns-push-type", "alert", .badTopic), ("apns-collapse-id", String(repeating: "a", count: 65), .badCollapseID),
    ] as [(String, String, APNsReason)] {
      #expect(lab.reason(lab.request([name: value])) == reason)
      #expect(lab.reason(lab.request()) == nil)
    }
    #expect(lab.reason(lab.request(body: "")) == .payloadEmpty)
    #expect(lab.reason(lab.request(method: "GET")) == .methodNotAllowed)
    #expect(
      lab.check(lab.request(body: #"{"aps":{"content-changed":trve}}"#)).explanation?.contains("not JSON") == true)
    #expect(lab.check(lab.request()).explanation == nil)
  }

  @Test func `a header that is repeated is refused, also after the same push without it`() {
    var lab = ProviderKeyFixture()
    let valid = lab.request(["apns-priority": "5"])
    #expect(lab.reason(valid) == nil)
    let headers = valid.headers.dropLast() + [valid.headers[0]]
    let twice = APNsRequest(method: valid.method, path: valid.path, headers: Array(headers), body: valid.body)
    #expect(lab.reason(twice) == .duplicateHeaders)
  }

  @Test func `a body that was cut to the payload of the push before is refused`() {
    var lab = ProviderKeyFixture()
    let valid = lab.request()
    #expect(lab.reason(valid) == nil)
    let cut = APNsRequest(
      method: valid.method, path: valid.path, headers: valid.headers, body: valid.body, isTruncated: true)
    #expect(lab.reason(cut) == .payloadTooLarge)
  }

  @Test func `texts that differ only in their form of Unicode are different`() {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request(["apns-collapse-id": String(repeating: "\u{e9}", count: 32)])) == nil)
    #expect(lab.reason(lab.request(["apns-collapse-id": String(repeating: "e\u{301}", count: 32)])) == .badCollapseID)
  }

  @Test func `the token of another use is refused for the same push`() {
    var lab = ProviderKeyFixture()
    #expect(lab.reason(lab.request()) == nil)
    #expect(lab.reason(lab.request(path: "/3/device/" + ProviderKeyFixture.control)) == .deviceTokenNotForTopic)
    #expect(lab.reason(lab.request(path: "/3/device/" + ProviderKeyFixture.old)) == .unregistered)
  }
}
