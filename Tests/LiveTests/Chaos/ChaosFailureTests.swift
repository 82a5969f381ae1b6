// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Glibc
import JournalAnalysis
import Testing
import WidgetLabTesting

/// Campaigns against a build that is broken on purpose, and campaigns that are interrupted.
@Suite(.live, .timeLimit(.live)) struct `Campaigns that do not hold` {
  /// A host that sends the events of the extension's session to the app.
  private func brokenExecutables(_ place: CampaignPlace) throws -> String {
    let folder = place.folder + "/broken"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let all = [
      "message-bus", "process-agent", "push-server", "provider-server", "containing-app", "widget-extension", "Faults",
    ]
    for name in all {
      let link = "\(folder)/\(name == "Faults" ? "host-system" : name)"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(place.executables)/\(name)")
    }
    return folder
  }

  @Test func `a broken law ends the campaign with a failure file that can be read and run again`() async throws {
    let place = try CampaignPlace("failure")
    let broken = try brokenExecutables(place)
    let environment = ["WIDGETLAB_FAULT": "misrouted"]
    let campaign = try await place.start(
      ["--seed", "5", "--kills", "100", "--executables", broken, "--no-shrink"], environment: environment)
    let status = await campaign.ending()
    let output = try place.output()
    #expect(status == 1, "\(output)")
    let report = try place.report()
    #expect(report.answer == .broken)
    #expect(report.broken.contains("no-misrouting"))
    #expect(report.kills < 100)
    #expect(report.runs.first?.failure == place.failure)

    let check = try await place.tool("check", place.failure)
    #expect(check.status == 1)
    #expect(check.output.contains("broken   no-misrouting"))
    let tail = try await place.tool("tail", "--journal", place.failure, "--output", "json")
    #expect(tail.status == 0 && tail.output.contains("session.events"))
    let shown = try await place.tool("chaos", "replay", place.failure, "--show")
    #expect(shown.output.contains("broken: ") && shown.output.contains("no-misrouting"))

    let replay = try await LabChild.start(
      place.executables + "/widgetlab", ["chaos", "replay", place.failure, "--executables", broken],
      environment: environment, output: place.folder + "/replay.out", errors: place.folder + "/replay.err")
    #expect(await replay.ending() == 0)
    let again = try String(contentsOfFile: place.folder + "/replay.out", encoding: .utf8)
    #expect(again.contains("the verdict is the same"), "\(again)")
    // The correct build is not broken by the same faults.
    let correct = try await place.tool("chaos", "replay", place.failure, "--attempts", "1")
    #expect(correct.status == 1)
    #expect(correct.output.contains("the verdict is not the same"))
    try place.remove()
  }

  @Test func `a process that ends by a trap ends the campaign`() async throws {
    let place = try CampaignPlace("trap")
    let campaign = try await place.start(["--seed", "6", "--faults", "clock", "--steps", "100000", "--no-shrink"])
    let ending = Task { await campaign.ending() }
    try await place.eventually("the journal has begun") { try place.envelopes().count > 500 }
    let host = try #require(LabProcess.all(naming: place.instance).first { $0.executableName == "host-system" })
    kill(host.pid, SIGILL)
    #expect(await ending.value == 1)
    let (report, output) = (try place.report(), try place.output())
    #expect(report.broken == ["no process ends by a trap"], "\(output)")
    #expect(report.checks.first { !$0.holds }?.text.hasPrefix("host (pid \(host.pid)) ended with SIGILL") == true)
    try place.remove()
  }

  @Test func `an interrupted campaign ends its faults, reports and leaves nothing behind`() async throws {
    let place = try CampaignPlace("interrupted")
    let campaign = try await place.start(["--seed", "6", "--kills", "100000"])
    let ending = Task { await campaign.ending() }
    try await place.eventually("the journal has begun") { try place.envelopes().count > 500 }
    campaign.signal(SIGINT)
    let status = await ending.value
    let output = try place.output()
    #expect(status == 0, "\(output)")
    let report = try place.report()
    #expect(report.runs.first?.wasInterrupted == true)
    #expect(report.runs.first?.quietAfter != nil)
    for process in LabProcess.all(naming: place.instance) { try await process.ended() }
    try place.remove()
  }

  @Test func `when the campaign itself is killed all its processes end`() async throws {
    let place = try CampaignPlace("killed")
    let campaign = try await place.start(["--seed", "7", "--kills", "100000"])
    let ending = Task { await campaign.ending() }
    try await place.eventually("the journal has begun") { try place.envelopes().count > 500 }
    campaign.signal(SIGKILL)
    #expect(await ending.value == 128 + SIGKILL)
    for process in LabProcess.all(naming: place.instance) { try await process.ended() }
    try place.remove()
  }
}
