// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Journal
import JournalAnalysis
import Testing

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
    #expect(result.breach == nil)
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
    var before = smaller.plan
    before.until = found.step
    #expect(Simulation(before, settles: false).run().breach == nil)
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
  ])
  func `wrong options are refused`(arguments: [String]) {
    #expect(throws: (any Error).self) { try SimulateCommand.parse(arguments) }
  }
}
