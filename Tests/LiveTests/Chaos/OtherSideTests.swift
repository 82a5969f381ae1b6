// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Testing
import WidgetLabTesting

/// Campaigns with servers that misbehave, disks that are full, data that is lost, and limits.
@Suite(.live, .timeLimit(.live)) struct `Faults of the other side` {
  private func report(_ name: String, _ arguments: [String]) async throws -> CampaignReport {
    let place = try CampaignPlace(name)
    let campaign = try await place.start(["--seed", "9", "--no-shrink"] + arguments)
    let status = await campaign.ending()
    let output = try place.output()
    try #require(status == 0, "\(output)")
    let report = try place.report()
    #expect(report.effective.values.reduce(0, +) > 0, "\(output)")
    for process in LabProcess.all(naming: place.instance) { try await process.ended() }
    try place.remove()
    return report
  }

  @Test func `downloads end as they may, whatever their server does`() async throws {
    let behaviours = [
      "length-too-long", "chunk-last-missing", "range-from-zero", "tag-changes-in-part", "redirect-loop",
      "redirect-ftp", "gzip", "gzip-truncated", "reset-in-body", "status-text", "fields-endless", "ssh", "tls-garbage",
      "tls-close",
    ]
    let report = try await report(
      "servers",
      ["--faults", "server", "--steps", "\(behaviours.count)", "--behaviours", behaviours.joined(separator: ",")])
    #expect(report.asked[.server] == behaviours.count)
    let check = try #require(report.checks.first { $0.name == "downloads end as they may" })
    #expect(check.text.hasSuffix("behaviours") && !check.text.hasPrefix("0 "), "\(check.text)")
  }

  @Test func `the cluster works on after a database has become older`() async throws {
    let report = try await report("loss", ["--faults", "store", "--steps", "3"])
    #expect(report.effective[.store, default: 0] > 0)
    #expect(report.checks.contains { $0.name == "work ends after a loss" && $0.holds })
  }

  @Test func `processes with few descriptors and little memory recover`() async throws {
    let report = try await report("limits", ["--faults", "limit", "--steps", "12"])
    #expect(report.effective[.limit, default: 0] > 0)
  }

  @Test func `the cluster works on while the machine's clock jumps`() async throws {
    let report = try await report("jumps", ["--faults", "jump,server", "--steps", "12"])
    #expect(report.effective[.jump, default: 0] > 0)
  }

  @Test func `a full disk is skipped aloud, or filled and emptied`() async throws {
    let place = try CampaignPlace("full")
    let campaign = try await place.start(["--seed", "9", "--no-shrink", "--faults", "full,clock", "--steps", "12"])
    let status = await campaign.ending()
    let output = try place.output()
    try #require(status == 0, "\(output)")
    let isSkipped = output.contains("'full' is SKIPPED")
    let report = try place.report()
    #expect((report.effective[.full, default: 0] == 0) == isSkipped, "\(output)")
    try place.remove()
  }
}
