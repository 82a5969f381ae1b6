// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Glibc
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

      --failure takes what a campaign of `widgetlab chaos` did: its actions, kills and outages of the network, with their \
      dates. It prints what a simulation cannot express. The seed draws the rest, such as how long a message takes: many \
      seeds show whether an order of these steps breaks a law.

      After --hours no new work begins, and the simulation continues until all work is settled. When a law is broken, \
      it ends, and looks for fewer kills that break the law, for at most a minute. --until ends it before a step; \
      --journal writes what happened until then, for check, trace, diagnose and tail. A kill that is due when no process \
      runs that it could end does not happen; the result states how many did. On a terminal, a line on standard error shows \
      the progress. Ctrl-C ends it with the results so far.

      Exit code 0 when all laws hold, 1 when one is broken, 2 when none is broken and one is unknown. With --until, work \
      that is not done is no doubt: 0 unless a law is broken. 64 when an option is wrong or the file of --journal cannot be \
      opened, 70 when the tool fails, 74 when the journal cannot be written, 130 after Ctrl-C.

      EXAMPLES
        widgetlab simulate                          a day and 100 kills; a drawn seed
        widgetlab simulate --seed 7 --hours 240 --kills 5000
        widgetlab simulate --seeds 1-2500 --kills 400          a million kills
        widgetlab simulate --seed 7 --journal seven.journal
        widgetlab check seven.journal               also trace, diagnose and tail
        widgetlab simulate --seed 7 --until 1200    what would happen in step 1200
        widgetlab simulate --plant truncated-copy   a mistake that the laws find
        widgetlab simulate --list                   these mistakes
        widgetlab simulate --failure chaos-7.tar --seeds 1-1000
      """)

  @Option(help: ArgumentHelp("The seed (default: drawn and printed).", valueName: "number"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "A simulation for each of these seeds, A-B, at most 1000000, until a law is broken.", valueName: "range"))
  var seeds: String?

  @Option(help: ArgumentHelp("Virtual hours with new work, 0.1 to 87600 (default: 24).", valueName: "number"))
  var hours: Double?

  @Option(
    help: ArgumentHelp(
      "Processes that are killed in these hours, 0 to 10000000 (default: 100).", valueName: "number"))
  var kills: Int?

  @Option(
    help: ArgumentHelp(
      "Take the actions and the kills from this failure file of a campaign, not from the seed.", valueName: "file"),
    completion: .file())
  var failure: String?

  @Option(
    help: ArgumentHelp(
      "Keep only the kills with these numbers, from 1 to the number of kills, such as 3,17; none keeps no kill.",
      valueName: "numbers"))
  var only: String?

  @Option(help: ArgumentHelp("End before this step, from 1.", valueName: "step"))
  var until: Int?

  @Option(help: ArgumentHelp("Write the journal to this file, FIFO or device.", valueName: "file"), completion: .file())
  var journal: String?

  @Option(help: ArgumentHelp("Make this mistake on purpose.", valueName: "name"))
  var plant: String?

  @Flag(name: .customLong("no-shrink"), help: "When a law is broken, do not look for fewer kills.")
  var keepsKills = false

  @Flag(help: "List the mistakes of --plant.")
  var list = false

  func validate() throws {
    if seed != nil, seeds != nil { throw ValidationError("Give --seed or --seeds, not both.") }
    guard (0.1...87_600).contains(hours ?? 24) else { throw ValidationError("--hours must be between 0.1 and 87600.") }
    guard (0...10_000_000).contains(kills ?? 100) else {
      throw ValidationError("--kills must be between 0 and 10000000.")
    }
    if let until, until < 1 { throw ValidationError("--until must be 1 or more.") }
    if seeds != nil, journal != nil || until != nil || only != nil {
      throw ValidationError("--journal, --until and --only need one seed, and not --seeds.")
    }
    if failure != nil, hours != nil || kills != nil {
      throw ValidationError("--failure has its own hours and kills.")
    }
    if seeds != nil { _ = try chosenSeeds }
    _ = try mistake
    if failure == nil, let problem = wrongNumbers(of: kills ?? 100) { throw ValidationError(problem) }
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

  private func wrongNumbers(of kills: Int) -> String? {
    guard let only, SimulationPlan.killNumbers(only, kills: kills) == nil else { return nil }
    return "--only: numbers of kills from 1 to \(kills), separated by commas, or none"
  }

  /// What is simulated with each seed. Prints what a failure file has.
  private var plan: SimulationPlan {
    get throws {
      var plan = SimulationPlan(seed: 0, hours: hours ?? 24, kills: kills ?? 100, mistake: try mistake, until: until)
      if let failure {
        let file = try ChaosFailure.read(failure).campaign
        let campaign = SimulatedCampaign(file, file: failure)
        Output.print("\(failure): broken: \(file.broken.joined(separator: ", ")); \(campaign.text)")
        (plan.campaign, plan.hours, plan.kills) = (campaign, campaign.hours, campaign.killCount)
        if let problem = wrongNumbers(of: plan.kills) { throw CommandError(Exit.usage, problem) }
      }
      plan.only = only.flatMap { SimulationPlan.killNumbers($0, kills: plan.kills) }
      return plan
    }
  }

  func run() async throws {
    try await reporting {
      if list {
        for mistake in SimulatedMistake.allCases { Output.print(mistake.rawValue) }
        return
      }
      let series = SimulationSeries(
        try plan, seeds: try chosenSeeds, shrinks: !keepsKills, isColored: Output.isColored)
      let file = try journal.map(openJournal)
      let signals = Signals()
      var line = ProgressLine()
      let total = series.run(
        show: { if file?.failure == nil { Output.print($0) } }, write: { file?.write($0) { !signals.isReceived } },
        isContinued: { text in
          line.show(text)
          return file?.failure == nil && !signals.isReceived
        })
      if signals.isReceived { throw Exit.interrupted }
      if let failure = file?.failure { throw Self.error(failure, journal) }
      try CheckCommand.exit(with: total.answer)
    }
  }

  private func openJournal(_ path: String) throws(CommandError) -> SimulatedJournal {
    do {
      return try SimulatedJournal(path)
    } catch {
      throw Self.error(error, path)
    }
  }

  private static func error(_ failure: SimulatedJournal.Failure, _ path: String?) -> CommandError {
    switch failure {
    case .isOther:
      CommandError(
        Exit.usage, "this file is not the journal of a simulation, and would be overwritten", at: path,
        advice: "Give --journal the name of a new file.")
    case .isOutput:
      CommandError(
        Exit.usage, "the results are printed to this file, and would destroy the journal", at: path,
        advice: "Give --journal another file.")
    case .notOpened(let reason):
      CommandError(
        Exit.usage, "the journal cannot be opened: \(reason)", at: path,
        advice: "Give --journal a file in a folder that you can write.")
    case .notWritten(let reason):
      CommandError(
        Exit.output, "the journal cannot be written: \(reason)", at: path,
        advice: "Give --journal a file on a disk with space: a day with 100 kills has 6 MB.")
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
}

/// A line on standard error that is overwritten, if standard error is a terminal.
private struct ProgressLine {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private var isShown = false
  private var next = ContinuousClock.now

  /// Shows it, at most ten times in a second.
  ///
  /// - Parameter text: `nil` removes the line.
  mutating func show(_ text: String?) {
    guard isTerminal, text == nil ? isShown : ContinuousClock.now >= next else { return }
    isShown = text != nil
    next = .now + .milliseconds(100)
    write("\r\u{1b}[K\(text ?? "")")
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
