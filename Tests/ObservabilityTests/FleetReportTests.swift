// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Messages
import Testing

@Suite struct `The report of a fleet` {
  private typealias Count = CountFleetPushes.Count

  private static func fleet(_ delivered: Int, tokens: Int = 3) -> FleetState {
    var state = FleetState()
    state.name = "load"
    state.devices = 1_234
    state.tokens.registered = tokens
    var received = FleetState.Received()
    received.delivered = delivered
    received.outcomes = ["handled": delivered]
    for value in 0..<delivered { received.latency.add(Double(value + 1)) }
    state.received = ["alert": received]
    state.seconds = (0..<60).map { FleetState.Second(at: 1_000 + $0, delivered: $0, online: 1_000, slowest: 5) }
    return state
  }

  private static func report(
    _ counts: [Count], kept keptCounts: [String: Int] = [:], fleet: FleetState = fleet(5), before: FleetState? = nil,
    tokens: Int = 3
  ) -> FleetReport {
    FleetReport(
      version: "1", command: "widgetlab fleet report", date: "today",
      machine: MachineFacts(system: "Linux", processor: "p", cores: 2, memory: 1, load: 0), memory: 12,
      before: before ?? fleet,
      counts: CountFleetPushes.Reply(counts: counts, kept: keptCounts, tokens: ["app": tokens]),
      fleet: fleet)
  }

  private static let whole = [
    Count(type: "alert", name: "accepted", reason: "", count: 9),
    Count(type: "alert", name: "delivered", reason: "", count: 5),
    Count(type: "alert", name: "superseded", reason: "", count: 3),
    Count(type: "alert", name: "expired", reason: "", count: 1),
    Count(type: "alert", name: "refused", reason: "BadPriority", count: 2),
    Count(type: "alert", name: "unknown-token", reason: "BadDeviceToken", count: 7),
  ]

  @Test func `all laws hold when each 200 has an end and the fleet has what was delivered`() {
    let report = Self.report(Self.whole)
    #expect(report.answer == .holds)
    #expect(report.types.first?.lost == 0)
    #expect(report.unknownTokens == ["BadDeviceToken": 7])
  }

  @Test func `a 200 without an end breaks the law`() {
    let report = Self.report(Self.whole.filter { $0.name != "expired" })
    #expect(report.answer == .broken)
    #expect(report.verdicts.first?.text == "1 of 9 of type alert have no end")
  }

  @Test func `an open one is not judged yet`() {
    let report = Self.report(Self.whole.filter { $0.name != "expired" }, kept: ["alert": 1])
    #expect(report.answer == .unknown)
    #expect(report.verdicts.first?.answer == .unknown)
  }

  @Test(arguments: [(4, FleetReport.Answer.broken), (5, .holds), (6, .broken)])
  func `the fleet has exactly what the push server counts as delivered`(delivered: Int, answer: FleetReport.Answer) {
    #expect(Self.report(Self.whole, fleet: Self.fleet(delivered)).verdicts[1].answer == answer)
  }

  @Test func `one whose reply is not recorded yet is open at the push server and delivered at the fleet`() {
    let counts = Self.whole.filter { $0.name != "expired" }
    #expect(Self.report(counts, kept: ["alert": 1], fleet: Self.fleet(6)).verdicts[1].answer == .holds)
  }

  @Test func `a difference of tokens is judged only when nothing has changed`() {
    #expect(Self.report(Self.whole, tokens: 2).verdicts[2].answer == .broken)
    #expect(Self.report(Self.whole, before: Self.fleet(5, tokens: 4), tokens: 2).verdicts[2].answer == .unknown)
  }

  @Test func `the pages have each figure, and escape what a provider sent`() {
    let counts = Self.whole + [Count(type: "<b>|", name: "refused", reason: "InvalidPushType", count: 1)]
    let report = Self.report(counts)
    for text in ["each 200 has an end", "1,234 devices", "BadPriority", "BadDeviceToken", "handled"] {
      #expect(report.markdown.contains(text), "\(text)")
      #expect(report.page.contains(text), "\(text)")
    }
    #expect(!report.page.contains("<b>|"))
    #expect(report.page.contains("<svg"))
    let references = report.page.replacing("http-equiv", with: "").replacing("http://www.w3.org/2000/svg", with: "")
    #expect(!references.contains("http"), "it loads nothing")
    #expect(report.lines.contains { $0.hasPrefix("holds: each 200") })
  }
}
