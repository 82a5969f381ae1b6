// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Foundation
import Journal
import Messages
import Testing

@testable import JournalAnalysis
@testable import ModelChecking
@testable import WidgetLab

/// `simulate`: a whole cluster from a seed.
@Suite(.timeLimit(.minutes(2))) struct `Simulations` {
  private func journal(_ plan: SimulationPlan) -> (bytes: [UInt8], result: SimulationResult) {
    var bytes: [UInt8] = []
    let result = Simulation(plan).run(write: { bytes += $0 })
    return (bytes, result)
  }

  @Test func `two simulations of a seed give the same journal, byte for byte, and another seed another one`() {
    let plan = SimulationPlan(seed: 7, hours: 1, kills: 10)
    let (first, second) = (journal(plan), journal(plan))
    #expect(first.bytes == second.bytes)
    #expect(first.result.digest == second.result.digest)
    #expect(first.bytes.count > 100_000)
    #expect(journal(SimulationPlan(seed: 8, hours: 1, kills: 10)).result.digest != first.result.digest)
  }

  @Test func `processes are killed, and every law judges something and holds`() {
    let result = Simulation(SimulationPlan(seed: 3, hours: 6, kills: 40)).run()
    #expect(result.kills.values.reduce(0, +) >= 35)
    #expect(result.breach?.law == nil)
    for verdict in result.verdicts {
      #expect(verdict.findings.checks > 0, "\(verdict.law.code)")
      #expect(verdict.answer == .holds, "\(verdict.law.code): \(verdict.findings)")
    }
  }

  /// Processes, their connections and what is planned refer to each other. A night's simulations would fill the memory.
  @Test func `a simulation releases its processes`() {
    weak var released: SimulatedCluster?
    weak var host: SimulatedHost?
    do {
      let cluster = SimulatedCluster(Dice(seed: 1), nil) { _ in }
      cluster.start()
      for _ in 0..<2_000 { _ = cluster.time.step() }
      host = cluster.host
      cluster.kill(.host)
      for _ in 0..<2_000 { _ = cluster.time.step() }
      #expect(host == nil)
      host = cluster.host
      #expect(host != nil)
      cluster.end()
      released = cluster
    }
    #expect(released == nil)
    #expect(host == nil)
  }

  @Test func `until ends a simulation before a step, with the same beginning`() {
    let whole = journal(SimulationPlan(seed: 7, hours: 0.5, kills: 5))
    let part = journal(SimulationPlan(seed: 7, hours: 0.5, kills: 5, until: 200))
    #expect(part.result.steps == 199)
    #expect(part.result.next != nil)
    #expect(whole.result.next == nil)
    #expect(whole.bytes.starts(with: part.bytes))
    #expect(part.bytes.count < whole.bytes.count)
  }

  @Test(arguments: [SimulatedMistake.acknowledgementForgotten, .registrationsForgotten, .truncatedCopy])
  func `a planted mistake is found, and shrunk to few kills`(mistake: SimulatedMistake) throws {
    let result = Simulation(SimulationPlan(seed: 1, hours: 6, kills: 60, mistake: mistake)).run()
    let breach = try #require(result.breach)
    let smaller = SimulationShrinking(result, limit: .seconds(3_600), attempts: 12).run()
    let found = try #require(smaller.breach)
    #expect(found.law == breach.law)
    #expect(found.kills.count < max(2, breach.kills.count))
    // The smaller one, again.
    let again = try #require(Simulation(smaller.plan).run().breach)
    #expect(again.step == found.step)
    if found.kills.count < breach.kills.count { #expect(smaller.plan.only == found.kills) }
    #expect(found.kills == found.kills.sorted())
    let step: Int = try #require(found.step)
    var before = smaller.plan
    before.until = step
    #expect(Simulation(before, settles: false).run().breach == nil)
  }

  @Test(arguments: [nil, 12])
  func `a breach has a step and a command before it only when a step broke the law`(step: Int?) throws {
    let result = Simulation(SimulationPlan(seed: 4, hours: 0.1, kills: 5)).run()
    let finding = LawFinding("something")
    let breach = SimulatedBreach(law: "liveness", finding: finding, step: step, seconds: 60, kills: [1, 3])
    let lines = SimulationText.lines(breach, of: result, command: "simulate")
    #expect(lines.contains("  again:  simulate --seed 4 --hours 0.1 --kills 5"))
    #expect(lines.contains { $0.hasPrefix("  before:") } == (step != nil))
    #expect(lines.contains { $0.contains("at step") } == (step != nil))
    #expect(lines.contains { $0.contains("at the end, which this law judges") } == (step == nil))
  }

  /// The law judges the end: only a simulation whose work is settled breaks it.
  @Test func `a law that is broken at the end is broken there by fewer kills too`() throws {
    let plan = SimulationPlan(seed: 1, hours: 1, kills: 20, mistake: .pushAcknowledgementsLost)
    let result = Simulation(plan).run()
    let breach = try #require(result.breach)
    #expect(breach.law == "pushes-settled" && breach.step == nil)
    let smaller = SimulationShrinking(result, limit: .seconds(3_600), attempts: 4).run()
    let found = try #require(smaller.breach)
    #expect(found.law == breach.law && found.step == nil)
    #expect(found.kills.count < breach.kills.count)
    let again = try #require(Simulation(smaller.plan).run().breach)
    #expect(again.law == breach.law && again.step == nil && again.kills == found.kills)
  }

  @Test func `a simulation can be interrupted, also while its work is settled`() {
    let plan = SimulationPlan(seed: 1, hours: 1, kills: 20, mistake: .pushAcknowledgementsLost)
    for hours in [0.5, 1.1, 24.0] {
      let result = Simulation(plan).run(progress: { $0.seconds < hours * 3_600 })
      let isInterrupted = result.isInterrupted
      #expect(isInterrupted == (hours < 24))
      guard isInterrupted else { continue }
      #expect(result.breach?.law == nil)
      #expect(result.seconds >= hours * 3_600)
      let lines = SimulationText.lines(result, .seconds(1), isBrief: false, isColored: false)
      #expect(lines.contains { $0.hasPrefix("interrupted") })
    }
  }

  @Test func `simulations that are interrupted or break a law end the series, with the sums so far`() {
    var (lines, calls) = ([String](), 0)
    let plan = SimulationPlan(seed: 0, hours: 0.5, kills: 5)
    let total = SimulationSeries(plan, seeds: [1, 2, 3]).run(
      show: { lines.append($0) },
      isContinued: { text in
        calls += text?.hasPrefix("seed 2") == true ? 1 : 0
        return calls < 1
      })
    #expect(total.isInterrupted)
    #expect(lines.contains { $0.hasPrefix("2 seeds, ") })
    var broken: [String] = []
    var mistaken = SimulationPlan(seed: 0, hours: 6, kills: 60, mistake: .truncatedCopy)
    let found = SimulationSeries(mistaken, seeds: [1, 2, 3], shrinks: false).run(show: { broken.append($0) })
    #expect(found.answer == .broken)
    #expect(broken.contains { $0.hasPrefix("1 seed, ") }, "\(broken)")
    #expect(!broken.contains { $0.hasPrefix("seed 2") })
    // What no simulation had to judge.
    mistaken = SimulationPlan(seed: 0, hours: 0.1, kills: 0, until: 2)
    var silent: [String] = []
    #expect(SimulationSeries(mistaken, seeds: [1, 2]).run(show: { silent.append($0) }).answer == .holds)
    #expect(silent.last?.hasPrefix("judged nothing with any seed: no-loss") == true, "\(silent)")
  }

  @Test func `kills without a running victim are counted and named`() {
    let plan = SimulationPlan(seed: 5, hours: 0.1, kills: 20_000)
    let result = Simulation(plan, settles: false).run()
    let done = result.kills.values.reduce(0, +)
    #expect(result.missedKills > 0)
    #expect(done + result.missedKills <= result.plannedKills)
    let lines = SimulationText.lines(result, .seconds(1), isBrief: false, isColored: false)
    #expect(lines[0].contains(", \(done) of 20000 kills, "))
    #expect(lines.contains { $0.contains("\(result.missedKills) had no running victim") })
  }

  @Test func `a reply that no envelope holds is a failure of the request`() {
    var failed = 0
    let cluster = SimulatedCluster(Dice(seed: 1), nil) { envelope in
      if envelope.header.kind == ListPushes.kind.answered(.failed) { failed += 1 }
    }
    cluster.start()
    for _ in 0..<2_000 { _ = cluster.time.step() }
    cluster.pushServer?.connection.onRequest(ListPushes.self) { [weak cluster] _, envelope in
      let step = PushStep(.refused, at: .distantPast, detail: String(repeating: "x", count: Wire.bodyLimit))
      let record = PushRecord(
        number: 1, uniqueID: envelope.header.id, apnsID: "", subject: nil, token: "", type: nil, status: 200,
        reason: nil, steps: [step])
      cluster?.pushServer?.connection.reply(
        envelope, to: ListPushes.self, ListPushes.Reply(pushes: [record], count: 1))
    }
    cluster.user.askAboutPushes()
    for _ in 0..<20_000 where failed == 0 { _ = cluster.time.step() }
    #expect(failed > 0)
    cluster.end()
  }

  @Test func `the simulated log has pages that fit in an envelope, the oldest entry first`() throws {
    let disk = PushServerDisk(identity: UUID())
    let subject = PushSubject(device: "phone", bundle: "com.example.Lab", use: .app)
    let steps = (0..<200).map { PushStep(.refused, at: .distantPast, detail: "the device is not connected: \($0)") }
    // The third one is in the log too late.
    for number in [1, 2, 4, 5, 3] as [Int64] {
      disk.add(PushServerDisk.Logged(number: number, subject: subject, token: "00", steps: steps), UUID())
    }
    let page = try disk.page(ListPushes(limit: 4))
    #expect(page.pushes.map(\.number) == [2, 3, 4, 5])
    #expect(page.count == 5)
    for number in 6...100 as ClosedRange<Int64> {
      disk.add(PushServerDisk.Logged(number: number, subject: subject, token: "00", steps: steps), UUID())
    }
    let newest = try disk.page(ListPushes(limit: 100))
    #expect(newest.pushes.last?.number == 100)
    #expect(newest.pushes.count < 100)
    #expect(try ListPushes.encoded(newest).count <= Wire.bodyLimit)
  }

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "simulated-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test func `a journal goes into a FIFO, and through a link, which both stay`() throws {
    try withFolder { folder in
      let (fifo, link, target) = (folder + "/fifo", folder + "/link", folder + "/target")
      #expect(mkfifo(fifo, 0o600) == 0)
      let reader = open(fifo, O_RDWR | O_NONBLOCK)
      defer { close(reader) }
      try SimulatedJournal(fifo).write([1, 2, 3])
      var bytes = [UInt8](repeating: 0, count: 8)
      #expect(read(reader, &bytes, 8) == 3)
      #expect(bytes.prefix(3) == [1, 2, 3])
      #expect(try FileManager.default.attributesOfItem(atPath: fifo)[.type] as? FileAttributeType != .typeRegular)
      #expect(FileManager.default.createFile(atPath: target, contents: nil))
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      try SimulatedJournal(link).write(SegmentLayout.head(firstSequence: 1))
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
      #expect(FileManager.default.contents(atPath: target)?.count == SegmentLayout.headLength)
      // A journal is replaced, and nothing else.
      try SimulatedJournal(link).write([1])
      #expect(FileManager.default.contents(atPath: target) == Data([1]))
      #expect(throws: SimulatedJournal.Failure.self) { try SimulatedJournal(link) }
      #expect(FileManager.default.contents(atPath: target) == Data([1]))
    }
  }

  @Test func `a FIFO whose reader takes nothing or leaves neither blocks nor ends the process`() throws {
    try withFolder { folder in
      let fifo = folder + "/fifo"
      #expect(mkfifo(fifo, 0o600) == 0)
      var reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      let blocked = try SimulatedJournal(fifo)
      blocked.write(Array(repeating: 1, count: 1 << 20)) { false }
      #expect(blocked.failure == nil, "it was interrupted")
      close(reader)
      reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      let left = try SimulatedJournal(fifo)
      close(reader)
      left.write([1])
      guard case .notWritten(let reason)? = left.failure else {
        Issue.record("\(String(describing: left.failure))")
        return
      }
      #expect(reason == "Broken pipe")
    }
  }

  @Test func `a journal that cannot be written has the reason`() throws {
    try withFolder { folder in
      let link = folder + "/link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/full")
      let journal = try SimulatedJournal(link)
      journal.write([1])
      guard case .notWritten(let reason)? = journal.failure else {
        Issue.record("\(String(describing: journal.failure))")
        return
      }
      #expect(reason.contains("No space left"))
      #expect(throws: SimulatedJournal.Failure.self) { try SimulatedJournal(folder) }
    }
  }

  @Test func `a simulation takes the actions and the kills of a campaign`() throws {
    let faults: [(ChaosFault?, Int)] = [
      (.kill(victims: [.host, .pushServer]), 100), (.network(milliseconds: 300), 50), (nil, 20),
      (.point(victim: .agent(1), point: "agent.before-exit-reported", skipping: 0), 40),
      (.kill(victims: [.provider]), 10), (.stop(victim: .host, milliseconds: 5), 10),
    ]
    let steps = faults.enumerated().map { index, fault in
      CampaignStep(
        number: index + 1, actions: index == 0 ? [.reload, .push, .openApp, .tap] : [.drink], delay: fault.1,
        fault: fault.0, waits: index == 0)
    }
    let campaign = SimulatedCampaign(
      FailureFile.Campaign(version: "1", seed: 3, steps: steps, faultsBefore: 9, broken: ["no-loss"]), file: "a.tar")
    #expect(
      campaign.text
        == "3 kills and 9 actions; left out: kill of provider 1, point of a crash 1, stop 1, tap 1")
    var plan = SimulationPlan(seed: 5, hours: campaign.hours, kills: campaign.killCount)
    plan.campaign = campaign
    let result = Simulation(plan).run()
    #expect(result.kills == [.host: 1, .pushServer: 1, .agent: 1])
    #expect(result.breach?.law == nil)
    #expect(result.digest == Simulation(plan).run().digest)
    plan.only = [2]
    #expect(Simulation(plan).run().kills == [.pushServer: 1])
    let breach = SimulatedBreach(law: "no-loss", finding: LawFinding("x"), step: nil, seconds: 1, kills: [2])
    #expect(
      SimulationText.lines(breach, of: Simulation(plan).run(), command: "simulate").last
        == "  again:  simulate --failure a.tar --seed 5 --only 2")
  }

  @Test func `the numbers of kills are read, and others are refused`() throws {
    #expect(SimulationPlan.killNumbers("3,1,3", kills: 3) == [1, 3])
    #expect(SimulationPlan.killNumbers("none", kills: 0) == [])
    for text in ["", ",", ",,", "1,", "0", "4", "-1", "a", "1, 2"] {
      #expect(SimulationPlan.killNumbers(text, kills: 3) == nil, "\(text)")
    }
    #expect(SimulationPlan.killNumbers("1", kills: 0) == nil)
  }

  @Test func `each mistake has the name of a planted fault`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let page = try String(contentsOf: root.appending(path: "Documentation/planted-faults.md"), encoding: .utf8)
    for mistake in SimulatedMistake.allCases { #expect(page.contains("| `\(mistake.rawValue)` |")) }
  }

  @Test func `check reads the journal of a simulation`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "simulated-\(UUID().uuidString).journal").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let (bytes, result) = journal(SimulationPlan(seed: 7, hours: 1, kills: 10))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let checker = try CheckCommand.parse([path]).check()
    #expect(checker.envelopes == result.checker.envelopes)
    #expect(checker.verdicts() == result.verdicts)
  }

  @Test(arguments: [
    ["--seed", "1", "--seeds", "1-2"], ["--hours", "0"], ["--kills", "-1"], ["--plant", "nothing"], ["--only", "a"],
    ["--seeds", "1-2", "--journal", "x"], ["--until", "0"],
    ["--only", ""], ["--only", ",,"], ["--only", "101"], ["--only", "6", "--kills", "5"],
    ["--failure", "a.tar", "--kills", "5"],
  ])
  func `wrong options are refused`(arguments: [String]) {
    #expect(throws: (any Error).self) { try SimulateCommand.parse(arguments) }
  }
}
