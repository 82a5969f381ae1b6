// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import ChaosCampaign
import Foundation
import Glibc
import Journal
import JournalAnalysis
import ModelChecking

/// `widgetlab simulate`.
struct SimulateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Runs a whole cluster from a seed, in this process and on virtual time, and judges it by the laws.",
    discussion: """
      The state machines of the device and of the push server are the real ones. Around them are simulated processes: \
      the message bus, two agents, an app and an extension, a network with a server, a provider, and a user with a day \
      drawn from the seed. Processes are killed at any step. Nothing is started and no time is waited for, so that a day \
      with a hundred kills takes about a second. The laws of `widgetlab check` judge each message. Equal options give \
      the same journal, byte for byte, on every machine.

      After --hours no new work begins, and the simulation continues until all work is settled. When a law is broken, \
      it ends, and looks for fewer kills that break the law. --until ends it before a step; --journal writes what \
      happened until then, for check, trace, diagnose and tail.

      Exit code 0 when all laws hold, 1 when one is broken, 2 when none is broken and one is unknown. With --until, work \
      that is not done is no doubt: 0 unless a law is broken.

      EXAMPLES
        widgetlab simulate                          a day and 100 kills; a drawn seed
        widgetlab simulate --seed 7 --hours 240 --kills 5000
        widgetlab simulate --seeds 1-2500 --kills 400          a million kills
        widgetlab simulate --seed 7 --journal seven.journal
        widgetlab check seven.journal               also trace, diagnose and tail
        widgetlab simulate --seed 7 --until 1200    what would happen in step 1200
        widgetlab simulate --plant truncated-copy   a mistake that the laws find
        widgetlab simulate --list                   these mistakes
      """)

  @Option(help: ArgumentHelp("The seed (default: drawn and printed).", valueName: "number"))
  var seed: UInt64?

  @Option(help: ArgumentHelp("A simulation for each of these seeds, A-B, until a law is broken.", valueName: "range"))
  var seeds: String?

  @Option(help: ArgumentHelp("Virtual hours with new work.", valueName: "number"))
  var hours = 24.0

  @Option(help: ArgumentHelp("Processes that are killed in these hours.", valueName: "number"))
  var kills = 100

  @Option(
    help: ArgumentHelp(
      "Keep only the kills with these numbers, such as 3,17; none keeps no kill.", valueName: "numbers"))
  var only: String?

  @Option(help: ArgumentHelp("End before this step.", valueName: "step"))
  var until: Int?

  @Option(help: ArgumentHelp("Write the journal to this file.", valueName: "file"), completion: .file())
  var journal: String?

  @Option(help: ArgumentHelp("Make this mistake on purpose.", valueName: "name"))
  var plant: String?

  @Flag(name: .customLong("no-shrink"), help: "When a law is broken, do not look for fewer kills.")
  var keepsKills = false

  @Flag(help: "List the mistakes of --plant.")
  var list = false

  func validate() throws {
    if seed != nil, seeds != nil { throw ValidationError("Give --seed or --seeds, not both.") }
    guard (0.1...87_600).contains(hours) else { throw ValidationError("--hours must be between 0.1 and 87600.") }
    guard (0...10_000_000).contains(kills) else { throw ValidationError("--kills must be between 0 and 10000000.") }
    if let until, until < 1 { throw ValidationError("--until must be 1 or more.") }
    if seeds != nil, journal != nil || until != nil || only != nil {
      throw ValidationError("--journal, --until and --only need one seed, and not --seeds.")
    }
    if seeds != nil { _ = try chosenSeeds }
    _ = try mistake
    _ = try kept
  }

  private var mistake: SimulatedMistake? {
    get throws {
      guard let plant else { return nil }
      guard let mistake = SimulatedMistake(rawValue: plant) else {
        throw ValidationError("'\(plant)' is not a mistake that can be planted; --list prints them")
      }
      return mistake
    }
  }

  private var kept: [Int]? {
    get throws {
      guard let only, only != "none" else { return only == nil ? nil : [] }
      return try only.split(separator: ",").map { part in
        guard let number = Int(part), number > 0 else {
          throw ValidationError("--only: numbers of kills from 1, separated by commas, or none")
        }
        return number
      }
    }
  }

  func run() async throws {
    try await reporting {
      if list {
        for mistake in SimulatedMistake.allCases { Output.print(mistake.rawValue) }
        return
      }
      let chosen = try chosenSeeds
      var answers: [LawVerdict.Answer] = []
      var (hours, kills) = (0.0, 0)
      let clock = ContinuousClock()
      let start = clock.now
      for seed in chosen {
        let result = try simulate(seed, isBrief: chosen.count > 1)
        answers.append(LawVerdict.answer(result.verdicts))
        hours += result.seconds / 3600
        kills += result.kills.values.reduce(0, +)
        if result.breach != nil { break }
      }
      if chosen.count > 1 {
        Output.print(
          "\(answers.count) seeds, \(Int(saturating: hours)) device hours, \(kills) kills: "
            + SimulationText.speed(hours, kills, clock.now - start))
      }
      // The end of a journal in the middle of work is no doubt about a law.
      if until != nil, !answers.contains(.broken) { return }
      try CheckCommand.exit(
        with: answers.contains(.broken) ? .broken : answers.contains(.unknown) ? .unknown : .holds)
    }
  }

  private var chosenSeeds: [UInt64] {
    get throws {
      guard let seeds else { return [seed ?? .random(in: 1...999_999)] }
      do {
        return try SeedShard(seeds: seeds, shard: nil, environment: [:]).seeds
      } catch {
        throw ValidationError("--seeds: \(error)")
      }
    }
  }

  private func simulate(_ seed: UInt64, isBrief: Bool) throws -> SimulationResult {
    let plan = SimulationPlan(
      seed: seed, hours: hours, kills: kills, only: try kept, mistake: try mistake, until: until)
    let file = try journal.map { try SimulatedJournalFile($0) }
    let clock = ContinuousClock()
    let start = clock.now
    var line = ProgressLine()
    let result = Simulation(plan).run(
      write: { file?.write($0) },
      progress: { progress in
        line.show(
          "seed \(seed): \(Amount.text(seconds: progress.seconds)), step \(progress.steps), \(progress.kills) kills")
        return true
      })
    line.clear()
    for text in SimulationText.lines(
      result, clock.now - start, isBrief: isBrief, isColored: Output.isColored)
    { Output.print(text) }
    if let next = result.next { Output.print("next: step \(result.steps + 1), \(next)") }
    if let breach = result.breach { report(breach, result, &line) }
    try file?.close()
    return result
  }

  private func report(_ breach: SimulatedBreach, _ result: SimulationResult, _ line: inout ProgressLine) {
    for text in SimulationText.lines(breach, of: result, command: "widgetlab simulate") { Output.print(text) }
    guard !keepsKills, !breach.kills.isEmpty else { return }
    let smaller = SimulationShrinking(result).run { kills, isBroken in
      line.show("\(kills) kills: \(isBroken ? "broken" : "not broken")")
    }
    line.clear()
    guard let found = smaller.breach, found.kills.count < breach.kills.count else {
      return Output.print("no smaller simulation was found that breaks it")
    }
    Output.print("smaller:")
    for text in SimulationText.lines(found, of: smaller, command: "widgetlab simulate") { Output.print(text) }
  }
}

