// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import APNs

@Suite struct `Reasons for refusals` {
  @Test func `each status has the expected number of reasons`() {
    let counts = Dictionary(grouping: APNsReason.allCases, by: \.status).mapValues(\.count)
    #expect(counts == [400: 14, 403: 8, 404: 1, 405: 1, 410: 2, 413: 1, 429: 2, 500: 1, 503: 2])
  }

  @Test func `each reason is documented in apns.md and covered by a live test`() throws {
    let root = Repository.root
    let page = try String(contentsOf: root.appending(path: "Documentation/apns.md"), encoding: .utf8)
    let live = try String(
      contentsOf: root.appending(path: "Tests/LiveTests/Push/ReasonLiveTests.swift"), encoding: .utf8)
    var rows: [String: [String]] = [:]
    for line in page.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      if cells.count == 5, Int(cells[0]) != nil { rows[cells[1].replacing("`", with: "")] = cells }
    }
    #expect(Set(rows.keys) == Set(APNsReason.allCases.map(\.rawValue)))
    for reason in APNsReason.allCases {
      let cells = try #require(rows[reason.rawValue])
      #expect(Int(cells[0]) == reason.status)
      #expect(cells[2].count > 10 && cells[3].count > 5, "\(reason)")
      let test = try #require(cells[4].split(separator: "`").first.map(String.init), "\(reason)")
      #expect(live.contains("func `\(test)`"), "there is no live test '\(test)'")
      #expect(live.contains("\"\(reason.rawValue)\""), "\(reason.rawValue) is in no live test")
    }
  }

  /// Requests with random combinations of valid, invalid and unusual values.
  @Test func `every request that is not accepted has a reason`() {
    var generator = Seeded(seed: 3)
    let values: [String: [String]] = [
      "apns-id": ["", "x", "eabeae54-14a8-11e5-b60b-1697f925ec7b"], "apns-priority": ["10", "5", "1", "9", ""],
      "apns-topic": [
        ProviderKeyFixture.bundle, ProviderKeyFixture.bundle + ".push-type.widgets", "", ".", "é", ".voip",
      ],
      "apns-push-type": PushType.allCases.map(\.rawValue) + ["", "x"],
      "apns-expiration": ["0", "-1", "1e9", "1900000000"],
      "apns-collapse-id": ["a", String(repeating: "x", count: 65)], "\u{0}": ["\u{0}"],
    ]
    let paths =
      [
        ProviderKeyFixture.widgets, ProviderKeyFixture.app, ProviderKeyFixture.old, ProviderKeyFixture.expired,
        ProviderKeyFixture.production, "", "zz", "0", "é/",
      ].map { "/3/device/" + $0 }
      + ["/4/broadcasts/apps/a", "/4/broadcasts/apps/", "/3/device", "//", "/"]
    let bodies = ["", "{", #"{"aps":{"content-changed":true}}"#, String(repeating: "[", count: 5000)]
    var lab = ProviderKeyFixture()
    lab.settings.consecutiveRequests = 2
    let good = "bearer " + lab.jwt()
    var seen: Set<String> = []
    for _ in 0..<20_000 {
      if Int.random(in: 0..<20, using: &generator) == 0 { lab.session = ProviderSession() }
      var headers = [APNsRequest.Header(name: "authorization", value: good)]
      for (name, choices) in values.sorted(by: { $0.key < $1.key }) where Bool.random(using: &generator) {
        headers.append(APNsRequest.Header(name: name, value: choices.randomElement(using: &generator) ?? ""))
      }
      if Int.random(in: 0..<30, using: &generator) == 0 { headers.append(headers[0]) }
      if Int.random(in: 0..<30, using: &generator) == 0 { headers.removeFirst() }
      let request = APNsRequest(
        method: Int.random(in: 0..<30, using: &generator) == 0 ? "PUT" : "POST",
        path: paths.randomElement(using: &generator) ?? "", headers: headers,
        body: Array((bodies.randomElement(using: &generator) ?? "").utf8))
      let verdict = lab.check(request)
      seen.insert(verdict.reason ?? "")
      let isSound =
        UUID(uuidString: verdict.apnsID) != nil
        && (verdict.reason == nil) == (verdict.status == 200)
        && (verdict.status == 410) == (verdict.answer.timestamp != nil)
      if !isSound { Issue.record("\(request): \(verdict)") }
    }
    #expect(seen.count > 18, "\(seen.sorted())")
  }
}
