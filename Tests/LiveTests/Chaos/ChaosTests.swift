// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Glibc
import Journal
import JournalAnalysis
import Messages
import Testing
import WidgetLabTesting

/// `widgetlab chaos` kills every process under load, with three tails running. `WIDGETLAB_SEED` repeats the campaign of
/// an earlier run, `scripts/test --long` runs a longer one.
@Suite(.live, .timeLimit(.live)) struct `Repeated kills of every process` {
  private static let kills = ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1" ? 600 : 40

  @Test func `all laws hold and no tail misses a line while every process is killed`() async throws {
    let seed = HostKillCampaign.seedOfThisRun
    let place = try CampaignPlace("campaign")
    do {
      try await play(place, seed)
    } catch {
      throw LabError("seed \(seed): \(error)")
    }
    try place.remove()
  }

  @inline(never)
  private func play(_ place: CampaignPlace, _ seed: UInt64) async throws {
    let campaign = try await place.start(["--seed", "\(seed)", "--kills", "\(Self.kills)", "--no-shrink"])
    let ending = Task { await campaign.ending() }
    try await place.eventually("the journal has begun") { try place.envelopes().count > 100 }
    let middle = UInt64(try place.envelopes().count)
    let tails = [
      try await FollowedTail.start(place.executables, folder: place.instance, form: .json, from: 1),
      try await FollowedTail.start(place.executables, folder: place.instance, form: .json, from: middle),
      try await FollowedTail.start(place.executables, folder: place.instance, form: .pretty, from: 1),
    ]
    let outcome = await Task { try await expect(tails, status: await ending.value, place: place, seed: seed) }.result
    for tail in tails { await tail.stop() }
    campaign.signal(SIGKILL)
    try outcome.get()
  }

  @inline(never)
  private func expect(_ tails: [FollowedTail], status: Int32, place: CampaignPlace, seed: UInt64) async throws {
    let output = try place.output()
    try #require(status == 0, "\(output)")
    let report = try place.report()
    print(CampaignText.lines(report, isColored: false).joined(separator: "\n"))
    #expect(report.runs.map(\.seed) == [seed])
    #expect(report.kills >= Self.kills)
    let checked = Dictionary(uniqueKeysWithValues: report.laws.map { ($0.code, $0.checks) })
    for law in LawTable.descriptions { #expect(checked[law.code] ?? 0 > 0, "\(law.code) had nothing to check") }
    let envelopes = try place.envelopes()
    for tail in tails { try await expect(tail, toShow: envelopes, place) }
    // The fault `journal` leaves torn ends, which a repair removes.
    for arguments in [["--repair"], []] {
      let verdict = try await LabCluster.tool(
        ["journal", "verify", "--journal", "\(place.instance)/journal"] + arguments, executables: place.executables,
        in: place.folder)
      if arguments.isEmpty { #expect(verdict.status == 0, "\(verdict.output)\(verdict.errors)") }
    }
  }

  /// Checks that the tail's sequence numbers are consecutive and that each line matches the journal's envelope.
  private func expect(_ tail: FollowedTail, toShow envelopes: [Envelope], _ place: CampaignPlace) async throws {
    let last = UInt64(envelopes.count)
    try await place.eventually("the \(tail.name) has printed #\(last)") { try tail.last() >= last }
    let lines = try tail.lines()
    #expect(lines.map(\.sequence) == Array(tail.first...last), "\(tail.name)")
    let strange = lines.filter { line in
      let header = envelopes[Int(line.sequence) - 1].header
      return header.kind.name != line.kind || line.id.map { $0 != header.id } ?? false
    }
    #expect(strange.isEmpty, "\(tail.name)")
  }
}
