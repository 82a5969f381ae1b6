// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Cluster
import Foundation
import Glibc
import Testing

@testable import WidgetLab

@Suite struct `The options of a campaign` {
  private func options(_ arguments: String...) throws -> ChaosOptions { try ChaosOptions.parse(arguments) }

  @Test func `without options, 300 kills of every process end a campaign of one drawn seed`() throws {
    let options = try options()
    #expect(options.killLimit == 300)
    #expect(options.timeLimit == nil)
    #expect(try options.kinds == FaultKind.usual)
    #expect(try options.chosenVictims == Set(ChaosVictim.sample))
    #expect(try options.chosenSeeds.count == 1)
  }

  @Test func `a duration replaces the number of kills`() throws {
    #expect(try options("--duration", "10m").killLimit == nil)
    #expect(try options("--duration", "10m").timeLimit == .seconds(600))
    #expect(try options("--duration", "10m", "--kills", "5").killLimit == 5)
  }

  @Test func `all faults, and steps where none of them kills`() throws {
    #expect(try options("--faults", "all").kinds == Set(FaultKind.allCases).subtracting([.recreate]))
    #expect(try options("--faults", "all").stepLimit == nil)
    #expect(try options("--faults", "server,full").killLimit == nil)
    #expect(try options("--faults", "server,full").stepLimit == 300)
    #expect(try options("--faults", "server,kill").killLimit == 300)
    #expect(try options("--steps", "9").killLimit == nil)
    #expect(try options("--behaviours", "gzip,ssh").chosenBehaviours == ["gzip", "ssh"])
  }

  @Test func `a shard has its part of the seeds`() throws {
    #expect(try options("--seeds", "1-6", "--shard", "2/3").chosenSeeds == [2, 5])
  }

  @Test(arguments: [
    ["--kills", "0"], ["--duration", "soon"], ["--faults", "kill,flood"], ["--victims", "journal"], ["--shard", "1/2"],
    ["--seeds", "9-1"], ["--seeds", "1-2", "--seed", "1"], ["--seeds", "1-2", "--instance", "x"],
    ["--report", "report.pdf"], ["--within", "0"], ["--steps", "0"], ["--behaviours", "kind"], ["--longest-stop", "x"],
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

  @Test(.timeLimit(.minutes(1))) func `a limit is what a process uses and a rest, until it ends`() async throws {
    // Stopped by itself: the dynamic loader, which opens files, is done then.
    let child = try await SpawnedProcess.start("/bin/sh", ["-c", "kill -STOP $$"], log: "/dev/null")
    // A sleep: only the parent's wait learns of the stop, and it would also take the end.
    while ProcessFacts(pid: child.pid).state != "stopped" { try await Task.sleep(for: .milliseconds(5)) }
    func limit() throws -> String {
      let lines = try String(contentsOfFile: "/proc/\(child.pid)/limits", encoding: .utf8).split(separator: "\n")
      let line = try #require(lines.first { $0.hasPrefix("Max open files") })
      return String(line.split(separator: " ")[3])
    }
    let before = try limit()
    let limited = try #require(ProcessLimit(child.pid, .descriptors, spare: 2))
    #expect(try limit() == "5")
    limited.end()
    #expect(try limit() == before)
    child.signal(SIGKILL)
    _ = await child.ending()
    #expect(ProcessLimit(child.pid, .memory, spare: 2) == nil)
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

@Suite struct `A loss while nothing runs` {
  private func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test func `the journal has the length again that it had, and later segments are gone`() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (first, second) = ("00000000000000000001.journal", "00000000000000000009.journal")
    try Data("early".utf8).write(to: folder.appendingPathComponent(first))
    let loss = ClusterLoss(ofJournal: folder.path)
    try Data("early and late".utf8).write(to: folder.appendingPathComponent(first))
    try Data("late".utf8).write(to: folder.appendingPathComponent(second))
    loss.happen()
    #expect(try Data(contentsOf: folder.appendingPathComponent(first)) == Data("early".utf8))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/" + second))
  }

  @Test func `a database and its log are those of the copy, and no other log remains`() throws {
    let instance = InstanceFolder(try folder().path)
    defer { try? FileManager.default.removeItem(atPath: instance.path) }
    try instance.create()
    let database = instance.host + "/host.sqlite"
    #expect(ClusterLoss(ofStore: .host, instance) == nil)
    try Data("old".utf8).write(to: URL(fileURLWithPath: database))
    let loss = try #require(ClusterLoss(ofStore: .host, instance))
    for suffix in ["", "-wal", "-shm"] { try Data("new".utf8).write(to: URL(fileURLWithPath: database + suffix)) }
    loss.happen()
    #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == Data("old".utf8))
    #expect(!FileManager.default.fileExists(atPath: database + "-wal"))
    #expect(!FileManager.default.fileExists(atPath: database + "-shm"))
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
