// SPDX-License-Identifier: Apache-2.0

import APNs
import Foundation
import Messages
import Testing

@testable import PushServer

/// Responses requested by an operator.
@Suite struct `Response overrides` {
  private func replacement(
    _ status: Int, _ reason: String? = nil, manner: OverrideResponses.Manner = .response, times: Int = 1,
    token: String? = nil, latency: Double = 0
  ) -> OverrideResponses {
    OverrideResponses(status: status, reason: reason, manner: manner, times: times, token: token, latency: latency)
  }

  @Test func `response overrides apply in order, each to its number of requests`() {
    var overrides = ResponseOverrides()
    overrides.handle(replacement(503, "ServiceUnavailable", times: 2))
    overrides.handle(replacement(500, "InternalServerError"))
    #expect((0..<4).map { _ in overrides.next(for: "00ff")?.status } == [503, 503, 500, nil])
  }

  @Test func `a response override for a token applies only to requests to that token`() {
    var overrides = ResponseOverrides()
    overrides.handle(replacement(410, "Unregistered", token: "00ff"))
    #expect(overrides.next(for: "11") == nil)
    #expect(overrides.next(for: "00ff")?.reason == "Unregistered")
    #expect(overrides.next(for: "00ff") == nil)
  }

  @Test func `a response override with 0 times removes the overrides of its token, or all overrides`() {
    var overrides = ResponseOverrides()
    overrides.handle(replacement(410, "Unregistered", token: "00ff"))
    overrides.handle(replacement(500, "InternalServerError"))
    overrides.handle(replacement(200, times: 0, token: "00ff"))
    #expect(overrides.next(for: "00ff")?.status == 500)
    overrides.handle(replacement(500, "InternalServerError", times: 9))
    overrides.handle(replacement(200, times: 0))
    #expect(overrides.next(for: "00ff") == nil)
  }

  @Test(
    arguments: [
      (302, nil, 1, 0), (200, "Unregistered", 1, 0), (503, "Shutdown", -1, 0), (503, "Shutdown", 1, -1),
      (503, "Shutdown", 1, 10_000), (600, nil, 1, 0),
    ] as [(Int, String?, Int, Double)])
  func `a response override with invalid values is refused`(status: Int, reason: String?, times: Int, latency: Double) {
    #expect(throws: BusError.self) {
      try ResponseOverrides.check(replacement(status, reason, times: times, latency: latency))
    }
  }

  @Test func `a response override replaces or delays the pending response`() {
    let due = APNsAnswer(status: 200, apnsID: "id", uniqueID: UUID())
    let now = Date(timeIntervalSince1970: 1_000)
    let gone = replacement(410, "Unregistered").replacing(due, now: now)
    #expect(gone.status == 410 && gone.timestamp == now && gone.apnsID == "id" && gone.uniqueID == due.uniqueID)
    #expect(replacement(503, "Shutdown", manner: .goesAway).replacing(due, now: now).manner == .goAway)
    let late = replacement(200, manner: .closesStream, latency: 2).delaying(due)
    #expect(late.status == 200 && late.latency == 2 && late.manner == .reset)
    let ending = APNsAnswer(status: 403, reason: "Forbidden", apnsID: "id", manner: .responseAndGoAway)
    #expect(replacement(200, latency: 1).delaying(ending).manner == .responseAndGoAway)
  }
}
