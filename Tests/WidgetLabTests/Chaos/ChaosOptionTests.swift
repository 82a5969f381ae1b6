// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Foundation
import Testing

@testable import WidgetLab

@Suite struct `The options of a campaign` {
  private func options(_ arguments: String...) throws -> ChaosOptions { try ChaosOptions.parse(arguments) }

  @Test func `without options, 300 kills of every process end a campaign of one drawn seed`() throws {
    let options = try options()
    #expect(options.killLimit == 300)
    #expect(options.timeLimit == nil)
    #expect(try options.kinds == Set(FaultKind.allCases).subtracting([.recreate]))
    #expect(try options.chosenVictims == Set(ChaosVictim.sample))
    #expect(try options.chosenSeeds.count == 1)
  }

  @Test func `a duration replaces the number of kills`() throws {
    #expect(try options("--duration", "10m").killLimit == nil)
    #expect(try options("--duration", "10m").timeLimit == .seconds(600))
    #expect(try options("--duration", "10m", "--kills", "5").killLimit == 5)
  }

  @Test func `a shard has its part of the seeds`() throws {
    #expect(try options("--seeds", "1-6", "--shard", "2/3").chosenSeeds == [2, 5])
  }

  @Test(arguments: [
    ["--kills", "0"], ["--duration", "soon"], ["--faults", "kill,flood"], ["--victims", "journal"], ["--shard", "1/2"],
    ["--seeds", "9-1"], ["--seeds", "1-2", "--seed", "1"], ["--seeds", "1-2", "--instance", "x"],
    ["--report", "report.pdf"], ["--within", "0"], ["--longest-stop", "x"],
  ])
  func `wrong options are refused`(arguments: [String]) {
    #expect(throws: (any Error).self) { try ChaosOptions.parse(arguments) }
  }

  @Test func `the command in a report repeats the campaign`() throws {
    let options = try options("--kills", "9", "--faults", "kill,stop", "--longest-stop", "2m", "--keep")
    #expect(options.command(seed: 4) == "widgetlab chaos --seed 4 --kills 9 --faults kill,stop --longest-stop 2m")
    #expect(options.longestStop == 120_000)
    let several = try self.options("--seeds", "1-6", "--shard", "2/3", "--kills", "9")
    #expect(several.command(seed: nil) == "widgetlab chaos --seeds 1-6 --shard 2/3 --kills 9")
    #expect(several.command(seed: 5) == "widgetlab chaos --seed 5 --kills 9")
  }

  @Test func `the name of a report's file determines its format`() {
    for name in ["a.json", "b/c.md", "d.html"] { #expect(ReportFile(argument: name) != nil) }
    for name in ["a.pdf", "json", ""] { #expect(ReportFile(argument: name) == nil) }
  }

  @Test func `a process that a campaign killed is restarted at once, and one that failed after a pause`() {
    var delay = RestartDelay()
    #expect(delay.pause(afterRunOf: .zero, by: .inCampaign, isKilled: true) == .zero)
    for _ in 1...3 {
      #expect(delay.pause(afterRunOf: .zero, by: .inCampaign, isKilled: false) == RestartDelay.first)
    }
    #expect(delay.pause(afterRunOf: .zero, by: .afterEachShortRun, isKilled: true) == .milliseconds(200))
    #expect(delay.pause(afterRunOf: .zero, by: .afterEachShortRun, isKilled: true) == .milliseconds(400))
  }
}

@Suite struct `The damaged end of a journal` {
  @Test(arguments: JournalDamage.allCases)
  func `what is added changes nothing that was written`(damage: JournalDamage) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let segment = folder.appendingPathComponent("00000000000000000007.journal")
    try Data("content".utf8).write(to: segment)
    JournalEnd(folder: folder.path).damage(damage)
    #expect(try Data(contentsOf: segment).prefix(7) == Data("content".utf8))
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let size = try Data(contentsOf: segment).count
    #expect(damage == .draft ? files.count == 2 : size > 7)
  }
}
