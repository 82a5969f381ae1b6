// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import JournalAnalysis
import Testing

@Suite struct `The report of a campaign` {
  private static let failed = CampaignReport.Check(name: "files as served", holds: false, text: "#5 <differs>")

  @Test func `recovery times are percentiles by the nearest rank`() throws {
    let figures = try #require(
      RecordedCampaign.report(times: (1...100).map { Double($0) } + [nil]).victims.first)
    #expect(figures.kills == 101)
    #expect(figures.recoveries.count == 100)
    #expect(figures.recovery(0.5) == 50)
    #expect(figures.recovery(0.99) == 99)
    #expect(figures.recovery(1) == 100)
    #expect(figures.states.map(\.state) == ["idle", "host.before-tasks-saved"])
    #expect(figures.states.map(\.kills) == [100, 1])
  }

  @Test func `a failed check breaks, an end that is not quiet is unknown`() {
    #expect(RecordedCampaign.report().answer == .holds)
    #expect(RecordedCampaign.report(checks: [Self.failed]).answer == .broken)
    #expect(RecordedCampaign.report(quietAfter: nil).answer == .unknown)
    #expect(RecordedCampaign.report(checks: [Self.failed], quietAfter: nil).broken == ["files as served"])
  }

  @Test func `a merged report has the sums and the worst answer`() throws {
    var report = RecordedCampaign.report(seed: 1, times: [10, nil])
    report.merge(RecordedCampaign.report(seed: 2, times: [30], quietAfter: nil))
    #expect(report.runs.map(\.seed) == [1, 2])
    #expect(report.answer == .unknown)
    #expect(report.kills == 3)
    #expect(report.killsPerHour == 1)
    #expect(report.victims.first?.recoveries == [10, 30])
    #expect(report.asked == [.kill: 3])
    report.merge(RecordedCampaign.report(seed: 3, checks: [Self.failed]))
    #expect(report.answer == .broken)
    #expect(report.broken == ["files as served"])
  }

  @Test func `a report is read as it was written`() throws {
    let report = RecordedCampaign.report(times: [10, nil], checks: [Self.failed])
    let read = try JSONDecoder().decode(CampaignReport.self, from: JSONEncoder().encode(report))
    #expect(CampaignMarkdown.page(read) == CampaignMarkdown.page(report))
    #expect(CampaignPage.page(read) == CampaignPage.page(report))
  }

  @Test func `the text states pace, victims, faults, laws and the verdict`() {
    let lines = CampaignText.lines(RecordedCampaign.report(), isColored: false)
    #expect(lines.first == "1 kill in 1:00:00, 1 an hour; quiet 1.5 s after the last fault")
    #expect(lines.contains("host    1      1       50 ms     50 ms  50 ms"))
    #expect(lines.contains("kill   1      1"))
    #expect(lines.contains("holds    no-loss                        nothing to check"))
    #expect(lines.last == "seed 7: all laws hold")
  }

  @Test func `every format names each law, victim and state, and what is not tested`() {
    let report = RecordedCampaign.report(checks: [Self.failed])
    for page in [CampaignMarkdown.page(report), CampaignPage.page(report)] {
      for law in LawTable.descriptions { #expect(page.contains(law.code)) }
      for word in ["host.before-tasks-saved", "widgetlab chaos --seed 7", "Loss of power", "a law is broken"] {
        #expect(page.contains(word), "\(word)")
      }
    }
  }

  @Test func `the page loads nothing and escapes what it shows`() {
    let page = CampaignPage.page(RecordedCampaign.report(checks: [Self.failed]))
    #expect(page.contains("default-src 'none'"))
    #expect(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"))
    #expect(page.contains("#5 &lt;differs&gt;") || page.contains("#5 &lt;differs>"))
    #expect(page.contains("A &lt;processor"))
    #expect(page.components(separatedBy: "<svg").count == 4)
  }

  @Test func `several runs have no timeline and a table of seeds`() {
    var report = RecordedCampaign.report(seed: 1)
    report.merge(RecordedCampaign.report(seed: 2))
    let page = CampaignPage.page(report)
    #expect(page.components(separatedBy: "<svg").count == 3)
    #expect(page.contains("<h2>Seeds</h2>"))
    #expect(CampaignMarkdown.page(report).contains("| 2 | holds |"))
  }

  @Test func `durations have hours only when needed`() {
    #expect([0, 59.6, 65, 3661].map(CampaignText.duration) == ["0:00", "1:00", "1:05", "1:01:01"])
  }
}