/// The journal of a simulation: one segment.
private final class SimulatedJournalFile {
  private let path: String
  private let file: FileHandle
  private var failure: (any Error)?

  /// - Throws: `CommandError` when the file cannot be written, or is no journal and would be lost.
  init(_ path: String) throws {
    let head = SegmentLayout.head(firstSequence: 1)
    let former = (try? FileHandle(forReadingAtPath: path)?.read(upToCount: head.count)) ?? nil
    if let former, !former.isEmpty, Array(former) != head {
      throw CommandError(
        Exit.usage, "this file is not the journal of a simulation, and would be overwritten",
        at: path, advice: "Give --journal the name of a new file.")
    }
    guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
    else {
      throw CommandError(
        Exit.usage, "the journal cannot be written: \(String(cString: strerror(errno)))",
        at: path, advice: "Give --journal a file in a folder that you can write.")
    }
    self.path = path
    self.file = file
  }

  func write(_ bytes: [UInt8]) {
    guard failure == nil else { return }
    do {
      try file.write(contentsOf: Data(bytes))
    } catch {
      failure = error
    }
  }

  func close() throws {
    try? file.close()
    if let failure { throw CommandError(Exit.broken, "the journal cannot be written: \(failure)", at: path) }
  }
}

/// A line on standard error that is overwritten, if standard error is a terminal.
private struct ProgressLine {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private var isShown = false

  mutating func show(_ text: String) {
    guard isTerminal else { return }
    isShown = true
    write("\r\u{1b}[K\(text)")
  }

  mutating func clear() {
    if isShown { write("\r\u{1b}[K") }
    isShown = false
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
